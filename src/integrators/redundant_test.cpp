// Mechanisms with redundant constraints move as those without, in every index form and with every family of methods.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "liedyn/base/decompositions.h"
#include "liedyn/integrators/testing.h"
#include "liedyn/system/redundancy.h"

namespace liedyn {
namespace {

const Vec3 kX = Vec3::UnitX(), kY = Vec3::UnitY(), kZ = Vec3::UnitZ();

struct FourBar {
  Vec3 B{0, 0.12, 0}, C{0.24, 0.2, 0}, D{0.24, 0, 0};
  bool redundant = true;  // hinges everywhere; otherwise C only holds the place in the plane
  double speed = 10;
};

std::shared_ptr<const Description> four_bar(const FourBar& f) {
  ModelBuilder builder({0, -9.81, 0});
  // Velocities of the plane: the ends of the coupler move across crank and rocker.
  const auto across = [](const Vec3& v) { return Vec3(-v.y(), v.x(), 0); };
  Eigen::Matrix2d A;
  A << across(f.C - f.B).head<2>(), -across(f.C - f.D).head<2>();
  const Eigen::Vector2d turn = -A.inverse() * f.speed * across(f.B).head<2>();
  const auto bar = [&](const char* name, const Vec3& from, const Vec3& to, const Vec3& velocity,
                       double omega) {
    const double m = (to - from).norm();
    builder.body(name, "rigid")
        .set("mass", {m})
        .set("inertia", {1e-3 * m, m * m * m / 12, m * m * m / 12})
        .set("position", Vec3((from + to) / 2))
        .set("orientation", {0, 0, std::atan2(to.y() - from.y(), to.x() - from.x())})
        .set("velocity", Vec3(velocity + omega * across(to - from) / 2))
        .set("angular_velocity", {0, 0, omega});
  };
  bar("crank", Vec3::Zero(), f.B, Vec3::Zero(), f.speed);
  bar("coupler", f.B, f.C, f.speed * across(f.B), turn[0]);
  bar("rocker", f.D, f.C, Vec3::Zero(), turn[1]);
  const auto hinge = [&](const char* name, const char* first, const char* second, const Vec3& at) {
    builder.joint(name, "revolute").set("between", first, second).set("at", at).set("axis", kZ);
  };
  hinge("A", "ground", "crank", Vec3::Zero());
  hinge("B", "crank", "coupler", f.B);
  if (f.redundant)
    hinge("C", "coupler", "rocker", f.C);
  else
    builder.joint("C", "point_on_line").set("between", "coupler", "rocker").set("at", f.C).set("axis", kZ);
  hinge("D", "ground", "rocker", f.D);
  builder.sensor("place", "position").set("of", std::string("coupler")).set("at", f.C);
  builder.sensor("speed", "joint_angle_rate").set("of", std::string("A"));
  builder.sensor("force_A", "reaction_force").set("of", std::string("A"));
  builder.sensor("force_D", "reaction_force").set("of", std::string("D"));
  builder.sensor("torque_A", "reaction_torque").set("of", std::string("A"));
  return builder.finish();
}

const std::vector<std::string> kImplicitMethods = {"generalized-alpha,index=3",
                                                   "generalized-alpha,index=2",
                                                   "generalized-alpha,index=stabilized",
                                                   "generalized-alpha,index=3,newton=modified",
                                                   "generalized-alpha,index=3,sigma=opt",
                                                   "generalized-alpha,index=3,form=linear",
                                                   "lms2",
                                                   "lms3,index=2",
                                                   "ss2",
                                                   "ss3,index=2",
                                                   "bathe",
                                                   "msstc3,index=2",
                                                   "mssth3",
                                                   "esdirk3-4",
                                                   "esdirk4-6,index=2",
                                                   "rk44",
                                                   "ode23,adaptive=true,rtol=1e-9,atol=1e-9",
                                                   "dopri5,adaptive=true,rtol=1e-9,atol=1e-9",
                                                   "rk67"};

TEST(RedundantFourBar, MovesAsTheOneWithoutRedundantRows) {
  for (const std::string& method : kImplicitMethods)
    for (const std::string formulation : {"r3so3", "se3", "euler-parameters"}) {
      if (method.find("form=linear") != std::string::npos && formulation != "r3so3") continue;
      const WholeRun redundant(make_system(four_bar({}), formulation), method, 0.5, 2e-3);
      const WholeRun independent(make_system(four_bar({.redundant = false}), formulation), method, 0.5, 2e-3);
      const std::string name = fmt::format("{}, {}: ", method, formulation);
      EXPECT_EQ(redundant.state.redundant.size(), 3u) << name;
      EXPECT_EQ(independent.state.redundant.size(), 0u) << name;
      EXPECT_TRUE(redundant.report.warnings.empty()) << name;
      const auto differ = [&](int first, int count) {
        return (as_vector(redundant.sensors).segment(first, count) -
                as_vector(independent.sensors).segment(first, count))
            .norm();
      };
      // Up to what Newton's tolerance of 1e-8 leaves. In index 2 the positions drift off the constraints, differently where other rows are imposed.
      const bool drifts = method.find("index=2") != std::string::npos;
      expect_at_most(differ(0, 3), drifts ? 1e-4 : 5e-8, name + "place of C");
      expect_at_most(differ(3, 1), drifts ? 1e-2 : 1e-5, name + "speed of the crank");
      // Forces in the plane are determined; the others are zero in the symmetric mechanism.
      expect_at_most(differ(4, 6), drifts ? 1e-2 : 1e-4, name + "forces");
      expect_at_most(as_vector(redundant.sensors).segment(10, 2).norm(), 1e-8, name + "torques that tilt");
    }
}

TEST(RedundantFourBar, HasMultipliersOfLeastNormThatBalanceTheMotion) {
  // Gravity across the plane of the mechanism loads the hinges along and about axes in the plane.
  for (const std::string method :
       {"generalized-alpha,index=3", "generalized-alpha,index=stabilized", "lms2", "rk44"}) {
    ModelBuilder builder({1, -9.81, 4});
    for (const char* name : {"left", "right", "beam"})
      builder.body(name, "rigid")
          .set("mass", {1})
          .set("inertia", {0.1, 0.2, 0.3})
          .set("position", std::string(name) == "left"    ? Vec3(0, 0.5, 0)
                           : std::string(name) == "right" ? Vec3(1.2, 0.5, 0)
                                                          : Vec3(0.6, 1, 0));
    const auto hinge = [&](const char* name, const char* first, const char* second, const Vec3& at) {
      builder.joint(name, "revolute").set("between", first, second).set("at", at).set("axis", kZ);
    };
    hinge("a", "ground", "left", {0, 0, 0});
    hinge("b", "left", "beam", {0, 1, 0});
    hinge("c", "beam", "right", {1.2, 1, 0});
    hinge("d", "right", "ground", {1.2, 0, 0});
    const System system = make_system(builder.finish());
    WholeRun run(system, method, 0.3, 1e-3);
    ASSERT_EQ(run.state.redundant.size(), 3u);
    // The length that compares torques with forces is that of the start.
    Work work(system);
    const ConstraintScales scales =
        constraint_scales(system, consistent_state(system, 0, InitialPolicy::Check, work), work);
    const Eigen::MatrixXd transposed(scaled_constraints(system, run.state, scales, work));
    const Eigen::JacobiSVD<Eigen::MatrixXd> svd(transposed, Eigen::ComputeFullV);
    const Eigen::MatrixXd null = svd.matrixV().rightCols(3);
    const Eigen::VectorXd forces = as_vector(run.state.lambda).cwiseQuotient(as_vector(scales.row));
    expect_at_most((transposed * null).norm(), 1e-9, method + ": the null space");
    expect_at_most((null.transpose() * forces).norm() / forces.norm(), 1e-8,
                   method + ": part of lambda in the null space");
    // B^T lambda is what it was: equilibrium holds.
    system.residual(run.state, work, {false, false, false});
    expect_at_most(as_vector(work.r).cwiseAbs().maxCoeff(), 1e-5, method + ": equilibrium");
  }
}

TEST(Door, HangsOnBothHingesAlikeInEveryFormulation) {
  // The weight of a door on two hinges along one vertical line, half on each, and a couple of forces that keeps it from tilting.
  for (const std::string& formulation : formulations()) {
    ModelBuilder builder({0, 0, -9.81});
    builder.body("door", "rigid").set("mass", {10}).set("inertia", {1, 2, 3}).set("position", {0.4, 0, 1});
    const auto hinge = [&](const char* name, double height) {
      builder.joint(name, "revolute")
          .set("between", "ground", "door")
          .set("at", {0, 0, height})
          .set("axis", kZ);
      builder.sensor(std::string("force_") + name, "reaction_force").set("of", std::string(name));
      builder.sensor(std::string("torque_") + name, "reaction_torque").set("of", std::string(name));
    };
    hinge("low", 0.2);
    hinge("high", 1.8);
    const System system = make_system(builder.finish(), formulation);
    const WholeRun run(system, "generalized-alpha", 0.1, 1e-2);
    const Eigen::VectorXd s = as_vector(run.sensors);
    // Forces F and torques T of each hinge: 2 T + 1.6 F = 10 g 0.4 about y with the least F^2 + (T/L)^2, so that F = 1.6 T / (2 L^2).
    Work work(system);
    State start = consistent_state(system, 0, InitialPolicy::Check, work);
    const double L = constraint_scales(system, start, work).length;
    const double T = 10 * 9.81 * 0.4 / (2 + 1.6 * 0.8 / (L * L)), F = 0.8 * T / (L * L);
    Eigen::VectorXd expected = Eigen::VectorXd::Zero(12);
    expected[2] = expected[8] = 10 * 9.81 / 2;
    expected[0] = F, expected[6] = -F;
    expected[4] = expected[10] = -T;
    expect_at_most((s - expected).cwiseAbs().maxCoeff(), 1e-7, formulation + ": reactions of the hinges");
  }
}

TEST(Parallelogram, HasEqualReactionsAndSingularPlacesWithNames) {
  const FourBar f{.C = {0.24, 0.12, 0}};
  const System system = make_system(four_bar(f));
  for (const std::string method : {"generalized-alpha,index=3", "generalized-alpha,index=2",
                                   "generalized-alpha,index=stabilized", "esdirk3-4", "rk44", "rk67"}) {
    double unequal = 0;
    std::vector<double> times, angles;
    const auto observe = [&](const State& state, Work& work) {
      const std::vector<double> s = sensed(system, state, work);
      const Eigen::Map<const Vec3> A(&s[4]), D(&s[7]);
      times.push_back(state.t);
      angles.push_back(std::atan2(s[1], s[0] - 0.24));
      // Apart from the singular places, where forces along the line are anything.
      if (std::abs(std::sin(angles.back())) > 0.3) unequal = std::max(unequal, (A - D).norm() / A.norm());
    };
    const WholeRun run(system, method, 0.6, 1e-3, observe);
    expect_at_most(unequal, 2e-3, method + ": difference of the reactions at A and D");
    // Crank and coupler in one line: sin(angle) changes its sign.
    std::vector<double> expected;
    for (std::size_t i = 1; i < times.size(); ++i) {
      const double a = std::sin(angles[i - 1]), b = std::sin(angles[i]);
      if (a * b < 0) expected.push_back(times[i - 1] + 1e-3 * a / (a - b));
    }
    ASSERT_EQ(run.report.warnings.size(), expected.size()) << method;
    EXPECT_GE(expected.size(), 3u);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const std::string& text = run.report.warnings[i];
      expect_at_most(std::abs(std::stod(text.substr(4)) - expected[i]), 1e-4,
                     method + ": time in '" + text + "'");
      EXPECT_THAT(
          text,
          testing::ContainsRegex(
              "singular configuration: joints.A: position x, joints.B: position x, joints.C: position x, "
              "joints.D: position x become redundant"));
    }
  }
}

TEST(Parallelogram, ThatIsNoneHasNoSingularPlaces) {
  const FourBar f{
      .C = {0.24, 0.125, 0}};  // the crank still turns fully: 0.12 + 0.24 = 0.36 < 0.125 + 0.24005
  const WholeRun run(make_system(four_bar(f)), "generalized-alpha", 0.5, 1e-3);
  EXPECT_TRUE(run.report.warnings.empty()) << run.report.warnings.front();
}

TEST(SingularPlaces, AreNamedForStepsThatFailThere) {
  const System system = make_system(four_bar({.C = {0.24, 0.12, 0}}));
  WholeRun run(system, "generalized-alpha", 0.1255, 5e-4);  // change point at 0.1268
  Work work(system);
  ConstraintWatch watch(system, run.state, work);
  EXPECT_THAT(watch.singularity_near(run.state, 5e-4),
              testing::ContainsRegex("a singular configuration at about t = 0.12[67].*joints.A: position x"));
  WholeRun away(system, "generalized-alpha", 0.05, 5e-4);
  ConstraintWatch other(system, away.state, work);
  EXPECT_EQ(other.singularity_near(away.state, 5e-4), "");
}

std::shared_ptr<const Description> bricard() {
  ModelBuilder builder({0, -9.81, 0});
  const double J_long = 0.01 / 6, J = 1.01 / 12;
  const Vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
  const Vec3 axes[] = {kY, kZ, kX, kY, kZ, kX};
  const auto rod = [](int i) { return i == 0 || i == 6 ? std::string("ground") : fmt::format("rod{}", i); };
  for (int i = 1; i <= 5; ++i) {
    const Vec3 along = points[i] - points[i - 1];
    builder.body(rod(i), "rigid")
        .set("mass", {1})
        .set("inertia", Vec3(Vec3::Constant(J) + (J_long - J) * along.cwiseAbs()))
        .set("position", Vec3((points[i] + points[i - 1]) / 2));
  }
  for (int i = 0; i < 6; ++i)
    builder.joint(fmt::format("P{}", i + 1), "revolute")
        .set("between", rod(i), rod(i + 1))
        .set("at", points[i])
        .set("axis", axes[i]);
  builder.sensor("P3", "position").set("of", std::string("rod2")).set("at", points[2]);
  builder.sensor("energy", "energy");
  return builder.finish();
}

TEST(Bricard, MeetsTheReferenceInEveryIndexForm) {
  // One coordinate along the curve of admissible joint angles, kinetic and potential energy from the chain of rods, Runge-Kutta
  // method of order 8 at tolerance 1e-10.
  const Vec3 known(-0.778135372923, -0.980352683426, -0.197252670703);
  for (const std::string method : {"generalized-alpha,index=3", "generalized-alpha,index=2",
                                   "generalized-alpha,index=stabilized", "lms2", "ss2,index=2", "bathe"})
    for (const std::string formulation : {"r3so3", "se3"}) {
      const System system = make_system(bricard(), formulation);
      const auto at = [&](double h) {
        const WholeRun run(system, method, 2, h);
        EXPECT_EQ(run.state.redundant.size(), 1u);
        EXPECT_TRUE(run.report.warnings.empty()) << run.report.warnings.front();
        return run.sensors;
      };
      const std::vector<double> coarse = at(2e-3), fine = at(1e-3);
      const std::string name = fmt::format("{}, {}: ", method, formulation);
      const Eigen::VectorXd best = extrapolated(coarse, fine);
      expect_at_most((best.head<3>() - known).norm(), 1e-7, name + "P3");
      expect_at_most(std::abs(best[3] + 3 * 9.81), 1e-6, name + "energy");
      expect_between(order_of({(as_vector(coarse).head<3>() - known).norm(),
                               (as_vector(fine).head<3>() - known).norm()}),
                     1.8, 2.2, name + "order");
    }
}

TEST(Redundancy, AllocatesNothingStepByStep) {
  const auto allocations = [](double end) {
    return WholeRun(make_system(four_bar({})), "generalized-alpha", end, 1e-3).report.allocations;
  };
  // A few arrays get their size in the first step.
  EXPECT_EQ(allocations(0.2), allocations(0.1));
}

}  // namespace
}  // namespace liedyn
