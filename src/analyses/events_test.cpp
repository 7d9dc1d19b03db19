// Events against closed forms: when they happen, what they do, and that a run in pieces is the same run.
#include "liedyn/analyses/events.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numbers>

#include "liedyn/analyses/converge.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

Simulation started(const System& system, const std::string& integrator, double step, double end = 100) {
  SimulateOptions options;
  options.integrator = integrator;
  options.end = end;
  options.step = step;
  return Simulation(system, options);
}

// A ball that falls from the height 1 and keeps a part of its speed.
System ball(double restitution, const std::string& kind = "rigid", const std::string& formulation = "r3so3") {
  ModelBuilder builder({0, 0, -kGravity});
  builder.parameter("e", restitution);
  builder.body("ball", kind).set("mass", {2}).set("position", {0, 0, 1});
  if (kind == "rigid") builder.set("inertia", {1, 2, 3}).set("velocity", {0.3, 0, 0});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("speed", "velocity").set("of", "ball");
  builder.sensor("bounce", "event").set("when", "place[2]").set("direction", "falling");
  builder.set("set", "sensors.speed[2] = -e*speed[2]");
  return make_system(builder.finish(), formulation);
}

// Between two bounces the exact motion is a parabola, on which every method is exact: the times are those of the closed form.
TEST(Events, BouncesAreThoseOfTheClosedForm) {
  constexpr double e = 0.97;
  for (const ListedIntegrator& listed : integrators()) {
    Simulation simulation = started(ball(e), listed.name, 0.01);
    simulation.advance_to(15);
    const std::vector<Occurrence> found = simulation.events();
    double speed = std::sqrt(2 * kGravity), t = speed / kGravity, worst = 0;
    ASSERT_GE(found.size(), 20U) << listed.name;
    for (const Occurrence& one : found) {
      worst = std::max(worst, std::abs(one.t - t));
      speed *= e;
      t += 2 * speed / kGravity;
    }
    EXPECT_GT(t, 15 - 1e-9) << listed.name;  // none is missing
    // The single-step methods ss2, ss3, ss4 begin with an error of their own.
    EXPECT_LT(worst, listed.name.starts_with("ss") ? 1e-3 : 1e-8) << listed.name;
  }
}

// An oscillator that hits a wall where it is fastest: the impacts are half a period apart, whatever speed they leave. The errors of the times keep the order of the method.
TEST(Events, KeepTheOrderOfTheMethodThroughAHundredOfThem) {
  constexpr double kOmega = 2 * std::numbers::pi;
  ModelBuilder builder({0, 0, 0});
  builder.body("mass", "point").set("mass", {1}).set("position", {1, 0, 0});
  builder.sensor("place", "position").set("of", "mass");
  builder.sensor("speed", "velocity").set("of", "mass");
  builder.sensor("hit", "event").set("when", "place[0]").set("direction", "falling");
  builder.set("set", "sensors.speed[0] = -0.98*speed[0]");
  builder.force("spring", "force").set("on", "mass").set("force", {"-(2*pi)^2*place[0]", 0, 0});
  const System system = make_system(builder.finish());
  const std::vector<std::pair<std::string, double>> methods = {
      {"generalized-alpha", 2}, {"lms2", 2}, {"rk44", 4}, {"dopri5", 5}};
  for (const auto& [method, order] : methods) {
    std::vector<double> errors;
    for (const double h : {0.04, 0.02, 0.01}) {
      Simulation simulation = started(system, method, order > 2 ? h : h / 4);
      simulation.advance_to(50);
      const std::vector<Occurrence> found = simulation.events();
      ASSERT_EQ(found.size(), 100U) << method;
      errors.push_back(std::abs(found.back().t - (0.5 + 99) * std::numbers::pi / kOmega));
    }
    fmt::print("  {:<20} {:.2e} {:.2e} {:.2e}\n", method, errors[0], errors[1], errors[2]);
    EXPECT_GT(std::log2(errors[1] / errors[2]), order - 0.3) << method;
  }
}

