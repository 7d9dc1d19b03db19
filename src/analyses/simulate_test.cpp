#include "liedyn/analyses/simulate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/analyses/choose_formulation.h"
#include "liedyn/base/allocation_counter.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

std::shared_ptr<const Description> pushed_top() {
  ModelBuilder builder;
  add_heavy_top(builder);
  builder.force("push", "force")
      .set("on", std::string("top"))
      .set("force", {0, 0, 0})
      .expression("force", 1, "cos(3*t)");
  builder.sensor("position", "position").set("of", std::string("top"));
  builder.sensor("energy", "energy");
  return builder.finish();
}

TEST(Simulate, AllocatesNothingInOtherForms) {
  if (allocation_count() < 0) GTEST_SKIP() << "allocations are not counted in this build";
  for (const auto& [formulation, method] :
       {std::pair{"r3so3", "form=linear"}, std::pair{"se3", "form=linear,coordinates=cayley"},
        std::pair{"r3so3", "form=residual"}, std::pair{"euler-parameters", "index=3"},
        std::pair{"euler-parameters", "index=2"}, std::pair{"r3so3", "sigma=1,variant=paper"}}) {
    SimulateOptions options;
    options.integrator = fmt::format("generalized-alpha,{}", method);
    options.end = 0.1;
    const Summary s = simulate(make_system(pushed_top(), formulation), options).summary;
    fmt::print("  {:<17} {:<32}: {} allocations in {} steps\n", formulation, method, s.allocations_in_loop,
               s.steps);
    EXPECT_TRUE(s.completed) << s.failure;
    // What is needed only once is made in the first step.
    EXPECT_LE(s.allocations_in_loop, 10) << formulation << " " << method;
  }
}

// The projections that go with a change of the step have a workspace of their own, made once.
TEST(Simulate, AllocatesOnceForStepsOfManySizes) {
  if (allocation_count() < 0) GTEST_SKIP() << "allocations are not counted in this build";
  const System system = make_system(pushed_top());
  std::vector<long> allocations, steps;
  for (const double end : {0.2, 0.8}) {
    SimulateOptions options;
    options.integrator = "generalized-alpha,adaptive=true,rtol=1e-3";
    options.end = end;
    const Summary s = simulate(system, options).summary;
    EXPECT_TRUE(s.completed) << s.failure;
    allocations.push_back(s.allocations_in_loop);
    steps.push_back(s.steps);
  }
  fmt::print("  {} allocations in {} steps, {} in {}\n", allocations[0], steps[0], allocations[1], steps[1]);
  EXPECT_GT(steps[1], 2 * steps[0]);
  EXPECT_EQ(allocations[0], allocations[1]);
}

// The heavy top's energy swings: its largest drift is found whatever is recorded.
TEST(Simulate, WatchesMaximaBetweenRecordedStates) {
  ModelBuilder builder;
  add_heavy_top(builder);
  const System system = make_system(builder.finish());
  double drift[2], residual[2];
  for (const long every : {0L, 1L}) {
    SimulateOptions options;
    options.integrator = "generalized-alpha,rho=0.6";
    options.end = 1;
    options.step = 5e-4;
    options.output_every = every;
    const Summary s = simulate(system, options).summary;
    ASSERT_TRUE(s.completed) << s.failure;
    drift[every] = s.energy_max_drift, residual[every] = s.residual_velocity;
  }
  fmt::print("  energy drift {:.4g} J of {:.4g} J, velocity residual {:.3g} of {:.3g}\n", drift[0], drift[1],
             residual[0], residual[1]);
  EXPECT_LE(drift[0], drift[1]);
  EXPECT_GT(drift[0], 0.8 * drift[1]);
  EXPECT_GT(residual[0], 0.5 * residual[1]);
}

