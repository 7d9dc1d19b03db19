// Forces by expressions of sensors against closed forms, in every formulation; powers against energies; derivatives against differences.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/model/edit_description.h"
#include "liedyn/model/record_all.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

Trajectory run(const System& system, double end, double step, const std::string& integrator = "rk67") {
  SimulateOptions options;
  options.end = end;
  options.step = step;
  options.integrator = integrator;
  return simulate(system, options).trajectory;
}
double last(const Trajectory& t, const std::string& name, int component = 0) {
  for (const Channel& channel : t.channels)
    if (channel.name == name) return t.at(t.rows() - 1, channel.first + component);
  ADD_FAILURE() << "no channel " << name;
  return 0;
}

// Quadratic drag on a free body that spins: m v' = -c |v| v has v = v_0/(1 + c v_0 t/m) along a straight line, whatever the body's attitude.
TEST(ExpressionForces, QuadraticDragInSpace) {
  const double m = 2, c = 0.3;
  const Vec3 v0(3, -4, 12);
  ModelBuilder b({0, 0, 0});
  b.body("ball", "rigid").set("mass", {m}).set("inertia", {0.1, 0.2, 0.15}).set("velocity", v0);
  b.set("angular_velocity", {3, 1, -2});
  b.force("drag", "force").set("on", std::string("ball")).set("force", {0, 0, 0});
  for (int i = 0; i < 3; ++i) b.expression("force", i, fmt::format("-0.3*speed*v[{}]", i));
  b.sensor("v", "velocity").set("of", std::string("ball"));
  b.sensor("speed", "expression").set("value", std::string("sqrt(v[0]^2 + v[1]^2 + v[2]^2)"));
  b.sensor("drag_power", "power").set("of", std::string("drag"));
  const auto description = b.finish();
  const double end = 1, speed = v0.norm() / (1 + c * v0.norm() * end / m);
  for (const std::string& formulation : formulations()) {
    const Trajectory t = run(make_system(description, formulation), end, 2e-3);
    const Vec3 v(last(t, "v", 0), last(t, "v", 1), last(t, "v", 2));
    expect_at_most((v - speed * v0.normalized()).norm(), 1e-10, formulation + ": v - v_0/(1 + c v_0 t/m)");
    expect_at_most(std::abs(last(t, "drag_power") + c * speed * speed * speed), 1e-9,
                   formulation + ": power + c v^3");
  }
  // The implicit default converges to the same, with its exact matrix.
  const double coarse = last(run(make_system(description), end, 4e-3, "generalized-alpha"), "speed"),
               fine = last(run(make_system(description), end, 2e-3, "generalized-alpha"), "speed");
  const double order = std::log2((coarse - speed) / (fine - speed));
  EXPECT_NEAR(order, 2, 0.1) << "order of generalized-alpha, errors " << coarse - speed << ", "
                             << fine - speed;
}

// A body that falls from rest with quadratic drag, v = v_f tanh(g t/v_f), v_f = sqrt(m g/c): the slope of the speed has no value at the start.
TEST(ExpressionForces, QuadraticDragFromRest) {
  const double m = 2, c = 0.3, g = 9.81, end = 0.8, final = std::sqrt(m * g / c);
  ModelBuilder b({0, 0, -g});
  b.body("ball", "rigid").set("mass", {m}).set("inertia", {0.1, 0.2, 0.15});
  b.force("drag", "force").set("on", std::string("ball")).set("force", {0, 0, 0});
  for (int i = 0; i < 3; ++i)
    b.expression("force", i, fmt::format("-0.3*sqrt(v[0]^2 + v[1]^2 + v[2]^2)*v[{}]", i));
  b.sensor("v", "velocity").set("of", std::string("ball"));
  const auto description = b.finish();
  const double expected = -final * std::tanh(g * end / final);
  for (const auto& [integrator, bound] :
       {std::pair{"rk67", 1e-9}, {"generalized-alpha", 1e-5}, {"esdirk4-6,index=2", 1e-8}})
    expect_at_most(std::abs(last(run(make_system(description), end, 1e-3, integrator), "v", 2) - expected),
                   bound, std::string(integrator) + ": v - v_f tanh(g t/v_f)");
}

