// Power of drives, and work: against energies and closed forms, with the order of its error; it does not depend on when it is looked at.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "liedyn/analyses/kinematics.h"
#include "liedyn/analyses/operating_point.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/analyses/state_space.h"
#include "liedyn/model/record_all.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

Result run_with_work(const System& system, double end, double step, const std::string& integrator,
                     long every = 1, double start = 0) {
  SimulateOptions options;
  options.start = start;
  options.end = end;
  options.step = step;
  options.integrator = integrator;
  options.output_every = every;
  Result result = simulate(system, options);
  EXPECT_TRUE(result.summary.completed) << result.summary.failure;
  return result;
}
double shown(const Trajectory& t, const std::string& name, std::size_t row, int component = 0) {
  for (const Channel& channel : t.channels)
    if (channel.name == name) return t.at(row, channel.first + component);
  ADD_FAILURE() << "no channel " << name;
  return 0;
}
double last(const Result& r, const std::string& name, int component = 0) {
  return shown(r.trajectory, name, r.trajectory.rows() - 1, component);
}
double gained(const Result& r, const std::string& name) {
  return last(r, name) - shown(r.trajectory, name, 0);
}

// Errors at a step and at its half, and the order that they show.
template <class Error>
void expect_order(const std::string& what, double step, double bound, double least, const Error& error) {
  const double coarse = error(step), fine = error(step / 2);
  const double order = std::log2(coarse / fine);
  fmt::print("  {:<58} {:.2e}, {:.2e}: order {:.2f}\n", what, coarse, fine, order);
  EXPECT_LE(fine, bound) << what;
  EXPECT_GE(order, least) << what;
}

// A mass on a spring and a damper that do not share a line, thrown across: the work of a spring is the energy it lost.
std::shared_ptr<const Description> sprung_mass(double k, double c) {
  ModelBuilder b({0, 0, 0});
  b.body("mass", "point").set("mass", {1.5}).set("position", {1, 0, 0}).set("velocity", {0.2, 1.1, -0.3});
  b.force("spring", "spring_damper")
      .set("between", "ground", "mass")
      .set("points", {0, 0, 0, 1, 0, 0})
      .set("stiffness", {k})
      .set("free_length", {0.8});
  b.force("damper", "spring_damper")
      .set("between", "ground", "mass")
      .set("points", {0, 2, 0, 1, 0, 0})
      .set("damping", {c});
  b.sensor("d", "distance").set("between", "ground", "mass").set("points", {0, 0, 0, 1, 0, 0});
  b.sensor("spring_work", "work").set("of", std::string("spring"));
  b.sensor("damper_work", "work").set("of", std::string("damper"));
  b.sensor("energy", "energy");
  b.sensor("kinetic", "energy").set("part", std::string("kinetic"));
  b.sensor("sum", "expression").set("value", std::string("spring_work + damper_work"));
  return b.finish();
}

TEST(Work, OfASpringIsTheEnergyThatItLost) {
  const double k = 40;
  const System system = make_system(sprung_mass(k, 0.7));
  struct Method {
    const char* name;
    double step, bound, order;
  };
  for (const auto& [name, step, bound, order] :
       {Method{"rk44", 5e-3, 1e-7, 3.8}, Method{"dopri5", 2e-2, 1e-7, 3.8}, Method{"rk67", 2e-2, 1e-7, 3.8},
        Method{"esdirk4-6", 2e-2, 1e-6, 3.7}, Method{"mssth4", 2e-2, 1e-6, 3.7},
        Method{"generalized-alpha", 4e-3, 1e-3, 1.9}}) {
    const auto stored = [&](double d) { return 0.5 * k * (d - 0.8) * (d - 0.8); };
    expect_order(std::string(name) + ": work of the spring", step, bound, order, [&](double h) {
      const Result r = run_with_work(system, 1, h, name);
      return std::abs(last(r, "spring_work") - stored(1) + stored(last(r, "d")));
    });
    expect_order(std::string(name) + ": work of the damper", step, bound, order, [&](double h) {
      const Result r = run_with_work(system, 1, h, name);
      return std::abs(last(r, "damper_work") - gained(r, "energy"));
    });
    const Result r = run_with_work(system, 1, step, name);
    EXPECT_NEAR(last(r, "sum"), last(r, "spring_work") + last(r, "damper_work"), 1e-12);
    EXPECT_EQ(shown(r.trajectory, "sum", 0), 0);
  }
}