// Whatever steps an adaptive integrator takes, the table has the times that were asked for; the last row is the end.
TEST(Simulate, RecordsAtEqualTimesWhateverStepsAreTaken) {
  const System system = make_system(pushed_top());
  for (const std::string integrator :
       {"generalized-alpha,adaptive=true,rtol=1e-4", "dopri5,adaptive=true", "esdirk4-6,adaptive=true"}) {
    SimulateOptions options;
    options.integrator = integrator;
    options.end = 0.105;
    options.step = 1e-3;
    options.output_every = 10;
    options.record_residuals = true;
    const Result result = simulate(system, options);
    const Trajectory& t = result.trajectory;
    fmt::print("  {}: {} rows, {} steps from {:.1e} to {:.1e}\n", integrator, t.rows(), result.summary.steps,
               result.summary.least_step, result.summary.largest_step);
    ASSERT_EQ(t.rows(), 12u) << integrator;
    for (std::size_t i = 0; i < 11; ++i) EXPECT_NEAR(t.at(i, 0), 0.01 * static_cast<double>(i), 1e-15);
    EXPECT_EQ(t.at(11, 0), 0.105);
    // The same run with equal small steps shows the same between the steps of this one.
    options.integrator = "generalized-alpha,sigma=opt";
    options.step = 1e-4;
    options.output_every = 100;
    const Trajectory fine = simulate(system, options).trajectory;
    double worst = 0, size = 0;
    for (std::size_t i = 0; i < 11; ++i)
      for (int c = 1; c < 4; ++c) {
        worst = std::max(worst, std::abs(t.at(i, c) - fine.at(i, c)));
        size = std::max(size, std::abs(fine.at(i, c)));
      }
    EXPECT_LT(worst, 2e-3 * size) << integrator;
    options.output_every = 0;
    options.integrator = integrator;
    EXPECT_EQ(simulate(system, options).trajectory.rows(), 2u) << integrator;
  }
}

// A fast spin is smoother in inertial axes, a swing from rest in neither, the tumbling of a body with nearly equal inertias in body axes.
TEST(Simulate, ChoosesTheAxesInWhichVelocitiesAreSmooth) {
  ModelBuilder pendulum;
  pendulum.body("bob", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {1, 0, 0});
  pendulum.joint("pivot", "spherical").set("between", "ground", "bob").set("at", {0, 0, 0});
  ModelBuilder tumbler;
  tumbler.body("body", "rigid")
      .set("mass", {1})
      .set("inertia", {0.1, 0.1, 0.11})
      .set("angular_velocity", {5, 0, 5});
  const std::pair<std::shared_ptr<const Description>, const char*> cases[] = {
      {pushed_top(), "r3so3-spatial"}, {pendulum.finish(), "r3so3-spatial"}, {tumbler.finish(), "r3so3"}};
  for (const auto& [description, expected] : cases) {
    SimulateOptions options;
    options.end = 0.5;
    const System system = make_system(description, "auto");
    const FormulationChoice choice = choose_formulation(system, options);
    const Summary s = simulate(system, options).summary;
    fmt::print("  second differences: body {:.2e}, inertial {:.2e}: {}\n", choice.body, choice.inertial,
               s.formulation);
    EXPECT_EQ(s.formulation, expected);
    EXPECT_TRUE(s.formulation_chosen);
  }
}

// With a force of time, whose expression and derived numbers are evaluated anew in each step.
TEST(Simulate, AllocatesNothingInTheLoop) {
  if (allocation_count() < 0) GTEST_SKIP() << "allocations are not counted in this build";
  const System system = make_system(pushed_top());
  for (const char* solver : {"dense", "klu"})
    for (const char* newton : {"full", "modified"})
      for (const char* index : {"3", "2", "stabilized"}) {
        SimulateOptions options;
        options.solver = solver;
        options.integrator = fmt::format("generalized-alpha,newton={},index={}", newton, index);
        options.end = 0.1;
        const Summary s = simulate(system, options).summary;
        fmt::print(
            "  {:<5} newton={:<8} index={:<10}: {} allocations in {} steps, {} iterations, {} matrices\n",
            s.solver, newton, index, s.allocations_in_loop, s.steps, s.newton_iterations, s.jacobian_updates);
        EXPECT_TRUE(s.completed) << s.failure;
        EXPECT_EQ(s.solver, solver);
        if (options.solver == "klu" && std::string_view(index) == "stabilized") {
          // Its matrix is not that of the initial values: the first factorisation is made, and allocates, in the first step.
          options.end = 0.2;
          EXPECT_EQ(s.allocations_in_loop, simulate(system, options).summary.allocations_in_loop);
        } else {
          EXPECT_EQ(s.allocations_in_loop, 0);
        }
      }
}

