// Fixed-size vectors and matrices, and the correspondence between R^3 and the skew-symmetric matrices.
#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>  // cross products

namespace liedyn {

template <class S>
using Vec3T = Eigen::Matrix<S, 3, 1>;
template <class S>
using Mat3T = Eigen::Matrix<S, 3, 3>;
template <class S>
using Vec6T = Eigen::Matrix<S, 6, 1>;
template <class S>
using Mat6T = Eigen::Matrix<S, 6, 6>;

using Vec3 = Vec3T<double>;
using Mat3 = Mat3T<double>;
using Vec6 = Vec6T<double>;
using Mat6 = Mat6T<double>;

// skew(x) y = x cross y. Accepts any 3-vector expression, so segments of a twist need no copy.
template <class Derived>
Mat3T<typename Derived::Scalar> skew(const Eigen::MatrixBase<Derived>& x) {
  EIGEN_STATIC_ASSERT_VECTOR_SPECIFIC_SIZE(Derived, 3)
  using S = typename Derived::Scalar;
  const S zero(0);
  Mat3T<S> m;
  m << zero, -x(2), x(1),  //
      x(2), zero, -x(0),   //
      -x(1), x(0), zero;
  return m;
}

// vee(skew(x)) = x. Of a general matrix it returns the vector of the skew-symmetric part.
template <class Derived>
Vec3T<typename Derived::Scalar> vee(const Eigen::MatrixBase<Derived>& m) {
  EIGEN_STATIC_ASSERT_MATRIX_SPECIFIC_SIZE(Derived, 3, 3)
  using S = typename Derived::Scalar;
  const S half(0.5);
  return {half * (m(2, 1) - m(1, 2)), half * (m(0, 2) - m(2, 0)), half * (m(1, 0) - m(0, 1))};
}

}  // namespace liedyn
