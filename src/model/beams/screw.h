// Products of twists and wrenches (translation, rotation), beyond what the group SE3 itself has.
//
// A twist is a dual vector a = a_w + eps a_u with eps^2 = 0, and the formulas of rotations hold for rigid motions if their scalars,
// dot and cross products are read with dual numbers (principle of transference). A dual matrix is [W, U; 0, W].
#pragma once

#include "liedyn/base/matrix.h"
#include "liedyn/lie/se3.h"
#include "liedyn/model/element.h"

namespace liedyn {

// ad_a b
template <class S>
Vec6T<S> screw_cross(const Vec6T<S>& a, const Vec6T<S>& b) {
  const Vec3T<S> au = a.template head<3>(), aw = a.template tail<3>();
  const Vec3T<S> bu = b.template head<3>(), bw = b.template tail<3>();
  Vec6T<S> out;
  out.template head<3>() = aw.cross(bu) + au.cross(bw);
  out.template tail<3>() = aw.cross(bw);
  return out;
}

// ad_a^T F of a wrench F
template <class S>
Vec6T<S> coadjoint(const Vec6T<S>& a, const Vec6T<S>& F) {
  const Vec3T<S> u = a.template head<3>(), w = a.template tail<3>();
  const Vec3T<S> f = F.template head<3>(), m = F.template tail<3>();
  Vec6T<S> out;
  out.template head<3>() = f.cross(w);
  out.template tail<3>() = f.cross(u) + m.cross(w);
  return out;
}

// d(ad_a^T F)/da, symmetric up to its sign
inline Mat6 coadjoint_slope(const Vec6& F) {
  const Mat3 f = skew(F.head<3>());
  Mat6 out;
  out << Mat3::Zero(), f, f, skew(F.tail<3>());
  return out;
}

// (m, f) of (f, m): ad_a^T F = -swapped(ad_a swapped(F)), and so T^T(x) F = swapped(T(-x) swapped(F)).
template <class S>
Vec6T<S> swapped(const Vec6T<S>& x) {
  Vec6T<S> out;
  out << x.template tail<3>(), x.template head<3>();
  return out;
}
inline Mat6 swapped_rows(const Mat6& D) {
  Mat6 out;
  out << D.bottomRows<3>(), D.topRows<3>();
  return out;
}

// The motion from a to b, as a sees it: its logarithm, and the dual Gibbs vector of half of it, whose rotational part is tan(t/4) n for a
// rotation by t about n. From the dual quaternion Q = q + eps p q/2:  c = vec(Q)/(1 + scalar(Q)), without trigonometric functions.
template <class S>
struct RelativePose {
  Vec6T<S> twist;  // log, (u, w)
  Vec6T<S> half;   // c

  RelativePose(const Pose<S>& a, const Pose<S>& b) {
    const SO3<S> q = SO3<S>::from_matrix(a.R.transpose() * b.R).canonical();
    const Vec3T<S> p = a.R.transpose() * (b.p - a.p);
    twist = SE3<S>(p, q).log();
    const S h(0.5), divisor = S(1) / (S(1) + q.w());
    const Vec3T<S> cw = divisor * q.v();
    const Vec3T<S> dual_vector = h * (q.w() * p + p.cross(q.v()));
    const S dual_scalar = -h * p.dot(q.v());
    half << divisor * (dual_vector - dual_scalar * cw), cw;
  }
};

// Inertia of a section, [m, -m c~; m c~, J], at a twist and an acceleration: M A - ad_V^T M V.
template <class S, class Matrix>
Vec6T<S> inertial(const Matrix& M, const Vec6T<S>& V, const Vec6T<S>& A) {
  return M * A - coadjoint<S>(V, M * V);
}
// Weight is the inertial force of a falling frame: A - (R^T gravity, 0).
template <class S>
Vec6T<S> falling(const Motion<S>& m, const World<S>& world) {
  Vec6T<S> A = m.A;
  A.template head<3>() -= m.R.transpose() * world.gravity;
  return A;
}
// d(M A - ad_V^T M V)/dV
inline Mat6 gyroscopic(const Mat6& M, const Vec6& V) {
  return -(SE3<double>::ad(V).transpose() * M) - coadjoint_slope(M * V);
}
template <class S>
EnergyOf<S> inertial_energy(const Mat6T<S>& M, const Vec6T<S>& V, const Pose<S>& pose,
                            const Vec3T<S>& gravity) {
  const Mat3T<S> corner = M.template bottomLeftCorner<3, 3>();
  const Vec3T<S> first_moment(corner(2, 1), corner(0, 2), corner(1, 0));  // m c
  const Vec3T<S> place = M(0, 0) * pose.p + pose.R * first_moment;
  return {S(0.5) * V.dot(M * V), -gravity.dot(place)};
}

// d(T^-T(x) F)/dx
inline Mat6 transposed_slope(const Vec6& x, const Vec6& F) {
  return -swapped_rows(SE3<double>::dTinv(-x, swapped(F)));
}

}  // namespace liedyn