// A rod that swings against a stop: by the impulse the joint holds, in every formulation.
TEST(Events, AnImpulseSatisfiesTheConstraints) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("rod", "rigid").set("mass", {2}).set("inertia", {0.2, 0.2, 0.01}).set("position", {0.5, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "rod")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.sensor("angle", "joint_angle").set("of", "hinge");
  builder.sensor("rate", "joint_angle_rate").set("of", "hinge");
  builder.sensor("speed", "velocity").set("of", "rod");
  builder.sensor("stop", "event")
      .set("when", "angle - 1")
      .set("set", "sensors.rate = -0.5*rate")
      .set("action", "stop");
  const auto description = builder.finish();
  for (const std::string& formulation : formulations()) {
    if (formulation == "auto") continue;
    Simulation simulation = started(make_system(description, formulation), "rk44", 1e-3);
    simulation.advance(2);
    EXPECT_EQ(simulation.stopped_by(), "stop") << formulation;
    EXPECT_LT(simulation.time(), 1);
    EXPECT_NEAR(simulation.sensor("angle")[0], 1, 1e-10) << formulation;
    // omega^2 = 2 m g s sin(angle)/(J + m s^2), before the stop.
    const double before = std::sqrt(2 * 2 * kGravity * 0.5 * std::sin(1.0) / (0.2 + 2 * 0.25));
    EXPECT_NEAR(simulation.sensor("rate")[0], -0.5 * before, 1e-7) << formulation;
    const std::vector<double> speed = simulation.sensor("speed");
    EXPECT_NEAR(std::hypot(speed[0], speed[1], speed[2]), 0.25 * before, 1e-7) << formulation;
    simulation.advance(0.01);  // and continues the run
    EXPECT_LT(simulation.sensor("angle")[0], 1) << formulation;
  }
}

// m x'' = u with a sampled PID law that is set half a sampling time later: parabolas between the changes, so that the discrete solution is exact.
TEST(Events, ASampledControllerIsTheExactDiscreteSystem) {
  constexpr double m = 2, T = 0.02, kp = 40, kd = 14, ki = 20;
  for (const double delay : {0.0, T / 2}) {
    ModelBuilder builder({0, 0, 0});
    builder.parameter("u", 0);
    builder.body("mass", "point").set("mass", {m}).set("position", {1, 0, 0});
    builder.force("push", "force").set("on", "mass").set("force", {"u", 0, 0});
    builder.state("sum", "integral").set("input", "0");
    builder.sensor("place", "position").set("of", "mass");
    builder.sensor("speed", "velocity").set("of", "mass");
    builder.sensor("held", "state").set("of", "sum");
    builder.sensor("law", "sample")
        .set("value", "-40*place[0] - 14*speed[0] - 20*held")
        .set("into", "u")
        .set("every", {T})
        .set("delay", {delay});
    builder.sensor("integrator", "sample").set("value", "held + 0.02*place[0]").set("into", "states.sum");
    builder.set("every", {T});
    const System system = make_system(builder.finish());
    for (const std::string method : {"generalized-alpha", "rk44", "lms3", "dopri5,adaptive=true"}) {
      Simulation simulation = started(system, method, 2e-3);
      double x = 1, v = 0, s = 0, u = 0, worst = 0;
      for (int k = 0; k < 100; ++k) {
        const double law = -kp * x - kd * v - ki * s;
        s += T * x;
        for (const auto& [duration, input] : {std::pair{delay, u}, std::pair{T - delay, law}}) {
          x += duration * v + duration * duration / 2 * input / m;
          v += duration * input / m;
        }
        u = law;
        simulation.advance_to((k + 1) * T);
        worst = std::max({worst, std::abs(simulation.sensor("place")[0] - x),
                          std::abs(simulation.sensor("speed")[0] - v)});
      }
      EXPECT_LT(worst, 1e-9) << method << ", delay " << delay;
      EXPECT_LT(std::abs(x), 0.1);
    }
  }
}

std::string bits(const State& state) {
  std::string out(reinterpret_cast<const char*>(&state.t), sizeof state.t);
  State copy = state;
  for_each_vector(copy, [&](std::vector<double>& part) {
    out.append(reinterpret_cast<const char*>(part.data()), part.size() * sizeof(double));
  });
  return out;
}

TEST(Events, PiecesAndCheckpointsAreTheRunBitByBit) {
  for (const ListedIntegrator& listed : integrators()) {
    const System system = ball(0.8);
    Simulation whole = started(system, listed.name, 0.01), pieces = started(system, listed.name, 0.01),
               other = started(system, listed.name, 0.01);
    whole.advance_to(2);
    for (const int steps : {7, 38, 1, 60}) pieces.advance(steps * 0.01);
    other.restore(pieces.save());
    Simulation copy = pieces.clone();
    pieces.advance_to(2);
    EXPECT_GE(whole.events().size(), 3U);
    EXPECT_EQ(bits(whole.state()), bits(pieces.state())) << listed.name;
    other.advance_to(2);
    EXPECT_EQ(bits(whole.state()), bits(other.state())) << listed.name;
    copy.advance_to(2);
    EXPECT_EQ(bits(whole.state()), bits(copy.state())) << listed.name;
    // Single steps are the same ones.
    Simulation steps = started(system, listed.name, 0.01);
    while (steps.report().steps < whole.report().steps) steps.step();
    EXPECT_EQ(bits(whole.state()), bits(steps.state())) << listed.name;
  }
}

