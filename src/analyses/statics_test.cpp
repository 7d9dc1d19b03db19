#include "liedyn/analyses/statics.h"

#include <cmath>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/operating_point.h"
#include "liedyn/lie/so3.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using testing::HasSubstr;
double potential_at(const System& system, const State& state) {
  Work work(system);
  return system.energy(state, work).potential;
}

std::shared_ptr<const Description> pendulum(double angle, double l = 0.7, double m = 2) {
  ModelBuilder builder({0, -kGravity, 0});
  builder.body("bob", "rigid")
      .set("mass", {m})
      .set("inertia", {0.1, 0.1, 0.2})
      .set("position", {l * std::sin(angle), -l * std::cos(angle), 0})
      .set("orientation", {0, 0, angle})
      .set("angular_velocity", {0, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "bob")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.sensor("place", "position").set("of", std::string("bob"));
  builder.sensor("hinge", "reaction_force").set("of", std::string("hinge"));
  return builder.finish();
}

TEST(Statics, APendulumComesToHangFromAnyAngle) {
  for (const std::string& formulation : absolute_formulations())
    for (const double angle : {0.0, 0.3, 1.5707963267948966, 2.5, 3.1, -2.0}) {
      const System system = make_system(pendulum(angle), formulation);
      const StaticResult found = find_equilibrium(system);
      ASSERT_TRUE(found.converged) << formulation << " from " << angle << ": " << found.failure;
      const std::vector<double>& s = found.steps.back().sensors;
      expect_at_most((Vec3(s[0], s[1], s[2]) - Vec3(0, -0.7, 0)).norm(), 1e-11,
                     fmt::format("{} from {:.3g} rad: place - (0, -l, 0)", formulation, angle));
      expect_at_most((Vec3(s[3], s[4], s[5]) - Vec3(0, 2 * kGravity, 0)).norm(), 1e-9, "reaction - weight");
      EXPECT_EQ(found.unstable_directions, 0);
      EXPECT_TRUE(found.indifferent.empty());
    }
}

// Rows at velocity level carry forces at rest too. Upright, with a push P along x, springs k and k_r at the centre and the radius r:
//   P - k u + F = 0,   -F r - k_r u/r = 0   ->   u = P/(k + k_r/r^2),   F = -k_r u/r^2
TEST(Statics, ADiscThatRollsIsHeldByTheForceAtItsContact) {
  constexpr double r = 0.3, k = 100, k_r = 10, push = 2;
  for (const std::string& formulation : absolute_formulations())
    for (const double tilt : {0.0, 0.3}) {
      ModelBuilder builder({0, 0, -kGravity});
      builder.body("wheel", "rigid")
          .set("mass", {1})
          .set("inertia", {0.1, 0.1, 0.1})
          .set("position", {0, 0, r});
      builder.joint("contact", "rolling_disc")
          .set("between", "ground", "wheel")
          .set("center", {0, 0, r})
          .set("axis", {0, 1, tilt})
          .set("normal", {0, 0, 1})
          .set("radius", {r});
      builder.force("push", "force").set("on", std::string("wheel")).set("force", {push, 0, 0});
      builder.force("hold", "bushing")
          .set("between", "ground", "wheel")
          .set("at", {0, 0, r})
          .set("stiffness", {k, k, k})
          .set("rotational_stiffness", {k_r, k_r, k_r});
      builder.sensor("contact_force", "reaction_force").set("of", std::string("contact"));
      const StaticResult found = find_equilibrium(make_system(builder.finish(), formulation));
      ASSERT_TRUE(found.converged) << formulation << ": " << found.failure;
      expect_at_most(found.residual_force, 1e-8,
                     fmt::format("{}, axis tilted by {}: forces that are left", formulation, tilt));
      if (tilt > 0) continue;
      const double expected = -k_r * push / (k + k_r / (r * r)) / (r * r);
      // A disc that does not slip comes to rest in more than one position: steps of other formulations lead to others.
      expect_at_most(std::abs(found.steps.back().sensors[0] / expected - 1), 1e-3,
                     formulation + ": force of the contact along the push");
    }
}

TEST(Statics, UprightIsAnEquilibriumThatIsCalledUnstable) {
  const double pi = std::acos(-1.0);
  const StaticResult found = find_equilibrium(make_system(pendulum(pi)));
  ASSERT_TRUE(found.converged) << found.failure;
  EXPECT_EQ(found.unstable_directions, 1);
}

// A chain of links on hinges, drawn at an angle: beyond 150 and beyond 600 velocities, where no dense matrix leads the way down.
std::shared_ptr<const Description> hinged_chain(int links, double angle) {
  ModelBuilder builder({0, -kGravity, 0});
  const double l = 0.1;
  const Vec3 along(std::sin(angle), -std::cos(angle), 0);
  for (int i = 0; i < links; ++i) {
    const std::string name = fmt::format("link{}", i);
    builder.body(name, "rigid")
        .set("mass", {0.2})
        .set("inertia", {2e-4, 2e-4, 2e-4})
        .set("position", (i + 0.5) * l * along)
        .set("orientation", {0, 0, angle});
    builder.joint(fmt::format("hinge{}", i), "revolute")
        .set("between", i == 0 ? "ground" : fmt::format("link{}", i - 1), name)
        .set("at", i * l * along)
        .set("axis", {0, 0, 1});
  }
  builder.sensor("end", "position").set("of", fmt::format("link{}", links - 1));
  return builder.finish();
}

TEST(Statics, LargeChainsEndHangingAndSayItIfTheyDoNot) {
  const double pi = std::acos(-1.0);
  for (const int links : {30, 110})
    for (const double angle : {0.4, 2.0, 3.0, pi}) {
      const StaticResult found = find_equilibrium(make_system(hinged_chain(links, angle)));
      ASSERT_TRUE(found.converged) << found.failure;
      const double height = found.steps.back().sensors[1];
      // A long chain that is nearly upright has a hundred ways down, each to another equilibrium that is not stable either: the search may
      // end at one, and must say so.
      const bool may_stay = angle == 3.0 && links > 100 && found.unstable_directions > 0;
      if (angle == pi || may_stay) {
        EXPECT_GT(found.unstable_directions, 0) << "upright as drawn, " << links << " links";
        ASSERT_EQ(found.warnings.size(), 1u);
        EXPECT_THAT(found.warnings[0], HasSubstr("unstable"));
        continue;
      }
      expect_at_most(std::abs(height + (links - 0.5) * 0.1), 1e-7,
                     fmt::format("{} links from {:.2g} rad: height of the last one", links, angle));
      EXPECT_EQ(found.unstable_directions, 0);
      EXPECT_TRUE(found.warnings.empty());
    }
}

// A mass on two springs: the shallow truss of von Mises. With half-width b, height a, stiffness k and free length l the force is
//   F = 2 k a (l/sqrt(a^2 + b^2) - 1)  at the height a.
std::shared_ptr<const Description> truss(double b, double height, double stiffness, double force) {
  ModelBuilder builder({0, 0, 0});
  builder.body("top", "point").set("mass", {1}).set("position", {0, height, 0});
  builder.joint("guide", "point_on_line")
      .set("between", "ground", "top")
      .set("at", {0, height, 0})
      .set("axis", {0, 1, 0});
  for (const double side : {-1.0, 1.0})
    builder.force(side < 0 ? "left" : "right", "spring_damper")
        .set("between", "ground", "top")
        .set("points", {side * b, 0, 0, 0, height, 0})
        .set("stiffness", {stiffness});
  builder.force("load", "force").set("on", std::string("top")).set("force", {0, -force, 0});
  builder.sensor("place", "position").set("of", std::string("top"));
  return builder.finish();
}

TEST(Statics, LoadStepsFollowTheTrussToItsEquilibrium) {
  const double b = 1, height = 0.4, k = 1000, free_length = std::hypot(b, height);
  const auto force_at = [&](double a) { return 2 * k * a * (free_length / std::hypot(a, b) - 1); };
  const double a = 0.31, force = force_at(a);
  StaticOptions options;
  options.load_steps = 5;
  const System system = make_system(truss(b, height, k, force));
  const StaticResult found = find_equilibrium(system, options);
  ASSERT_TRUE(found.converged) << found.failure;
  EXPECT_EQ(found.steps.size(), 5u);
  expect_at_most(std::abs(found.steps.back().sensors[1] - a), 1e-10, "height - that of the closed form");
  for (const LoadStep& step : found.steps)
    expect_at_most(std::abs(force_at(step.sensors[1]) - step.factor * force) / force, 1e-9,
                   fmt::format("load factor {}: force at that height", step.factor));
}

// A mass above a bump stop that it would fall past in one step: on the other side nothing supports it, or the soft spring alone.
//   m g = k (l - z) + c (1 - z)
TEST(Statics, DoesNotPassThroughABumpStop) {
  const double m = 2, g = 9.81, k = 2000, l = 0.9;
  for (const double c : {0.0, 10.0})
    for (const double start : {1.0, 0.9, 0.5}) {
      ModelBuilder builder({0, 0, -g});
      builder.body("mass", "rigid").set("mass", {m}).set("inertia", {1, 1, 1}).set("position", {0, 0, start});
      builder.joint("guide", "prismatic").set("between", "ground", "mass").set("at", {0, 0, 0});
      builder.set("axis", {0, 0, 1});
      builder.force("bump", "spring_damper").set("between", "ground", "mass");
      builder.set("points", {0, 0, 0, 0, 0, start}).set("stiffness", {k}).set("free_length", {l});
      builder.set("side", std::string("compression"));
      builder.force("soft", "joint_spring").set("joint", std::string("guide")).set("stiffness", {c});
      builder.set("free", {1 - start});
      builder.sensor("place", "position").set("of", std::string("mass"));
      const StaticResult found = find_equilibrium(make_system(builder.finish()));
      ASSERT_TRUE(found.converged) << c << " N/m, from " << start << ": " << found.failure;
      const double z = (k * l + c - m * g) / (k + c);
      expect_at_most(
          std::abs(found.steps.back().sensors[2] - z), 1e-10,
          fmt::format("soft spring of {} N/m, from {} m: height - that of the closed form", c, start));
    }
}

// A motor's feed-forward is a load as a torque is: both are raised together.
TEST(Statics, LoadStepsRaiseMotorsToo) {
  const double stiffness = 50, torque = 3;
  ModelBuilder builder({0, 0, 0});
  builder.body("rotor", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.2});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "rotor")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.force("spring", "joint_spring").set("joint", std::string("hinge")).set("stiffness", {stiffness});
  builder.force("motor", "joint_actuator").set("joint", std::string("hinge")).set("feed_forward", {torque});
  builder.sensor("angle", "joint_angle").set("of", std::string("hinge"));
  StaticOptions options;
  options.load_steps = 4;
  const StaticResult found = find_equilibrium(make_system(builder.finish()), options);
  ASSERT_TRUE(found.converged) << found.failure;
  ASSERT_EQ(found.steps.size(), 4u);
  for (const LoadStep& step : found.steps)
    expect_at_most(std::abs(step.sensors[0] - step.factor * torque / stiffness), 1e-10,
                   fmt::format("load factor {}: angle - torque/stiffness", step.factor));
}

