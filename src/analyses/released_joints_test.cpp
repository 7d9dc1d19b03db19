// Joints that events release and engage, against closed forms: what was a pendulum flies as a parabola, what was one body separates, a rope becomes taut.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numbers>

#include "liedyn/analyses/events.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/analyses/step_derivatives.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

Simulation run_of(const System& system, const std::string& integrator, double step) {
  SimulateOptions options;
  options.integrator = integrator;
  options.end = 10;
  options.step = step;
  return Simulation(system, options);
}

constexpr double kRodMass = 2, kArm = 0.5, kRodInertia = 0.2, kAngle = 1;
const double kAboutPivot = kRodInertia + kRodMass * kArm * kArm;

// A rod that falls from the horizontal, and whose hinge opens where it has turned by kAngle.
std::shared_ptr<const Description> latched_rod() {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("rod", "rigid").set("mass", {kRodMass}).set("inertia", {0.2, kRodInertia, 0.01});
  builder.set("position", {kArm, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "rod")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.sensor("angle", "joint_angle").set("of", "hinge");
  builder.sensor("place", "position").set("of", "rod");
  builder.sensor("speed", "velocity").set("of", "rod");
  builder.sensor("turning", "angular_velocity").set("of", "rod");
  builder.sensor("reaction", "reaction_force").set("of", "hinge");
  builder.sensor("open", "event")
      .set("when", fmt::format("angle - {}", kAngle))
      .set("set", "joints.hinge = 0");
  return builder.finish();
}

// Its motion after the release: a parabola of the centre of mass, and a constant angular velocity.
struct Flight {
  explicit Flight(double after) {
    const double c = std::cos(kAngle), s = std::sin(kAngle);
    rate = std::sqrt(2 * kRodMass * kGravity * kArm * s / kAboutPivot);
    place = Vec3(kArm * c - rate * kArm * s * after, 0,
                 -kArm * s - rate * kArm * c * after - kGravity / 2 * after * after);
    speed = Vec3(-rate * kArm * s, 0, -rate * kArm * c - kGravity * after);
  }
  double rate;
  Vec3 place, speed;
};

double distance_to(const Vec3& exact, const std::vector<double>& shown) {
  return (Vec3(shown[0], shown[1], shown[2]) - exact).norm();
}

struct FlightError {
  double place, speed, turning, reaction;
};
FlightError flight_error(const System& system, const std::string& integrator, double step) {
  Simulation simulation = run_of(system, integrator, step);
  simulation.advance_to(1);
  const std::vector<Occurrence> found = simulation.events();
  EXPECT_EQ(found.size(), 1U) << integrator;
  if (found.size() != 1) return {NAN, NAN, NAN, NAN};
  EXPECT_THAT(simulation.released_joints(), testing::ElementsAre("hinge")) << integrator;
  const Flight flight(simulation.time() - found.front().t);
  const std::vector<double> reaction = simulation.sensor("reaction");
  return {distance_to(flight.place, simulation.sensor("place")),
          distance_to(flight.speed, simulation.sensor("speed")),
          distance_to(Vec3(0, flight.rate, 0), simulation.sensor("turning")),
          std::hypot(reaction[0], reaction[1], reaction[2])};
}

// On a parabola every method is exact: what is wrong after the release are the errors of the motion before it.
TEST(ReleasedJoints, APendulumFliesAsAParabolaWithEveryIntegrator) {
  const System system = make_system(latched_rod(), "r3so3");
  for (const ListedIntegrator& listed : integrators()) {
    const FlightError error = flight_error(system, listed.name, 1e-3);
    const double allowed = listed.name.starts_with("ss") ? 1e-2 : 1e-4;
    EXPECT_LT(error.place, allowed) << listed.name;
    EXPECT_LT(error.speed, allowed) << listed.name;
    EXPECT_LT(error.turning, allowed) << listed.name;
    EXPECT_EQ(error.reaction, 0) << listed.name;
  }
}

TEST(ReleasedJoints, APendulumFliesAsAParabolaInEveryFormulationAndForm) {
  const auto description = latched_rod();
  for (const std::string& formulation : formulations()) {
    const FlightError error = flight_error(make_system(description, formulation), "rk44", 1e-3);
    EXPECT_LT(error.place, 1e-8) << formulation;
    EXPECT_LT(error.speed, 1e-8) << formulation;
    EXPECT_EQ(error.reaction, 0) << formulation;
  }
  for (const std::string form : {"generalized-alpha,index=3", "generalized-alpha,index=2",
                                 "generalized-alpha,index=stabilized", "lms2,index=2", "esdirk4-6,index=2"}) {
    const FlightError error = flight_error(make_system(description, "r3so3"), form, 1e-3);
    EXPECT_LT(error.place, 1e-5) << form;
    EXPECT_LT(error.speed, 1e-5) << form;
  }
}

// The errors of positions, velocities and of the reactions that remain fall with the order of the method, as they do without the event: a rod of a double pendulum drops off,
// and the other one swings on.
TEST(ReleasedJoints, TheOrderOfTheMethodIsKept) {
  const auto made = [](bool drops) {
    ModelBuilder builder({0, 0, -kGravity});
    for (const char* name : {"upper", "lower"})
      builder.body(name, "rigid")
          .set("mass", {kRodMass})
          .set("inertia", {0.2, kRodInertia, 0.01})
          .set("position", {name[0] == 'u' ? 0.5 : 1.5, 0, 0});
    builder.joint("pivot", "revolute")
        .set("between", "ground", "upper")
        .set("at", {0, 0, 0})
        .set("axis", {0, 1, 0});
    builder.joint("elbow", "revolute")
        .set("between", "upper", "lower")
        .set("at", {1, 0, 0})
        .set("axis", {0, 1, 0});
    builder.sensor("angle", "joint_angle").set("of", "pivot");
    builder.sensor("upper_place", "position").set("of", "upper");
    builder.sensor("lower_place", "position").set("of", "lower");
    builder.sensor("upper_speed", "velocity").set("of", "upper");
    builder.sensor("lower_speed", "velocity").set("of", "lower");
    builder.sensor("reaction", "reaction_force").set("of", "pivot");
    if (drops) builder.sensor("drop", "event").set("when", "angle - 0.7").set("set", "joints.elbow = 0");
    return make_system(builder.finish());
  };
  using Shown = std::array<std::vector<double>, 3>;  // q, v, lambda
  const auto shown = [](const System& system, const std::string& integrator, double step) {
    Simulation simulation = run_of(system, integrator, step);
    simulation.advance_to(0.8);
    Shown out;
    for (const auto& [k, name] :
         {std::pair(0, "upper_place"), std::pair(0, "lower_place"), std::pair(1, "upper_speed"),
          std::pair(1, "lower_speed"), std::pair(2, "reaction")})
      for (const double x : simulation.sensor(name)) out[static_cast<std::size_t>(k)].push_back(x);
    return out;
  };
  const System drops = made(true), swings = made(false);
  const Shown exact_drops = shown(drops, "dopri5", 5e-4), exact_swings = shown(swings, "dopri5", 5e-4);
  const auto orders = [&](const System& system, const Shown& exact, const std::string& method, double step) {
    std::array<double, 3> out{};
    const Shown coarse = shown(system, method, step), fine = shown(system, method, step / 2);
    for (std::size_t k = 0; k < 3; ++k) {
      double before = 0, after = 0;
      for (std::size_t i = 0; i < exact[k].size(); ++i) {
        before = std::max(before, std::abs(coarse[k][i] - exact[k][i]));
        after = std::max(after, std::abs(fine[k][i] - exact[k][i]));
      }
      out[k] = std::log2(before / after);
    }
    return out;
  };
  const std::tuple<std::string, double, double> methods[] = {{"generalized-alpha", 2, 4e-3},
                                                             {"lms2", 2, 4e-3},
                                                             {"rk44", 4, 2e-2},
                                                             {"dopri5", 5, 2e-2},
                                                             {"esdirk4-6", 4, 1e-2}};
  for (const auto& [method, order, step] : methods) {
    const auto with = orders(drops, exact_drops, method, step),
               without = orders(swings, exact_swings, method, step);
    fmt::print(
        "  {:<18} orders of q, v, lambda {:.2f} {:.2f} {:.2f}; without the event {:.2f} {:.2f} {:.2f}\n",
        method, with[0], with[1], with[2], without[0], without[1], without[2]);
    // Stages of diagonally implicit methods are of second order, which constraints on positions show with and without events.
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_GT(with[k], std::min(order, without[k]) - 0.5) << method << " " << k;
  }
}

// Two bodies that fly as one separate: momentum, angular momentum and energy stay.
TEST(ReleasedJoints, BodiesThatSeparateKeepMomentumAndEnergy) {
  ModelBuilder builder({0, 0, 0});
  builder.body("front", "rigid")
      .set("mass", {2})
      .set("inertia", {0.2, 0.3, 0.4})
      .set("position", {0.5, 0, 0});
  builder.set("velocity", {1, 1, 0}).set("angular_velocity", {0, 0, 2});
  builder.body("back", "rigid")
      .set("mass", {3})
      .set("inertia", {0.1, 0.1, 0.1})
      .set("position", {-0.5, 0, 0});
  builder.set("velocity", {1, -1, 0}).set("angular_velocity", {0, 0, 2});
  builder.joint("weld", "fixed").set("between", "front", "back").set("at", {0, 0, 0});
  builder.sensor("front_place", "position").set("of", "front");
  builder.sensor("front_speed", "velocity").set("of", "front");
  builder.sensor("back_place", "position").set("of", "back");
  builder.sensor("back_speed", "velocity").set("of", "back");
  builder.sensor("energy", "energy");
  builder.sensor("part", "event").set("when", "t - 0.31").set("set", "joints.weld = 0");
  const auto description = builder.finish();
  for (const std::string& formulation : formulations()) {
    if (formulation == "auto") continue;
    Simulation simulation = run_of(make_system(description, formulation), "rk44", 2e-3);
    const double energy = simulation.sensor("energy")[0];
    simulation.advance_to(0.31);
    simulation.advance_to(0.3100001);
    const std::vector<double> front = simulation.sensor("front_speed"),
                              back = simulation.sensor("back_speed");
    simulation.advance_to(1);
    EXPECT_NEAR(simulation.sensor("energy")[0], energy, 1e-7 * energy) << formulation;
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(2 * front[static_cast<std::size_t>(i)] + 3 * back[static_cast<std::size_t>(i)],
                  i == 0   ? 5
                  : i == 1 ? -1
                           : 0,
                  1e-9)
          << formulation;
      EXPECT_NEAR(simulation.sensor("front_speed")[static_cast<std::size_t>(i)],
                  front[static_cast<std::size_t>(i)], 1e-9)
          << formulation;
      EXPECT_NEAR(simulation.sensor("back_speed")[static_cast<std::size_t>(i)],
                  back[static_cast<std::size_t>(i)], 1e-9)
          << formulation;
    }
    // Nothing holds them together: they are as far apart as their velocities say.
    const auto distance = [&] {
      return simulation.sensor("front_place")[1] - simulation.sensor("back_place")[1];
    };
    const double before = distance();
    simulation.advance(0.5);
    EXPECT_NEAR(distance() - before, 0.5 * (front[1] - back[1]), 1e-9) << formulation;
  }
}