// The work of a constant force on a mass of 1 kg is t^2/2: located within a step, also in the last one.
TEST(Events, OfWorkHappenWhereItIsDone) {
  ModelBuilder builder({0, 0, 0});
  builder.body("mass", "point").set("mass", {1});
  builder.force("push", "force").set("on", "mass").set("force", {1, 0, 0});
  builder.sensor("done", "work").set("of", "push");
  builder.sensor("plain", "event").set("when", "done - 0.125");
  builder.sensor("held", "event").set("when", "done > 0.5").set("action", "stop");
  const System system = make_system(builder.finish());
  for (const std::string integrator : {"generalized-alpha", "lms2", "esdirk3-5", "rk44",
                                       "dopri5,adaptive=true", "generalized-alpha,adaptive=true"})
    for (const double end : {5.0, 1.01}) {
      Simulation simulation = started(system, integrator, 0.03, end);
      simulation.advance_to(end);
      const std::vector<Occurrence> found = simulation.events();
      ASSERT_EQ(found.size(), 2U) << integrator;
      expect_at_most(std::abs(found[0].t - 0.5), 1e-9, integrator + ": time of an expression of work");
      expect_at_most(std::abs(found[1].t - 1), 1e-9, integrator + ": time of a condition on work");
      EXPECT_NEAR(simulation.sensor("done")[0], 0.5, 1e-9) << integrator;
    }
}

// A step that would pass through a contact is not taken: what it has seen is not remembered. The ball never comes below 0.15 m.
TEST(Events, AreNotThoseOfStepsThatAreNotTaken) {
  ModelBuilder builder({0, 0, 0});
  builder.body("ball", "rigid").set("mass", {1}).set("inertia", {0.01, 0.01, 0.01});
  builder.set("position", {0, 0, 2.5}).set("velocity", {0, 0, -2});
  builder.force("hit", "contact_sphere_sphere").set("between", "ground", "ball");
  builder.set("points", {0, 0, 0, 0, 0, 2.5}).set("first_radius", {0.1}).set("second_radius", {0.1});
  builder.set("stiffness", {1e7});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("speed", "velocity").set("of", "ball");
  builder.sensor("up", "event").set("when", "place[2]").set("direction", "rising");
  builder.sensor("apex", "event").set("when", "speed[2]").set("direction", "falling");
  const System system = make_system(builder.finish());
  for (const std::string integrator : {"generalized-alpha", "dopri5", "esdirk3-5", "lms2"}) {
    Simulation simulation = started(system, integrator + ",adaptive=true", 1e-2, 5);
    simulation.advance_to(5);
    EXPECT_TRUE(simulation.events().empty()) << integrator << ": '" << simulation.events().front().name
                                             << "' at " << simulation.events().front().t;
    EXPECT_GT(simulation.sensor("speed")[2], 1.9) << integrator;
  }
}

// Just before a time that has to be met something happens. What a method made of the step between would be round-off, divided by its length or its square, and the next steps
// would inherit it. Nothing changes at the event: errors are those of the run without it, of its first steps (some methods start anew) and beside the event.
TEST(Events, ShortlyBeforeAnotherTimeSpoilNothing) {
  const auto pendulum_with = [](double before) {
    ModelBuilder builder({0, 0, -kGravity});
    builder.parameter("u", 0);
    builder.body("bob", "point").set("mass", {1}).set("position", {1, 0, 0}).set("velocity", {0, 1, -2});
    builder.joint("pivot", "distance").set("between", "ground", "bob").set("points", {0, 0, 0, 1, 0, 0});
    builder.force("f", "force").set("on", "bob").set("force", {"u", 0, 0});
    builder.sensor("place", "position").set("of", "bob");
    builder.sensor("reaction", "reaction_force").set("of", "pivot");
    if (before > 0)
      builder.sensor("event", "event")
          .set("when", fmt::format("t - {:.17g}", 0.5 - before))
          .set("set", "u = 0");
    return make_system(builder.finish());
  };
  const auto values_at = [](Simulation& simulation, double t) {
    simulation.advance_to(t);
    std::vector<double> out = simulation.sensor("place");
    for (const double x : simulation.sensor("reaction")) out.push_back(x / kGravity);
    return out;
  };
  const System plain = pendulum_with(0);
  constexpr double kTimes[] = {1e-3,  2e-3,  3e-3,  5e-3, 0.01, 0.02, 0.5, 0.501,
                               0.502, 0.503, 0.505, 0.51, 0.52, 0.55, 0.6};
  std::vector<std::vector<double>> exact;
  Simulation reference = started(plain, "rk67", 5e-4, 0.6);
  for (const double t : kTimes) exact.push_back(values_at(reference, t));
  const auto error_of = [&](const System& system, const std::string& integrator) {
    Simulation simulation = started(system, integrator, 1e-3, 0.6);
    double worst = 0;
    for (std::size_t k = 0; k < std::size(kTimes); ++k) {
      const std::vector<double> found = values_at(simulation, kTimes[k]);
      for (std::size_t i = 0; i < found.size(); ++i)
        worst = std::max(worst, std::abs(found[i] - exact[k][i]));
    }
    return worst;
  };
  for (const ListedIntegrator& listed : integrators())
    for (const bool adaptive : {false, true}) {
      const bool has = std::any_of(listed.options.begin(), listed.options.end(),
                                   [](const auto& option) { return option.name == "adaptive"; });
      if (adaptive && !has) continue;
      const std::string integrator = listed.name + (adaptive ? ",adaptive=true" : "");
      const double own = error_of(plain, integrator);
      double worst = 0;
      for (const double before : {1e-6, 1e-9, 1e-12})
        worst = std::max(worst, error_of(pendulum_with(before), integrator));
      expect_at_most(worst, std::max(2 * own, 1e-6), integrator + ": places [m] and reactions [m g]");
    }
}

