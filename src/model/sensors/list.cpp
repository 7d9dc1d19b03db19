#include "liedyn/model/sensors/list.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include <fmt/format.h>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/registry.h"
#include "liedyn/lie/so3.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/forces/machine_output.h"
#include "liedyn/model/frame_rotation.h"
#include "liedyn/model/registration.h"
#include "liedyn/model/sensors/connect.h"
#include "liedyn/model/sensors/events.h"

namespace liedyn {
namespace {

template <class S, class Vector>
void put(const Vector& value, S* out) {
  Eigen::Map<Vec3T<S>>{out} = value;
}

Field of_body() {
  return {.name = "of", .type = FieldType::Body, .unit = "", .summary = "The body.", .required = true};
}
Field at_point() {
  return {
      .name = "at",
      .type = FieldType::Vector,
      .unit = "m",
      .summary =
          "Point of the body in the initial configuration, inertial axes; its reference point if not given.",
      .body_axes = BodyAxes::Each};
}
Field own_axes() {
  return frame_rotation("rotation",
                        "Axes that are fixed to the body, to body axes; those of the body if not given.");
}
Field own_axes_of(const std::string& which) {
  return frame_rotation(
      which + "_rotation",
      fmt::format("Axes that are fixed to the {} body, to body axes; those of the body if not given.",
                  which));
}
Field of_joint() {
  return {.name = "of", .type = FieldType::Joint, .unit = "", .summary = "The joint.", .required = true};
}
Field axes(const std::string& first, const std::string& second) {
  return {.name = "axes",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Axes of the components.",
          .choices = {first, second}};
}

// The wrench that a joint exerts on its second body is what it adds to that body's residual, with the other sign.
template <class S>
Vec3T<S> reaction(const SensorContextOf<S>& c, int part) {
  const int last = c.joint->coupling().frames - 1;
  const Vec6T<S> W = c.joint->wrench_on(c.at, c.sensor.element, last);
  const Vec3T<S> local = -W.template segment<3>(part);
  if (c.sensor.choice == 1) return local;
  const Frame& frame =
      c.at.frames[c.joint->frames[static_cast<std::size_t>(c.sensor.element * (last + 1) + last)]];
  return FrameViewOf<S>(frame, c.at.numbers, c.at.nodes, c.at.motions).motion().R * local;
}

Field of_beam() {
  return {.name = "of",
          .type = FieldType::Beam,
          .unit = "",
          .summary = "The place on a beam, exact or linear, as a fraction of its length: \"wing[0.25]\".",
          .required = true};
}
// Strain or force of a section, translational or rotational part.
template <bool force, int part, class S>
void section_value(const SensorContextOf<S>& c, S* out) {
  const auto& sections = dynamic_cast<const BeamSections&>(*c.joint);
  Vec6T<S> strain, wrench;
  beam_section(sections, c.at, c.sensor.element, c.sensor.elements, c.sensor.fraction, strain, wrench);
  put(Vec3T<S>((force ? wrench : strain).template segment<3>(part)), out);
}

Field of_flexible() {
  return {.name = "of",
          .type = FieldType::Flexible,
          .unit = "",
          .summary = "The flexible body.",
          .required = true};
}
Field at_material(std::string summary) {
  return {.name = "at",
          .type = FieldType::Vector,
          .unit = "m",
          .summary = std::move(summary) + " Its place in the initial configuration, inertial axes.",
          .required = true};
}
template <class S>
const FlexibleOutput& flexible(const SensorContextOf<S>& c) {
  return dynamic_cast<const FlexibleOutput&>(*c.joint);
}

// e_k.R y of a vector y = V_t or V_r, which begins at `first`: d(R y) = R dy - R y~ d_r.
void vector_gradient(const Motion<double>& m, int first, int k, SensorGradient& out) {
  const Eigen::RowVector3d row = m.R.row(k);
  const Vec3 y = m.V.segment<3>(first);
  out.value = row.dot(y);
  out.X[0].tail<3>() = -row * skew(y);
  out.V[0].segment<3>(first) = row;
}

Field of_force() {
  return {.name = "of", .type = FieldType::Force, .unit = "", .summary = "The force.", .required = true};
}
Field of_force_or_joint() {
  return {.name = "of",
          .type = FieldType::Force,
          .unit = "",
          .summary = "The force, or the joint: a drive, for example.",
          .required = true};
}
// What a force exerts on the body it acts on, of two the second: the same signs as those of reactions.
template <class S>
Vec3T<S> applied(const SensorContextOf<S>& c, int part) {
  const int frames = c.joint->acting_frames(), last = frames - 1;
  const Vec3T<S> local = -c.joint->wrench_on(c.at, c.sensor.element, last).template segment<3>(part);
  const int frame =
      c.joint->frames[static_cast<std::size_t>(c.sensor.element * c.joint->coupling().frames + last)];
  // Along the axes of the frame, which may be turned against those of the body: Q.
  if (c.sensor.choice == 1) return offset_of(c.at.frames[frame], c.at.numbers).Q * local;
  return c.motion_of(frame).R * local;
}
// -sum_i W_i.V_i over the elements of a force: a wrench stands in the residual with a minus sign. Of a joint this is -lambda.B v = lambda.Phi_t:
// 0 unless it depends on time. Joints of a tree do not, and what they transmit need not be known for this. What a rotor inside of a machine stores is
// part of the energy of the model: it counts as well.
template <class S>
S power(const SensorContextOf<S>& c) {
  S sum(0);
  if (dynamic_cast<const TreeJoints*>(c.joint) != nullptr) return sum;
  const int frames = c.joint->coupling().frames;
  for (int e = c.sensor.element; e < c.sensor.element + c.sensor.elements; ++e)
    for (int i = 0; i < c.joint->acting_frames(); ++i)
      sum -= c.joint->wrench_on(c.at, e, i)
                 .dot(c.motion_of(c.joint->frames[static_cast<std::size_t>(e * frames + i)]).V);
  if (const auto* machine = dynamic_cast<const MachineOutput*>(c.joint); machine != nullptr)
    sum += machine->rotor_power(c.at);
  return sum;
}

Field between() {
  return {.name = "between",
          .type = FieldType::Bodies,
          .unit = "",
          .summary = "The two bodies: what is shown is the second as seen from the first.",
          .required = true};
}
Field two_points() {
  return {
      .name = "points",
      .type = FieldType::Points,
      .unit = "m",
      .summary =
          "The point of each body in the initial configuration, inertial axes; the reference points if not "
          "given.",
      .body_axes = BodyAxes::Each};
}
Field relative_axes() {
  return {.name = "axes",
          .type = FieldType::Choice,
          .unit = "",
          .summary =
              "Axes of the components, which rates are relative to as well: those of the first body, or "
              "inertial.",
          .choices = {"first", "inertial"}};
}

// The second of two frames as seen from the first. In the axes of the first, with Q = R_1^T R_2,
//   r = R_1^T (p_2 - p_1),  u = r' = Q u_2 - u_1 - w_1 x r,  w = Q w_2 - w_1;   in inertial axes R_1 r, its rate, and R_1 w.
template <class S>
struct Relative {
  explicit Relative(const SensorContextOf<S>& c) : first(c.motion()), second(c.second_motion()) {
    Q = first.R.transpose() * second.R;
    r = first.R.transpose() * (second.p - first.p);
  }
  Vec3T<S> place(bool inertial) const { return inertial ? Vec3T<S>(second.p - first.p) : r; }
  Vec3T<S> velocity(bool inertial) const {
    if (inertial) return second.velocity() - first.velocity();
    return Q * u(second) - u(first) - w(first).cross(r);
  }
  Vec3T<S> spin(bool inertial) const {
    const Vec3T<S> local = Q * w(second) - w(first);
    return inertial ? Vec3T<S>(first.R * local) : local;
  }
  static Vec3T<S> u(const Motion<S>& m) { return m.V.template head<3>(); }
  static Vec3T<S> w(const Motion<S>& m) { return m.V.template tail<3>(); }

