// Rotations of space, stored as a unit quaternion (w, v) = (cos(t/2), sin(t/2) n).
#pragma once

#include <utility>

#include "liedyn/base/dual.h"
#include "liedyn/base/matrix.h"
#include "liedyn/lie/group.h"
#include "liedyn/lie/isotropic.h"
#include "liedyn/lie/trig.h"

namespace liedyn {

// T(x) = sin t/t I - (1 - cos t)/t^2 x~ + (t - sin t)/t^3 x x^T         [Arnold et al., Eq. (33), with x~^2 = x x^T - t^2 I]
template <int order, class S>
Isotropic<S, order> so3_tangent(const S& t2) {
  return [&]<int... j>(std::integer_sequence<int, j...>) {
    return Isotropic<S, order>{{stumpff<1, j>(t2)...}, {-stumpff<2, j>(t2)...}, {stumpff<3, j>(t2)...}};
  }
  (std::make_integer_sequence<int, order + 1>{});
}

// T^-1(x) = I + x~/2 + c x~^2 = (1 - c t^2) I + x~/2 + c x x^T,  c = (1 - (t/2) cot(t/2))/t^2; singular at t = 2 pi
template <int order, class S>
Isotropic<S, order> so3_tangent_inverse(const S& t2) {
  Isotropic<S, order> m;
  m.b = [&]<int... j>(std::integer_sequence<int, j...>) {
    return std::array<S, order + 1>{cot_quotient<j>(t2)...};
  }
  (std::make_integer_sequence<int, order + 1>{});
  m.a.fill(S(0));
  m.a[0] = S(0.5);
  m.p[0] = S(1) - t2 * m.b[0];
  for (int j = 1; j <= order; ++j) m.p[j] = -(S(j) * m.b[j - 1] + t2 * m.b[j]);
  return m;
}

template <class S>
class SO3 {
 public:
  static constexpr int dof = 3;
  static constexpr int nq = 4;
  using Scalar = S;
  using Tangent = Vec3T<S>;
  using Matrix = Mat3T<S>;
  using Coordinates = Eigen::Matrix<S, 4, 1>;  // (w, v)
  template <class S2>
  using Rebind = SO3<S2>;

  SO3() : SO3(S(1), Tangent::Zero()) {}

  static SO3 identity() { return {}; }

  // The nearest rotation to a quaternion that need not have unit length.
  static SO3 from_quaternion(const S& w, const Tangent& v) {
    using std::sqrt;
    const S scale = S(1) / sqrt(w * w + v.squaredNorm());
    return {scale * w, scale * v};
  }

  // The largest of w^2, v_i^2 comes from the diagonal, the others from it by division: no digits are lost at any angle.
  static SO3 from_matrix(const Matrix& R) {
    using std::sqrt;
    const S trace = R.trace();
    int k = 0;
    if (R(1, 1) > R(k, k)) k = 1;
    if (R(2, 2) > R(k, k)) k = 2;
    if (trace >= R(k, k)) return from_quaternion(S(1) + trace, S(2) * vee(R));
    const int i = (k + 1) % 3;
    const int j = (k + 2) % 3;
    Tangent v;
    v(k) = S(1) + R(k, k) - R(i, i) - R(j, j);
    v(i) = R(i, k) + R(k, i);
    v(j) = R(j, k) + R(k, j);
    return from_quaternion(R(j, i) - R(i, j), v);
  }

  static SO3 from_coordinates(const Coordinates& c) { return {c(0), c.template tail<3>()}; }
  Coordinates coordinates() const { return {w_, v_(0), v_(1), v_(2)}; }

  const S& w() const { return w_; }
  const Tangent& v() const { return v_; }

  // R = (w^2 - v.v) I + 2 w v~ + 2 v v^T, with w^2 + v.v = 1 on the diagonal
  Matrix R() const {
    const Tangent v2 = S(2) * v_;
    const Tangent wv = w_ * v2;
    const S xx = v2(0) * v_(0), yy = v2(1) * v_(1), zz = v2(2) * v_(2);
    const S xy = v2(0) * v_(1), xz = v2(0) * v_(2), yz = v2(1) * v_(2);
    Matrix m;
    m << S(1) - (yy + zz), xy - wv(2), xz + wv(1),  //
        xy + wv(2), S(1) - (xx + zz), yz - wv(0),   //
        xz - wv(1), yz + wv(0), S(1) - (xx + yy);
    return m;
  }

  Tangent act(const Tangent& point) const {
    const Tangent c = S(2) * v_.cross(point);
    return point + w_ * c + v_.cross(c);
  }

