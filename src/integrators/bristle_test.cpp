// Contacts with bristles: what sticks stays, what slides has the friction of the law.
#include <gmock/gmock.h>

#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

// A block with its corners on a plane that is inclined by alpha: the gravity is turned instead.
struct Block {
  double alpha = 0.2, mu = 0.5, presliding = 1e-5, push = 0, frequency = 0;  // push: of its weight
  bool bristles = true;
  static constexpr double m = 2, smoothing = 1e-3, k = 1e8;

  System system(const std::string& formulation = {}) const {
    ModelBuilder b({kGravity * std::sin(alpha), 0, -kGravity * std::cos(alpha)});
    // The normal force of four corners, and their depth.
    const double sink = std::pow(m * kGravity * std::cos(alpha) / (4 * k), 1 / 1.5), z = 0.05 - sink;
    b.body("block", "rigid").set("mass", {m}).set("inertia", {0.02, 0.03, 0.04}).set("position", {0, 0, z});
    b.force("floor", "contact_plane_box").set("between", "ground", "block");
    b.set("points", {0, 0, 0, 0, 0, z}).set("normal", {0, 0, 1}).set("size", {0.4, 0.3, 0.1});
    b.set("stiffness", {k}).set("damping", {1}).set("friction", {mu});
    if (bristles)
      b.set("presliding", {presliding})
          .set("presliding_damping", {2 * std::sqrt(mu / presliding / kGravity)});
    else
      b.set("smoothing", {smoothing});
    if (push > 0) {
      b.force("push", "force").set("on", std::string("block")).set("force", {0, 0, 0});
      b.expression("force", 0, fmt::format("{}*sin({}*t)", push * m * kGravity, frequency));
    }
    b.sensor("position", "position").set("of", std::string("block"));
    b.sensor("velocity", "velocity").set("of", std::string("block"));
    return make_system(b.finish(), formulation);
  }
};

// Without memory it creeps with v_s r/sqrt(1 - r^2), r = tan(alpha)/mu; with bristles it moves by presliding times r, once.
TEST(Bristles, ABlockOnAnInclineSticksWithoutCreep) {
  Block block;
  const double r = std::tan(block.alpha) / block.mu;
  const std::string method = "generalized-alpha,rho=0.7";
  block.bristles = false;
  const System smooth = block.system();
  const WholeRun creeps(smooth, method, 10, 2e-3);
  const double creep = Block::smoothing * r / std::sqrt(1 - r * r);
  expect_at_most(std::abs(creeps.sensors[3] - creep) / creep, 1e-6, "smoothed friction: speed, relative");
  expect_between(creeps.sensors[0], 0.9 * 10 * creep, 1.1 * 10 * creep, "smoothed friction: way in 10 s");

  block.bristles = true;
  for (const std::string formulation : {"r3so3", "se3", "euler-parameters", "minimal"}) {
    const WholeRun sticks(block.system(formulation), method, 10, 2e-3);
    expect_at_most(std::abs(sticks.sensors[3]), 1e-12, formulation + ": speed after 10 s");
    // The lever of the friction tilts the block by its depth: not the way of the bristles alone.
    expect_between(sticks.sensors[0] / (block.presliding * r), 0.9, 1.3,
                   formulation + ": way/presliding way");
  }
}

// v^2 = 2 a x, up to the work of the bristles that deflect, about half of mu N presliding.
TEST(Bristles, ABlockSlidesAsCoulombSays) {
  Block block;
  block.alpha = 0.6;
  for (const std::string method : {"generalized-alpha,rho=0.7", "esdirk4-6,adaptive=true,rtol=1e-6"}) {
    const WholeRun run(block.system(), method, 0.2, 2e-4);
    const double a = kGravity * (std::sin(block.alpha) - block.mu * std::cos(block.alpha)),
                 v = run.sensors[3];
    expect_at_most(std::abs(v * v / (2 * a * run.sensors[0]) - 1), 2e-3, method + ": v^2/(2 a x) - 1");
  }
}

// Equal steps that slide by many lengths of the bristles are named, with a step that will do; so are none that do not, or adaptive ones.
TEST(Bristles, WarnOfStepsThatSlideTooFar) {
  Block block;
  block.alpha = 0.6;
  block.presliding = 1e-4;
  const auto warnings = [&](const std::string& method, double step) {
    return WholeRun(block.system(), method, 0.2, step).report.warnings;
  };
  // v = 0.29 m/s in the end: 2.9 and 29 lengths per step.
  EXPECT_THAT(warnings("generalized-alpha,rho=0.7", 1e-3), ::testing::IsEmpty());
  EXPECT_THAT(warnings("generalized-alpha,rho=0.7", 1e-2),
              ::testing::ElementsAre(::testing::AllOf(
                  ::testing::HasSubstr("'forces.floor' is not resolved: at t = 0.2 it slides by "),
                  ::testing::HasSubstr("Use steps of at most 0.0017 s"))));
  EXPECT_THAT(warnings("esdirk4-6,adaptive=true,rtol=1e-6", 1e-2), ::testing::IsEmpty());
}