  Motion<S> first, second;
  Mat3T<S> Q;
  Vec3T<S> r;
};

// Their derivatives: d = X_1 dX_1 + X_2 dX_2 + V_1 dV_1 + V_2 dV_2, with d(R y) = R dy - R y~ d_r and d(Q y) = (Q y)~ d_r1 - Q y~ d_r2 + Q dy.
struct RelativeSlopes {
  using Columns = Eigen::Matrix<double, 3, 6>;
  Columns X[2] = {Columns::Zero(), Columns::Zero()}, V[2] = {Columns::Zero(), Columns::Zero()};
};
RelativeSlopes slopes_of_place(const Relative<double>& x, bool inertial) {
  RelativeSlopes d;
  if (inertial) {
    d.X[0].leftCols<3>() = -x.first.R;
    d.X[1].leftCols<3>() = x.second.R;
  } else {
    d.X[0] << -Mat3::Identity(), skew(x.r);
    d.X[1].leftCols<3>() = x.Q;
  }
  return d;
}
RelativeSlopes slopes_of_velocity(const Relative<double>& x, bool inertial) {
  const RelativeSlopes place = slopes_of_place(x, inertial);
  const Vec3 u1 = x.u(x.first), u2 = x.u(x.second), w1 = x.w(x.first);
  RelativeSlopes d;
  for (int i = 0; i < 2; ++i) d.V[i] = place.X[i];
  if (inertial) {
    d.X[0].rightCols<3>() = x.first.R * skew(u1);
    d.X[1].rightCols<3>() = -x.second.R * skew(u2);
    return d;
  }
  d.X[0].rightCols<3>() = skew(Vec3(x.Q * u2));
  d.X[1].rightCols<3>() = -x.Q * skew(u2);
  for (int i = 0; i < 2; ++i) d.X[i] -= skew(w1) * place.X[i];
  return d;
}
RelativeSlopes slopes_of_spin(const Relative<double>& x, bool inertial) {
  const Vec3 w1 = x.w(x.first), w2 = x.w(x.second);
  RelativeSlopes d;
  if (inertial) {
    d.X[0].rightCols<3>() = x.first.R * skew(w1);
    d.X[1].rightCols<3>() = -x.second.R * skew(w2);
    d.V[0].rightCols<3>() = -x.first.R;
    d.V[1].rightCols<3>() = x.second.R;
    return d;
  }
  d.X[0].rightCols<3>() = skew(Vec3(x.Q * w2));
  d.X[1].rightCols<3>() = -x.Q * skew(w2);
  d.V[0].rightCols<3>() = -Mat3::Identity();
  d.V[1].rightCols<3>() = x.Q;
  return d;
}
template <class Slopes>
void component(double value, const Slopes& d, int k, SensorGradient& out) {
  out.value = value;
  for (int i = 0; i < 2; ++i) {
    out.X[i] = d.X[i].row(k);
    out.V[i] = d.V[i].row(k);
  }
}

// l = |r| and l' = r.u/l; at l = 0 there is no direction, and the rate is taken as 0.
template <class S>
S distance(const Relative<S>& x) {
  using std::sqrt;
  const S square = x.r.squaredNorm();
  return square > S(0) ? sqrt(square) : S(0);
}
template <class S>
S distance_rate(const Relative<S>& x) {
  const S l = distance(x);
  return l > S(0) ? S(x.r.dot(x.velocity(false)) / l) : S(0);
}
void distance_gradient(const Relative<double>& x, bool rate, SensorGradient& out) {
  const double l = distance(x);
  out.value = rate ? distance_rate(x) : l;
  if (!(l > 0)) return;
  const RelativeSlopes place = slopes_of_place(x, false), velocity = slopes_of_velocity(x, false);
  const Vec3 n = x.r / l, u = x.velocity(false);
  for (int i = 0; i < 2; ++i) {
    if (!rate) {
      out.X[i] = n.transpose() * place.X[i];
      continue;
    }
    out.X[i] = (u - n * n.dot(u)).transpose() / l * place.X[i] + n.transpose() * velocity.X[i];
    out.V[i] = n.transpose() * velocity.V[i];
  }
}

// Rotation vector of R, in the turn nearest to that of the last step.
template <class S>
Vec3T<S> wound_rotation_vector(const SensorContextOf<S>& c, const Mat3T<S>& R) {
  constexpr double kTurn = 2 * std::numbers::pi;
  const Vec3T<S> theta = SO3<S>::from_matrix(R).log();
  const Eigen::Map<const Vec3> last(c.at.angles + c.sensor.angle);
  Vec3 now;
  for (int i = 0; i < 3; ++i) now[i] = value(theta[i]);
  const double angle = now.norm();
  // Near a full turn the rotation itself has no direction: that of the last step goes on.
  const Vec3 n = angle > 1e-9      ? Vec3(now / angle)
                 : last.norm() > 0 ? Vec3(last.normalized())
                                   : Vec3(Vec3::Zero());
  const double turns = std::round((last.dot(n) - angle) / kTurn);
  if (turns == 0) return theta;
  if (!(angle > 1e-9)) return theta + (turns * kTurn * n).template cast<S>();
  return theta * (S(1) + S(turns * kTurn) / theta.norm());
}

// Cardan angles, R = R_x(a) R_y(b) R_z(c), of the two triples the one nearer to the last step, each in the nearest turn.
template <class S>
Vec3T<S> wound_cardan_angles(const SensorContextOf<S>& c, const Mat3T<S>& R) {
  using std::asin, std::atan2;
  const S sine = R(0, 2) > S(1) ? S(1) : R(0, 2) < S(-1) ? S(-1) : R(0, 2);
  Vec3T<S> one(atan2(S(-R(1, 2)), R(2, 2)), asin(sine), atan2(S(-R(0, 1)), R(0, 0)));
  Vec3T<S> other(one[0] + S(std::numbers::pi), S(std::numbers::pi) - one[1], one[2] + S(std::numbers::pi));
  const double* last = c.at.angles + c.sensor.angle;
  double off[2] = {0, 0};
  for (int i = 0; i < 3; ++i) {
    one[i] = nearest_turn(one[i], last[i]);
    other[i] = nearest_turn(other[i], last[i]);
    off[0] += std::abs(value(one[i]) - last[i]);
    off[1] += std::abs(value(other[i]) - last[i]);
  }
  return off[0] <= off[1] ? one : other;
}

// The coordinate of the joint that a sensor looks at: the angle about its axis, or the displacement along it.
template <class S>
CoordinateDerivativesOf<S> derivatives_of_coordinate(const SensorContextOf<S>& c, bool about) {
  const Batch& joint = *c.joint;
  // The numbers of every joint with coordinates begin with its axes.
  std::array<S, kCoordinateNumbers> p;
  std::copy_n(c.at.numbers + joint.first_number + c.sensor.element * joint.numbers_per_element(),
              kAxesNumbers, p.begin());
  p[kAxesNumbers] = S(about ? 0 : 1);
  const auto motion = [&](int i) {
    return FrameViewOf<S>(c.at.frames[joint.frames[static_cast<std::size_t>(2 * c.sensor.element + i)]],
                          c.at.numbers, c.at.nodes, c.at.motions)
        .motion();
  };
  CoordinateDerivativesOf<S> d;
  coordinate_derivatives<S>(motion(0), motion(1), p.data(),
                            c.sensor.angle >= 0 ? c.at.angles[c.sensor.angle] : 0, d);
  return d;
}

// Of forces in a joint, W_2 = -B_2^T u; between two points, W_1 = R_1^T f n with n from the second point to the first.
template <class S>
S effort(const SensorContextOf<S>& c) {
  // The joint that is driven has the last two of the frames.
  const int first_frame = c.sensor.driven == nullptr ? 0 : c.joint->acting_frames() - 2;
  const auto frame = [&](int i) {
    return c.motion_of(c.joint->frames[static_cast<std::size_t>(
        c.sensor.element * c.joint->coupling().frames + first_frame + i)]);
  };
  if (c.sensor.driven == nullptr) {
    const Motion<S> first = frame(0);
    const Vec3T<S> span = first.p - frame(1).p;
    const Vec3T<S> F = first.R * c.joint->wrench_on(c.at, c.sensor.element, 0).template head<3>();
    const S square = span.squaredNorm();
    using std::sqrt;
    return square > S(0) ? S(F.dot(span) / sqrt(square)) : S(0);
  }
  const Batch& joint = *c.sensor.driven;
  std::array<S, kCoordinateNumbers> p;
  std::copy_n(c.at.numbers + joint.first_number + c.sensor.driven_element * joint.numbers_per_element(),
              kAxesNumbers, p.begin());
  p[kAxesNumbers] = S(c.sensor.about ? 0 : 1);
  const Vec6T<S> B = coordinate_gradient<S>(frame(0), frame(1), p.data())[1];
  return -c.joint->wrench_on(c.at, c.sensor.element, first_frame + 1).dot(B) / B.squaredNorm();
}

// A coordinate of a joint, or its rate.
enum class Of { Value, Rate };
template <bool about, Of of>
void coordinate_of_joint(const SensorContext& c, int, SensorGradient& out) {
  const CoordinateDerivatives d = derivatives_of_coordinate(c, about);
  out.value = of == Of::Value ? d.value : d.rate;
  for (int i = 0; i < 2; ++i) {
    out.X[i] = of == Of::Value ? d.B[i] : d.Z[i];
    if (of == Of::Rate) out.V[i] = d.B[i];
  }
}

std::vector<ListedSensor> built_in() {
  return {
      {{"position", "Place of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m",
       3,
       [](const auto& c, auto* out) { put(c.motion().p, out); },
       {.gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Motion<double> m = c.motion();
              out.value = m.p[k];
              out.X[0].head<3>() = m.R.row(k);
            }}},
      {{"velocity", "Velocity of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m/s",
       3,
       [](const auto& c, auto* out) { put(c.motion().velocity(), out); },
       {.gradient = [](const SensorContext& c, int k,
                       SensorGradient& out) { vector_gradient(c.motion(), 0, k, out); }}},
      {{"acceleration", "Acceleration of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m/s^2",
       3,
       [](const auto& c, auto* out) { put(c.motion().acceleration(), out); }},
      {{"orientation",
        "Orientation of a body as a unit quaternion (w, x, y, z), body to inertial axes. Of the two with "
        "opposite "
        "signs it is the one with w >= 0 at the start and, if no step turns by half a turn, the continuous "
        "one "
        "from there.",
        {of_body(), own_axes()}},
       "",
       4,
       [](const auto& c, auto* out) {
         using S = std::remove_pointer_t<decltype(out)>;
         Eigen::Matrix<S, 4, 1> q = SO3<S>::from_matrix(c.motion().R).coordinates();
         double along = 0;  // the quaternion of the last step; none yet at the start
         for (int i = 0; i < 4; ++i) along += c.at.angles[c.sensor.angle + i] * value(q[i]);
         if (along < 0 || (along == 0 && value(q[0]) < 0)) q = -q;
         Eigen::Map<Eigen::Matrix<S, 4, 1>>{out} = q;
       },
       {.remembers = true}},
      {{"rotation_vector",
        "Orientation of a body as a rotation vector, body to inertial axes. It goes on past half a turn, if "
        "no step turns "
        "by more.",
        {of_body(), own_axes()}},
       "rad",
       3,
       [](const auto& c, auto* out) { put(wound_rotation_vector(c, c.motion().R), out); },
       {.remembers = true, .is_angle = true}},
      {{"cardan_angles",
        "Orientation of a body by Cardan angles, R = R_x(a) R_y(b) R_z(c), body to inertial axes; continuous "
        "in time.",
        {of_body(), own_axes()}},
       "rad",
       3,
       [](const auto& c, auto* out) { put(wound_cardan_angles(c, c.motion().R), out); },
       {.remembers = true, .is_angle = true}},
      {{"relative_position",
        "Position of a point of one body relative to a point of another.",
        {between(), two_points(), relative_axes(), own_axes_of("first")}},
       "m",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         put(Relative<S>(c).place(c.sensor.choice == 1), out);
       },
       {.gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Relative<double> x(c);
              const bool inertial = c.sensor.choice == 1;
              component(x.place(inertial)[k], slopes_of_place(x, inertial), k, out);
            }}},
      {{"relative_velocity",
        "Rate of the relative position, as seen in the axes of its components.",
        {between(), two_points(), relative_axes(), own_axes_of("first")}},
       "m/s",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         put(Relative<S>(c).velocity(c.sensor.choice == 1), out);
       },
       {.gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Relative<double> x(c);
              const bool inertial = c.sensor.choice == 1;
              component(x.velocity(inertial)[k], slopes_of_velocity(x, inertial), k, out);
            }}},
      {{"relative_rotation",
        "Rotation vector of the second body relative to the first, in its axes. It goes on past half a turn, "
        "if no step "
        "turns by more.",
        {between(), own_axes_of("first"), own_axes_of("second")}},
       "rad",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         put(wound_rotation_vector(c, Relative<S>(c).Q), out);
       },
       {.remembers = true, .is_angle = true}},
      {{"relative_angular_velocity",
        "Angular velocity of the second body relative to the first.",
        {between(), relative_axes(), own_axes_of("first")}},
       "rad/s",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         put(Relative<S>(c).spin(c.sensor.choice == 1), out);
       },
       {.gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Relative<double> x(c);
              const bool inertial = c.sensor.choice == 1;
              component(x.spin(inertial)[k], slopes_of_spin(x, inertial), k, out);
            }}},
      {{"distance", "Distance of two points.", {between(), two_points()}},
       "m",
       1,
       []<class S>(const SensorContextOf<S>& c, S* out) { out[0] = distance(Relative<S>(c)); },
       {.gradient = [](const SensorContext& c, int,
                       SensorGradient& out) { distance_gradient(Relative<double>(c), false, out); }}},
      {{"distance_rate", "Rate of the distance of two points.", {between(), two_points()}},
       "m/s",
       1,
       []<class S>(const SensorContextOf<S>& c, S* out) { out[0] = distance_rate(Relative<S>(c)); },
       {.gradient = [](const SensorContext& c, int,
                       SensorGradient& out) { distance_gradient(Relative<double>(c), true, out); }}},
      {{"angle",
        "Angle of a body in the plane, from the inertial to its body axes; it counts turns.",
        {of_body()}},
       "rad",
       1,
       [](const auto& c, auto* out) { out[0] = c.at.q[c.at.nodes[c.at.frames[c.sensor.frame].node].q + 2]; },
       {.in_plane = true,
        .is_angle = true,
        .gradient =
            [](const SensorContext& c, int, SensorGradient& out) {
              c.sensor.listed->evaluate(c, &out.value);
              out.X[0][5] = 1;
            }}},
      {{"angular_velocity", "Angular velocity of a body.", {of_body(), axes("body", "inertial"), own_axes()}},
       "rad/s",
       3,
       [](const auto& c, auto* out) {
         const auto m = c.motion();
         const Vec3T<std::remove_pointer_t<decltype(out)>> w = m.V.template tail<3>();
         if (c.sensor.choice == 0)
           put(w, out);
         else
           put(m.R * w, out);
       },
       {.gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Motion<double> m = c.motion();
              if (c.sensor.choice == 1) return vector_gradient(m, 3, k, out);
              out.value = m.V[3 + k];
              out.V[0][3 + k] = 1;
            }}},
      {{"angular_acceleration",
        "Angular acceleration of a body.",
        {of_body(), axes("body", "inertial"), own_axes()}},
       "rad/s^2",
       3,
       [](const auto& c, auto* out) {
         const auto m = c.motion();
         const Vec3T<std::remove_pointer_t<decltype(out)>> alpha = m.A.template tail<3>();
         if (c.sensor.choice == 0)
           put(alpha, out);
         else
           put(m.R * alpha, out);
       }},
      {{"reaction_force",
        "Force that a joint exerts on its second body, at the joint's place on that body.",
        {of_joint(), axes("inertial", "body")}},
       "N",
       3,
       [](const auto& c, auto* out) { put(reaction(c, 0), out); },
       {.shows_reactions = true}},
      {{"reaction_torque",
        "Torque that a joint exerts on its second body, about the joint's place on that body.",
        {of_joint(), axes("inertial", "body")}},
       "N m",
       3,
       [](const auto& c, auto* out) { put(reaction(c, 3), out); },
       {.shows_reactions = true}},
      {{"applied_force",
        "Force that a force element exerts on its body, of two the second, at its point on that body.",
        {of_force(), axes("inertial", "body")}},
       "N",
       3,
       [](const auto& c, auto* out) { put(applied(c, 0), out); }},
      {{"applied_torque",
        "Torque that a force element exerts on its body, of two the second, about its point on that body.",
        {of_force(), axes("inertial", "body")}},
       "N m",
       3,
       [](const auto& c, auto* out) { put(applied(c, 3), out); }},
      {{"effort",
        "What a force element exerts in a joint, in the direction of the coordinate (motors, springs, "
        "friction): a torque "
        "or a force. Of a spring_damper: its tension.",
        {of_force()}},
       "N m or N",
       1,
       []<class S>(const SensorContextOf<S>& c, S* out) { out[0] = effort(c); },
       {.of_effort = true}},
      {{"power",
        "Power of a force element or of a joint: what it adds to the energy of the bodies per time, of a "
        "dc_motor with that of its rotor. Joints that do not depend on time have none.",
        {of_force_or_joint()}},
       "W",
       1,
       [](const auto& c, auto* out) { out[0] = power(c); },
       {.sums_elements = true}},
      {{"work",
        "Work of a force element or of a joint: its power, integrated over time since the start of the run.",
        {of_force_or_joint()}},
       "J",
       1,
       []<class S>(const SensorContextOf<S>& c, S* out) { out[0] = S(c.at.angles[c.sensor.angle]); },
       {.remembers = true, .sums_elements = true}},
      {{"quantity",
        "Something inside a machine element: the current of a dc_motor, the slip of a clutch, the flows of a "
        "hydraulic_cylinder.",
        {of_force(),
         {.name = "quantity",
          .type = FieldType::Text,
          .unit = "",
          .summary =
              "Which one. dc_motor: current, voltage, electrical_power, loss. clutch, joint_clutch: slip, "
              "capacity, loss. hydraulic_cylinder, joint_hydraulics: pressure_a, pressure_b, flow_a, "
              "flow_b, valve, force.",
          .required = true}}},
       "",
       1,
       [](const auto& c, auto* out) {
         out[0] = dynamic_cast<const MachineOutput&>(*c.joint).quantity(c.at, c.sensor.choice);
       },
       {.connect = &connect_to_quantity}},
      {{"section_force",
        "Force in a section of a beam, that of the part behind on the part before: axial, shear along y and "
        "along z, section axes.",
        {of_beam()}},
       "N",
       3,
       [](const auto& c, auto* out) { section_value<true, 0>(c, out); }},
      {{"section_moment",
        "Moment in a section of a beam: torsion, bending about y and about z, section axes.",
        {of_beam()}},
       "N m",
       3,
       [](const auto& c, auto* out) { section_value<true, 3>(c, out); }},
      {{"section_strain", "Strain of a beam: axial, shear along y and along z, section axes.", {of_beam()}},
       "",
       3,
       [](const auto& c, auto* out) { section_value<false, 0>(c, out); }},
      {{"section_curvature",
        "Change of curvature of a beam: twist, bending about y and about z, section axes.",
        {of_beam()}},
       "rad/m",
       3,
       [](const auto& c, auto* out) { section_value<false, 3>(c, out); }},
      {{"modal_coordinates",
        "Modal coordinates of a flexible body: the largest displacement that each mode adds.",
        {of_flexible()}},
       "m",
       0,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const Modal<S> eta = flexible(c).coordinates(c.at);
         std::copy(eta.data(), eta.data() + eta.size(), out);
       }},
      {{"elastic_displacement",
        "Displacement of a node of a flexible body relative to its floating frame.",
        {of_flexible(), at_material("The node nearest to this place."), axes("body", "inertial")}},
       "m",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const Vec3T<S> u = flexible(c).displacement(c.at, c.sensor.element);
         put(c.sensor.choice == 0 ? u : Vec3T<S>(flexible(c).frame(c.at).R * u), out);
       },
       {.connect = &connect_to_displacement}},
      {{"material_position",
        "Place of a node of a flexible body, inertial axes.",
        {of_flexible(), at_material("The node nearest to this place.")}},
       "m",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const FlexibleOutput& body = flexible(c);
         const Motion<S>& frame = body.frame(c.at);
         put(frame.p +
                 frame.R * (body.place(c.at, c.sensor.element) + body.displacement(c.at, c.sensor.element)),
             out);
       },
       {.connect = &connect_to_displacement}},
      {{"stress",
        "Stress in a flexible body of solid elements: xx, yy, zz, yz, xz, xy, body axes.",
        {of_flexible(), at_material("The point.")}},
       "N/m^2",
       6,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         Eigen::Map<Vec6T<S>>{out} = flexible(c).stress(c.at, c.sensor.element);
       },
       {.connect = &connect_to_stress}},
      {{"joint_angle",
        "Angle by which the second body of a joint has turned about its axis since the initial "
        "configuration; it goes on past half a turn, if no step turns by more.",
        {of_joint()}},
       "rad",
       1,
       [](const auto& c, auto* out) { out[0] = c.sensor.wound_angle(c.at, *c.joint); },
       {.needs = {.angle = true},
        .remembers = true,
        .is_angle = true,
        .gradient = &coordinate_of_joint<true, Of::Value>}},
      {{"joint_angle_rate",
        "Angular velocity of the second body of a joint relative to the first, about the joint's axis.",
        {of_joint()}},
       "rad/s",
       1,
       [](const auto& c, auto* out) { out[0] = c.joint->axis_motion(c.at, c.sensor.element).angle_rate; },
       {.needs = {.angle = true}, .is_rate = true, .gradient = &coordinate_of_joint<true, Of::Rate>}},
      {{"joint_displacement",
        "Displacement of the second body of a joint along its axis since the initial configuration.",
        {of_joint()}},
       "m",
       1,
       [](const auto& c, auto* out) { out[0] = c.joint->axis_motion(c.at, c.sensor.element).displacement; },
       {.needs = {.displacement = true}, .gradient = &coordinate_of_joint<false, Of::Value>}},
      {{"joint_displacement_rate",
        "Velocity of the second body of a joint relative to the first, along the joint's axis.",
        {of_joint()}},
       "m/s",
       1,
       [](const auto& c, auto* out) {
         out[0] = c.joint->axis_motion(c.at, c.sensor.element).displacement_rate;
       },
       {.needs = {.displacement = true}, .is_rate = true, .gradient = &coordinate_of_joint<false, Of::Rate>}},
      {{"multiplier", "Lagrange multipliers of a joint, as they stand in the equations.", {of_joint()}},
       "",
       0,
       [](const auto& c, auto* out) {
         const int rows = c.joint->coupling().rows;
         for (int i = 0; i < rows; ++i)
           out[i] = c.at.lambda[c.joint->first_row + c.sensor.element * rows + i];
       },
       {.shows_reactions = true, .shows_multipliers = true}},
      {{"state",
        "Value of a first-order state.",
        {{.name = "of", .type = FieldType::State, .unit = "", .summary = "The state.", .required = true}}},
       "",
       1,
       [](const auto& c, auto* out) { out[0] = c.motion().V[0]; },
       {.gradient =
            [](const SensorContext& c, int, SensorGradient& out) {
              c.sensor.listed->evaluate(c, &out.value);
              out.V[0][0] = 1;
            }}},
      {{"energy",
        "Mechanical energy of the whole model.",
        {{.name = "part",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Which part of it.",
          .choices = {"total", "kinetic", "potential"}}}},
       "J",
       1,
       [](const auto& c, auto* out) {
         const std::remove_pointer_t<decltype(out)> parts[] = {c.energy.kinetic + c.energy.potential,
                                                               c.energy.kinetic, c.energy.potential};
         out[0] = parts[c.sensor.choice];
       }},
      {{"expression",
        "Any expression of the time t, of parameters and of the sensors listed before it, such as "
        "\"mass*9.81*position[2]\"; several between semicolons are the components of a vector.",
        {{.name = "value",
          .type = FieldType::Text,
          .unit = "",
          .summary = "The expression, or several between semicolons.",
          .required = true,
          .holds_expression = true},
         {.name = "unit",
          .type = FieldType::Text,
          .unit = "",
          .summary = "Unit of the values, for tables and plots."}}},
       "",
       1,
       [](const auto& c, auto* out) {
         for (const Expression& expression : c.sensor.expressions)
           *out++ = expression.template evaluate<std::remove_pointer_t<decltype(out)>>(c.variables);
       },
       {.shows_reactions = true}},
      {{"event",
        "Something that happens where an expression of the time t, of parameters and of sensors crosses "
        "zero; it shows the "
        "expression.",
        {{.name = "when",
          .type = FieldType::Text,
          .unit = "",
          .summary =
              "The expression whose zero crossings are located, or a condition, \"x > 3\", which happens "
              "where it begins to hold.",
          .required = true,
          .holds_expression = true},
         {.name = "direction",
          .type = FieldType::Choice,
          .unit = "",
          .summary =
              "Which zero crossings count; of a condition, those where it begins to hold if not given.",
          .choices = {"both", "rising", "falling"}},
         {.name = "set",
          .type = FieldType::Text,
          .unit = "",
          .summary = "What it sets, \"u = 3; sensors.speed[2] = -0.8*speed[2]\": parameters, states, or, by "
                     "an impulse, "
                     "velocities that sensors show; \"joints.latch = 0\" releases a joint, 1 engages it."},
         {.name = "action",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Whether the run goes on after it.",
          .choices = {"continue", "stop"}}}},
       "",
       1,
       [](const auto& c, auto* out) {
         *out = c.sensor.expressions.front().template evaluate<std::remove_pointer_t<decltype(out)>>(
             c.variables);
       },
       {.shows_reactions = true, .connect = &connect_event}},
      {{"sample",
        "Sample and hold, as a digital controller does it: sets a parameter or a state to the value of an "
        "expression at equal "
        "distances in time; it shows the expression.",
        {{.name = "value",
          .type = FieldType::Text,
          .unit = "",
          .summary = "The expression.",
          .required = true,
          .holds_expression = true},
         {.name = "into",
          .type = FieldType::Text,
          .unit = "",
          .summary = "What is set: \"u\", \"forces.motor.torque[2]\", \"states.held\" or \"joints.latch\".",
          .required = true},
         {.name = "every",
          .type = FieldType::Number,
          .unit = "s",
          .summary = "Sampling time.",
          .required = true,
          .range = Range::Positive},
         {.name = "delay",
          .type = FieldType::Number,
          .unit = "s",
          .summary = "Time from the sample until it is set.",
          .defaults = {0},
          .range = Range::NonNegative},
         {.name = "first",
          .type = FieldType::Number,
          .unit = "s",
          .summary = "Time of the first sample after the start of the run.",
          .defaults = {0},
          .range = Range::NonNegative}}},
       "",
       1,
       [](const auto& c, auto* out) {
         *out = c.sensor.expressions.front().template evaluate<std::remove_pointer_t<decltype(out)>>(
             c.variables);
       },
       {.shows_reactions = true, .connect = &connect_sample}},
  };
}

