// The vector space R^N with addition: points, modal coordinates, translations.
#pragma once

#include "liedyn/base/matrix.h"
#include "liedyn/lie/group.h"

namespace liedyn {

template <int N, class S = double>
class Rn {
 public:
  static constexpr int dof = N;
  static constexpr int nq = N;
  using Scalar = S;
  using Tangent = Eigen::Matrix<S, N, 1>;
  using Matrix = Eigen::Matrix<S, N, N>;
  using Coordinates = Tangent;
  template <class S2>
  using Rebind = Rn<N, S2>;

  Rn() : x_(Tangent::Zero()) {}
  explicit Rn(const Tangent& x) : x_(x) {}

  static Rn identity() { return {}; }
  static Rn from_coordinates(const Coordinates& c) { return Rn(c); }
  const Coordinates& vector() const { return x_; }
  Coordinates coordinates() const { return x_; }

  friend Rn operator*(const Rn& l, const Rn& r) { return Rn(l.x_ + r.x_); }
  Rn inverse() const { return Rn(-x_); }
  static Rn exp(const Tangent& x) { return Rn(x); }
  Tangent log() const { return x_; }

  Matrix Ad() const { return Matrix::Identity(); }
  static Matrix ad(const Tangent&) { return Matrix::Zero(); }
  static Matrix T(const Tangent&) { return Matrix::Identity(); }
  static Matrix Tinv(const Tangent&) { return Matrix::Identity(); }
  static Matrix dT(const Tangent&, const Tangent&) { return Matrix::Zero(); }
  static Matrix dTinv(const Tangent&, const Tangent&) { return Matrix::Zero(); }

 private:
  Tangent x_;
};

static_assert(LieGroup<Rn<3>>);

}  // namespace liedyn
