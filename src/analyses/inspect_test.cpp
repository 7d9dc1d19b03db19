#include "analyses/inspect.h"

#include <array>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace liedyn {
namespace {

// Bodies of 1 kg at (i, 0, 0).
void add_bodies(DescriptionBuilder& builder, int count, double mass = 1) {
  for (int i = 1; i <= count; ++i) {
    builder.begin(Section::Bodies, fmt::format("body{}", i), "rigid");
    builder.numbers("mass", std::array{mass});
    builder.numbers("inertia", std::array{mass, mass, mass});
    builder.numbers("position", std::array{static_cast<double>(i), 0.0, 0.0});
    builder.end();
  }
}

void add_ball(DescriptionBuilder& builder, const std::string& name, const std::string& first,
              const std::string& second, double x, double y = 0) {
  builder.begin(Section::Joints, name, "spherical");
  builder.words("between", first, second);
  builder.numbers("at", std::array{x, y, 0.0});
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
  EXPECT_TRUE(i.redundant[0] == "joints.a: place x" || i.redundant[0] == "joints.b: place x")
      << i.redundant[0];
  EXPECT_FALSE(i.findings.empty());
}

TEST(Inspect, MeasuresInconsistentVelocities) {
  DescriptionBuilder builder("test", "", {}, {0, 0, -9.81});
  builder.begin(Section::Bodies, "ball", "rigid");
  builder.numbers("mass", std::array{1.0});
  builder.numbers("inertia", std::array{1.0, 1.0, 1.0});
  builder.numbers("velocity", std::array{0.0, 0.25, 0.0});
  builder.end();
  add_ball(builder, "a", "ground", "ball", 0);
  const Inspection i = inspection(builder);
  EXPECT_EQ(i.residual_position, 0);
  EXPECT_DOUBLE_EQ(i.residual_velocity, 0.25);
  ASSERT_EQ(i.findings.size(), 1u);
  EXPECT_NE(i.findings[0].message.find("velocities violate this constraint"), std::string::npos)
      << i.findings[0].message;
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