Registry<ListedSensor>& registry() {
  static Registry<ListedSensor> registry(
      "sensor", built_in(),
      [](const ListedSensor& listed) -> const std::string& { return listed.kind.type; });
  return registry;
}

}  // namespace

const std::vector<ListedSensor>& sensor_kinds() { return registry().all(); }

void register_sensor(ListedSensor sensor) {
  check_kind("sensor", sensor.kind);
  const std::string path = "sensor '" + sensor.kind.type + "'";
  bool joint = false;
  for (const Field& field : sensor.kind.fields) {
    switch (field.type) {
      case FieldType::Body:
        check_attachments("sensor", sensor.kind, {sensor_attachment(sensor.kind, 0)});
        break;
      case FieldType::Bodies:
        check_attachments("sensor", sensor.kind,
                          {sensor_attachment(sensor.kind, 0), sensor_attachment(sensor.kind, 1)});
        break;
      case FieldType::Joint: joint = true; break;
      case FieldType::Force:
      case FieldType::State:
      case FieldType::Choice: break;
      case FieldType::Vector:
      case FieldType::Points:
        if (field.name == "at" || field.name == "points") break;
        [[fallthrough]];
      default:
        throw InputError(path + ": field '" + field.name + "'",
                         "a sensor does not see the value of such a field",
                         "'of', 'at', 'between', 'points', joints, forces, states and choices it does");
    }
  }
  constexpr int kMostComponents = 64;
  const int least = joint ? 0 : 1;  // 0: one per row of the joint
  if (sensor.components < least || sensor.components > kMostComponents)
    throw InputError(
        path, fmt::format("expected {} to {} components, got {}", least, kMostComponents, sensor.components));
  // Of a joint a sensor shows coordinates, or else what the constraints transmit; one number per row are its multipliers.
  SensorTraits& traits = sensor.traits;
  if (joint && !traits.needs.angle && !traits.needs.displacement) traits.shows_reactions = true;
  if (sensor.components == 0) traits.shows_multipliers = true;
  registry().add(std::move(sensor));
}

Attachment sensor_attachment(const Kind& kind, int i) {
  const int between = kind.field("between"), point = kind.field(between >= 0 ? "points" : "at");
  return {between >= 0 ? between : kind.field("of"), i,
          point >= 0 ? Attachment::Place::Point : Attachment::Place::Reference, point, i};
}

bool may_look_at_joint(const Kind& kind) {
  return std::any_of(sensor_kinds().begin(), sensor_kinds().end(), [&](const ListedSensor& listed) {
    return listed.kind.type == kind.type && listed.traits.sums_elements;
  });
}

bool is_work(const Sensor& sensor) {
  return sensor.listed->traits.remembers && sensor.listed->traits.sums_elements;
}

double power_of(const SensorContext& context) { return power(context); }

Varied coordinate_in_dynamics(const SensorContextOf<Varied>& context) {
  const SensorTraits& traits = context.sensor.listed->traits;
  const CoordinateDerivativesOf<Varied> d = derivatives_of_coordinate(context, traits.needs.angle);
  return traits.is_rate ? d.rate : d.value;
}

}  // namespace liedyn
