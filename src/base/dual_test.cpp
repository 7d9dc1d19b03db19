#include "liedyn/base/dual.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace liedyn {
namespace {

using First = Dual<double, 1>;
using Second = Dual<First, 1>;

// A function with its first two derivatives in closed form, and the points at which to look.
struct Case {
  std::string name;
  std::function<Second(Second)> f;
  std::function<double(double)> value, slope, curvature;
  std::vector<double> at;
};

double square(double x) { return x * x; }
double cube(double x) { return x * x * x; }

std::vector<Case> cases() {
  using std::acos, std::asin, std::atan, std::atan2, std::cos, std::exp, std::hypot, std::log, std::pow,
      std::sin;
  using std::sqrt, std::tan;
  const std::vector<double> anywhere{-1.3, -0.2, 0.4, 2.5};
  const std::vector<double> positive{0.05, 0.7, 3};
  const std::vector<double> inside_one{-0.9, -0.1, 0.6};
  using D = Second;
  using R = double;
  return {
      {"-x", [](D x) { return -x; }, [](R x) { return -x; }, [](R) { return -1; }, [](R) { return 0; },
       anywhere},
      {"2 + x - 3 x - 1", [](D x) { return 2 + x - 3 * x - 1; }, [](R x) { return 1 - 2 * x; },
       [](R) { return -2; }, [](R) { return 0; }, anywhere},
      {"x x", [](D x) { return x * x; }, [](R x) { return x * x; }, [](R x) { return 2 * x; },
       [](R) { return 2; }, anywhere},
      {"x/(1 + x x)", [](D x) { return x / (1 + x * x); }, [](R x) { return x / (1 + x * x); },
       [](R x) { return (1 - x * x) / square(1 + x * x); },
       [](R x) { return 2 * x * (x * x - 3) / cube(1 + x * x); }, anywhere},
      {"3/x", [](D x) { return 3 / x; }, [](R x) { return 3 / x; }, [](R x) { return -3 / square(x); },
       [](R x) { return 6 / cube(x); }, anywhere},
      {"x/4", [](D x) { return x / 4; }, [](R x) { return x / 4; }, [](R) { return 0.25; },
       [](R) { return 0; }, anywhere},
      {"sqrt", [](D x) { return sqrt(x); }, [](R x) { return sqrt(x); }, [](R x) { return 0.5 / sqrt(x); },
       [](R x) { return -0.25 / (x * sqrt(x)); }, positive},
      {"sin", [](D x) { return sin(x); }, [](R x) { return sin(x); }, [](R x) { return cos(x); },
       [](R x) { return -sin(x); }, anywhere},
      {"cos", [](D x) { return cos(x); }, [](R x) { return cos(x); }, [](R x) { return -sin(x); },
       [](R x) { return -cos(x); }, anywhere},
      {"tan", [](D x) { return tan(x); }, [](R x) { return tan(x); }, [](R x) { return 1 / square(cos(x)); },
       [](R x) { return 2 * tan(x) / square(cos(x)); }, anywhere},
      {"asin", [](D x) { return asin(x); }, [](R x) { return asin(x); },
       [](R x) { return 1 / sqrt(1 - x * x); }, [](R x) { return x / pow(1 - x * x, 1.5); }, inside_one},
      {"acos", [](D x) { return acos(x); }, [](R x) { return acos(x); },
       [](R x) { return -1 / sqrt(1 - x * x); }, [](R x) { return -x / pow(1 - x * x, 1.5); }, inside_one},
      {"atan", [](D x) { return atan(x); }, [](R x) { return atan(x); }, [](R x) { return 1 / (1 + x * x); },
       [](R x) { return -2 * x / square(1 + x * x); }, anywhere},
      // The angle of (cos x, sin x) is x itself; that of (x, 2) and of (2, x) reach both arguments.
      {"atan2(sin, cos)", [](D x) { return atan2(sin(x), cos(x)); }, [](R x) { return x; },
       [](R) { return 1; }, [](R) { return 0; }, anywhere},
      {"atan2(x, 2)", [](D x) { return atan2(x, D(2)); }, [](R x) { return atan2(x, 2); },
       [](R x) { return 2 / (x * x + 4); }, [](R x) { return -4 * x / square(x * x + 4); }, anywhere},
      {"atan2(2, x)", [](D x) { return atan2(D(2), x); }, [](R x) { return atan2(2, x); },
       [](R x) { return -2 / (x * x + 4); }, [](R x) { return 4 * x / square(x * x + 4); }, anywhere},
      {"exp", [](D x) { return exp(x); }, [](R x) { return exp(x); }, [](R x) { return exp(x); },
       [](R x) { return exp(x); }, anywhere},
      {"log", [](D x) { return log(x); }, [](R x) { return log(x); }, [](R x) { return 1 / x; },
       [](R x) { return -1 / square(x); }, positive},
      {"hypot(x, 2x)", [](D x) { return hypot(x, 2 * x); }, [](R x) { return sqrt(5.) * std::abs(x); },
       [](R x) { return x < 0 ? -sqrt(5.) : sqrt(5.); }, [](R) { return 0; }, anywhere},
      {"hypot(x, 1)", [](D x) { return hypot(x, D(1)); }, [](R x) { return sqrt(1 + x * x); },
       [](R x) { return x / sqrt(1 + x * x); }, [](R x) { return pow(1 + x * x, -1.5); }, anywhere},
      {"abs", [](D x) { return abs(x); }, [](R x) { return std::abs(x); }, [](R x) { return x < 0 ? -1 : 1; },
       [](R) { return 0; }, anywhere},
      {"pow(x, 3)",
       [](D x) { return pow(x, 3); },
       [](R x) { return cube(x); },
       [](R x) { return 3 * x * x; },
       [](R x) { return 6 * x; },
       {-1.3, 0, 0.4}},
      {"pow(x, 1)",
       [](D x) { return pow(x, 1); },
       [](R x) { return x; },
       [](R) { return 1; },
       [](R) { return 0; },
       {-1.3, 0, 0.4}},
      {"pow(x, 0)",
       [](D x) { return pow(x, 0); },
       [](R) { return 1; },
       [](R) { return 0; },
       [](R) { return 0; },
       {-1.3, 0, 0.4}},
      {"pow(x, 2.5)", [](D x) { return pow(x, 2.5); }, [](R x) { return pow(x, 2.5); },
       [](R x) { return 2.5 * pow(x, 1.5); }, [](R x) { return 3.75 * sqrt(x); }, positive},
      {"pow(x, x)", [](D x) { return pow(x, x); }, [](R x) { return pow(x, x); },
       [](R x) { return pow(x, x) * (log(x) + 1); },
       [](R x) { return pow(x, x) * (square(log(x) + 1) + 1 / x); }, positive},
  };
}

TEST(Dual, FunctionsHaveTheirFirstAndSecondDerivative) {
  for (const Case& c : cases()) {
    for (const double x : c.at) {
      SCOPED_TRACE(c.name + " at " + std::to_string(x));
      const Second y = c.f(seed<1>(seed<1>(x, 0), 0));
      const auto tolerance = [](double expected) { return 4e-15 * (1 + std::abs(expected)); };
      EXPECT_NEAR(y.v.v, c.value(x), tolerance(c.value(x)));
      EXPECT_NEAR(y.v.d[0], c.slope(x), tolerance(c.slope(x)));
      EXPECT_NEAR(y.d[0].v, c.slope(x), tolerance(c.slope(x)));
      EXPECT_NEAR(y.d[0].d[0], c.curvature(x), tolerance(c.curvature(x)));
    }
  }
}

TEST(Dual, ComparisonsLookAtTheValueOnly) {
  const Dual<double, 2> x = seed<2>(1.0, 0);
  const Dual<double, 2> y = seed<2>(1.0, 1);
  EXPECT_TRUE(x == y);
  EXPECT_TRUE(x < y + 1);
  EXPECT_TRUE(x > 0 && 0 < x && x >= 1 && x != 2);
  EXPECT_EQ(std::max(x, y + 1).d[1], 1);
}

TEST(Dual, ValueReachesThroughAnyDepth) {
  EXPECT_EQ(value(2.5), 2.5);
  EXPECT_EQ(value(Dual<Dual<Dual<double, 3>, 2>, 1>(2.5)), 2.5);
}

TEST(Dual, NonFiniteDerivativesAreSeen) {
  Dual<double, 2> x = seed<2>(0.0, 1);
  EXPECT_TRUE(isfinite(x));
  x = sqrt(x);
  EXPECT_EQ(x.v, 0);
  EXPECT_FALSE(isfinite(x));
  EXPECT_TRUE(isnan(Dual<double, 2>(std::nan(""))));
}

// f = A x |x|^2 has the Jacobian A (|x|^2 I + 2 x x^T): mixed products double * Dual inside Eigen expressions.
TEST(Dual, JacobianOfAMatrixExpression) {
  Eigen::Matrix<double, 2, 3> A;
  A << 1, 2, 3, -4, 5, 6;
  const Eigen::Vector3d x(0.3, -0.7, 1.1);
  const auto s = seed(x);
  const Eigen::Matrix<Dual<double, 3>, 2, 1> y = A * s * s.squaredNorm();
  const Eigen::Matrix<double, 2, 3> expected =
      A * (x.squaredNorm() * Eigen::Matrix3d::Identity() + 2 * x * x.transpose());
  EXPECT_LT((values(y) - A * x * x.squaredNorm()).norm(), 1e-14) << values(y);
  EXPECT_LT((jacobian(y) - expected).norm(), 1e-14) << jacobian(y) << "\nexpected\n" << expected;
}

// The Hessian of |x|^4 is 8 x x^T + 4 |x|^2 I, with twelve directions as the elements between two bodies use.
TEST(Dual, HessianWithTwelveDirections) {
  using Inner = Dual<double, 12>;
  using Outer = Dual<Inner, 12>;
  const Eigen::Matrix<double, 12, 1> x = Eigen::Matrix<double, 12, 1>::LinSpaced(-1, 1);
  const Eigen::Matrix<Inner, 12, 1> inner = seed(x);
  const Eigen::Matrix<Outer, 12, 1> outer = seed(inner);
  const Outer n2 = outer.squaredNorm();
  const Outer f = 1.0 * n2 * n2;
  const Eigen::Matrix<double, 12, 12> expected =
      8 * x * x.transpose() + 4 * x.squaredNorm() * Eigen::Matrix<double, 12, 12>::Identity();
  for (int i = 0; i < 12; ++i)
    for (int j = 0; j < 12; ++j) EXPECT_NEAR(f.d[i].d[j], expected(i, j), 1e-13) << i << ", " << j;
}

TEST(Dual, MixedProductsOfNestedDualsInEigen) {
  using Inner = Dual<double, 2>;
  using Outer = Dual<Inner, 2>;
  const Eigen::Vector2d x(1, 2);
  const Eigen::Matrix<Outer, 2, 1> s = seed(Eigen::Matrix<Inner, 2, 1>(seed(x)));
  const Eigen::Matrix<Outer, 2, 1> by_double = Eigen::Matrix2d::Identity() * s * 2.0;
  const Eigen::Matrix<Outer, 2, 1> by_inner = Eigen::Matrix<Inner, 2, 2>::Identity() * s;
  EXPECT_EQ(value(by_double(1)), 4);
  EXPECT_EQ(by_double(1).d[1].v, 2);
  EXPECT_EQ(by_inner(1).v.d[1], 1);
}

}  // namespace
}  // namespace liedyn
