#include "liedyn/analyses/kinematics.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

TEST(Kinematics, MotionsThatRemainFreeAreNamed) {
  ModelBuilder builder({0, -9.81, 0});
  builder.body("bob", "rigid").set("mass", {2}).set("inertia", {1, 1, 1}).set("position", {0, -1, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "bob")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
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
  builder.force("push", "force")
      .set("on", std::string("block"))
      .set("force", {0, 0, 0})
      .expression("force", 0, "3*sin(2*t)");
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
    expect_at_most(
        (Vec3(result.trajectory.at(row, 1), result.trajectory.at(row, 2), result.trajectory.at(row, 3)) -
         Vec3(-3 * std::sin(2 * t), 0, 20))
            .norm(),
        1e-12, fmt::format("reaction at t = {}", t));
  }
}

// theta(t) = 0.8 sin(3 t) + t^2; torque = J theta'' + m g L cos(theta).
TEST(Kinematics, ADrivenArmAndItsTorqueAreExactWithAnyStep) {
  const double m = 2, J = 0.3, L = 0.5, g = 9.81;
  for (const std::string& formulation : absolute_formulations()) {
    ModelBuilder builder({0, -g, 0});
    builder.body("arm", "rigid").set("mass", {m}).set("inertia", {0.1, 0.2, J}).set("position", {L, 0, 0});
    builder.joint("hinge", "revolute")
        .set("between", "ground", "arm")
        .set("at", {0, 0, 0})
        .set("axis", {0, 0, 1});
    builder.joint("motor", "prescribed_motion")
        .set("joint", std::string("hinge"))
        .set("motion", {0})
        .expression("motion", 0, "0.8*sin(3*t) + t^2");
    builder.sensor("angle", "joint_angle").set("of", std::string("hinge"));
    builder.sensor("rate", "joint_angle_rate").set("of", std::string("hinge"));
    builder.sensor("torque", "reaction_torque").set("of", std::string("motor"));
    const System system = make_system(builder.finish(), formulation);
    SimulateOptions options = default_options(system.model().description());
    options.end = 4;  // it turns more than twice
    options.step = 0.2;
    const Result result = kinematics(system, options);
    ASSERT_TRUE(result.summary.completed) << result.summary.failure;
    double worst[3] = {};
    for (std::size_t row = 0; row < result.trajectory.rows(); ++row) {
      const double t = result.trajectory.at(row, 0), angle = 0.8 * std::sin(3 * t) + t * t;
      const double expected[] = {angle, 2.4 * std::cos(3 * t) + 2 * t,
                                 (J + m * L * L) * (2 - 7.2 * std::sin(3 * t)) + m * g * L * std::cos(angle)};
      const int columns[] = {1, 2, 5};
      for (int i = 0; i < 3; ++i)
        worst[i] = std::max(worst[i], std::abs(result.trajectory.at(row, columns[i]) - expected[i]));
    }
    expect_at_most(worst[0], 1e-12, formulation + ": angle");
    expect_at_most(worst[1], 1e-11, formulation + ": its rate");
    expect_at_most(worst[2], 1e-10, formulation + ": torque of the motor");
  }
}