TEST(Statics, BeyondTheLimitLoadItSnapsThrough) {
  const double b = 1, height = 0.4, k = 1000;
  const System system = make_system(truss(b, height, k, 60));
  const StaticResult found = find_equilibrium(system);
  ASSERT_TRUE(found.converged) << found.failure;
  const double a = found.steps.back().sensors[1];
  EXPECT_LT(a, -height) << "below the mirror image";
  expect_at_most(std::abs(-2 * k * a * (1 - std::hypot(b, height) / std::hypot(a, b)) - 60), 1e-8,
                 "force at that height");
  EXPECT_EQ(found.unstable_directions, 0);
}

TEST(Statics, TheReactionOfABeamOnThreeSpringsIsThatOfTheBalance) {
  // A rigid bar under its weight and a force off its middle, on springs that stand upright.
  ModelBuilder builder({0, -kGravity, 0});
  builder.body("bar", "rigid").set("mass", {10}).set("inertia", {1, 1, 1});
  builder.force("bushing", "bushing")
      .set("between", "ground", "bar")
      .set("at", {0, 0, 0})
      .set("stiffness", {1e4, 2e4, 1e4})
      .set("rotational_stiffness", {500, 500, 700});
  builder.force("load", "force")
      .set("on", std::string("bar"))
      .set("force", {0, -20, 0})
      .set("at", {0.5, 0, 0});
  builder.sensor("place", "position").set("of", std::string("bar"));
  const System system = make_system(builder.finish());
  const StaticResult found = find_equilibrium(system);
  ASSERT_TRUE(found.converged) << found.failure;
  expect_at_most(std::abs(found.steps.back().sensors[1] + (10 * kGravity + 20) / 2e4), 1e-12,
                 "sinks by weight over stiffness");
  // 700 phi = 20 * 0.5 cos(phi)
  const Configuration configuration = configuration_of(system, found.state);
  const double phi = -configuration[0].orientation.log().z();
  expect_at_most(std::abs(700 * phi - 10 * std::cos(phi)), 1e-9, "moments balance");
}

