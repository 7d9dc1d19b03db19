#include "liedyn/base/code_function.h"

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/base/error.h"
#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/varied.h"

namespace liedyn {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// f = sin(2 x) y^3, with all derivatives in closed form.
double law(const double* x) { return std::sin(2 * x[0]) * x[1] * x[1] * x[1]; }

class CodeFunctionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    register_function({"law", 2, &law, {}, {}});
    register_function({"law_with_gradient",
                       2,
                       &law,
                       [](const double* x, double* out) {
                         out[0] = 2 * std::cos(2 * x[0]) * x[1] * x[1] * x[1];
                         out[1] = 3 * std::sin(2 * x[0]) * x[1] * x[1];
                       },
                       {}});
  }
};

const std::vector<std::string> kSymbols = {"x", "y", "t"};

TEST_F(CodeFunctionTest, IsCalledLikeAnyOtherFunction) {
  const Expression e = Expression::parse("1 + 2*law(x + 1, min(y, 4))^2", kSymbols);
  const double at[] = {0.3, 1.7, 0}, inner[] = {1.3, 1.7};
  EXPECT_EQ(e.evaluate<double>(at), 1 + 2 * law(inner) * law(inner));
}

// Derivatives of f(x(s), y(s)) along x = 0.3 + s, y = 1.7 - 2 s against the same expression written out.
TEST_F(CodeFunctionTest, HasFirstAndSecondDerivatives) {
  using Jet = Dual<Dual<double, 1>, 1>;
  const Expression exact = Expression::parse("sin(2*(x + t))*(y - 2*t)^3", kSymbols);
  Jet t(0.0);
  t.v.d[0] = 1;
  t.d[0].v = 1;
  const Jet at[] = {Jet(0.3), Jet(1.7), t};
  const Jet expected = exact.evaluate<Jet>(at);
  for (const char* name : {"law", "law_with_gradient"}) {
    const Expression e = Expression::parse(fmt::format("{}(x + t, y - 2*t)", name), kSymbols);
    const Jet found = e.evaluate<Jet>(at);
    const double first = std::abs(found.v.d[0] - expected.v.d[0]),
                 second = std::abs(found.d[0].d[0] - expected.d[0].d[0]);
    fmt::print("{}: error of the first derivative {:.1e}, of the second {:.1e}\n", name, first, second);
    EXPECT_EQ(found.v.v, expected.v.v);
    EXPECT_LT(first, std::string(name) == "law" ? 1e-9 : 1e-14);
    EXPECT_LT(second, std::string(name) == "law" ? 1e-5 : 1e-8);
  }
}

TEST_F(CodeFunctionTest, IsCalledOnceWhereNothingVaries) {
  int calls = 0;
  register_function({"counted",
                     2,
                     [&](const double* x) {
                       ++calls;
                       return x[0] * x[1];
                     },
                     {},
                     {}});
  using S = Dual<double, 1>;
  const Expression e = Expression::parse("counted(x, y)", kSymbols);
  EXPECT_EQ(calls, 0) << "called while it was read";
  S at[] = {S(2.0), S(3.0), S(0.0)};
  e.evaluate<S>(at);
  EXPECT_EQ(calls, 1);
  at[1].d[0] = 1;
  EXPECT_NEAR(e.evaluate<S>(at).d[0], 2, 1e-9);
  EXPECT_EQ(calls, 4) << "the value and one central difference";
  register_function({"counted", 2, &law, {}, {}});  // `calls` ends here
}

TEST_F(CodeFunctionTest, KeepsTheFunctionThatAnExpressionFound) {
  register_function({"changing", 1, [](const double*) { return 1.0; }, {}, {}});
  const Expression before = Expression::parse("changing(x)", kSymbols);
  register_function({"changing", 1, [](const double*) { return 2.0; }, {}, {}});
  const Expression after = Expression::parse("changing(x)", kSymbols);
  const double at[] = {0, 0, 0};
  EXPECT_EQ(before.evaluate<double>(at), 1);
  EXPECT_EQ(after.evaluate<double>(at), 2);
}

TEST_F(CodeFunctionTest, StaysInItsPlaceWhenExpressionsAreSubstituted) {
  Expression outer = Expression::parse("law(x, y) + t", kSymbols);
  outer.substitute(2, Expression::parse("10*law_with_gradient(y, x)", kSymbols));
  const double at[] = {0.3, 1.7, 0}, swapped[] = {1.7, 0.3};
  EXPECT_EQ(outer.evaluate<double>(at), law(at) + 10 * law(swapped));
}

TEST_F(CodeFunctionTest, UsesTheScalesOfItsArguments) {
  // A kink of width 1e-6: differences with steps of 6e-6 do not see it.
  const auto narrow = [](const double* x) { return std::tanh(1e6 * x[0]); };
  register_function({"narrow", 1, narrow, {}, {}});
  register_function({"narrow_scaled", 1, narrow, {}, {1e-6}});
  using S = Dual<double, 1>;
  S at[] = {S(0.0), S(0.0), S(0.0)};
  at[0].d[0] = 1;
  const double without = Expression::parse("narrow(x)", kSymbols).evaluate<S>(at).d[0],
               with = Expression::parse("narrow_scaled(x)", kSymbols).evaluate<S>(at).d[0];
  fmt::print("slope 1e6: {:.4g} without, {:.10g} with scales\n", without, with);
  EXPECT_LT(without, 0.5e6);
  EXPECT_NEAR(with, 1e6, 1e-3);
}

TEST_F(CodeFunctionTest, RefusesWhatCannotBe) {
  const auto message = [](CodeFunction function) {
    try {
      register_function(std::move(function));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(message({"sin", 1, &law, {}, {}}), HasSubstr("reserved in expressions"));
  EXPECT_THAT(message({"t", 1, &law, {}, {}}), HasSubstr("reserved in expressions"));
  EXPECT_THAT(message({"a b", 1, &law, {}, {}}), HasSubstr("letters"));
  EXPECT_THAT(message({"", 1, &law, {}, {}}), HasSubstr("letters"));
  EXPECT_THAT(message({"none", 0, &law, {}, {}}), HasSubstr("1 to 32"));
  EXPECT_THAT(message({"many", 33, &law, {}, {}}), HasSubstr("1 to 32"));
  EXPECT_THAT(message({"empty", 1, {}, {}, {}}), HasSubstr("expected a function, got none"));
  EXPECT_THAT(message({"scaled", 2, &law, {}, {1}}), HasSubstr("2 positive scales"));
  EXPECT_THAT(message({"scaled", 1, &law, {}, {-1}}), HasSubstr("1 positive scales"));
  try {
    Expression::parse("law(x)", kSymbols);
    FAIL() << "one argument of two was accepted";
  } catch (const ExpressionError& error) {
    EXPECT_STREQ(error.what(), "law takes 2 arguments, got 1");
  }
}

TEST_F(CodeFunctionTest, AreFoundInTexts) {
  EXPECT_THAT(differenced_functions("2*law(x, y) + sin(law(y, x)) - flaw"), ElementsAre("law"));
  EXPECT_TRUE(differenced_functions("law_with_gradient(x, y) + my.law + law*2").empty());
}

TEST_F(CodeFunctionTest, LetsExceptionsThrough) {
  register_function(
      {"failing", 1, [](const double*) -> double { throw std::runtime_error("stop"); }, {}, {}});
  const double at[] = {0, 0, 0};
  EXPECT_THROW(Expression::parse("failing(x)", kSymbols).evaluate<double>(at), std::runtime_error);
}

}  // namespace
}  // namespace liedyn