// What the last event changes is seen in the last row, whatever rows there are.
TEST(Events, AtTheEndOfARunAreSeenInItsLastRow) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("ball", "point").set("mass", {1}).set("position", {0, 0, 1});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("speed", "velocity").set("of", "ball");
  builder.sensor("hit", "event").set("when", "place[2]").set("set", "sensors.speed[2] = -0.8*speed[2]");
  builder.set("action", "stop");
  const System system = make_system(builder.finish());
  for (const std::string integrator : {"generalized-alpha", "rk44", "dopri5,adaptive=true"})
    for (const long every : {0L, 1L, 7L}) {
      SimulateOptions options;
      options.integrator = integrator;
      options.end = 2;
      options.step = 1e-2;
      options.output_every = every;
      const Trajectory t = simulate(system, options).trajectory;
      EXPECT_NEAR(t.at(t.rows() - 1, "speed")[2], 0.8 * std::sqrt(2 * kGravity), 1e-8)
          << integrator << ", rows " << every;
    }
}

// At the bottom of its way a pendulum has x = 0 and stops to fall: both happen there, although they are zero at slightly different times between two steps.
TEST(Events, ThatCoincideAllHappen) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.parameter("a", 0).parameter("b", 0);
  builder.body("rod", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.01}).set("position", {1, 0, 0});
  builder.joint("pivot", "revolute")
      .set("between", "ground", "rod")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.sensor("place", "position").set("of", "rod");
  builder.sensor("speed", "velocity").set("of", "rod");
  builder.sensor("one", "event").set("when", "place[0]").set("set", "a = a + 1");
  builder.sensor("two", "event").set("when", "speed[2]").set("direction", "rising").set("set", "b = b + 1");
  const System system = make_system(builder.finish());
  // Velocities that do not satisfy the constraints (index 3) have no sharp zero at the bottom.
  for (const std::string integrator : {"generalized-alpha,index=stabilized", "rk44", "dopri5"})
    for (const double h : {0.1, 0.05, 0.03, 0.02, 0.01, 0.007, 0.005}) {
      Simulation simulation = started(system, integrator, h, 20);
      simulation.advance_to(20);
      EXPECT_GE(simulation.input("a"), 15) << integrator << ", step " << h;
      EXPECT_EQ(simulation.input("a"), simulation.input("b")) << integrator << ", step " << h;
    }
}

// The times of samples are counted from the start.
TEST(Events, OfSamplesKeepTheirTimes) {
  ModelBuilder builder({0, 0, 0});
  builder.parameter("u", 0).parameter("period", 0.01);
  builder.body("mass", "point").set("mass", {1}).set("position", {1, 0, 0});
  builder.sensor("place", "position").set("of", "mass");
  builder.sensor("law", "sample").set("value", "-place[0]").set("into", "u").set("every", {"period"});
  builder.force("push", "force").set("on", "mass").set("force", {"u", 0, 0});
  Simulation simulation = started(make_system(builder.finish()), "rk44", 1e-3);
  simulation.advance_to(0.1);
  for (const char* path : {"period", "sensors.law.every", "sensors.law.delay"}) try {
      simulation.set_input(path, 0.05);
      ADD_FAILURE() << path;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("got one that determines the times of the sample 'law'"));
    }
}

TEST(Events, ThatHaveNoEndAreRefusedWithTheirName) {
  for (const std::string method : {"generalized-alpha", "rk44"}) {
    Simulation simulation = started(ball(0.5), method, 0.01);
    try {
      simulation.advance_to(3);
      ADD_FAILURE() << "the ball has fallen through the ground";
    } catch (const NumericalError& error) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr("'bounce' occurs again"));
    }
    // The sum of all flights is (1 + e)/(1 - e) sqrt(2/g).
    EXPECT_NEAR(simulation.time(), 3 * std::sqrt(2 / kGravity), 1e-4);
  }
}

