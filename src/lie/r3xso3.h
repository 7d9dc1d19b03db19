// Position and rotation side by side, the direct product: (p1, R1)(p2, R2) = (p1 + p2, R1 R2). The translational part of
// a twist is in inertial axes, the rotational part in body axes. The same as Product<Rn<3>, SO3>, written out for speed.
#pragma once

#include "liedyn/lie/so3.h"

namespace liedyn {

template <class S>
class R3xSO3 {
 public:
  static constexpr int dof = 6;
  static constexpr int nq = 7;
  using Scalar = S;
  using Tangent = Vec6T<S>;
  using Matrix = Mat6T<S>;
  using Coordinates = Eigen::Matrix<S, 7, 1>;  // (position, quaternion)
  template <class S2>
  using Rebind = R3xSO3<S2>;

  R3xSO3() : position_(Vec3T<S>::Zero()) {}
  R3xSO3(const Vec3T<S>& position, const SO3<S>& rotation) : position_(position), rotation_(rotation) {}

  static R3xSO3 identity() { return {}; }
  static R3xSO3 from_coordinates(const Coordinates& c) {
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
  // The place of a point of the body, as for SE3: how elements compose does not change what they do to points.
  Vec3T<S> act(const Vec3T<S>& point) const { return position_ + rotation_.act(point); }

  friend R3xSO3 operator*(const R3xSO3& l, const R3xSO3& r) {
    return {l.position_ + r.position_, l.rotation_ * r.rotation_};
  }
  R3xSO3 inverse() const { return {-position_, rotation_.inverse()}; }
  static R3xSO3 exp(const Tangent& x) { return {x.template head<3>(), SO3<S>::exp(x.template tail<3>())}; }
  Tangent log() const {
    Tangent x;
    x << position_, rotation_.log();
    return x;
  }

  Matrix Ad() const { return blocks(Mat3T<S>::Identity(), R()); }
  static Matrix ad(const Tangent& x) { return blocks(Mat3T<S>::Zero(), skew(x.template tail<3>())); }
  static Matrix T(const Tangent& x) { return blocks(Mat3T<S>::Identity(), SO3<S>::T(x.template tail<3>())); }
  static Matrix Tinv(const Tangent& x) {
    return blocks(Mat3T<S>::Identity(), SO3<S>::Tinv(x.template tail<3>()));
  }
  static Matrix dT(const Tangent& x, const Tangent& y) {
    return blocks(Mat3T<S>::Zero(), SO3<S>::dT(x.template tail<3>(), y.template tail<3>()));
  }
  static Matrix dTinv(const Tangent& x, const Tangent& y) {
    return blocks(Mat3T<S>::Zero(), SO3<S>::dTinv(x.template tail<3>(), y.template tail<3>()));
  }

 private:
  static Matrix blocks(const Mat3T<S>& translation, const Mat3T<S>& rotation) {
    Matrix m;
    m << translation, Mat3T<S>::Zero(), Mat3T<S>::Zero(), rotation;
    return m;
  }

  Vec3T<S> position_;
  SO3<S> rotation_;
};

static_assert(LieGroup<R3xSO3<double>>);

}  // namespace liedyn
