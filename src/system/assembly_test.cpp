#include "liedyn/system/assembly.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A four-bar with a hinge at one end and balls and a universal joint elsewhere, so that no row repeats another: crank 0.12, coupler, rocker.
struct FourBar {
  Vec3 a{0, 0, 0}, b{0, 0.12, 0}, c{0.24, 0.2, 0}, d{0.24, 0, 0};
  bool planar_hinges = false;  // all joints hinges with parallel axes: three rows repeat others

  std::shared_ptr<const Description> model() const {
    ModelBuilder builder({0, -9.81, 0});
    const auto bar = [&](const char* name, const Vec3& from, const Vec3& to) {
      builder.body(name, "rigid")
          .set("mass", {0.5})
          .set("inertia", {1e-3, 1e-3, 1e-3})
          .set("position", Vec3((from + to) / 2));
    };
    bar("crank", a, b);
    bar("coupler", b, c);
    bar("rocker", c, d);
    const auto hinge = [&](const char* name, const char* first, const char* second, const Vec3& at) {
      builder.joint(name, "revolute").set("between", first, second).set("at", at).set("axis", {0, 0, 1});
    };
    hinge("A", "ground", "crank", a);
    if (planar_hinges)
      hinge("B", "crank", "coupler", b);
    else
      builder.joint("B", "spherical").set("between", "crank", "coupler").set("at", b);
    if (planar_hinges)
      hinge("C", "coupler", "rocker", c);
    else
      builder.joint("C", "universal")
          .set("between", "coupler", "rocker")
          .set("at", c)
          .set("first_axis", Vec3(c - b))
          .set("second_axis", {0, 0, 1});
    hinge("D", "ground", "rocker", d);
    return builder.finish();
  }
  // The crank turned about its hinge, the others as drawn.
  Configuration turned(const System& system, double angle) const {
    Configuration out = configuration_of(system, described_state(system));
    const SO3<double> turn = SO3<double>::exp(Vec3(0, 0, angle));
    out[0].orientation = turn;
    out[0].position = turn.R() * out[0].position;
    return out;
  }
  // Where C is if the crank is turned by that angle: the intersection of two circles, on the side drawn.
  Vec3 place_of_c(double angle) const {
    const Vec3 tip = SO3<double>::exp(Vec3(0, 0, angle)).R() * b, across = d - tip;
    const double l = (c - b).norm(), r = (c - d).norm(), e = across.norm();
    const double along = (l * l - r * r + e * e) / (2 * e), off = std::sqrt(l * l - along * along);
    return tip + along * across / e + off * Vec3(-across.y(), across.x(), 0) / e;
  }
};

std::vector<bool> all_but_the_first_body(const System& system) {
  std::vector<bool> out(static_cast<std::size_t>(system.model().nv), true);
  std::fill_n(out.begin(), 6, false);
  return out;
}

TEST(Assembly, AFourBarGivenThirtyDegreesOffAssembles) {
  for (const std::string& formulation : absolute_formulations())
    for (const double degrees : {30.0, -30.0, 75.0}) {
      const double angle = degrees * std::acos(-1.0) / 180;
      const FourBar four_bar;
      const System system = make_system(four_bar.model(), formulation);
      const Configuration rough = four_bar.turned(system, angle);
      Work work(system);
      const State state = consistent_state(
          system, 0,
          {.policy = InitialPolicy::Project, .given = &rough, .movable = all_but_the_first_body(system)},
          work);
      system.residual(state, work, {true, true, true});
      expect_at_most(as_vector(work.phi).cwiseAbs().maxCoeff(), 1e-13,
                     fmt::format("{}, {} degrees: Phi", formulation, degrees));
      const Configuration found = configuration_of(system, state);
      expect_at_most((found[0].position - rough[0].position).norm(), 1e-15, "the crank stays");
      // The end of the coupler on the rocker.
      const Vec3 place = found[1].position + found[1].orientation.R() * (four_bar.c - four_bar.b) / 2;
      expect_at_most((place - four_bar.place_of_c(angle)).norm(), 1e-10,
                     "C is at the intersection of the circles");
    }
}