// A four-bar driven all the way round: the end of the coupler is at the intersection of two circles.
TEST(Kinematics, ADrivenFourBarGoesRound) {
  const Vec3 b(0, 0.12, 0), c(0.24, 0.3, 0), d(0.28, 0, 0);
  ModelBuilder builder({0, -9.81, 0});
  const auto bar = [&](const char* name, const Vec3& from, const Vec3& to) {
    builder.body(name, "rigid")
        .set("mass", {0.5})
        .set("inertia", {1e-3, 1e-3, 1e-3})
        .set("position", Vec3((from + to) / 2));
  };
  bar("crank", Vec3::Zero(), b);
  bar("coupler", b, c);
  bar("rocker", c, d);
  builder.joint("A", "revolute")
      .set("between", "ground", "crank")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.joint("B", "spherical").set("between", "crank", "coupler").set("at", b);
  // Across the coupler: it could spin about an axis from C to the ball at B.
  builder.joint("C", "universal")
      .set("between", "coupler", "rocker")
      .set("at", c)
      .set("first_axis", {-0.18, 0.24, 0})
      .set("second_axis", {0, 0, 1});
  builder.joint("D", "revolute").set("between", "ground", "rocker").set("at", d).set("axis", {0, 0, 1});
  builder.joint("motor", "prescribed_motion")
      .set("joint", std::string("A"))
      .set("motion", {0})
      .expression("motion", 0, "2*pi*t");
  builder.sensor("end", "position").set("of", std::string("rocker")).set("at", c);
  builder.sensor("speed", "velocity").set("of", std::string("rocker")).set("at", c);
  const System system = make_system(builder.finish());
  SimulateOptions options = default_options(system.model().description());
  options.end = 1;
  options.step = 1.0 / 24;
  const Result result = kinematics(system, options);
  ASSERT_TRUE(result.summary.completed) << result.summary.failure;
  const double pi = std::acos(-1.0);
  const auto place = [&](double t) {
    const Vec3 tip = SO3<double>::exp(Vec3(0, 0, 2 * pi * t)).R() * b, across = d - tip;
    const double l = (c - b).norm(), r = (c - d).norm(), e = across.norm();
    const double along = (l * l - r * r + e * e) / (2 * e), off = std::sqrt(l * l - along * along);
    return Vec3(tip + along * across / e + off * Vec3(-across.y(), across.x(), 0) / e);
  };
  double position = 0, velocity = 0;
  for (std::size_t row = 0; row < result.trajectory.rows(); ++row) {
    const auto vector = [&](int first) {
      return Vec3(result.trajectory.at(row, first), result.trajectory.at(row, first + 1),
                  result.trajectory.at(row, first + 2));
    };
    const double t = result.trajectory.at(row, 0), h = 1e-4;
    position = std::max(position, (vector(1) - place(t)).norm());
    const Vec3 rate = (8 * (place(t + h) - place(t - h)) - (place(t + 2 * h) - place(t - 2 * h))) / (12 * h);
    velocity = std::max(velocity, (vector(4) - rate).norm());
  }
  expect_at_most(position, 1e-11, "place - intersection of the circles");
  expect_at_most(velocity, 1e-9, "velocity - its difference");
}

TEST(Kinematics, WhereTheMotionIsImpossibleItStopsAndSaysWhere) {
  // The slider is to go farther than the rod reaches: at t = 1.
  ModelBuilder builder({0, 0, 0});
  builder.body("slider", "point").set("mass", {1}).set("position", {0.6, 0, 0});
  builder.body("bob", "point").set("mass", {1}).set("position", {0, 0.8, 0});
  builder.joint("rail", "point_on_line")
      .set("between", "ground", "slider")
      .set("at", {0.6, 0, 0})
      .set("axis", {1, 0, 0});
  builder.joint("mast", "point_on_line")
      .set("between", "ground", "bob")
      .set("at", {0, 0.8, 0})
      .set("axis", {0, 1, 0});
  builder.joint("rod", "distance").set("between", "slider", "bob").set("points", {0.6, 0, 0, 0, 0.8, 0});
  builder.joint("drive", "prescribed_motion")
      .set("joint", std::string("rail"))
      .set("motion", {0})
      .expression("motion", 0, "0.5*t");
  const System system = make_system(builder.finish());
  SimulateOptions options = default_options(system.model().description());
  options.end = 2;
  options.step = 0.05;
  const Result result = kinematics(system, options);
  EXPECT_FALSE(result.summary.completed);
  fmt::print("  {}\n", result.summary.failure);
  expect_between(result.summary.end, 0.7, 0.8, "last time reached; the rod is straight at t = 0.8");
  EXPECT_THAT(result.summary.failure, testing::HasSubstr("joints."));
}

}  // namespace
}  // namespace liedyn
