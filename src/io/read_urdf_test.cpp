// Robots read from URDF against the same mechanisms written as models.
#include "liedyn/io/read_urdf.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>

#include "liedyn/model/edit_description.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

constexpr const char* kUrdfArm = R"(<?xml version="1.0"?>
<robot name="arm">
  <link name="base"><inertial><mass value="100"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <link name="upper arm">
    <inertial><origin xyz="0 0 0.25" rpy="0.3 0 0"/><mass value="2"/><inertia ixx="0.2" ixy="0.01" ixz="0" iyy="0.2" iyz="0" izz="0.05"/></inertial>
  </link>
  <link name="bracket"><inertial><origin xyz="0 0.1 0"/><mass value="1"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.03"/></inertial></link>
  <link name="slide"><visual><origin xyz="0 0 0.2"/><geometry><mesh filename="package://arm/slide.stl" scale="2 2 2"/></geometry></visual><inertial><mass value="0.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper arm"/><origin xyz="0 0 1" rpy="0 0 0.5"/>
    <axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="50" velocity="2"/><dynamics damping="0.7"/></joint>
  <joint name="weld" type="fixed"><parent link="upper arm"/><child link="bracket"/><origin xyz="0 0 0.5" rpy="0 0.2 0"/></joint>
  <joint name="extension" type="prismatic"><parent link="bracket"/><child link="slide"/><origin xyz="0 0 0.1"/><axis xyz="0 0 1"/>
    <limit effort="0" velocity="1"/></joint>
</robot>)";

Description read(const char* text, std::vector<Assignment> assignments = {}) {
  return read_urdf(text, "robot.urdf", assignments);
}

TEST(ReadUrdf, MakesBodiesJointsMotorsAndSensors) {
  const Description d = read(kUrdfArm);
  const auto names = [&](Section section) {
    std::vector<std::string> out;
    for (const Entry& entry : d.entries(section)) out.push_back(entry.kind->type + " " + entry.name);
    return out;
  };
  EXPECT_EQ(names(Section::Bodies), (std::vector<std::string>{"rigid upper_arm", "rigid slide"}));
  EXPECT_EQ(names(Section::Joints), (std::vector<std::string>{"revolute shoulder", "prismatic extension"}));
  EXPECT_EQ(names(Section::Forces),
            (std::vector<std::string>{"joint_spring shoulder_damper", "joint_actuator shoulder_motor",
                                      "joint_actuator extension_motor"}));
  EXPECT_EQ(names(Section::Sensors),
            (std::vector<std::string>{"joint_angle shoulder", "joint_displacement extension"}));
  ASSERT_EQ(d.visuals.size(), 1u);
  EXPECT_EQ(d.visuals[0].body, "slide");
  EXPECT_EQ(d.visuals[0].mesh, "package://arm/slide.stl");
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(d.visuals[0].position[i], i == 2 ? 0.2 : 0, 1e-16);
}

// Shapes that collide are kept: hidden, or shown if the link has no others.
TEST(ReadUrdf, KeepsCollisionShapes) {
  const Description d = read(R"(<robot name="r"><link name="base"/>
    <link name="a"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
      <visual><geometry><box size="1 2 3"/></geometry></visual><collision><origin xyz="0 0 1"/><geometry><sphere radius="0.5"/></geometry></collision></link>
    <link name="b"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
      <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision></link>
    <joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 0 1"/></joint>
    <joint name="k" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint></robot>)");
  ASSERT_EQ(d.visuals.size(), 3u);
  EXPECT_EQ(d.visuals[0].shape, "box");
  EXPECT_EQ(d.visuals[1].shape, "sphere");
  EXPECT_EQ(d.visuals[1].position[2], 1);
  EXPECT_EQ(d.visuals[1].color[3], 0);
  EXPECT_EQ(d.visuals[2].shape, "cylinder");
  EXPECT_EQ(d.visuals[2].color[3], 1);
}

