// Bodies that ride on others ("on") against the same ones held by fixed joints, whose rows are then six more.
#include <gtest/gtest.h>

#include <cmath>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

constexpr double kOffset = 0.1;

enum class Held { Riding, ByJoints };

// A pendulum of an arm, a turned and displaced head on the arm and a small weight on the head; a spring pulls at the weight.
std::shared_ptr<const Description> hammer(Held held, bool work = false) {
  ModelBuilder b({0, 0, -9.81});
  const Vec3 start(0.5, 0, 0), head(1.0, kOffset, 0.05), weight(1.1, kOffset, 0.2);
  const auto body = [&](const char* name, double mass, const Vec3& inertia, const Vec3& at) {
    b.body(name, "rigid").set("mass", {mass}).set("inertia", inertia).set("position", at);
  };
  body("arm", 1, {0.01, 0.09, 0.1}, start);
  b.set("velocity", {0, 0.5, -1}).set("angular_velocity", {0, 2, 1});
  const auto carried = [&](const char* name, const char* on, const Vec3& at, const Vec3& turn) {
    body(name, 0.7, {0.02, 0.03, 0.04}, at);
    b.set("orientation", turn).set("reference", {0.01, 0.02, -0.03});
    if (held == Held::Riding) {
      b.set("on", std::string(on));
    } else {
      // v + omega x r; omega in the axes of the body.
      const Vec3 omega(0, 2, 1);
      b.set("velocity", Vec3(Vec3(0, 0.5, -1) + omega.cross(at - start)));
      b.set("angular_velocity_inertial", omega);
    }
  };
  // Riders before the body that carries them.
  carried("weight", "head", weight, {0, 0.4, 0});
  carried("head", "arm", head, {0.3, -0.2, 0.5});
  b.joint("pivot", "spherical").set("between", "ground", "arm").set("at", {0, 0, 0});
  if (held == Held::ByJoints) {
    b.joint("neck", "fixed").set("between", "arm", "head").set("at", head);
    b.joint("glue", "fixed").set("between", "head", "weight").set("at", weight);
  }
  b.force("spring", "spring_damper").set("between", "ground", "weight");
  b.set("points", {1.5, 1, 1, weight.x(), weight.y(), weight.z()})
      .set("stiffness", {40})
      .set("damping", {0.3});
  for (const char* name : {"head", "weight"}) {
    b.sensor(std::string(name) + "_place", "position").set("of", std::string(name));
    b.sensor(std::string(name) + "_turn", "orientation").set("of", std::string(name));
    b.sensor(std::string(name) + "_omega", "angular_velocity").set("of", std::string(name));
    b.sensor(std::string(name) + "_acceleration", "acceleration").set("of", std::string(name));
  }
  const std::string neck = held == Held::Riding ? "head.on" : "neck";
  b.sensor("neck_force", "reaction_force").set("of", neck);
  b.sensor("energy", "energy");
  if (work) b.sensor("work", "work").set("of", std::string("spring"));
  return b.finish();
}

double difference(const Trajectory& a, const Trajectory& b) {
  EXPECT_EQ(a.rows(), b.rows());
  double worst = 0;
  for (std::size_t i = 0; i < std::min(a.rows(), b.rows()); ++i)
    for (int c = 0; c < a.columns; ++c)
      worst = std::max(worst, std::abs(a.at(i, c) - b.at(i, c)) / (1 + std::abs(b.at(i, c))));
  return worst;
}

TEST(Riders, MoveAsIfTheyWereWeldedInEveryFormulationAndMethod) {
  const auto description = hammer(Held::Riding), welded = hammer(Held::ByJoints);
  SimulateOptions options;
  options.end = 0.5;
  options.output_every = 10;
  options.integrator = "rk67";  // accelerations from the equations themselves
  options.step = 1e-3;
  const Trajectory reference = simulate(make_system(welded, "r3so3"), options).trajectory;
  for (const std::string& formulation : formulations())
    for (const std::string integrator :
         {"esdirk4-6,index=2", "generalized-alpha,sigma=opt", "generalized-alpha,index=stabilized", "rk44"}) {
      if (integrator == "rk44" && formulation != "r3so3" && formulation != "se3" && formulation != "minimal")
        continue;
      const System system = make_system(description, formulation);
      options.integrator = integrator;
      options.step = integrator.starts_with("gen") ? 1e-4 : 1e-3;
      options.output_every = std::lround(1e-2 / options.step);
      const Result run = simulate(system, options);
      ASSERT_TRUE(run.summary.completed) << formulation << " " << integrator << ": " << run.summary.failure;
      const double worst = difference(run.trajectory, reference);
      fmt::print("  {:<17} {:<35} {} velocities, {} rows, difference {:.1e}\n", formulation, integrator,
                 system.model().nv, system.model().rows, worst);
      EXPECT_EQ(system.model().nv, formulation == "minimal" ? 3 : 6);
      EXPECT_EQ(system.model().rows, formulation == "minimal" ? 0 : 3);
      EXPECT_LT(worst, integrator == "rk44" ? 1e-7 : 5e-5) << formulation << " " << integrator;
    }
}