TEST(Statics, WhatNothingHoldsIsNamed) {
  ModelBuilder builder;
  builder.body("stone", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  const StaticResult falls = find_equilibrium(make_system(builder.finish()));
  EXPECT_FALSE(falls.converged);
  fmt::print("  {}\n", falls.failure);
  EXPECT_THAT(falls.failure, HasSubstr("nothing supports body 'stone' along (0, 0, -1)"));

  // Balanced, but free to turn about the line of its thread.
  ModelBuilder hanging({0, 0, -kGravity});
  hanging.body("top", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.2}).set("position", {0, 0, -1});
  hanging.joint("ball", "spherical").set("between", "ground", "top").set("at", {0, 0, 0});
  const StaticResult hangs = find_equilibrium(make_system(hanging.finish()));
  ASSERT_TRUE(hangs.converged) << hangs.failure;
  EXPECT_THAT(hangs.indifferent, testing::ElementsAre("top turns about (0, 0, 1)"));
}

// A ball on a slope without friction, and a free body: they have no equilibrium, and do not find one where only round-off is large enough to balance them.
TEST(Statics, WhatRunsAwayIsRefusedWithItsDirection) {
  constexpr double slope = 0.3, radius = 0.1;
  const auto ball = [&](double angle) {
    ModelBuilder builder({kGravity * std::sin(angle), 0, -kGravity * std::cos(angle)});
    builder.body("ball", "rigid").set("mass", {1}).set("inertia", {4e-3, 4e-3, 4e-3});
    builder.set("position", {0, 0, radius});
    builder.force("floor", "contact_plane_sphere").set("between", "ground", "ball");
    builder.set("points", {0, 0, 0, 0, 0, radius}).set("normal", {0, 0, 1}).set("radius", {radius});
    builder.set("stiffness", {1e7}).set("friction", {0.3}).set("smoothing", {1e-3});
    builder.sensor("place", "position").set("of", std::string("ball"));
    return make_system(builder.finish());
  };
  const StaticResult rolls = find_equilibrium(ball(slope));
  EXPECT_FALSE(rolls.converged);
  EXPECT_THAT(rolls.failure, HasSubstr("nothing supports body 'ball' along (1, 0, "));
  // Level, nothing drives the motions that nothing supports.
  const StaticResult rests = find_equilibrium(ball(0));
  ASSERT_TRUE(rests.converged) << rests.failure;
  expect_at_most(std::abs(rests.steps.back().sensors[2] - (radius - std::pow(kGravity / 1e7, 1 / 1.5))),
                 1e-12, "depth of the ball - (m g/k)^(2/3)");
  expect_at_most(std::abs(rests.steps.back().sensors[0]), 1e-12, "way along the plane");
}

