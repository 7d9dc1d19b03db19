#include "liedyn/base/expression_evaluation.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "liedyn/base/dual.h"

namespace liedyn {
namespace {

const std::vector<std::string> kNames = {"x", "y", "spin", "position[2]", "t"};
constexpr std::array<double, 5> kValues = {0.7, -1.3, 150, 2.5, 0.25};

double value_of(const std::string& text) { return Expression::parse(text, kNames).evaluate<double>(kValues); }

struct Example {
  const char* text;
  double value;
};
void PrintTo(const Example& example, std::ostream* out) { *out << example.text; }

class Examples : public testing::TestWithParam<Example> {};

TEST_P(Examples, HaveTheirValue) {
  const double value = value_of(GetParam().text);
  EXPECT_NEAR(value, GetParam().value, 1e-14 * std::max(1.0, std::abs(value))) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(Expression, Examples,
                         testing::Values(Example{"1", 1}, Example{" .5 ", 0.5}, Example{"2e-3", 2e-3},
                                         Example{"1.5E+2", 150}, Example{"1+2*3", 7}, Example{"(1+2)*3", 9},
                                         Example{"8/2/2", 2}, Example{"5-3-1", 1}, Example{"-2^2", -4},
                                         Example{"2^3^2", 512}, Example{"2^-1", 0.5}, Example{"--3", 3},
                                         Example{"+-+3", -3}, Example{"2*-3", -6}, Example{"y^2", 1.69},
                                         Example{"y^3", -2.197}, Example{"x^y", std::pow(0.7, -1.3)},
                                         Example{"2*spin", 300}, Example{"position[2]/5", 0.5},
                                         Example{"pi", std::numbers::pi}, Example{"cos(pi)", -1}));

INSTANTIATE_TEST_SUITE_P(
    Functions, Examples,
    testing::Values(Example{"sin(x)", std::sin(0.7)}, Example{"cos(x)", std::cos(0.7)},
                    Example{"tan(x)", std::tan(0.7)}, Example{"asin(x)", std::asin(0.7)},
                    Example{"acos(x)", std::acos(0.7)}, Example{"atan(x)", std::atan(0.7)},
                    Example{"atan2(y, x)", std::atan2(-1.3, 0.7)}, Example{"sinh(x)", std::sinh(0.7)},
                    Example{"cosh(x)", std::cosh(0.7)}, Example{"tanh(x)", std::tanh(0.7)},
                    Example{"exp(x)", std::exp(0.7)}, Example{"log(x)", std::log(0.7)},
                    Example{"sqrt(x)", std::sqrt(0.7)}, Example{"abs(y)", 1.3}, Example{"sign(y)", -1},
                    Example{"sign(x)", 1}, Example{"sign(x-x)", 0}, Example{"min(x, y)", -1.3},
                    Example{"max(x, y)", 0.7}, Example{"step(t, 0, 0.5)", 0.5}, Example{"step(t, 1, 2)", 0},
                    Example{"step(t, 0, 0.2)", 1}, Example{"step(t, 0.25, 0.25)", 1},
                    Example{"step(t, 0.5, 0)", 0.5}, Example{"step(t, 0.2, 0.1)", 0},
                    Example{"poly(x, 1, 2, 3)", 1 + 2 * 0.7 + 3 * 0.49}, Example{"poly(x, y)", -1.3},
                    Example{"harmonic(x, 2, 3, y)", 2 * std::sin(6 * std::numbers::pi * 0.7 - 1.3)},
                    Example{"x < y", 0}, Example{"x > y", 1}, Example{"2*x >= 1.4", 1},
                    Example{"x <= 0.5", 0}, Example{"x == 0.7", 1}, Example{"(x != 0.7) + 2", 2},
                    Example{"where(x > y, x, y)", 0.7}, Example{"where(t == 0, 1/0, 4)", 4},
                    Example{"floor(y)", -2}, Example{"mod(y, x)", 0.1}, Example{"mod(spin, 7)", 3},
                    Example{"30*deg", std::numbers::pi / 6}, Example{"linear(x, 0, 1, 1, 3, 2, 0)", 2.4},
                    Example{"linear(y, 0, 1, 1, 3)", 1}, Example{"linear(spin, 0, 1, 1, 3)", 3},
                    Example{"pchip(x, 0, 1, 2, 5)", 2.4}, Example{"pchip(spin, 0, 1, 2, 5)", 5},
                    Example{"pchip(0.5, 0, 0, 1, 1, 2, 1, 3, 0)", 0.6875},
                    Example{"bilinear(x, t, 2, 0, 1, 3, 0, 0.5, 1, 1, 2, 3, 5, 6, 7)", 1.5 + 0.7 * 4},
                    Example{"bilinear(y, spin, 2, 0, 1, 3, 0, 0.5, 1, 1, 2, 3, 5, 6, 7)", 3},
                    Example{"spline(x, 0, 1, 2, 5)", 2.4}, Example{"2*spline(2, 0, 1, 1, 3) + 1", 11}));

// The natural spline through (0, 0), (1, 1), (2, 0) is (3 x - x^3)/2 before the middle, its mirror image behind it, and straight beyond.
TEST(Expression, SplineIsTheNaturalOneThroughItsPoints) {
  const Expression spline = Expression::parse("spline(x, 0, 0, 1, 1, 2, 0)", std::vector<std::string>{"x"});
  const auto expected = [](double x) { return x < 0 ? 1.5 * x : (3 * x - x * x * x) / 2; };
  for (const double x : {-1.0, -0.2, 0.0, 0.3, 0.9, 1.0, 1.4, 2.0, 3.5})
    EXPECT_NEAR(spline.evaluate<double>(std::array{x}), expected(x <= 1 ? x : 2 - x), 1e-15) << x;
}

// Monotone data give a monotone curve through the points (a natural spline would overshoot); its slopes are continuous.
TEST(Expression, PchipKeepsMonotoneDataMonotone) {
  const std::string points = "0, 0, 1, 0, 2, 0.1, 3, 0.9, 4, 1, 5, 1";
  const Expression pchip = Expression::parse("pchip(x, " + points + ")", std::vector<std::string>{"x"});
  using Slope = Dual<double, 1>;
  double last = 0;
  for (int i = 0; i <= 5000; ++i) {
    const double x = 1e-3 * i, y = pchip.evaluate<double>(std::array{x});
    ASSERT_GE(y, last - 1e-15) << "at " << x;
    last = y;
    const auto slope_at = [&](double at) { return pchip.evaluate<Slope>(std::array{seed<1>(at, 0)}).d[0]; };
    if (i % 1000 == 0 && i > 0 && i < 5000) {
      EXPECT_NEAR(slope_at(x - 1e-9), slope_at(x + 1e-9), 1e-7) << "slope at " << x;
    }
  }
  EXPECT_EQ(last, 1);
}

TEST(Expression, MayTakeThePlaceOfAVariable) {
  const std::vector<std::string> names = {"x", "y", "z"};
  Expression outer = Expression::parse("z^2 + linear(z, 0, 0, 1, 2) + x", names);
  outer.substitute(2, Expression::parse("x - linear(y, 0, 1, 1, 0)*y", names));
  EXPECT_FALSE(outer.uses(2));
  const double x = 1.2, y = 0.3, z = x - (1 - y) * y;
  EXPECT_NEAR(outer.evaluate<double>(std::array{x, y, 99.0}), z * z + 2 * std::min(z, 1.0) + x, 1e-15);
  outer.renumber({1, 0, -1});
  EXPECT_NEAR(outer.evaluate<double>(std::array{y, x}), z * z + 2 * std::min(z, 1.0) + x, 1e-15);

  // Nested too deep for the stack of evaluate(): refused, never written beyond.
  Expression deep = Expression::parse("x*(x + x*(x + x*(x + x*(x + x*y))))", names);
  const Expression again = deep;
  EXPECT_THROW(for (int i = 0; i < 20; ++i) deep.substitute(1, again), ExpressionError);
}

TEST(Expression, StepHasContinuousSecondDerivative) {
  using Second = Dual<Dual<double, 1>, 1>;
  const Expression step = Expression::parse("step(t, 0.1, 0.5)", std::vector<std::string>{"t"});
  const auto at = [&](double time) {
    const Second t = seed<1>(seed<1>(time, 0), 0);
    return step.evaluate<Second>(std::span(&t, 1));
  };
  for (double edge : {0.1, 0.5}) {
    EXPECT_NEAR(at(edge - 1e-9).d[0].v, at(edge + 1e-9).d[0].v, 1e-12) << "first derivative at " << edge;
    EXPECT_NEAR(at(edge - 1e-9).d[0].d[0], at(edge + 1e-9).d[0].d[0], 1e-5)
        << "second derivative at " << edge;
  }
}

TEST(Expression, DerivativesByDualNumbersAgreeWithDifferences) {
  const std::vector<std::string> names = {"x", "y"};
  constexpr double x = 0.6, y = 1.7, h = 1e-6;
  for (const char* text : {"x*y - x/y",
                           "x^3",
                           "(x-y)^3",
                           "x^y",
                           "sin(x)*cos(y)",
                           "tan(x)",
                           "asin(x)+acos(x*x)",
                           "atan(y)",
                           "atan2(x,y)",
                           "sinh(x)",
                           "cosh(x)",
                           "tanh(x)",
                           "exp(x*y)",
                           "log(y)",
                           "sqrt(x)",
                           "abs(x-y)",
                           "sign(x)*y",
                           "min(x,y)*y",
                           "max(x,y)*x",
                           "step(x, 0, y)",
                           "-(-x)",
                           "poly(x, 1, y, x, 3)",
                           "harmonic(x, y, 0.3, x)",
                           "spline(x, 0, 1, 0.4, 3, 1, -1)*y",
                           "linear(x, 0, 1, 0.4, 3, 1, -1)*y",
                           "pchip(x, 0, 1, 0.4, 3, 1, 7)*y",
                           "bilinear(x, y, 2, 0, 1, 2, 1, 2, 3, 4, 7, 1)",
                           "where(x < y, x*y, 1)",
                           "where(x > y, 1, y^2)",
                           "mod(3*x, y)",
                           "mod(x, 0.4*y)",
                           "floor(y)*x",
                           "spline(y, 0, 1, 0.4, 3, 1, -1)"}) {
    const Expression expression = Expression::parse(text, names);
    const std::array<Dual<double, 2>, 2> duals = {seed<2>(x, 0), seed<2>(y, 1)};
    const Dual<double, 2> result = expression.evaluate<Dual<double, 2>>(duals);
    const auto at = [&](double x1, double y1) { return expression.evaluate<double>(std::array{x1, y1}); };
    EXPECT_DOUBLE_EQ(result.v, at(x, y)) << text;
    EXPECT_NEAR(result.d[0], (at(x + h, y) - at(x - h, y)) / (2 * h), 1e-8) << "d/dx of " << text;
    EXPECT_NEAR(result.d[1], (at(x, y + h) - at(x, y - h)) / (2 * h), 1e-8) << "d/dy of " << text;
  }
}

TEST(Expression, PowerOfANegativeNumberHasADerivative) {
  const std::array<Dual<double, 1>, 1> x = {seed<1>(-2.0, 0)};
  const Dual<double, 1> cube =
      Expression::parse("x^3", std::vector<std::string>{"x"}).evaluate<Dual<double, 1>>(x);
  EXPECT_DOUBLE_EQ(cube.v, -8);
  EXPECT_DOUBLE_EQ(cube.d[0], 12);
}

TEST(Expression, KnowsWhatItUses) {
  const Expression expression = Expression::parse("2*x + sin(t)", kNames);
  EXPECT_TRUE(expression.uses(0));
  EXPECT_FALSE(expression.uses(1));
  EXPECT_TRUE(expression.uses(4));
}

TEST(Expression, NamesTheComponentsOfAVector) {
  const std::vector<std::string> names = {"p[0]", "p[1]", "p[2]"};
  for (const char* text : {"2*p", "2*p[3]"}) try {
      Expression::parse(text, names);
      FAIL() << text;
    } catch (const ExpressionError& error) {
      EXPECT_EQ(error.hint(), "'p' has 3 components: write one of p[0] to p[2]");
    }
}

struct Mistake {
  std::string text;
  std::size_t position;
  std::string message;
  std::string hint = "";
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.text.substr(0, 40); }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreNamedAtTheirPlace) {
  const Mistake& expected = GetParam();
  try {
    Expression::parse(expected.text, kNames);
    FAIL() << "accepted '" << expected.text.substr(0, 40) << "'";
  } catch (const ExpressionError& error) {
    EXPECT_EQ(error.position(), expected.position) << error.what();
    EXPECT_NE(std::string(error.what()).find(expected.message), std::string::npos) << error.what();
    EXPECT_EQ(error.hint(), expected.hint);
    EXPECT_LT(std::string(error.what()).size(), 200u);
  }
}

std::string repeat(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

INSTANTIATE_TEST_SUITE_P(
    Expression, Mistakes,
    testing::Values(
        Mistake{"", 0, "found the end"}, Mistake{"1 +", 3, "found the end"}, Mistake{"(1", 2, "expected ')'"},
        Mistake{"1)", 1, "expected an operator"},
        Mistake{"2 x", 2, "expected an operator", "a product is written with *: ...*x"},
        Mistake{"1 < 2 && 2 < 3", 6, "expected an operator or the end, found '&& 2 < 3'",
                "conditions are 0 or 1: both is min(a < b, c < d), one of them is max(a < b, c < d)"},
        Mistake{"where(x < 1 or x > 2, 1, 0)", 12, "found 'or x > 2, 1, 0)'",
                "conditions are 0 or 1: both is min(a < b, c < d), one of them is max(a < b, c < d)"},
        Mistake{"2**3", 2, "powers are written with ^"},
        Mistake{"spni*2", 0, "unknown name 'spni'", "did you mean 'spin'?"},
        Mistake{"1+sine(x)", 2, "unknown name 'sine'", "did you mean 'sin'?"},
        Mistake{"nan", 0, "unknown name 'nan'", "did you mean 'tan'?"},
        Mistake{"inf", 0, "unknown name 'inf'"}, Mistake{"e", 0, "unknown name 'e'"},
        Mistake{"1e999", 0, "out of range"}, Mistake{"x = 1", 2, "expected '=='"},
        Mistake{"0 < x < 1", 2, "only two values"},
        Mistake{"where(x, 1)", 0, "where takes 3 arguments, got 2"},
        Mistake{"linear(x, 0, 1, 0, 2)", 0, "must increase"},
        Mistake{"pchip(x, 0, y, 1, 2)", 11, "must be constants"},
        Mistake{"bilinear(x, y, 2, 0, 1)", 0, "bilinear takes two variables"},
        Mistake{"bilinear(x, y, 2, 0, 1, 2, 0, 1, 1, 2, 3)", 0, "bilinear takes two variables"},
        Mistake{"position[1]", 0, "unknown name", "did you mean 'position[2]'?"},
        Mistake{"x[0]", 0, "unknown name 'x[0]'", "'x' is one number: write x"},
        Mistake{"position[", 9, "expected a whole number"},
        Mistake{"position[-1]", 9, "expected a whole number"},
        Mistake{"sin()", 0, "sin takes 1 argument, got 0"},
        Mistake{"atan2(x)", 0, "atan2 takes 2 arguments, got 1"},
        Mistake{"min(1,2,3)", 0, "min takes 2 arguments, got 3"}, Mistake{"sin(x", 5, "expected ',' or ')'"},
        Mistake{"sin x", 4, "sin is a function: expected '('"}, Mistake{"x $ y", 2, "found '$ y'"},
        Mistake{std::string("x\0y", 3), 1, "expected an operator"}));

INSTANTIATE_TEST_SUITE_P(Hostile, Mistakes,
                         testing::Values(Mistake{repeat("(", 1000000), 201, "nested more than 200"},
                                         Mistake{repeat("sin(", 1000000), 804, "nested more than 200"},
                                         Mistake{repeat("x^", 1000000), 129, "too many intermediate values"},
                                         Mistake{repeat("x+(", 100) + "x" + repeat(")", 100), 193,
                                                 "too many intermediate values"},
                                         Mistake{repeat("x", 1000000), 0, "unknown name 'xxx"}));

// Every name that stands twice would double the length.
TEST(Expression, DoesNotGrowWithoutBound) {
  const std::vector<std::string> names = {"x", "y"};
  Expression all = Expression::parse("y + y", names);
  const Expression twice = Expression::parse("y + y", names);
  int count = 0;
  const auto grow = [&] {
    for (; count < 40; ++count) all.substitute(1, twice);
  };
  EXPECT_THROW(grow(), ExpressionError);
  EXPECT_LT(count, 17);
  EXPECT_THROW(Expression::parse(repeat("x+", 200000) + "x", names), ExpressionError);
  EXPECT_EQ(Expression::parse(repeat("1+", 200000) + "1", names).evaluate<double>(std::array{0.0, 0.0}),
            200001);
}

// Four times the length takes about four times as long, whatever the machine; sixteen times would be quadratic.
TEST(Expression, LongInputIsParsedInLinearTime) {
  const auto seconds = [](int length) {
    double least = std::numeric_limits<double>::infinity();
    for (int trial = 0; trial < 3; ++trial) {
      const auto begin = std::chrono::steady_clock::now();
      EXPECT_EQ(value_of(repeat("-", 2 * length) + "1"), 1);
      EXPECT_EQ(value_of(repeat("1+", length) + "1"), length + 1);
      EXPECT_NEAR(value_of(repeat("x+", length) + "x"), (length + 1) * 0.7, 1e-4);
      least =
          std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return least;
  };
  const double some = seconds(12000), many = seconds(48000);
  fmt::print("  {:.4f} s and {:.4f} s\n", some, many);
  EXPECT_LT(many, 10 * some);
}

// A condition holds where it is positive; its value alone says so.
TEST(Expression, KnowsConditions) {
  const VariableNames names({"x", "y"});
  for (const char* text :
       {"x > 2*y", "x <= 1", "x == y", "x != 1", "min(x > 1, y < 4)", "max(x > 1, y < 4)", "(x > 1)*(y < 4)",
        "(x > 1) + (y > 4)", "1 - (x > 1)", "1 - ((x > 1) + (y > 4))", "2*(x > 1)", "(x > 1)*0.5",
        "where(x > 1, 1, 0)", "where(x > 1, 0, 1)", "where(x > 1, y > 2, 0)",
        "where((x > 1) + (y > 4), 0, 1)", "(where(x > 1, x, y) > 3)*1", "(x > 1) > 0.5"})
    EXPECT_TRUE(Expression::parse(text, names).is_condition()) << text;
  for (const char* text :
       {"x", "1", "x - (y > 1)", "-2*(x > 1)", "where(x > 1, 2, 0)", "where(x, 1, 0)", "x + (y > 1)",
        "where(x > 1, x, y)", "1 - x", "2 - (x > 1)", "abs(x > y)", "1 - 0.5*(x > 1)", "(x > 1)*y",
        "0*(x > 1)", "(1 - ((x > 1) + (y > 4)))*(1 - ((x > 1) + (y > 4)))",
        "where(1 - ((x > 1) + (y > 4)), 1, 0)"})
    EXPECT_FALSE(Expression::parse(text, names).is_condition()) << text;
}

// The comparisons inside, each by the difference of its sides.
TEST(Expression, FindsItsComparisons) {
  const VariableNames names({"x", "y"});
  const auto differences = [&](std::string_view text, double x, double y) {
    std::vector<double> out;
    for (const auto& c : Expression::parse(text, names).comparisons())
      out.push_back(c.difference.evaluate<double>(std::array{x, y}));
    return out;
  };
  using Values = std::vector<double>;
  EXPECT_EQ(differences("x + y", 3, 1), Values());
  EXPECT_EQ(differences("x > 2*y", 3, 1), Values({1}));
  EXPECT_EQ(differences("min(x > 1, 2*y <= 4)", 3, 1), Values({2, -2}));
  EXPECT_EQ(differences("where(x > 1, x, linear(y, 0, 0, 1, 7)) > 3", 2, 0.5), Values({1, -1}));
  EXPECT_EQ(differences("where(x > 1, x, linear(y, 0, 0, 1, 7)) > 3", 0, 0.5), Values({-1, 0.5}));
  EXPECT_EQ(differences("(x > 1) > 0.5", 3, 1), Values({2, 0.5}));
  EXPECT_TRUE(Expression::parse("x != y", names).comparisons().front().is_equality);
  EXPECT_FALSE(Expression::parse("x < y", names).comparisons().front().is_equality);
}

}  // namespace
}  // namespace liedyn
