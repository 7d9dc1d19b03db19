// A simulation that is advanced in pieces, saved, copied and steered goes on as if nothing of this had happened.
#include "liedyn/analyses/simulation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "liedyn/analyses/run_output.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/base/allocation_counter.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A heavy top, pushed by a function of time.
std::shared_ptr<const Description> pushed_top_with_work() {
  ModelBuilder builder;
  add_heavy_top(builder);
  builder.force("push", "force")
      .set("on", std::string("top"))
      .set("force", {0, 0, 0})
      .expression("force", 1, "cos(3*t)");
  builder.sensor("position", "position").set("of", std::string("top"));
  builder.sensor("work", "work").set("of", std::string("push"));
  return builder.finish();
}

// A four-bar linkage with revolute joints only, three rows of which are redundant, whose crank turns round and round.
std::shared_ptr<const Description> four_bar() {
  ModelBuilder builder({0, -9.81, 0.5});
  const Vec3 B(0, 0.12, 0), C(0.24, 0.2, 0), D(0.24, 0, 0);
  const auto bar = [&](const char* name, const Vec3& from, const Vec3& to) {
    const double m = (to - from).norm();
    builder.body(name, "rigid")
        .set("mass", {m})
        .set("inertia", {1e-3 * m, m * m * m / 12, m * m * m / 12})
        .set("position", Vec3((from + to) / 2))
        .set("orientation", {0, 0, std::atan2(to.y() - from.y(), to.x() - from.x())})
        .consistent("velocity");
  };
  bar("crank", Vec3::Zero(), B);
  builder.set("angular_velocity", {0, 0, 25});
  bar("coupler", B, C);
  builder.consistent("angular_velocity");
  bar("rocker", D, C);
  builder.consistent("angular_velocity");
  const auto hinge = [&](const char* name, const char* first, const char* second, const Vec3& at) {
    builder.joint(name, "revolute").set("between", first, second).set("at", at).set("axis", {0, 0, 1});
  };
  hinge("A", "ground", "crank", Vec3::Zero());
  hinge("B", "crank", "coupler", B);
  hinge("C", "coupler", "rocker", C);
  hinge("D", "ground", "rocker", D);
  builder.sensor("place", "position").set("of", std::string("coupler")).set("at", C);
  builder.sensor("angle", "joint_angle").set("of", std::string("A"));
  return builder.finish();
}

// A chain of pendulums, in which matrices are expensive enough to be kept.
std::shared_ptr<const Description> chain() {
  ModelBuilder builder;
  add_chain(builder, 6);
  return builder.finish();
}

struct RunCase {
  std::string name;
  System system;
};
std::vector<RunCase> cases() {
  std::vector<RunCase> out;
  out.push_back({"pushed top", make_system(pushed_top_with_work())});
  out.push_back({"pushed top, euler-parameters", make_system(pushed_top_with_work(), "euler-parameters")});
  out.push_back({"four-bar", make_system(four_bar())});
  out.push_back({"four-bar, minimal", make_system(four_bar(), "minimal")});
  out.push_back({"chain, se3", make_system(chain(), "se3")});
  out.push_back({"chain, minimal", make_system(chain(), "minimal")});
  return out;
}

bool is_adaptable(const ListedIntegrator& listed) {
  return std::any_of(listed.options.begin(), listed.options.end(),
                     [](const IntegratorOption& o) { return o.name == "adaptive"; });
}

// Every integrator, and the forms in which some of them remember more.
std::vector<std::string> methods(bool adaptive) {
  std::vector<std::string> out;
  for (const ListedIntegrator& listed : integrators())
    if (!adaptive)
      out.push_back(listed.name);
    else if (is_adaptable(listed))
      out.push_back(listed.name + ",adaptive=true,rtol=1e-4,atol=1e-4");
  if (!adaptive)
    for (const char* form : {"index=2", "index=stabilized", "newton=modified", "sigma=opt", "form=linear",
                             "predictor=zero", "sigma=1,variant=paper"})
      out.push_back(fmt::format("generalized-alpha,{}", form));
  return out;
}

Simulation started_run(const System& system, const std::string& integrator, double step = 1e-3,
                       const std::string& solver = "auto") {
  SimulateOptions options;
  options.integrator = integrator;
  options.end = 1;
  options.step = step;
  options.solver = solver;
  return Simulation(system, options);
}

// The name of the first vector that differs in any bit; empty: none.
std::string difference(const State& a, const State& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() &&
           (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof(x[0])) == 0);
  };
  if (a.t != b.t) return fmt::format("t: {} and {}", a.t, b.t);
  if (!same(a.q, b.q)) return "q";
  if (!same(a.v, b.v)) return "v";
  if (!same(a.vdot, b.vdot)) return "vdot";
  if (!same(a.lambda, b.lambda)) return "lambda";
  if (!same(a.angles, b.angles)) return "angles";
  if (!same(a.redundant, b.redundant)) return "redundant";
  if (!same(a.y, b.y) || !same(a.ydot, b.ydot) || !same(a.yddot, b.yddot)) return "y";
  if (!same(a.eta, b.eta)) return "eta";
  if (!same(a.memory, b.memory)) return "memory";
  return {};
}