// The rotor of a motor is part of the energy, so that its power goes to it as well.
TEST(Work, OfAMotorGoesToItsRotorToo) {
  for (const double inductance : {0.0, 0.02})
    for (const double rotor : {0.0, 2e-3}) {
      ModelBuilder b({0, -9.81, 0});
      b.body("arm", "rigid")
          .set("mass", {1.2})
          .set("inertia", {0.02, 0.02, 0.02})
          .set("position", {0.2, 0, 0});
      b.joint("hinge", "revolute")
          .set("between", "ground", "arm")
          .set("at", {0, 0, 0})
          .set("axis", {0, 0, 1});
      b.force("motor", "dc_motor")
          .set("joint", std::string("hinge"))
          .set("voltage", {12})
          .set("resistance", {2})
          .set("inductance", {inductance})
          .set("torque_constant", {0.1})
          .set("gear_ratio", {6})
          .set("rotor_inertia", {rotor})
          .set("damping", {1e-3});
      b.sensor("work", "work").set("of", std::string("motor"));
      b.sensor("power", "power").set("of", std::string("motor"));
      b.sensor("energy", "energy");
      const System system = make_system(b.finish());
      const Result r = run_with_work(system, 0.5, 1e-3, "rk67");
      const double energy = gained(r, "energy");
      EXPECT_GT(energy, 0.1);
      expect_at_most(std::abs(last(r, "work") - energy) / energy, 1e-9,
                     fmt::format("inductance {}, rotor {}: work - energy, relative", inductance, rotor));
    }
}

// F.(x - x_0) of a body that spins: exact where methods are exact on parabolas, which in SE(3) they are not.
TEST(Work, OfAConstantForceIsForceTimesDistance) {
  const Vec3 F(2, -1, 3), g(0, 0, -9.81);
  ModelBuilder b({0, 0, -9.81});
  b.body("ball", "rigid")
      .set("mass", {2})
      .set("inertia", {0.1, 0.2, 0.3})
      .set("velocity", {1, 2, 3})
      .set("angular_velocity", {1, -2, 4});
  b.force("push", "force").set("on", std::string("ball")).set("force", F);
  b.sensor("work", "work").set("of", std::string("push"));
  const auto description = b.finish();
  const double t = 0.7;
  const Vec3 x = Vec3(1, 2, 3) * t + 0.5 * t * t * (g + F / 2);
  for (const std::string formulation : {"r3so3", "minimal"})
    for (const std::string integrator : {"rk44", "dopri5,adaptive=true", "esdirk4-6", "lms2"})
      expect_at_most(
          std::abs(last(run_with_work(make_system(description, formulation), t, 1e-2, integrator), "work") -
                   F.dot(x)),
          1e-9, fmt::format("{}, {}: W - F.x", formulation, integrator));
}

// An arm that a drive swings, theta = 0.8 sin(3 t), and a second one that hangs on it: the drive puts in what the energy gains.
std::shared_ptr<const Description> driven_arms(bool second, const char* type = "prescribed_motion") {
  ModelBuilder b({0, -9.81, 0});
  b.body("arm", "rigid").set("mass", {2}).set("inertia", {0.1, 0.2, 0.3}).set("position", {0.5, 0, 0});
  b.consistent("velocity").consistent("angular_velocity");
  b.joint("hinge", "revolute").set("between", "ground", "arm").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
  const bool motion = std::string(type) == "prescribed_motion";
  b.joint("motor", type).set("joint", std::string("hinge")).set(motion ? "motion" : "velocity", {0.0});
  b.expression(motion ? "motion" : "velocity", 0, motion ? "0.8*sin(3*t)" : "2.4*cos(3*t)");
  if (second) {
    b.body("fore", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {1.3, 0, 0});
    b.consistent("velocity").consistent("angular_velocity");
    b.joint("elbow", "revolute").set("between", "arm", "fore").set("at", {1, 0, 0}).set("axis", {0, 0, 1});
  }
  b.sensor("power", "power").set("of", std::string("motor"));
  b.sensor("work", "work").set("of", std::string("motor"));
  b.sensor("hinge_work", "work").set("of", std::string("hinge"));
  b.sensor("torque", "reaction_torque").set("of", std::string("motor"));
  b.sensor("rate", "joint_angle_rate").set("of", std::string("hinge"));
  b.sensor("energy", "energy");
  return b.finish();
}