// Two bodies that attract each other, f = k/d^2: Kepler's ellipse with period 2 pi sqrt(a^3 mu/k), mu the reduced mass.
TEST(ExpressionForces, TwoBodiesByGravitationReturnAfterAPeriod) {
  const double m1 = 2, m2 = 3, k = 5, a = 1.4, e = 0.3, mu = m1 * m2 / (m1 + m2);
  const double apart = a * (1 - e), speed = std::sqrt(k / mu * (1 + e) / (a * (1 - e)));  // at the pericentre
  ModelBuilder b({0, 0, 0});
  b.body("sun", "point")
      .set("mass", {m1})
      .set("position", {0, 0, 0})
      .set("velocity", {0, -m2 / (m1 + m2) * speed, 0});
  b.body("moon", "point")
      .set("mass", {m2})
      .set("position", {apart, 0, 0})
      .set("velocity", {0, m1 / (m1 + m2) * speed, 0});
  b.force("gravitation", "two_point_force")
      .set("between", "sun", "moon")
      .set("points", {0, 0, 0, apart, 0, 0});
  b.set("force", {0.0}).expression("force", 0, "5/d^2");
  b.sensor("d", "distance").set("between", "sun", "moon");
  b.sensor("rate", "distance_rate").set("between", "sun", "moon");
  b.sensor("r", "relative_position").set("between", "sun", "moon").set("axes", std::string("inertial"));
  b.sensor("pull", "effort").set("of", std::string("gravitation"));
  const System system = make_system(b.finish());
  const double period = 2 * std::numbers::pi * std::sqrt(a * a * a * mu / k);
  const Trajectory t = run(system, period, period / 2000);
  expect_at_most(std::abs(last(t, "r", 0) - apart) + std::abs(last(t, "r", 1)), 1e-9,
                 "after one period, off the start");
  expect_at_most(std::abs(last(t, "pull") - k / (apart * apart)), 1e-8, "tension - k/d^2");
  // Half a period later: the apocentre.
  const Trajectory half = run(system, period / 2, period / 2000);
  expect_at_most(std::abs(last(half, "d") - a * (1 + e)) + std::abs(last(half, "rate")), 1e-9, "apocentre");
}

// A joint_effort and a joint_actuator with the same law, a joint_spring with a stiffness that grows: the same motion.
TEST(ExpressionForces, TheSameLawBySeveralElements) {
  const auto model = [](int way) {
    ModelBuilder b({0, 0, -9.81});
    b.body("arm", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {0.4, 0, 0});
    b.joint("hinge", "revolute").set("between", "ground", "arm").set("at", {0, 0, 0}).set("axis", {0, -1, 0});
    b.set("zero", {-0.3});
    if (way == 0)
      b.force("drive", "joint_effort")
          .set("joint", std::string("hinge"))
          .set("effort", std::string("-(3 + phi^2)*phi - 0.4*w"));
    if (way == 1) {
      b.force("drive", "joint_actuator").set("joint", std::string("hinge")).set("feed_forward", {0.0});
      b.expression("feed_forward", 0, "-(3 + phi^2)*phi - 0.4*w");
    }
    if (way == 2) {
      b.force("drive", "joint_spring")
          .set("joint", std::string("hinge"))
          .set("stiffness", {0.0})
          .set("damping", {0.4});
      b.expression("stiffness", 0, "3 + phi^2");
    }
    b.sensor("phi", "joint_angle").set("of", std::string("hinge"));
    b.sensor("w", "joint_angle_rate").set("of", std::string("hinge"));
    b.sensor("effort", "effort").set("of", std::string("drive"));
    return b.finish();
  };
  for (const std::string& formulation : formulations_in_the_large()) {
    const Trajectory reference = run(make_system(model(0), formulation), 1, 1e-3);
    EXPECT_NEAR(reference.at(0, reference.channels.front().first), 0.3, 1e-14)
        << "the angle counts from its zero";
    for (const int way : {1, 2}) {
      const Trajectory other = run(make_system(model(way), formulation), 1, 1e-3);
      double worst = 0;
      for (std::size_t i = 0; i < reference.rows(); ++i)
        for (int c = 0; c < reference.columns; ++c)
          worst = std::max(worst, std::abs(reference.at(i, c) - other.at(i, c)));
      expect_at_most(worst, 1e-11, fmt::format("{}: joint_effort against way {}", formulation, way));
    }
  }
}

