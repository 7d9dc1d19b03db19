// Functions of robots against closed forms.
#include "liedyn/analyses/robot.h"

#include <gtest/gtest.h>

#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

constexpr double kMass[2] = {2, 1.5}, kInertia[2] = {0.1, 0.07}, kLength = 0.8, kCenter[2] = {0.3, 0.4},
                 kG = 9.81;

// Two links along x in the plane z = 0, hung in gravity along -y. `backwards`: the second joint is from the second link to the first.
System two_links(bool backwards = false) {
  ModelBuilder builder({0, -kG, 0});
  for (int i = 0; i < 2; ++i)
    builder.body(fmt::format("link{}", i + 1), "rigid")
        .set("mass", {kMass[i]})
        .set("inertia", {0.01, kInertia[i], kInertia[i]})
        .set("position", {(i == 0 ? 0 : kLength) + kCenter[i], 0, 0});
  builder.joint("shoulder", "revolute")
      .set("between", "ground", "link1")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.joint("elbow", "revolute")
      .set("between", backwards ? "link2" : "link1", backwards ? "link1" : "link2")
      .set("at", {kLength, 0, 0})
      .set("axis", {0, 0, 1});
  return make_system(builder.finish());
}

TEST(Robot, TwoLinksAsInTheTextbook) {
  Robot robot(two_links());
  EXPECT_EQ(robot.coordinate_names(), (std::vector<std::string>{"shoulder", "elbow"}));
  const double q[2] = {0.4, -0.9}, v[2] = {1.2, 0.7}, a[2] = {-0.5, 0.8};
  const double b = kMass[1] * kLength * kCenter[1];
  const double M22 = kInertia[1] + kMass[1] * kCenter[1] * kCenter[1], M12 = M22 + b * std::cos(q[1]);
  const double M11 = kInertia[0] + kMass[0] * kCenter[0] * kCenter[0] + kMass[1] * kLength * kLength + M22 +
                     2 * b * std::cos(q[1]);
  const double g2 = kMass[1] * kG * kCenter[1] * std::cos(q[0] + q[1]);
  const double g1 = (kMass[0] * kCenter[0] + kMass[1] * kLength) * kG * std::cos(q[0]) + g2;
  const double s = b * std::sin(q[1]);
  const Eigen::Vector2d tau(M11 * a[0] + M12 * a[1] - s * (2 * v[0] * v[1] + v[1] * v[1]) + g1,
                            M12 * a[0] + M22 * a[1] + s * v[0] * v[0] + g2);
  Eigen::Vector2d found, weight, again;
  Eigen::Matrix2d M, expected;
  expected << M11, M12, M12, M22;
  robot.mass_matrix(q, M.data());
  robot.inverse_dynamics(q, v, a, found.data());
  robot.gravity(q, weight.data());
  robot.forward_dynamics(q, v, tau.data(), again.data());
  expect_at_most((M - expected).cwiseAbs().maxCoeff(), 1e-14, "mass matrix");
  expect_at_most((found - tau).cwiseAbs().maxCoeff(), 1e-13, "inverse dynamics");
  expect_at_most((weight - Eigen::Vector2d(g1, g2)).cwiseAbs().maxCoeff(), 1e-13, "gravity");
  expect_at_most((again - Eigen::Map<const Eigen::Vector2d>(a)).cwiseAbs().maxCoeff(), 1e-12,
                 "forward dynamics");
  const Vec3 tip = robot.frame_pose(robot.frame("elbow", {kCenter[1], 0, 0}), q).p;
  const Vec3 textbook(kLength * std::cos(q[0]) + kCenter[1] * std::cos(q[0] + q[1]),
                      kLength * std::sin(q[0]) + kCenter[1] * std::sin(q[0] + q[1]), 0);
  expect_at_most((tip - textbook).norm(), 1e-15, "position");
}