TEST(Work, OfADriveIsTheEnergyThatItPutsIn) {
  for (const char* type : {"prescribed_motion", "prescribed_velocity"})
    for (const std::string formulation : {"r3so3", "se3", "minimal"}) {
      const System system = make_system(driven_arms(true, type), formulation);
      for (const auto& [name, step, bound, order] : {std::tuple{"dopri5", 1e-2, 1e-7, 3.8},
                                                     {"rk67", 1e-2, 1e-7, 3.8},
                                                     {"generalized-alpha", 5e-3, 1e-3, 1.9}})
        expect_order(fmt::format("{}, {}, {}: W - E", type, formulation, name), step, bound, order,
                     [&](double h) {
                       const Result r = run_with_work(system, 1, h, name);
                       // Power is torque times rate, and other joints do no work.
                       EXPECT_NEAR(last(r, "power"), last(r, "torque", 2) * last(r, "rate"), 1e-9);
                       EXPECT_NEAR(last(r, "hinge_work"), 0, bound);
                       return std::abs(last(r, "work") - gained(r, "energy"));
                     });
    }
}

// The motion is prescribed: J theta'^2/2 + m g l sin(theta) at the end, whatever the method.
TEST(Work, OfADriveHasItsClosedForm) {
  const double end = 0.9, J = 0.3 + 2 * 0.25, theta = 0.8 * std::sin(3 * end), rate = 2.4 * std::cos(3 * end);
  const double W = 0.5 * J * (rate * rate - 2.4 * 2.4) + 2 * 9.81 * 0.5 * std::sin(theta);
  const System system = make_system(driven_arms(false));
  expect_order("dopri5", 2e-2, 1e-7, 3.8,
               [&](double h) { return std::abs(last(run_with_work(system, end, h, "dopri5"), "work") - W); });
  expect_order("kinematics", 2e-2, 1e-7, 3.8, [&](double h) {
    SimulateOptions options;
    options.end = end;
    options.step = h;
    const Result r = kinematics(system, options);
    EXPECT_TRUE(r.summary.completed) << r.summary.failure;
    return std::abs(last(r, "work") - W);
  });
}

// A winch does work on what it lifts; the rope has its own length as a function of time.
TEST(Work, OfAWinchIsTheEnergyOfTheLoad) {
  ModelBuilder b({0, 0, -9.81});
  b.body("load", "point").set("mass", {3}).set("position", {0.3, 0, -2}).consistent("velocity");
  b.joint("rope", "distance").set("between", "ground", "load").set("points", {0, 0, 0, 0.3, 0, -2});
  b.set("length", {0.0}).expression("length", 0, fmt::format("{} - 0.5*t^2", std::hypot(0.3, 2.0)));
  b.sensor("work", "work").set("of", std::string("rope"));
  b.sensor("energy", "energy");
  const System system = make_system(b.finish());
  expect_order("dopri5", 2e-2, 1e-6, 3.7, [&](double h) {
    const Result r = run_with_work(system, 1, h, "dopri5");
    return std::abs(last(r, "work") - gained(r, "energy"));
  });
}

// Dry friction in the bearing, which depends on the reaction of the joint.
TEST(Work, OfFrictionIsTheEnergyLost) {
  ModelBuilder b({0, -9.81, 0});
  b.body("arm", "rigid").set("mass", {2}).set("inertia", {0.1, 0.2, 0.3}).set("position", {0.5, 0, 0});
  b.set("angular_velocity", {0, 0, 4}).consistent("velocity");
  b.joint("hinge", "revolute").set("between", "ground", "arm").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
  b.force("bearing", "joint_friction")
      .set("joint", std::string("hinge"))
      .set("coefficient", {0.3})
      .set("radius", {0.1})
      .set("smoothing", {0.5});
  b.sensor("work", "work").set("of", std::string("bearing"));
  b.sensor("power", "power").set("of", std::string("bearing"));
  b.sensor("energy", "energy");
  const auto description = b.finish();
  for (const std::string formulation : {"r3so3", "minimal"}) {
    const System system = make_system(description, formulation);
    for (const auto& [name, step, bound, order] :
         {std::tuple{"dopri5", 1e-2, 1e-6, 3.6}, {"generalized-alpha", 5e-3, 1e-3, 1.9}})
      expect_order(fmt::format("{}, {}", formulation, name), step, bound, order, [&](double h) {
        const Result r = run_with_work(system, 0.8, h, name);
        EXPECT_LT(last(r, "work"), -0.1);
        EXPECT_LT(last(r, "power"), 0);
        return std::abs(last(r, "work") - gained(r, "energy"));
      });
  }
}