// Not a function of the state, so not among the sensors above: it keeps sensitivities from being computed.
TEST(Riders, DoTheWorkThatWeldedBodiesDo) {
  SimulateOptions options;
  options.end = 0.5;
  options.step = 1e-3;
  options.integrator = "rk44";
  const auto work = [&](Held held, const std::string& formulation) {
    const Result run = simulate(make_system(hammer(held, true), formulation), options);
    EXPECT_TRUE(run.summary.completed) << run.summary.failure;
    return run.trajectory.at(run.trajectory.rows() - 1, run.trajectory.columns - 1);
  };
  const double expected = work(Held::ByJoints, "r3so3");
  for (const std::string formulation : {"r3so3", "minimal"}) {
    const double found = work(Held::Riding, formulation);
    fmt::print("  {:<10} {:.12g} J, welded {:.12g} J\n", formulation, found, expected);
    EXPECT_NEAR(found, expected, 1e-8 * std::abs(expected));
  }
}

// Bodies start as they are typed, also those that have nothing to do with the one that carries another: the roots of a tree have coordinates of the formulation.
TEST(Riders, LeaveTheStartOfAllBodiesAsItIs) {
  Random random(4);
  ModelBuilder b({0, 0, 0});
  std::vector<double> typed;
  const auto expect = [&](const Vec3& x) { typed.insert(typed.end(), x.data(), x.data() + 3); };
  for (const char* name : {"host", "other"}) {
    const Vec3 velocity = random.vector<3>(), omega = random.vector<3>();
    b.body(name, "rigid")
        .set("mass", {2})
        .set("inertia", {0.1, 0.2, 0.25})
        .set("position", random.vector<3>());
    b.set("orientation", random.vector<3>()).set("velocity", velocity).set("angular_velocity", omega);
    expect(velocity);
    expect(omega);
  }
  b.body("flat", "planar").set("mass", {1}).set("inertia", {0.2}).set("position", {3, 1}).set("angle", {0.7});
  b.set("velocity", {1, 2}).set("angular_velocity", {0.4});
  expect({1, 2, 0});
  b.body("rider", "rigid").set("mass", {0.5}).set("inertia", {0.01, 0.01, 0.01}).set("on", "other");
  b.beam("rod", "circle")
      .set("from", {0, 0, 5})
      .set("to", {0, 1, 5})
      .set("elements", {2})
      .set("radius", {0.05});
  b.set("young", {1e6}).set("density", {100}).set("velocity", {1, -2, 0.5});
  expect({1, -2, 0.5});
  for (const char* name : {"host", "other"}) {
    b.sensor(std::string("v_") + name, "velocity").set("of", name);
    b.sensor(std::string("w_") + name, "angular_velocity").set("of", name);
  }
  b.sensor("v_flat", "velocity").set("of", "flat");
  b.sensor("v_rod", "velocity").set("of", "rod.end");
  const auto description = b.finish();
  for (const std::string& formulation : formulations()) {
    const System system = make_system(description, formulation);
    Work work(system);
    const std::vector<double> seen =
        sensed(system, consistent_state(system, 0, InitialPolicy::Check, work), work);
    ASSERT_EQ(seen.size(), typed.size());
    double off = 0;
    for (std::size_t i = 0; i < seen.size(); ++i) off = std::max(off, std::abs(seen[i] - typed[i]));
    expect_at_most(off, 1e-13, formulation + ": velocities at the start");
  }
}