// Two balls that arrive at one time, and a count of both: each event sees the state before all of them.
TEST(Events, AtOneTimeHappenTogether) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.state("first", "integral").set("input", "0");
  builder.state("second", "integral").set("input", "0");
  for (const char* name : {"a", "b"}) builder.body(name, "point").set("mass", {1}).set("position", {0, 0, 1});
  builder.sensor("n", "state").set("of", "first");
  builder.sensor("height_a", "position").set("of", "a");
  builder.sensor("height_b", "position").set("of", "b");
  builder.sensor("at_a", "event").set("when", "height_a[2]").set("set", "states.first = n + 1");
  builder.sensor("at_b", "event").set("when", "height_b[2]").set("set", "states.second = n + 10");
  Simulation simulation = started(make_system(builder.finish()), "rk44", 0.01);
  simulation.advance(1);
  ASSERT_EQ(simulation.events().size(), 2U);
  EXPECT_EQ(simulation.events()[0].t, simulation.events()[1].t);
  EXPECT_EQ(simulation.sensor("n")[0], 1);
  EXPECT_NEAR(simulation.state().v.back(), 10, 1e-12);
}

TEST(Events, EndARunOfSimulate) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("ball", "point").set("mass", {1}).set("position", {0, 0, 1});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("until", "event").set("when", "place[2] - 0.5").set("action", "stop");
  const System system = make_system(builder.finish());
  SimulateOptions options;
  options.end = 2;
  const Result result = simulate(system, options);
  EXPECT_TRUE(result.summary.completed);
  EXPECT_NEAR(result.state.t, std::sqrt(1 / kGravity), 1e-9);
  EXPECT_THAT(result.summary.warnings,
              ::testing::Contains(::testing::HasSubstr("the event 'until' has ended the run")));
}

// At the end, or where no printed digit differs, nothing was cut off.
TEST(Events, ThatStopARunAtItsEndAreNoWarning) {
  ModelBuilder builder;
  builder.body("ball", "point").set("mass", {1});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("over", "event").set("when", "t >= 1").set("action", "stop");
  const System system = make_system(builder.finish());
  SimulateOptions options;
  options.end = 1;
  options.step = 0.01;
  for (const auto& [end, warned] : {std::pair{1.0, false}, {1 + 1e-12, false}, {1.01, true}}) {
    options.end = end;
    const Result result = simulate(system, options);
    EXPECT_TRUE(result.summary.completed);
    EXPECT_EQ(std::ranges::any_of(result.summary.warnings,
                                  [](const std::string& warning) {
                                    return warning.find("has ended the run") != std::string::npos;
                                  }),
              warned)
        << end;
  }
}

TEST(Events, HaveNoDerivatives) {
  SensitivityOptions options;
  options.simulation.end = 0.1;
  options.parameters = {"e"};
  try {
    sensitivity(ball(0.8), options);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("cannot differentiate through the event 'bounce'"));
  }
}

