// Rigid motions of space, the semi-direct product of translations and rotations: (p1, R1)(p2, R2) = (p1 + R1 p2, R1 R2).
// Both parts of a twist (u, w) are in body axes.
#pragma once

#include "liedyn/lie/so3.h"

namespace liedyn {

template <class S>
class SE3 {
 public:
  static constexpr int dof = 6;
  static constexpr int nq = 7;
  using Scalar = S;
  using Tangent = Vec6T<S>;
  using Matrix = Mat6T<S>;
  using Coordinates = Eigen::Matrix<S, 7, 1>;  // (position, quaternion)
  template <class S2>
  using Rebind = SE3<S2>;

  SE3() : position_(Vec3T<S>::Zero()) {}
  SE3(const Vec3T<S>& position, const SO3<S>& rotation) : position_(position), rotation_(rotation) {}

  static SE3 identity() { return {}; }
  static SE3 from_coordinates(const Coordinates& c) {
    return {c.template head<3>(), SO3<S>::from_coordinates(c.template tail<4>())};
  }
  Coordinates coordinates() const {
    Coordinates c;
    c << position_, rotation_.coordinates();
    return c;
  }

  const Vec3T<S>& position() const { return position_; }
  const SO3<S>& rotation() const { return rotation_; }
  Mat3T<S> R() const { return rotation_.R(); }
  Vec3T<S> act(const Vec3T<S>& point) const { return position_ + rotation_.act(point); }

  friend SE3 operator*(const SE3& l, const SE3& r) { return {l.act(r.position_), l.rotation_ * r.rotation_}; }
  SE3 inverse() const {
    const SO3<S> back = rotation_.inverse();
    return {-back.act(position_), back};
  }

  // exp(u, w) = (T(w)^T u, exp(w)), and T(w)^T = T(-w)        [Arnold et al., Eq. (11b)]
  static SE3 exp(const Tangent& x) {
    const Vec3T<S> w = x.template tail<3>();
    return {so3_tangent<0>(w.squaredNorm()).times(-w, x.template head<3>()), SO3<S>::exp(w)};
  }
  Tangent log() const {
    const Vec3T<S> w = rotation_.log();
    Tangent x;
    x << so3_tangent_inverse<0>(w.squaredNorm()).times(-w, position_), w;
    return x;
  }

  // Ad = | R  p~ R |       ad = | w~  u~ |
  //      | 0   R   |            | 0   w~ |
  Matrix Ad() const {
    const Mat3T<S> rotation_matrix = R();
    return upper_triangular(rotation_matrix, skew(position_) * rotation_matrix);
  }
  static Matrix ad(const Tangent& x) {
    return upper_triangular(skew(x.template tail<3>()), skew(x.template head<3>()));
  }

  // T = | T(w)  DT(w).u |   of SO(3), likewise T^-1         [Arnold et al., Eq. (35)]
  //     |  0     T(w)   |
  static Matrix T(const Tangent& x) { return operator_of(so3_tangent<1>(squared_angle(x)), x); }
  static Matrix Tinv(const Tangent& x) { return operator_of(so3_tangent_inverse<1>(squared_angle(x)), x); }
  static Matrix dT(const Tangent& x, const Tangent& y) {
    return derivative_of(so3_tangent<2>(squared_angle(x)), x, y);
  }
  static Matrix dTinv(const Tangent& x, const Tangent& y) {
    return derivative_of(so3_tangent_inverse<2>(squared_angle(x)), x, y);
  }

 private:
  static S squared_angle(const Tangent& x) { return x.template tail<3>().squaredNorm(); }

  static Matrix upper_triangular(const Mat3T<S>& diagonal, const Mat3T<S>& coupling) {
    Matrix m;
    m << diagonal, coupling, Mat3T<S>::Zero(), diagonal;
    return m;
  }

  static Matrix operator_of(const Isotropic<S, 1>& M, const Tangent& x) {
    const Vec3T<S> u = x.template head<3>();
    const Vec3T<S> w = x.template tail<3>();
    return upper_triangular(M.matrix(w), M.along(w, u));
  }

  // With y = (y_u, y_w):  d/d(u, w) of | M y_u + (DM.u) y_w | = | dM(w, y_w)   dM(w, y_u) + d((DM.u) y_w)/dw |
  //                                    | M y_w              |   |     0                  dM(w, y_w)          |
  static Matrix derivative_of(const Isotropic<S, 2>& M, const Tangent& x, const Tangent& y) {
    const Vec3T<S> u = x.template head<3>();
    const Vec3T<S> w = x.template tail<3>();
    const Vec3T<S> y_u = y.template head<3>();
    const Vec3T<S> y_w = y.template tail<3>();
    return upper_triangular(M.derivative(w, y_w), M.derivative(w, y_u) + M.derivative_along(w, u, y_w));
  }

  Vec3T<S> position_;
  SO3<S> rotation_;
};

static_assert(LieGroup<SE3<double>>);

}  // namespace liedyn