// A magnet holds a ball that hangs on it: the static gap of f = k/d^2 = m g, and the derivative of the run by k.
TEST(ExpressionForces, StaticsAndDerivatives) {
  ModelBuilder b({0, 0, -10});
  b.body("ball", "rigid")
      .set("mass", {0.4})
      .set("inertia", {1e-3, 1e-3, 1e-3})
      .set("position", {0, 0, -0.25});
  b.joint("guide", "prismatic")
      .set("between", "ground", "ball")
      .set("at", {0, 0, -0.25})
      .set("axis", {0, 0, 1});
  b.force("magnet", "force").set("on", std::string("ball")).set("force", {0, 0, 0});
  b.expression("force", 2, "0.2/gap^2 - 3*rate");
  // A soft spring makes the equilibrium a stable one.
  b.force("spring", "joint_spring")
      .set("joint", std::string("guide"))
      .set("stiffness", {200})
      .set("free", {-0.05});
  b.sensor("place", "position").set("of", std::string("ball"));
  b.sensor("gap", "expression").set("value", std::string("-place[2]"));
  b.sensor("rate", "joint_displacement_rate").set("of", std::string("guide"));
  b.sensor("magnet_force", "applied_force").set("of", std::string("magnet"));
  const auto description = b.finish();
  const System system = make_system(description);

  // 0.2/d^2 - 4 - 200 (0.3 - d) = 0, by bisection.
  double low = 0.1, high = 0.4;
  for (int i = 0; i < 60; ++i) {
    const double d = (low + high) / 2;
    (0.2 / (d * d) - 4 - 200 * (0.3 - d) < 0 ? low : high) = d;
  }
  const StaticResult found = find_equilibrium(system);
  ASSERT_TRUE(found.converged) << found.failure;
  EXPECT_EQ(found.unstable_directions, 0);
  Work work(system);
  const std::vector<double> seen = sensed(system, found.state, work);
  const double gap = seen[3], magnet = seen[7];
  expect_at_most(std::abs(gap - low), 1e-9, "static gap - root of the balance of forces");
  expect_at_most(std::abs(magnet - 0.2 / (low * low)), 1e-6, "force of the magnet - k/d^2");

  // The expression sees the change of the motion that a parameter makes: direct derivatives against differences.
  SensitivityOptions options;
  options.simulation.end = 0.3;
  options.simulation.step = 1e-3;
  options.parameters = {"forces.spring.stiffness", "bodies.ball.mass", "joints.guide.at[2]"};
  options.outputs = {"gap", "rate"};
  options.check = true;
  for (const char* formulation : {"r3so3", "minimal"}) {
    const Sensitivity checked = sensitivity(make_system(description, formulation), options);
    for (std::size_t i = 0; i < 2; ++i)
      expect_at_most(checked.disagreement[i], 1e-6,
                     fmt::format("{}: derivatives by {}", formulation, checked.parameters[i]));
  }
}