// Links that hang on each other by two kinds of joints: parts of a batch share bodies.
TEST(Simulate, GivesTheSameForAnyNumberOfThreads) {
  constexpr int kLinks = 4500;
  ModelBuilder builder;
  for (int i = 0; i < kLinks; ++i) {
    builder.body(fmt::format("link{}", i), "rigid").set("mass", {1}).set("inertia", {0.1, 0.2, 0.3});
    builder.set("position", {i + 0.5, 0, 0});
  }
  for (int i = 0; i < kLinks; ++i) {
    builder.joint(fmt::format("joint{}", i), i % 3 == 0 ? "revolute" : "spherical")
        .set("between", i == 0 ? "ground" : fmt::format("link{}", i - 1), fmt::format("link{}", i))
        .set("at", {1.0 * i, 0, 0});
    if (i % 3 == 0) builder.set("axis", {0, 1, 0});
  }
  builder.sensor("tip", "position").set("of", fmt::format("link{}", kLinks - 1));
  const System system = make_system(builder.finish());
  SimulateOptions options;
  options.end = 0.004;
  options.output_every = 0;
  std::vector<double> alone;
  for (const int threads : {1, 2, 3}) {
    options.threads = threads;
    const Result result = simulate(system, options);
    ASSERT_TRUE(result.summary.completed) << result.summary.failure;
    if (threads == 1) alone = result.trajectory.data;
    EXPECT_EQ(result.trajectory.data, alone) << threads << " threads";
  }
}

TEST(Simulate, RecordsEveryNthStepAndTheEnd) {
  const System system = make_system(pushed_top());
  SimulateOptions options;
  options.end = 0.01;
  options.step = 1e-3;
  for (const auto& [every, rows] : {std::pair{1L, 11u}, std::pair{4L, 4u}, std::pair{0L, 2u}}) {
    options.output_every = every;
    const Result result = simulate(system, options);
    const Trajectory& out = result.trajectory;
    fmt::print("  every {}: {} rows of {} columns\n", every, out.rows(), out.columns);
    EXPECT_EQ(out.rows(), rows);
    EXPECT_EQ(out.columns, 5);
    EXPECT_EQ(out.at(0, 0), 0);
    EXPECT_EQ(out.at(out.rows() - 1, 0), 0.01);
    EXPECT_EQ(out.channels.back().name, "energy");
    EXPECT_EQ(result.summary.steps, 10);
    EXPECT_EQ(out.at(out.rows() - 1, 4), result.summary.energy_final);
  }
}

TEST(Simulate, MeetsTheEndWithEqualSteps) {
  const System system = make_system(pushed_top());
  SimulateOptions options;
  options.end = 0.01;
  options.step = 3e-3;
  const Summary s = simulate(system, options).summary;
  EXPECT_EQ(s.steps, 4);
  EXPECT_DOUBLE_EQ(s.step, 2.5e-3);
  EXPECT_EQ(s.end, 0.01);
}

// A force that stops being a number: the run stops there, says why, and keeps what it has.
TEST(Simulate, KeepsWhatItHasWhenTheNumericsFail) {
  ModelBuilder builder;
  builder.body("mass", "point").set("mass", {1});
  builder.force("push", "force")
      .set("on", std::string("mass"))
      .set("force", {0, 0, 0})
      .expression("force", 0, "sqrt(0.5 - t)");
  builder.sensor("position", "position").set("of", std::string("mass"));
  const System system = make_system(builder.finish());
  SimulateOptions options;
  options.step = 0.01;
  const Result result = simulate(system, options);
  fmt::print("  {}\n", result.summary.failure);
  EXPECT_FALSE(result.summary.completed);
  EXPECT_THAT(result.summary.failure, testing::HasSubstr("t = 0.5"));
  EXPECT_THAT(result.summary.failure, testing::HasSubstr("bodies.mass: force x"));
  EXPECT_EQ(result.summary.steps, 50);
  EXPECT_EQ(result.trajectory.rows(), 51u);
  EXPECT_NEAR(result.summary.end, 0.5, 1e-12);
}