// Without a word about its place a body is where the one that carries it is, and moves with it.
TEST(Riders, StandWhereTheirCarrierStands) {
  ModelBuilder b;
  b.body("host", "rigid").set("mass", {1}).set("inertia", {1, 2, 2.5}).set("position", {1, 2, 3});
  b.set("orientation", {0.1, 0.2, 0.3}).set("velocity", {4, 5, 6}).set("angular_velocity", {1, -1, 2});
  b.body("rider", "rigid").set("mass", {2}).set("inertia", {1, 1, 1}).set("on", std::string("host"));
  b.body("base", "rigid").set("mass", {2}).set("inertia", {1, 1, 1}).set("on", std::string("ground"));
  for (const char* name : {"host", "rider", "base"}) {
    b.sensor(std::string(name) + "_place", "position").set("of", std::string(name));
    b.sensor(std::string(name) + "_omega", "angular_velocity").set("of", std::string(name));
  }
  b.sensor("energy", "energy");
  const auto description = b.finish();
  for (const std::string& formulation : formulations()) {
    SimulateOptions options;
    options.end = 0.01;
    const Trajectory t = simulate(make_system(description, formulation), options).trajectory;
    const std::size_t last = t.rows() - 1;
    for (int c = 1; c < 7; ++c) EXPECT_NEAR(t.at(last, c), t.at(last, c + 6), 1e-12) << formulation;
    for (int c = 13; c < 19; ++c) EXPECT_EQ(t.at(last, c), 0) << formulation;
    EXPECT_NEAR(t.at(0, 1), 1, 1e-15);
  }
}

TEST(Riders, HaveTheSameStaticsAndModes) {
  const System riding = in_absolute_coordinates(make_system(hammer(Held::Riding), "se3")),
               welded = make_system(hammer(Held::ByJoints));
  EXPECT_EQ(riding.model().rows, welded.model().rows);
  const StaticResult a = find_equilibrium(riding), b = find_equilibrium(welded);
  ASSERT_TRUE(a.converged) << a.failure;
  ASSERT_TRUE(b.converged) << b.failure;
  EXPECT_NEAR(a.potential, b.potential, 1e-9 * std::abs(b.potential));
  const Modes first = modes(riding, a.state), second = modes(welded, b.state);
  ASSERT_EQ(first.modes.size(), second.modes.size());
  for (std::size_t i = 0; i < first.modes.size(); ++i) {
    fmt::print("  {:.8f} {:+.8f} i\n", first.modes[i].eigenvalue.real(), first.modes[i].eigenvalue.imag());
    EXPECT_LT(std::abs(first.modes[i].eigenvalue - second.modes[i].eigenvalue),
              1e-7 * std::abs(second.modes[i].eigenvalue));
  }
}

// Masses, places and the reference point of a rider, the stiffness of the spring at it: exact derivatives against differences.
TEST(Riders, HaveExactDerivatives) {
  for (const std::string formulation : {"r3so3", "se3", "minimal"}) {
    SensitivityOptions options;
    options.simulation.integrator = "generalized-alpha,newton_tol=1e-11";
    options.simulation.step = 2e-3;
    options.simulation.end = 0.1;
    options.parameters = {"bodies.head.mass", "bodies.weight.position[1]", "bodies.head.reference[2]",
                          "forces.spring.stiffness"};
    options.outputs = {"weight_place[2]@end", "head_omega[0]@end"};
    options.check = true;
    const Sensitivity s = sensitivity(make_system(hammer(Held::Riding), formulation), options);
    for (std::size_t i = 0; i < s.parameters.size(); ++i) {
      fmt::print("  {:<8} {:<28} {:12.5e} {:12.5e}, differences disagree by {:.1e}\n", formulation,
                 s.parameters[i], s.derivative(0, i), s.derivative(1, i), s.disagreement[i]);
      EXPECT_LT(s.disagreement[i], 1e-6) << s.parameters[i];
    }
  }
}