// The coordinate is that of the second body relative to the first, whichever way the tree is.
TEST(Robot, CoordinatesCountAsTheJointSays) {
  Robot forwards(two_links()), backwards(two_links(true));
  const double q[2] = {0.4, -0.9}, v[2] = {1.2, 0.7}, a[2] = {-0.5, 0.8};
  const double q_back[2] = {0.4, 0.9}, v_back[2] = {1.2, -0.7}, a_back[2] = {-0.5, -0.8};
  Eigen::Vector2d tau, tau_back;
  forwards.inverse_dynamics(q, v, a, tau.data());
  backwards.inverse_dynamics(q_back, v_back, a_back, tau_back.data());
  expect_at_most(std::abs(tau[0] - tau_back[0]) + std::abs(tau[1] + tau_back[1]), 1e-13,
                 "generalised forces");
}

// Inner forces do not change the momentum of a free robot.
TEST(Robot, MomentumOfAFreeRobotFollowsItsWeight) {
  Random random(3);
  ModelBuilder builder({0, 0, -kG});
  for (int i = 0; i < 3; ++i)
    builder.body(fmt::format("body{}", i), "rigid")
        .set("mass", {1.0 + i})
        .set("inertia", random.inertia())
        .set("position", random.vector<3>());
  builder.joint("ball", "spherical").set("between", "body0", "body1").set("at", random.vector<3>());
  builder.joint("rail", "prismatic")
      .set("between", "body2", "body0")
      .set("at", random.vector<3>())
      .set("axis", random.vector<3>());
  Robot robot(make_system(builder.finish()));
  ASSERT_EQ(robot.nv(), 6 + 3 + 1);
  ASSERT_EQ(robot.nq(), 7 + 4 + 1);
  // Momentum is P(q) v: at rest its rate is P(q) vdot.
  const std::vector<double> tau(10, 0.0), q = robot.initial_q();
  std::vector<double> rest(10, 0.0), from_rest(10);
  robot.forward_dynamics(q.data(), rest.data(), tau.data(), from_rest.data());
  const Vec6 rate = robot.momentum(q.data(), from_rest.data());
  Vec6 expected = Vec6::Zero();
  expected[2] = -kG * 6;
  expect_at_most((rate - expected).cwiseAbs().maxCoeff(), 1e-12, "rate of momentum at rest");
  expect_at_most(std::abs(robot.mass() - 6), 1e-15, "mass");
}

TEST(Robot, InverseKinematicsStaysWithinLimits) {
  Robot robot(two_links());
  const double wanted[2] = {0.7, -1.1};
  Robot::Target target;
  target.frame = robot.frame("link2");
  target.position = robot.frame_pose(target.frame, wanted).p;
  for (const double sign : {-1.0, 1.0}) {
    // One of the two solutions, elbow up or down, is within the limits.
    Robot::InverseKinematics options;
    options.lower = {-3, sign < 0 ? -3 : 0.1};
    options.upper = {3, sign < 0 ? -0.1 : 3};
    const Robot::Solution found = robot.inverse_kinematics({target}, nullptr, options);
    EXPECT_TRUE(found.converged);
    EXPECT_GT(sign * found.q[1], 0);
    expect_at_most((robot.frame_pose(target.frame, found.q.data()).p - target.position).norm(), 1e-9,
                   "distance");
  }
  target.position = {5, 0, 0};
  EXPECT_FALSE(robot.inverse_kinematics({target}, nullptr, {}).converged);
}

TEST(Robot, RefusesWhatIsNoTree) {
  ModelBuilder builder;
  for (const char* name : {"first", "second"})
    builder.body(name, "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  const Vec3 axis(0, 0, 1);
  builder.joint("a", "revolute").set("between", "ground", "first").set("at", {0, 0, 0}).set("axis", axis);
  builder.joint("b", "revolute").set("between", "first", "second").set("at", {1, 0, 0}).set("axis", axis);
  builder.joint("c", "revolute").set("between", "second", "ground").set("at", {2, 0, 0}).set("axis", axis);
  const System system = make_system(builder.finish());
  try {
    Robot robot(system);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("form a tree"), std::string::npos) << error.what();
  }
  EXPECT_THROW(Robot(two_links()).frame("elbwo"), InputError);
}

}  // namespace
}  // namespace liedyn
