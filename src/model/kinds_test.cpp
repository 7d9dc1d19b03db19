// What the lists say about their kinds, compared with what the elements are.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "liedyn/model/description.h"
#include "liedyn/model/forces/list.h"
#include "liedyn/model/joints/held_rows.h"
#include "liedyn/model/joints/list.h"
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
        if (kind.fields[i].index >= 0)
          EXPECT_EQ(kind.fields[i].index, static_cast<int>(i))
              << section_name(section) << " " << kind.type << "." << kind.fields[i].name;
}

// Without that a field that nobody has declared could be read under the index of another.
TEST(Kinds, DeclareTheIndicesOfTheirFields) {
  const std::set<std::string> by_name = {"zero", "zero_displacement"};
  for (const Section section : {Section::Joints, Section::Forces, Section::States})
    for (const Kind& kind : kinds(section))
      for (const Field& field : kind.fields)
        if (!by_name.contains(field.name))
          EXPECT_GE(field.index, 0) << section_name(section) << " " << kind.type << "." << field.name;
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

TEST(Kinds, TreesLeaveJointsTheirFreeDirections) {
  int count = 0;
  for (const ListedKind& listed : joint_kinds()) {
    if (listed.kind.tree == nullptr) continue;
    ++count;
    const std::vector<LinkKind>& motions = listed.kind.tree->motions;
    ASSERT_FALSE(motions.empty()) << listed.kind.type;
    EXPECT_LE(motions.size(), static_cast<std::size_t>(kMostTreeMotions)) << listed.kind.type;
    int free = 0;
    for (const LinkKind motion : motions) {
      EXPECT_NE(motion, LinkKind::Root) << listed.kind.type;
      free += motion == LinkKind::Rotation ? 3 : motion == LinkKind::Weld ? 0 : 1;
    }
    EXPECT_EQ(free, 6 - listed.make(0)->coupling().rows) << listed.kind.type;
    if (listed.kind.tree->carried_by_bodies)
      EXPECT_TRUE(std::equal(motions.begin() + 1, motions.end(), motions.begin())) << listed.kind.type;
  }
  EXPECT_GE(count, 7);
}

TEST(Kinds, MultipliersOfABearingAreAllRowsOfItsJoint) {
  for (const ListedKind& listed : joint_kinds())
    if (listed.kind.bearing)
      EXPECT_EQ(listed.kind.bearing.forces + listed.kind.bearing.torques, listed.make(0)->coupling().rows)
          << listed.kind.type;
}

TEST(Kinds, JointsWithAxesHaveTheirNumbers) {
  for (const ListedKind& listed : joint_kinds()) {
    const Kind& kind = listed.kind;
    if (kind.held_turns == 0 && !kind.coordinates.angle && !kind.coordinates.displacement) continue;
    EXPECT_GE(listed.make(0)->numbers_per_element(), kAxesNumbers) << kind.type;
  }
}

TEST(Kinds, SensorsOfAnglesAreInRadians) {
  for (const ListedSensor& listed : sensor_kinds())
    EXPECT_EQ(listed.traits.is_angle, listed.unit == "rad") << listed.kind.type;
}

}  // namespace
}  // namespace liedyn