TEST(Simulation, InPiecesIsOneRunBitByBit) {
  int count = 0;
  for (const RunCase& c : cases())
    for (const std::string& method : methods(false)) {
      Simulation whole = started_run(c.system, method), pieces = started_run(c.system, method);
      whole.advance_to(0.06);
      for (const int steps : {1, 7, 2, 20}) pieces.advance(steps * 1e-3);
      pieces.advance_to(0.06);
      EXPECT_EQ(difference(whole.state(), pieces.state()), "") << c.name << ", " << method;
      EXPECT_EQ(whole.report().newton_iterations, pieces.report().newton_iterations);
      ++count;
    }
  fmt::print("  {} runs\n", count);
}

// Steps stay equal at the end of a long way only: ways of some first steps would never let them grow.
TEST(Simulation, AdaptiveStepsGrowOnShortWays) {
  const System system = make_system(chain());
  fmt::print("  {:<52} {:>21}\n", "method", "steps in 5 of 10 ms");
  for (const std::string& method : methods(true)) {
    const std::string loose = fmt::format("{},rtol=0.1,atol=0.1", method.substr(0, method.find(",rtol")));
    Simulation pieces = started_run(system, loose);
    for (int i = 1; i <= 5; ++i) pieces.advance_to(0.01 * i);
    const long before = pieces.report().steps;
    for (int i = 6; i <= 10; ++i) pieces.advance_to(0.01 * i);
    fmt::print("  {:<52} {:>21}\n", loose, pieces.report().steps - before);
    EXPECT_LE(pieces.report().steps - before, 10) << loose;
  }
}

// simulate() is the same run.
TEST(Simulation, EndsWhereSimulateDoes) {
  for (const std::string method : {"generalized-alpha", "lms3", "dopri5,adaptive=true"}) {
    const System system = make_system(pushed_top_with_work());
    SimulateOptions options;
    options.integrator = method;
    options.end = 0.1007;
    const Result result = simulate(system, options);
    Simulation simulation(system, options, Simulation::End::Fixed);
    simulation.advance_to(options.end);
    EXPECT_EQ(difference(result.state, simulation.state()), "") << method;
    EXPECT_EQ(simulation.time(), options.end);
    EXPECT_THROW(simulation.advance(1), InputError);
  }
}

TEST(Simulation, SavedAndCopiedGoesOnBitByBit) {
  int count = 0;
  for (const bool adaptive : {false, true})
    for (const RunCase& c : cases())
      for (const std::string& method : methods(adaptive)) {
        Simulation one = started_run(c.system, method), other = started_run(c.system, method);
        one.advance_to(0.0415);
        const std::string checkpoint = one.save();
        Simulation copy = one.clone();
        one.advance_to(0.1);
        other.advance_to(0.007);  // what it has done before does not matter
        other.restore(checkpoint);
        EXPECT_EQ(other.time(), copy.time());
        EXPECT_EQ(difference(other.state(), copy.state()), "");
        other.advance_to(0.1);
        EXPECT_EQ(difference(one.state(), other.state()), "") << "restored: " << c.name << ", " << method;
        copy.advance_to(0.1);
        EXPECT_EQ(difference(one.state(), copy.state()), "") << "copied: " << c.name << ", " << method;
        EXPECT_EQ(one.report().steps, other.report().steps);
        EXPECT_EQ(one.report().newton_iterations, other.report().newton_iterations);
        ++count;
      }
  fmt::print("  {} runs\n", count);
}

// The factors that a kept matrix needs are those of every solver.
TEST(Simulation, IsSavedWithEveryLinearSolver) {
  for (const char* solver : {"dense", "block", "klu"})
    for (const std::string method : {"generalized-alpha,newton=modified", "lms2,newton=modified", "rk44"})
      for (const RunCase& c : cases()) {
        Simulation one = started_run(c.system, method, 1e-3, solver),
                   other = started_run(c.system, method, 1e-3, solver);
        one.advance_to(0.05);
        other.restore(one.save());
        one.advance_to(0.1);
        other.advance_to(0.1);
        EXPECT_EQ(difference(one.state(), other.state()), "") << solver << ", " << c.name << ", " << method;
      }
}