TEST(Events, ThatAreWrongAreRefusedWhenTheModelIsCompiled) {
  const auto refused = [](const char* set, const char* when = "place[2]") {
    ModelBuilder builder;
    builder.parameter("e", 1);
    builder.body("ball", "point").set("mass", {2}).set("position", {0, 0, 1});
    builder.sensor("place", "position").set("of", "ball");
    builder.sensor("speed", "velocity").set("of", "ball");
    builder.sensor("bounce", "event").set("when", when).set("set", set);
    try {
      make_system(builder.finish());
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(refused("sensors.sped[2] = 1"), ::testing::HasSubstr("did you mean 'speed'"));
  EXPECT_THAT(refused("e = 2*heigt"), ::testing::HasSubstr("heigt"));
  EXPECT_THAT(refused("e"), ::testing::HasSubstr("target = expression"));
  EXPECT_THAT(refused("f = 3"), ::testing::HasSubstr("f"));
  EXPECT_THAT(refused("e = 9; initial.j = 3"),
              ::testing::HasSubstr("'initial.j': the model has no such parameter"));
  EXPECT_THAT(refused("states.x = 3"), ::testing::HasSubstr("there is no state 'x'"));
  EXPECT_THAT(refused("e = 1", "place[2"), ::testing::HasSubstr("place[2"));
  EXPECT_THAT(refused("sensors.speed = 1"),
              ::testing::HasSubstr("write one of sensors.speed[0] to sensors.speed[2]"));
  EXPECT_THAT(refused("sensors.speed[3] = 1"), ::testing::HasSubstr("'speed' has 3 components"));
  EXPECT_THAT(refused(""), ::testing::HasSubstr("got nothing"));
  for (const char* when : {"t == 0.1", "place[2] != 0", "min(t > 1, place[2] == e)"})
    EXPECT_THAT(refused("e = 1", when), ::testing::HasSubstr("equal only at isolated instants")) << when;
  EXPECT_EQ(refused("e = 1", "e == 2"), "nothing");
  EXPECT_EQ(refused("e = 1"), "nothing");
}

// A condition happens where it begins to hold, at the moment when its two sides are equal: not where it ends, and not at the start if it holds there.
TEST(Events, OfConditionsHappenWhereTheyBeginToHold) {
  const auto times = [](const std::string& when, const std::string& direction = "") {
    ModelBuilder builder({0, 0, -kGravity});
    builder.parameter("e", 0);
    builder.body("ball", "point").set("mass", {2}).set("velocity", {1, 0, 3});  // z = 3 t - g t^2/2
    builder.sensor("place", "position").set("of", "ball");
    builder.sensor("speed", "velocity").set("of", "ball");
    builder.sensor("high", "expression").set("value", "place[2] > 0.25");
    builder.sensor("force", "expression").set("value", "max(place[2] - 0.25, 0)^1.5");  // of a contact
    builder.sensor("long0", "expression").set("value", "t");
    for (int i = 1; i <= 18; ++i)
      builder.sensor(i == 18 ? "long" : fmt::format("long{}", i), "expression")
          .set("value", fmt::format("long{0} + long{0}", i - 1));
    builder.sensor("gate", "event").set("when", when).set("set", "e = e + 1");
    if (!direction.empty()) builder.set("direction", direction);
    Simulation simulation = started(make_system(builder.finish()), "rk44", 0.01);
    simulation.advance(1);
    std::vector<double> out;
    for (const Occurrence& event : simulation.events()) out.push_back(event.t);
    return out;
  };
  const double root = std::sqrt(9 - 2 * kGravity * 0.25), up = (3 - root) / kGravity,
               down = (3 + root) / kGravity,
               top = 3 / kGravity;  // z = 0.25, and the highest point
  using ::testing::DoubleNear;
  using ::testing::ElementsAre;
  const auto near = [](double t) { return DoubleNear(t, 1e-10); };
  EXPECT_THAT(times("t > 0.105"), ElementsAre(near(0.105)));
  EXPECT_THAT(times("place[2] > 0.25"), ElementsAre(near(up)));
  EXPECT_THAT(times("0.25 <= place[2]"), ElementsAre(near(up)));
  EXPECT_THAT(times("place[2] < 0.25"), ElementsAre(near(down)));
  EXPECT_THAT(times("place[2] > 0.25", "falling"), ElementsAre(near(down)));
  EXPECT_THAT(times("place[2] > 0.25", "both"), ElementsAre(near(up), near(down)));
  EXPECT_THAT(times("place[2] - 0.25"), ElementsAre(near(up), near(down)));
  EXPECT_THAT(times("min(place[2] > 0.25, speed[2] < 0)"), ElementsAre(near(top)));
  EXPECT_THAT(times("(place[2] > 0.25)*(speed[2] < 0)"), ElementsAre(near(top)));
  EXPECT_THAT(times("max(t > 0.9, place[2] > 0.25)"), ElementsAre(near(up), near(0.9)));
  EXPECT_THAT(times("1 - (place[2] > 0.25)"), ElementsAre(near(down)));
  EXPECT_THAT(times("place[0] < 5"), ElementsAre());
  EXPECT_THAT(times("high"), ElementsAre(near(up)));
  EXPECT_THAT(times("high*(speed[2] < 0)"), ElementsAre(near(top)));
  EXPECT_THAT(times("(t > 0.9) + high"), ElementsAre(near(up), near(0.9)));
  EXPECT_THAT(times("where(high, 0, 1)"), ElementsAre(near(down)));
  EXPECT_THAT(times("high > 0.5"), ElementsAre(near(up)));
  EXPECT_THAT(times("high < 0.5"), ElementsAre(near(down)));
  EXPECT_THAT(times("where(t > 0.3, place[2], 0) > 0.25"), ElementsAre(near(0.3)));
  EXPECT_THAT(times("where(high, speed[2], -1) < 0"), ElementsAre(near(top)));
  EXPECT_THAT(times("floor(10*t) > 3.5"), ElementsAre(near(0.4)));
  EXPECT_THAT(times("1 - (high + (t > 0.9))"), ElementsAre(near(down)));
  EXPECT_THAT(times("force > 0"), ElementsAre(DoubleNear(up, 1e-9)));
  EXPECT_THAT(times("force <= 0"), ElementsAre(DoubleNear(down, 1e-9)));
  EXPECT_THAT(times("place[2] > 0"), ElementsAre());  // equal at the start, and above it at once
  EXPECT_THAT(times("place[2] < 0"), ElementsAre(near(6 / kGravity)));
  EXPECT_THAT(times("long - 262144*0.105"), ElementsAre(near(0.105)));  // 2^18 t, too long to be written out
}

// Where an event happens the two sides are equal but for round-off: each bounce counts once, with every method, however the condition is written.
TEST(Events, OfConditionsHappenOnceEachTime) {
  constexpr double e = 0.9;
  for (const char* when :
       {"place[2] < 0", "place[2] <= 0", "1 - (place[2] >= 0)", "min(t > 0.1, place[2] < 0)"})
    for (const ListedIntegrator& listed : integrators()) {
      ModelBuilder builder({0, 0, -kGravity});
      builder.body("ball", "point").set("mass", {2}).set("position", {0, 0, 1});
      builder.sensor("place", "position").set("of", "ball");
      builder.sensor("speed", "velocity").set("of", "ball");
      builder.sensor("bounce", "event")
          .set("when", when)
          .set("set", fmt::format("sensors.speed[2] = -{}*speed[2]", e));
      Simulation simulation = started(make_system(builder.finish()), listed.name, 0.01);
      simulation.advance_to(4);
      double speed = std::sqrt(2 * kGravity), t = speed / kGravity, worst = 0;
      for (const Occurrence& one : simulation.events()) {
        worst = std::max(worst, std::abs(one.t - t));
        speed *= e;
        t += 2 * speed / kGravity;
      }
      EXPECT_GT(t, 4 - 1e-9) << listed.name << " " << when;  // none is missing
      EXPECT_LT(worst, listed.name.starts_with("ss") ? 1e-3 : 1e-8) << listed.name << " " << when;
    }
}

// Nothing is set, and the sides become unequal slowly: round-off must not make the event happen again.
TEST(Events, OfConditionsThatAreLeftSlowlyHappenOnce) {
  for (const double speed : {1.0, 1e-6, 1e-9})
    for (const ListedIntegrator& listed : integrators()) {
      ModelBuilder builder({0, 0, 0});
      builder.body("ball", "point").set("mass", {2}).set("position", {1 - 0.1234 * speed, 0, 0});
      builder.set("velocity", {speed, 0, 0});
      builder.sensor("place", "position").set("of", "ball");
      builder.sensor("far", "event").set("when", "place[0] > 1");
      Simulation simulation = started(make_system(builder.finish()), listed.name, 0.01);
      simulation.advance_to(1);
      EXPECT_EQ(simulation.events().size(), 1U) << listed.name << " " << speed;
    }
}

// What samples, other events and the user set may make a condition hold: it happens there, once.
TEST(Events, OfConditionsHappenWhereAChangeMakesThemHold) {
  const auto model = [] {
    ModelBuilder builder({0, 0, -kGravity});
    for (const char* name : {"mode", "level", "count", "last"}) builder.parameter(name, 0);
    builder.body("ball", "point").set("mass", {2}).set("velocity", {1, 0, 0});
    builder.sensor("place", "position").set("of", "ball");
    builder.sensor("first", "event").set("when", "place[0] > 0.205").set("set", "mode = 2");
    builder.sensor("second", "event").set("when", "mode == 2").set("set", "count = count + 1; last = t");
    builder.sensor("third", "event").set("when", "count >= 1").set("set", "mode = 3");
    builder.sensor("by_sample", "event")
        .set("when", "level > 0.5")
        .set("set", "count = count + 10; last = t");
    builder.sensor("clock", "sample")
        .set("value", "where(t > 0.3, 1, 0)")
        .set("into", "level")
        .set("every", {0.1});
    builder.sensor("seen", "expression").set("value", "by_sample");
    return make_system(builder.finish());
  }();
  const auto parameter = [](Simulation& s, const char* name) {
    return s.system().params().get(s.system().params().find(name));
  };
  Simulation simulation = started(model, "rk44", 0.01);
  simulation.advance_to(0.25);
  EXPECT_EQ(parameter(simulation, "mode"), 3);
  EXPECT_EQ(parameter(simulation, "count"), 1);
  EXPECT_NEAR(parameter(simulation, "last"), 0.205, 1e-12);
  simulation.advance_to(0.6);
  EXPECT_EQ(parameter(simulation, "count"), 11);
  EXPECT_NEAR(parameter(simulation, "last"), 0.4, 1e-12);
  simulation.set_input("mode", 2);  // by the user: it happens when the run goes on
  Simulation restored = simulation.clone();
  for (Simulation* one : {&simulation, &restored}) {
    one->advance_to(0.7);
    EXPECT_EQ(parameter(*one, "count"), 12);
    EXPECT_NEAR(parameter(*one, "last"), 0.6, 1e-12);
    std::vector<std::string> names;
    for (const Occurrence& event : one->events()) names.push_back(event.name);
    EXPECT_THAT(names, ::testing::ElementsAre("first", "second", "third", "by_sample", "second"));
  }
}

TEST(Events, ThatSetOffEachOtherWithoutEndAreRefused) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.parameter("mode", 0);
  builder.body("ball", "point").set("mass", {2});
  builder.sensor("up", "event").set("when", "mode == 1").set("set", "mode = 0");
  builder.sensor("down", "event").set("when", "max(mode == 0, t < 0)").set("set", "mode = 1");
  builder.sensor("start", "event").set("when", "t > 0.5").set("set", "mode = 1");
  Simulation simulation = started(make_system(builder.finish()), "rk44", 0.01);
  EXPECT_FALSE(simulation.run_to(1, {}));
  EXPECT_THAT(simulation.report().failure,
              ::testing::HasSubstr("trigger each other without end, among them"));
}

// sqrt(z - 1/2) is a number until the ball has fallen by a half, at t = 1/sqrt(g). The run ends at the last step before that.
TEST(Events, WhoseExpressionIsNotANumberAreNamed) {
  const auto falling = [](const std::string& when) {
    ModelBuilder builder({0, 0, -kGravity});
    builder.body("ball", "point").set("mass", {2}).set("position", {0, 0, 1});
    builder.sensor("place", "position").set("of", "ball");
    builder.sensor("gate", "event").set("when", when).set("action", "stop");
    return make_system(builder.finish());
  };
  const double last = 1 / std::sqrt(kGravity);
  for (const std::string method : {"generalized-alpha", "rk44", "dopri5,adaptive=true,max_step=0.01"}) {
    SimulateOptions options;
    options.integrator = method;
    options.end = 1;
    options.step = 0.01;
    const Result result = simulate(falling("sqrt(place[2] - 0.5) + 1"), options);
    EXPECT_FALSE(result.summary.completed) << method;
    EXPECT_THAT(result.summary.failure,
                ::testing::HasSubstr("event 'gate' is not a number: sqrt(place[2] - 0.5) + 1"));
    EXPECT_LE(result.state.t, last) << method;
    EXPECT_GT(result.state.t, last - 0.0101) << method;
  }
  try {
    started(falling("sqrt(place[2] - 2)"), "rk44", 0.01);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("events.gate"));
  }
}