// A ball on a rope falls freely from above its hook until the rope is taut, which takes the radial part of its velocity; then it swings.
TEST(ReleasedJoints, ARopeBecomesTaut) {
  const double a = std::numbers::pi / 3, c = std::cos(a), s = std::sin(a);
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("ball", "point").set("mass", {2}).set("position", {c, 0, s});
  builder.joint("rope", "distance").set("between", "ground", "ball").set("points", {0, 0, 0, c, 0, s});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("speed", "velocity").set("of", "ball");
  builder.sensor("slack", "sample").set("value", "0").set("into", "joints.rope").set("every", {1000});
  builder.sensor("taut", "event").set("when", "sqrt(place[0]^2 + place[2]^2) - 1").set("direction", "rising");
  builder.set("set", "joints.rope = 1");
  builder.sensor("bottom", "event").set("when", "place[0]").set("action", "stop");
  const auto description = builder.finish();
  for (const std::string formulation : {"r3so3", "minimal"})
    for (const std::string method :
         {"generalized-alpha", "generalized-alpha,index=2", "lms2", "rk44", "esdirk4-6"}) {
      Simulation simulation = run_of(make_system(description, formulation), method, 1e-3);
      EXPECT_THAT(simulation.released_joints(), testing::ElementsAre("rope"));
      simulation.advance_to(5);
      ASSERT_EQ(simulation.stopped_by(), "bottom") << formulation << " " << method;
      EXPECT_TRUE(simulation.released_joints().empty());
      const double fall = 2 * s, impact = std::sqrt(2 * kGravity * fall);
      EXPECT_NEAR(simulation.events().front().t, std::sqrt(2 * fall / kGravity), 1e-9)
          << formulation << " " << method;
      const double bottom = std::sqrt(std::pow(impact * c, 2) + 2 * kGravity * (1 - s));
      EXPECT_NEAR(simulation.sensor("speed")[0], -bottom, 1e-4) << formulation << " " << method;
      EXPECT_NEAR(simulation.sensor("place")[2], -1, 1e-6) << formulation << " " << method;
    }
}

