// What the lists say about their kinds, compared with what the elements are.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "liedyn/model/bodies/list.h"
#include "liedyn/model/description.h"
#include "liedyn/model/forces/list.h"
#include "liedyn/model/joints/list.h"
#include "liedyn/model/model.h"
#include "liedyn/model/nodes/formulations.h"
#include "liedyn/model/registration.h"
#include "liedyn/model/sensors/list.h"
#include "liedyn/model/tree_form.h"

namespace liedyn {
namespace {

constexpr Section kWithElements[] = {Section::Bodies, Section::Beams,  Section::Flexible,
                                     Section::Joints, Section::Forces, Section::States};

TEST(Kinds, ElementsReadTheFieldsTheyMean) {
  for (const Section section : kWithElements)
    for (const Kind& kind : kinds(section))
      for (std::size_t i = 0; i < kind.fields.size(); ++i)
        EXPECT_TRUE(kind.fields[i].index < 0 || kind.fields[i].index == static_cast<int>(i))
            << section_name(section) << " " << kind.type << "." << kind.fields[i].name << " is field " << i
            << ", but elements read field " << kind.fields[i].index;
}

// Without that a field that nobody has declared could be read under the index of another.
TEST(Kinds, DeclareTheIndicesOfTheirFields) {
  const std::set<std::string> by_name = {"zero", "zero_displacement"};
  for (const Section section : {Section::Joints, Section::Forces, Section::States})
    for (const Kind& kind : kinds(section))
      for (const Field& field : kind.fields)
        EXPECT_TRUE(field.index >= 0 || by_name.contains(field.name))
            << section_name(section) << " " << kind.type << "." << field.name;
  for (const Section section : kWithElements)
    for (const Kind& kind : kinds(section))
      EXPECT_TRUE(std::any_of(kind.fields.begin(), kind.fields.end(),
                              [](const Field& field) { return field.index >= 0; }))
          << section_name(section) << " " << kind.type;
}

TEST(Kinds, LoadsAreForcesAndTorquesThatMayDependOnTime) {
  const std::set<std::string> units = {"N", "N m", "N/m", "N m or N"};
  for (const Kind& kind : kinds(Section::Forces))
    for (const Field& field : kind.fields)
      EXPECT_EQ(field.load != LoadKind::None, field.may_depend_on_time && units.contains(field.unit))
          << kind.type << "." << field.name;
}

TEST(Kinds, JointsAreWhatTheySay) {
  int trees = 0, bearings = 0;
  for (const ListedKind& listed : joint_kinds()) {
    if (listed.shape != nullptr) continue;
    EXPECT_EQ(joint_mistake(listed), "") << listed.kind.type;
    trees += listed.kind.tree != nullptr ? 1 : 0;
    bearings += listed.kind.bearing ? 1 : 0;
  }
  EXPECT_GE(trees, 7);
  EXPECT_GE(bearings, 3);
}

ListedKind joint_of_type(std::string_view type) {
  return *std::find_if(joint_kinds().begin(), joint_kinds().end(),
                       [&](const ListedKind& listed) { return listed.kind.type == type; });
}

TEST(Kinds, JointsThatAreNotWhatTheySayAreRefused) {
  const auto mistake = [](std::string_view type, const auto& change) {
    ListedKind joint = joint_of_type(type);
    change(joint.kind);
    return joint_mistake(joint);
  };
  EXPECT_EQ(
      mistake("spherical", [](Kind& kind) { kind.coordinates.angle = true; }),
      "has coordinates or constrained rotations: expected at least 20 numbers, those of its axes, got 0");
  EXPECT_EQ(mistake("revolute",
                    [](Kind& kind) {
                      kind.bearing = {3, 3};
                    }),
            "its bearing has 3 forces and 3 torques, expected as many as constraint rows, 5");
  EXPECT_EQ(mistake("prismatic", [](Kind& kind) { kind.tree = joint_of_type("cylindrical").kind.tree; }),
            "its motions in a tree have 2 directions, its 5 constraint rows leave 1");
  EXPECT_EQ(mistake("cylindrical",
                    [](Kind& kind) {
                      TreeForm form = *kind.tree;
                      form.carried_by_bodies = true;
                      kind.tree = std::make_shared<const TreeForm>(form);
                    }),
            "motions that are exchanged in a tree must be of the same kind");
  EXPECT_EQ(mistake("fixed",
                    [](Kind& kind) {
                      TreeForm form = *kind.tree;
                      form.motions.clear();
                      kind.tree = std::make_shared<const TreeForm>(form);
                    }),
            "expected 1 to 3 motions in a tree, none of them a root");
}

// What assembly finds is found for the start, and begins there.
TEST(Kinds, WhatMayBeConsistentIsInitial) {
  for (const Section section : kSections)
    for (const Kind& kind : kinds(section))
      for (const Field& field : kind.fields)
        EXPECT_TRUE(field.is_initial || !field.may_be_consistent)
            << section_name(section) << " " << kind.type << "." << field.name;
}

// The same requirements as those of kinds from outside.
TEST(Kinds, AreWhatRegistrationAsksFor) {
  for (const Section section : kSections)
    for (const Kind& kind : kinds(section)) EXPECT_NO_THROW(check_kind(section_name(section), kind));
}

TEST(Kinds, DrivesPrescribeOneFunctionOfTheCoordinateOfAJoint) {
  int values = 0, rates = 0;
  for (const Kind& kind : kinds(Section::Joints)) {
    const auto functions = std::ranges::count(kind.fields, true, &Field::may_depend_on_time);
    const bool drives = kind.field("joint") >= 0 && kind.field("coordinate") >= 0 && functions == 1;
    EXPECT_EQ(kind.drives != Drives::Nothing, drives) << kind.type;
    values += kind.drives == Drives::Value ? 1 : 0;
    rates += kind.drives == Drives::Rate ? 1 : 0;
  }
  EXPECT_EQ(values, 1);
  EXPECT_EQ(rates, 1);
}

TEST(Kinds, JointsThatGuideLeaveNothingButTheirCoordinates) {
  int guiding = 0;
  for (const ListedKind& listed : joint_kinds()) {
    if (listed.shape != nullptr) continue;
    const Kind& kind = listed.kind;
    const bool in_plane = std::ranges::count(kind.fields, FieldType::PlaneVector, &Field::type) > 0;
    const int free = (in_plane ? 3 : 6) - listed.make(0)->coupling().rows;
    const int coordinates = (kind.coordinates.angle ? 1 : 0) + (kind.coordinates.displacement ? 1 : 0);
    EXPECT_EQ(kind.guides, coordinates > 0 && free == coordinates) << kind.type;
    guiding += kind.guides ? 1 : 0;
  }
  EXPECT_GE(guiding, 5);
}

TEST(Kinds, RopesHaveALength) {
  for (const Kind& kind : kinds(Section::Joints))
    EXPECT_TRUE(!kind.is_rope || kind.field("length") >= 0) << kind.type;
}

// As typed, with everything that makes states of its own: what is given at the start is a number of the force.
TEST(Kinds, StatesOfForcesBeginWithNumbersOfTheStart) {
  int with_states = 0;
  for (const Kind& kind : kinds(Section::Forces)) {
    EXPECT_EQ(kind.bristle_points > 0, kind.field("presliding") >= 0) << kind.type;
    const bool has_start = std::ranges::count(kind.fields, true, &Field::is_initial) > 0;
    EXPECT_EQ(kind.states != nullptr, has_start || kind.bristle_points > 0) << kind.type;
    with_states += kind.states != nullptr ? 1 : 0;
  }
  EXPECT_GE(with_states, 12);
}

TEST(Kinds, FormulationsOfABodyDiffer) {
  std::set<std::string> known(formulations().begin(), formulations().end());
  known.insert("model");
  for (const Section section : kWithElements)
    for (const Kind& kind : kinds(section)) {
      const int field = kind.field("formulation");
      if (field < 0) continue;
      for (const std::string& choice : kind.fields[static_cast<std::size_t>(field)].choices)
        EXPECT_TRUE(known.contains(choice)) << kind.type << " " << choice;
    }
  for (const BodyKind& body : body_kinds()) {
    const int field = body.kind.field("formulation");
    if (field < 0) continue;
    const std::vector<std::string>& choices = body.kind.fields[static_cast<std::size_t>(field)].choices;
    std::set<NodeType> nodes, all;
    for (std::size_t i = 1; i < choices.size(); ++i) nodes.insert(body.node(choices[i]));
    for (const Formulation& formulation : kFormulations) all.insert(body.node(formulation.name));
    EXPECT_EQ(nodes.size(), choices.size() - 1) << body.kind.type;
    EXPECT_EQ(nodes, all) << body.kind.type;
  }
}

TEST(Kinds, SensorsOfAnglesAreInRadians) {
  for (const ListedSensor& listed : sensor_kinds())
    EXPECT_EQ(listed.traits.is_angle, listed.unit == "rad") << listed.kind.type;
}

}  // namespace
}  // namespace liedyn
