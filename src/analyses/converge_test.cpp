#include "liedyn/analyses/converge.h"

#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/base/error.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Description> heavy_top() {
  ModelBuilder builder;
  add_heavy_top(builder);
  builder.sensor("position", "position").set("of", std::string("top"));
  return builder.finish();
}

// On the Lie groups; the other formulations have troubles of their own with a fast top.
constexpr const char* kGroups[] = {"r3so3", "r3so3-spatial", "se3"};

std::vector<System> heavy_tops() {
  std::vector<System> out;
  for (const char* formulation : kGroups) out.push_back(make_system(heavy_top(), formulation));
  return out;
}

ConvergeOptions short_study() {
  ConvergeOptions options;
  options.end = 0.1;
  options.integrators = {"generalized-alpha,rho=0.9"};
  options.steps = {2e-3, 1e-3, 5e-4, 2.5e-4};
  return options;
}

TEST(Converge, FindsSecondOrderOnEveryGroup) {
  ConvergeOptions options = short_study();
  options.end = 1;
  options.sensors = {"position"};
  const Convergence c = converge(heavy_tops(), options);
  EXPECT_EQ(c.quantities, (std::vector<std::string>{"q", "v", "lambda", "position"}));
  EXPECT_EQ(c.samples, 500);
  ASSERT_EQ(c.cases.size(), std::size(kGroups));
  for (const ConvergenceCase& one : c.cases) {
    ASSERT_EQ(one.rows.size(), 4u);
    for (const std::size_t k : {0u, 1u, 3u})
      expect_between(one.fitted[k], 1.9, 2.1, one.label() + ": order of " + c.quantities[k]);
    expect_between(one.rows.back().orders[0], 1.9, 2.1, one.label() + ": order of q in the last step");
    EXPECT_TRUE(std::isnan(one.rows.front().orders[0])) << "there is no larger step";
    EXPECT_GE(one.rows[0].newton_per_step, 1);
    EXPECT_GT(one.rows[0].cpu_seconds, 0);
    EXPECT_FALSE(one.rows.back().doubtful[0]);
  }
}

// A mass pushed by cos t from rest: x = 1 - cos t. The reference is that closed form, as a result file would hold it.
TEST(Converge, MeasuresTheErrorAgainstARecordedResult) {
  ModelBuilder builder({0, 0, 0});
  builder.body("stone", "point").set("mass", {1});
  builder.force("push", "force")
      .set("on", std::string("stone"))
      .set("force", {0, 0, 0})
      .expression("force", 0, "cos(t)");
  builder.sensor("place", "position").set("of", std::string("stone"));
  const std::vector<System> systems = {make_system(builder.finish(), "r3so3")};
  Trajectory exact;
  exact.channels = {{"place", "m", 1, 3}};
  exact.columns = 4;
  for (int i = 0; i <= 20; ++i) {
    const double t = 0.1 * i;
    exact.data.insert(exact.data.end(), {t, 1 - std::cos(t), 0, 0});
  }
  ConvergeOptions options;
  options.end = 2;
  options.integrators = {"generalized-alpha,rho=1"};
  options.steps = {0.2, 0.1, 0.05};
  options.reference.recorded = exact;
  for (const ErrorNorm norm : {ErrorNorm::Maximum, ErrorNorm::End}) {
    options.norm = norm;
    const Convergence c = converge(systems, options);
    ASSERT_EQ(c.quantities, std::vector<std::string>{"place"});
    EXPECT_DOUBLE_EQ(c.scales[0], 1 - std::cos(2));
    expect_between(c.cases[0].fitted[0], 1.9, 2.1, "order of the place");
    // The trapezoidal rule errs by h^2/12 (f'(t) - f'(0)) in the integral of f: here once for v and once for x, together
    // h^2/6 (1 - cos t).
    const double leading = 0.2 * 0.2 / 6 * (1 - std::cos(2)) / c.scales[0];
    expect_between(c.cases[0].rows[0].errors[0] / leading, 0.9, 1.1, "error at h = 0.2, of its leading term");
  }
  options.reference.recorded->data[0] += 0.05;
  options.reference.recorded->data.resize(4);
  options.reference.file = "short.csv";
  EXPECT_THROW(converge(systems, options), InputError);
}

// The same run is as wrong against a reference in other coordinates: errors are those of the mechanics.
TEST(Converge, ErrorsDoNotDependOnTheFormulationOfTheReference) {
  ConvergeOptions options = short_study();
  options.steps = {2e-3};
  options.reference.integrator = "generalized-alpha,rho=0.9,sigma=opt";
  options.reference.step = 1e-5;
  std::vector<double> errors;
  for (const char* first : kGroups) {
    const std::vector<System> systems = {make_system(heavy_top(), first), make_system(heavy_top(), "r3so3")};
    const Convergence c = converge(systems, options);
    const ConvergenceRow& row = c.cases[1].rows[0];
    fmt::print("  {:<50} q {:.6e}  v {:.6e}  lambda {:.6e}\n", c.reference, row.errors[0], row.errors[1],
               row.errors[2]);
    if (errors.empty()) errors = row.errors;
    EXPECT_NEAR(row.errors[0], errors[0], 2e-3 * errors[0]);
    EXPECT_NEAR(row.errors[1], errors[1], 2e-2 * errors[1]);
    EXPECT_NEAR(row.errors[2], errors[2], 2e-2 * errors[2]);
  }
}

