// Functions of time that must stay positive end the run that they belong to, with a message, and soon.
#include "liedyn/integrators/range_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "liedyn/analyses/kinematics.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A load that swings on a rope of length 1 - t/2, which ends at t = 2.
System winch(double speed) {
  ModelBuilder b({0, 0, -9.81});
  b.body("load", "point").set("mass", {1}).set("position", {0, 0, -1}).set("velocity", {speed, 0, 0.5});
  b.joint("rope", "distance").set("between", "ground", "load").set("points", {0, 0, 0, 0, 0, -1});
  b.set("length", {0.0}).expression("length", 0, "1 - t/2");
  b.sensor("d", "distance").set("between", "ground", "load");
  return make_system(b.finish());
}

TEST(RangeWatch, FindsTheEndOfARange) {
  const System system = winch(0);
  const RangeWatch watch(system);
  EXPECT_FALSE(watch.at(1.999));
  ASSERT_TRUE(watch.at(2));
  EXPECT_EQ(watch.at(2)->what, "'joints.rope.length': expected a positive number, got 0");
  EXPECT_FALSE(watch.between(0, 1.9));
  ASSERT_TRUE(watch.between(0, 3));
  EXPECT_EQ(watch.between(0, 3)->t, 2);
}

TEST(RangeWatch, StopsRunsOfEveryMethodSoon) {
  for (const double speed : {0.0, 1.0})
    for (const std::string integrator :
         {"dopri5,adaptive=true", "generalized-alpha,adaptive=true", "dopri5", "generalized-alpha"}) {
      SimulateOptions options;
      options.end = 3;
      options.step = 1e-3;
      options.output_every = 0;
      options.integrator = integrator;
      const Result result = simulate(winch(speed), options);
      const bool adaptive = integrator.find("adaptive") != std::string::npos;
      fmt::print("  {:<34} speed {}: {} steps to t = {:.9g}: {}\n", integrator, speed, result.summary.steps,
                 result.summary.end, result.summary.failure);
      EXPECT_FALSE(result.summary.completed);
      EXPECT_LT(result.summary.end, 2);
      EXPECT_LT(result.summary.steps + result.summary.rejected, adaptive ? 100000 : 2001);
      // Equal steps may fail before, where the load turns too fast for them.
      if (adaptive || speed == 0) {
        EXPECT_THAT(result.summary.failure,
                    ::testing::HasSubstr("'joints.rope.length': expected a positive number, got 0"));
        EXPECT_GT(result.summary.end, adaptive ? 1.7 : 1.9);  // adaptive steps may be a tenth of the run long
      }
    }
}

// The run ends before: nothing is said, and nothing stops it.
TEST(RangeWatch, LetsRunsEndBefore) {
  SimulateOptions options;
  options.end = 1.9;
  options.integrator = "dopri5,adaptive=true";
  const Result result = simulate(winch(0.1), options);
  EXPECT_TRUE(result.summary.completed) << result.summary.failure;
  // A simulation without an end stops where the model does.
  Simulation open(winch(0), options);
  open.advance_to(1.5);
  EXPECT_THROW(open.advance_to(2.5), NumericalError);
  EXPECT_THAT(open.report().failure, ::testing::HasSubstr("joints.rope.length"));
}

TEST(RangeWatch, StopsKinematics) {
  ModelBuilder b({0, 0, 0});
  b.body("load", "point").set("mass", {1}).set("position", {0, 0, -1}).consistent("velocity");
  b.joint("rope", "distance").set("between", "ground", "load").set("points", {0, 0, 0, 0, 0, -1});
  b.set("length", {0.0}).expression("length", 0, "1 - t/2");
  b.joint("x", "point_on_line").set("between", "ground", "load").set("at", {0, 0, -1}).set("axis", {0, 0, 1});
  SimulateOptions options;
  options.end = 3;
  options.step = 0.13;
  const Result result = kinematics(make_system(b.finish()), options);
  EXPECT_FALSE(result.summary.completed);
  EXPECT_THAT(result.summary.failure, ::testing::HasSubstr("joints.rope.length"));
}

}  // namespace
}  // namespace liedyn
