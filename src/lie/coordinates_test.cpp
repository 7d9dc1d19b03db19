// What all local coordinates have in common, for every group they are defined on.
#include "liedyn/lie/coordinates.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "liedyn/lie/cayley.h"
#include "liedyn/lie/conformal.h"

namespace liedyn {
namespace {

using D = Dual<double, 1>;

// Coordinates of the same kind over dual numbers.
template <class C>
struct OverDuals;
template <template <class> class Kind, class G>
struct OverDuals<Kind<G>> {
  using Type = Kind<Rebind<G, D>>;
};

template <class C>
class Coordinates : public ::testing::Test {
 protected:
  using Tangent = typename C::Group::Tangent;
  Tangent random(double size) {
    return Tangent::NullaryExpr(
        [&] { return std::uniform_real_distribution<double>(-size, size)(generator_); });
  }
  std::mt19937 generator_{99};
};

using CoordinateKinds =
    ::testing::Types<Exponential<SE3<double>>, Cayley<SO3<double>>, Cayley<SE3<double>>, Cayley<SE2<double>>,
                     Conformal<SO3<double>>, Conformal<SE3<double>>, Conformal<SE2<double>>>;
TYPED_TEST_SUITE(Coordinates, CoordinateKinds);

// The derivative along x_i of f, read from a dual number.
template <class C, class F>
Eigen::MatrixXd coordinate_jacobian_of(const F& f, const typename C::Group::Tangent& x) {
  Eigen::MatrixXd m(x.size(), x.size());
  for (int i = 0; i < x.size(); ++i) {
    Eigen::Matrix<D, C::Group::dof, 1> line = x.template cast<D>();
    line(i).d[0] = 1;
    const Eigen::Matrix<D, C::Group::dof, 1> y = f(line);
    for (int row = 0; row < x.size(); ++row) m(row, i) = y(row).d[0];
  }
  return m;
}

double difference(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return (a - b).norm(); }

TYPED_TEST(Coordinates, LocalInvertsMap) {
  using C = TypeParam;
  static_assert(LocalCoordinates<C>);
  for (const double size : {1e-9, 1e-3, 0.5, 1.5})
    for (int k = 0; k < 25; ++k) {
      const auto x = this->random(size);
      EXPECT_LT(difference(C::local(C::map(x)), x), 3e-15 * (size + x.norm())) << "x " << x.transpose();
    }
}

TYPED_TEST(Coordinates, TIsTheDerivativeOfTheMap) {
  using C = TypeParam;
  using CD = typename OverDuals<C>::Type;
  for (const double size : {0.0, 1e-9, 0.1, 0.5, 1.5})
    for (int k = 0; k < 10; ++k) {
      const auto x = this->random(size);
      const auto back = cast<D>(C::map(x).inverse());
      const auto derivative =
          coordinate_jacobian_of<C>([&](const auto& line) { return (back * CD::map(line)).log(); }, x);
      EXPECT_LT(difference(C::T(x), derivative), 1e-14) << "x " << x.transpose() << "\nby duals\n"
                                                        << derivative;
      EXPECT_LT(difference(C::T(x) * C::Tinv(x), C::Group::Matrix::Identity()), 1e-14)
          << "x " << x.transpose();
    }
}

TYPED_TEST(Coordinates, DerivativesOfTheTangentOperators) {
  using C = TypeParam;
  using CD = typename OverDuals<C>::Type;
  using TangentD = typename CD::Group::Tangent;
  for (const double size : {0.0, 1e-9, 0.1, 0.5, 1.5})
    for (int k = 0; k < 10; ++k) {
      const auto x = this->random(size);
      const auto y = this->random(1);
      const TangentD constant = y.template cast<D>();
      const auto dT = coordinate_jacobian_of<C>(
          [&](const TangentD& line) -> TangentD { return CD::T(line) * constant; }, x);
      const auto dTinv = coordinate_jacobian_of<C>(
          [&](const TangentD& line) -> TangentD { return CD::Tinv(line) * constant; }, x);
      EXPECT_LT(difference(C::dT(x, y), dT), 1e-14) << "x " << x.transpose() << "\nby duals\n" << dT;
      EXPECT_LT(difference(C::dTinv(x, y), dTinv), 1e-14) << "x " << x.transpose() << "\nby duals\n" << dTinv;
    }
}

// They share the curvature of exp at the identity, T = I - ad/2 + O(x^2), and so differ from it in third order only.
TYPED_TEST(Coordinates, AgreeWithTheExponentialToSecondOrder) {
  using C = TypeParam;
  using G = typename C::Group;
  const auto direction = this->random(1);
  const auto error = [&](double h) { return (C::local(G::exp(h * direction)) - h * direction).norm(); };
  EXPECT_LT(error(1e-2), 1e-6);
  const bool differ = error(0.1) > 1e-12;  // the exponential does not differ from itself
  EXPECT_NEAR(differ ? error(0.1) / error(0.05) : 8, 8, 0.1);
}

// The conformal vector reaches beyond pi without loss; the Cayley map does not.
TEST(ConformalMap, IsRegularUpToAFullTurn) {
  const Vec3 axis = Vec3(1, -2, 0.5).normalized();
  for (const double angle : {3.2, 4.0, 6.0}) {
    const Vec3 c = 4 * std::tan(angle / 4) * axis;
    const Vec3 shorter_way = (angle - 2 * std::numbers::pi) * axis;
    EXPECT_LT((Conformal<SO3<double>>::map(c).log() - shorter_way).norm(), 1e-14) << angle;
    EXPECT_LT((Conformal<SO3<double>>::T(c) * Conformal<SO3<double>>::Tinv(c) - Mat3::Identity()).norm(),
              1e-12)
        << angle;
    // Rescaling into |c| <= 4, Eq. (39)
    EXPECT_LE(Conformal<SO3<double>>::local(Conformal<SO3<double>>::map(c)).norm(), 4) << angle;
  }
}

}  // namespace
}  // namespace liedyn
