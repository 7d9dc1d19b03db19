// What every integrator that chooses its steps promises: right answers after jumps, kinks and stops, tolerances that depend on nothing but the motion,
// reactions at the end as good as inside, pulses that are not missed.
#include <gtest/gtest.h>

#include "liedyn/integrators/step_limit.h"
#include "liedyn/integrators/testing.h"
#include "liedyn/system/constraint_rows.h"

namespace liedyn {
namespace {

// Every listed method that estimates its error, each with the damping that it may have.
std::vector<std::string> adaptive_methods(const std::vector<std::string>& rhos) {
  std::vector<std::string> out;
  for (const ListedIntegrator& listed : integrators()) {
    const auto has = [&](const char* name) {
      return std::any_of(listed.options.begin(), listed.options.end(),
                         [&](const IntegratorOption& o) { return o.name == name; });
    };
    if (!has("adaptive")) continue;
    EXPECT_TRUE(has("max_step")) << listed.name;
    if (has("rho"))
      for (const std::string& rho : rhos) out.push_back(listed.name + ",adaptive=true,rho=" + rho);
    else
      out.push_back(listed.name + ",adaptive=true");
  }
  return out;
}
std::vector<std::string> adaptive_methods() { return adaptive_methods({"0.6", "0.9"}); }

std::shared_ptr<const Description> pushed_mass(const std::string& force) {
  ModelBuilder builder({0, 0, 0});
  builder.body("mass", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  builder.force("push", "force")
      .set("on", std::string("mass"))
      .set("force", {0, 0, 0})
      .expression("force", 0, force);
  builder.sensor("x", "position").set("of", std::string("mass"));
  builder.sensor("v", "velocity").set("of", std::string("mass"));
  return builder.finish();
}

// One body in a joint with an effort, an expression of t and of the sensors x and v.
std::shared_ptr<const Description> driven_joint(const std::string& joint, const std::string& effort) {
  ModelBuilder builder({0, 0, 0});
  const bool turns = joint == "revolute";
  builder.body("body", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  if (turns) builder.set("position", {0.5, 0, 0});
  builder.joint("joint", joint).set("between", "ground", "body").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
  builder.force("drive", "joint_effort").set("joint", std::string("joint")).set("effort", effort);
  builder.sensor("x", turns ? "joint_angle" : "joint_displacement").set("of", std::string("joint"));
  builder.sensor("v", turns ? "joint_angle_rate" : "joint_displacement_rate").set("of", std::string("joint"));
  return builder.finish();
}

struct Fall {
  double x, v;
};
// Falls from rest by 0.5 m onto a stop of stiffness K, again and again, until t.
Fall bouncing(double K, double t) {
  const double g = 9.81, speed = std::sqrt(g), w = std::sqrt(K);
  // On the stop u'' = g - K u from u = 0, u' = speed until u = 0 again: tan(w t/2) = -speed K/(w g).
  const double touches = 2 / w * (std::numbers::pi - std::atan(speed * w / g));
  t -= std::sqrt(1 / g);
  if (t < 0) return {-0.5 - speed * t - g * t * t / 2, -speed - g * t};
  for (;;) {
    if (t < touches) {
      const double c = std::cos(w * t), s = std::sin(w * t);
      return {-0.5 - (g / K * (1 - c) + speed / w * s), -(g / w * s + speed * c)};
    }
    t -= touches;
    if (t < 2 * speed / g) return {-0.5 + speed * t - g * t * t / 2, speed - g * t};
    t -= 2 * speed / g;
  }
}

TEST(AdaptiveSteps, AreRightAfterJumpsKinksAndStops) {
  struct Case {
    std::string name;
    System system;
    std::size_t x, v;  // among the sensors
    double exact_x, exact_v;
    double largest_x, largest_v;  // in the run
  };
  std::vector<Case> cases;
  cases.push_back({"jump", make_system(pushed_mass("5*(sign(t-0.5)+1)")), 0, 3, 1.25, 5, 1.25, 5});
  for (const double w : {1e-3, 1e-5, 1e-7})
    cases.push_back({fmt::format("ramp {:g}", w),
                     make_system(pushed_mass(fmt::format("10*step(t,0.5,{:.17g})", 0.5 + w))), 0, 3,
                     10 * (0.125 - 0.25 * w + w * w / 7), 10 * (0.5 - 0.5 * w), 1.25, 5});
  for (const char* formulation : {"r3so3", "se3", "minimal", "euler-parameters"}) {
    cases.push_back({fmt::format("torque jump, {}", formulation),
                     make_system(driven_joint("revolute", "5*(sign(t-0.5)+1)"), formulation), 0, 1, 1, 4, 1,
                     4});
    if (std::string(formulation) == "se3") continue;
    for (const double K : {1e3, 1e6}) {
      const Fall exact = bouncing(K, 0.8);
      cases.push_back(
          {fmt::format("stop {:g}, {}", K, formulation),
           make_system(driven_joint("prismatic", fmt::format("-9.81+{}*max(0,-(x+0.5))", K)), formulation), 0,
           1, exact.x, exact.v, 0.5, 3.13});
    }
  }
  fmt::print("  {:<36} {:<30} {:>7} {:>8} {:>10} {:>10}\n", "method", "case", "steps", "rejected", "x", "v");
  for (const std::string& method : adaptive_methods({"0", "0.3", "0.6", "0.9", "1"}))
    for (const Case& c : cases) {
      const bool stop = c.name.starts_with("stop");
      const WholeRun run(c.system, method, stop ? 0.8 : 1, 0.01);
      const double x = std::abs(run.sensors[c.x] - c.exact_x) / c.largest_x,
                   v = std::abs(run.sensors[c.v] - c.exact_v) / c.largest_v;
      fmt::print("  {:<36} {:<30} {:>7} {:>8} {:10.1e} {:10.1e}\n", method, c.name, run.report.steps,
                 run.report.rejected, x, v);
      EXPECT_LT(x, 5e-3) << method << ", " << c.name;
      EXPECT_LT(v, 5e-3) << method << ", " << c.name;
    }
}

// A body on a torsion spring, in units of time such that its period is P; forces are the same.
std::shared_ptr<const Description> torsion_oscillator(double P) {
  ModelBuilder builder({0, 0, 0});
  const double w = 2 * std::numbers::pi / P, inertia = 1e-2 * P * P;
  builder.body("body", "rigid")
      .set("mass", {P * P})
      .set("inertia", {inertia, inertia, inertia})
      .set("angular_velocity", {0, 0, w});
  builder.joint("joint", "revolute")
      .set("between", "ground", "body")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.force("spring", "joint_spring")
      .set("joint", std::string("joint"))
      .set("stiffness", {inertia * w * w});
  builder.sensor("angle", "joint_angle").set("of", std::string("joint"));
  return builder.finish();
}

TEST(AdaptiveSteps, DoNotDependOnTheUnitOfTime) {
  fmt::print("  {:<36} {:>9} {:>7} {:>11}\n", "method", "period", "steps", "error");
  for (const std::string& method : adaptive_methods()) {
    double steps = 0, error = 0;
    for (const double P : {1.0, 1e-3, 3600.0, 86400.0}) {
      const WholeRun run(make_system(torsion_oscillator(P)), method, 2.25 * P, P / 100);
      const double now = run.sensors[0] - 1;
      fmt::print("  {:<36} {:9g} {:>7} {:11.2e}\n", method, P, run.report.steps, now);
      if (P == 1) steps = static_cast<double>(run.report.steps), error = now;
      EXPECT_NEAR(static_cast<double>(run.report.steps), steps, 0.01 * steps) << method;
      EXPECT_NEAR(now, error, 0.02 * std::abs(error) + 1e-8) << method;
      EXPECT_LT(std::abs(now), 1e-3) << method;
    }
  }
}

// Two points on rods, far from the origin.
std::shared_ptr<const Description> double_pendulum_at(double x) {
  ModelBuilder builder;
  builder.body("upper", "point").set("mass", {1}).set("position", {x + 1, 0, 0});
  builder.body("lower", "point").set("mass", {1}).set("position", {x + 2, 0, 0});
  builder.joint("rod", "distance").set("between", "ground", "upper").set("points", {x, 0, 0, x + 1, 0, 0});
  builder.joint("other_rod", "distance")
      .set("between", "upper", "lower")
      .set("points", {x + 1, 0, 0, x + 2, 0, 0});
  builder.sensor("place", "position").set("of", std::string("lower"));
  return builder.finish();
}

TEST(AdaptiveSteps, DoNotDependOnTheOrigin) {
  fmt::print("  {:<36} {:>8} {:>7} {:>12} {:>12}\n", "method", "origin", "steps", "x", "z");
  for (const std::string& method : adaptive_methods()) {
    double steps = 0;
    Vec3 place = Vec3::Zero();
    for (const double x : {0.0, 1e4, 1e6}) {
      const WholeRun run(make_system(double_pendulum_at(x)), method + ",rtol=1e-3", 1, 0.01);
      const Vec3 now(run.sensors[0] - x, run.sensors[1], run.sensors[2]);
      fmt::print("  {:<36} {:8g} {:>7} {:12.6f} {:12.6f}\n", method, x, run.report.steps, now.x(), now.z());
      if (x == 0) steps = static_cast<double>(run.report.steps), place = now;
      EXPECT_NEAR(static_cast<double>(run.report.steps), steps, 0.05 * steps) << method;
      EXPECT_LT((now - place).norm(), 1e-3) << method;
    }
  }
}

TEST(AdaptiveSteps, DoNotDependOnTheLengthOfTheRun) {
  const System system = make_system(double_pendulum_at(0));
  for (const std::string& method : adaptive_methods()) {
    const auto times = [&](double end) {
      std::vector<double> out;
      WholeRun(system, method + ",rtol=1e-3,max_step=0.05", end, 0.01, [&](const State& now, Work&) {
        if (now.t < 0.4) out.push_back(now.t);
      });
      return out;
    };
    const std::vector<double> shorter = times(1), longer = times(3);
    fmt::print("  {:<36} {} steps to 0.4 s, the same in a run of 1 s and one of 3 s\n", method,
               shorter.size());
    EXPECT_EQ(shorter, longer) << method;
  }
}

// A body on a hinge, released level: the force in the hinge follows from angle and rate.
struct Swing {
  static constexpr double kMass = 2, kInertia = 0.3, kLength = 0.7, kGravity = 9.81;
  static std::shared_ptr<const Description> description() {
    ModelBuilder builder;
    builder.body("body", "rigid")
        .set("mass", {kMass})
        .set("inertia", {kInertia, kInertia, kInertia})
        .set("position", {kLength, 0, 0});
    builder.joint("hinge", "revolute")
        .set("between", "ground", "body")
        .set("at", {0, 0, 0})
        .set("axis", {0, 1, 0});
    builder.sensor("angle", "joint_angle").set("of", std::string("hinge"));
    builder.sensor("rate", "joint_angle_rate").set("of", std::string("hinge"));
    builder.sensor("force", "reaction_force").set("of", std::string("hinge"));
    return builder.finish();
  }
  // Relative to the weight.
  static double error_of_force(const std::vector<double>& sensors) {
    const double angle = sensors[0], rate = sensors[1];
    const double c = std::cos(angle), s = std::sin(angle);
    const double acceleration = kMass * kGravity * kLength * c / (kInertia + kMass * kLength * kLength);
    // x = l cos, z = -l sin of the angle about y
    const Vec3 force = kMass * (kLength * (acceleration * Vec3(-s, 0, -c) - rate * rate * Vec3(c, 0, -s)) +
                                Vec3(0, 0, kGravity));
    const Vec3 found(sensors[2], sensors[3], sensors[4]);
    // Which side the sensor shows is not the question.
    return std::min((found - force).norm(), (found + force).norm()) / (kMass * kGravity);
  }
};

TEST(AdaptiveSteps, GiveReactionsAtTheEndAsInside) {
  const System system = make_system(Swing::description());
  fmt::print("  {:<36} {:>6} {:>12} {:>12} {:>13} {:>12}\n", "method", "rtol", "end, worst", "end, median",
             "inside, worst", "median");
  for (const std::string& method : adaptive_methods())
    for (const double rtol : {1e-3, 1e-4, 1e-5}) {
      std::vector<double> inside, at_end;
      for (int i = 0; i <= 80; ++i) {
        const double end = 0.9 + 0.0025 * i;
        const WholeRun run(system, fmt::format("{},rtol={}", method, rtol), end, 0.01,
                           [&](const State& now, Work& work) {
                             if (now.t > 0.3 && now.t < end)
                               inside.push_back(Swing::error_of_force(sensed(system, now, work)));
                           });
        at_end.push_back(Swing::error_of_force(run.sensors));
      }
      std::sort(inside.begin(), inside.end());
      std::sort(at_end.begin(), at_end.end());
      fmt::print("  {:<36} {:6.0e} {:12.1e} {:12.1e} {:13.1e} {:12.1e}\n", method, rtol, at_end.back(),
                 at_end[40], inside.back(), inside[inside.size() / 2]);
      EXPECT_LE(at_end.back(), 2 * inside.back() + 1e-12) << method;
      EXPECT_LT(at_end.back(), 0.1) << method;
    }
}

TEST(AdaptiveSteps, DoNotPassOverPulses) {
  struct Case {
    std::string name;
    System system;
    std::size_t v;
    double end, exact;
  };
  const std::string trapezium = "200*(step(t,{0:g},{0:g}+1e-4)-step(t,{0:g}+0.005,{0:g}+0.0051))";
  std::vector<Case> cases;
  cases.push_back(
      {"5 ms in 1 s", make_system(pushed_mass(fmt::format(fmt::runtime(trapezium), 0.5))), 3, 1, 1});
  cases.push_back(
      {"5 ms in 1000 s", make_system(pushed_mass(fmt::format(fmt::runtime(trapezium), 500.0))), 3, 1000, 1});
  cases.push_back({"bell of 5 ms", make_system(pushed_mass("200*exp(-((t-0.5)/0.005)^2)")), 3, 1,
                   200 * 0.005 * std::sqrt(std::numbers::pi)});
  cases.push_back({"bell of 3e-5 s", make_system(pushed_mass("2e4*exp(-((t-0.50005)/0.00003)^2)")), 3, 1,
                   2e4 * 0.00003 * std::sqrt(std::numbers::pi)});
  cases.push_back({"bell of 1e-5 s by a quotient", make_system(pushed_mass("1e5/(1+((t-0.7301)/0.00001)^2)")),
                   3, 1, 1e5 * 1e-5 * (std::atan(0.2699 / 1e-5) + std::atan(0.7301 / 1e-5))});
  cases.push_back(
      {"bell of 1e-5 s by 1/cosh", make_system(pushed_mass("1e5/cosh((t-0.7301)/0.00001)^2")), 3, 1, 2});
  cases.push_back({"narrow triangle", make_system(pushed_mass("200*max(0,1-abs(t-0.5)/0.001)")), 3, 1, 0.2});
  cases.push_back({"table",
                   make_system(pushed_mass("spline(t,0,0,0.3,0,0.45,0,0.48,0,0.49,0,0.495,0,0.5,0,0.502,100,"
                                           "0.504,0,0.506,0,0.51,0,0.52,0,0.55,0,0.7,0,1,0)")),
                   3, 1, 0});
  cases.push_back({"effort of a joint",
                   make_system(driven_joint("prismatic", fmt::format(fmt::runtime(trapezium), 0.5))), 1, 1,
                   1});
  // Begins with forces whose squares are too small for a number.
  cases.push_back({"bell of 20 ms", make_system(pushed_mass("1000*exp(-((t-0.5)/0.02)^2)")), 3, 1,
                   1000 * 0.02 * std::sqrt(std::numbers::pi)});
  for (Case& c : cases)
    if (c.name == "table") c.exact = WholeRun(c.system, "rk44", 1, 2e-5).sensors[c.v];
  fmt::print("  {:<36} {:<20} {:>7} {:>12} {:>12}\n", "method", "pulse", "steps", "speed", "exact");
  for (const std::string& method : adaptive_methods())
    for (const Case& c : cases) {
      const WholeRun run(c.system, method, c.end, 0.01 * c.end);
      fmt::print("  {:<36} {:<20} {:>7} {:12.6f} {:12.6f}\n", method, c.name, run.report.steps,
                 run.sensors[c.v], c.exact);
      EXPECT_NEAR(run.sensors[c.v], c.exact, 2e-3 * std::abs(c.exact)) << method << ", " << c.name;
    }
}

TEST(EqualSteps, SayWhatTheyPassOver) {
  struct Case {
    const char* function;
    double step;
    bool hides;
  };
  for (const auto& [function, step, hides] :
       {Case{"200*(step(t,0.5,0.5001)-step(t,0.505,0.5051))", 0.01, true},
        Case{"200*(step(t,0.5,0.5001)-step(t,0.505,0.5051))", 0.001, false},
        Case{"200*exp(-((t-0.5)/0.005)^2)", 0.1, true}, Case{"200*exp(-((t-0.5)/0.005)^2)", 1e-3, false},
        Case{"200*max(0,1-abs(t-0.512)/0.001)", 0.01, true}, Case{"sin(2*pi*t)", 0.05, false},
        Case{"sin(200*t)", 0.03, true}, Case{"sin(200*t)", 1e-3, false}, Case{"step(t,0.4,0.6)", 0.2, false},
        Case{"min(1,max(0,1e9*(t-0.503)))", 0.01, false}, Case{"1", 0.1, false},
        Case{"200*exp(-((t-0.50005)/0.00003)^2)", 1e-4, true}, Case{"100+0.001*sin(2*pi*100*t)", 0.01, false},
        Case{"200*exp(-((t-0.50305)/0.00003)^2)", 0.01, true}, Case{"1/(t-0.5031)", 0.01, false},
        Case{"sin(20*pi*t)", 0.01, false}, Case{"sin(20*pi*t)^2", 0.005, false}}) {
    const WholeRun run(make_system(pushed_mass(function)), "generalized-alpha", 1, step);
    const std::string said = run.report.warnings.empty() ? "nothing" : run.report.warnings.front();
    fmt::print("  {} with steps of {}: {}\n", function, step, said);
    EXPECT_EQ((said.find("do not resolve the function of time 'forces.") != std::string::npos), hides)
        << function << " " << step;
    EXPECT_EQ(said.find("has a spike at t = 0.5031 ") != std::string::npos,
              std::string_view(function).starts_with("1/(t"))
        << said;
  }
}

TEST(EqualSteps, SayHowWideAPulseIsThatTheyPassOver) {
  struct Case {
    const char* function;
    double step, width, t;  // at half of its height
  };
  for (const auto& [function, step, width, t] :
       {Case{"200*(step(t,0.501,0.5011)-step(t,0.506,0.5061))", 0.01, 0.005, 0.5035},
        Case{"3 + 200*max(0,1-abs(t-0.512)/0.001)", 0.01, 0.001, 0.512},
        Case{"-exp(-((t-0.55)/0.005)^2)", 0.1, 0.01 * std::sqrt(std::log(2.0)), 0.55}}) {
    const auto passed = StepLimit(make_system(pushed_mass(function)), 0, 1).passed_over(0, step);
    ASSERT_TRUE(passed) << function;
    EXPECT_EQ(passed->function, "forces.push.force[0]");
    EXPECT_NEAR(passed->width, width, 0.02 * width) << function;
    EXPECT_NEAR(passed->t, t, width / 2) << function;
  }
}

TEST(EqualSteps, PassOverNothingWhereAFunctionHasNoValue) {
  for (const char* function : {"sqrt(0.0055-t)", "log(0.0055-t)"})
    EXPECT_FALSE(StepLimit(make_system(pushed_mass(function)), 0, 1).passed_over(0, 1e-3)) << function;
}

TEST(AdaptiveSteps, AreNoLongerThanMaxStep) {
  const System system = make_system(pushed_mass("1"));
  for (const std::string& method : adaptive_methods()) {
    const WholeRun bounded(system, method + ",max_step=0.02", 1, 0.001), free(system, method, 1, 0.001);
    fmt::print("  {:<36} longest step {:g}, by default {:g}\n", method, bounded.report.largest_step,
               free.report.largest_step);
    EXPECT_LE(bounded.report.largest_step, 0.02 * (1 + 1e-5));
    EXPECT_GT(free.report.largest_step, 0.02);
    EXPECT_LE(free.report.largest_step, 0.1 * (1 + 1e-5));
  }
}

TEST(AdaptiveSteps, NeedNoAbsoluteTolerance) {
  ModelBuilder with_state;
  with_state.body("body", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {1, 0, 0});
  with_state.joint("hinge", "revolute")
      .set("between", "ground", "body")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  with_state.state("nothing", "expression").set("rate", std::string("0")).set("initial", {0});
  with_state.sensor("angle", "joint_angle").set("of", std::string("hinge"));
  const auto description = with_state.finish();
  for (const char* formulation : {"r3so3", "minimal"}) {
    const System system = make_system(description, formulation);
    for (const std::string& method : adaptive_methods()) {
      const WholeRun none(system, method + ",atol=0", 1, 0.01),
          tiny(system, method + ",atol=1e-300", 1, 0.01);
      fmt::print("  {:<36} {:<8} {} steps with atol=0, {} with 1e-300\n", method, formulation,
                 none.report.steps, tiny.report.steps);
      EXPECT_EQ(none.report.steps, tiny.report.steps);
      EXPECT_EQ(none.sensors, tiny.sensors);
    }
  }
}

// Two rods on hinges with some damping, for ten seconds.
std::shared_ptr<const Description> double_pendulum() {
  ModelBuilder builder;
  Vec3 end = Vec3::Zero();
  std::string before = "ground";
  for (const auto& [name, angle] : {std::pair<std::string, double>{"a", 1.0}, {"b", 0.5}}) {
    const Vec3 along(std::cos(angle), 0, -std::sin(angle));
    builder.body(name, "rigid")
        .set("mass", {1})
        .set("inertia", {1.0 / 12, 1.0 / 12, 1.0 / 12})
        .set("position", Vec3(end + 0.5 * along));
    builder.joint("hinge_" + name, "revolute")
        .set("between", before, name)
        .set("at", end)
        .set("axis", {0, 1, 0});
    builder.force("damper_" + name, "joint_spring")
        .set("joint", std::string("hinge_" + name))
        .set("damping", {0.1});
    builder.sensor("angle_" + name, "joint_angle").set("of", std::string("hinge_" + name));
    end += along;
    before = name;
  }
  return builder.finish();
}

TEST(AdaptiveSteps, GiveErrorsInProportionToTheTolerance) {
  const auto description = double_pendulum();
  const std::vector<double> exact = WholeRun(make_system(description, "minimal"), "rk67", 10, 2e-3).sensors;
  fmt::print("  {:<36} {:<8} {:>8} {:>7} {:>9} {:>10} {:>8}\n", "method", "", "rtol", "steps", "rejected",
             "error", "per rtol");
  for (const std::string& method : adaptive_methods({"0.9"}))
    for (const char* formulation : {"r3so3", "minimal"}) {
      const System system = make_system(description, formulation);
      std::vector<double> errors;
      for (const double rtol : {1e-3, 1e-4}) {
        const WholeRun run(system, fmt::format("{},rtol={},atol={}", method, rtol, 1e-4 * rtol), 10, 0.01);
        errors.push_back((as_vector(run.sensors) - as_vector(exact)).cwiseAbs().maxCoeff());
        fmt::print("  {:<36} {:<8} {:8.0e} {:>7} {:>9} {:10.1e} {:8.2f}\n", method, formulation, rtol,
                   run.report.steps, run.report.rejected, errors.back(), errors.back() / rtol);
        EXPECT_LT(errors.back(), 30 * rtol) << method << ", " << formulation;
      }
      expect_between(std::log10(errors.front() / errors.back()), 0.6, 1.8,
                     fmt::format("{}, {}: decades of error for one of tolerance", method, formulation));
    }
}

TEST(AdaptiveSteps, OfGeneralizedAlphaGiveTheAccuracyThatIsAskedForOnTheHeavyTop) {
  for (const char* formulation : {"r3so3", "r3so3-spatial", "se3"})
    for (const char* sigma : {"0", "opt"}) {
      const System system = make_system(heavy_top::description(), formulation);
      const double rtol = 1e-3;
      const WholeRun run(system, fmt::format("generalized-alpha,sigma={},adaptive=true,rtol={}", sigma, rtol),
                         1, 1e-4);
      const Vec3 place = heavy_top::sample_of(run.sensors).position;
      const double error = (place - heavy_top::Reference::at(1).position).norm();
      fmt::print("  {} steps\n", run.report.steps);
      expect_between(error / rtol, 0.02, 20,
                     fmt::format("{}, sigma = {}: error at the end relative to rtol", formulation, sigma));
    }
}

// What is not smooth is cut off when the step changes, and only that: with steps at random smooth motion is as accurate as without.
TEST(AdaptiveSteps, OfAnySizeAreAsAccurateAsThoseOfAGivenSize) {
  fmt::print("  {:<20} {:<17} {:>21} {:>21} {:>21}\n", "generalized-alpha", "formulation", "q, and uncut",
             "v, and uncut", "force, and uncut");
  for (const std::string formulation : {"r3so3", "r3so3-spatial", "euler-parameters"})
    for (const char* options :
         {"", ",rho=0.6", ",sigma=opt", ",index=stabilized", ",start=corrected", ",form=linear"}) {
      const System system = make_system(heavy_top::description(), formulation);
      const std::string method = std::string("generalized-alpha,newton_tol=1e-10") + options;
      const heavy_top::Errors cut = heavy_top::errors_with_random_steps(system, method + ",adaptive=true",
                                                                        3000, 0.5),
                              uncut = heavy_top::errors_with_random_steps(system, method, 3000, 0.5);
      fmt::print("  {:<20} {:<17} {:10.2e} {:10.2e} {:10.2e} {:10.2e} {:10.2e} {:10.2e}\n", options,
                 formulation, cut.position, uncut.position, cut.velocity, uncut.velocity, cut.force,
                 uncut.force);
      EXPECT_LT(cut.position, 2 * uncut.position + 1e-5) << method << ", " << formulation;
      EXPECT_LT(cut.velocity, 2 * uncut.velocity + 1e-5) << method << ", " << formulation;
      EXPECT_LT(cut.force, 2 * uncut.force + 1e-4) << method << ", " << formulation;
    }
}

// Tolerances that index 3 cannot meet: steps become shorter until velocities are round-off. The run ends with the state before that.
TEST(AdaptiveSteps, ThatBecomeTooShortEndWhereTheyWereGood) {
  ModelBuilder b({0, 0, -9.81});
  const Vec3 inertia(0.03, 0.03, 0.03);
  b.body("cart", "rigid").set("mass", {1}).set("inertia", inertia).set("position", {2, 0, 0.5});
  b.body("bob", "rigid").set("mass", {1}).set("inertia", inertia).set("position", {2.3, 0, 0.2});
  b.joint("rail", "prismatic").set("between", "ground", "cart").set("at", {2, 0, 0.5}).set("axis", {1, 0, 0});
  b.joint("drive", "prescribed_motion").set("joint", "rail").set("motion", "0.1*sin(3*t)^2");
  b.joint("hinge", "revolute").set("between", "cart", "bob").set("at", {2, 0, 0.5}).set("axis", {0, 1, 0});
  b.sensor("reaction", "reaction_force").set("of", "hinge");
  const System system = make_system(b.finish());
  int failed = 0;
  for (const std::string method :
       {"generalized-alpha,adaptive=true,rtol=1e-8,atol=1e-8",
        "generalized-alpha,adaptive=true,rtol=1e-9,atol=1e-11",
        "esdirk4-6,adaptive=true,rtol=1e-9,atol=1e-11", "esdirk3-4,adaptive=true,rtol=1e-10,atol=1e-12"}) {
    const auto integrator = make_integrator(system, method);
    Work work(system, "auto", integrator->form());
    State state = consistent_state(system, 0, InitialPolicy::Check, work);
    const DriveReport report =
        drive(*integrator, system, {0.6, 2e-4}, state, work, [](const State&, long) { return true; });
    failed += report.completed ? 0 : 1;
    fmt::print("  {}: t = {:.9g}, {}\n", method, state.t, report.failure);
    system.residual(state, work, {});
    evaluate_constraint_rows(system.model(), state, work);
    double rate = 0;
    for (const double row : work.rate) rate = std::max(rate, std::abs(row));
    expect_at_most(rate, 1e-5, "velocities that violate constraints");
    const std::vector<double> reaction = sensed(system, state, work);
    expect_at_most(std::hypot(reaction[0], reaction[1], reaction[2]), 60, "reaction");
  }
  EXPECT_GT(failed, 0) << "the test says nothing";
}

TEST(CardanAngles, SayWhenTheyPassTheirSingularityInLongSteps) {
  ModelBuilder builder;
  add_heavy_top(builder);
  const auto description = builder.finish();
  for (const char* formulation : {"cardan", "cardan-body", "r3so3"})
    for (const char* method : {"rk44", "generalized-alpha"}) {
      const System system = make_system(description, formulation);
      const auto integrator = make_integrator(system, method);
      Work work(system);
      State state = consistent_state(system, 0, InitialPolicy::Check, work);
      const DriveReport report =
          drive(*integrator, system, {0.2, 1e-3}, state, work, [](const State&, long) { return true; });
      fmt::print("  {:<12} {:<18} {}\n", formulation, method,
                 report.warnings.empty() ? "no warning" : report.warnings.front());
      EXPECT_EQ(report.warnings.empty() && report.completed, std::string(formulation) == "r3so3");
    }
}

}  // namespace
}  // namespace liedyn
