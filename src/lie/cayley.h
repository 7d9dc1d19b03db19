// The Cayley map, (I - x~/2)^-1 (I + x~/2) in the matrix representation: agrees with exp up to third order, costs no
// trigonometric function, and has polynomials for T^-1. Rotations by pi are out of reach: there x is infinite.
#pragma once

#include "liedyn/lie/coordinates.h"

namespace liedyn {

template <class G>
struct Cayley;

// f = 1/(1 + s/4) and its derivatives with respect to s = x.x:  f' = -f^2/4, f'' = f^3/8
template <int order, class S>
std::array<S, order + 1> cayley_factor(const S& s) {
  std::array<S, order + 1> f{S(1) / (S(1) + S(0.25) * s)};
  for (int j = 1; j <= order; ++j) f[j] = S(-0.25 * j) * f[0] * f[j - 1];
  return f;
}

template <class S>
struct Cayley<SO3<S>> {
  using Group = SO3<S>;
  using Tangent = Vec3T<S>;
  using Matrix = Mat3T<S>;

  // The quaternion (1, x/2)/|..|, and back
  static Group map(const Tangent& x) { return Group::from_quaternion(S(1), S(0.5) * x); }
  static Tangent local(const Group& q) { return (S(2) / q.w()) * q.v(); }

  static Matrix T(const Tangent& x) { return tangent<0>(x).matrix(x); }
  static Matrix Tinv(const Tangent& x) { return tangent_inverse<0>().matrix(x); }
  static Matrix dT(const Tangent& x, const Tangent& y) { return tangent<1>(x).derivative(x, y); }
  static Matrix dTinv(const Tangent& x, const Tangent& y) { return tangent_inverse<1>().derivative(x, y); }

 private:
  // T = (I - x~/2) / (1 + s/4)
  template <int order>
  static Isotropic<S, order> tangent(const Tangent& x) {
    Isotropic<S, order> m{cayley_factor<order>(S(x.squaredNorm())), {}, {}};
    for (int j = 0; j <= order; ++j) m.a[j] = S(-0.5) * m.p[j];
    return m;
  }
  // T^-1 = I + x~/2 + x x^T/4
  template <int order>
  static Isotropic<S, order> tangent_inverse() {
    return {{S(1)}, {S(0.5)}, {S(0.25)}};
  }
};

// With A = I - w~/2 the map is (p, R) = (A^-1 u, A^-1 A^T). A body increment of the position is
//   R^T dp = A^-T (du + dw x p/2)
// and gives, with T and T^-1 of SO(3) in the lower blocks,
//   T = | A^-T  -A^-T p~/2 |       T^-1 = | A^T  p~ T^-1/2 |
//       |  0        T      |              |  0      T^-1   |
template <class S>
struct Cayley<SE3<S>> {
  using Group = SE3<S>;
  using Rotation = Cayley<SO3<S>>;
  using Tangent = Vec6T<S>;
  using Matrix = Mat6T<S>;

  static Group map(const Tangent& x) {
    const Vec3T<S> w = x.template tail<3>();
    return {position(x), Rotation::map(w)};
  }
  static Tangent local(const Group& q) {
    const Vec3T<S> w = Rotation::local(q.rotation());
    Tangent x;
    x << q.position() - S(0.5) * w.cross(q.position()), w;
    return x;
  }

  static Matrix T(const Tangent& x) {
    const Vec3T<S> w = x.template tail<3>();
    const Mat3T<S> A_inverse_T = A_inverse<0>(w).matrix(-w);
    return blocks(A_inverse_T, A_inverse_T * skew(S(-0.5) * position(x)), Rotation::T(w));
  }
  static Matrix Tinv(const Tangent& x) {
    const Vec3T<S> w = x.template tail<3>();
    const Mat3T<S> rotation = Rotation::Tinv(w);
    return blocks(A_transposed(w), skew(S(0.5) * position(x)) * rotation, rotation);
  }

  // Upper part of T y:  A^-T z  with  z = y_u + y_w x p/2
  static Matrix dT(const Tangent& x, const Tangent& y) {
    const Vec3T<S> w = x.template tail<3>();
    const Vec3T<S> u = x.template head<3>();
    const Vec3T<S> half_y_w = S(0.5) * y.template tail<3>();
    const Isotropic<S, 1> inverse = A_inverse<1>(w);
    const Vec3T<S> z = y.template head<3>() + half_y_w.cross(inverse.times(w, u));
    const Mat3T<S> dz_dp = skew(half_y_w);
    const Mat3T<S> A_inverse_T = inverse.matrix(-w);
    return blocks(A_inverse_T * dz_dp * inverse.matrix(w),
                  A_inverse_T * dz_dp * inverse.derivative(w, u) - inverse.derivative(-w, z),
                  Rotation::dT(w, y.template tail<3>()));
  }
  // Upper part of T^-1 y:  A^T y_u - z x p/2  with  z = T^-1 y_w
  static Matrix dTinv(const Tangent& x, const Tangent& y) {
    const Vec3T<S> w = x.template tail<3>();
    const Vec3T<S> u = x.template head<3>();
    const Vec3T<S> y_u = y.template head<3>();
    const Vec3T<S> y_w = y.template tail<3>();
    const Isotropic<S, 1> inverse = A_inverse<1>(w);
    const Mat3T<S> by_p = skew(Vec3T<S>(S(-0.5) * (Rotation::Tinv(w) * y_w)));
    const Mat3T<S> dz = Rotation::dTinv(w, y_w);
    return blocks(
        by_p * inverse.matrix(w),
        by_p * inverse.derivative(w, u) + skew(S(0.5) * inverse.times(w, u)) * dz - skew(S(0.5) * y_u), dz);
  }

 private:
  // A^-1 = (I + w~/2 + w w^T/4) / (1 + s/4),  A^-T(w) = A^-1(-w)
  template <int order>
  static Isotropic<S, order> A_inverse(const Vec3T<S>& w) {
    Isotropic<S, order> m{cayley_factor<order>(S(w.squaredNorm())), {}, {}};
    for (int j = 0; j <= order; ++j) {
      m.a[j] = S(0.5) * m.p[j];
      m.b[j] = S(0.25) * m.p[j];
    }
    return m;
  }
  static Mat3T<S> A_transposed(const Vec3T<S>& w) { return Mat3T<S>::Identity() + skew(S(0.5) * w); }
  static Vec3T<S> position(const Tangent& x) {
    const Vec3T<S> w = x.template tail<3>();
    return A_inverse<0>(w).times(w, x.template head<3>());
  }
  static Matrix blocks(const Mat3T<S>& upper, const Mat3T<S>& coupling, const Mat3T<S>& lower) {
    Matrix m;
    m << upper, coupling, Mat3T<S>::Zero(), lower;
    return m;
  }
};

template <class S>
struct Cayley<SE2<S>> : InPlane<Cayley<SE3<S>>> {};

}  // namespace liedyn
