// The laws that every group obeys, for all groups. To be listed is to be tested.
#include "liedyn/lie/group.h"

#include <gtest/gtest.h>

#include <Eigen/LU>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "liedyn/base/dual.h"
#include "liedyn/lie/se2.h"
#include "liedyn/lie/se3.h"
#include "liedyn/lie/so3.h"

namespace liedyn {
namespace {

// One direction at a time is enough for tests, and compiles much faster than all at once.
using D = Dual<double, 1>;
template <class G>
using OverD = Rebind<G, D>;

// The Jacobian of f, a function from tangent vectors to tangent vectors over dual numbers.
template <class G, class F>
typename G::Matrix jacobian_of(const F& f, const typename G::Tangent& x) {
  typename G::Matrix m;
  for (int i = 0; i < G::dof; ++i) {
    typename OverD<G>::Tangent line = x.template cast<D>();
    line(i).d[0] = 1;
    m.col(i) = f(line).unaryExpr([](const D& c) { return c.d[0]; });
  }
  return m;
}

template <class G>
class Group : public ::testing::Test {
 protected:
  using Tangent = typename G::Tangent;

  Tangent random_tangent() {
    return Tangent::NullaryExpr([this] { return std::uniform_real_distribution<double>(-1, 1)(generator_); });
  }
  G random_element() { return G::exp(2 * random_tangent()); }

  // A direction is a rotation if ad of it has eigenvalues other than zero.
  static bool is_rotation(int i) {
    const typename G::Matrix ad = G::ad(Tangent::Unit(i));
    return (ad * ad * ad).norm() > 0.5;
  }

  // Tangent vectors whose rotations have together the angle given, with translations of order one; every third time
  // the whole vector is small. Angles from 1e-12 to pi, logarithmically dense.
  template <class F>
  void for_angle_sweep(F&& f) {
    const int count = 420;
    for (int k = 0; k <= count; ++k) {
      const double angle = 1e-12 * std::pow(std::numbers::pi / 1e-12, static_cast<double>(k) / count);
      Tangent x = random_tangent();
      double rotation = 0;
      for (int i = 0; i < G::dof; ++i)
        if (is_rotation(i)) rotation = std::hypot(rotation, x(i));
      for (int i = 0; i < G::dof; ++i)
        if (is_rotation(i) || k % 3 == 0) x(i) *= angle / (rotation > 0 ? rotation : 1);
      f(x, angle);
    }
  }

  static double distance(const G& a, const G& b) { return minus(a, b).norm(); }