// Adaptive steps meet every time that is asked for, exactly, and stay within their tolerance.
TEST(Simulation, AdaptiveStepsMeetEveryTime) {
  const System system = make_system(pushed_top_with_work());
  Simulation exact = started_run(system, "dopri5,adaptive=true,rtol=1e-11,atol=1e-11");
  exact.advance_to(0.5);
  for (const std::string& method : methods(true)) {
    Simulation whole = started_run(system, method), pieces = started_run(system, method);
    whole.advance_to(0.5);
    for (int i = 1; i <= 10; ++i) {
      pieces.advance_to(0.05 * i);
      EXPECT_EQ(pieces.time(), 0.05 * i) << method;
    }
    const auto error = [&](Simulation& simulation) {
      const std::vector<double> at = simulation.sensor("position"), is = exact.sensor("position");
      return std::hypot(at[0] - is[0], at[1] - is[1], at[2] - is[2]);
    };
    fmt::print("  {:<52} {} steps, error {:.2e}; in pieces {}, {:.2e}\n", method, whole.report().steps,
               error(whole), pieces.report().steps, error(pieces));
    EXPECT_LE(error(pieces), 3 * error(whole) + 1e-9) << method;
    EXPECT_LE(pieces.report().steps, whole.report().steps + 20) << method;
  }
}

// Any step asked for, however it divides the time.
TEST(Simulation, TakesEqualStepsOfAtMostTheStepAskedFor) {
  const System system = make_system(pushed_top_with_work());
  Simulation simulation = started_run(system, "generalized-alpha", 3e-3);
  simulation.advance(0.01);  // 4 of 2.5e-3
  EXPECT_EQ(simulation.report().steps, 4);
  EXPECT_NEAR(simulation.time(), 0.01, 1e-15);
  simulation.advance(0.01);
  EXPECT_EQ(simulation.report().steps, 8);
  simulation.advance(1e-6);  // one short step does not make the others short
  EXPECT_EQ(simulation.report().steps, 9);
  simulation.advance(0.03);
  EXPECT_EQ(simulation.report().steps, 19);
  simulation.advance(0);
  EXPECT_EQ(simulation.report().steps, 19);
  EXPECT_THROW(simulation.advance(-1e-3), InputError);
  EXPECT_THROW(simulation.advance(NAN), InputError);
  EXPECT_THROW(simulation.advance_to(0.01), InputError);
  EXPECT_THROW(simulation.advance(1e20), InputError);
}

// Nor does it spoil reactions, there and later, by round-off divided by the square of its length: errors are those of the run without it, first steps included.
TEST(Simulation, OneShortStepSpoilsNothing) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("bob", "point").set("mass", {1}).set("position", {1, 0, 0}).set("velocity", {0, 1, -2});
  builder.joint("pivot", "distance").set("between", "ground", "bob").set("points", {0, 0, 0, 1, 0, 0});
  builder.sensor("reaction", "reaction_force").set("of", "pivot");
  const System system = make_system(builder.finish());
  const auto reactions = [&](const std::string& integrator, double more) {
    Simulation simulation = started_run(system, integrator, 1e-3);
    std::vector<double> out;
    for (const double dt : {1e-3, 1e-3, 1e-3, 0.017, 0.48, more, 1e-3, 1e-3, 1e-3, 0.02}) {
      if (dt > 0) simulation.advance(dt);
      for (const double x : simulation.sensor("reaction")) out.push_back(x);
    }
    return out;
  };
  const auto difference = [](const std::vector<double>& a, const std::vector<double>& b) {
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
    return worst;
  };
  const std::vector<double> exact = reactions("rk67", 0);
  for (const ListedIntegrator& listed : integrators()) {
    const double own = difference(reactions(listed.name, 0), exact);
    for (const double dt : {1e-7, 1e-10})
      expect_at_most(difference(reactions(listed.name, dt), exact), std::max(2 * own, 1e-4),
                     fmt::format("{}: reactions [N] with a step of {}", listed.name, dt));
  }
}