// The kinetic energy for a rate of the shoulder is J/2: J about its axis, link by link.
TEST(ReadUrdf, WeldedLinksAddTheirInertia) {
  const auto description = std::make_shared<const Description>(read(kUrdfArm));
  const System system(Model::compile(description), Params(description));
  Work work(system);
  State state = consistent_state(system, 0, InitialPolicy::Check, work);
  // All turn about the axis through (0, 0, 1).
  const Vec3 axis = SO3<double>::exp(Vec3(0, 0, 0.5)).R() * Vec3::UnitY();
  for (const Node& node : system.model().nodes) {
    const Eigen::Map<const Vec3> p(state.q.data() + node.q);
    Eigen::Map<Vec3>{state.v.data() + node.v} = axis.cross(p - Vec3(0, 0, 1));
    Eigen::Map<Vec3>{state.v.data() + node.v + 3} =
        rotation_of(state.q.data() + node.q).R().transpose() * axis;
  }
  const auto about_axis = [](double mass, const Vec3& center, const Mat3& J) {
    return J(1, 1) + mass * (center.x() * center.x() + center.z() * center.z());
  };
  const Mat3 tilt = SO3<double>::exp(Vec3(0.3, 0, 0)).R(), bent = SO3<double>::exp(Vec3(0, 0.2, 0)).R();
  Mat3 upper;
  upper << 0.2, 0.01, 0, 0.01, 0.2, 0, 0, 0, 0.05;
  const Mat3 bracket = Vec3(0.01, 0.02, 0.03).asDiagonal(), slide = 0.01 * Mat3::Identity();
  const double J =
      about_axis(2, {0, 0, 0.25}, tilt * upper * tilt.transpose()) +
      about_axis(1, Vec3(0, 0, 0.5) + bent * Vec3(0, 0.1, 0), bent * bracket * bent.transpose()) +
      about_axis(0.5, Vec3(0, 0, 0.5) + bent * Vec3(0, 0, 0.1), slide);
  expect_at_most(std::abs(2 * system.energy(state, work).kinetic - J) / J, 1e-14,
                 "moment of inertia about the shoulder");
}

// One link on a hinge with friction and limits.
std::string stiff_hinge(const char* limits) {
  return fmt::format(
      R"(<robot name="door"><link name="frame"/><link name="door-leaf"><inertial><origin xyz="0 0.5 0"/><mass value="3"/>
    <inertia ixx="0.2" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial></link>
    <joint name="hinge-1" type="revolute"><parent link="frame"/><child link="door-leaf"/><axis xyz="1 0 0"/>
    {}<dynamics friction="2.5"/></joint></robot>)",
      limits);
}

TEST(ReadUrdf, FrictionActsAgainstTheMotionAndStopsPushBack) {
  std::vector<Assignment> assignments = {{"stops", 400}, {"initial.hinge-1", 0.2}};
  const auto description = std::make_shared<const Description>(read_urdf(
      stiff_hinge(R"(<limit lower="-0.1" upper="0.3" effort="0" velocity="1"/>)"), "door.urdf", assignments));
  const System system(Model::compile(description), Params(description));
  Work work(system);
  State state = consistent_state(system, 0, InitialPolicy::Check, work);
  // Turned by `by` from its start about x, at a rate; what the angular acceleration is more than that of the weight.
  const double J = 0.2 + 3 * 0.25;
  const auto torque = [&](double by, double rate) {
    State moved = state;
    const Mat3 R = SO3<double>::exp(Vec3(by, 0, 0)).R();
    Eigen::Map<Vec3> p(moved.q.data());
    p = (R * Vec3(p)).eval();
    store_rotation(SO3<double>::exp(Vec3(by, 0, 0)) * rotation_of(state.q.data()), moved.q.data());
    Eigen::Map<Vec3>(moved.v.data()) = rate * Vec3::UnitX().cross(Vec3(p));
    Eigen::Map<Vec3>(moved.v.data() + 3) = rate * Vec3::UnitX();
    EXPECT_TRUE(solve_accelerations(system, moved, work));
    return J * moved.vdot[3] + 3 * 9.81 * 0.5 * std::cos(0.2 + by);
  };
  expect_at_most(std::abs(torque(0.05, 0.5) + 2.5), 1e-5, "friction at 0.5 rad/s");
  expect_at_most(std::abs(torque(0.05, -0.5) - 2.5), 1e-5, "friction at -0.5 rad/s");
  expect_at_most(std::abs(torque(0.05, 0)), 1e-12, "nothing at rest within the limits");
  expect_at_most(std::abs(torque(0.15, 0) + 400 * 0.05), 1e-11, "beyond the upper limit");
  expect_at_most(std::abs(torque(-0.5, 0) - 400 * 0.2), 1e-11, "beyond the lower limit");
  // Without being asked for there are no stops.
  const Description plain =
      read(stiff_hinge(R"(<limit lower="-0.1" upper="0.3" effort="0" velocity="1"/>)").c_str());
  EXPECT_EQ(plain.entries(Section::Forces).size(), 2u);
  EXPECT_EQ(plain.entries(Section::Joints)[0].name, "hinge_1");
  EXPECT_THROW(
      read(stiff_hinge(R"(<limit lower="1" upper="-1" effort="0" velocity="1"/>)").c_str(), {{"stops", 1}}),
      InputError);
  EXPECT_THROW(read(kUrdfArm, {{"stops", -1}}), InputError);
}

