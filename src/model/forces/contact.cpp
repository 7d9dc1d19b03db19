#include "liedyn/model/forces/contact.h"

#include <fmt/format.h>

#include <algorithm>

#include "liedyn/model/common_fields.h"
#include "liedyn/model/forces/bristle_contact.h"
#include "liedyn/model/forces/relative_partials.h"
#include "liedyn/model/typed_rotation.h"

namespace liedyn {
namespace {

Field number(std::string name, std::string unit, std::string summary, std::vector<double> defaults,
             Range range, bool required) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .required = required,
          .defaults = std::move(defaults),
          .range = range};
}
Field required_length(std::string name, std::string summary, Range range) {
  return number(std::move(name), "m", std::move(summary), {}, range, true);
}
Field optional_length(std::string name, std::string summary) {
  return number(std::move(name), "m", std::move(summary), {0}, Range::NonNegative, false);
}
constexpr int kMostSamples = 1000;
template <class S>
int samples(const Inputs<S>& in, int field) {
  return in.entry().fields[static_cast<std::size_t>(field)].integer();
}
BodyAxes carried_by(int body) { return body == 0 ? BodyAxes::First : BodyAxes::Second; }

}  // namespace

// ---- shapes

std::vector<Field> PlaneShape::shape_fields(int body) {
  return {direction(
      "normal", "Normal of the plane in the initial configuration, inertial axes, towards the other body.",
      carried_by(body))};
}
template <class S>
void PlaneShape::derive(const Inputs<S>& in, int first, int body, S* p) {
  Eigen::Map<Vec3T<S>>{p} = in.direction_in_body(first, body).normalized();
}
void PlaneShape::check(const Inputs<double>& in, int first, std::string& message, std::string& hint) {
  check_direction(in, first, "normal", message, hint);
}

std::vector<Field> SphereShape::shape_fields(int) {
  return {required_length("radius", "Radius of the sphere; 0: a point.", Range::NonNegative)};
}
template <class S>
void SphereShape::derive(const Inputs<S>& in, int first, int, S* p) {
  p[0] = in.number(first);
}

std::vector<Field> CapsuleShape::shape_fields(int body) {
  return {direction("axis", "Direction of the capsule in the initial configuration, inertial axes.",
                    carried_by(body)),
          required_length("length", "Distance of the centres of the two ends of the capsule.",
                          Range::NonNegative),
          required_length("radius", "Radius of the capsule.", Range::NonNegative)};
}
template <class S>
void CapsuleShape::derive(const Inputs<S>& in, int first, int body, S* p) {
  Eigen::Map<Vec3T<S>>{p} = in.number(first + 1) / 2 * in.direction_in_body(first, body).normalized();
  p[3] = in.number(first + 2);
}
void CapsuleShape::check(const Inputs<double>& in, int first, std::string& message, std::string& hint) {
  check_direction(in, first, in.kind().fields[static_cast<std::size_t>(first)].name, message, hint);
}

std::vector<Field> BoxShape::shape_fields(int body) {
  return {{.name = "size",
           .type = FieldType::Vector,
           .unit = "m",
           .summary = "Lengths of the edges of the box.",
           .required = true,
           .range = Range::NonNegative,
           .pose = PoseRole::Fixed},
          {.name = "orientation",
           .type = FieldType::Rotation,
           .unit = "",
           .summary = "Orientation of the box relative to its body.",
           .defaults = {0, 0, 0},
           .pose = body == 0 ? PoseRole::OnFirst : PoseRole::OnSecond}};
}
template <class S>
void BoxShape::derive(const Inputs<S>& in, int first, int, S* p) {
  Eigen::Map<Vec3T<S>>{p} = in.vector(first) / S(2);
  Eigen::Map<Mat3T<S>>{p + 3} = typed_rotation(in, first + 1).R();
}
void BoxShape::check(const Inputs<double>& in, int first, std::string& message, std::string&) {
  if (in.vector(first).minCoeff() < 0)
    message = in.kind().fields[static_cast<std::size_t>(first)].name + ": must not be negative";
}

std::vector<Field> SampledBoxShape::shape_fields(int body) {
  std::vector<Field> out = BoxShape::shape_fields(body);
  out.push_back({.name = "samples",
                 .type = FieldType::Integer,
                 .unit = "",
                 .summary = "Number of points that are checked for contact in addition to the ends, on each "
                            "edge and on the axis of a capsule.",
                 .defaults = {3},
                 .range = Range::NonNegative});
  return out;
}
template <class S>
void SampledBoxShape::derive(const Inputs<S>& in, int first, int body, S* p) {
  BoxShape::derive(in, first, body, p);
  // More are refused below; until then what evaluates the model does not look at a million of them.
  p[BoxShape::constants] = S(std::min(samples(in, first + BoxShape::fields), kMostSamples));
}
void SampledBoxShape::check(const Inputs<double>& in, int first, std::string& message, std::string& hint) {
  BoxShape::check(in, first, message, hint);
  if (const int count = samples(in, first + BoxShape::fields); message.empty() && count > kMostSamples) {
    message = fmt::format("samples: expected at most {}, got {}", kMostSamples, count);
    hint = "each of them is checked in every evaluation";
  }
}

