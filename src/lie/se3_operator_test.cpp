// Operators of SE(3) by blocks against their matrices, and these against differences along the group in group_test.cpp.
#include "liedyn/lie/se3_operator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace liedyn {
namespace {

TEST(SE3Operator, IsTheMatrix) {
  using Operator = SE3Operator<double>;
  using Group = SE3<double>;
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto twist = [&] { return Vec6(Vec6::NullaryExpr([&] { return uniform(random); })); };
  double worst = 0;
  const auto compare = [&](const auto& found, const auto& expected, const char* what) {
    const double difference = (found - expected).cwiseAbs().maxCoeff();
    worst = std::max(worst, difference);
    EXPECT_LT(difference, 1e-14 * (1 + expected.cwiseAbs().maxCoeff())) << what;
  };
  for (const double size : {1e-9, 1e-4, 0.1, 1.0, 3.0})
    for (int i = 0; i < 20; ++i) {
      const Vec6 x = size * twist(), y = twist();
      const Operator T = Operator::T(x), Tinv = Operator::Tinv(x), dT = Operator::dT(x, y);
      compare(T.matrix(), Group::T(x), "T");
      compare(Tinv.matrix(), Group::Tinv(x), "T^-1");
      compare(dT.matrix(), Group::dT(x, y), "dT");
      compare((T * dT).matrix(), Mat6(T.matrix() * dT.matrix()), "product");
      compare(T * y, Vec6(T.matrix() * y), "of a twist");
      Operator shifted = 0.3 * T;
      shifted.add_identity(2);
      compare(shifted.matrix(), Mat6(0.3 * T.matrix() + 2 * Mat6::Identity()), "sum");
      compare(Mat6(shifted.matrix() * shifted.inverse().matrix()), Mat6(Mat6::Identity()), "inverse");
    }
  fmt::print("  largest difference {:.1e}\n", worst);
}

}  // namespace
}  // namespace liedyn