TEST(ReadUrdf, StartsWhereItIsTold) {
  std::vector<Assignment> assignments = {
      {"initial.shoulder", 0.4}, {"initial.extension", 0.05}, {"bodies.slide.mass", 3}};
  const auto description =
      std::make_shared<const Description>(read_urdf(kUrdfArm, "robot.urdf", assignments));
  ASSERT_EQ(assignments.size(), 1u) << "what is not the reader's is left";
  const auto model = Model::compile(description);
  for (const Sensor& sensor : model->sensors) {
    if (sensor.name == "shoulder") {
      EXPECT_EQ(model->unit_of(sensor), "rad");
    }
    if (sensor.name == "extension") {
      EXPECT_EQ(model->unit_of(sensor), "m");
    }
  }
  const Params params(description);
  const Mat3 R = SO3<double>::exp(Vec3(0, 0, 0.5)).R() * SO3<double>::exp(Vec3(0, 0.4, 0)).R();
  const Vec3 expected =
      Vec3(0, 0, 1) + R * (Vec3(0, 0, 0.5) + SO3<double>::exp(Vec3(0, 0.2, 0)).R() * Vec3(0, 0, 0.15));
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(params.get(params.find(fmt::format("bodies.slide.position[{}]", i))), expected[i], 1e-15);
  const System system(Model::compile(description), params);
  Work work(system);
  const State state = consistent_state(system, 0, InitialPolicy::Check, work);
  std::vector<double> variables(static_cast<std::size_t>(1 + system.model().sensor_values)),
      values(variables.size() - 1);
  system.sense(state, work, variables, values.data());
  for (const Sensor& sensor : system.model().sensors) {
    const double value = values[static_cast<std::size_t>(sensor.first)];
    if (sensor.name == "shoulder") {
      EXPECT_NEAR(value, 0.4, 1e-15);
    }
    if (sensor.name == "extension") {
      EXPECT_NEAR(value, 0.05, 1e-15);
    }
  }
}

// A target is an angle of the robot, wherever it starts: the motor pulls towards it.
TEST(ReadUrdf, TargetsCountAsTheRobotDoes) {
  for (const double start : {0.0, 0.4}) {
    std::vector<Assignment> assignments = {{"initial.shoulder", start}};
    Description read = read_urdf(kUrdfArm, "robot.urdf", assignments);
    add_entry(read, Section::Sensors, "torque", "effort", "of", "shoulder_motor");
    const auto description = std::make_shared<const Description>(std::move(read));
    Params params(description);
    params.set("forces.shoulder_motor.proportional", 10);
    params.set("forces.shoulder_motor.target", 0.7);
    const System system(Model::compile(description), params);
    Work work(system);
    const State state = consistent_state(system, 0, InitialPolicy::Check, work);
    EXPECT_NEAR(sensed(system, state, work).back(), 10 * (0.7 - start), 1e-12);
  }
  EXPECT_THROW(read(kUrdfArm, {{"initial.shoulder", 4}}), InputError);
}