// Slack at the start: refused with the length of later, with a hint that can be followed.
TEST(ReleasedJoints, ARopeMayBeShorterAtTheStart) {
  const auto rope = [](double length, const std::string& set) {
    ModelBuilder builder({0, 0, -kGravity});
    builder.body("ball", "point").set("mass", {2}).set("position", {0, 0, -0.5});
    builder.joint("rope", "distance").set("between", "ground", "ball").set("length", {length});
    builder.set("points", {0, 0, 0, 0, 0, -0.5});
    builder.sensor("place", "position").set("of", "ball");
    builder.sensor("slack", "sample").set("value", "0").set("into", "joints.rope").set("every", {1000});
    builder.sensor("taut", "event").set("when", "place[2] < -1").set("set", set);
    return make_system(builder.finish());
  };
  try {
    run_of(rope(1, "joints.rope = 1"), "rk44", 1e-3);
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                testing::HasSubstr("give the initial distance of the points as `length`, and let the event "
                                   "set it: \"set\": \"joints.rope.length = ...; joints.rope = 1\""));
  }
  Simulation simulation = run_of(rope(0.5, "joints.rope.length = 1; joints.rope = 1"), "rk44", 1e-3);
  simulation.advance_to(1);
  EXPECT_TRUE(simulation.released_joints().empty());
  EXPECT_NEAR(simulation.sensor("place")[2], -1, 1e-9);
  EXPECT_NEAR(simulation.events().front().t, std::sqrt(2 * 0.5 / kGravity), 1e-9);
}