// A block on a slope: bristles deflect by presliding tan(alpha)/mu and the block with them, or friction does not hold.
TEST(Statics, BristlesHoldWhatFrictionCan) {
  constexpr double m = 2, k = 1e8, mu = 0.5, presliding = 1e-5;
  for (const double alpha : {0.0, 0.2, 0.4, 0.6}) {
    ModelBuilder builder({kGravity * std::sin(alpha), 0, -kGravity * std::cos(alpha)});
    // The depth of four corners: it does not fall before they hold it.
    const double z = 0.05 - std::pow(m * kGravity * std::cos(alpha) / (4 * k), 1 / 1.5);
    builder.body("block", "rigid").set("mass", {m}).set("inertia", {0.02, 0.03, 0.04});
    builder.set("position", {0, 0, z});
    builder.force("floor", "contact_plane_box").set("between", "ground", "block");
    builder.set("points", {0, 0, 0, 0, 0, z}).set("normal", {0, 0, 1}).set("size", {0.4, 0.3, 0.1});
    builder.set("stiffness", {k}).set("friction", {mu}).set("presliding", {presliding});
    builder.sensor("place", "position").set("of", std::string("block"));
    builder.sensor("floor", "applied_force").set("of", std::string("floor"));
    const StaticResult found = find_equilibrium(make_system(builder.finish()));
    const std::string name = fmt::format("slope {}", alpha);
    if (std::tan(alpha) > mu) {
      EXPECT_FALSE(found.converged);
      EXPECT_THAT(found.failure, HasSubstr("the friction of 'forces.floor' is too small"));
      continue;
    }
    ASSERT_TRUE(found.converged) << name << ": " << found.failure;
    const std::vector<double>& s = found.steps.back().sensors;
    expect_at_most(std::abs(std::abs(s[3]) - m * kGravity * std::sin(alpha)), 1e-7,
                   name + ": friction - m g sin");
    expect_at_most(std::abs(std::abs(s[5]) - m * kGravity * std::cos(alpha)), 1e-7,
                   name + ": normal force - m g cos");
    // The corners carry unequal loads, and the block tilts by its lever: not the way of the bristles alone.
    expect_between(s[0] / presliding, 0.95 * std::tan(alpha) / mu - 1e-9, 1.3 * std::tan(alpha) / mu + 1e-9,
                   name + ": way/presliding");
  }
}

// Whatever a body is set down from, it comes to rest where one that starts pressed in does: bristles hold it as soon as it is there.
struct SetDown {
  const char* name;
  std::function<void(ModelBuilder&, double gap)>
      add;  // a body "block" above the plane z = 0, and its contacts
};
StaticResult set_down(const SetDown& body, double slope, double gap) {
  // The axes are those of the slope, turned by 0.4 about its normal and by 0.3 about y: no direction is special.
  const Mat3 R = (Eigen::AngleAxisd(0.3, Vec3::UnitY()) * Eigen::AngleAxisd(0.4, Vec3::UnitZ())).matrix();
  const Vec3 g = kGravity * (R * Vec3(std::sin(slope), 0, -std::cos(slope)));
  ModelBuilder builder({g.x(), g.y(), g.z()});
  body.add(builder, gap);
  builder.sensor("place", "position").set("of", std::string("block"));
  return find_equilibrium(make_system(builder.finish()));
}
constexpr double kFrictionOfBlock = 0.5, kPreslidingOfBlock = 1e-5;

