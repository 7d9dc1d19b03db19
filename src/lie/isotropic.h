// Isotropic matrix functions of a 3-vector, and their derivatives in closed form:
//
//   M(x) = p I + a x~ + b x x^T       p, a, b functions of s = x.x
//
// The rotation matrix, the tangent operators and their inverses of all coordinates on SO(3) have this shape, so their
// derivatives are written here once. On SE(3) the blocks that couple translation and rotation are directional derivatives
// of the SO(3) blocks: ad(u, w) is w~ + eps u~ with eps^2 = 0, so a function f of it is f(w~) + eps (Df(w~) . u).
#pragma once

#include <array>

#include "liedyn/base/matrix.h"

namespace liedyn {

// Coefficients p, a, b with their derivatives with respect to s up to the given order.
template <class S, int order>
struct Isotropic {
  std::array<S, order + 1> p, a, b;

  // M(x)
  Mat3T<S> matrix(const Vec3T<S>& x) const { return combine(p[0], a[0], b[0], x); }

  // M(x) y
  Vec3T<S> times(const Vec3T<S>& x, const Vec3T<S>& y) const { return combine(p[0], a[0], b[0], x, y); }

  // D M(x) . u = 2 (x.u) (p' I + a' x~ + b' x x^T) + a u~ + b (u x^T + x u^T)
  Mat3T<S> along(const Vec3T<S>& x, const Vec3T<S>& u) const requires(order >= 1) {
    const S rate = S(2) * x.dot(u);
    const Vec3T<S> bu = b[0] * u;
    Mat3T<S> m = combine(S(rate * p[1]), S(rate * a[1]), S(rate * b[1]), x);
    m += skew(Vec3T<S>(a[0] * u)) + bu * x.transpose() + x * bu.transpose();
    return m;
  }

  // d(M(x) y)/dx = 2 (p' y + a' x~ y + b' x x^T y) x^T - a y~ + b (x.y I + x y^T)
  Mat3T<S> derivative(const Vec3T<S>& x, const Vec3T<S>& y) const requires(order >= 1) {
    const Vec3T<S> slope = S(2) * combine(p[1], a[1], b[1], x, y);
    return slope * x.transpose() + unscaled_derivative(a[0], b[0], x, y);
  }

  // d(D M(x).u y)/dx, which is the derivative above differentiated along u
  Mat3T<S> derivative_along(const Vec3T<S>& x, const Vec3T<S>& u, const Vec3T<S>& y) const
      requires(order >= 2) {
    const S rate = S(2) * x.dot(u);
    const Vec3T<S> slope = combine(p[1], a[1], b[1], x, y);
    const Vec3T<S> slope_along =
        rate * combine(p[2], a[2], b[2], x, y) + a[1] * u.cross(y) + b[1] * (u.dot(y) * x + x.dot(y) * u);
    Mat3T<S> m = S(2) * (slope_along * x.transpose() + slope * u.transpose());
    m += rate * unscaled_derivative(a[1], b[1], x, y) + unscaled_derivative(S(0), b[0], u, y);
    return m;
  }

 private:
  static Mat3T<S> combine(const S& one, const S& cross, const S& outer, const Vec3T<S>& x) {
    Mat3T<S> m = (outer * x) * x.transpose();
    const Vec3T<S> c = cross * x;
    m(0, 0) += one, m(1, 1) += one, m(2, 2) += one;
    m(0, 1) -= c(2), m(1, 0) += c(2);
    m(0, 2) += c(1), m(2, 0) -= c(1);
    m(1, 2) -= c(0), m(2, 1) += c(0);
    return m;
  }
  static Vec3T<S> combine(const S& one, const S& cross, const S& outer, const Vec3T<S>& x,
                          const Vec3T<S>& y) {
    return one * y + cross * x.cross(y) + (outer * x.dot(y)) * x;
  }
  // The part of the derivative that comes from x~ and x x^T with their factors held fixed.
  static Mat3T<S> unscaled_derivative(const S& cross, const S& outer, const Vec3T<S>& x, const Vec3T<S>& y) {
    const S diagonal = outer * x.dot(y);
    Mat3T<S> m = (outer * x) * y.transpose() - skew(Vec3T<S>(cross * y));
    m(0, 0) += diagonal, m(1, 1) += diagonal, m(2, 2) += diagonal;
    return m;
  }
};

}  // namespace liedyn
