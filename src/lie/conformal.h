// The conformal rotation vector (Wiener-Milenkovic parameters), c = 4 tan(t/4) n: like the Cayley map free of
// trigonometric functions, but regular up to a full turn (c is infinite at t = 2 pi). It is the square of a Cayley map,
// map(x) = cay(x/2)^2, and in that form it exists on SE(3) as well.
//   [Bruels and Eberhard, Eqs. (36)-(38) and (119), with c0 = 2 - |c|^2/8]
#pragma once

#include "liedyn/lie/cayley.h"

namespace liedyn {

template <class G>
struct Conformal;

template <class S>
struct Conformal<SO3<S>> {
  using Group = SO3<S>;
  using Tangent = Vec3T<S>;
  using Matrix = Mat3T<S>;

  // The quaternion (c0, c)/(4 - c0). Its length is exactly 1: c0^2 + |c|^2 = (4 - c0)^2.
  static Group map(const Tangent& c) {
    const S c0 = S(2) - S(0.125) * c.squaredNorm();
    const S scale = S(1) / (S(4) - c0);
    return Group::from_coordinates({scale * c0, scale * c(0), scale * c(1), scale * c(2)});
  }
  // c = 4 v/(1 + w) with w >= 0, so |c| <= 4 tan(pi/4) = 4
  static Tangent local(const Group& q) {
    const Group near = q.canonical();
    return (S(4) / (S(1) + near.w())) * near.v();
  }

  static Matrix T(const Tangent& c) { return tangent<0>(c).matrix(c); }
  static Matrix Tinv(const Tangent& c) { return tangent_inverse<0>(c).matrix(c); }
  static Matrix dT(const Tangent& c, const Tangent& y) { return tangent<1>(c).derivative(c, y); }
  static Matrix dTinv(const Tangent& c, const Tangent& y) { return tangent_inverse<1>(c).derivative(c, y); }

 private:
  // T = 2/(4 - c0)^2 (c0 I - c~ + c c^T/4). With s = c.c and f = 1/(1 + s/16) = 2/(4 - c0):
  //   T = (2 f^2 - f) I - f^2/2 c~ + f^2/8 c c^T,   f' = -f^2/16
  template <int order>
  static Isotropic<S, order> tangent(const Tangent& c) {
    const S f = S(1) / (S(1) + S(0.0625) * c.squaredNorm());
    const S f2 = f * f;
    Isotropic<S, order> m;
    m.p[0] = S(2) * f2 - f;
    m.a[0] = S(-0.5) * f2;
    m.b[0] = S(0.125) * f2;
    if constexpr (order >= 1) {
      const S f2_slope = S(-0.125) * f2 * f;
      m.p[1] = S(2) * f2_slope + S(0.0625) * f2;
      m.a[1] = S(-0.5) * f2_slope;
      m.b[1] = S(0.125) * f2_slope;
    }
    return m;
  }
  // T^-1 = (c0 I + c~ + c c^T/4)/2
  template <int order>
  static Isotropic<S, order> tangent_inverse(const Tangent& c) {
    Isotropic<S, order> m{{S(1) - S(0.0625) * c.squaredNorm()}, {S(0.5)}, {S(0.125)}};
    if constexpr (order >= 1) m.p[1] = S(-0.0625);
    return m;
  }
};

// With A = I - c~/4 the map is (p, R) = (A^-2 u, A^-2 A^T^2). Since d(A^2) = -(dc~ A + A dc~)/4, a body increment of the
// position is
//   R^T dp = A^-T^2 (du + (dc~ A + A dc~) p/4)
// and gives, with K = ((A p)~ + A p~)/4 and T, T^-1 of SO(3) in the lower blocks,
//   T = | A^-T^2  -A^-T^2 K |       T^-1 = | A^T^2  K T^-1 |
//       |   0          T    |              |   0     T^-1  |
template <class S>
struct Conformal<SE3<S>> {
  using Group = SE3<S>;
  using Rotation = Conformal<SO3<S>>;
  using Tangent = Vec6T<S>;
  using Matrix = Mat6T<S>;

  static Group map(const Tangent& x) { return {position(x), Rotation::map(x.template tail<3>())}; }
  static Tangent local(const Group& q) {
    const Vec3T<S> c = Rotation::local(q.rotation());
    Tangent x;
    x << A_squared<0>(c).times(c, q.position()), c;
    return x;
  }

  static Matrix T(const Tangent& x) {
    const Vec3T<S> c = x.template tail<3>();
    const Mat3T<S> upper = A_squared_inverse<0>(c).matrix(-c);
    return blocks(upper, -upper * K(c, position(x)), Rotation::T(c));
  }
  static Matrix Tinv(const Tangent& x) {
    const Vec3T<S> c = x.template tail<3>();
    const Mat3T<S> rotation = Rotation::Tinv(c);
    return blocks(A_squared<0>(c).matrix(-c), K(c, position(x)) * rotation, rotation);
  }