// Held, the rope keeps the expression of its event at zero, which is crossed by round-off or by what the method leaves of the constraint: no event.
TEST(ReleasedJoints, ARopeThatIsHeldBecomesTautNoMore) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("ball", "point").set("mass", {2}).set("position", {1, 0, 0});
  builder.joint("rope", "distance").set("between", "ground", "ball").set("points", {0, 0, 0, 1, 0, 0});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("taut", "event").set("when", "sqrt(place[0]^2 + place[2]^2) - 1").set("direction", "rising");
  builder.set("set", "joints.rope = 1");
  const System system = make_system(builder.finish());
  for (const ListedIntegrator& listed : integrators()) {
    Simulation simulation = run_of(system, listed.name, 5e-3);
    simulation.advance_to(1);
    EXPECT_TRUE(simulation.events().empty()) << listed.name;
  }
}

// The same where the event sets a length besides, as a rope that is slack at the start needs: the stone swings after it is taut.
TEST(ReleasedJoints, ARopeThatSwingsBecomesTautOnce) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("ball", "point").set("mass", {2}).set("position", {0, 0, -0.5}).set("velocity", {1, 0, 0});
  builder.joint("rope", "distance").set("between", "ground", "ball").set("length", {0.5});
  builder.set("points", {0, 0, 0, 0, 0, -0.5});
  builder.sensor("place", "position").set("of", "ball");
  builder.sensor("slack", "sample").set("value", "0").set("into", "joints.rope").set("every", {1000});
  builder.sensor("taut", "event").set("when", "sqrt(place[0]^2 + place[2]^2) > 1");
  builder.set("set", "joints.rope.length = 1; joints.rope = 1");
  const System system = make_system(builder.finish());
  for (const ListedIntegrator& listed : integrators()) {
    Simulation simulation = run_of(system, listed.name, 5e-3);
    simulation.advance_to(3);
    EXPECT_EQ(simulation.events().size(), 1U) << listed.name;
    EXPECT_NEAR(std::hypot(simulation.sensor("place")[0], simulation.sensor("place")[2]), 1, 1e-6)
        << listed.name;
  }
}