// A slider and a wheel, driven by a force and a torque that are constant from time to time. Every method is exact as long as they are.
TEST(SimulationInputs, JumpsLeaveNoErrorWhereTheExactMotionIsAParabola) {
  ModelBuilder builder({0, 0, 0});
  builder.body("slider", "rigid").set("mass", {2}).set("inertia", {1, 1, 1});
  builder.body("wheel", "rigid").set("mass", {1}).set("inertia", {1, 1, 0.5}).set("position", {0, 3, 0});
  builder.joint("rail", "prismatic")
      .set("between", "ground", "slider")
      .set("at", {0, 0, 0})
      .set("axis", {1, 0, 0});
  builder.joint("axle", "revolute")
      .set("between", "ground", "wheel")
      .set("at", {0, 3, 0})
      .set("axis", {0, 0, 1});
  builder.force("push", "force").set("on", std::string("slider")).set("force", {0, 0, 0});
  builder.force("motor", "torque").set("on", std::string("wheel")).set("torque", {0, 0, 0});
  builder.sensor("x", "position").set("of", std::string("slider"));
  builder.sensor("v", "velocity").set("of", std::string("slider"));
  builder.sensor("angle", "joint_angle").set("of", std::string("axle"));
  builder.sensor("acceleration", "acceleration").set("of", std::string("slider"));
  const auto description = builder.finish();
  for (const std::string formulation :
       {"r3so3", "se3", "euler-parameters", "cardan", "cardan-body", "minimal"}) {
    const System system = make_system(description, formulation);
    for (const bool adaptive : {false, true})
      for (const std::string& method : methods(adaptive)) {
        if (method.find("form=linear") != std::string::npos) continue;
        Simulation simulation = started_run(system, method, 1e-2);
        double x = 0, v = 0, angle = 0, omega = 0;
        double worst = 0;
        simulation.advance(0.05);  // at rest: how methods start is not what is tested here
        for (const double u : {1.0, -3.0, 2.5, 0.0, 1.5}) {
          simulation.set_input("forces.push.force[0]", u);
          simulation.set_input("forces.motor.torque[2]", 0.5 * u);
          // Sensors show the new acceleration at once.
          worst = std::max(worst, std::abs(simulation.sensor("acceleration")[0] - u / 2));
          simulation.advance(0.1);
          x += 0.1 * v + 0.005 * u / 2;
          v += 0.1 * u / 2;
          angle += 0.1 * omega + 0.005 * u;
          omega += 0.1 * u;
          worst = std::max({worst, std::abs(simulation.sensor("x")[0] - x),
                            std::abs(simulation.sensor("v")[0] - v),
                            std::abs(simulation.sensor("angle")[0] - angle)});
        }
        // Angles of Cardan and Euler parameters are no parabolas: there the errors are those of the method.
        const bool straight = formulation == "r3so3" || formulation == "se3" || formulation == "minimal";
        const bool first_order = method.find("variant=paper") != std::string::npos;
        EXPECT_LT(worst, straight && !first_order ? 1e-10 : 1e-4) << formulation << ", " << method;
      }
  }
}

System pendulum(const char* torque = nullptr) {
  ModelBuilder builder;
  builder.body("rod", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {1, 0, 0});
  builder.joint("pivot", "revolute")
      .set("between", "ground", "rod")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.force("motor", "torque").set("on", std::string("rod")).set("torque", {0, 0, 0});
  if (torque != nullptr) builder.expression("torque", 1, torque);
  builder.sensor("angle", "joint_angle").set("of", std::string("pivot"));
  return make_system(builder.finish());
}

// The same jump as a function of time that the steps of an adaptive method meet.
TEST(SimulationInputs, AJumpOfATorqueIsThatOfAFunctionOfTime) {
  struct Method {
    const char* name;
    double tolerance, allowed;
  };
  for (const auto& [method, tolerance, allowed] :
       {Method{"dopri5", 1e-9, 1e-8}, Method{"esdirk4-6", 1e-6, 1e-5}}) {
    const std::string text = fmt::format("{},adaptive=true,rtol={},atol={}", method, tolerance, tolerance);
    Simulation steered = started_run(pendulum(), text);
    steered.advance_to(0.3);
    steered.set_input("forces.motor.torque[1]", 5);
    steered.advance_to(0.6);
    Simulation timed = started_run(pendulum("5*(0.5 + 0.5*sign(t - 0.3))"), text);
    timed.advance_to(0.6);
    expect_at_most(std::abs(steered.sensor("angle")[0] - timed.sensor("angle")[0]), allowed, method);
  }
}

// Changed in every step, as a controller does it: a method of second order stays one, and nothing grows.
TEST(SimulationInputs, ThatChangeInEveryStepAreSampledFunctionsOfTime) {
  Simulation exact = started_run(pendulum("15*sin(20*t)"), "dopri5,adaptive=true,rtol=1e-12,atol=1e-12");
  exact.advance_to(2);
  for (const ListedIntegrator& listed : integrators()) {
    std::vector<double> errors;
    for (const double h : {4e-3, 2e-3}) {
      Simulation steered = started_run(pendulum(), listed.name, h);
      for (long i = 0; i < std::lround(2 / h); ++i) {
        // In the middle of the step, so that sampling is of second order.
        steered.set_input("forces.motor.torque[1]", 15 * std::sin(20 * (steered.time() + h / 2)));
        steered.advance(h);
      }
      errors.push_back(std::abs(steered.sensor("angle")[0] - exact.sensor("angle")[0]));
    }
    fmt::print("  {:<18} errors {:.2e}, {:.2e}\n", listed.name, errors[0], errors[1]);
    EXPECT_LT(errors[1], 0.3 * errors[0]) << listed.name;
    EXPECT_LT(errors[1], 1e-3) << listed.name;
  }
}

