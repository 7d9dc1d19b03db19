#include "liedyn/lie/so3.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "liedyn/lie/se3.h"

namespace liedyn {
namespace {

using Rotation = SO3<double>;

class SO3Test : public ::testing::Test {
 protected:
  Vec3 random_axis() {
    std::normal_distribution<double> normal;
    return Vec3::NullaryExpr([&] { return normal(generator_); }).normalized();
  }
  std::mt19937 generator_{42};
};

TEST_F(SO3Test, LengthDriftsByRoundOffOnlyOverAMillionProducts) {
  Rotation q = Rotation::exp(random_axis());
  const Rotation step = Rotation::exp(0.01 * random_axis());
  double drift = 0;
  for (int k = 0; k < 1000000; ++k) {
    q = q * step;
    drift = std::max(drift, std::abs(q.coordinates().norm() - 1));
  }
  EXPECT_LT(drift, 5e-16);
}

// A quaternion that lost its length (a bad file, say) recovers it quadratically.
TEST_F(SO3Test, ProductsRepairTheLength) {
  Rotation q = Rotation::from_coordinates(1.001 * Rotation::exp(random_axis()).coordinates());
  for (int k = 0; k < 4; ++k) q = q * Rotation::identity();
  EXPECT_NEAR(q.coordinates().norm(), 1, 5e-16);
}

TEST_F(SO3Test, RotationMatrixIsOrthogonalAndActsLikeTheQuaternion) {
  for (int k = 0; k < 100; ++k) {
    const Rotation q = Rotation::exp(3 * random_axis());
    const Vec3 point = random_axis();
    EXPECT_LT((q.R() * q.R().transpose() - Mat3::Identity()).norm(), 4e-15);
    EXPECT_LT((q.R() * point - q.act(point)).norm(), 1e-15);
  }
}

TEST_F(SO3Test, FromMatrixInvertsRAtEveryAngleAndForEveryLargestComponent) {
  for (int k = 0; k < 2000; ++k) {
    const Rotation q = Rotation::exp(std::numbers::pi * k / 2000 * random_axis());
    const Rotation back = Rotation::from_matrix(q.R());
    const double sign = q.coordinates().dot(back.coordinates()) < 0 ? -1 : 1;
    EXPECT_LT((q.coordinates() - sign * back.coordinates()).norm(), 1e-15) << q.coordinates().transpose();
  }
}

TEST_F(SO3Test, FromMatrixOfHalfTurns) {
  for (int axis = 0; axis < 3; ++axis) {
    const Mat3 R = 2 * Vec3::Unit(axis) * Vec3::Unit(axis).transpose() - Mat3::Identity();
    EXPECT_LT((Rotation::from_matrix(R).log() - std::numbers::pi * Vec3::Unit(axis)).norm(), 1e-15) << R;
  }
}

// Of the two logarithms of a half turn one is chosen, whichever quaternion is stored.
TEST_F(SO3Test, LogOfAHalfTurnIsUnique) {
  for (int k = 0; k < 100; ++k) {
    Vec3 v = random_axis();
    if (k % 3 == 0) v = Vec3(0, v(1), v(2)).normalized();
    if (k % 3 == 1) v = Vec3(0, 0, v(2)).normalized();
    const Rotation q = Rotation::from_coordinates({0, v(0), v(1), v(2)});
    const Rotation opposite = Rotation::from_coordinates({-0.0, -v(0), -v(1), -v(2)});
    EXPECT_EQ(q.log(), opposite.log());
    EXPECT_NEAR(q.log().norm(), std::numbers::pi, 1e-15);
    EXPECT_LT(q.log().cross(v).norm(), 1e-15);
  }
}

TEST_F(SO3Test, LogIsTheSameForBothQuaternions) {
  for (int k = 0; k < 100; ++k) {
    const Rotation q = Rotation::exp(3 * random_axis());
    EXPECT_EQ(q.log(), Rotation::from_coordinates(-q.coordinates()).log());
  }
}

// Beyond pi the shorter way round is returned: log(exp(t n)) = (t - 2 pi) n.
TEST_F(SO3Test, LogBeyondPiTakesTheShorterWay) {
  for (const double excess : {1e-15, 1e-12, 1e-8, 1e-3, 1.0, 3.0}) {
    const Vec3 n = random_axis();
    const double t = std::numbers::pi + excess;
    EXPECT_LT((Rotation::exp(t * n).log() - (t - 2 * std::numbers::pi) * n).norm(), 4e-15)
        << "angle pi + " << excess;
  }
}

TEST_F(SO3Test, LargeAnglesTurnRoundAndRound) {
  for (const double turns : {1.0, 5.0, 100.0}) {
    const Vec3 n = random_axis();
    const Rotation q = Rotation::exp((0.5 + 2 * std::numbers::pi * turns) * n);
    EXPECT_LT((q.log() - 0.5 * n).norm(), 1e-14 * turns);
    const Vec3 x = (0.5 + 2 * std::numbers::pi * turns) * n;
    EXPECT_LT((Rotation::T(x) * Rotation::Tinv(x) - Mat3::Identity()).norm(), 1e-12 * turns);
  }
}

TEST_F(SO3Test, NoAngleMakesTheOperatorsNotFinite) {
  for (const double t : {0.0, std::numeric_limits<double>::denorm_min(), 1e-300, 1e-154, 0.1, 1.0,
                         std::numbers::pi, 3.47, 1e3}) {
    const Vec3 x = t * random_axis();
    const Vec6 twist = (Vec6() << random_axis(), x).finished();
    EXPECT_TRUE(Rotation::exp(x).coordinates().allFinite()) << t;
    EXPECT_TRUE(Rotation::exp(x).log().allFinite()) << t;
    EXPECT_TRUE(Rotation::T(x).allFinite() && Rotation::Tinv(x).allFinite()) << t;
    EXPECT_TRUE(SE3<double>::dT(twist, twist).allFinite() && SE3<double>::dTinv(twist, twist).allFinite())
        << t;
  }
}

}  // namespace
}  // namespace liedyn