TEST(Statics, BristlesHoldWhatIsSetDown) {
  const Mat3 R = (Eigen::AngleAxisd(0.3, Vec3::UnitY()) * Eigen::AngleAxisd(0.4, Vec3::UnitZ())).matrix();
  const auto block = [&](ModelBuilder& b, double height, double gap) {
    const Vec3 at = R * Vec3(0, 0, height + gap);
    b.body("block", "rigid").set("mass", {2}).set("inertia", {0.02, 0.03, 0.04}).set("position", at);
    const Vec3 turn = SO3<double>::from_matrix(R).log();
    b.set("orientation", {turn.x(), turn.y(), turn.z()});
    return at;
  };
  const auto law = [&](ModelBuilder& b) {
    b.set("normal", R.col(2)).set("stiffness", {1e8}).set("friction", {kFrictionOfBlock});
    b.set("presliding", {kPreslidingOfBlock});
  };
  const SetDown bodies[] = {
      {"box",
       [&](ModelBuilder& b, double gap) {
         const Vec3 at = block(b, 0.05, gap);
         b.force("floor", "contact_plane_box").set("between", "ground", "block");
         b.set("points", {0, 0, 0, at.x(), at.y(), at.z()}).set("size", {0.4, 0.3, 0.1});
         law(b);
       }},
      {"four feet", [&](ModelBuilder& b, double gap) {
         block(b, 0.06, gap);
         for (int i = 0; i < 4; ++i) {
           const Vec3 foot = R * Vec3(i % 2 == 0 ? 0.2 : -0.2, i / 2 == 0 ? 0.15 : -0.15, 0.01 + gap);
           b.force(fmt::format("foot{}", i), "contact_plane_sphere").set("between", "ground", "block");
           b.set("points", {0, 0, 0, foot.x(), foot.y(), foot.z()}).set("radius", {0.01});
           law(b);
         }
       }}};
  for (const SetDown& body : bodies)
    for (const double slope : {0.1, 0.45, 0.7}) {
      // The depth at which all points together carry the weight, or a part of it.
      const double depth = std::pow(2 * kGravity * std::cos(slope) / (4 * 1e8), 1 / 1.5);
      const StaticResult pressed = set_down(body, slope, -depth);
      for (const double gap : {0.0, 1e-5, 1e-3}) {
        const std::string name = fmt::format("{}, slope {}, gap {:.2g} m", body.name, slope, gap);
        const StaticResult found = set_down(body, slope, gap);
        if (std::tan(slope) > kFrictionOfBlock) {
          EXPECT_FALSE(found.converged) << name;
          EXPECT_THAT(found.failure, HasSubstr("is too small: it slips")) << name;
          continue;
        }
        ASSERT_TRUE(pressed.converged) << name << ": " << pressed.failure;
        ASSERT_TRUE(found.converged) << name << ": " << found.failure;
        const auto place = [&](const StaticResult& r) {
          return Vec3(R.transpose() * Eigen::Map<const Vec3>(r.steps.back().sensors.data()));
        };
        const Vec3 there = place(found), expected = place(pressed);
        // From farther away it turns a little on the way.
        expect_at_most((there - expected).norm() / kPreslidingOfBlock, gap > 1e-4 ? 0.1 : 1e-3,
                       name + ": way beside/presliding");
        if (&body != &bodies[0]) continue;
        EXPECT_TRUE(found.indifferent.empty())
            << name << ": " << fmt::format("{}", fmt::join(found.indifferent, " | "));
        EXPECT_EQ(found.unstable_directions, 0) << name;
      }
    }
}

// A ball in a groove: no direction along one of its sides leads away from the other, so that it cannot be pressed in without bristles that give way.
TEST(Statics, BristlesHoldABallInAGroove) {
  constexpr double radius = 0.05, half = 0.6, m = 0.8;  // the sides rise by this angle
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("ball", "rigid").set("mass", {m}).set("inertia", {8e-4, 8e-4, 8e-4});
  const double z = radius / std::cos(half);
  builder.set("position", {0, 0, z});
  for (const double side : {-1.0, 1.0}) {
    builder.force(side < 0 ? "left" : "right", "contact_plane_sphere").set("between", "ground", "ball");
    builder.set("points", {0, 0, 0, 0, 0, z}).set("normal", {-side * std::sin(half), 0, std::cos(half)});
    builder.set("radius", {radius}).set("stiffness", {1e8}).set("friction", {0.3}).set("presliding", {1e-4});
    builder.sensor(side < 0 ? "on_left" : "on_right", "applied_force")
        .set("of", std::string(side < 0 ? "left" : "right"));
  }
  builder.sensor("place", "position").set("of", std::string("ball"));
  const StaticResult found = find_equilibrium(make_system(builder.finish()));
  ASSERT_TRUE(found.converged) << found.failure;
  const std::vector<double>& s = found.steps.back().sensors;
  expect_at_most(std::abs(std::abs(s[2] + s[5]) - m * kGravity), 1e-9, "both sides carry the weight");
  expect_at_most(std::abs(s[0] + s[3]), 1e-9, "and push against each other");
  expect_between((z - s[8]) / 1e-4, 0, 0.5, "depth/presliding");
}