TEST(Converge, ThreadsDoNotChangeTheErrors) {
  ConvergeOptions options = short_study();
  const Convergence alone = converge(heavy_tops(), options);
  options.jobs = 4;
  const Convergence together = converge(heavy_tops(), options);
  for (std::size_t c = 0; c < alone.cases.size(); ++c)
    for (std::size_t r = 0; r < alone.cases[c].rows.size(); ++r)
      EXPECT_EQ(alone.cases[c].rows[r].errors, together.cases[c].rows[r].errors);
}

TEST(Converge, AFailedRunIsARowThatSaysWhy) {
  ConvergeOptions options = short_study();
  options.end = 1;
  options.steps = {0.25, 1e-3, 5e-4};
  const std::vector<System> systems = {make_system(heavy_top(), "r3so3")};
  const Convergence c = converge(systems, options);
  ASSERT_EQ(c.cases[0].rows.size(), 3u);
  EXPECT_FALSE(c.cases[0].rows[0].completed);
  EXPECT_THAT(c.cases[0].rows[0].failure, HasSubstr("bodies.top"));
  EXPECT_TRUE(std::isnan(c.cases[0].rows[0].errors[0]));
  EXPECT_TRUE(std::isnan(c.cases[0].rows[1].orders[0])) << "no order with respect to a run that failed";
  EXPECT_GT(c.cases[0].rows[2].orders[0], 1.9);
  options.steps = {0.25};
  EXPECT_THROW(converge(systems, options), NumericalError) << "no reference";
}

// Steps of its own choice meet the others at the end only.
TEST(Converge, AMethodThatChoosesItsStepsIsComparedAtTheEnd) {
  ConvergeOptions options = short_study();
  options.integrators = {"generalized-alpha,adaptive=true,rtol=1e-5", "generalized-alpha,rho=0.9"};
  const std::vector<System> systems = {make_system(heavy_top(), "r3so3-spatial")};
  const Convergence c = converge(systems, options);
  EXPECT_EQ(c.samples, 1);
  EXPECT_THAT(c.reference, HasSubstr("generalized-alpha,rho=0.9 "));
  const ConvergenceRow& row = c.cases[0].rows[0];
  fmt::print("  rtol 1e-5: {} steps, error of q {:.2e}\n", row.steps, row.errors[0]);
  EXPECT_TRUE(row.completed);
  EXPECT_GT(row.errors[0], 0);
  expect_at_most(row.errors[0], 1e-4, "error of q");
  options.integrators.pop_back();
  EXPECT_THROW(converge(systems, options), InputError) << "nothing to make a reference of";
}

TEST(Converge, StopsWhenAsked) {
  ConvergeOptions options = short_study();
  options.end = 100;
  options.steps = {1e-5};
  options.jobs = 2;
  int calls = 0;
  options.progress = [&](double) { return ++calls < 2; };
  const Convergence c = converge(heavy_tops(), options);
  EXPECT_TRUE(c.interrupted);
  EXPECT_TRUE(c.cases.empty());
  EXPECT_EQ(calls, 2);
}

TEST(Converge, ReportsAllMistakesAtOnce) {
  ConvergeOptions options = short_study();
  options.steps = {-1e-3};
  options.sensors = {"positon"};
  options.jobs = 0;
  options.from = 7;
  options.integrators = {"generalised-alpha"};
  try {
    converge(heavy_tops(), options);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    for (const char* words : {"expected positive steps, got -0.001", "did you mean 'position'?",
                              "a number of 1 or more, got 0", "got 7", "did you mean 'generalized-alpha'?"})
      EXPECT_THAT(error.what(), HasSubstr(words));
  }
}

TEST(StepRange, IsGeometricAndSharesTimes) {
  for (const auto& [largest, smallest, count] :
       {std::tuple{4e-3, 2.5e-4, 5}, std::tuple{1e-2, 1e-4, 5}, std::tuple{1 / 251.0, 1e-4, 6}}) {
    const std::vector<double> steps = step_range(0, 1, largest, smallest, count);
    ASSERT_EQ(steps.size(), static_cast<std::size_t>(count));
    long common = 0;
    double worst = 0;
    for (int i = 0; i < count; ++i) {
      const double wanted = largest * std::pow(smallest / largest, static_cast<double>(i) / (count - 1));
      const double number = 1 / steps[static_cast<std::size_t>(i)];
      EXPECT_NEAR(number, std::round(number), 1e-9);
      common = std::gcd(common, std::lround(number));
      worst = std::max(worst, std::abs(steps[static_cast<std::size_t>(i)] / wanted - 1));
    }
    expect_at_most(worst, 0.1,
                   fmt::format("{:g} ... {:g}: distance from the geometric row", largest, smallest));
    EXPECT_GE(common, 10) << "times to compare at";
  }
  EXPECT_EQ(step_range(0, 1, 4e-3, 1e-3, 3), (std::vector<double>{4e-3, 2e-3, 1e-3}));
  EXPECT_THROW(step_range(0, 1, 1e-4, 1e-3, 3), InputError);
  EXPECT_THROW(step_range(0, 1, 1e-3, 1e-4, 1), InputError);
}

}  // namespace
}  // namespace liedyn