// A ball that bounces: what the contact has done is what kinetic energy and height have gained.
TEST(Work, OfAContactIsTheEnergyThatTheBallGains) {
  ModelBuilder b({0, 0, -9.81});
  b.body("ball", "rigid").set("mass", {1}).set("inertia", {0.01, 0.01, 0.01}).set("position", {0, 0, 0.3});
  b.force("floor", "contact_plane_sphere")
      .set("between", "ground", "ball")
      .set("points", {0, 0, 0, 0, 0, 0.3})
      .set("normal", {0, 0, 1})
      .set("radius", {0.1})
      .set("stiffness", {1e5})
      .set("restitution", {0.7})
      .set("impact_speed", {2});
  b.sensor("work", "work").set("of", std::string("floor"));
  b.sensor("kinetic", "energy").set("part", std::string("kinetic"));
  b.sensor("z", "position").set("of", std::string("ball"));
  const Result r =
      run_with_work(make_system(b.finish()), 0.5, 1e-3, "dopri5,adaptive=true,rtol=1e-8,atol=1e-10");
  const double height = last(r, "z", 2) - 0.3;
  expect_at_most(std::abs(last(r, "work") - gained(r, "kinetic") - 9.81 * height), 1e-5, "W - T - m g z");
  EXPECT_LT(last(r, "work"), -0.5);
}

// The bits of the sum are the same however often it is shown, and it is shown right between steps.
TEST(Work, DoesNotDependOnTheOutput) {
  const System system = make_system(sprung_mass(40, 0.7));
  const auto bits = [](double x) {
    std::uint64_t out = 0;
    std::memcpy(&out, &x, sizeof x);
    return out;
  };
  for (const std::string integrator : {"generalized-alpha", "dopri5", "dopri5,adaptive=true,rtol=1e-7",
                                       "esdirk4-6,adaptive=true,rtol=1e-6"}) {
    const Result all = run_with_work(system, 1, 1e-2, integrator),
                 few = run_with_work(system, 1, 1e-2, integrator, 7),
                 ends = run_with_work(system, 1, 1e-2, integrator, 0);
    for (const char* name : {"spring_work", "damper_work"}) {
      EXPECT_EQ(bits(last(all, name)), bits(last(few, name))) << integrator;
      EXPECT_EQ(bits(last(all, name)), bits(last(ends, name))) << integrator;
    }
    double worst = 0;
    for (std::size_t row = 0; row < all.trajectory.rows(); ++row)
      worst = std::max(
          worst, std::abs(shown(all.trajectory, "damper_work", row) - shown(all.trajectory, "energy", row) +
                          shown(all.trajectory, "energy", 0)));
    expect_at_most(worst, integrator.starts_with("g") ? 2e-3 : 2e-5, integrator + ": at every output");
  }
}

// Jumps of an input, and a start that is not at 0: the sum begins with the run and goes on.
TEST(Work, GoesOnThroughInputsAndBeginsAtTheStart) {
  ModelBuilder b({0, 0, 0});
  b.body("slider", "rigid").set("mass", {2}).set("inertia", {1, 1, 1});
  b.joint("rail", "prismatic").set("between", "ground", "slider").set("at", {0, 0, 0}).set("axis", {1, 0, 0});
  b.force("push", "force").set("on", std::string("slider")).set("force", {1, 0, 0});
  b.sensor("work", "work").set("of", std::string("push"));
  b.sensor("v", "velocity").set("of", std::string("slider"));
  const System system = make_system(b.finish());
  for (const std::string integrator : {"dopri5", "dopri5,adaptive=true", "esdirk4-6"}) {
    SimulateOptions options;
    options.start = 5;
    options.end = 6;
    options.step = 1e-2;
    options.integrator = integrator;
    Simulation simulation(system, options);
    EXPECT_EQ(simulation.sensor("work")[0], 0);
    for (const double force : {3.0, -2.0, 0.5}) {
      simulation.set_input("forces.push.force[0]", force);
      simulation.advance(0.25);
      const double v = simulation.sensor("v")[0];
      EXPECT_NEAR(simulation.sensor("work")[0], v * v, 1e-12) << integrator;  // m v^2/2 with m = 2
    }
  }
}