// A ball that rolls down is refused soon, with its direction, and so is what a torque turns, alone or with another body.
TEST(Statics, MotionsThatNothingHoldsAreNamedWithTheirDirections) {
  constexpr double slope = 0.3, radius = 0.1;
  ModelBuilder rolling({kGravity * std::sin(slope), 0, -kGravity * std::cos(slope)});
  rolling.body("ball", "rigid").set("mass", {1}).set("inertia", {4e-3, 4e-3, 4e-3});
  rolling.set("position", {0, 0, radius});
  rolling.force("floor", "contact_plane_sphere").set("between", "ground", "ball");
  rolling.set("points", {0, 0, 0, 0, 0, radius}).set("normal", {0, 0, 1}).set("radius", {radius});
  rolling.set("stiffness", {1e7}).set("friction", {0.6}).set("presliding", {1e-5});
  const StaticResult rolls = find_equilibrium(make_system(rolling.finish()));
  EXPECT_FALSE(rolls.converged);
  fmt::print("  {}\n", rolls.failure);
  EXPECT_THAT(rolls.failure, HasSubstr("nothing supports body 'ball' along (1, 0, 0) and about (0, 1, 0)"));

  ModelBuilder driven({0, 0, 0});
  for (const char* name : {"first", "second"}) {
    const double x = name[0] == 'f' ? 0 : 0.3;
    driven.body(name, "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {x, 0, 0});
    driven.joint(fmt::format("axle_{}", name), "revolute")
        .set("between", "ground", name)
        .set("at", {x, 0, 0})
        .set("axis", {0, 0, 1});
  }
  driven.force("motor", "torque").set("on", std::string("first")).set("torque", {0, 0, 2});
  const StaticResult turns = find_equilibrium(make_system(driven.finish()));
  EXPECT_FALSE(turns.converged);
  fmt::print("  {}\n", turns.failure);
  EXPECT_THAT(turns.failure, HasSubstr("nothing supports body 'first' about (0, 0, 1);"));
}

// A brake holds up to its capacity; beyond, a spring beside it may take the rest.
TEST(Statics, BrakesHoldUpToTheirCapacity) {
  constexpr double kDeflection = 1e-4;
  const auto braked = [](double torque, double stiffness) {
    ModelBuilder builder({0, 0, 0});
    builder.body("rotor", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1});
    builder.joint("axle", "revolute")
        .set("between", "ground", "rotor")
        .set("at", {0, 0, 0})
        .set("axis", {0, 0, 1});
    builder.force("brake", "joint_clutch")
        .set("joint", std::string("axle"))
        .set("law", std::string("stick"))
        .set("capacity", {5})
        .set("deflection", {kDeflection});
    if (stiffness > 0)
      builder.force("spring", "joint_spring").set("joint", std::string("axle")).set("stiffness", {stiffness});
    builder.force("load", "torque").set("on", std::string("rotor")).set("torque", {0, 0, torque});
    builder.sensor("brake", "effort").set("of", std::string("brake"));
    builder.sensor("angle", "joint_angle").set("of", std::string("axle"));
    return find_equilibrium(make_system(builder.finish()));
  };
  const StaticResult holds = braked(4, 0);
  ASSERT_TRUE(holds.converged) << holds.failure;
  EXPECT_NEAR(holds.steps.back().sensors[0], -4, 1e-9);
  EXPECT_EQ(holds.unstable_directions, 0);
  EXPECT_TRUE(holds.indifferent.empty());
  const StaticResult slips = braked(7, 0);
  EXPECT_FALSE(slips.converged);
  EXPECT_THAT(slips.failure, HasSubstr("'forces.brake' (1.4 of its capacity) would slip"));
  for (const double stiffness : {1.0, 10.0}) {
    const StaticResult shared = braked(12, stiffness);
    ASSERT_TRUE(shared.converged) << shared.failure;
    const double brake = -shared.steps.back().sensors[0], angle = shared.steps.back().sensors[1];
    expect_at_most(std::abs(brake - 5), 1e-9, "capacity of 5 - torque of the brake beside a spring");
    EXPECT_NEAR(brake + stiffness * angle, 12, 1e-9);
  }
  // Below its capacity it is a spring of the stiffness C/delta beside the other one.
  const StaticResult stuck = braked(4, 10);
  ASSERT_TRUE(stuck.converged) << stuck.failure;
  expect_at_most(std::abs(stuck.steps.back().sensors[1] * (10 + 5 / kDeflection) / 4 - 1), 1e-9,
                 "angle of a brake that sticks beside a spring, relative");
}

// Two flywheels with a clutch between them: they turn together, and nothing grows.
// A shaft that hangs on another one by a clutch that sticks: it turns by T/k of the spring at the other one, and by T delta/C in the clutch.
TEST(Statics, AClutchThatSticksCarriesATorqueToTheOtherShaft) {
  constexpr double torque = 3, stiffness = 60, capacity = 6, deflection = 1e-3;
  ModelBuilder builder({0, 0, 0});
  for (const char* name : {"engine", "load"}) {
    const double z = name[0] == 'e' ? 0 : 0.5;
    builder.body(name, "rigid").set("mass", {1}).set("inertia", {0.2, 0.2, 0.2}).set("position", {0, 0, z});
    builder.joint(fmt::format("of_{}", name), "revolute")
        .set("between", "ground", name)
        .set("at", {0, 0, z})
        .set("axis", {0, 0, 1});
    builder.sensor(fmt::format("angle_of_{}", name), "joint_angle").set("of", fmt::format("of_{}", name));
  }
  builder.force("clutch", "clutch")
      .set("joints", "of_engine", "of_load")
      .set("law", std::string("stick"))
      .set("capacity", {capacity})
      .set("deflection", {deflection});
  builder.force("spring", "joint_spring")
      .set("joint", std::string("of_engine"))
      .set("stiffness", {stiffness});
  builder.force("pull", "torque").set("on", std::string("load")).set("torque", {0, 0, torque});
  const StaticResult found = find_equilibrium(make_system(builder.finish()));
  ASSERT_TRUE(found.converged) << found.failure;
  const double engine = found.steps.back().sensors[0], load = found.steps.back().sensors[1];
  expect_at_most(std::abs(engine - torque / stiffness), 1e-12, "angle of the engine");
  expect_at_most(std::abs(load - engine - torque * deflection / capacity), 1e-12, "angle within the clutch");
  EXPECT_EQ(found.unstable_directions, 0);
}

