#include "liedyn/analyses/inspect.h"

#include <array>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "liedyn/base/matrix.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// Bodies of 1 kg at (i, 0, 0).
void add_bodies(DescriptionBuilder& builder, int count, double mass = 1) {
  for (int i = 1; i <= count; ++i) {
    builder.begin(Section::Bodies, fmt::format("body{}", i), "rigid");
    builder.values("mass", std::array{mass});
    builder.values("inertia", std::array{mass, mass, mass});
    builder.values("position", std::array{static_cast<double>(i), 0.0, 0.0});
    builder.end();
  }
}

void add_ball(DescriptionBuilder& builder, const std::string& name, const std::string& first,
              const std::string& second, double x, double y = 0) {
  builder.begin(Section::Joints, name, "spherical");
  builder.words("between", first, second);
  builder.values("at", std::array{x, y, 0.0});
  builder.end();
}

Inspection inspection(DescriptionBuilder& builder) {
  const auto description = std::make_shared<const Description>(builder.finish());
  return inspect(System(Model::compile(description), Params(description)), 0, InitialPolicy::Check);
}

TEST(Inspect, CountsTheDegreesOfFreedomOfATree) {
  DescriptionBuilder builder("test", "", {}, {0, 0, -9.81});
  add_bodies(builder, 3);
  add_ball(builder, "a", "ground", "body1", 0);
  add_ball(builder, "b", "body1", "body2", 1.5);
  const Inspection i = inspection(builder);
  EXPECT_EQ(i.velocities, 18);
  EXPECT_EQ(i.constraints, 6);
  EXPECT_EQ(i.degrees_of_freedom, 12);
  EXPECT_TRUE(i.redundant.empty());
  EXPECT_TRUE(i.findings.empty());
}

TEST(Inspect, NamesAConstraintThatRepeatsOthers) {
  // Two ball joints hold the distance between their centres twice: along x.
  DescriptionBuilder builder("test", "", {}, {0, 0, -9.81});
  add_bodies(builder, 1);
  add_ball(builder, "a", "ground", "body1", 0);
  add_ball(builder, "b", "ground", "body1", 1);
  const Inspection i = inspection(builder);
  EXPECT_EQ(i.constraints, 6);
  EXPECT_EQ(i.degrees_of_freedom, 1);
  ASSERT_EQ(i.redundant.size(), 1u);
  EXPECT_TRUE(i.redundant[0] == "joints.a: position x" || i.redundant[0] == "joints.b: position x")
      << i.redundant[0];
  EXPECT_TRUE(i.findings.empty());  // it can be simulated all the same
}

// Bars between the points, the last point joined to the first by the ground; a hinge at each point.
void add_loop(DescriptionBuilder& builder, const std::vector<Vec3>& points, const std::vector<Vec3>& axes) {
  const std::size_t bars = points.size() - 1;
  const auto bar = [](std::size_t i) { return fmt::format("bar{}", i); };
  for (std::size_t i = 0; i < bars; ++i) {
    const Vec3 middle = (points[i] + points[i + 1]) / 2;
    builder.begin(Section::Bodies, bar(i + 1), "rigid");
    builder.values("mass", std::array{1.0});
    builder.values("inertia", std::array{0.1, 0.1, 0.1});
    builder.values("position", std::span(middle.data(), 3));
    builder.end();
  }
  for (std::size_t i = 0; i <= bars; ++i) {
    builder.begin(Section::Joints, fmt::format("hinge{}", i + 1), "revolute");
    builder.words("between", i == 0 ? "ground" : bar(i), i == bars ? "ground" : bar(i + 1));
    builder.values("at", std::span(points[i].data(), 3));
    builder.values("axis", std::span(axes[i].data(), 3));
    builder.end();
  }
}

void print(const std::vector<std::string>& names) {
  for (const std::string& name : names) fmt::print("  redundant: {}\n", name);
}

TEST(Inspect, NamesWhatAPlanarFourBarInSpaceHoldsTwice) {
  // Parallel hinges: the place along them and the two tilts are held by each side of the loop.
  DescriptionBuilder builder("test", "", {}, {0, 0, -9.81});
  const Vec3 z = Vec3::UnitZ();
  add_loop(builder, {{0, 0, 0}, {0, 0.12, 0}, {0.24, 0.2, 0}, {0.24, 0, 0}}, {z, z, z, z});
  const Inspection i = inspection(builder);
  print(i.redundant);
  EXPECT_EQ(i.velocities, 18);
  EXPECT_EQ(i.constraints, 20);
  EXPECT_EQ(i.degrees_of_freedom, 1);
  ASSERT_EQ(i.redundant.size(), 3u);
  for (const std::string& name : i.redundant)
    EXPECT_TRUE(name.ends_with(": position z") || name.ends_with(": rotation about joint x") ||
                name.ends_with(": rotation about joint y"))
        << name;
}