// A position cannot jump.
TEST(Events, SetNoPositions) {
  ModelBuilder builder;
  builder.body("ball", "point").set("mass", {2}).set("position", {0, 0, 1});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("bounce", "event").set("when", "place[2]").set("set", "sensors.place[2] = 1");
  Simulation simulation = started(make_system(builder.finish()), "rk44", 0.01);
  EXPECT_THROW(simulation.advance(1), InputError);
}

// Across the plane of its hinges a double pendulum cannot move, whatever round-off says.
TEST(Events, DoNotSetVelocitiesThatJointsForbid) {
  ModelBuilder builder({0, 0, -kGravity});
  for (const auto& [name, x] : {std::pair("arm", 0.25), std::pair("bob", 0.75)})
    builder.body(name, "rigid")
        .set("mass", {1})
        .set("inertia", {0.01, 0.03, 0.03})
        .set("position", {x, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.joint("elbow", "revolute")
      .set("between", "arm", "bob")
      .set("at", {0.5, 0, 0})
      .set("axis", {0, 1, 0});
  builder.sensor("v", "velocity").set("of", "bob");
  builder.sensor("hit", "event").set("when", "t - 0.1").set("set", "sensors.v[1] = 1");
  const auto description = builder.finish();
  for (const std::string formulation : {"r3so3", "r3so3-spatial", "se3", "minimal"})
    for (const std::string method :
         {"generalized-alpha,rho=0.9", "generalized-alpha,rho=0.6", "lms3", "rk44"}) {
      SimulateOptions options;
      options.integrator = method;
      options.end = 1;
      options.step = 1e-3;
      Simulation simulation(make_system(description, formulation), options);
      EXPECT_THROW(simulation.advance_to(0.2), InputError) << formulation << " " << method;
    }
}

// A value that its number cannot have is refused like all others, with the event and the time.
TEST(Events, NameThemselvesWhereTheySetWhatIsNotAllowed) {
  ModelBuilder builder({0, 0, 0});
  builder.body("b", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  builder.sensor("lost", "event").set("when", "t - 0.25").set("set", "bodies.b.mass = -1");
  Simulation simulation = started(make_system(builder.finish()), "rk44", 0.01);
  try {
    simulation.advance_to(1);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                ::testing::HasSubstr(
                    "events.lost: bodies.b.mass: expected a non-negative number, got -1 at t = 0.25"));
  }
}

// What no body has at the start, no body gets during a run.
TEST(Events, DoNotMakeAnInertiaThatNoBodyHas) {
  ModelBuilder builder({0, 0, 0});
  builder.body("b", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("angular_velocity", {1, 2, 3});
  const System system = make_system(builder.finish());
  SimulateOptions options;
  options.end = 1;
  options.step = 1e-2;
  Simulation simulation(system, options);
  simulation.advance_to(0.1);
  for (const double value : {-1.0, 100.0})
    EXPECT_THROW(simulation.set_input("bodies.b.inertia[1]", value), InputError) << value;
  simulation.set_input("bodies.b.inertia[1]", 1.5);
}

}  // namespace
}  // namespace liedyn