TEST(Simulate, StopsWhenToldTo) {
  const System system = make_system(pushed_top());
  SimulateOptions options;
  options.end = 0.1;
  options.progress = [](double fraction) { return fraction < 0.5; };
  const Result result = simulate(system, options);
  EXPECT_FALSE(result.summary.completed);
  EXPECT_EQ(result.summary.steps, 50);
  EXPECT_THAT(result.summary.failure, testing::HasSubstr("interrupted"));
}

TEST(Simulate, NamesTheLoadThatIsNotANumber) {
  for (const char* integrator : {"generalized-alpha", "rk44", "esdirk3-4,adaptive=true"}) {
    ModelBuilder builder;
    builder.body("bob", "point").set("mass", {1});
    builder.force("bad", "force")
        .set("on", std::string("bob"))
        .set("force", {0, 0, 0})
        .expression("force", 1, "sqrt(0.5 - t)");
    SimulateOptions options;
    options.integrator = integrator;
    options.step = 0.01;
    const Summary s = simulate(make_system(builder.finish()), options).summary;
    EXPECT_FALSE(s.completed);
    EXPECT_THAT(s.failure, testing::HasSubstr("'forces.bad.force[1]' is"));
    EXPECT_NEAR(s.end, 0.5, 0.011);
  }
}

// A free body flies straight while it tumbles. On SE(3) its velocity is in body axes, where it turns: with large steps the body flies in a circle.
TEST(Simulate, WarnsOfVelocitiesThatTurnTooFast) {
  ModelBuilder builder({0, 0, 0});
  builder.body("body", "rigid")
      .set("mass", {1})
      .set("inertia", {0.01, 0.02, 0.025})
      .set("velocity", {1, 0, 0})
      .set("angular_velocity", {0.1, 20, 0.1});
  builder.sensor("place", "position").set("of", std::string("body"));
  const auto description = builder.finish();
  for (const auto& [formulation, step, wrong] :
       {std::tuple("se3", 0.03, true), std::tuple("se3", 0.003, false), std::tuple("r3so3", 0.03, false),
        std::tuple("r3so3-spatial", 0.03, false)}) {
    SimulateOptions options;
    options.step = step;
    options.end = 5;
    const Result result = simulate(make_system(description, formulation), options);
    const Trajectory& t = result.trajectory;
    const double error = std::abs(t.data[t.data.size() - 3] - 5);
    EXPECT_EQ(error > 1, wrong) << formulation << " " << step << ": " << error;
    const bool said = std::any_of(
        result.summary.warnings.begin(), result.summary.warnings.end(), [](const std::string& warning) {
          return warning.find("the velocity of 'body' rotates with it") != std::string::npos;
        });
    EXPECT_EQ(said, wrong) << formulation << " " << step << " "
                           << testing::PrintToString(result.summary.warnings);
  }
}

TEST(Simulate, WarnsOfStepsOfMoreThanHalfATurn) {
  for (const double spin : {30.0, 70.0, 300.0}) {
    ModelBuilder builder({0, 0, 0});
    builder.body("ball", "rigid")
        .set("mass", {1})
        .set("inertia", {1, 1, 1})
        .set("angular_velocity", {0, spin, 0});
    SimulateOptions options;
    options.step = 0.05;
    const Summary s = simulate(make_system(builder.finish()), options).summary;
    if (spin < 50) {
      EXPECT_TRUE(s.warnings.empty()) << testing::PrintToString(s.warnings);
    } else {
      ASSERT_EQ(s.warnings.size(), 1u);
      EXPECT_THAT(s.warnings[0], testing::HasSubstr(spin < 100 ? "body 'ball' rotates 3.5 rad in one step"
                                                               : "body 'ball' rotates 15 rad in one step"));
    }
  }
}

TEST(Simulate, RefusesSettingsThatMakeNoSense) {
  const System system = make_system(pushed_top());
  SimulateOptions options;
  options.end = -1;
  options.step = 0;
  try {
    simulate(system, options);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    fmt::print("  {}\n", error.what());
    EXPECT_EQ(error.diagnostics().size(), 2u);
    EXPECT_THAT(error.what(), testing::HasSubstr("simulation.end"));
    EXPECT_THAT(error.what(), testing::HasSubstr("simulation.step"));
  }
}

}  // namespace
}  // namespace liedyn
