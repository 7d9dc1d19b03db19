// What every listed integrator promises.
#include <gtest/gtest.h>

#include "liedyn/base/allocation_counter.h"
#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

// Two bodies, joints, a force of time, a spring: a little of all.
std::shared_ptr<const Description> swinging_arm() {
  ModelBuilder builder;
  builder.body("arm", "rigid")
      .set("mass", {2})
      .set("inertia", {0.4, 0.6, 0.7})
      .set("position", {0.5, 0, 0})
      .set("angular_velocity", {2, 0, 0});
  builder.body("bob", "point").set("mass", {1}).set("position", {1.5, 0, 0});
  builder.joint("shoulder", "spherical").set("between", "ground", "arm").set("at", {0, 0, 0});
  builder.joint("string", "distance").set("between", "arm", "bob").set("points", {1, 0, 0, 1.5, 0, 0});
  builder.force("push", "force")
      .set("on", std::string("arm"))
      .set("force", {0, 0, 0})
      .expression("force", 1, "5*cos(3*t)");
  builder.force("spring", "spring_damper")
      .set("between", "ground", "bob")
      .set("points", {1, 1, 1, 1.5, 0, 0})
      .set("damping", {0.5})
      .set("stiffness", {20});
  return builder.finish();
}

class EveryIntegrator : public testing::TestWithParam<std::string> {
 protected:
  static bool same(const State& a, const State& b) {
    return a.t == b.t && a.q == b.q && a.v == b.v && a.vdot == b.vdot && a.lambda == b.lambda &&
           a.eta == b.eta && a.memory == b.memory;
  }
};

INSTANTIATE_TEST_SUITE_P(Listed, EveryIntegrator, testing::ValuesIn(listed_integrators()),
                         [](const auto& info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryIntegrator, DescribesItselfInWordsThatMakeItAgain) {
  const System system = make_system(swinging_arm());
  const std::string text = make_integrator(system, GetParam())->describe();
  fmt::print("  {}\n", text);
  EXPECT_TRUE(text.starts_with(GetParam()));
  EXPECT_EQ(make_integrator(system, text)->describe(), text);
}

TEST(IntegratorOptions, TolerancesThatNobodyLooksAtAreAMistake) {
  for (const char* text :
       {"generalized-alpha,rtol=1e-6", "dopri5,atol=1e-3", "esdirk4-6,adaptive=false,rtol=1e-9"})
    EXPECT_THROW(check_integrator(text), InputError) << text;
  check_integrator("dopri5,rtol=1e-6,adaptive=true");
}

TEST(IntegratorOptions, GivenTwiceAreAMistake) {
  try {
    check_integrator("generalized-alpha,rho=0.9,sigma=1,rho=0.8");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    fmt::print("  {}\n", error.what());
    EXPECT_NE(std::string(error.what()).find("'rho' is given twice"), std::string::npos);
  }
}

TEST_P(EveryIntegrator, LeavesTheOldStateAloneAndRepeatsItself) {
  const System system = make_system(swinging_arm());
  // A kept matrix would be that of other steps.
  const bool is_explicit = linear_properties(GetParam()).is_explicit;
  WholeRun run(system, GetParam() + (is_explicit ? "" : ",newton=full"), 0.1, 0.01);
  const State from = run.state;
  State first = from, second = from;
  EXPECT_TRUE(run.integrator->step(from, 0.01, first, run.work).converged());
  EXPECT_TRUE(same(from, run.state));
  EXPECT_FALSE(same(from, first));
  EXPECT_TRUE(run.integrator->step(from, 0.01, second, run.work).converged());
  EXPECT_TRUE(same(first, second));
  fmt::print("  {}: a step tried twice is bit for bit the same\n", GetParam());
}

TEST_P(EveryIntegrator, ConvergesAtLeastWithOrderTwo) {
  // Explicit methods of high order reach round-off in small steps.
  const double coarse = linear_properties(GetParam()).is_explicit ? 0.02 : 0.004;
  for (const std::string& formulation : formulations()) {
    const System system = make_system(swinging_arm(), formulation);
    std::vector<WholeRun> runs;
    for (const double part : {1.0, 0.5, 0.25, 0.125})
      runs.emplace_back(system, GetParam(), 0.5, part * coarse);
    std::vector<double> q, v;
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
      q.push_back((as_vector(runs[i].state.q) - as_vector(runs[i + 1].state.q)).norm());
      v.push_back((as_vector(runs[i].state.v) - as_vector(runs[i + 1].state.v)).norm());
    }
    expect_between(order_of(q), 1.9, 7, fmt::format("{}, {}: order of q", GetParam(), formulation));
    expect_between(order_of(v), 1.9, 7, fmt::format("{}, {}: order of v", GetParam(), formulation));
  }
}

TEST_P(EveryIntegrator, AllocatesNothingInItsSteps) {
  if (allocation_count() < 0) GTEST_SKIP() << "allocations are not counted in this build";
  for (const std::string& formulation : formulations()) {
    const System system = make_system(swinging_arm(), formulation);
    const WholeRun run(system, GetParam(), 0.1, 0.002);
    fmt::print("  {}, {}: {} allocations in {} steps\n", GetParam(), formulation, run.report.allocations,
               run.report.steps);
    EXPECT_EQ(run.report.allocations, 0);
  }
}

// The largest distance of quaternions from unit length, on a free body that tumbles.
void expect_on_the_group(const std::string& integrator, long steps) {
  for (const std::string& formulation : formulations_in_the_large()) {
    ModelBuilder builder({0, 0, 0});
    builder.body("top", "rigid")
        .set("mass", {1})
        .set("inertia", {1, 1.7, 2.5})
        .set("angular_velocity", {1.5, 0.1, 1});
    const System system = make_system(builder.finish(), formulation);
    double worst = 0;
    const WholeRun run(system, integrator, 1e-2 * static_cast<double>(steps), 1e-2,
                       [&](const State& now, Work&) {
                         worst = std::max(worst, std::abs(as_vector(now.q).tail<4>().norm() - 1));
                       });
    EXPECT_EQ(run.report.steps, steps);
    expect_at_most(worst, 1e-13,
                   fmt::format("{}, {}: length of the quaternion - 1", integrator, formulation));
  }
}

TEST_P(EveryIntegrator, StaysOnTheGroupForTenThousandSteps) { expect_on_the_group(GetParam(), 10000); }

TEST(OneOfEachFamily, StaysOnTheGroupForAMillionSteps) {
  for (const char* integrator : {"generalized-alpha", "lms2", "ss2", "bathe", "rk44"})
    expect_on_the_group(integrator, 1000000);
}

}  // namespace
}  // namespace liedyn