TEST(Statics, AClutchBetweenFreeShaftsIsNotUnstable) {
  ModelBuilder builder({0, 0, 0});
  for (const char* name : {"engine", "load"}) {
    const double z = name[0] == 'e' ? 0 : 0.5, J = name[0] == 'e' ? 0.2 : 0.3;
    builder.body(name, "rigid").set("mass", {1}).set("inertia", {J, J, J}).set("position", {0, 0, z});
    builder.joint(fmt::format("of_{}", name), "revolute")
        .set("between", "ground", name)
        .set("at", {0, 0, z})
        .set("axis", {0, 0, 1});
  }
  builder.force("clutch", "clutch")
      .set("joints", "of_engine", "of_load")
      .set("law", std::string("stick"))
      .set("capacity", {6})
      .set("damping_time", {3e-3})
      .set("initial_bristle", {-1});
  const StaticResult found = find_equilibrium(make_system(builder.finish()));
  ASSERT_TRUE(found.converged) << found.failure;
  EXPECT_EQ(found.unstable_directions, 0);
  EXPECT_EQ(found.indifferent.size(), 1u) << fmt::format("{}", fmt::join(found.indifferent, " | "));
}

// A chain of links from one support to another, drawn straight: the catenary's discrete sister has the least potential energy, and every
// joint is in balance.
TEST(Statics, AChainHangsBetweenTwoSupports) {
  ModelBuilder builder({0, -kGravity, 0});
  const int links = 12;
  const double length = 0.25;
  for (int i = 0; i < links; ++i)
    builder.body(fmt::format("link{}", i), "rigid")
        .set("mass", {0.5})
        .set("inertia", {1e-3, 2e-3, 2e-3})
        .set("position", {(i + 0.5) * length, 0, 0});
  for (int i = 0; i < links; ++i)
    builder.joint(fmt::format("joint{}", i), "revolute")
        .set("between", i == 0 ? "ground" : fmt::format("link{}", i - 1), fmt::format("link{}", i))
        .set("at", {i * length, 0, 0})
        .set("axis", {0, 0, 1});
  builder.force("pull", "spring_damper")
      .set("between", "ground", fmt::format("link{}", links - 1))
      .set("points", {2.0, 0.1, 0, links * length, 0, 0})
      .set("stiffness", {1e5})
      .set("free_length", {0.01});
  builder.sensor("left", "reaction_force").set("of", std::string("joint0"));
  const System system = make_system(builder.finish());
  const StaticResult found = find_equilibrium(system);
  ASSERT_TRUE(found.converged) << found.failure;
  Work work(system);
  system.residual(found.state, work, {});
  expect_at_most(as_vector(work.r).cwiseAbs().maxCoeff(), 1e-8, "forces left over");
  expect_at_most(as_vector(work.phi).cwiseAbs().maxCoeff(), 1e-12, "Phi");
  EXPECT_EQ(found.unstable_directions, 0);
  // No direction goes down.
  Random random(3);
  const double here = potential_at(system, found.state);
  for (int i = 0; i < 20; ++i) {
    State other =
        moved(system, found.state,
              1e-3 * Eigen::VectorXd::NullaryExpr(system.model().nv, [&] { return random.between(-1, 1); }));
    Work w(system);
    ASSERT_TRUE(project_positions(system, other, nullptr, w));
    EXPECT_GT(potential_at(system, other), here);
  }
}

TEST(OperatingPoint, IsWhatItsNameSays) {
  System system = make_system(pendulum(1.0));
  SimulateOptions options = default_options(system.model().description());
  options.end = 0.4;
  EXPECT_EQ(operating_point(system, "initial", options).t, 0);
  EXPECT_NEAR(operating_point(system, "static", options).q[1], -0.7, 1e-10);
  EXPECT_DOUBLE_EQ(operating_point(system, "end", options).t, 0.4);
  const State at_time = operating_point(system, "0.25", options);
  EXPECT_DOUBLE_EQ(at_time.t, 0.25);
  options.end = 0.25;
  EXPECT_EQ(at_time.q, simulate(system, options).state.q);
  EXPECT_THROW(operating_point(system, "soon", options), InputError);
  EXPECT_THROW(operating_point(system, "-1", options), InputError);
}

