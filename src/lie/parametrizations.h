// Rotation parameters p in the large, for the conventional formulations. Each kind gives
//
//   R(p)                  rotation matrix
//   G(p)                  body angular velocity from rates, omega = G(p) p'
//   Ginv(p)               rates from body angular velocity, p' = Ginv(p) omega
//   dG(p, y)              d(G(p) y)/dp, so that omega' = G p'' + dG(p, p') p'
//   dGinv(p, w)           d(Ginv(p) w)/dp
//   rotation(p), from_rotation(q)
//
//   kind              size   p                                   singular where
//   RotationVector      3    t n                                 G at t = 2 pi
//   ConformalVector     3    4 tan(t/4) n                        p infinite at t = 2 pi; G and Ginv regular for all p
//   CayleyVector        3    2 tan(t/2) n                        p infinite at t = pi;   G and Ginv regular for all p
//   EulerParameters     4    unit quaternion (e0, e)             nowhere, at the price of the constraint p.p = 1
//   CardanAngles        3    (a, b, c) with R = Rx(a) Ry(b) Rz(c)  G at b = +-pi/2
#pragma once

#include <cmath>
#include <numbers>

#include "liedyn/base/matrix.h"
#include "liedyn/lie/cayley.h"
#include "liedyn/lie/conformal.h"
#include "liedyn/lie/so3.h"

namespace liedyn {

// Local coordinates of SO(3) used as global parameters: G is their tangent operator.
template <LocalCoordinates C>
struct VectorParameters {
  static constexpr int size = 3;
  using S = typename C::Group::Scalar;
  using Parameters = Vec3T<S>;

  static SO3<S> rotation(const Parameters& p) { return C::map(p); }
  static Parameters from_rotation(const SO3<S>& q) { return C::local(q); }
  static Mat3T<S> R(const Parameters& p) { return C::map(p).R(); }
  static Mat3T<S> G(const Parameters& p) { return C::T(p); }
  static Mat3T<S> Ginv(const Parameters& p) { return C::Tinv(p); }
  static Mat3T<S> dG(const Parameters& p, const Parameters& y) { return C::dT(p, y); }
  static Mat3T<S> dGinv(const Parameters& p, const Vec3T<S>& w) { return C::dTinv(p, w); }
};

template <class S>
using RotationVector = VectorParameters<Exponential<SO3<S>>>;
template <class S>
using ConformalVector = VectorParameters<Conformal<SO3<S>>>;
template <class S>
using CayleyVector = VectorParameters<Cayley<SO3<S>>>;

// The rotation vector of exp(first) exp(second), by the half-angle (quaternion) product:
//   e0 = cos|a|/2,  e = sin(|a|/2)/|a| a   likewise n0, n of b
//   psi = 2 phi/sin(phi) (e0 n + n0 e + e x n),   phi = atan2(|e0 n + n0 e + e x n|, e0 n0 - e.n)
// with the shorter of the two possible turns, |psi| <= pi. [Holzinger et al., Eqs. (A10)-(A13), which print the cross
// product in the opposite order, the factor 2 in the denominator and acos, which loses half the digits at small angles.]
template <class S>
Vec3T<S> compose_rotation_vectors(const Vec3T<S>& first, const Vec3T<S>& second) {
  return (SO3<S>::exp(first) * SO3<S>::exp(second)).log();
}

template <class S>
struct EulerParameters {
  static constexpr int size = 4;
  using Parameters = Eigen::Matrix<S, 4, 1>;
  using Mat34 = Eigen::Matrix<S, 3, 4>;
  using Mat43 = Eigen::Matrix<S, 4, 3>;
  using Mat44 = Eigen::Matrix<S, 4, 4>;

  // The rotation nearest to p, which satisfies p.p = 1 only to the accuracy of the constraint.
  static SO3<S> rotation(const Parameters& p) { return SO3<S>::from_quaternion(p(0), p.template tail<3>()); }
  // Of the two sets of parameters the one with e0 >= 0.
  static Parameters from_rotation(const SO3<S>& q) { return q.canonical().coordinates(); }

  // R = (e0^2 - e.e) I + 2 e0 e~ + 2 e e^T, a homogeneous polynomial: off the constraint it is p.p times a rotation
  static Mat3T<S> R(const Parameters& p) {
    const Vec3T<S> e = p.template tail<3>();
    return Isotropic<S, 0>{{p(0) * p(0) - e.squaredNorm()}, {S(2) * p(0)}, {S(2)}}.matrix(e);
  }

  // G = 2 (-e | e0 I - e~),  G G^T/4 = p.p I
  static Mat34 G(const Parameters& p) {
    const Vec3T<S> e = p.template tail<3>();
    Mat34 m;
    m << -e, p(0) * Mat3T<S>::Identity() - skew(e);
    return S(2) * m;
  }
  // The rates that keep p.p constant: p' = p o (0, omega)/2. Inverse of G on the constraint.
  static Mat43 Ginv(const Parameters& p) { return S(0.25) * G(p).transpose(); }