// b = -2 a + 0.3 at any start.
TEST(ReadUrdf, MimicsHaveOffsets) {
  constexpr const char* text = R"(<robot name="grip"><link name="palm"/>
    <link name="left"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <link name="right"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="a" type="continuous"><parent link="palm"/><child link="left"/><axis xyz="1 0 0"/></joint>
    <joint name="b" type="continuous"><parent link="palm"/><child link="right"/><origin xyz="0 1 0"/><axis xyz="1 0 0"/>
      <mimic joint="a" multiplier="-2" offset="0.3"/></joint></robot>)";
  for (const double start : {0.0, 0.5}) {
    const auto description = std::make_shared<const Description>(read(text, {{"initial.a", start}}));
    const System system(Model::compile(description), Params(description));
    Work work(system);
    const State state = consistent_state(system, 0, InitialPolicy::Check, work);
    const std::vector<double> shown = sensed(system, state, work);
    for (const Sensor& sensor : system.model().sensors) {
      const double value = shown[static_cast<std::size_t>(sensor.first)];
      if (sensor.name == "a") {
        EXPECT_NEAR(value, start, 1e-14);
      }
      if (sensor.name == "b") {
        EXPECT_NEAR(value, -2 * start + 0.3, 1e-14);
      }
    }
  }
}

TEST(ReadUrdf, FloatingRootsAreBodiesAndMimicsAreGears) {
  constexpr const char* text = R"(<robot name="grip">
    <link name="palm"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <link name="left"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <link name="right"><inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
    <joint name="a" type="continuous"><parent link="palm"/><child link="left"/><axis xyz="1 0 0"/></joint>
    <joint name="b" type="continuous"><parent link="palm"/><child link="right"/><origin xyz="0 1 0"/><axis xyz="1 0 0"/>
      <mimic joint="a" multiplier="-2"/></joint></robot>)";
  const Description fixed = read(text), floating = read(text, {{"floating", 1}});
  EXPECT_EQ(fixed.entries(Section::Bodies).size(), 2u);
  EXPECT_EQ(floating.entries(Section::Bodies).size(), 3u);
  ASSERT_EQ(fixed.entries(Section::Joints).size(), 3u);
  EXPECT_EQ(fixed.entries(Section::Joints)[2].kind->type, "gear");
}

TEST(ReadUrdf, SaysWhatIsWrong) {
  const auto complaint = [](const char* text, std::vector<Assignment> assignments = {}) -> std::string {
    try {
      read(text, std::move(assignments));
    } catch (const InputError& error) {
      fmt::print("  {}\n", error.what());
      return error.what();
    }
    return "";
  };
  for (const char* text :
       {"", "{}", "<robot", "<robot name=\"x\"></robot>",
        "<robot name=\"x\"><link name=\"a\"/><link name=\"b\"/></robot>",
        "<robot name=\"x\"><link name=\"a\"/><joint name=\"j\" type=\"fixed\"><parent link=\"a\"/><child "
        "link=\"c\"/></joint></robot>",
        "<robot name=\"x\"><link name=\"a\"><inertial><mass value=\"q\"/></inertial></link></robot>"})
    EXPECT_NE(complaint(text), "") << text;
  EXPECT_NE(complaint(kUrdfArm, {{"initial.sholder", 1}}).find("did you mean 'shoulder'"), std::string::npos);
}

std::string arm_with(const std::string& inertial, const std::string& robot = "<robot name=\"arm\">") {
  return robot + R"(
    <link name="base"/>
    <link name="rod">)" +
         inertial + R"(</link>
    <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>)";
}
const char* const kGood =
    R"(<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>)";