TEST(Assembly, RowsThatRepeatOthersAreNoObstacle) {
  FourBar four_bar;
  four_bar.planar_hinges = true;
  const System system = make_system(four_bar.model());
  const Configuration rough = four_bar.turned(system, 0.5);
  Work work(system);
  State state = described_state(system);
  set_configuration(system.model(), rough, state);
  const std::vector<bool> free = all_but_the_first_body(system);
  ASSERT_TRUE(project_positions(system, state, &free, work));
  system.residual(state, work, {});
  expect_at_most(as_vector(work.phi).cwiseAbs().maxCoeff(), 1e-12, "Phi");
  const Configuration found = configuration_of(system, state);
  const Vec3 place = found[1].position + found[1].orientation.R() * (four_bar.c - four_bar.b) / 2;
  expect_at_most((place - four_bar.place_of_c(0.5)).norm(), 1e-10, "C is at the intersection of the circles");
}

TEST(Assembly, WithoutAHoldAllMoveALittle) {
  const FourBar four_bar;
  const System system = make_system(four_bar.model());
  const Configuration rough = four_bar.turned(system, 0.5);
  Work work(system);
  const State state = consistent_state(system, 0, {.policy = InitialPolicy::Project, .given = &rough}, work);
  const double turned = configuration_of(system, state)[0].orientation.log().z();
  EXPECT_GT(turned, 0.05);
  EXPECT_LT(turned, 0.45);
}

TEST(Assembly, WhatCannotBeAssembledIsNamedByItsWorstRow) {
  // The crank held so far away that the coupler does not reach the rocker.
  const FourBar four_bar;
  const System system = make_system(four_bar.model());
  Configuration rough = four_bar.turned(system, 0);
  rough[0].position += Vec3(-1, 0, 0);
  Work work(system);
  try {
    consistent_state(
        system, 0,
        {.policy = InitialPolicy::Project, .given = &rough, .movable = all_but_the_first_body(system)}, work);
    FAIL() << "assembled";
  } catch (const InputError& error) {
    fmt::print("  {}\n", error.what());
    EXPECT_THAT(error.what(),
                testing::HasSubstr("assembly found no configuration that satisfies this constraint"));
    EXPECT_THAT(error.what(), testing::HasSubstr("joints."));
  }
}

TEST(Assembly, VelocitiesOfAHeldCrankDriveTheOthers) {
  const FourBar four_bar;
  const System system = make_system(four_bar.model());
  Configuration rough = four_bar.turned(system, 0);
  const double speed = 2, h = 1e-5;
  rough[0].angular_velocity = Vec3(0, 0, speed);
  rough[0].velocity = rough[0].angular_velocity.cross(rough[0].position);
  Work work(system);
  const State state = consistent_state(
      system, 0,
      {.policy = InitialPolicy::Project, .given = &rough, .movable = all_but_the_first_body(system)}, work);
  const Configuration found = configuration_of(system, state);
  const Vec3 arm = (four_bar.c - four_bar.b) / 2;
  const Vec3 velocity = found[1].velocity + found[1].angular_velocity.cross(arm);
  const Vec3 expected = speed * (four_bar.place_of_c(h) - four_bar.place_of_c(-h)) / (2 * h);
  expect_at_most((velocity - expected).norm(), 1e-8, "velocity of C - its difference");
}

TEST(Configuration, SurvivesAChangeOfFormulation) {
  Random random(11);
  ModelBuilder builder;
  add_every_body(builder, random);
  const auto description = builder.finish();
  const System first = make_system(description);
  const Configuration given = configuration_of(first, random_state(first, random));
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(description, formulation);
    State state = system.empty_state();
    set_configuration(system.model(), given, state);
    const Configuration back = configuration_of(system, state);
    double difference = 0;
    for (std::size_t i = 0; i < given.bodies.size(); ++i)
      difference = std::max({difference, (back[i].position - given[i].position).norm(),
                             (back[i].orientation.R() - given[i].orientation.R()).norm(),
                             (back[i].velocity - given[i].velocity).norm(),
                             (back[i].angular_velocity - given[i].angular_velocity).norm()});
    expect_at_most(difference, 1e-14, formulation);
  }
}

}  // namespace
}  // namespace liedyn