TEST(Inspect, FindsTheDegreeOfFreedomOfBricardsMechanism) {
  // Six bars along the edges of a cube, one of them the ground: as many constraints as velocities, but it moves.
  DescriptionBuilder builder("test", "", {}, {0, 0, -9.81});
  const Vec3 x = Vec3::UnitX(), y = Vec3::UnitY(), z = Vec3::UnitZ();
  add_loop(builder, {{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}},
           {y, z, x, y, z, x});
  const Inspection i = inspection(builder);
  print(i.redundant);
  EXPECT_EQ(i.velocities, 30);
  EXPECT_EQ(i.constraints, 30);
  EXPECT_EQ(i.degrees_of_freedom, 1);
  ASSERT_EQ(i.redundant.size(), 1u);
  EXPECT_TRUE(i.redundant[0].starts_with("joints.hinge")) << i.redundant[0];
}

TEST(Inspect, CountsStatesApartFromDegreesOfFreedomAndWarnsOfWhatCannotMove) {
  ModelBuilder builder;
  builder.body("arm", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {1, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.state("x", "integral").set("input", std::string("1"));
  builder.state("y", "integral").set("input", std::string("x"));
  const auto free = builder.finish();
  const Inspection i = inspect(System(Model::compile(free), Params(free)), 0, InitialPolicy::Check);
  fmt::print("  {} degree of freedom, {} states\n", i.degrees_of_freedom, i.states);
  EXPECT_EQ(i.degrees_of_freedom, 1);
  EXPECT_EQ(i.states, 2);
  EXPECT_TRUE(i.warnings.empty());

  ModelBuilder locked;
  locked.body("arm", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {1, 0, 0});
  locked.joint("a", "revolute").set("between", "ground", "arm").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
  locked.joint("b", "revolute").set("between", "ground", "arm").set("at", {1, 0, 0}).set("axis", {0, 0, 1});
  const auto still = locked.finish();
  const Inspection none = inspect(System(Model::compile(still), Params(still)), 0, InitialPolicy::Check);
  EXPECT_EQ(none.degrees_of_freedom, 0);
  ASSERT_EQ(none.warnings.size(), 1u);
  EXPECT_NE(none.warnings[0].find("0 degrees of freedom"), std::string::npos) << none.warnings[0];

  ModelBuilder flat;
  flat.body("disc", "planar").set("mass", {1}).set("inertia", {1});
  const auto plane = flat.finish();
  const Inspection floating = inspect(System(Model::compile(plane), Params(plane)), 0, InitialPolicy::Check);
  ASSERT_EQ(floating.warnings.size(), 1u);
  EXPECT_NE(floating.warnings[0].find("perpendicular to the plane"), std::string::npos)
      << floating.warnings[0];
}

TEST(Inspect, MeasuresInconsistentVelocities) {
  DescriptionBuilder builder("test", "", {}, {0, 0, -9.81});
  builder.begin(Section::Bodies, "ball", "rigid");
  builder.values("mass", std::array{1.0});
  builder.values("inertia", std::array{1.0, 1.0, 1.0});
  builder.values("velocity", std::array{0.0, 0.25, 0.0});
  builder.end();
  add_ball(builder, "a", "ground", "ball", 0);
  const Inspection i = inspection(builder);
  EXPECT_EQ(i.residual_position, 0);
  EXPECT_DOUBLE_EQ(i.residual_velocity, 0.25);
  ASSERT_EQ(i.findings.size(), 1u);
  EXPECT_NE(i.findings[0].message.find("velocities violate this constraint"), std::string::npos)
      << i.findings[0].message;
}

// Positions, velocities and forces at once. Velocities of a joint that does not hold say nothing, nor do elements that share a body with a wrong one.
TEST(Inspect, FindsMistakesOfAllPhases) {
  const auto with = [](bool wrong_position, bool wrong_velocity, bool wrong_force) {
    ModelBuilder b;
    b.body("a", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {0.5, 0, 0});
    b.set("velocity", {0, 0, wrong_velocity ? 3 : 0});
    b.body("b", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
    b.set("position", {wrong_position ? 3 : 1, 0, 0}).set("velocity", {0, 0, wrong_position ? 1 : 0});
    b.joint("h", "revolute").set("between", "ground", "a").set("at", {0, 0, 0}).set("axis", {0, 1, 0});
    b.joint("g", "spherical")
        .set("between", "ground", "b")
        .in_bodies("at", {{"ground", {0, 0, 0}}, {"b", {-1, 0, 0}}});
    b.sensor("q", "joint_angle").set("of", "h");
    b.force("good", "force").set("on", "a").set("force", {"q", 1, 0});
    b.force("bad", "force").set("on", "a").set("force", {wrong_force ? "log(q - 1)" : "q", 0, 0});
    b.force("worse", "torque").set("on", "b").set("torque", {wrong_force ? "1/q" : "q", 0, 0});
    const auto d = b.finish();
    const System system(Model::compile(d), Params(d));
    std::vector<std::string> out;
    for (const Diagnostic& finding : inspect(system, 0, InitialPolicy::Check).findings)
      out.push_back(finding.path);
    return out;
  };
  using testing::ElementsAre;
  EXPECT_THAT(with(false, false, false), ElementsAre());
  EXPECT_THAT(with(true, true, true),
              ElementsAre("joints.g: position x", "joints.h: position z", "forces.bad", "forces.worse"));
  EXPECT_THAT(with(true, false, true), ElementsAre("joints.g: position x", "forces.bad", "forces.worse"));
  EXPECT_THAT(with(true, true, false), ElementsAre("joints.g: position x", "joints.h: position z"));
  EXPECT_THAT(with(false, true, true), ElementsAre("joints.h: position z", "forces.bad", "forces.worse"));
  EXPECT_THAT(with(false, false, true), ElementsAre("forces.bad", "forces.worse"));
}

// Numbers that an element refuses do not hide what is violated elsewhere, at the numbers and the time of this start.
TEST(Inspect, FindsViolatedValuesBesideWrongNumbers) {
  ModelBuilder b;
  b.parameter("speed", 0);
  b.body("arm", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  b.body("slide", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("velocity", {0, 0, 0});
  b.expression("velocity", 0, "speed");
  b.joint("h", "revolute").set("between", "ground", "arm").set("at", {0, 0, 0}).set("axis", {0, 1, 0});
  b.joint("s", "prismatic").set("between", "ground", "slide").set("at", {0, 0, 0}).set("axis", {0, 1, 0});
  b.force("stop", "joint_stop").set("joint", std::string("h")).set("stiffness", {10});
  b.set("lower", {0}).set("restitution", {0.5});
  const auto d = b.finish();
  const auto paths = [&](double speed, const std::string& formulation, InitialPolicy policy) {
    Params params(d);
    params.set("speed", speed);
    std::vector<std::string> out;
    for (const Diagnostic& finding :
         inspect(System(Model::compile(d, formulation), params), 0, policy).findings)
      out.push_back(finding.path);
    return out;
  };
  using testing::ElementsAre;
  for (const std::string formulation : {"r3so3", "minimal"}) {
    EXPECT_THAT(paths(0, formulation, InitialPolicy::Check), ElementsAre("forces.stop")) << formulation;
    EXPECT_THAT(paths(1, formulation, InitialPolicy::Check),
                testing::UnorderedElementsAre("forces.stop", testing::HasSubstr("joints.s: ")))
        << formulation;
    EXPECT_THAT(paths(1, formulation, InitialPolicy::Project), ElementsAre("forces.stop")) << formulation;
  }
}

TEST(Inspect, ShowsAResidualThatIsNotANumber) {
  ModelBuilder builder;
  builder.body("arm", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {1, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.joint("drive", "prescribed_motion").set("joint", std::string("hinge")).set("motion", {0});
  builder.expression("motion", 0, "1 - sqrt(1 - t)");
  const auto description = builder.finish();
  const System system(Model::compile(description), Params(description));
  EXPECT_EQ(inspect(system, 0, InitialPolicy::Project).residual_position, 0);
  const Inspection later = inspect(system, 2, InitialPolicy::Check);
  EXPECT_TRUE(std::isnan(later.residual_position)) << later.residual_position;
  EXPECT_FALSE(later.findings.empty());
}

TEST(Inspect, ABodyWithoutMassNeedsAJoint) {
  DescriptionBuilder builder("test", "", {}, {0, 0, -9.81});
  add_bodies(builder, 1, 0);
  const Inspection i = inspection(builder);
  ASSERT_FALSE(i.findings.empty());
  EXPECT_NE(i.findings[0].message.find("no mass"), std::string::npos) << i.findings[0].message;
}

}  // namespace
}  // namespace liedyn
