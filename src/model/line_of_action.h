// How far a body has moved along a line that its carrier holds: the flank of a gear wheel along the normal of its teeth, the rim of a pulley
// along the strand of a belt. A joint guides the body (the second of the joint) on the carrier (the first): it turns about the axis a through
// the joint's place, moves along it, or both. In the axes of the carrier, with the line's direction n through the point P,
//
//   x = n.u + (w - s m).Q b + c theta
//
//   u = R_1^T (p_2 - p_1)      displacement of the joint's place; s = a.u is the part along the axis
//   Q b,  Q = R_1^T R_2        the axis as the body carries it; a x Q b is its tilt
//   theta                      angle about the axis, with all its turns
//   r = P - p_1,   c = a.(r x n),   w = (r x n) x a,   m = n - a (a.n)
//
// While the joint holds, Q b = a and u = s a, so that x = (n.a) s + c theta is exact over any number of turns. The gradient is then
//
//   dx = n.du + ((r - s a) x n).(rotation of the body relative to the carrier)
//
// so that x' is the velocity along n of the body's material point at P, and a force lambda along x is a force lambda n at P, which the
// bearing carries: w and s m are there for its torque across the axis.
#pragma once

#include "liedyn/model/joint_coordinate.h"

namespace liedyn {

// The numbers of a line, besides those of its joint (kCoordinateConstants): n, w, c.
inline constexpr int kLineConstants = 7;

// The axes of the i-th joint that an entry names, as the lines on it need them: the angle is zero in the initial configuration.
template <class S>
void derive_line_axes(const Inputs<S>& in, int i, S* axes) {
  derive_coordinate(in, i, -1, axes);
  axes[kInitialAngle] = axes[kInitialDisplacement] = axes[kAxesConstants] = S(0);
}

// P and n in inertial axes, in the initial configuration.
template <class S>
void derive_line(const Inputs<S>& in, int i, const Vec3T<S>& P, const Vec3T<S>& n, const S* axes, S* line) {
  const Pose<S>& carrier = in.frame(2 * i);
  const Vec3T<S> a = JointAxes<S>(axes).first.col(2), arm = carrier.R.transpose() * (P - carrier.p),
                 direction = carrier.R.transpose() * n, moment = arm.cross(direction);
  Eigen::Map<Vec3T<S>>{line} = direction;
  Eigen::Map<Vec3T<S>>{line + 3} = moment.cross(a);
  line[6] = a.dot(moment);
}

template <class S>
struct LineOfAction {
  Vec3T<S> a, b, n, w, m;
  S c;
  LineOfAction(const S* axes, const S* line)
      : a(JointAxes<S>(axes).first.col(2)),
        b(JointAxes<S>(axes).second.col(2)),
        n(Eigen::Map<const Vec3T<S>>(line)),
        w(Eigen::Map<const Vec3T<S>>(line + 3)),
        m(n - a * a.dot(n)),
        c(line[6]) {}
};

// x, with the angle in the turn nearest to `reference`.
template <class S>
S line_value(const Pose<S>& first, const Pose<S>& second, const S* axes, const S* line, const S& reference) {
  const LineOfAction<S> l(axes, line);
  const Vec3T<S> u = first.R.transpose() * (second.p - first.p),
                 axis = first.R.transpose() * (second.R * l.b);
  return l.n.dot(u) + (l.w - l.a.dot(u) * l.m).dot(axis) +
         l.c * coordinate_value(first, second, axes, reference);
}

// Its gradient with respect to the increments of the two frames. With k = w - s m and tau = m.Q b,
//   dx = (n - tau a).du + k.d(Q b) + c dtheta
template <class S>
std::array<Vec6T<S>, 2> line_gradient(const Pose<S>& first, const Pose<S>& second, const S* axes,
                                      const S* line) {
  using V3 = Vec3T<S>;
  const LineOfAction<S> l(axes, line);
  const Mat3T<S> Q = first.R.transpose() * second.R;
  const V3 u = first.R.transpose() * (second.p - first.p), axis = Q * l.b;
  const V3 k = l.w - l.a.dot(u) * l.m, along = l.n - l.m.dot(axis) * l.a;
  std::array<Vec6T<S>, 2> B = coordinate_gradient<S>(first, second, axes);
  B[0] *= l.c;
  B[1] *= l.c;
  B[0].template head<3>() -= along;
  B[0].template tail<3>() += V3(along.cross(u) + k.cross(axis));
  B[1].template head<3>() += Q.transpose() * along;
  B[1].template tail<3>() += l.b.cross(V3(Q.transpose() * k));
  return B;
}

template <class S>
void line_derivatives(const Motion<S>& first, const Motion<S>& second, const S* axes, const S* line,
                      double reference, CoordinateDerivativesOf<S>& out);

// What is wrong with the joints that an entry names: both must guide a body along one of these coordinates (Kind::guides), and move
// different bodies on the same carrier. Empty: nothing.
std::string carrier_mistake(const Inputs<double>& in, AxisCoordinates expected, std::string& hint);

}  // namespace liedyn
