// A run that explodes fails where it does, and a run that is merely coarse does not.
#include "liedyn/integrators/motion_guard.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

// A rotor in two gimbals, pulled down at the inner one.
std::shared_ptr<const Description> gyroscope(double spin) {
  ModelBuilder builder({0, 0, 0});
  const auto body = [&](const char* name, double mass, const Vec3& inertia, double omega) {
    builder.body(name, "rigid")
        .set("mass", {mass})
        .set("inertia", inertia)
        .set("angular_velocity", {0, omega, 0});
  };
  body("outer", 0.3, {1e-3, 1e-3, 6e-4}, 0);
  body("inner", 0.2, {5e-4, 5e-4, 8e-4}, 0);
  body("rotor", 1, {1e-3, 1.8e-3, 1e-3}, spin);
  const auto hinge = [&](const char* name, const char* first, const char* second, const Vec3& axis) {
    builder.joint(name, "revolute").set("between", first, second).set("at", {0, 0, 0}).set("axis", axis);
  };
  hinge("vertical", "ground", "outer", Vec3::UnitZ());
  hinge("horizontal", "outer", "inner", Vec3::UnitX());
  hinge("axle", "inner", "rotor", Vec3::UnitY());
  builder.force("weight", "force")
      .set("on", std::string("inner"))
      .set("force", {0, 0, -5})
      .set("at", {0, 0.1, 0});
  return builder.finish();
}

// Two masses on a stiff spring beside a soft one, in free fall.
std::shared_ptr<const Description> stiff_spring() {
  ModelBuilder builder;
  for (const char* name : {"left", "right"})
    builder.body(name, "point").set("mass", {1}).set("position", {name[0] == 'l' ? -1.0 : 1.0, 0, 0});
  builder.force("spring", "spring_damper")
      .set("between", "left", "right")
      .set("points", {-1, 0, 0, 1, 0, 0})
      .set("stiffness", {1e6})
      .set("free_length", {1.999});
  return builder.finish();
}

struct Outcome {
  DriveReport report;
  State state;
  double energy = 0;
};

Outcome run(const std::shared_ptr<const Description>& description, const std::string& formulation,
            const std::string& method, double end, double step) {
  const System system(Model::compile(description, formulation), Params(description));
  const std::unique_ptr<Integrator> integrator = make_integrator(system, method);
  Work initial(system), work(system, "auto", integrator->form());
  Outcome out;
  out.state = consistent_state(system, 0, InitialPolicy::Check, initial);
  out.report =
      drive(*integrator, system, {end, step}, out.state, work, [](const State&, long) { return true; });
  const Energy energy = system.energy(out.state, work);
  out.energy = energy.kinetic + energy.potential;
  fmt::print("{} on {}, h = {:g}: t = {:.4g}, E = {:.6g} J {}\n", method, formulation, step, out.state.t,
             out.energy, out.report.failure);
  return out;
}

constexpr double kSpinEnergy = 225;  // 1.8e-3 500^2 / 2 J

TEST(MotionGuard, StopsAGyroscopeThatExplodes) {
  // At 4e-4 Newton's method fails before the guard stops the run, or just does not.
  const Outcome out = run(gyroscope(500), "r3so3", "generalized-alpha,rho=0.9", 1, 4.1e-4);
  EXPECT_FALSE(out.report.completed);
  EXPECT_THAT(out.report.failure, testing::HasSubstr("limit of stability"));
  EXPECT_GT(out.state.t, 0.05);
  EXPECT_LT(out.state.t, 0.2);
  EXPECT_LT(out.energy, 1e5 * kSpinEnergy);
}

TEST(MotionGuard, LeavesAloneWhatHolds) {
  for (const auto& [formulation, method] : {std::pair("r3so3-spatial", "generalized-alpha,rho=0.9"),
                                            std::pair("r3so3", "generalized-alpha,rho=0.8"),
                                            std::pair("r3so3", "generalized-alpha,rho=0.9,index=2"),
                                            std::pair("minimal", "generalized-alpha,rho=0.9")}) {
    const Outcome out = run(gyroscope(500), formulation, method, 1, 4e-4);
    EXPECT_TRUE(out.report.completed) << out.report.failure;
    EXPECT_NEAR(out.energy, kSpinEnergy, 0.01 * kSpinEnergy);
  }
}

// omega = sqrt(2e6) rad/s: rk44 is stable up to h omega = 2.83, h = 2e-3. Growth is slow just above it.
TEST(MotionGuard, StopsASpringBeyondTheLimitOfStability) {
  const Outcome beyond = run(stiff_spring(), "r3so3", "rk44", 40, 2.01e-3);
  EXPECT_FALSE(beyond.report.completed);
  EXPECT_THAT(beyond.report.failure, testing::HasSubstr("energy grew"));
  const Outcome within = run(stiff_spring(), "r3so3", "rk44", 4, 1.5e-3);
  EXPECT_TRUE(within.report.completed) << within.report.failure;
}

