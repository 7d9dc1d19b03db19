#include "model/joints/planar_joint.h"

#include "model/common_fields.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kAxis };

template <class E>
ListedKind listed(std::string type, std::string summary, std::string axis_summary = {}) {
  Kind kind{std::move(type),
            std::move(summary),
            {between_bodies(),
             {.name = "at",
              .type = FieldType::PlaneVector,
              .unit = "m",
              .summary = "Place of the joint in the initial configuration, inertial axes.",
              .required = true}},
            E::coordinates};
  if (!axis_summary.empty())
    kind.fields.push_back({.name = "axis",
                           .type = FieldType::PlaneVector,
                           .unit = "",
                           .summary = std::move(axis_summary),
                           .required = true});
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
  Mat3T<S> axes = Mat3T<S>::Identity();
  if constexpr (has_line) {
    const Vec3T<S> line = in.vector(kAxis).normalized(), out_of_plane = Vec3T<S>::Unit(2);
    axes << out_of_plane.cross(line), out_of_plane, line;
  }
  derive_axes(in, axes, p);
}

template <Held held>
void PlanarJoint<held>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if constexpr (has_line) {
    if (in.vector(kAxis).norm() > 0) return;
    message = "axis: expected a direction, got [0, 0]";
    hint = "the length does not matter, but it must not be zero";
  }
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