TEST(SimulationInputs, AreRefusedWithAdviceAndChangeNothing) {
  const System system = make_system(four_bar());
  Simulation simulation = started_run(system, "generalized-alpha"),
             untouched = started_run(system, "generalized-alpha");
  simulation.advance(0.01);
  untouched.advance(0.01);
  const auto message = [&](const std::string& path, double value) -> std::string {
    try {
      simulation.set_input(path, value);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message("joints.B.at[0]", 0.01), testing::HasSubstr("would be violated by"));
  EXPECT_THAT(message("bodies.crank.angular_velocity[2]", 1), testing::HasSubstr("initial value"));
  EXPECT_THAT(message("bodies.crank.mas", 1), testing::HasSubstr("mass"));
  EXPECT_THAT(message("bodies.crank.mass", -1), testing::HasSubstr("got -1"));
  EXPECT_THAT(message("bodies.crank.mass", NAN), testing::HasSubstr("nan"));
  simulation.advance(0.02);
  untouched.advance(0.02);
  EXPECT_EQ(difference(simulation.state(), untouched.state()), "");
  EXPECT_EQ(message("bodies.crank.mass", 2), "accepted");
  EXPECT_EQ(simulation.input("bodies.crank.mass"), 2);
}

std::string refusal_of(Simulation& simulation, const std::string& path, double value) {
  try {
    simulation.set_input(path, value);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

// Every number that a kind of body calls one of the start, and no other.
TEST(SimulationInputs, AreNoInitialValuesOfAnyBody) {
  for (const Kind& kind : kinds(Section::Bodies)) {
    ModelBuilder builder({0, 0, 0});
    Random random(3);
    builder.body("b", kind.type);
    set_random_fields(builder, kind, random);
    const System system = make_system(builder.finish());
    const Description& d = system.model().description();
    int initial = 0, others = 0;
    for (std::size_t i = 0; i < d.parameters.size(); ++i) {
      const int number = static_cast<int>(i);
      const ParameterPlace place = locate_parameter(d, number);
      if (place.entry == nullptr) continue;
      Simulation simulation = started_run(system, "generalized-alpha");
      const std::string path = parameter_path(d, number),
                        said = refusal_of(simulation, path, d.parameters[i]);
      EXPECT_EQ(said.find("initial value") != std::string::npos, place.kind_field()->is_initial)
          << path << " " << said;
      ++(place.kind_field()->is_initial ? initial : others);
    }
    EXPECT_GE(initial, 6) << kind.type;
    EXPECT_GE(others, 1) << kind.type;
  }
}

// A point on a body is given where the body stands at the start, in the plane by its angle.
TEST(SimulationInputs, DoNotMovePointsInTheirBodies) {
  for (const char* field : {"position", "angle"}) {
    ModelBuilder builder({0, 0, 0});
    builder.parameter("u", 0.1);
    builder.body("b", "planar").set("mass", 1).set("inertia", 1).set("position", {0, 0}).set("angle", {0.1});
    builder.expression(field, 0, "u");
    builder.force("spring", "spring_damper").set("between", "ground", "b").set("points", {0, 2, 0, 0, 1, 0});
    builder.set("stiffness", {1}).expression("stiffness", 0, "1 + u").set("free_length", {1});
    const System system = make_system(builder.finish());
    Simulation simulation = started_run(system, "generalized-alpha");
    EXPECT_THAT(refusal_of(simulation, "u", 0.2),
                testing::HasSubstr(fmt::format("'bodies.b.{}{}' depends on it", field,
                                               std::string(field) == "position" ? "[0]" : "")));
  }
}

// Inputs are part of a checkpoint.
TEST(SimulationInputs, AreSaved) {
  for (const char* method : {"generalized-alpha", "lms4", "ss3", "rk44"}) {
    const System system = make_system(pushed_top_with_work());
    Simulation one = started_run(system, method), other = started_run(system, method);
    one.advance(0.02);
    one.set_input("forces.push.force[1]", 30);  // no function of time any more
    one.set_input("gravity[2]", -5);
    one.advance(0.013);
    other.restore(one.save());
    EXPECT_EQ(other.input("gravity[2]"), -5);
    one.advance(0.05);
    other.advance(0.05);
    EXPECT_EQ(difference(one.state(), other.state()), "") << method;
  }
}

TEST(SimulationCheckpoints, ThatDoNotFitAreRefused) {
  const System system = make_system(pushed_top_with_work());
  Simulation simulation = started_run(system, "generalized-alpha");
  simulation.advance(0.01);
  const std::string good = simulation.save();
  Simulation other = started_run(system, "generalized-alpha");
  const auto message = [](Simulation& by, const std::string& bytes) -> std::string {
    try {
      by.restore(bytes);
    } catch (const InputError& error) {
      return error.what();
    }
    return "restored";
  };
  EXPECT_EQ(message(other, good), "restored");
  EXPECT_THAT(message(other, ""), testing::HasSubstr("bytes that save() gave"));
  for (std::size_t length = 0; length < good.size(); length += 1 + good.size() / 200)
    EXPECT_NE(message(other, good.substr(0, length)), "restored") << length;
  for (std::size_t i = 0; i < good.size(); i += 1 + good.size() / 200) {
    std::string damaged = good;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_NE(message(other, damaged), "restored") << i;
  }
  EXPECT_EQ(difference(other.state(), simulation.state()), "");
  Simulation method = started_run(system, "lms2"),
             model = started_run(make_system(four_bar()), "generalized-alpha"),
             step = started_run(system, "generalized-alpha", 2e-3);
  EXPECT_THAT(message(method, good), testing::HasSubstr("integrator lms2"));
  EXPECT_THAT(message(step, good), testing::HasSubstr("steps of 0.002 s"));
  EXPECT_THAT(message(model, good), testing::HasSubstr("another model"));
}

TEST(Simulation, AllocatesNothingInTheLoop) {
  if (allocation_count() < 0) GTEST_SKIP() << "allocations are not counted in this build";
  for (const RunCase& c : cases())
    for (const std::string method : {"generalized-alpha", "lms3", "esdirk3-4", "rk44"}) {
      Simulation simulation = started_run(c.system, method);
      simulation.advance(0.05);
      const auto taken = [&](Simulation& by) {
        const long before = by.report().allocations;
        for (int i = 0; i < 20; ++i) by.advance(1e-3);
        return by.report().allocations - before;
      };
      EXPECT_EQ(taken(simulation), 0) << c.name << ", " << method;
      Simulation copy = simulation.clone();
      copy.advance(1e-2);
      EXPECT_EQ(taken(copy), 0) << "copy: " << c.name << ", " << method;
    }
}

TEST(Simulation, SaysWhatFailedAndKeepsTheLastGoodState) {
  ModelBuilder builder;
  builder.body("mass", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  builder.force("push", "force").set("on", std::string("mass")).set("force", {0, 0, 0});
  builder.expression("force", 0, "sqrt(0.1 - t)");
  builder.sensor("x", "position").set("of", std::string("mass"));
  Simulation simulation = started_run(make_system(builder.finish()), "generalized-alpha");
  try {
    simulation.advance(1);
    FAIL() << "it went on";
  } catch (const NumericalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("forces.push.force[0]"));
  }
  EXPECT_NEAR(simulation.time(), 0.1, 2e-3);
  // An input may remove the cause.
  simulation.set_input("forces.push.force[0]", 1);
  simulation.advance(0.5);
  EXPECT_NEAR(simulation.time(), 0.6, 2e-3);
  EXPECT_THROW(simulation.sensor("y"), InputError);
}

// Six rods with revolute joints, one row of which is redundant. Listed from P4 on, another one must be left out after 0.9 s.
std::shared_ptr<const Description> bricard() {
  ModelBuilder builder({0, -9.81, 0});
  const double J_long = 0.01 / 6, J = 1.01 / 12;
  const Vec3 points[] = {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
  const Vec3 axes[] = {Vec3::UnitY(), Vec3::UnitZ(), Vec3::UnitX(),
                       Vec3::UnitY(), Vec3::UnitZ(), Vec3::UnitX()};
  const auto rod = [](int i) { return i == 0 || i == 6 ? std::string("ground") : fmt::format("rod{}", i); };
  for (int i = 1; i <= 5; ++i) {
    const Vec3 along = points[i] - points[i - 1];
    builder.body(rod(i), "rigid")
        .set("mass", {1})
        .set("inertia", Vec3(Vec3::Constant(J) + (J_long - J) * along.cwiseAbs()))
        .set("position", Vec3((points[i] + points[i - 1]) / 2));
  }
  for (const int i : {3, 4, 5, 0, 1, 2})
    builder.joint(fmt::format("P{}", i + 1), "revolute")
        .set("between", rod(i), rod(i + 1))
        .set("at", points[i])
        .set("axis", axes[i]);
  builder.sensor("place", "position").set("of", std::string("rod2")).set("at", points[2]);
  return builder.finish();
}

// Index 2 drifts off the constraints, differently where other rows are imposed: a run with derivatives must exchange the same rows as one without.
TEST(Sensitivity, OfRedundantConstraintsFollowsThePlainRun) {
  const System system = make_system(bricard());
  SensitivityOptions options;
  options.simulation.integrator = "generalized-alpha,index=2";
  options.simulation.end = 2;
  options.simulation.step = 4e-3;
  options.parameters = {"bodies.rod2.mass"};
  options.outputs = {"place[0]", "place[1]"};
  Simulation plain(system, options.simulation, Simulation::End::Fixed);
  std::vector<int> rows = plain.state().redundant;
  int exchanges = 0;
  plain.run_to(options.simulation.end, [&](const State& now, long) {
    exchanges += now.redundant != rows ? 1 : 0;
    rows = now.redundant;
    return true;
  });
  fmt::print("  {} exchanges\n", exchanges);
  EXPECT_GT(exchanges, 0) << "the test says nothing";
  const std::vector<double> place = plain.sensor("place");
  for (const SensitivityMethod method : {SensitivityMethod::Direct, SensitivityMethod::Adjoint}) {
    options.method = method;
    options.check = true;
    const Sensitivity found = sensitivity(system, options);
    for (std::size_t i = 0; i < 2; ++i)
      expect_at_most(std::abs(found.values[i] - place[i]), 1e-8,
                     fmt::format("{}: place[{}]", name_of(method), i));
    EXPECT_THAT(found.disagrees, testing::Each(false)) << name_of(method);
  }
}

// What a checkpoint holds has changed since the layout 1.
TEST(Simulation, RefusesCheckpointsOfAnotherLayout) {
  Simulation simulation = started_run(make_system(pushed_top_with_work()), "rk44");
  std::string checkpoint = simulation.save();
  ASSERT_TRUE(checkpoint.starts_with("liedyn checkpoint 8\n"));
  checkpoint[18] = '1';
  try {
    simulation.restore(checkpoint);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("expected the layout 8, got the layout 1"));
  }
}

// Single steps are those of a run, of adaptive methods too; an end is not passed.
TEST(Simulation, StepByStepIsOneRunBitByBit) {
  const System system = make_system(pushed_top_with_work());
  for (const bool adaptive : {false, true})
    for (const std::string& method : methods(adaptive)) {
      SimulateOptions options;
      options.integrator = method;
      options.end = 0.05;
      options.step = 1e-3;
      Simulation whole(system, options, Simulation::End::Fixed),
          steps(system, options, Simulation::End::Fixed);
      whole.advance_to(0.05);
      steps.step(2);
      while (steps.time() < 0.05) steps.step();
      EXPECT_EQ(difference(whole.state(), steps.state()), "") << method;
      EXPECT_EQ(whole.report().steps, steps.report().steps) << method;
      EXPECT_THROW(steps.step(), InputError);
    }
}

// A run with checkpoints, and every run that goes on from one of them, is the run without: rows, figures of the summary and warnings.
void expect_same_run(const Result& a, const Result& b, const std::string& name) {
  EXPECT_EQ(difference(a.state, b.state), "") << name;
  ASSERT_EQ(a.trajectory.data.size(), b.trajectory.data.size()) << name;
  EXPECT_EQ(std::memcmp(a.trajectory.data.data(), b.trajectory.data.data(),
                        a.trajectory.data.size() * sizeof(double)),
            0)
      << name;
  const Summary &s = a.summary, &r = b.summary;
  EXPECT_EQ(s.start, r.start) << name;
  EXPECT_EQ(s.end, r.end) << name;
  EXPECT_EQ(s.steps, r.steps) << name;
  EXPECT_EQ(s.rejected, r.rejected) << name;
  EXPECT_EQ(s.newton_iterations, r.newton_iterations) << name;
  EXPECT_EQ(s.jacobian_updates, r.jacobian_updates) << name;
  EXPECT_EQ(s.energy_initial, r.energy_initial) << name;
  EXPECT_EQ(s.energy_max_drift, r.energy_max_drift) << name;
  EXPECT_EQ(s.residual_position, r.residual_position) << name;
  EXPECT_EQ(s.residual_velocity, r.residual_velocity) << name;
  EXPECT_EQ(s.warnings, r.warnings) << name;
  EXPECT_EQ(s.completed, r.completed) << name;
}

void expect_checkpoints_change_nothing(const System& system, SimulateOptions options, const std::string& name,
                                       std::initializer_list<long> at) {
  const Result whole = simulate(system, options);
  std::vector<Checkpoints> kept;
  Checkpoints keeping;
  keeping.due = [&](long step) { return std::find(at.begin(), at.end(), step) != at.end(); };
  keeping.keep = [&](const std::string& bytes, const Trajectory& recorded) {
    kept.push_back({.resume = bytes, .recorded = recorded.data});
  };
  expect_same_run(whole, simulate(system, options, {.checkpoints = &keeping}), name + ", with checkpoints");
  EXPECT_EQ(kept.size(), at.size()) << name;
  for (const Checkpoints& one : kept)
    expect_same_run(whole, simulate(system, options, {.checkpoints = &one}), name);
}

TEST(Checkpoints, ChangeNothing) {
  for (const bool adaptive : {false, true})
    for (const RunCase& c : cases())
      for (const std::string& method : methods(adaptive)) {
        SimulateOptions options;
        options.integrator = method;
        options.end = adaptive ? 0.2 : 0.05;
        options.output_every = 3;
        expect_checkpoints_change_nothing(c.system, options, c.name + ", " + method, {1, 4});
      }
}

// At the step that ends at an event, before and behind it; of samples between the times of the grid, and of a run that an event ends.
TEST(Checkpoints, ChangeNothingAtEvents) {
  ModelBuilder builder({0, 0, -9.81});
  builder.parameter("u", 0);
  builder.body("ball", "point").set("mass", {1}).set("position", {0, 0, 1});
  builder.force("push", "force")
      .set("on", std::string("ball"))
      .set("force", {0, 0, 0})
      .expression("force", 0, "u");
  builder.sensor("place", "position").set("of", std::string("ball"));
  builder.sensor("speed", "velocity").set("of", std::string("ball"));
  builder.sensor("bounce", "event").set("when", "place[2]").set("set", "sensors.speed[2] = -0.8*speed[2]");
  builder.sensor("law", "sample").set("value", "-place[0] - 1").set("into", "u").set("every", {0.0137});
  builder.sensor("far", "event").set("when", "place[0] + 0.6").set("action", "stop");
  const System system = make_system(builder.finish());
  for (const char* method : {"generalized-alpha", "lms3", "rk44", "dopri5,adaptive=true,max_step=0.01"}) {
    SimulateOptions options;
    options.integrator = method;
    options.end = 5;
    options.step = 0.01;
    const Result whole = simulate(system, options);
    EXPECT_THAT(whole.summary.warnings, testing::Contains(testing::HasSubstr("'far' has ended the run")));
    EXPECT_TRUE(whole.summary.completed);
    // Every step, the last one included, at which the run ends anyway.
    std::vector<Checkpoints> kept;
    Checkpoints keeping;
    keeping.due = [](long) { return true; };
    keeping.keep = [&](const std::string& bytes, const Trajectory& recorded) {
      kept.push_back({.resume = bytes, .recorded = recorded.data});
    };
    expect_same_run(whole, simulate(system, options, {.checkpoints = &keeping}), method);
    ASSERT_EQ(kept.size() + 1, static_cast<std::size_t>(whole.summary.steps)) << method;
    for (std::size_t i = 0; i < kept.size(); i += 5)
      expect_same_run(whole, simulate(system, options, {.checkpoints = &kept[i]}),
                      fmt::format("{}, step {}", method, i + 1));
  }
}

// What a user stops goes on where it was stopped.
TEST(Checkpoints, AreKeptWhereTheUserStops) {
  const System system = make_system(four_bar());
  SimulateOptions options;
  options.end = 0.1;
  options.output_every = 7;
  const Result whole = simulate(system, options);
  Checkpoints kept, keeping;
  keeping.keep = [&](const std::string& bytes, const Trajectory& recorded) {
    kept.resume = bytes;
    kept.recorded = recorded.data;
  };
  SimulateOptions stopping = options;
  stopping.progress = [](double fraction) { return fraction < 0.5; };
  EXPECT_TRUE(simulate(system, stopping, {.checkpoints = &keeping}).summary.interrupted);
  expect_same_run(whole, simulate(system, options, {.checkpoints = &kept}), "stopped");
}

TEST(Checkpoints, OfOtherRunsAreRefused) {
  const System system = make_system(four_bar());
  SimulateOptions options;
  options.end = 0.02;
  Checkpoints kept, keeping;
  keeping.due = [](long step) { return step == 5; };
  keeping.keep = [&](const std::string& bytes, const Trajectory& recorded) {
    kept.resume = bytes;
    kept.recorded = recorded.data;
  };
  simulate(system, options, {.checkpoints = &keeping});
  const auto message = [&](const System& of, const SimulateOptions& with,
                           const Checkpoints& from) -> std::string {
    try {
      simulate(of, with, {.checkpoints = &from});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(system, options, kept), "");
  SimulateOptions other = options;
  other.output_every = 2;
  EXPECT_THAT(message(system, other, kept), testing::HasSubstr("every 1 steps, got 2"));
  other = options;
  other.record_residuals = true;
  EXPECT_THAT(message(system, other, kept), testing::HasSubstr("records constraint residuals"));
  other = options;
  other.integrator = "lms2";
  EXPECT_THAT(message(system, other, kept), testing::HasSubstr("it belongs to other settings"));
  EXPECT_THAT(message(make_system(chain()), options, kept), testing::HasSubstr("another model"));
  Checkpoints damaged = kept;
  damaged.recorded.pop_back();
  EXPECT_THAT(message(system, options, damaged), testing::HasSubstr("expected rows of"));
  damaged = kept;
  damaged.resume = "something else";
  EXPECT_THAT(message(system, options, damaged), testing::HasSubstr("expected the bytes of a run"));
  damaged.resume = kept.resume.substr(0, kept.resume.size() / 2);
  EXPECT_THAT(message(system, options, damaged), testing::HasSubstr("unexpected end of the data"));
}

}  // namespace
}  // namespace liedyn