  // One Newton step for 1/|q| after each product, q (3 - q.q)/2, keeps the length at round-off for ever.
  friend SO3 operator*(const SO3& l, const SO3& r) {
    const S w = l.w_ * r.w_ - l.v_.dot(r.v_);
    const Tangent v = l.w_ * r.v_ + r.w_ * l.v_ + l.v_.cross(r.v_);
    if constexpr (is_varied<S>) {
      // Derivatives of products of unit quaternions are tangent to the sphere already.
      const double scale = 0.5 * (3 - (w.v * w.v + values(v).squaredNorm()));
      return {Varied(scale * w.v, w.id),
              {Varied(scale * v(0).v, v(0).id), Varied(scale * v(1).v, v(1).id),
               Varied(scale * v(2).v, v(2).id)}};
    } else {
      const S scale = S(0.5) * (S(3) - (w * w + v.squaredNorm()));
      return {scale * w, scale * v};
    }
  }

  SO3 inverse() const { return {w_, -v_}; }

  static SO3 exp(const Tangent& x) {
    const S half2 = S(0.25) * x.squaredNorm();
    return {stumpff<0>(half2), (S(0.5) * stumpff<1>(half2)) * x};
  }

  // Of the two quaternions of this rotation the one with w > 0; at a half turn, where w = 0 and both axes are right, the
  // one whose first nonzero component of v is positive.
  SO3 canonical() const { return is_canonical() ? *this : SO3(-w_, -v_); }

  // x = t n with t = 2 atan2(|v|, w) in [0, pi], from the canonical quaternion
  Tangent log() const {
    if constexpr (is_dual<S>) {
      return log_of_dual();
    } else if constexpr (is_varied<S>) {
      return log_of_varied();
    } else {
      const S length = v_.norm();
      const S factor = length > 0 ? 2 * std::atan2(length, std::abs(w_)) / length : S(2);
      return (is_canonical() ? factor : -factor) * v_;
    }
  }

  Matrix Ad() const { return R(); }
  static Matrix ad(const Tangent& x) { return skew(x); }
  static Matrix T(const Tangent& x) { return so3_tangent<0>(x.squaredNorm()).matrix(x); }
  static Matrix Tinv(const Tangent& x) { return so3_tangent_inverse<0>(x.squaredNorm()).matrix(x); }
  static Matrix dT(const Tangent& x, const Tangent& y) {
    return so3_tangent<1>(x.squaredNorm()).derivative(x, y);
  }
  static Matrix dTinv(const Tangent& x, const Tangent& y) {
    return so3_tangent_inverse<1>(x.squaredNorm()).derivative(x, y);
  }

 private:
  SO3(const S& w, const Tangent& v) : w_(w), v_(v) {}

  bool is_canonical() const {
    if (w_ != S(0)) return w_ > S(0);
    for (int i = 0; i < 3; ++i)
      if (v_(i) != S(0)) return v_(i) > S(0);
    return true;
  }

  // Derivatives of the logarithm need no derivative of atan2:  d log(q) = T^-1(log q) dphi  with  dphi = 2 vec(q^* dq).
  Tangent log_of_dual() const {
    using Inner = typename S::Inner;
    const Inner w0 = w_.v;
    const Vec3T<Inner> v0 = v_.unaryExpr([](const S& c) { return c.v; });
    const Vec3T<Inner> x0 = SO3<Inner>::from_coordinates({w0, v0(0), v0(1), v0(2)}).log();
    const Mat3T<Inner> twice_Tinv = Inner(2) * SO3<Inner>::Tinv(x0);
    Tangent x = x0.template cast<S>();
    for (int i = 0; i < S::directions; ++i) {
      const Vec3T<Inner> dv = v_.unaryExpr([i](const S& c) { return c.d[i]; });
      const Vec3T<Inner> dx = twice_Tinv * (w0 * dv - w_.d[i] * v0 - v0.cross(dv));
      for (int row = 0; row < 3; ++row) x(row).d[i] = dx(row);
    }
    return x;
  }

  Tangent log_of_varied() const {
    const double w0 = w_.v;
    const liedyn::Vec3 v0 = values(v_), x0 = SO3<double>::from_coordinates({w0, v0(0), v0(1), v0(2)}).log();
    // (w, v)' to dphi, then to the logarithm
    Eigen::Matrix<double, 3, 4> slope;
    slope << -v0, w0 * liedyn::Mat3::Identity() - skew(v0);
    const Eigen::Matrix<double, 4, 3> rows = (2 * SO3<double>::Tinv(x0) * slope).transpose();
    const S from[4] = {w_, v_(0), v_(1), v_(2)};
    Tangent x;
    for (int row = 0; row < 3; ++row) x(row) = linear_combination(x0(row), rows.col(row), from, 4);
    return x;
  }

  S w_;
  Tangent v_;
};

static_assert(LieGroup<SO3<double>>);

}  // namespace liedyn
