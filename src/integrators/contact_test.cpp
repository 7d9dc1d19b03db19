// Contacts and stops in motion, against closed forms.
#include <gmock/gmock.h>

#include <numbers>

#include "liedyn/integrators/testing.h"
#include "liedyn/model/forces/contact.h"

namespace liedyn {
namespace {

// A ball above a floor at z = 0.
struct Ball {
  double mass = 1, radius = 0.1, height = 0;  // below its lowest point
  Vec3 velocity = Vec3::Zero();
  double gravity = 0;
  double stiffness = 1e6, exponent = 1.5, restitution = 1, impact_speed = 1;
  double friction = 0, smoothing = 1e-3;

  System system(const std::string& formulation = {}) const {
    ModelBuilder b({0, 0, -gravity});
    const double J = 0.4 * mass * radius * radius, z = radius + height;
    b.body("ball", "rigid").set("mass", {mass}).set("inertia", {J, J, J});
    b.set("position", {0, 0, z}).set("velocity", velocity);
    b.force("floor", "contact_plane_sphere").set("between", "ground", "ball");
    b.set("points", {0, 0, 0, 0, 0, z}).set("normal", {0, 0, 1}).set("radius", {radius});
    b.set("stiffness", {stiffness}).set("exponent", {exponent});
    b.set("restitution", {restitution}).set("impact_speed", {impact_speed});
    if (friction > 0) b.set("friction", {friction}).set("smoothing", {smoothing});
    b.sensor("position", "position").set("of", std::string("ball"));
    b.sensor("velocity", "velocity").set("of", std::string("ball"));
    b.sensor("spin", "angular_velocity").set("of", std::string("ball")).set("axes", std::string("inertial"));
    b.sensor("energy", "energy");
    return make_system(b.finish(), formulation);
  }
  // d_max = ((n + 1) m v^2/(2 k))^(1/(n + 1))
  double deepest(double v) const {
    return std::pow((exponent + 1) * mass * v * v / (2 * stiffness), 1 / (exponent + 1));
  }
  // 2 d_max/v int_0^1 dx/sqrt(1 - x^(n+1)) = 2 sqrt(pi) Gamma(1 + p)/Gamma(1/2 + p) d_max/v with p = 1/(n + 1)
  double contact_time(double v) const {
    const double p = 1 / (exponent + 1);
    return 2 * std::sqrt(std::numbers::pi) * std::tgamma(1 + p) / std::tgamma(0.5 + p) * deepest(v) / v;
  }
};
enum Sensors { kX, kY, kZ, kVx, kVy, kVz, kWx, kWy, kWz, kEnergy };

TEST(Contact, LastsAsLongAndIsAsDeepAsTheClosedForm) {
  for (const double exponent : {1.0, 1.5, 2.5})
    for (const double v : {0.1, 3.0}) {
      Ball ball;
      ball.exponent = exponent;
      ball.velocity = {0, 0, -v};
      const double T = ball.contact_time(v);
      double begin = -1, end = -1, deepest = 0, before = 0;
      WholeRun(ball.system(), "rk44", 1.5 * T, T / 2000, [&](const State& now, Work& work) {
        const double z = sensed(ball.system(), now, work)[kZ] - ball.radius;
        deepest = std::max(deepest, -z);
        if (begin < 0 && z <= 0) begin = now.t;
        if (before < 0 && z >= 0) end = now.t - T / 2000 * z / (z - before);
        before = z;
      });
      const std::string name = fmt::format("n = {}, v = {}: ", exponent, v);
      expect_at_most(std::abs(end - begin - T) / T, 1e-6, name + "contact time, relative");
      expect_at_most(std::abs(deepest - ball.deepest(v)) / deepest, 2e-6, name + "depth, relative");
    }
}

TEST(Contact, HasTheRestitutionThatIsGiven) {
  for (const double e : {0.05, 0.2, 0.5, 0.8, 0.95, 0.999, 1.0})
    for (const double exponent : {1.0, 1.5, 2.0}) {
      Ball ball;
      ball.exponent = exponent;
      ball.restitution = e;
      ball.impact_speed = 2;
      ball.velocity = {0, 0, -2};
      // A mass that rebounds slowly takes long.
      const WholeRun run(ball.system(), "dopri5,adaptive=true,rtol=1e-10,atol=1e-13",
                         6 * ball.contact_time(2) / e, 1e-5);
      expect_at_most(std::abs(run.sensors[kVz] / 2 - e), 2e-7,
                     fmt::format("n = {}, e = {}: restitution", exponent, e));
    }
}

TEST(Contact, DampingOfARestitutionSolvesItsEquation) {
  double worst = 0;
  for (double e = 0.03; e < 0.9995; e += 0.001) {
    const double x = damping_of_restitution(e), rest = std::log((1 + x) / (1 - e * x)) - (1 + e) * x;
    if (e * x < 1 - 1e-9) worst = std::max(worst, std::abs(rest) * (1 - e * x) / (1 - e));
    EXPECT_GT(damping_of_restitution(e - 0.001), x);
  }
  expect_at_most(worst, 1e-12, "equation of the restitution");
  EXPECT_EQ(damping_of_restitution(1.0), 0);
  EXPECT_NEAR(damping_of_restitution(1e-3), 1e3, 1e-9);
}

// With the lever rho of the friction it slides for v/(mu g (1 + m rho^2/J)), then rolls with v/(1 + J/(m rho^2)): 5/7 v for rho = R. The lever ends
// midway between the two surfaces, d/2 above the lowest point of the ball.
TEST(Contact, ABallSlidesAndThenRolls) {
  constexpr double v = 2, mu = 0.2;
  Ball ball;
  ball.gravity = kGravity;
  ball.stiffness = 1e9;
  const double sink = std::pow(kGravity / ball.stiffness, 1 / 1.5), rho = ball.radius - sink / 2;
  const double J = 0.4 * ball.radius * ball.radius, time = v / (mu * kGravity * (1 + rho * rho / J)),
               rolling = v / (1 + J / (rho * rho));
  ball.height = -sink;
  ball.velocity = {v, 0, 0};
  ball.friction = mu;
  ball.smoothing = 1e-5;
  const System system = ball.system();
  double stored = 0;
  const std::string method = "generalized-alpha,rho=0.8";
  const WholeRun slides(system, method, 0.5 * time, 1e-4, [&](const State& now, Work& work) {
    if (now.t == 0) stored = sensed(system, now, work)[kEnergy];
  });
  expect_at_most(std::abs(slides.sensors[kVx] - (v - mu * kGravity * 0.5 * time)), 1e-9,
                 "speed while it slides");
  expect_at_most(std::abs(slides.sensors[kWy] - mu * kGravity * 0.5 * time * rho / J), 1e-7,
                 "spin while it slides");
  const WholeRun rolls(system, method, 1.5 * time, 1e-4);
  expect_at_most(std::abs(rolls.sensors[kVx] - rolling), 1e-8, "speed while it rolls");
  expect_at_most(std::abs(rolls.sensors[kVx] - 5 * v / 7), sink / ball.radius * v,
                 "speed while it rolls - 5/7 v");
  expect_at_most(std::abs(rolls.sensors[kVx] - rho * rolls.sensors[kWy]), 1e-8, "slip while it rolls");
  expect_at_most(std::abs(stored - rolls.sensors[kEnergy] - v * (v - rolling) / 2), 1e-7,
                 "energy lost: m v^2/7");
  expect_at_most(
      std::abs(rolls.sensors[kX] - (v * time - mu * kGravity * time * time / 2 + rolling * 0.5 * time)), 1e-5,
      "distance");
}

// The impulses of friction and of the floor have the same lever whatever the bounces are: angular momentum about a point of the floor.
TEST(Contact, ABallThatBouncesRollsAsFastInTheEnd) {
  Ball ball;
  ball.gravity = kGravity;
  ball.stiffness = 1e9;
  ball.height = 0.05;
  ball.velocity = {2, 0.7, 0};
  ball.friction = 0.1;
  ball.restitution = 0.6;
  const WholeRun run(ball.system(), "dopri5,adaptive=true,rtol=1e-7", 3, 1e-2);
  expect_at_most(std::abs(run.sensors[kVx] - 10.0 / 7), 1e-3, "5/7 of the speed");
  expect_at_most(std::abs(run.sensors[kVy] - 0.5), 1e-3, "and across");
  expect_at_most(std::abs(run.sensors[kVx] - ball.radius * run.sensors[kWy]), 1e-4, "slip");
}

// N and T act on the power balance: what is lost is what they dissipate. T + V + the elastic energy is constant without losses.
TEST(Contact, KeepsTheEnergyWithoutLosses) {
  Ball ball;
  ball.gravity = kGravity;
  ball.height = 0.2;
  for (const std::string method : {"dopri5,adaptive=true,rtol=1e-9", "esdirk4-6,adaptive=true,rtol=1e-8"}) {
    double least = 1e300, most = -1e300;
    const System system = ball.system();
    const WholeRun run(system, method, 2, 1e-2, [&](const State& now, Work& work) {
      const double energy = sensed(system, now, work)[kEnergy];
      least = std::min(least, energy), most = std::max(most, energy);
    });
    expect_at_most((most - least) / (kGravity * 0.2), 2e-6,
                   method + ": change of the energy over 5 bounces, relative");
  }
}

System slider_between_stops(double restitution, const std::string& joint = "prismatic", double exponent = 1,
                            const std::string& formulation = {}) {
  ModelBuilder b({0, 0, 0});
  b.body("slider", "rigid").set("mass", {2}).set("inertia", {2, 2, 2});
  if (joint == "prismatic")
    b.set("velocity", {1, 0, 0});
  else
    b.set("angular_velocity", {1, 0, 0});
  b.joint("guide", joint).set("between", "ground", "slider").set("at", {0, 0, 0}).set("axis", {1, 0, 0});
  b.force("stops", "joint_stop").set("joint", std::string("guide")).set("lower", {-0.1}).set("upper", {0.1});
  b.set("stiffness", {1e6}).set("exponent", {exponent}).set("restitution", {restitution});
  b.set("impact_speed", {1});
  const std::string kind = joint == "prismatic" ? "joint_displacement" : "joint_angle";
  b.sensor("x", kind).set("of", std::string("guide"));
  b.sensor("v", kind + "_rate").set("of", std::string("guide"));
  return make_system(b.finish(), formulation);
}

// Each impact is slower than the one before: e(v) from (1 + e) x = ln((1 + x)/(1 - e x)) with x = a v.
TEST(JointStop, ReturnsWhatTheRestitutionSaysAtEverySpeed) {
  const double a = damping_of_restitution(0.6);
  const auto rebound = [&](double v) {
    double low = 0, high = v;
    for (int i = 0; i < 200; ++i) {
      const double u = (low + high) / 2;
      (a * (v + u) < std::log((1 + a * v) / (1 - a * u)) ? high : low) = u;
    }
    return low;
  };
  for (const std::string joint : {"prismatic", "revolute"})
    for (const std::string formulation : {"r3so3", "minimal"}) {
      const System system = slider_between_stops(0.6, joint, 1, formulation);
      double v = 1, t = 0.1;
      for (int impact = 0; impact < 3; ++impact) {
        const double after = rebound(v);
        const WholeRun run(system, "esdirk4-6,adaptive=true,rtol=1e-9", t + 0.05, 1e-3);
        expect_at_most(std::abs(run.sensors[1] - (impact % 2 == 0 ? -after : after)), 2e-6,
                       fmt::format("{}, {}: speed after impact {}", joint, formulation, impact + 1));
        t += 0.2 / after;
        v = after;
      }
    }
}

// Free within the dead band, then half of a period of the spring.
TEST(JointSpring, IsFreeWithinItsBacklash) {
  constexpr double m = 2, k = 800, band = 0.3, v = 1.5;
  ModelBuilder b({0, 0, 0});
  b.body("slider", "rigid").set("mass", {m}).set("inertia", {1, 1, 1}).set("velocity", {v, 0, 0});
  b.joint("guide", "prismatic")
      .set("between", "ground", "slider")
      .set("at", {0, 0, 0})
      .set("axis", {1, 0, 0});
  b.force("spring", "joint_spring").set("joint", std::string("guide")).set("stiffness", {k});
  b.set("backlash", {band});
  b.sensor("x", "joint_displacement").set("of", std::string("guide"));
  b.sensor("v", "joint_displacement_rate").set("of", std::string("guide"));
  const System system = make_system(b.finish());
  const double w = std::sqrt(k / m), flight = band / 2 / v, half = std::numbers::pi / w;
  const std::string method = "esdirk4-6,adaptive=true,rtol=1e-9";
  const WholeRun deepest(system, method, flight + half / 2, 1e-3),
      period(system, method, 4 * flight + 2 * half, 1e-3);
  expect_at_most(std::abs(deepest.sensors[0] - (band / 2 + v / w)), 1e-7, "largest displacement");
  expect_at_most(std::abs(deepest.sensors[1]), 1e-6, "speed there");
  expect_at_most(std::abs(period.sensors[0]), 1e-6, "displacement after a period");
  expect_at_most(std::abs(period.sensors[1] - v), 1e-6, "speed after a period");
}

// A mass falls into a rope that holds it from above, and onto a bump stop below: energy gives the lowest point.
TEST(SpringDamper, PullsOrPushesOnOneSideOnly) {
  constexpr double m = 3, k = 5000, free = 0.4;
  for (const std::string side : {"tension", "compression"}) {
    const bool rope = side == "tension";
    ModelBuilder b;
    b.body("mass", "point").set("mass", {m}).set("position", {0, 0, rope ? -0.1 : 0.5});
    b.force("spring", "spring_damper").set("between", "ground", "mass");
    b.set("points", {0, 0, 0, 0, 0, rope ? -0.1 : 0.5}).set("free_length", {free}).set("stiffness", {k});
    b.set("side", side);
    b.sensor("position", "position").set("of", std::string("mass"));
    const System system = make_system(b.finish());
    const double fall = rope ? free - 0.1 : 0.5 - free, v = std::sqrt(2 * kGravity * fall);
    double lowest = 1e300;
    WholeRun(system, "dopri5", 1, 1e-4,
             [&](const State& now, Work& work) { lowest = std::min(lowest, sensed(system, now, work)[2]); });
    // m g (fall + e) = k e^2/2
    const double e = m * kGravity / k + std::sqrt(std::pow(m * kGravity / k, 2) + m * v * v / k);
    expect_at_most(std::abs(lowest - (rope ? -free - e : free - e)), 1e-7, side + ": lowest point");
  }
}

// A shaft in a bearing with clearance: at rest it lies below by the clearance and what its weight presses, level, each end with half of the load.
TEST(Clearance, AShaftInSpaceRestsOnBothEnds) {
  constexpr double m = 2, clearance = 1e-3, length = 0.2, k = 1e8;
  ModelBuilder b;
  b.body("shaft", "rigid").set("mass", {m}).set("inertia", {0.002, 0.01, 0.01});
  b.set("angular_velocity", {0, 0, 0.01});
  b.force("bearing", "clearance").set("between", "ground", "shaft").set("points", {0, 0, 0, 0, 0, 0});
  b.set("axis", {1, 0, 0}).set("clearance", {clearance}).set("length", {length}).set("radius", {0.02});
  b.set("stiffness", {k}).set("damping", {5}).set("friction", {0.2}).set("smoothing", {1e-3});
  b.sensor("position", "position").set("of", std::string("shaft"));
  b.sensor("left", "position").set("of", std::string("shaft")).set("at", {-length / 2, 0, 0});
  const WholeRun run(make_system(b.finish()), "generalized-alpha,rho=0.2", 3, 2e-4);
  const double depth = std::pow(m * kGravity / k, 1 / 1.5);
  expect_at_most(std::abs(run.sensors[2] + clearance + depth), 1e-7, "height of the centre");
  expect_at_most(std::abs(run.sensors[5] + clearance + depth), 1e-6, "height of the left end");
}

// g sin(alpha)/(1 + J/(m r^2)) while it rolls, g (sin(alpha) - mu cos(alpha)) while it slides.
TEST(Wheel, RollsAndSlidesDownAnInclineAsTheClosedFormSays) {
  constexpr double m = 10, r = 0.3, alpha = 0.35, k = 1e9;
  const double load = m * kGravity * std::cos(alpha), sink = std::pow(load / k, 1 / 1.5);
  for (const double edge : {0.0, 0.05})
    for (const double mu : {0.5, 0.05}) {
      ModelBuilder b({kGravity * std::sin(alpha), 0, -kGravity * std::cos(alpha)});
      b.body("wheel", "rigid").set("mass", {m}).set("inertia", {m * r * r / 4, m * r * r / 2, m * r * r / 4});
      b.set("position", {0, 0, r - sink});
      b.force("road", "wheel").set("between", "ground", "wheel").set("points", {0, 0, 0, 0, 0, r - sink});
      b.set("normal", {0, 0, 1}).set("axis", {0, 1, 0}).set("radius", {r}).set("edge_radius", {edge});
      b.set("stiffness", {k}).set("damping", {0.5}).set("friction", {mu}).set("smoothing", {1e-5});
      b.sensor("position", "position").set("of", std::string("wheel"));
      const WholeRun run(make_system(b.finish()), "generalized-alpha,rho=0.6", 1, 2e-4);
      const bool rolls = mu > std::tan(alpha) / 3;
      const double a =
          rolls ? kGravity * std::sin(alpha) / 1.5 : kGravity * (std::sin(alpha) - mu * std::cos(alpha));
      expect_at_most(std::abs(run.sensors[0] - a / 2) / (a / 2), 1e-4,
                     fmt::format("mu = {}, edge {}: distance after 1 s, relative", mu, edge));
    }
}

// A box lies on a larger one, on its four lower corners and the points of four edges: m g = 16 k d^n. A capsule lies on two ends and three points of its
// axis: m g = 5 k d^n. Both lie level from a tilted start, and across an edge they do not fall through.
TEST(Contact, BoxesAndCapsulesLieOnBoxes) {
  constexpr double m = 3, k = 1e7;
  for (const std::string shape : {"box", "capsule"}) {
    ModelBuilder b;
    const double height = 0.05, top = 0.2, z = top + height + 2e-3;
    b.body("table", "rigid").set("mass", {100}).set("inertia", {1, 1, 1});
    b.joint("held", "fixed").set("between", "ground", "table").set("at", {0, 0, 0});
    b.body("load", "rigid").set("mass", {m}).set("inertia", {0.01, 0.02, 0.02}).set("position", {0, 0, z});
    b.set("orientation", {0, 0.005, 0.3});
    const bool box = shape == "box";
    b.force("hold", box ? "contact_box_box" : "contact_capsule_box").set("between", "load", "table");
    b.set("points", {0, 0, z, 0, 0, 0}).set(box ? "second_size" : "size", {1, 0.8, 2 * top});
    if (box)
      b.set("first_size", {0.3, 0.2, 2 * height});
    else
      b.in_bodies("axis", {{"load", Vec3(1, 0, 0)}}).set("length", {0.3}).set("radius", {height});
    b.set("stiffness", {k}).set("damping", {3}).set("friction", {0.3}).set("smoothing", {1e-3});
    b.sensor("position", "position").set("of", std::string("load"));
    b.sensor("end", "position").set("of", std::string("load")).in_bodies("at", {{"load", Vec3(0.15, 0, 0)}});
    const WholeRun run(make_system(b.finish()), "generalized-alpha,rho=0.4", 2, 2e-4);
    const double d = std::pow(m * kGravity / ((box ? 16 : 5) * k), 1 / 1.5);
    expect_at_most(std::abs(run.sensors[2] - (top + height - d)), 1e-7, shape + ": height");
    expect_at_most(std::abs(run.sensors[5] - (top + height - d)), 1e-6, shape + ": height of an end");
  }
}

// Through an impact: the force d^n is continuous with all derivatives below n, so that what happens in the step in which it begins costs
// an error of h^(n+1) in velocities.
TEST(Contact, ConvergesThroughImpactsInThreeFamilies) {
  struct Method {
    std::string name;
    double exponent, order;
  };
  for (const Method& m : {Method{"generalized-alpha,rho=0.8", 1.5, 2},
                          {"esdirk4-6", 3, 4},
                          {"esdirk3-4", 2, 3},
                          {"dopri5", 4, 5},
                          {"esdirk4-6", 1.5, 2.5},
                          {"dopri5", 1.5, 2.5}}) {
    Ball ball;
    ball.exponent = m.exponent;
    ball.stiffness = std::pow(1e3, m.exponent + 1) / 2 * (m.exponent + 1) * 1e-2;
    ball.restitution = 0.7;
    ball.height = 1e-3 / std::numbers::pi;
    ball.velocity = {0, 0, -1};
    const System system = ball.system();
    const double T = ball.contact_time(1), end = ball.height + 2 * T;
    const auto speed = [&](int steps) {
      return WholeRun(
                 system,
                 m.name + (m.name.starts_with("d") || m.name.starts_with("r") ? "" : ",newton_tol=1e-13"),
                 end, end / steps)
          .sensors[kVz];
    };
    const double exact = 0.7;
    // The touch falls at random into a step: the mean over several step sizes, over more of them where its error is the largest.
    const bool touch_counts = m.order > 2 && m.order == m.exponent + 1 && m.exponent < 2;
    const int first = touch_counts ? 160 : 80, count = touch_counts ? 16 : 6;
    std::vector<double> errors;
    for (const int steps : {first, 2 * first, 4 * first}) {
      double sum = 0;
      for (int i = 0; i < count; ++i) {
        const double error = speed(steps * (32 + i) / 32) - exact;
        sum += error * error;
      }
      errors.push_back(std::sqrt(sum / count));
    }
    fmt::print("  {:<28} n = {}: errors {:.1e} {:.1e} {:.1e}\n", m.name, m.exponent, errors[0], errors[1],
               errors[2]);
    expect_between(order_of(errors), m.order - 0.25, m.order + 0.6,
                   fmt::format("{}, n = {}: order of the speed after the impact", m.name, m.exponent));
  }
}

TEST(ContactWatch, WarnsOfStepsThatDoNotResolveAnImpact) {
  using ::testing::HasSubstr;
  Ball ball;
  ball.gravity = kGravity;
  ball.height = 0.1;
  const System system = ball.system();
  const double T = ball.contact_time(std::sqrt(2 * kGravity * 0.1));
  const auto warnings = [&](const std::string& method, double step) {
    return WholeRun(system, method, 0.5, step).report.warnings;
  };
  for (const std::string method : {"generalized-alpha", "esdirk4-6", "rk44"}) {
    EXPECT_THAT(warnings(method, T / 30), ::testing::IsEmpty()) << method;
    EXPECT_THAT(warnings(method, T / 4), ::testing::ElementsAre(HasSubstr("'forces.floor' is not resolved")))
        << method;
  }
  EXPECT_THAT(warnings("dopri5,adaptive=true", 0.05), ::testing::IsEmpty());
}

// Wherever in a step the touch falls: a run without a warning has the restitution within a per cent of the speed.
TEST(ContactWatch, WarnsBeforeTheRestitutionIsWrong) {
  constexpr double v = 1;
  int silent = 0, warned = 0;
  double worst = 0;
  for (const double exponent : {1.0, 1.5})
    for (const double restitution : {1.0, 0.5})
      for (const double part : {0.0, 0.2, 0.4, 0.6, 0.8})
        for (const double steps : {6.0, 8.0, 10.0, 14.0, 20.0, 24.0}) {
          Ball ball;
          ball.exponent = exponent;
          ball.stiffness = exponent == 1 ? 6e4 : 1e6;
          ball.restitution = restitution;
          ball.impact_speed = v;
          ball.velocity = {0, 0, -v};
          const double h = ball.contact_time(v) / steps;
          ball.height = (2 + part) * h * v;
          const WholeRun run(ball.system(), "generalized-alpha,rho=0.6", h * std::ceil(5 + 2 * steps), h);
          if (!run.report.warnings.empty()) {
            ++warned;
            EXPECT_LT(steps, 20) << exponent << " " << restitution << " " << part;
            continue;
          }
          ++silent;
          worst = std::max(worst, std::abs(run.sensors[kVz] - restitution * v));
        }
  fmt::print("  {} runs with a warning, {} without\n", warned, silent);
  EXPECT_GT(warned, 40);
  expect_at_most(worst, 0.006, "error of the restitution without a warning");
}

// Springs that act on one side, and backlash, are hit as stops are.
TEST(ContactWatch, WarnsOfSpringsThatAreHit) {
  const auto make = [](const std::string& kind) {
    ModelBuilder b({0, 0, 0});
    b.body("mass", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
    b.set("position", {1, 0, 0}).set("velocity", {kind == "compression" ? -2.0 : 2.0, 0, 0});
    if (kind == "backlash") {
      b.joint("guide", "prismatic")
          .set("between", "ground", "mass")
          .set("at", {1, 0, 0})
          .set("axis", {1, 0, 0});
      b.force("spring", "joint_spring").set("joint", std::string("guide")).set("backlash", {0.4});
    } else {
      b.force("spring", "spring_damper").set("between", "ground", "mass").set("points", {0, 0, 0, 1, 0, 0});
      if (kind != "both") b.set("side", kind);
      b.set("free_length", {kind == "compression" ? 0.8 : 1.2});
    }
    b.set("stiffness", {1e4});
    return make_system(b.finish());
  };
  for (const std::string kind : {"tension", "compression", "backlash"}) {
    const System system = make(kind);
    EXPECT_THAT(WholeRun(system, "generalized-alpha", 0.3, 1e-2).report.warnings,
                ::testing::ElementsAre(::testing::HasSubstr("'forces.spring' is not resolved")))
        << kind;
    EXPECT_THAT(WholeRun(system, "generalized-alpha", 0.3, 1e-3).report.warnings, ::testing::IsEmpty())
        << kind;
  }
  EXPECT_THAT(WholeRun(make("both"), "generalized-alpha", 0.3, 1e-2).report.warnings, ::testing::IsEmpty());
}

// The step before a touch may be far longer than the impact: what throws the bodies apart is tried again.
TEST(ContactWatch, AdaptiveStepsDoNotThrowBodiesApart) {
  constexpr double v = 2, e = 0.8, radius = 0.1;
  for (const double height : {0.5, 0.43, 0.47})
    for (const std::string method :
         {"generalized-alpha,adaptive=true", "esdirk4-6,adaptive=true", "dopri5,adaptive=true"}) {
      ModelBuilder b({0, 0, 0});
      b.body("ball", "rigid").set("mass", {1}).set("inertia", {0.01, 0.01, 0.01});
      b.set("position", {0, 0, height}).set("velocity", {0, 0, -v});
      b.force("hit", "contact_sphere_sphere").set("between", "ground", "ball");
      b.set("points", {0, 0, 0, 0, 0, height}).set("first_radius", {radius}).set("second_radius", {radius});
      b.set("stiffness", {1e7}).set("restitution", {e}).set("impact_speed", {v});
      b.sensor("velocity", "velocity").set("of", std::string("ball"));
      const WholeRun run(make_system(b.finish()), method, 1, 1e-2);
      EXPECT_THAT(run.report.warnings, ::testing::IsEmpty()) << method;
      expect_at_most(std::abs(run.sensors[2] - e * v), 0.01 * v,
                     fmt::format("{} from {} m: speed - e v", method, height));
    }
}

// A bullet passes through a small ball between two steps.
TEST(ContactWatch, WarnsOfTouchesBetweenTwoSteps) {
  const auto make = [](double offset) {
    ModelBuilder b({0, 0, 0});
    for (const std::string name : {"bullet", "target"}) {
      b.body(name, "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
      if (name == "bullet") b.set("position", {-1, offset, 0}).set("velocity", {100, 0, 0});
    }
    b.force("hit", "contact_sphere_sphere").set("between", "bullet", "target");
    b.set("points", {-1, offset, 0, 0, 0, 0}).set("first_radius", {0.01}).set("second_radius", {0.05});
    b.set("stiffness", {1e7});
    b.sensor("velocity", "velocity").set("of", std::string("target"));
    return make_system(b.finish());
  };
  const WholeRun run(make(1e-3), "generalized-alpha", 0.04, 8e-3);
  EXPECT_THAT(run.report.warnings, ::testing::ElementsAre(::testing::HasSubstr("may have been missed")));
  // Adaptive steps end where they touch.
  const WholeRun adaptive(make(1e-3), "dopri5,adaptive=true", 0.04, 8e-3);
  EXPECT_THAT(adaptive.report.warnings, ::testing::IsEmpty());
  EXPECT_GT(adaptive.sensors[0], 50);
}

}  // namespace
}  // namespace liedyn