// Principal moments of J about the centre, as the model has them.
Vec3 moments_of(const Description& d) {
  const Entry& rod = d.entries(Section::Bodies)[0];
  const double* j =
      d.parameters.data() + rod.fields[static_cast<std::size_t>(rod.kind->field("inertia"))].first;
  Mat3 J;
  J << j[0], j[5], j[4], j[5], j[1], j[3], j[4], j[3], j[2];
  return Eigen::SelfAdjointEigenSolver<Mat3>(J).eigenvalues();
}
std::string complaint_about(const std::string& text, std::vector<Assignment> assignments = {}) {
  try {
    const auto description = std::make_shared<const Description>(read(text.c_str(), std::move(assignments)));
    const auto model = Model::compile(description);
    const auto findings = check_parameters(*model, Params(description).values().data());
    return findings.empty() ? "" : to_string(findings.front());
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(ReadUrdf, RobotsNeedNoName) {
  for (const char* robot : {"<robot>", "<robot >", "<!-- <robot name=\"x\"> --><robot version=\"1.0\">"})
    EXPECT_EQ(read(arm_with(kGood, robot).c_str()).name, "robot") << robot;
  EXPECT_EQ(read(arm_with(kGood).c_str()).name, "arm");
}

TEST(ReadUrdf, InertiaBelowZeroByRoundOffIsAccepted) {
  const std::string tiny =
      R"(<inertial><mass value="0.1"/><inertia ixx="-5e-20" ixy="0" ixz="0" iyy="3e-20" iyz="0" izz="0"/></inertial>)";
  EXPECT_EQ(complaint_about(arm_with(tiny)), "");
  const Vec3 found = moments_of(read(arm_with(tiny).c_str()));
  EXPECT_GE(found[0], 0);
  EXPECT_LE(found[2], 1e-19);
}

TEST(ReadUrdf, InertiaThatNoBodyHasIsRepairedOnRequest) {
  // sigma = (-0.5, 0.5, 0.5): without the first, moments are (1, 0.5, 0.5)
  const std::string wrong =
      R"(<inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>)";
  const std::string message = complaint_about(arm_with(wrong));
  fmt::print("  {}\n", message);
  for (const char* part : {"robot.urdf:3", "'rod'", "0, 0, 1", "repair=1"})
    EXPECT_NE(message.find(part), std::string::npos) << part;
  std::vector<std::string> warnings;
  std::vector<Assignment> repair = {{"repair", 1}};
  const Description repaired = read_urdf(arm_with(wrong), "robot.urdf", repair, warnings);
  EXPECT_TRUE(repair.empty());
  ASSERT_EQ(warnings.size(), 1u);
  fmt::print("  {}\n", warnings[0]);
  EXPECT_NE(warnings[0].find("robot.urdf:3: link 'rod'"), std::string::npos);
  EXPECT_LE((moments_of(repaired) - Vec3(0.5, 0.5, 1)).norm(), 1e-15);
  EXPECT_EQ(complaint_about(arm_with(wrong), {{"repair", 1}}), "");
  // What is physical stays as it is.
  warnings.clear();
  repair = {{"repair", 1}};
  EXPECT_EQ(moments_of(read_urdf(arm_with(kGood), "robot.urdf", repair, warnings)), Vec3(1, 1, 1));
  EXPECT_TRUE(warnings.empty());
}

TEST(ReadUrdf, JointsThatMoveNoMassAreNamedOrFixedOnRequest) {
  const std::string message = complaint_about(arm_with(""));
  fmt::print("  {}\n", message);
  for (const char* part : {"robot.urdf:3", "'hinge'", "no mass", "repair=1"})
    EXPECT_NE(message.find(part), std::string::npos) << part;
  std::vector<std::string> warnings;
  std::vector<Assignment> repair = {{"repair", 1}};
  const Description fixed = read_urdf(arm_with(""), "robot.urdf", repair, warnings);
  EXPECT_EQ(fixed.entries(Section::Joints).size(), 0u);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("'hinge'"), std::string::npos);
}

TEST(ReadUrdf, MessagesHaveLines) {
  EXPECT_NE(complaint_about("<robot name=\"x\">\n<link name=\"a\">\n</robot>")
                .find("robot.urdf:3: expected </link>"),
            std::string::npos);
  EXPECT_NE(complaint_about("<robot name=\"x\">\n<link name=\"a\"/>\n<link name=\"a\"/></robot>")
                .find("robot.urdf:2"),
            std::string::npos);
  EXPECT_NE(complaint_about("<robot name=\"x\">\n\n<link name=\"a").find("robot.urdf:3"), std::string::npos);
}

}  // namespace
}  // namespace liedyn
