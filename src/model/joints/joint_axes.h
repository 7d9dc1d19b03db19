// The axes x, y, z of a joint as numbers of its element: the constant A_i holds them in the body axes of frame i.
#pragma once

#include <cmath>
#include <string>

#include "liedyn/model/element.h"

namespace liedyn {

// A_1 and A_2 as numbers, then the angle and the displacement of the initial configuration (Kind's field "zero", with the other sign).
inline constexpr int kAxesConstants = 20;
inline constexpr int kInitialAngle = 18, kInitialDisplacement = 19;
template <class S>
struct JointAxes {
  Eigen::Map<const Mat3T<S>> first, second;
  explicit JointAxes(const S* p) : first(p), second(p + 9) {}
};

// Columns x, y, z: z along the axis, x the inertial axis after the one nearest to z, made perpendicular. An axis along the
// inertial z thus has x and y as they are. No numbers if the axis is zero.
template <class S>
Mat3T<S> axes_along(const Vec3T<S>& axis) {
  int nearest = 0;
  for (int k = 1; k < 3; ++k)
    if (axis[k] * axis[k] > axis[nearest] * axis[nearest]) nearest = k;
  const Vec3T<S> z = axis / axis.norm();
  const Vec3T<S> next = Vec3T<S>::Unit((nearest + 1) % 3);
  Mat3T<S> A;
  A.col(2) = z;
  A.col(0) = (next - z * z.dot(next)).normalized();
  A.col(1) = z.cross(A.col(0));
  return A;
}

// Coordinates of a joint about its axis z and along it: e_z,1.(p_2 - p_1), the angle from e_x,1 to e_x,2, and their rates, all in the
// axes of the first body.
template <class S>
AxisMotionOf<S> axis_motion_of(const std::array<Motion<S>, 2>& f, const S* p) {
  using std::atan2;
  using V3 = Vec3T<S>;
  const JointAxes<S> axes(p);
  const Mat3T<S> Q = f[0].R.transpose() * f[1].R;
  const V3 r = f[0].R.transpose() * (f[1].p - f[0].p), x1 = axes.first.col(0), y1 = axes.first.col(1),
           z = axes.first.col(2), x2 = Q * axes.second.col(0);
  const V3 u1 = f[0].V.template head<3>(), w1 = f[0].V.template tail<3>(), u2 = f[1].V.template head<3>(),
           w2 = f[1].V.template tail<3>();
  return {.angle = atan2(y1.dot(x2), x1.dot(x2)) + p[kInitialAngle],
          .angle_rate = z.dot(V3(Q * w2 - w1)),
          .displacement = z.dot(r) + p[kInitialDisplacement],
          .displacement_rate = z.dot(V3(Q * u2 - u1 - w1.cross(r)))};
}

// From the joint's axes A in the initial configuration, inertial: the rows are then met by construction.
template <class S>
void derive_axes(const Inputs<S>& in, const Mat3T<S>& A, S* p) {
  Eigen::Map<Mat3T<S>>{p} = in.frame(0).R.transpose() * A;
  Eigen::Map<Mat3T<S>>{p + 9} = in.frame(1).R.transpose() * A;
}

// From the direction in a field, with `axes_of` to add x and y to it. In body axes each body has axes of its own, whatever the initial
// configuration is; where one body alone carries the direction, the other follows as it stands there.
template <class S, class AxesOf>
void derive_axes(const Inputs<S>& in, int field, const AxesOf& axes_of, S* p) {
  if (!in.in_bodies(field)) return derive_axes(in, Mat3T<S>(axes_of(in.vector(field))), p);
  for (int i = 0; i < 2; ++i) {
    const int carrier = in.in_body(field, i) ? i : 1 - i;
    const Mat3T<S> A = axes_of(in.vector_in_body(field, carrier));
    Eigen::Map<Mat3T<S>> out(p + 9 * i);
    if (carrier == i)
      out = A;
    else
      out = in.frame(i).R.transpose() * (in.frame(carrier).R * A);
  }
}
template <class S>
void derive_axes(const Inputs<S>& in, int field, S* p) {
  derive_axes(
      in, field, [](const Vec3T<S>& axis) { return axes_along(axis); }, p);
}

// The coordinates in the initial configuration, from the fields of zero_fields() (model/common_fields.h), if the joint has them.
template <class S>
void derive_zero(const Inputs<S>& in, S* p) {
  p[kInitialAngle] = p[kInitialDisplacement] = S(0);
  if (const int zero = in.kind().field("zero"); zero >= 0 && in.stored(zero))
    p[in.kind().coordinates.angle ? kInitialAngle : kInitialDisplacement] = -in.number(zero);
  if (const int zero = in.kind().field("zero_displacement"); zero >= 0 && in.stored(zero))
    p[kInitialDisplacement] = -in.number(zero);
}
void check_zero(const Inputs<double>& in, std::string& message);

// Of a joint in the plane without a direction: the inertial axes, or those of the bodies where its place is given in these.
template <class S>
void derive_plane_axes(const Inputs<S>& in, S* p) {
  const int at = in.kind().field("at");
  if (!in.in_bodies(at)) return derive_axes(in, Mat3T<S>(Mat3T<S>::Identity()), p);
  for (int i = 0; i < 2; ++i) Eigen::Map<Mat3T<S>>{p + 9 * i} = Mat3T<S>::Identity();
}

}  // namespace liedyn