// Numerical damping takes the energy of vibrations that the step cannot resolve; nothing is wrong with that.
TEST(MotionGuard, LeavesUnresolvedVibrationsAlone) {
  for (const char* method : {"generalized-alpha,rho=0.6", "lms2", "esdirk4-6"}) {
    const Outcome out = run(stiff_spring(), "r3so3", method, 4, 1e-2);
    EXPECT_TRUE(out.report.completed) << out.report.failure;
  }
}

// A body that tumbles freely, in Euler parameters with 0.2 rad per step: the method feeds and damps it, and nothing explodes.
TEST(MotionGuard, WarnsOfEnergyThatNoForceGivesOrTakes) {
  ModelBuilder builder({0, 0, 0});
  builder.body("body", "rigid")
      .set("mass", {1})
      .set("inertia", {1, 2, 2.5})
      .set("angular_velocity", {0.01, 10, 0.01});
  const auto description = builder.finish();
  const auto says = [](const DriveReport& report) {
    return std::count_if(report.warnings.begin(), report.warnings.end(), [](const std::string& warning) {
      return warning.find("the energy has") != std::string::npos;
    });
  };
  EXPECT_EQ(says(run(description, "euler-parameters", "generalized-alpha,rho=0.9", 20, 2e-2).report), 1);
  EXPECT_EQ(says(run(description, "r3so3", "generalized-alpha,rho=0.9", 20, 2e-2).report), 0);
  EXPECT_EQ(says(run(description, "euler-parameters", "generalized-alpha,rho=0.9", 20, 1e-3).report), 0);

  // A damper takes the energy of a pendulum, and a spring gives it back.
  for (const double damping : {0.0, 3.0}) {
    ModelBuilder swing;
    swing.body("body", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {1, 0, 0});
    swing.joint("hinge", "revolute")
        .set("between", "ground", "body")
        .set("at", {0, 0, 0})
        .set("axis", {0, 1, 0});
    swing.force("damper", "joint_spring")
        .set("joint", std::string("hinge"))
        .set("stiffness", {1})
        .set("damping", {damping});
    const auto pendulum = swing.finish();
    for (const char* method : {"generalized-alpha,rho=0.6", "lms2", "dopri5"})
      EXPECT_EQ(says(run(pendulum, "r3so3", method, 20, 1e-2).report), 0) << method << ", " << damping;
  }
}

// Two hinges that turn about axes at right angles: with constraints at velocity level only, positions drift by an error of each step.
TEST(MotionGuard, WarnsOfPositionsThatDrift) {
  const auto description = gyroscope(100);
  const auto drift = [](const DriveReport& report) {
    return std::count_if(report.warnings.begin(), report.warnings.end(), [](const std::string& warning) {
      return warning.find("positions drift from the constraints") != std::string::npos;
    });
  };
  const Outcome coarse = run(description, "r3so3", "generalized-alpha,rho=0.6,index=2", 1, 2e-3);
  EXPECT_TRUE(coarse.report.completed) << coarse.report.failure;
  EXPECT_EQ(drift(coarse.report), 1);
  EXPECT_EQ(drift(run(description, "r3so3", "generalized-alpha,rho=0.6,index=2", 0.1, 1e-5).report), 0);
  for (const char* method :
       {"generalized-alpha,rho=0.6", "generalized-alpha,rho=0.6,index=stabilized", "lms2", "esdirk4-6"})
    EXPECT_EQ(drift(run(description, "r3so3", method, 1, 2e-3).report), 0) << method;
}

// A drive that accelerates from rest: there is no kinetic energy before the first step, and single-step methods miss a part of the velocity in it.
TEST(MotionGuard, LeavesAloneWhatADriveBeginsToMove) {
  ModelBuilder builder({0, 0, 0});
  builder.body("arm", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {1, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.joint("motor", "prescribed_motion")
      .set("joint", std::string("hinge"))
      .set("motion", {0})
      .expression("motion", 0, "50*t^2");
  const auto description = builder.finish();
  for (const char* method : {"ss2,rho=0", "ss4,rho=0", "lms2,rho=0", "generalized-alpha,rho=0.6"}) {
    const Outcome out = run(description, "r3so3", method, 0.2, 1e-3);
    EXPECT_TRUE(out.report.completed) << out.report.failure;
    EXPECT_NEAR(out.energy, 0.55 * 20 * 20, 0.5);  // (m L^2 + J) (100 t)^2 / 2
  }
}

}  // namespace
}  // namespace liedyn
