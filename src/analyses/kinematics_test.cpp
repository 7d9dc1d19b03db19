#include "analyses/kinematics.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/testing.h"

namespace liedyn {
namespace {

TEST(Kinematics, MotionsThatRemainFreeAreNamed) {
  ModelBuilder builder({0, -9.81, 0});
  builder.body("bob", "rigid").set("mass", {2}).set("inertia", {1, 1, 1}).set("position", {0, -1, 0});
  builder.joint("hinge", "revolute").set("between", "ground", "bob").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
  const System system = make_system(builder.finish());
  try {
    kinematics(system, default_options(system.model().description()));
    FAIL() << "accepted";
  } catch (const InputError& error) {
    fmt::print("  {}\n", error.what());
    EXPECT_THAT(error.what(), testing::HasSubstr("bob turns about (0, 0, 1) and moves along (1, 0, 0)"));
  }
}

// Nothing moves, but the load does: the reaction of a weld follows it.
TEST(Kinematics, TheReactionBalancesALoadThatFollowsTheTime) {
  ModelBuilder builder({0, 0, -10});
  builder.body("block", "rigid").set("mass", {2}).set("inertia", {1, 1, 1});
  builder.joint("weld", "fixed").set("between", "ground", "block").set("at", {0, 0, 0});
  builder.force("push", "force").set("on", std::string("block")).set("force", {0, 0, 0}).expression("force", 0, "3*sin(2*t)");
  builder.sensor("force", "reaction_force").set("of", std::string("weld"));
  const System system = make_system(builder.finish());
  SimulateOptions options = default_options(system.model().description());
  options.end = 2;
  options.step = 0.25;
  const Result result = kinematics(system, options);
  ASSERT_TRUE(result.summary.completed) << result.summary.failure;
  ASSERT_EQ(result.trajectory.rows(), 9u);
  for (std::size_t row = 0; row < 9; ++row) {
    const double t = result.trajectory.at(row, 0);
    expect_at_most((Vec3(result.trajectory.at(row, 1), result.trajectory.at(row, 2), result.trajectory.at(row, 3)) -
                    Vec3(-3 * std::sin(2 * t), 0, 20))
                       .norm(),
                   1e-12, fmt::format("reaction at t = {}", t));
  }
}

}  // namespace
}  // namespace liedyn
