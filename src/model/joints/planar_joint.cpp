#include "model/joints/planar_joint.h"

#include <cmath>

#include "model/common_fields.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kAxis };

constexpr bool needs_axis(Held held) { return (held & kInPlane) != kInPlane; }

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
  frames[1].oriented = (held & kTurnInPlane) != 0;
  return frames;
}

template <Held held>
template <class S>
void PlanarJoint<held>::derive(const Inputs<S>& in, S* p) {
  Mat3T<S> axes = Mat3T<S>::Identity();
  if constexpr (needs_axis(held)) {
    axes.col(0) = in.vector(kAxis).normalized();
    axes.col(1) = axes.col(2).cross(axes.col(0));
  }
  derive_axes(in, axes, p);
}

template <Held held>
void PlanarJoint<held>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if constexpr (needs_axis(held)) {
    if (in.vector(kAxis).norm() > 0) return;
    message = "axis: expected a direction, got [0, 0]";
    hint = "the length does not matter, but it must not be zero";
  }
}

template <Held held>
void PlanarJoint<held>::derivatives(const std::array<Motion<double>, 2>& f, const double* p,
                                    const double* lambda, JointDerivatives<2, rows>& d) {
  const JointAxes<double> axes(p);
  RowDerivatives<rows> out(f, lambda, d);
  for (int i = 0; i < rows; ++i) out.held(i, row_list[static_cast<std::size_t>(i)], axes);
}

// Rates of e_x,1.(p_2 - p_1) and of the angle from e_x,1 to e_x,2, all in the axes of the first body.
template <Held held>
AxisMotion PlanarJoint<held>::axis_motion(const std::array<Motion<double>, 2>& f, const double* p) {
  const JointAxes<double> axes(p);
  const Mat3 Q = f[0].R.transpose() * f[1].R;
  const Vec3 r = f[0].R.transpose() * (f[1].p - f[0].p), x2 = Q * axes.second.col(0);
  const Vec3 x = axes.first.col(0), y = axes.first.col(1), z = axes.first.col(2);
  const Vec3 u1 = f[0].V.head<3>(), w1 = f[0].V.tail<3>(), u2 = f[1].V.head<3>(), w2 = f[1].V.tail<3>();
  return {.angle = std::atan2(y.dot(x2), x.dot(x2)),
          .angle_rate = z.dot(Q * w2 - w1),
          .displacement = x.dot(r),
          .displacement_rate = x.dot(Q * u2 - u1 - w1.cross(r))};
}

template struct PlanarJoint<kInPlane>;
template struct PlanarJoint<place_along(1) | kTurnInPlane>;
template struct PlanarJoint<kInPlane | kTurnInPlane>;
template struct PlanarJoint<place_along(1)>;

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