std::vector<Field> DiscShape::shape_fields(int body) {
  return {
      direction("axis", "Axis of the wheel in the initial configuration, inertial axes.", carried_by(body)),
      required_length("radius", "Radius of the wheel.", Range::Positive),
      optional_length("edge_radius", "Radius of the rounding of its edge, less than `radius`.")};
}
template <class S>
void DiscShape::derive(const Inputs<S>& in, int first, int body, S* p) {
  Eigen::Map<Vec3T<S>>{p} = in.direction_in_body(first, body).normalized();
  p[3] = in.number(first + 1) - in.number(first + 2);
  p[4] = in.number(first + 2);
}
void DiscShape::check(const Inputs<double>& in, int first, std::string& message, std::string& hint) {
  check_direction(in, first, "axis", message, hint);
  if (message.empty() && !(in.number(first + 2) < in.number(first + 1)))
    message = fmt::format("edge_radius: must be less than the radius {}, got {}", in.number(first + 1),
                          in.number(first + 2));
}

std::vector<Field> BearingShape::shape_fields(int) {
  return {direction("axis",
                    "Axis of the bearing and of the journal in the initial configuration, inertial axes.",
                    BodyAxes::Each)};
}
template <class S>
void BearingShape::derive(const Inputs<S>& in, int first, int, S* p) {
  Eigen::Map<Vec3T<S>>{p} = in.direction_in_body(first, 0).normalized();
}
void BearingShape::check(const Inputs<double>& in, int first, std::string& message, std::string& hint) {
  check_direction(in, first, "axis", message, hint);
}

std::vector<Field> JournalShape::shape_fields(int) {
  return {required_length("clearance", "Radius of the bearing minus that of the journal.", Range::Positive),
          optional_length(
              "radius", "Radius of the journal. The friction acts at this radius less half the penetration."),
          optional_length("length",
                          "Length of the bearing: the journal touches at both ends, half of the stiffness "
                          "each; 0: at one section.")};
}
template <class S>
void JournalShape::derive(const Inputs<S>& in, int first, int, S* p) {
  const int axis = first - BearingShape::fields;
  Eigen::Map<Vec3T<S>>{p} = in.number(first + 2) / 2 * in.direction_in_body(axis, 1).normalized();
  p[3] = in.number(first);
  p[4] = in.number(first + 1);
  p[5] = S(in.number(first + 2) > S(0) ? 2 : 1);
}

// ---- contact

template <class First, class Second>
std::vector<Attachment> Contact<First, Second>::attachments() {
  std::vector<Attachment> out = frames_at_two_points(kBetween, kPoints);
  out[0].oriented = First::oriented;
  out[1].oriented = Second::oriented;
  return out;
}

template <class First, class Second>
template <class S>
void Contact<First, Second>::derive(const Inputs<S>& in, S* p) {
  First::derive(in, kFirst, 0, p);
  Second::derive(in, kSecond, 1, p + First::constants);
  S* own = p + First::constants + Second::constants;
  derive_normal(in, kNormal, own);
  derive_friction(in, kFriction, own + kNormalConstants);
  if constexpr (std::is_same_v<Second, JournalShape>) own[0] /= p[First::constants + 5];
}

template <class First, class Second>
void Contact<First, Second>::check_shapes(const Inputs<double>& in, std::string& message, std::string& hint) {
  First::check(in, kFirst, message, hint);
  if (message.empty()) Second::check(in, kSecond, message, hint);
  if (message.empty()) check_normal(in, kNormal, message, hint);
}
template <class First, class Second>
void Contact<First, Second>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  check_shapes(in, message, hint);
  if (message.empty()) check_friction(in, kFriction, message, hint);
}

template <class First, class Second>
void Contact<First, Second>::partials(const World<double>&, const FramePair<double>& f, const double* p,
                                      ForcePartials<2>& d) {
  if (approach(f, p).depth > 0) return relative_partials<Contact>(f, p, d);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) d.K[i][j].setZero(), d.C[i][j].setZero();
}

