#include "liedyn/model/joints/planar_joint.h"

#include "liedyn/model/common_fields.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kAxis };

template <class E>
ListedKind listed(std::string type, std::string summary, std::string axis_summary = {}) {
  Kind kind{.type = std::move(type),
            .summary = std::move(summary),
            .fields = {between_bodies().as(kBetween),
                       {.name = "at",
                        .type = FieldType::PlaneVector,
                        .unit = "m",
                        .summary = "Position of the joint in the initial configuration, inertial axes.",
                        .required = true,
                        .body_axes = BodyAxes::Each,
                        .pose = PoseRole::Point,
                        .index = kAt}},
            .coordinates = E::coordinates,
            .keeps_orientation = !E::coordinates.angle && !E::coordinates.displacement,
            .is_smooth = true};
  const int coordinates = (kind.coordinates.angle ? 1 : 0) + (kind.coordinates.displacement ? 1 : 0);
  kind.guides = coordinates > 0 && E::rows + coordinates == 3;
  if (!axis_summary.empty())
    kind.fields.push_back(
        {.name = "axis",
         .type = FieldType::PlaneVector,
         .unit = "",
         .summary = std::move(axis_summary),
         .required = true,
         .body_axes = E::row_list[static_cast<std::size_t>(E::rows - 1)].kind == HeldRow::Kind::Turn
                          ? BodyAxes::Each
                          : BodyAxes::First,
         .pose = PoseRole::Direction,
         .index = kAxis});
  for (Field& field : zero_fields(kind.coordinates)) kind.fields.push_back(std::move(field));
  return {std::move(kind), &make_batch<E>};
}

}  // namespace

template <Held held>
std::vector<Attachment> PlanarJoint<held>::attachments() {
  std::vector<Attachment> frames = frames_at_common_place(kBetween, kAt);
  frames[0].oriented = across;
  frames[1].oriented = (held & kTurns) != 0;
  return frames;
}

template <Held held>
template <class S>
void PlanarJoint<held>::derive(const Inputs<S>& in, S* p) {
  if constexpr (has_line) {
    const auto axes_of = [](const Vec3T<S>& along) {
      const Vec3T<S> line = along.normalized(), out_of_plane = Vec3T<S>::Unit(2);
      Mat3T<S> axes;
      axes << out_of_plane.cross(line), out_of_plane, line;
      return axes;
    };
    derive_axes(in, kAxis, axes_of, p);
  } else if constexpr (held == kInPlane) {
    derive_plane_axes(in, p);
  } else {
    derive_axes(in, Mat3T<S>(Mat3T<S>::Identity()), p);
  }
  derive_zero(in, p);
}

template <Held held>
void PlanarJoint<held>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if constexpr (has_line) check_direction(in, kAxis, "axis", message, hint);
  if (message.empty()) check_zero(in, message);
}

template struct PlanarJoint<kInPlane>;
template struct PlanarJoint<kAcrossLine | turn_about(1)>;
template struct PlanarJoint<kInPlane | turn_about(2)>;
template struct PlanarJoint<kAcrossLine>;

ListedKind planar_revolute() {
  return listed<PlanarRevolute>("planar_revolute",
                                "Hinge in the plane: the second body turns about a point of the first.");
}
ListedKind planar_prismatic() {
  return listed<PlanarPrismatic>(
      "planar_prismatic",
      "Slider in the plane: the second body moves along a line of the first, without turning.",
      "Direction of the sliding in the initial configuration, inertial axes.");
}
ListedKind planar_fixed() {
  return listed<PlanarFixed>("planar_fixed", "Weld in the plane: the two bodies move as one.");
}
ListedKind planar_point_on_line() {
  return listed<PlanarPointOnLine>("planar_point_on_line",
                                   "In the plane, a point of the second body stays on a line of the first.",
                                   "Direction of the line in the initial configuration, inertial axes.");
}

}  // namespace liedyn
