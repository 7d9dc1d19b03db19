// Rigid motions of the plane, stored as position and (cos, sin) of the angle. Twists are (u, w): u in body axes.
#pragma once

#include <cmath>
#include <numbers>

#include "liedyn/base/dual.h"
#include "liedyn/base/matrix.h"
#include "liedyn/lie/group.h"
#include "liedyn/lie/trig.h"

namespace liedyn {

template <class S>
class SE2 {
 public:
  static constexpr int dof = 3;
  static constexpr int nq = 4;
  using Scalar = S;
  using Tangent = Vec3T<S>;
  using Matrix = Mat3T<S>;
  using Coordinates = Eigen::Matrix<S, 4, 1>;  // (position, cos, sin)
  using Point = Eigen::Matrix<S, 2, 1>;
  using Mat2 = Eigen::Matrix<S, 2, 2>;
  template <class S2>
  using Rebind = SE2<S2>;

  SE2() : position_(Point::Zero()), cos_(1), sin_(0) {}
  SE2(const Point& position, const S& angle) : position_(position) {
    using std::cos, std::sin;
    cos_ = cos(angle);
    sin_ = sin(angle);
  }

  static SE2 identity() { return {}; }
  static SE2 from_coordinates(const Coordinates& c) { return {c.template head<2>(), c(2), c(3)}; }
  Coordinates coordinates() const { return {position_(0), position_(1), cos_, sin_}; }

  const Point& position() const { return position_; }
  // In (-pi, pi]: a half turn is +pi whatever the sign of a zero sine.
  S angle() const {
    using std::atan2;
    const S a = atan2(sin_, cos_);
    return sin_ == S(0) && a < S(0) ? a + S(2 * std::numbers::pi) : a;
  }
  Mat2 R() const { return combine(cos_, sin_); }
  Point act(const Point& point) const { return position_ + R() * point; }

  // Length of (cos, sin) corrected to first order after each product, as for quaternions.
  friend SE2 operator*(const SE2& l, const SE2& r) {
    const S c = l.cos_ * r.cos_ - l.sin_ * r.sin_;
    const S s = l.sin_ * r.cos_ + l.cos_ * r.sin_;
    const S scale = S(0.5) * (S(3) - (c * c + s * s));
    return {l.act(r.position_), scale * c, scale * s};
  }
  SE2 inverse() const { return {-(R().transpose() * position_), cos_, -sin_}; }

  // With J the rotation by pi/2:  exp(u, w) = ((sin w/w I + (1 - cos w)/w J) u, w)
  static SE2 exp(const Tangent& x) {
    const S w = x(2);
    const S w2 = w * w;
    const S sinc = stumpff<1>(w2);
    return {combine(sinc, w * stumpff<2>(w2)) * x.template head<2>(), stumpff<0>(w2), w * sinc};
  }
  Tangent log() const {
    const S w = angle();
    Tangent x;
    x << combine(S(1) - w * w * cot_quotient(S(w * w)), S(-0.5) * w) * position_, w;
    return x;
  }

  // Ad = | R  -J p |      ad = | w J  -J u |
  //      | 0    1  |           |  0     0  |
  Matrix Ad() const { return with_last_row(R(), Point(position_(1), -position_(0)), S(1)); }
  static Matrix ad(const Tangent& x) { return with_last_row(combine(S(0), x(2)), Point(x(1), -x(0)), S(0)); }

  // With c_k = stumpff<k>(w^2):  T = | c1 I - w c2 J   (w c3 I + c2 J) u |
  //                                  |       0                 1         |
  static Matrix T(const Tangent& x) {
    const S w = x(2);
    const S w2 = w * w;
    const S c2 = stumpff<2>(w2);
    return with_last_row(combine(stumpff<1>(w2), -w * c2),
                         combine(w * stumpff<3>(w2), c2) * x.template head<2>(), S(1));
  }
  // With c = cot_quotient(w^2):  T^-1 = | (1 - c w^2) I + w/2 J   (w c I - J/2) u |
  //                                     |          0                     1        |
  static Matrix Tinv(const Tangent& x) {
    const S w = x(2);
    const S c = cot_quotient(S(w * w));
    return with_last_row(combine(S(1) - c * w * w, S(0.5) * w),
                         combine(w * c, S(-0.5)) * x.template head<2>(), S(1));
  }

  // The same two operators, applied to y and differentiated; d/dw f(w^2) = 2 w f'.
  static Matrix dT(const Tangent& x, const Tangent& y) {
    const S w = x(2);
    const S w2 = w * w;
    const S c2 = stumpff<2>(w2);
    const S c3 = stumpff<3>(w2);
    const S slope2 = S(2) * stumpff<2, 1>(w2);
    const S slope3 = S(2) * stumpff<3, 1>(w2);
    const Mat2 by_u = y(2) * combine(w * c3, c2);
    const Point by_w = combine(S(2) * w * stumpff<1, 1>(w2), -(c2 + w2 * slope2)) * y.template head<2>() +
                       y(2) * combine(c3 + w2 * slope3, w * slope2) * x.template head<2>();
    return with_last_row(by_u, by_w, S(0));
  }
  static Matrix dTinv(const Tangent& x, const Tangent& y) {
    const S w = x(2);
    const S w2 = w * w;
    const S c = cot_quotient(w2);
    const S slope = S(2) * cot_quotient<1>(w2);
    const Mat2 by_u = y(2) * combine(w * c, S(-0.5));
    const Point by_w = combine(-w * (S(2) * c + w2 * slope), S(0.5)) * y.template head<2>() +
                       (y(2) * (c + w2 * slope)) * x.template head<2>();
    return with_last_row(by_u, by_w, S(0));
  }

 private:
  SE2(const Point& position, const S& c, const S& s) : position_(position), cos_(c), sin_(s) {}

  // a I + b J
  static Mat2 combine(const S& a, const S& b) {
    Mat2 m;
    m << a, -b, b, a;
    return m;
  }
  static Matrix with_last_row(const Mat2& block, const Point& column, const S& corner) {
    Matrix m;
    m << block, column, S(0), S(0), corner;
    return m;
  }

  Point position_;
  S cos_, sin_;
};

static_assert(LieGroup<SE2<double>>);

}  // namespace liedyn
