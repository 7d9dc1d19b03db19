// The coordinate of a joint about its axis or along it, as drivers, couplings, springs and actuators use it: how far the
// second body has turned or moved relative to the first since the initial configuration, less the joint's `zero`. With the axes x, y, z
// of the joint on both bodies (model/joints/joint_axes.h),
//
//   angle          theta = atan2(s, c) - zero,   c = e_x,1.e_x,2,   s = e_y,1.e_x,2
//   displacement   u = e_z,1.(p_2 - p_1) - zero
//
// with exact first and second derivatives, also off the joint's own constraints.
#pragma once

#include <cmath>
#include <numbers>

#include "liedyn/base/dual.h"
#include "liedyn/model/joints/joint_axes.h"

namespace liedyn {

// x + 2 pi k, nearest to `reference`.
template <class S>
S nearest_turn(const S& x, double reference) {
  constexpr double kTurn = 2 * std::numbers::pi;
  return x + S(kTurn * std::round((reference - value(x)) / kTurn));
}

// The numbers of an element that describe a coordinate: A_1, A_2, and which one it is.
inline constexpr int kCoordinateConstants = kAxesConstants + 1;

template <class S>
bool is_angle(const S* p) {
  return p[kAxesConstants] == S(0);
}

// From the i-th joint that the entry names; `choice` is the field of joint_coordinate_choice(), or -1.
template <class S>
void derive_coordinate(const Inputs<S>& in, int i, int choice, S* p) {
  const Inputs<S> joint = in.joint(i);
  if (const int axis = joint.kind().field("axis"); axis >= 0)
    derive_axes(joint, axis, p);
  else
    derive_plane_axes(joint, p);
  derive_zero(joint, p);
  const int chosen = choice >= 0 ? in.choice(choice) : 0;
  const bool angle = chosen == 0 ? joint.kind().coordinates.angle : chosen == 1;
  p[kAxesConstants] = S(angle ? 0 : 1);
}

// The coordinate of the pair of frames that begins at f, an angle in the turn nearest to `reference`.
template <class S>
S coordinate_value(const Pose<S>& first, const Pose<S>& second, const S* p, const S& reference) {
  using std::atan2;
  const JointAxes<S> axes(p);
  if (!is_angle(p)) return (first.R * axes.first.col(2)).dot(second.p - first.p) + p[kInitialDisplacement];
  const Vec3T<S> x2 = second.R * axes.second.col(0);
  const S c = (first.R * axes.first.col(0)).dot(x2), s = (first.R * axes.first.col(1)).dot(x2);
  return nearest_turn(S(atan2(s, c) + p[kInitialAngle]), value(reference));
}

// Its gradient with respect to the increments of the two frames: B_1^T and B_2^T.
template <class S>
std::array<Vec6T<S>, 2> coordinate_gradient(const Pose<S>& first, const Pose<S>& second, const S* p) {
  const JointAxes<S> axes(p);
  const Mat3T<S> Q = first.R.transpose() * second.R;
  std::array<Vec6T<S>, 2> B;
  if (!is_angle(p)) {
    const Vec3T<S> a = axes.first.col(2), r = first.R.transpose() * (first.p - second.p);
    B[0] << -a, -a.cross(r);
    B[1] << Q.transpose() * a, Vec3T<S>::Zero();
    return B;
  }
  const Vec3T<S> x1 = axes.first.col(0), y1 = axes.first.col(1), x2 = axes.second.col(0), turned = Q * x2;
  const S c = x1.dot(turned), s = y1.dot(turned), square = c * c + s * s;
  const Vec3T<S> a = (c * y1 - s * x1) / square;  // d(theta) = a.d(Q x2)
  B[0] << Vec3T<S>::Zero(), a.cross(turned);
  B[1] << Vec3T<S>::Zero(), x2.cross(Vec3T<S>(Q.transpose() * a));
  return B;
}

// Value, rate B V, and the derivatives of the two frames as in JointDerivatives, for a multiplier of 1.
template <class S>
struct CoordinateDerivativesOf {
  using Row = Eigen::Matrix<S, 1, 6>;
  S value;
  S rate;
  S bias;  // second derivative along constant body twists
  Row B[2];
  Row Z[2];      // d(rate)/dX
  Mat6 G[2][2];  // d(B_i^T)/dX_j; not with S = Varied
};
using CoordinateDerivatives = CoordinateDerivativesOf<double>;
template <class S>
void coordinate_derivatives(const Motion<S>& first, const Motion<S>& second, const S* p, double reference,
                            CoordinateDerivativesOf<S>& out);

}  // namespace liedyn