// A wheel on a beam: six rows fewer than with a joint, and the same motion.
TEST(Riders, SitOnNodesOfBeams) {
  const auto shaft = [](Held held, const std::string& formulation) {
    ModelBuilder b({0, 0, -9.81});
    b.body("disk", "rigid")
        .set("mass", {1})
        .set("inertia", {0.02, 0.01, 0.01})
        .set("position", {0.5, 0, 0.02});
    if (held == Held::Riding) b.set("on", std::string("shaft[0.5]"));
    b.beam("shaft", "stiffness").set("from", {0, 0, 0}).set("to", {1, 0, 0}).set("elements", {4});
    b.set("formulation", formulation);
    for (const char* name : {"axial_stiffness", "shear_stiffness_y", "shear_stiffness_z"}) b.set(name, {1e5});
    for (const char* name : {"torsional_stiffness", "bending_stiffness_y", "bending_stiffness_z"})
      b.set(name, {50});
    b.set("mass_per_length", {0.5}).set("inertia_per_length", {2e-4, 1e-4, 1e-4});
    b.joint("left", "spherical").set("between", "ground", "shaft.start").set("at", {0, 0, 0});
    b.joint("right", "cylindrical").set("between", "ground", "shaft.end").set("at", {1, 0, 0});
    b.set("axis", {1, 0, 0});
    if (held == Held::ByJoints)
      b.joint("hub", "fixed").set("between", "shaft[0.5]", "disk").set("at", {0.5, 0, 0});
    b.force("push", "force").set("on", std::string("disk")).set("force", {0, 3, 0});
    b.sensor("place", "position").set("of", std::string("disk"));
    b.sensor("turn", "orientation").set("of", std::string("disk"));
    b.sensor("middle", "velocity").set("of", std::string("shaft[0.5]"));
    b.sensor("energy", "energy");
    return b.finish();
  };
  SimulateOptions options;
  options.end = 0.05;
  options.step = 1e-4;
  options.output_every = 50;
  options.integrator = "esdirk4-6";
  for (const std::string formulation : {"r3so3", "se3", "r3so3-spatial", "minimal"}) {
    const std::string of_beam = formulation == "minimal" ? "model" : formulation;
    const System riding = make_system(shaft(Held::Riding, of_beam), formulation),
                 jointed = make_system(shaft(Held::ByJoints, of_beam), formulation);
    EXPECT_EQ(jointed.model().rows - riding.model().rows, formulation == "minimal" ? 0 : 6);
    const Result a = simulate(riding, options), b = simulate(jointed, options);
    ASSERT_TRUE(a.summary.completed) << a.summary.failure;
    ASSERT_TRUE(b.summary.completed) << b.summary.failure;
    const double worst = difference(a.trajectory, b.trajectory);
    fmt::print("  {:<14} difference {:.1e}\n", formulation, worst);
    EXPECT_LT(worst, 1e-5);
  }
}

// What follows the host is no parameter: to set it would change nothing.
TEST(Riders, HaveNoParametersForWhatFollowsTheirHost) {
  ModelBuilder b;
  b.body("host", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  b.body("rider", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("on", std::string("host"));
  b.set("orientation", {0, 0, 1});
  const auto description = b.finish();
  const Params params(description);
  EXPECT_GE(params.find("bodies.rider.mass"), 0);
  EXPECT_GE(params.find("bodies.rider.orientation.rotation_vector[2]"), 0);
  for (const char* path :
       {"bodies.rider.position[0]", "bodies.rider.velocity[1]", "bodies.rider.angular_velocity[0]"})
    EXPECT_THROW(params.find(path), InputError) << path;
}

// A velocity that is given must be that of the host, also where assembly finds the host's.
TEST(Riders, AreRefusedWithAnotherVelocityThanTheirHosts) {
  for (const bool found : {false, true}) {
    ModelBuilder b;
    b.body("host", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {0.5, 0, 0});
    b.set("angular_velocity", {0, 0, 2});
    if (found)
      b.consistent("velocity");
    else
      b.set("velocity", {0, 1, 0});
    b.joint("hinge", "revolute").set("between", "ground", "host").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
    b.body("rider", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("on", std::string("host"));
    b.set("velocity", {1, 0, 0});
    SimulateOptions options;
    options.end = 0.01;
    EXPECT_THROW(simulate(make_system(b.finish()), options), InputError) << found;
  }
}

TEST(Riders, MistakesAreNamed) {
  const auto message_of = [](const auto& fill) {
    ModelBuilder b;
    fill(b);
    try {
      b.finish();
    } catch (const InputError& error) {
      fmt::print("  {}\n", error.what());
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto body = [](ModelBuilder& b, const char* name, const char* on) {
    b.body(name, "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("on", std::string(on));
  };
  EXPECT_NE(message_of([&](ModelBuilder& b) {
              body(b, "a", "b"), body(b, "b", "a");
            }).find("is attached to itself"),
            std::string::npos);
  EXPECT_NE(message_of([&](ModelBuilder& b) { body(b, "a", "a"); }).find("is attached to itself"),
            std::string::npos);
  EXPECT_NE(message_of([&](ModelBuilder& b) { body(b, "a", "bb"); }).find("there is no body 'bb'"),
            std::string::npos);
  const auto host = [](ModelBuilder& b) {
    b.body("host", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  };
  EXPECT_NE(message_of([&](ModelBuilder& b) {
              host(b), b.consistent("position");
              body(b, "a", "host"), b.set("position", {1, 0, 0});
            }).find("the position of this point on 'host' is unknown"),
            std::string::npos);
  EXPECT_NE(message_of([&](ModelBuilder& b) {
              host(b), body(b, "a", "host"), b.consistent("velocity");
            }).find("\"consistent\" is not allowed"),
            std::string::npos);
  EXPECT_NE(message_of([&](ModelBuilder& b) {
              host(b), body(b, "a", "host"), b.set("formulation", std::string("se3"));
            }).find("no coordinates of its own"),
            std::string::npos);
}

}  // namespace
}  // namespace liedyn