  std::mt19937 generator_{20240601};
};

using Groups = ::testing::Types<SO3<double>, SE3<double>, SE2<double>>;
TYPED_TEST_SUITE(Group, Groups);

TYPED_TEST(Group, MeetsTheConcept) {
  static_assert(LieGroup<TypeParam>);
  static_assert(LieGroup<Rebind<TypeParam, Dual<double, 3>>>);
}

TYPED_TEST(Group, MultiplicationIsAssociativeWithIdentityAndInverse) {
  using G = TypeParam;
  for (int k = 0; k < 100; ++k) {
    const G a = this->random_element();
    const G b = this->random_element();
    const G c = this->random_element();
    EXPECT_LT(this->distance((a * b) * c, a * (b * c)), 3e-14);
    EXPECT_LT(this->distance(a * G::identity(), a), 1e-14);
    EXPECT_LT(this->distance(G::identity() * a, a), 1e-14);
    EXPECT_LT((a * a.inverse()).log().norm(), 1e-14);
    EXPECT_LT((a.inverse() * a).log().norm(), 1e-14);
  }
}

TYPED_TEST(Group, CoordinatesStoreTheElementExactly) {
  using G = TypeParam;
  const G a = this->random_element();
  const G b = G::from_coordinates(a.coordinates());
  EXPECT_EQ(a.coordinates(), b.coordinates());
  EXPECT_EQ(a.coordinates().size(), G::nq);
  EXPECT_EQ(G::identity().coordinates(), G().coordinates());
}

TYPED_TEST(Group, LogInvertsExpUpToPi) {
  using G = TypeParam;
  this->for_angle_sweep([&](const auto& x, double angle) {
    if (angle > std::numbers::pi - 1e-9) return;  // at pi the axis may come out with the opposite sign
    EXPECT_LT((G::exp(x).log() - x).norm(), 4e-15 * (1 + x.norm()))
        << "angle " << angle << ", x " << x.transpose();
  });
}

// Small increments keep their relative accuracy: 1e-12 rad is not 1e-12 +- 1e-16 rad.
TYPED_TEST(Group, LogInvertsExpRelativelyForSmallIncrements) {
  using G = TypeParam;
  for (const double scale : {1e-300, 1e-160, 1e-100, 1e-20, 1e-12, 1e-8, 1e-4, 0.01}) {
    const typename G::Tangent x = scale * this->random_tangent();
    // Scaled before the norm is taken, which would underflow.
    EXPECT_LT(((G::exp(x).log() - x) / scale).norm(), 4e-15) << "x " << x.transpose();
  }
}

TYPED_TEST(Group, ExpIsOneParameterSubgroup) {
  using G = TypeParam;
  for (int k = 0; k < 100; ++k) {
    const typename G::Tangent x = this->random_tangent();
    EXPECT_LT(this->distance(G::exp(0.3 * x) * G::exp(0.5 * x), G::exp(0.8 * x)), 2e-15) << x.transpose();
    EXPECT_LT(this->distance(G::exp(x).inverse(), G::exp(-x)), 2e-15) << x.transpose();
  }
}

TYPED_TEST(Group, PlusAndMinusAreInverse) {
  using G = TypeParam;
  for (int k = 0; k < 100; ++k) {
    const G q = this->random_element();
    const typename G::Tangent x = this->random_tangent();
    EXPECT_LT((minus(plus(q, x), q) - x).norm(), 3e-14) << x.transpose();
  }
}

TYPED_TEST(Group, AdIsConjugation) {
  using G = TypeParam;
  for (int k = 0; k < 100; ++k) {
    const G a = this->random_element();
    const G b = this->random_element();
    const typename G::Tangent x = 0.5 * this->random_tangent();
    EXPECT_LT(this->distance(a * G::exp(x) * a.inverse(), G::exp(a.Ad() * x)), 3e-14) << x.transpose();
    EXPECT_LT(((a * b).Ad() - a.Ad() * b.Ad()).norm(), 1e-13);
  }
}

// ad(x) y = d/dh Ad(exp(h x)) y at h = 0
TYPED_TEST(Group, AdjointOfTheAlgebraIsTheDerivativeOfConjugation) {
  using G = TypeParam;
  for (int k = 0; k < 50; ++k) {
    const typename G::Tangent x = this->random_tangent();
    const typename G::Tangent y = this->random_tangent();
    const auto conjugation = Rebind<G, D>::exp(x.template cast<D>() * seed<1>(0.0, 0)).Ad();
    const typename G::Matrix bracket = conjugation.unaryExpr([](const D& c) { return c.d[0]; });
    EXPECT_LT((bracket - G::ad(x)).norm(), 1e-15) << x.transpose();
    EXPECT_LT((G::ad(x) * y + G::ad(y) * x).norm(), 1e-15) << "the bracket is antisymmetric";
    EXPECT_LT((G::ad(G::ad(x) * y) - (G::ad(x) * G::ad(y) - G::ad(y) * G::ad(x))).norm(), 2e-15) << "Jacobi";
  }
}

TYPED_TEST(Group, AdOfExpIsTheExponentialOfAd) {
  using G = TypeParam;
  using Wide = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
  this->for_angle_sweep([&](const auto& x, double angle) {
    const Wide ad = G::ad(x).template cast<long double>();
    Wide sum = Wide::Identity(G::dof, G::dof);
    Wide term = sum;
    for (int k = 1; k < 60; ++k) {
      term = (term * ad / static_cast<long double>(k)).eval();
      sum += term;
    }
    const double scale = static_cast<double>(sum.norm());
    EXPECT_LT((G::exp(x).Ad() - sum.template cast<double>()).norm(), 2e-15 * scale) << "angle " << angle;
  });
}

TYPED_TEST(Group, TIsTheDerivativeOfExpByDifferencesAlongTheGroup) {
  using G = TypeParam;
  const double h = 1e-5;
  for (int k = 0; k < 100; ++k) {
    const typename G::Tangent x = this->random_tangent();
    typename G::Matrix differences;
    for (int i = 0; i < G::dof; ++i) {
      const typename G::Tangent step = h * G::Tangent::Unit(i);
      differences.col(i) = minus(G::exp(x + step), G::exp(x - step)) / (2 * h);
    }
    EXPECT_LT((G::T(x) - differences).norm(), 3e-10) << "x " << x.transpose() << "\nT\n"
                                                     << G::T(x) << "\ndifferences\n"
                                                     << differences;
  }
}

TYPED_TEST(Group, TIsTheDerivativeOfExpByDuals) {
  using G = TypeParam;
  using TangentD = typename OverD<G>::Tangent;
  this->for_angle_sweep([&](const auto& x, double angle) {
    const auto back = cast<D>(G::exp(x).inverse());
    const auto derivative =
        jacobian_of<G>([&](const TangentD& line) { return TangentD((back * OverD<G>::exp(line)).log()); }, x);
    EXPECT_LT((G::T(x) - derivative).norm(), 1e-14 * (1 + derivative.norm())) << "angle " << angle;
  });
}

// dplus/dq = Ad(exp(-x)), dminus/dp = T^-1(x) and dminus/dq = -T^-1(-x), as group.h promises.
TYPED_TEST(Group, DerivativesOfPlusAndMinus) {
  using G = TypeParam;
  using GD = OverD<G>;
  using TangentD = typename GD::Tangent;
  const typename G::Tangent zero = G::Tangent::Zero();
  for (int k = 0; k < 50; ++k) {
    const typename G::Tangent x = this->random_tangent();
    const GD q = cast<D>(this->random_element());
    const GD p = plus(q, TangentD(x.template cast<D>()));
    const auto plus_by_q = [&](const TangentD& d) {
      return minus(plus(plus(q, d), TangentD(x.template cast<D>())), p);
    };
    const auto minus_by_p = [&](const TangentD& d) { return minus(plus(p, d), q); };
    const auto minus_by_q = [&](const TangentD& d) { return minus(p, plus(q, d)); };
    EXPECT_LT((jacobian_of<G>(plus_by_q, zero) - G::exp(-x).Ad()).norm(), 2e-13) << x.transpose();
    EXPECT_LT((jacobian_of<G>(minus_by_p, zero) - G::Tinv(x)).norm(), 2e-13) << x.transpose();
    EXPECT_LT((jacobian_of<G>(minus_by_q, zero) + G::Tinv(-x)).norm(), 2e-13) << x.transpose();
  }
}

TYPED_TEST(Group, TangentOperatorIdentities) {
  using G = TypeParam;
  this->for_angle_sweep([&](const auto& x, double angle) {
    const auto T = G::T(x);
    const auto Tinv = G::Tinv(x);
    const double scale = T.norm() * Tinv.norm();
    EXPECT_LT((Tinv * T - G::Matrix::Identity()).norm(), 1e-15 * scale) << "angle " << angle;
    EXPECT_LT((T * x - x).norm(), 1e-15 * T.norm() * x.norm()) << "angle " << angle;
    EXPECT_LT((T - G::exp(-x).Ad() * G::T(-x)).norm(), 2e-15 * scale)
        << "T(x) = Ad(exp(-x)) T(-x), " << angle;
  });
}

TYPED_TEST(Group, DerivativesOfTheTangentOperators) {
  using G = TypeParam;
  using TangentD = typename OverD<G>::Tangent;
  this->for_angle_sweep([&](const auto& x, double angle) {
    const typename G::Tangent y = this->random_tangent();
    const TangentD constant = y.template cast<D>();
    const auto dT =
        jacobian_of<G>([&](const TangentD& line) { return TangentD(OverD<G>::T(line) * constant); }, x);
    const auto dTinv =
        jacobian_of<G>([&](const TangentD& line) { return TangentD(OverD<G>::Tinv(line) * constant); }, x);
    EXPECT_LT((G::dT(x, y) - dT).norm(), 1e-14 * (1 + dT.norm())) << "angle " << angle << "\n" << dT;
    EXPECT_LT((G::dTinv(x, y) - dTinv).norm(), 1e-14 * (1 + dTinv.norm())) << "angle " << angle << "\n"
                                                                           << dTinv;
  });
}

// log(exp(x)) = x, so its second derivatives are zero: exp, log and T^-1 with nested duals all at once.
TYPED_TEST(Group, SecondDerivativesByNestedDuals) {
  using G = TypeParam;
  using Second = Dual<D, 1>;
  for (const double scale : {0.0, 1e-6, 0.1, 0.9}) {
    const typename G::Tangent x = scale * this->random_tangent();
    const typename G::Tangent along = this->random_tangent();
    const typename G::Tangent across = this->random_tangent();
    typename Rebind<G, Second>::Tangent line;
    for (int i = 0; i < G::dof; ++i)
      line(i) = x(i) + along(i) * Second(seed<1>(0.0, 0)) + across(i) * seed<1>(D(0), 0);
    const auto y = Rebind<G, Second>::exp(line).log();
    for (int i = 0; i < G::dof; ++i) {
      EXPECT_NEAR(y(i).v.d[0], along(i), 3e-15) << "scale " << scale;
      EXPECT_NEAR(y(i).d[0].v, across(i), 3e-15) << "scale " << scale;
      EXPECT_NEAR(y(i).d[0].d[0], 0, 3e-15) << "scale " << scale;
    }
  }
}

// On these groups det Ad = 1, and off them by as much as their rotations have lost their length.
TYPED_TEST(Group, StaysOnTheGroupOverAMillionProducts) {
  using G = TypeParam;
  G q = this->random_element();
  std::vector<G> steps;
  for (int k = 0; k < 16; ++k) steps.push_back(G::exp(0.01 * this->random_tangent()));
  for (int k = 0; k < 1000000; ++k) q = q * steps[static_cast<std::size_t>(k % 16)];
  EXPECT_NEAR(q.Ad().determinant(), 1, 1e-13);
}

TEST(SE3, ActsOnPointsAsItsMatrix) {
  const Vec6 x = (Vec6() << 0.3, -1, 2, 0.5, 1.5, -0.7).finished();
  const SE3<double> q = SE3<double>::exp(x);
  const Vec3 point(1, 2, -3);
  EXPECT_LT((q.act(point) - (q.R() * point + q.position())).norm(), 2e-15);
  EXPECT_LT((q.inverse().act(q.act(point)) - point).norm(), 2e-15);
}

// SE(2) is the subgroup of SE(3) that leaves the plane z = 0 in place.
TEST(SE2, IsThePlanarPartOfSE3) {
  const Vec3 x(0.7, -0.4, 1.9);
  const Vec3 y(-0.2, 0.9, 0.6);
  const std::array<int, 3> place{0, 1, 5};
  Vec6 x6 = Vec6::Zero();
  Vec6 y6 = Vec6::Zero();
  for (int i = 0; i < 3; ++i) x6(place[i]) = x(i), y6(place[i]) = y(i);
  const auto planar = [&](const Mat6& m) { return Mat3(m(place, place)); };
  const SE2<double> q = SE2<double>::exp(x);
  EXPECT_LT((SE3<double>::exp(x6).position().head<2>() - q.position()).norm(), 1e-15);
  EXPECT_LT((SE3<double>::exp(x6).R().topLeftCorner<2, 2>() - q.R()).norm(), 1e-15);
  EXPECT_LT((planar(SE3<double>::exp(x6).Ad()) - q.Ad()).norm(), 1e-15);
  EXPECT_LT((planar(SE3<double>::T(x6)) - SE2<double>::T(x)).norm(), 1e-15);
  EXPECT_LT((planar(SE3<double>::Tinv(x6)) - SE2<double>::Tinv(x)).norm(), 1e-15);
  EXPECT_LT((planar(SE3<double>::dT(x6, y6)) - SE2<double>::dT(x, y)).norm(), 1e-15);
  EXPECT_LT((planar(SE3<double>::dTinv(x6, y6)) - SE2<double>::dTinv(x, y)).norm(), 1e-15);
}

TEST(SE2, AHalfTurnIsPlusPi) {
  for (const double zero : {0.0, -0.0}) {
    const auto q = SE2<double>::from_coordinates(Eigen::Vector4d(1, 2, -1, zero));
    EXPECT_EQ(q.angle(), std::numbers::pi);
  }
  EXPECT_EQ((SE2<double>(Eigen::Vector2d(1, 2), 0.3)).angle(), 0.3);
}

}  // namespace
}  // namespace liedyn