  // Upper part of T y:  A^-T^2 z  with  z = y_u - K y_w
  static Matrix dT(const Tangent& x, const Tangent& y) {
    const Vec3T<S> c = x.template tail<3>();
    const Vec3T<S> y_w = y.template tail<3>();
    const Isotropic<S, 1> inverse = A_squared_inverse<1>(c);
    const KDerivatives k(c, x.template head<3>(), y_w, inverse);
    const Vec3T<S> z = y.template head<3>() - k.K * y_w;
    const Mat3T<S> upper = inverse.matrix(-c);
    return blocks(-upper * k.by_u, -upper * k.by_c - inverse.derivative(-c, z), Rotation::dT(c, y_w));
  }
  // Upper part of T^-1 y:  A^T^2 y_u + K z  with  z = T^-1 y_w
  static Matrix dTinv(const Tangent& x, const Tangent& y) {
    const Vec3T<S> c = x.template tail<3>();
    const Vec3T<S> y_u = y.template head<3>();
    const Vec3T<S> y_w = y.template tail<3>();
    const KDerivatives k(c, x.template head<3>(), Rotation::Tinv(c) * y_w, A_squared_inverse<1>(c));
    const Mat3T<S> dz = Rotation::dTinv(c, y_w);
    return blocks(k.by_u, k.by_c + k.K * dz - A_squared<1>(c).derivative(-c, y_u), dz);
  }

 private:
  // A^2 = (1 - s/16) I - c~/2 + c c^T/16,  (A^T)^2 the same with -c
  template <int order>
  static Isotropic<S, order> A_squared(const Vec3T<S>& c) {
    Isotropic<S, order> m{{S(1) - S(0.0625) * c.squaredNorm()}, {S(-0.5)}, {S(0.0625)}};
    if constexpr (order >= 1) m.p[1] = S(-0.0625);
    return m;
  }
  // A^-2 = f^2 ((1 - s/16) I + c~/2 + (3/16 + s/256) c c^T) = (2 f^2 - f) I + f^2/2 c~ + (2 f^2 + f)/16 c c^T
  // with f = 1/(1 + s/16) and f' = -f^2/16
  template <int order>
  static Isotropic<S, order> A_squared_inverse(const Vec3T<S>& c) {
    const S f = S(1) / (S(1) + S(0.0625) * c.squaredNorm());
    const S f2 = f * f;
    Isotropic<S, order> m;
    m.p[0] = S(2) * f2 - f;
    m.a[0] = S(0.5) * f2;
    m.b[0] = S(0.0625) * (S(2) * f2 + f);
    if constexpr (order >= 1) {
      const S f_slope = S(-0.0625) * f2;
      const S f2_slope = S(2) * f * f_slope;
      m.p[1] = S(2) * f2_slope - f_slope;
      m.a[1] = S(0.5) * f2_slope;
      m.b[1] = S(0.0625) * (S(2) * f2_slope + f_slope);
    }
    return m;
  }

  static Vec3T<S> position(const Tangent& x) {
    const Vec3T<S> c = x.template tail<3>();
    return A_squared_inverse<0>(c).times(c, x.template head<3>());
  }

  static Vec3T<S> A_times(const Vec3T<S>& c, const Vec3T<S>& p) { return p - S(0.25) * c.cross(p); }
  static Mat3T<S> A(const Vec3T<S>& c) { return Mat3T<S>::Identity() - skew(S(0.25) * c); }
  static Mat3T<S> K(const Vec3T<S>& c, const Vec3T<S>& p) {
    return S(0.25) * (skew(A_times(c, p)) + A(c) * skew(p));
  }

  // K y = -(y~ A + A y~) p/4 and its derivatives with respect to u and c, with p = A^-2 u
  struct KDerivatives {
    Mat3T<S> K, by_u, by_c;

    KDerivatives(const Vec3T<S>& c, const Vec3T<S>& u, const Vec3T<S>& y,
                 const Isotropic<S, 1>& A_squared_inverse) {
      const Vec3T<S> p = A_squared_inverse.times(c, u);
      const Mat3T<S> y_skew = skew(y);
      const Mat3T<S> by_p = S(-0.25) * (y_skew * A(c) + A(c) * y_skew);
      K = Conformal::K(c, p);
      by_u = by_p * A_squared_inverse.matrix(c);
      by_c = by_p * A_squared_inverse.derivative(c, u) - S(0.0625) * (y_skew * skew(p) + skew(y.cross(p)));
    }
  };

  static Matrix blocks(const Mat3T<S>& upper, const Mat3T<S>& coupling, const Mat3T<S>& lower) {
    Matrix m;
    m << upper, coupling, Mat3T<S>::Zero(), lower;
    return m;
  }
};

template <class S>
struct Conformal<SE2<S>> : InPlane<Conformal<SE3<S>>> {};

}  // namespace liedyn