namespace {

// A contact with bristles is a batch of its own.
unsigned bristle_shape(const Description& d, const Entry& entry) {
  return has_bristles(entry) ? 1 + static_cast<unsigned>(&entry - d.entries(Section::Forces).data()) : 0;
}
template <class First, class Second>
std::unique_ptr<Batch> make_contact(unsigned shape) {
  if (shape == 0) return make_watched<Contact<First, Second>>(0);
  return std::make_unique<BristleContacts<First, Second>>();
}

template <class First, class Second>
ListedKind contact_kind(std::string type, std::string summary) {
  std::vector<Field> fields = {between_bodies(fmt::format("The body with the {}, and the body with the {}.",
                                                          First::name, Second::name))
                                   .as(Contact<First, Second>::kBetween),
                               two_points().as(Contact<First, Second>::kPoints)};
  fields[1].summary =
      fmt::format("In the initial configuration, inertial axes: {}, and {}.", First::point, Second::point);
  std::vector<Field> first = First::shape_fields(0), second = Second::shape_fields(1);
  // What both shapes have is told apart by the body.
  for (Field& a : first)
    for (Field& b : second)
      if (a.name == b.name) {
        a.name = "first_" + a.name;
        b.name = "second_" + b.name;
      }
  using E = Contact<First, Second>;
  const auto add = [&](const std::vector<Field>& part, int from) {
    for (const Field& field : part) fields.push_back(field.as(from++));
  };
  add(first, E::kFirst);
  add(second, E::kSecond);
  add(normal_fields(1.5), E::kNormal);
  add(friction_fields(), E::kFriction);
  if constexpr (contact_points<First, Second> == 0) {
    return {{std::move(type), std::move(summary), std::move(fields)}, &make_watched<E>};
  } else {
    add(bristle_fields(), E::kBristles);
    return {{.type = std::move(type),
             .summary = std::move(summary),
             .fields = std::move(fields),
             .states = &states_of_bristles,
             .bristle_points = contact_points<First, Second>},
            &make_contact<First, Second>,
            &bristle_shape};
  }
}

}  // namespace

// For tests of single elements.
template void Contact<PlaneShape, SphereShape>::partials(const World<double>&, const FramePair<double>&,
                                                         const double*, ForcePartials<2>&);
template void Contact<PlaneShape, CapsuleShape>::partials(const World<double>&, const FramePair<double>&,
                                                          const double*, ForcePartials<2>&);
template void Contact<PlaneShape, BoxShape>::partials(const World<double>&, const FramePair<double>&,
                                                      const double*, ForcePartials<2>&);
template void Contact<SphereShape, SphereShape>::partials(const World<double>&, const FramePair<double>&,
                                                          const double*, ForcePartials<2>&);
template void Contact<SphereShape, CapsuleShape>::partials(const World<double>&, const FramePair<double>&,
                                                           const double*, ForcePartials<2>&);
template void Contact<SphereShape, BoxShape>::partials(const World<double>&, const FramePair<double>&,
                                                       const double*, ForcePartials<2>&);
template void Contact<CapsuleShape, CapsuleShape>::partials(const World<double>&, const FramePair<double>&,
                                                            const double*, ForcePartials<2>&);
template void Contact<CapsuleShape, SampledBoxShape>::partials(const World<double>&, const FramePair<double>&,
                                                               const double*, ForcePartials<2>&);
template void Contact<BoxShape, SampledBoxShape>::partials(const World<double>&, const FramePair<double>&,
                                                           const double*, ForcePartials<2>&);
template void Contact<PlaneShape, DiscShape>::partials(const World<double>&, const FramePair<double>&,
                                                       const double*, ForcePartials<2>&);
template void Contact<BearingShape, JournalShape>::partials(const World<double>&, const FramePair<double>&,
                                                            const double*, ForcePartials<2>&);

std::vector<ListedKind> contact_kinds() {
  return {
      contact_kind<PlaneShape, SphereShape>(
          "contact_plane_sphere", "A sphere or a point of the second body touches a plane of the first."),
      contact_kind<PlaneShape, CapsuleShape>(
          "contact_plane_capsule", "The ends of a capsule of the second body touch a plane of the first."),
      contact_kind<PlaneShape, BoxShape>(
          "contact_plane_box", "The corners of a box of the second body touch a plane of the first."),
      contact_kind<SphereShape, SphereShape>("contact_sphere_sphere",
                                             "Two spheres, or a point and a sphere, touch each other."),
      contact_kind<SphereShape, CapsuleShape>(
          "contact_sphere_capsule", "A sphere or a point of the first body touches a capsule of the second."),
      contact_kind<SphereShape, BoxShape>(
          "contact_sphere_box", "A sphere or a point of the first body touches a box of the second."),
      contact_kind<CapsuleShape, CapsuleShape>("contact_capsule_capsule", "Two capsules touch each other."),
      contact_kind<CapsuleShape, SampledBoxShape>(
          "contact_capsule_box",
          "The ends of a capsule of the first body, and points of its axis, touch a box of the second."),
      contact_kind<BoxShape, SampledBoxShape>(
          "contact_box_box", "Two boxes touch each other, at corners and at points of their edges."),
      contact_kind<PlaneShape, DiscShape>(
          "wheel", "A wheel of the second body rolls and slides on a plane of the first, or lifts off."),
      contact_kind<BearingShape, JournalShape>(
          "clearance",
          "A revolute joint with clearance: a journal of the second body touches the bearing of the "
          "first, wider by the clearance.")};
}

}  // namespace liedyn