// Whether "-k" is the parameter or the sensor of this name must not depend on the field, nor on what else the expression names.
TEST(ExpressionForces, NamesWithTwoMeaningsAreRefused) {
  struct Has {
    bool parameter = false, state = false, sensor = false;
  };
  const auto finding = [](const Has& has, const std::function<void(ModelBuilder&)>& use) {
    ModelBuilder b({0, 0, 0});
    if (has.parameter) b.parameter("k", 5);
    b.body("arm", "rigid").set("mass", 1).set("inertia", {1, 1, 1});
    b.joint("h", "revolute").set("between", "ground", "arm").set("at", {0, 0, 0}).set("axis", {0, 1, 0});
    if (has.state) b.state("k", "expression").set("rate", "0").set("initial", 1);
    b.sensor("q", "joint_angle").set("of", "h");
    if (has.sensor) b.sensor("k", "joint_angle").set("of", "h");
    use(b);
    try {
      Model::compile(b.finish());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto effort = [](ModelBuilder& b) {
    b.force("f", "joint_effort").set("joint", "h").set("effort", "-k");
  };
  const auto torque = [](const char* text) {
    return [text](ModelBuilder& b) { b.force("f", "torque").set("on", "arm").set("torque", {0, text, 0}); };
  };
  const auto rate = [](ModelBuilder& b) { b.state("f", "expression").set("rate", "2*k").set("initial", 0); };
  const std::string hint = " (hint: give one of them another name)";
  for (const auto& [has, are] : {std::pair<Has, std::string>{{true, true, false}, "a parameter and a state"},
                                 {{true, false, true}, "a parameter and a sensor"},
                                 {{false, true, true}, "a state and a sensor"},
                                 {{true, true, true}, "a parameter and a state and a sensor"}}) {
    const std::string meaning = ": 'k' has more than one meaning: it is " + are + hint;
    EXPECT_EQ(finding(has, effort), "forces.f.effort" + meaning);
    EXPECT_EQ(finding(has, rate), "states.f.rate" + meaning);
    for (const char* text : {"-k", "-k+0*q", "-k*t", "1e3*sin( k )"})
      EXPECT_EQ(finding(has, torque(text)), "forces.f.torque[1]" + meaning) << text;
    // The names alone are no mistake.
    EXPECT_EQ(finding(has, torque("-q")), "");
  }
  for (const Has& one : {Has{true, false, false}, Has{false, true, false}, Has{false, false, true}})
    for (const std::function<void(ModelBuilder&)>& use :
         {std::function<void(ModelBuilder&)>(effort), std::function<void(ModelBuilder&)>(rate),
          std::function<void(ModelBuilder&)>(torque("-k"))})
      EXPECT_EQ(finding(one, use), "");

  // Numbers that cannot follow sensors see parameters only, and so does what is set by an event.
  const Has both = {true, false, true};
  EXPECT_EQ(finding(both,
                    [](ModelBuilder& b) {
                      b.body("b", "rigid").set("mass", "k").set("inertia", {1, 1, 1});
                    }),
            "");
  EXPECT_EQ(
      finding(both, [](ModelBuilder& b) { b.sensor("e", "event").set("when", "q-1").set("set", "k = 2"); }),
      "");
  EXPECT_EQ(
      finding(both, [](ModelBuilder& b) { b.sensor("e", "event").set("when", "q-1").set("set", "k = 2*k"); }),
      "sensors.e.set: 'k' has more than one meaning: it is a parameter and a sensor" + hint);
  // Expressions of sensors see those before them, and no states.
  const auto value = [](ModelBuilder& b) { b.sensor("e", "expression").set("value", "q; k+1"); };
  EXPECT_EQ(finding(both, value),
            "sensors.e.value: 'k' has more than one meaning: it is a parameter and a sensor" + hint);
  EXPECT_EQ(finding({true, true, false}, value), "");
  EXPECT_EQ(
      finding({true, false, false}, [](ModelBuilder& b) { b.sensor("k", "expression").set("value", "2*k"); }),
      "");
  // Components of a vector have names of their own.
  EXPECT_EQ(finding({true, false, false},
                    [&](ModelBuilder& b) {
                      b.sensor("k", "position").set("of", "arm");
                      torque("-k+0*k[1]")(b);
                    }),
            "");
}

TEST(RecordAll, AddsSensorsOfAllThatMoves) {
  ModelBuilder b({0, 0, -9.81});
  b.body("arm", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {0.4, 0, 0});
  b.body("bead", "point").set("mass", {1}).set("position", {1, 0, 0});
  b.joint("hinge", "revolute").set("between", "ground", "arm").set("at", {0, 0, 0}).set("axis", {0, -1, 0});
  b.force("spring", "spring_damper")
      .set("between", "arm", "bead")
      .set("points", {0.4, 0, 0, 1, 0, 0})
      .set("stiffness", {3});
  // A contact has no tension along the line of its two points.
  b.force("floor", "contact_plane_sphere")
      .set("between", "ground", "bead")
      .set("points", {0, 0, -2, 1, 0, 0})
      .set("normal", {0, 0, 1})
      .set("radius", {0.1})
      .set("stiffness", {1e4});
  b.state("clock", "integral").set("input", std::string("1"));
  b.sensor("own", "position").set("of", std::string("bead"));
  Description description = *b.finish();
  record_all(description);
  const System system = make_system(std::make_shared<const Description>(description));
  const Trajectory t = run(system, 0.1, 1e-3);
  std::vector<std::string> names;
  for (const Channel& channel : t.channels) names.push_back(channel.name);
  const std::vector<std::string> expected = {"own",
                                             "arm.position",
                                             "arm.velocity",
                                             "arm.orientation",
                                             "arm.angular_velocity",
                                             "bead.position",
                                             "bead.velocity",
                                             "hinge.joint_angle",
                                             "hinge.joint_angle_rate",
                                             "hinge.reaction_force",
                                             "hinge.reaction_torque",
                                             "spring.power",
                                             "spring.effort",
                                             "floor.power",
                                             "floor.applied_force",
                                             "floor.applied_torque",
                                             "clock.value"};
  EXPECT_EQ(names, expected);
  EXPECT_NEAR(last(t, "clock.value"), 0.1, 1e-12);
  EXPECT_EQ(last(t, "own", 2), last(t, "bead.position", 2));

  add_entry(description, Section::Sensors, "pressed", "effort", "of", "floor");
  try {
    make_system(std::make_shared<const Description>(description));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().message,
              "expected a force in a joint or along the line between two points, got 'floor' of type "
              "contact_plane_sphere");
  }
}

}  // namespace
}  // namespace liedyn
