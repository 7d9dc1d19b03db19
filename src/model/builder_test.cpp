#include "liedyn/model/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "liedyn/model/model.h"

namespace liedyn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The messages of finish(), one per finding.
std::vector<std::string> findings(const std::function<void(ModelBuilder&)>& fill) {
  ModelBuilder b({0, 0, 0});
  std::vector<std::string> out;
  try {
    fill(b);
    b.finish();
  } catch (const InputError& error) {
    for (const Diagnostic& d : error.diagnostics()) out.push_back(to_string(d));
  }
  return out;
}

void add_rod(ModelBuilder& b) { b.body("rod", "rigid").set("mass", 2).set("inertia", {1, 1, 1}); }

const Entry& entry(const Description& d, Section section, std::string_view name) {
  for (const Entry& e : d.entries(section))
    if (e.name == name) return e;
  throw std::runtime_error("no such entry");
}

double number(const Description& d, const Entry& e, std::string_view field, int i = 0) {
  const FieldValue& v = e.fields[static_cast<std::size_t>(e.kind->field(field))];
  return d.parameters[static_cast<std::size_t>(v.first + i)];
}

TEST(Builder, ATextIsAWordOrAnExpressionAsTheFieldSays) {
  ModelBuilder b({0, 0, 0});
  b.parameter("l", 0.5).parameter("twice", "2*l").gravity(0, "-l", 0);
  b.body("rod", "rigid").set("mass", "twice").set("inertia", {1, "l", 1}).set("position", {"l/2", 0, 1});
  b.joint("pivot", "revolute").set("between", {"ground", "rod"}).set("at", {0, 0, 0}).set("axis", {0, 1, 0});
  b.force("motor", "joint_actuator").set("joint", "pivot").set("feed_forward", "3*sin(2*t)");
  const auto d = b.finish();
  const Entry& rod = entry(*d, Section::Bodies, "rod");
  EXPECT_EQ(number(*d, rod, "mass"), 1);
  EXPECT_EQ(number(*d, rod, "inertia", 1), 0.5);
  EXPECT_EQ(number(*d, rod, "position"), 0.25);
  EXPECT_EQ(d->parameters[static_cast<std::size_t>(d->gravity() + 1)], -0.5);
  Params params(d);
  params.set("l", 3);
  EXPECT_EQ(params.get(params.find("bodies.rod.mass")), 6);
}

TEST(Builder, EveryFormOfARotationIsTheSameRotation) {
  const double angle = 0.7;
  const Mat3 R = SO3<double>::exp(Vec3(0, 0, angle)).R();
  const auto orientation = [&](const std::function<void(ModelBuilder&)>& set) {
    ModelBuilder b({0, 0, 0});
    add_rod(b);
    set(b);
    const auto model = Model::compile(b.finish());
    return initial_values(*model, Params(model->shared_description()).values().data()).q;
  };
  const auto expected = orientation([&](ModelBuilder& b) { b.set("orientation", {0, 0, angle}); });
  const std::function<void(ModelBuilder&)> forms[] = {
      [&](ModelBuilder& b) { b.set("orientation", rotation_vector(0, 0, angle)); },
      [&](ModelBuilder& b) { b.set("orientation", cardan(0, 0, angle)); },
      [&](ModelBuilder& b) {
        b.set("orientation", quaternion(std::cos(angle / 2), 0, 0, std::sin(angle / 2)));
      },
      [&](ModelBuilder& b) { b.set("orientation", axis_angle(0, 0, 2, angle)); },
      [&](ModelBuilder& b) { b.set("orientation", R); }};
  for (const auto& form : forms) {
    const auto found = orientation(form);
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-15);
  }
}

TEST(Builder, MatricesAreStoredAsTheirFieldsWant) {
  ModelBuilder b({0, 0, 0});
  Mat3 J;
  J << 3, 0.1, 0.2,  //
      0.1, 4, 0.3,   //
      0.2, 0.3, 5;
  b.body("rod", "rigid").set("mass", 2).set("inertia", J);
  const auto d = b.finish();
  const double expected[] = {3, 4, 5, 0.3, 0.2, 0.1};
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(number(*d, entry(*d, Section::Bodies, "rod"), "inertia", i), expected[i]);
}

TEST(Builder, ErrorsNameTheEntryAndTheField) {
  EXPECT_THAT(findings([](ModelBuilder& b) {
                b.body("rod", "rigid").set("mas", 2).set("inertia", {1, 1, 1});
              }),
              testing::Contains(HasSubstr("bodies.rod.mas: unknown key 'mas'")));
  EXPECT_THAT(findings([](ModelBuilder& b) { b.body("rod", "rigd").set("mass", 2); }),
              ElementsAre(HasSubstr("bodies.rod.type: expected one of")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.set("position", {1, 2});
              }),
              ElementsAre(HasSubstr("bodies.rod.position: expected 3 numbers, got 2")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.set("position", {1, 2, "3*x"});
              }),
              ElementsAre(HasSubstr("bodies.rod.position")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.joint("j", "spherical").set("between", {"ground", "rood"}).set("at", {0, 0, 0});
              }),
              ElementsAre(HasSubstr("joints.j.between")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.joint("j", "spherical").set("between", {"ground", 3}).set("at", {0, 0, 0});
              }),
              ElementsAre(HasSubstr("joints.j.between: expected the names of two bodies, got 2 items")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.set("orientation", {1, 0, 0, 0});
              }),
              ElementsAre(HasSubstr("bodies.rod.orientation: expected 3 numbers, got 4")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.set("position", {0, 0, 0}).expression("position", 3, "1");
              }),
              ElementsAre(HasSubstr("bodies.rod.position[3]: the field has 3 numbers so far")));
  Mat3 J = Mat3::Identity();
  J(0, 1) = 0.5;
  EXPECT_THAT(findings([&](ModelBuilder& b) { b.body("rod", "rigid").set("mass", 2).set("inertia", J); }),
              ElementsAre(HasSubstr("bodies.rod.inertia: expected a symmetric matrix")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.set("position", cardan(0, 0, 1));
              }),
              ElementsAre(HasSubstr("bodies.rod.position: is not an orientation")));
  EXPECT_THAT(findings([](ModelBuilder& b) { b.beam("wing", "rectangle").set("elements", "2*n"); }),
              testing::Contains(HasSubstr("beams.wing.elements: expected a whole number, got '2*n'")));
}

TEST(Builder, WhatComesTooEarlyOrTooLateIsAnError) {
  EXPECT_THAT(findings([](ModelBuilder& b) { b.set("mass", 2); }),
              ElementsAre(HasSubstr("mass: this field belongs to no entry")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.parameter("l", 1);
              }),
              ElementsAre(HasSubstr("parameters.l: given after the first entry")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                add_rod(b);
                b.finish();
              }),
              ElementsAre(HasSubstr("finish() was called before")));
  EXPECT_THAT(findings([](ModelBuilder& b) {
                b.parameter("l", "");
                add_rod(b);
              }),
              ElementsAre(HasSubstr("parameters.l")));
}

}  // namespace
}  // namespace liedyn