// A run in pieces, saved and restored with a joint released, has the bits of one run.
TEST(ReleasedJoints, CheckpointsHoldWhichAreReleased) {
  const System system = make_system(latched_rod(), "r3so3");
  for (const ListedIntegrator& listed : integrators()) {
    Simulation whole = run_of(system, listed.name, 5e-3), first = run_of(system, listed.name, 5e-3);
    whole.advance_to(0.8);
    first.advance_to(0.6);
    ASSERT_THAT(first.released_joints(), testing::ElementsAre("hinge")) << listed.name;
    Simulation restored = run_of(system, listed.name, 5e-3), copy = first.clone();
    restored.restore(first.save());
    EXPECT_THAT(restored.released_joints(), testing::ElementsAre("hinge")) << listed.name;
    for (Simulation* part : {&first, &restored, &copy}) {
      part->advance_to(0.8);
      ASSERT_EQ(std::memcmp(part->state().q.data(), whole.state().q.data(), 8 * whole.state().q.size()), 0)
          << listed.name;
      ASSERT_EQ(std::memcmp(part->state().v.data(), whole.state().v.data(), 8 * whole.state().v.size()), 0)
          << listed.name;
    }
  }
}

// Where a redundant joint is released, the others hold as before; where one of two is released, the other becomes the only one.
TEST(ReleasedJoints, RedundantJointsTakeOver) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("door", "rigid").set("mass", {4}).set("inertia", {0.3, 0.3, 0.5}).set("position", {0.5, 0, 0});
  for (const char* name : {"low", "high"})
    builder.joint(name, "revolute")
        .set("between", "ground", "door")
        .set("at", {0, 0, name[0] == 'l' ? -0.4 : 0.4})
        .set("axis", {0, 0, 1});
  builder.sensor("angle", "joint_angle").set("of", "low");
  builder.sensor("place", "position").set("of", "door");
  builder.sensor("low_force", "reaction_force").set("of", "low");
  builder.sensor("high_force", "reaction_force").set("of", "high");
  builder.sensor("open", "event").set("when", "t - 0.1").set("set", "joints.high = 0");
  const System system = make_system(builder.finish());
  for (const std::string method : {"generalized-alpha", "rk44", "lms2"}) {
    Simulation simulation = run_of(system, method, 1e-2);
    EXPECT_NEAR(simulation.sensor("low_force")[2] + simulation.sensor("high_force")[2], 4 * kGravity, 1e-9)
        << method;
    simulation.advance_to(0.5);
    EXPECT_NEAR(simulation.sensor("low_force")[2], 4 * kGravity, 1e-8) << method;
    EXPECT_EQ(simulation.sensor("high_force")[2], 0) << method;
    EXPECT_NEAR(simulation.sensor("place")[2], 0, 1e-12) << method;
  }
}

// A pendulum is released, flies, and is caught where its end is at the pivot again, as far as the motion leads there: elsewhere it is refused.
TEST(ReleasedJoints, AJointThatDoesNotFitIsRefused) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("rod", "rigid")
      .set("mass", {kRodMass})
      .set("inertia", {0.2, kRodInertia, 0.01})
      .set("position", {kArm, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "rod")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.sensor("open", "event").set("when", "t - 0.1").set("set", "joints.hinge = 0");
  builder.sensor("shut", "event").set("when", "t - 0.3").set("set", "joints.hinge = 1");
  Simulation simulation = run_of(make_system(builder.finish()), "rk44", 1e-2);
  try {
    simulation.advance_to(1);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("expected a position that satisfies the joint at t = 0.3"));
  }
  for (const auto& [set, message] :
       {std::pair("joints.hnge = 0", "did you mean 'hinge'?"),
        std::pair("joints.hinge = 0.5", "expected 0, which releases the joint")}) {
    ModelBuilder wrong({0, 0, -kGravity});
    wrong.body("rod", "rigid")
        .set("mass", {kRodMass})
        .set("inertia", {0.2, kRodInertia, 0.01})
        .set("position", {kArm, 0, 0});
    wrong.joint("hinge", "revolute")
        .set("between", "ground", "rod")
        .set("at", {0, 0, 0})
        .set("axis", {0, 1, 0});
    wrong.sensor("open", "event").set("when", "t - 0.1").set("set", set);
    try {
      run_of(make_system(wrong.finish()), "rk44", 1e-2).advance_to(1);
      FAIL() << "accepted: " << set;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(message));
    }
  }
}

}  // namespace
}  // namespace liedyn