// Vibrations below the limit leave it where it is; bristles that creep while they are elastic (LuGre) would drift.
TEST(Bristles, VibrationsDoNotMoveABlockThatSticks) {
  Block block;
  block.alpha = 0.1;
  block.push = 0.2;  // a fifth of the weight: less than 0.7 mu in all
  block.frequency = 50;
  const System system = block.system();
  const double period = 2 * 3.14159265358979 / block.frequency;
  std::vector<double> at;
  WholeRun(system, "generalized-alpha,rho=0.9", 60 * period, period / 100, [&](const State& now, Work& work) {
    const double turns = now.t / period;
    if (std::abs(turns - std::round(turns)) < 1e-6 && turns > 19) at.push_back(sensed(system, now, work)[0]);
  });
  ASSERT_GT(at.size(), 30U);
  expect_at_most(std::abs(at.back() - at.front()) / block.presliding, 1e-6, "drift in 40 periods/presliding");
}

// As with smoothed friction: it slides for v/(mu g (1 + m rho^2/J)), then rolls with v/(1 + J/(m rho^2)).
TEST(Bristles, ABallSlidesAndThenRolls) {
  constexpr double v = 2, mu = 0.2, radius = 0.1, k = 1e9, presliding = 1e-4;
  const double sink = std::pow(kGravity / k, 1 / 1.5), rho = radius - sink / 2, J = 0.4 * radius * radius,
               time = v / (mu * kGravity * (1 + rho * rho / J)), z = radius - sink;
  ModelBuilder b;
  b.body("ball", "rigid").set("mass", {1}).set("inertia", {J, J, J});
  b.set("position", {0, 0, z}).set("velocity", {v, 0, 0});
  b.force("floor", "contact_plane_sphere").set("between", "ground", "ball");
  b.set("points", {0, 0, 0, 0, 0, z}).set("normal", {0, 0, 1}).set("radius", {radius}).set("stiffness", {k});
  b.set("friction", {mu}).set("presliding", {presliding}).set("presliding_damping", {15});
  b.sensor("velocity", "velocity").set("of", std::string("ball"));
  b.sensor("grip", "state").set("of", std::string("floor.bristle1"));
  const System system = make_system(b.finish());
  const WholeRun slides(system, "generalized-alpha,rho=0.8", 0.5 * time, 1e-4);
  // The bristles deflect while it moves by `presliding`.
  expect_at_most(std::abs(slides.sensors[0] - (v - mu * kGravity * 0.5 * time)),
                 2 * mu * kGravity * presliding / v, "speed while it slides");
  expect_at_most(std::abs(slides.sensors[3] / presliding - 1), 1e-6, "deflection/presliding while it slides");
  const WholeRun rolls(system, "generalized-alpha,rho=0.8", 3 * time, 1e-4);
  expect_at_most(std::abs(rolls.sensors[0] - v / (1 + J / (rho * rho))), 1e-4, "speed while it rolls");
}

// In the axes of a table that turns the component along the normal vanishes up to round-off: no iteration may wait for its digits. An explicit
// method, which has none, says what is right.
TEST(Bristles, ABallRollsOnATableThatTilts) {
  const auto seesaw = [](const std::string& formulation) {
    ModelBuilder b;
    b.body("table", "rigid").set("mass", {2}).set("inertia", {0.1, 0.1, 0.1});
    b.body("ball", "rigid").set("mass", {1}).set("inertia", {0.004, 0.004, 0.004});
    b.set("position", {0.2, 0, 0.1}).set("velocity", {1, 0, 0});
    b.joint("axle", "revolute").set("between", "ground", "table").set("at", {0, 0, 0}).set("axis", {0, 1, 0});
    b.force("contact", "contact_plane_sphere").set("between", "table", "ball");
    b.set("points", {0, 0, 0, 0.2, 0, 0.1}).set("normal", {0, 0, 1}).set("radius", {0.1});
    b.set("stiffness", {1e6}).set("damping", {1}).set("friction", {0.3});
    b.set("presliding", {1e-4}).set("presliding_damping", {20});
    b.force("spring", "joint_spring").set("joint", std::string("axle")).set("stiffness", {200});
    b.set("damping", {1});
    b.sensor("table", "angular_velocity").set("of", std::string("table"));
    b.sensor("ball", "velocity").set("of", std::string("ball"));
    return make_system(b.finish(), formulation);
  };
  const double end = 0.15;
  const WholeRun right(seesaw("minimal"), "rk44", end, 2e-5);
  for (const std::string formulation : {"r3so3", "cardan", "minimal"})
    for (const std::string integrator : {"generalized-alpha,rho=0.8", "esdirk4-6", "lms2"}) {
      const WholeRun run(seesaw(formulation), integrator, end, 1e-4);
      double worst = 0;
      for (std::size_t i = 0; i < right.sensors.size(); ++i)
        worst = std::max(worst, std::abs(run.sensors[i] - right.sensors[i]));
      expect_at_most(worst, 5e-3, formulation + " " + integrator + ": velocities - those of rk44");
    }
}

}  // namespace
}  // namespace liedyn