// What events have set until then counts; where they have released a joint there is no linear analysis.
TEST(OperatingPoint, HasTheParametersThatEventsHaveSet) {
  const auto model = [](const std::string& set) {
    ModelBuilder builder({0, 0, 0});
    builder.parameter("k", 100);
    builder.body("mass", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
    builder.joint("rail", "prismatic")
        .set("between", "ground", "mass")
        .set("at", {0, 0, 0})
        .set("axis", {1, 0, 0});
    builder.force("spring", "joint_spring").set("joint", "rail").set("stiffness", {"k"});
    builder.sensor("stiffer", "event").set("when", "t - 0.5").set("set", set);
    return make_system(builder.finish());
  };
  SimulateOptions options;
  options.end = 1;
  options.step = 0.01;
  System system = model("k = 400");
  const State before = operating_point(system, "0.4", options);
  expect_at_most(std::abs(modes(system, before, {}).modes.front().eigenvalue.imag() - 10), 1e-9,
                 "before [rad/s]");
  const State after = operating_point(system, "end", options);
  expect_at_most(std::abs(modes(system, after, {}).modes.front().eigenvalue.imag() - 20), 1e-9,
                 "after [rad/s]");
  System released = model("joints.rail = 0");
  try {
    operating_point(released, "end", options);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("an event has released 'rail' by t = 1"));
  }
}

TEST(Statics, AnEquilibriumIsAStart) {
  const System system = make_system(pendulum(1.0));
  const StaticResult found = find_equilibrium(system);
  SimulateOptions options = default_options(system.model().description());
  options.from = std::make_shared<const Configuration>(configuration_of(system, found.state));
  options.end = 1;
  const Result result = simulate(system, options);
  ASSERT_TRUE(result.summary.completed);
  expect_at_most(std::abs(result.state.q[1] + 0.7), 1e-12, "it stays");
  expect_at_most(as_vector(result.state.v).cwiseAbs().maxCoeff(), 1e-9, "at rest");
}

// Two double pendulums of the shape L, with forces in proportion to L and m, in a plane across all axes: they come to the same angles, and oscillate at rates of
// sqrt(1/L), whatever else is in the model.
TEST(Statics, AMechanismBesideAMuchLargerOneComesToTheSameAngles) {
  const auto add = [](ModelBuilder& b, const std::string& name, double L, double m) {
    const Mat3 R = SO3<double>::exp(Vec3(0.4, -0.7, 0.3)).R();
    const Vec3 axis = R.col(2);
    const auto place = [&](double x, double y) { return Vec3(R * (L * Vec3(x, y, 0))); };
    const std::string first = name + "_first", second = name + "_second";
    const auto link = [&](const std::string& body, const Vec3& at) {
      b.body(body, "rigid")
          .set("mass", {m})
          .set("inertia", {0.1 * m * L * L, 0.2 * m * L * L, 0.25 * m * L * L})
          .set("position", at);
      b.force(body + "_pull", "force").set("on", body).set("force", Vec3(m * (R * Vec3(7, -3, 0))));
    };
    link(first, place(0.5, 0.1));
    link(second, place(1.5, 0.3));
    const auto hinge = [&](const std::string& joint, const std::string& from, const std::string& to,
                           const Vec3& at) {
      b.joint(joint, "revolute").set("between", from, to).set("at", at).set("axis", axis);
      b.sensor(joint + "_angle", "joint_angle").set("of", joint);
    };
    hinge(name + "_a", "ground", first, Vec3::Zero());
    hinge(name + "_b", first, second, place(1, 0.2));
  };
  const auto system_of = [&](bool large, bool small) {
    ModelBuilder b({0, 0, 0});
    if (large) add(b, "large", 1, 1);
    if (small) add(b, "small", 1e-8, 1e-18);
    return make_system(b.finish());
  };
  const auto analyse = [](const System& system) {
    const StaticResult found = find_equilibrium(system);
    EXPECT_TRUE(found.converged) << found.failure;
    std::vector<double> rates;
    for (const Mode& mode : modes(system, found.state).modes) rates.push_back(std::abs(mode.eigenvalue));
    return std::pair(found.steps.back().sensors, rates);
  };
  const auto [large, large_rates] = analyse(system_of(true, false));
  const auto [small, small_rates] = analyse(system_of(false, true));
  const auto [both, rates] = analyse(system_of(true, true));
  ASSERT_EQ(both.size(), 4u);
  ASSERT_EQ(rates.size(), 4u);
  for (std::size_t i = 0; i < 2; ++i) {
    expect_at_most(std::abs(both[i] - large[i]), 1e-12,
                   fmt::format("angle {} of the larger, alone and not", i));
    expect_at_most(std::abs(both[2 + i] - large[i]), 1e-11, fmt::format("angle {} of the smaller", i));
    expect_at_most(std::abs(small[i] - large[i]), 1e-11, fmt::format("angle {} of the smaller alone", i));
    expect_at_most(std::abs(rates[i] / large_rates[i] - 1), 1e-10, fmt::format("mode {} of the larger", i));
    expect_at_most(std::abs(rates[2 + i] / (1e4 * large_rates[i]) - 1), 1e-10,
                   fmt::format("mode {} of the smaller", i));
    expect_at_most(std::abs(small_rates[i] / (1e4 * large_rates[i]) - 1), 1e-10,
                   fmt::format("mode {} of the smaller alone", i));
  }
}

TEST(Statics, WrongOptionsAreRefused) {
  const System system = make_system(pendulum(1.0));
  StaticOptions options;
  options.load_steps = 0;
  EXPECT_THROW(find_equilibrium(system, options), InputError);
  options = {};
  options.tolerance = -1;
  EXPECT_THROW(find_equilibrium(system, options), InputError);
}

}  // namespace
}  // namespace liedyn