// A force that jumps at a time that adaptive steps meet spoils nothing.
// A mass on a spring of 1e4 rad/s: with steps of 10 ms its work means nothing, whatever the coordinates.
TEST(Work, WarnsOfStepsThatDoNotResolveIt) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("mass", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  builder.joint("guide", "prismatic")
      .set("between", "ground", "mass")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.force("spring", "joint_spring").set("joint", std::string("guide")).set("stiffness", {1e8});
  builder.sensor("work", "work").set("of", std::string("spring"));
  const std::shared_ptr<const Description> description = builder.finish();
  for (const std::string formulation : {"r3so3", "minimal"})
    for (const double step : {1e-2, 5e-5}) {
      const Result result =
          run_with_work(make_system(description, formulation), 20 * step, step, "generalized-alpha");
      const auto& warnings = result.summary.warnings;
      const bool warned = std::any_of(warnings.begin(), warnings.end(), [](const std::string& text) {
        return text.find("work is unreliable") != std::string::npos;
      });
      EXPECT_EQ(warned, step > 1e-3) << formulation << ", step " << step;
    }
}

TEST(Work, OfAForceThatJumps) {
  ModelBuilder b({0, 0, 0});
  b.body("mass", "point").set("mass", {2}).set("velocity", {1, 0, 0});
  b.force("push", "force").set("on", std::string("mass")).set("force", {0, 0, 0});
  b.expression("force", 0, "where(t < 0.3, 1, -4)");
  b.sensor("work", "work").set("of", std::string("push"));
  b.sensor("energy", "energy");
  const Result r = run_with_work(make_system(b.finish()), 1, 1e-2, "dopri5,adaptive=true,rtol=1e-8");
  expect_at_most(std::abs(last(r, "work") - gained(r, "energy")), 1e-8, "W - E");
}

// It is no function of the state.
TEST(Work, HasNoDerivatives) {
  System system = make_system(sprung_mass(40, 0.7));
  SensitivityOptions options;
  options.simulation.end = 0.1;
  options.simulation.step = 1e-2;
  options.parameters = {"forces.spring.stiffness"};
  const Sensitivity all = sensitivity(system, options);
  EXPECT_EQ(all.outputs, (std::vector<std::string>{"d", "energy", "kinetic"}));
  ASSERT_EQ(all.notes.size(), 1u);
  EXPECT_EQ(all.notes[0],
            "left out spring_work, damper_work, sum: work is a sum over the steps of a run, which has no "
            "derivatives");
  for (const char* name : {"spring_work", "sum@max"}) {
    options.outputs = {name};
    try {
      sensitivity(system, options);
      ADD_FAILURE() << name;
    } catch (const InputError& error) {
      EXPECT_EQ(error.diagnostics().front().message,
                "work is a sum over the steps of a run, which has no derivatives");
      EXPECT_NE(error.diagnostics().front().hint.find("@integral"), std::string::npos);
    }
  }
  SimulateOptions start;
  const State state = operating_point(system, "initial", start);
  EXPECT_EQ(state_space(system, state, {}).outputs, (std::vector<std::string>{"d", "energy", "kinetic"}));
  StateSpaceOptions wanted;
  wanted.outputs = {"sum"};
  EXPECT_THROW(state_space(system, state, wanted), InputError);
}

TEST(Work, OfWhatIsNeitherForceNorJointIsRefused) {
  ModelBuilder b;
  b.body("ball", "point").set("mass", {1});
  b.force("push", "force").set("on", std::string("ball")).set("force", {1, 0, 0});
  b.sensor("work", "work").set("of", std::string("pusch"));
  try {
    b.finish();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().message, "there is no force or joint 'pusch'");
    EXPECT_EQ(error.diagnostics().front().hint, "did you mean 'push'?");
  }
}

// Drives have their power among all that is recorded; joints that do no work have none.
TEST(RecordAll, HasThePowerOfDrives) {
  Description d = *driven_arms(false);
  record_all(d);
  std::vector<std::string> powers;
  for (const Entry& entry : d.entries(Section::Sensors))
    if (entry.name.ends_with(".power")) powers.push_back(entry.name);
  EXPECT_EQ(powers, std::vector<std::string>{"motor.power"});
}

}  // namespace
}  // namespace liedyn