  // G(p) y is bilinear and changes sign when p and y change places.
  static Mat34 dG(const Parameters&, const Parameters& y) { return -G(y); }
  // d/dp of (-e.w, e0 w + e x w)/2
  static Mat44 dGinv(const Parameters&, const Vec3T<S>& w) {
    Mat44 m;
    m << S(0), -w.transpose(), w, -skew(w);
    return S(0.5) * m;
  }
};

template <class S>
struct CardanAngles {
  static constexpr int size = 3;
  using Parameters = Vec3T<S>;

  static SO3<S> rotation(const Parameters& p) { return about(0, p(0)) * about(1, p(1)) * about(2, p(2)); }

  // b in [-pi/2, pi/2], a and c in [-pi, pi]. Half the sum and half the difference of a and c are polar angles of
  //   (w + y, x + z) = (cos b/2 + sin b/2) (cos, sin)((a + c)/2)
  //   (w - y, x - z) = (cos b/2 - sin b/2) (cos, sin)((a - c)/2)
  // Towards b = +-pi/2 one of them fades out, and with it what the rotation tells about that combination; the result
  // still reproduces the rotation, which separate formulas for a and c would not.
  static Parameters from_rotation(const SO3<S>& q) {
    using std::atan2, std::hypot;
    const S x = q.v()(0), y = q.v()(1), z = q.v()(2);
    const S half_sum = atan2(x + z, q.w() + y);
    const S half_difference = atan2(x - z, q.w() - y);
    const S sin_b = S(2) * (x * z + q.w() * y);
    const S cos_b = hypot(x + z, q.w() + y) * hypot(x - z, q.w() - y);
    return {wrap(half_sum + half_difference), atan2(sin_b, cos_b), wrap(half_sum - half_difference)};
  }

  static Mat3T<S> R(const Parameters& p) {
    const Trig t(p);
    Mat3T<S> m;
    m << t.cb * t.cc, -t.cb * t.sc, t.sb,                                                  //
        t.ca * t.sc + t.sa * t.sb * t.cc, t.ca * t.cc - t.sa * t.sb * t.sc, -t.sa * t.cb,  //
        t.sa * t.sc - t.ca * t.sb * t.cc, t.sa * t.cc + t.ca * t.sb * t.sc, t.ca * t.cb;
    return m;
  }

  // omega = Rz^T Ry^T e_x a' + Rz^T e_y b' + e_z c'
  static Mat3T<S> G(const Parameters& p) {
    const Trig t(p);
    Mat3T<S> m;
    m << t.cb * t.cc, t.sc, S(0),  //
        -t.cb * t.sc, t.cc, S(0),  //
        t.sb, S(0), S(1);
    return m;
  }
  static Mat3T<S> Ginv(const Parameters& p) {
    const Trig t(p);
    Mat3T<S> m;
    m << t.cc / t.cb, -t.sc / t.cb, S(0),  //
        t.sc, t.cc, S(0),                  //
        -t.sb * t.cc / t.cb, t.sb * t.sc / t.cb, S(1);
    return m;
  }

  static Mat3T<S> dG(const Parameters& p, const Parameters& y) {
    const Trig t(p);
    Mat3T<S> m;
    m << S(0), -t.sb * t.cc * y(0), -t.cb * t.sc * y(0) + t.cc * y(1),  //
        S(0), t.sb * t.sc * y(0), -t.cb * t.cc * y(0) - t.sc * y(1),    //
        S(0), t.cb * y(0), S(0);
    return m;
  }
  // Ginv w = (h/cb, sc w_x + cc w_y, w_z - h tan b) with h = cc w_x - sc w_y
  static Mat3T<S> dGinv(const Parameters& p, const Vec3T<S>& w) {
    const Trig t(p);
    const S h = t.cc * w(0) - t.sc * w(1);
    const S dh = -t.sc * w(0) - t.cc * w(1);
    const S cb2 = t.cb * t.cb;
    Mat3T<S> m;
    m << S(0), h * t.sb / cb2, dh / t.cb,  //
        S(0), S(0), h,                     //
        S(0), -h / cb2, -dh * t.sb / t.cb;
    return m;
  }

 private:
  struct Trig {
    S ca, sa, cb, sb, cc, sc;
    explicit Trig(const Parameters& p) {
      using std::cos, std::sin;
      ca = cos(p(0)), sa = sin(p(0)), cb = cos(p(1)), sb = sin(p(1)), cc = cos(p(2)), sc = sin(p(2));
    }
  };
  static S wrap(const S& angle) {
    if (angle > S(std::numbers::pi)) return angle - S(2 * std::numbers::pi);
    if (angle < S(-std::numbers::pi)) return angle + S(2 * std::numbers::pi);
    return angle;
  }
  static SO3<S> about(int axis, const S& angle) { return SO3<S>::exp(angle * Vec3T<S>::Unit(axis)); }
};

}  // namespace liedyn
