// Configurations as files: what is written is read again, and modal coordinates only for the modes they belong to.
#include "liedyn/io/configuration_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>

#include "liedyn/io/read_model.h"
#include "liedyn/model/model.h"
#include "liedyn/system/testing.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

System block(const std::string& modes) {
  const std::string text =
      R"({"liedyn": 1, "flexible": {
      "block": {"type": "brick", "size": [1, 0.2, 0.1], "divisions": [4, 1, 1], "young": 1e9, "density": 1000,
                "modes": )" +
      modes + R"(},
      "left": {"type": "interface", "of": "block", "at": [-0.5, 0, 0], "group": "x-"}}})";
  const auto description = std::make_shared<const Description>(read_model_text(text, ""));
  return System(Model::compile(description), Params(description));
}

std::string configuration_complaint(const std::string& text, const System& system) {
  try {
    read_configuration_text(text, "rest.json", system);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(ConfigurationFiles, TakeOrientationsInAllFormsOfModels) {
  const auto description = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1, "bodies": {"a": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]},
                                  "flat": {"type": "planar", "mass": 1, "inertia": 1}}})",
      ""));
  const System system(Model::compile(description), Params(description));
  const Mat3 expected = SO3<double>::exp(Vec3(0, 0, 0.5)).R();
  for (
      const char* form :
      {R"({"axis": [0, 0, 2], "angle": 0.5})", R"({"cardan": [0, 0, 0.5]})", "[0, 0, 0.5]",
       R"({"rotation_vector": [0, 0, 0.5]})",
       R"({"quaternion": [0.9689124217106447, 0, 0, 0.2474039592545229]})",
       R"({"matrix": [[0.8775825618903728, -0.479425538604203, 0], [0.479425538604203, 0.8775825618903728, 0], [0, 0, 1]]})"}) {
    const std::string text =
        fmt::format(R"({{"bodies": {{"a": {{"orientation": {}}}, "flat": {{"angle": 0.5}}}}}})", form);
    const Configuration c = read_configuration_text(text, "rest.json", system);
    for (std::size_t i = 0; i < 2; ++i)
      EXPECT_LT((c.bodies[i].orientation.R() - expected).norm(), 1e-14) << form;
  }
  // One message about a file of another model, however many bodies it has.
  EXPECT_EQ(configuration_complaint(R"({"model": "chain", "bodies": {"x": {}, "y": {}, "z": {}}})", system),
            "rest.json:1: model: this is a configuration of the model 'chain', expected one of ''");
}

// Two links on hinges, and a four-bar linkage of unit squares: coordinates of joints instead of positions.
TEST(ConfigurationFiles, TakeCoordinatesOfJoints) {
  const auto arm = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1,
          "bodies": {"upper": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.5, 0, 0]},
                     "lower": {"type": "rigid", "mass": 3, "inertia": [1, 1, 1], "position": [1.5, 0, 0]}},
          "joints": {"elbow": {"type": "revolute", "between": ["lower", "upper"], "at": [1, 0, 0], "axis": [0, 0, -1]},
                     "shoulder": {"type": "revolute", "between": ["ground", "upper"], "at": [0, 0, 0], "axis": [0, 0, 1],
                                  "zero": -0.2}}})",
      ""));
  // The shoulder is drawn at 0.2; the elbow, drawn at 0, counts the other way round.
  for (const char* formulation : {"r3so3", "se3", "minimal", "euler-parameters"}) {
    const System system(Model::compile(arm, formulation), Params(arm));
    const Configuration c = read_configuration_text(
        R"({"joints": {"shoulder": {"value": 2.7, "rate": 2}, "elbow": 0.4}})", "rest.json", system);
    const double a = 2.5, b = a + 0.4;
    const Vec3 upper(0.5 * std::cos(a), 0.5 * std::sin(a), 0),
        lower(std::cos(a) + 0.5 * std::cos(b), std::sin(a) + 0.5 * std::sin(b), 0);
    expect_at_most((c.bodies[0].position - upper).norm() + (c.bodies[1].position - lower).norm(), 1e-12,
                   std::string(formulation) + ": positions");
    expect_at_most((c.bodies[1].velocity - Vec3(0, 0, 2).cross(lower)).norm(), 1e-11,
                   std::string(formulation) + ": velocity by the rate of the shoulder");
    // The other joint stays.
    const Configuration one =
        read_configuration_text(R"({"joints": {"shoulder": 2.7}})", "rest.json", system);
    expect_at_most((one.bodies[1].position - 3 * upper).norm(), 1e-12,
                   std::string(formulation) + ": the elbow stays");
  }
  const System system(Model::compile(arm), Params(arm));
  EXPECT_EQ(configuration_complaint(R"({"joints": {"shoulde": 1}})", system),
            "rest.json:1: joints.shoulde: the model has no such joint (hint: did you mean 'shoulder'?)");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"shoulder": 7}})", system),
            "rest.json:1: joints.shoulder: expected an angle from -pi to pi, got 7 (hint: angles are in rad, "
            "and turns are counted "
            "from the start of "
            "a run)");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"shoulder": "a"}})", system),
            "rest.json:1: joints.shoulder: in the expression 'a', at character 1: unknown name 'a'");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"shoulder": true}})", system),
            "rest.json:1: joints.shoulder: expected a finite number, got true");

  const auto bars = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1,
          "bodies": {"crank": {"type": "planar", "mass": 1, "inertia": 1, "position": [0, 0.5], "angle": 1.5707963267948966},
                     "coupler": {"type": "planar", "mass": 1, "inertia": 1, "position": [0.5, 1]},
                     "rocker": {"type": "planar", "mass": 1, "inertia": 1, "position": [1, 0.5], "angle": 1.5707963267948966}},
          "joints": {"A": {"type": "planar_revolute", "between": ["ground", "crank"], "at": [0, 0]},
                     "B": {"type": "planar_revolute", "between": ["crank", "coupler"], "at": [0, 1]},
                     "C": {"type": "planar_revolute", "between": ["coupler", "rocker"], "at": [1, 1]},
                     "D": {"type": "planar_revolute", "between": ["ground", "rocker"], "at": [1, 0]}}})",
      ""));
  for (const char* formulation : {"r3so3", "minimal"}) {
    const System linkage(Model::compile(bars, formulation), Params(bars));
    const Configuration c = read_configuration_text(R"({"joints": {"A": -0.6}})", "rest.json", linkage);
    const Vec3 crank(0.5 * std::sin(0.6), 0.5 * std::cos(0.6), 0);
    expect_at_most((c.bodies[0].position - crank).norm(), 1e-9,
                   std::string(formulation) + ": crank of the parallelogram");
    expect_at_most((c.bodies[1].position - 2 * crank - Vec3(0.5, 0, 0)).norm(), 1e-9,
                   std::string(formulation) + ": coupler, parallel to the ground");
  }
}

// Rates of all joints, one after the other, from the motion of the bodies.
std::vector<double> rates_of(const System& system, const Configuration& c) {
  const System absolute = in_absolute_coordinates(system);
  State state = absolute.empty_state();
  set_configuration(absolute.model(), c, state);
  Work work(absolute);
  std::vector<double> variables(static_cast<std::size_t>(absolute.model().sensor_variables)),
      out(static_cast<std::size_t>(absolute.model().sensor_values));
  absolute.sense(state, work, variables, out.data());
  return out;
}

// Joints that are not named keep their rates, and so do named ones without "rate".
TEST(ConfigurationFiles, KeepRatesThatAreNotNamed) {
  const auto expect_rates = [](const System& system, const std::string& joints, double s, double e) {
    const std::vector<double> found =
        rates_of(system, read_configuration_text(R"({"joints": {)" + joints + "}}", "", system));
    expect_at_most(std::abs(found[0] - s) + std::abs(found[1] - e), 1e-11,
                   system.model().formulation() + ": rates with " + joints);
  };
  const std::string sensors = R"("sensors": {"s_rate": {"type": "joint_angle_rate", "of": "s"},
                                             "e_rate": {"type": "joint_angle_rate", "of": "e"}}})";
  // Both links turn with the first: rates (2, 0).
  const auto spatial = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1,
          "bodies": {"a": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.5, 0, 0],
                           "velocity": [0, 0, -1], "angular_velocity": [0, 2, 0]},
                     "b": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [1.5, 0, 0],
                           "velocity": [0, 0, -3], "angular_velocity": [0, 2, 0]}},
          "joints": {"s": {"type": "revolute", "between": ["ground", "a"], "at": [0, 0, 0], "axis": [0, 1, 0]},
                     "e": {"type": "revolute", "between": ["b", "a"], "at": [1, 0, 0], "axis": [0, -1, 0]}},)" +
          sensors,
      ""));
  const auto planar = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1,
          "bodies": {"a": {"type": "planar", "mass": 1, "inertia": 1, "position": [0.5, 0],
                           "velocity": "consistent", "angular_velocity": 2},
                     "b": {"type": "planar", "mass": 1, "inertia": 1, "position": [1.5, 0],
                           "velocity": "consistent", "angular_velocity": 2}},
          "joints": {"s": {"type": "planar_revolute", "between": ["ground", "a"], "at": [0, 0]},
                     "e": {"type": "planar_revolute", "between": ["a", "b"], "at": [1, 0]}},)" +
          sensors,
      ""));
  for (const auto& arm : {spatial, planar})
    for (const char* formulation : {"r3so3", "se3", "minimal"}) {
      const System system(Model::compile(arm, formulation), Params(arm));
      expect_rates(system, R"("s": 0.5)", 2, 0);
      expect_rates(system, R"("e": -0.7)", 2, 0);
      expect_rates(system, R"("s": {"value": 0.5, "rate": 3})", 3, 0);
      expect_rates(system, R"("s": {"rate": 3}, "e": 0.4)", 3, 0);
      expect_rates(system, R"("s": 1, "e": {"value": 0.4, "rate": -5})", 2, -5);
      const Configuration c = read_configuration_text(R"({"joints": {"e": {"rate": 1}}})", "", system);
      expect_at_most((c.bodies[1].position - Vec3(1.5, 0, 0)).norm(), 1e-12, "a rate keeps the value");
    }
  // In a loop the joint that is named keeps its rate, the others follow; of two that are named no more than one can.
  const auto bars = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1,
          "bodies": {"crank": {"type": "planar", "mass": 1, "inertia": 1, "position": [0, 0.5], "angle": 1.5707963267948966,
                               "velocity": "consistent", "angular_velocity": 2},
                     "coupler": {"type": "planar", "mass": 1, "inertia": 1, "position": [0.75, 1.25], "angle": 0.3217505543966422,
                                 "velocity": "consistent", "angular_velocity": "consistent"},
                     "rocker": {"type": "planar", "mass": 1, "inertia": 1, "position": [1.5, 0.75], "angle": 1.5707963267948966,
                                "velocity": "consistent", "angular_velocity": "consistent"}},
          "joints": {"s": {"type": "planar_revolute", "between": ["ground", "crank"], "at": [0, 0]},
                     "B": {"type": "planar_revolute", "between": ["crank", "coupler"], "at": [0, 1]},
                     "C": {"type": "planar_revolute", "between": ["coupler", "rocker"], "at": [1.5, 1.5]},
                     "e": {"type": "planar_revolute", "between": ["ground", "rocker"], "at": [1.5, 0]}},)" +
          sensors,
      ""));
  for (const char* formulation : {"r3so3", "minimal"}) {
    const System system(Model::compile(bars, formulation), Params(bars));
    const std::vector<double> crank =
        rates_of(system, read_configuration_text(R"({"joints": {"s": 0.5}})", "", system));
    expect_at_most(std::abs(crank[0] - 2), 1e-11, std::string(formulation) + ": rate of a crank in a loop");
    EXPECT_GT(std::abs(crank[1] - 4.0 / 3), 1e-3) << "the rocker follows";
    const std::vector<double> rocker =
        rates_of(system, read_configuration_text(R"({"joints": {"e": 0.2}})", "", system));
    expect_at_most(std::abs(rocker[1] - 4.0 / 3), 1e-11, std::string(formulation) + ": rate of the rocker");
    const std::vector<double> given =
        rates_of(system, read_configuration_text(R"({"joints": {"s": 0.5, "e": {"rate": 1}}})", "", system));
    expect_at_most(std::abs(given[1] - 1), 1e-11, std::string(formulation) + ": a rate that is given counts");
  }
  const System system(Model::compile(spatial), Params(spatial));
  EXPECT_EQ(configuration_complaint(R"({"joints": {"s": {}}})", system),
            "rest.json:1: joints.s: expected \"value\" or \"rate\"");
}

// What hangs on a joint through a beam or a flexible body moves with it as a rigid body: nothing is bent.
TEST(ConfigurationFiles, JointsCarryBeamsAndFlexibleBodies) {
  const std::string
      beam = R"("beams": {"w": {"type": "rectangle", "from": [0, 0, 0], "to": [1, 0, 0], "elements": 4,
      "young": 1e6, "density": 1000, "width": 0.02, "height": 0.02, "damping": 0.01}},)",
      hinge = R"("h": {"type": "revolute", "at": [0, 0, 0], "axis": [0, 1, 0], "between": ["ground", )",
      tip = R"("bodies": {"hub": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]},
                           "load": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [1.5, 0, 0]}},)",
      clamp = R"("c": {"type": "fixed", "between": ["hub", )",
      end = R"("e": {"type": "revolute", "axis": [0, 1, 0], "at": [1, 0, 0], "between": ["load", )";
  const std::string elastic =
      R"("flexible": {"w": {"type": "brick", "size": [1, 0.2, 0.1], "position": [0.5, 0, 0],
      "divisions": [4, 1, 1], "young": 1e9, "density": 1000, "modes": 3},
      "start": {"type": "interface", "of": "w", "at": [0, 0, 0], "group": "x-"},
      "end": {"type": "interface", "of": "w", "at": [1, 0, 0], "group": "x+"}},)";
  const auto system_with = [](const std::string& parts) {
    const auto d = std::make_shared<const Description>(read_model_text(
        R"({"liedyn": 1, "gravity": [0, 0, 0], )" + parts +
            R"(}, "sensors": {"U": {"type": "energy", "part": "potential"}, "v": {"type": "velocity", "of": "load"},
                              "x": {"type": "position", "of": "load"}}})",
        ""));
    return System(Model::compile(d), Params(d));
  };
  const std::string hub = "\"hub\"]},";
  for (const std::string& parts : {tip + beam + R"("joints": {)" + hinge + hub + clamp +
                                       R"("w.start"], "at": [0, 0, 0]},)" + end + R"("w.end"]})",
                                   tip + elastic + R"("joints": {)" + hinge + hub + clamp +
                                       R"("start"], "at": [0, 0, 0]},)" + end + R"("end"]})"}) {
    const System system = system_with(parts);
    // Potential energy, velocity and position of the load: the end joint keeps its angle and its rate.
    const std::vector<double> found = rates_of(
        system, read_configuration_text(R"({"joints": {"h": {"value": 0.5, "rate": 2}}})", "", system));
    const Vec3 x(1.5 * std::cos(0.5), 0, -1.5 * std::sin(0.5)), v = Vec3(0, 2, 0).cross(x);
    expect_at_most(std::abs(found[0]), 1e-12, "potential energy");
    expect_at_most((Vec3(found[1], found[2], found[3]) - v).norm(), 1e-9, "velocity of the load");
    expect_at_most((Vec3(found[4], found[5], found[6]) - x).norm(), 1e-12, "position of the load");
  }
  // A load on a rope from the tip: it is carried, and no loop.
  {
    const System system =
        system_with(tip + beam + R"("joints": {)" + hinge + hub + clamp + R"("w.start"], "at": [0, 0, 0]},
            "rope": {"type": "distance", "between": ["w.end", "load"], "points": [[1, 0, 0], [1.5, 0, 0]]})");
    const std::vector<double> found = rates_of(
        system, read_configuration_text(R"({"joints": {"h": {"value": 0.5, "rate": 2}}})", "", system));
    const Vec3 x(1.5 * std::cos(0.5), 0, -1.5 * std::sin(0.5)), v = Vec3(0, 2, 0).cross(x);
    expect_at_most(std::abs(found[0]), 1e-12, "on a rope: potential energy");
    expect_at_most((Vec3(found[1], found[2], found[3]) - v).norm(), 1e-9, "on a rope: velocity of the load");
    expect_at_most((Vec3(found[4], found[5], found[6]) - x).norm(), 1e-12, "on a rope: position of the load");
  }
  const System held =
      system_with(tip + beam + R"("joints": {)" + hinge + R"("w.start"]}, "g": {"type": "revolute",
      "at": [1, 0, 0], "axis": [0, 1, 0], "between": ["ground", "w.end"]})");
  EXPECT_EQ(
      configuration_complaint(R"({"joints": {"h": 0.5}})", held),
      "rest.json:1: joints.h: this joint is part of a loop through 'beams.w', which would be violated (hint: "
      "give the positions of the bodies under \"bodies\", or determine them by `static` or `assemble`)");
}

// Expressions of parameters, as in models; and coordinates that were set from outside instead.
TEST(ConfigurationFiles, TakeExpressions) {
  const auto arm = std::make_shared<const Description>(read_model_text(
      R"({"liedyn": 1, "parameters": {"tilt": 0.3},
          "bodies": {"arm": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.5, 0, 0]},
                     "free": {"type": "point", "mass": 1}},
          "states": {"x": {"type": "expression", "rate": "-x"}},
          "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1]}}})",
      ""));
  const System system(Model::compile(arm), Params(arm));
  const auto angle_of = [](const Configuration& c) {
    return std::atan2(c.bodies[0].position.y(), c.bodies[0].position.x());
  };
  const Configuration c = read_configuration_text(
      R"({"joints": {"hinge": {"value": "30*deg", "rate": "2*tilt"}}, "states": {"x": "tilt^2"},
          "bodies": {"free": {"position": [1, "tilt", "-tilt"]}}})",
      "rest.json", system);
  EXPECT_NEAR(angle_of(c), std::numbers::pi / 6, 1e-12);
  EXPECT_NEAR(c.bodies[0].velocity.norm(), 0.3, 1e-11);
  EXPECT_NEAR(c.states[0], 0.09, 1e-15);
  EXPECT_LT((c.bodies[1].position - Vec3(1, 0.3, -0.3)).norm(), 1e-15);
  EXPECT_EQ(
      configuration_complaint(R"({"joints": {"hinge": "30*degrees"}})", system),
      "rest.json:1: joints.hinge: in the expression '30*degrees', at character 4: unknown name 'degrees' "
      "(hint: did you mean 'deg'?)");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"hinge": "1/0"}})", system),
            "rest.json:1: joints.hinge: expected a finite number, got '1/0'");

  std::vector<Assignment> assignments = {{"tilt", 0.1}, {"initial.hinge", -0.4}};
  Description d = *arm;
  const std::vector<JointStart> starts = take_initial(assignments, d);
  ASSERT_EQ(starts.size(), 1u);
  EXPECT_EQ(assignments.size(), 1u);
  EXPECT_EQ(d.assigned.back(), (std::pair<std::string, double>{"initial.hinge", -0.4}));
  EXPECT_NEAR(angle_of(read_configuration_text(kNoChanges, "", system, {starts, {}})), -0.4, 1e-12);
  // On top of bodies, and an error for a coordinate that is given already.
  EXPECT_NEAR(angle_of(read_configuration_text(R"({"bodies": {"arm": {}}})", "", system, {starts, {}})), -0.4,
              1e-12);
  try {
    read_configuration_text(R"({"joints": {"hinge": {"rate": 1}}})", "rest.json", system, {starts, {}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "initial.hinge: the angle of this joint is given twice, by joints.hinge of rest.json too "
                 "(hint: leave one of them out)");
  }
  EXPECT_EQ(configuration_complaint(R"({"joint": {"hinge": 1}})", system),
            "rest.json:1: joint: unknown key, expected bodies, joints or states (hint: did you mean "
            "'joints'?)");
  EXPECT_EQ(configuration_complaint(R"({"bodies": {}, "state": {"x": 1}})", system),
            "rest.json:1: state: unknown key, expected bodies, joints or states (hint: did you mean "
            "'states'?)");
  try {
    read_configuration_text(kNoChanges, "", system,
                            {{{.joint = "hing", .value = 1, .path = "initial.hing"}}, {}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "initial.hing: the model has no such joint (hint: did you mean 'hinge'?)");
  }
}

// Both coordinates of a joint, by name; without one, the angle. Their zeros count.
TEST(ConfigurationFiles, SetBothCoordinatesOfAJoint) {
  const auto sleeve = [](const std::string& type, const std::string& more) {
    const auto d = std::make_shared<const Description>(read_model_text(
        R"({"liedyn": 1, "bodies": {"sleeve": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.3, 0, 0]}},
            "joints": {"c": {"type": ")" +
            type + R"(", "between": ["ground", "sleeve"], "at": [0, 0, 0], "axis": [0, 0, 1])" + more + "}}}",
        ""));
    return System(Model::compile(d), Params(d));
  };
  const auto expect = [](const Configuration& c, double angle, double displacement, double turn,
                         double speed) {
    EXPECT_LT(
        (c.bodies[0].position - Vec3(0.3 * std::cos(angle), 0.3 * std::sin(angle), displacement)).norm(),
        1e-12);
    EXPECT_NEAR(c.bodies[0].angular_velocity.z(), turn, 1e-12);
    EXPECT_NEAR(c.bodies[0].velocity.z(), speed, 1e-12);
  };
  const System cylindrical = sleeve("cylindrical", R"(, "zero": 0.1, "zero_displacement": 0.05)");
  const auto read = [](const System& system, const std::string& joints) {
    return read_configuration_text(R"({"joints": {)" + joints + "}}", "rest.json", system);
  };
  expect(read(cylindrical, R"("c": 0.5, "c.displacement": {"value": 0.2, "rate": 3})"), 0.6, 0.25, 0, 3);
  expect(read(cylindrical, R"("c.angle": {"value": 0.5, "rate": -2})"), 0.6, 0, -2, 0);
  expect(read(cylindrical, R"("c.displacement": -7)"), 0, -6.95, 0, 0);
  expect(read_configuration_text(R"({"joints": {"c.displacement": 1}})", "", cylindrical,
                                 {{{.joint = "c.angle", .value = 0.7, .path = "initial.c.angle"}}, {}}),
         0.8, 1.05, 0, 0);
  EXPECT_EQ(
      configuration_complaint(R"({"joints": {"c": 0.5, "c.angle": 0.5}})", cylindrical),
      "rest.json:1: joints.c.angle: the angle of this joint is given twice (hint: it is that of 'c' too)");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"d.angle": 0.5}})", cylindrical),
            "rest.json:1: joints.d.angle: the model has no such joint");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"c.displacement": 0.5}})", sleeve("revolute", "")),
            "rest.json:1: joints.c.displacement: a joint of type revolute has no displacement (hint: its "
            "coordinate is its angle)");
  // A screw turns as it moves; turns are not counted before the start.
  const System screw = sleeve("screw", R"(, "pitch": 0.01)");
  const double turn = 2 * std::numbers::pi * -0.0034 / 0.01;
  expect(read(screw, R"("c.displacement": {"value": -0.0034, "rate": 0.02})"), turn, -0.0034,
         4 * std::numbers::pi, 0.02);
  EXPECT_EQ(
      configuration_complaint(R"({"joints": {"c.displacement": 0.0234}})", screw),
      "rest.json:1: joints.c.displacement: expected a displacement from -0.005 to 0.005, half a turn of "
      "the screw, got 0.0234 (hint: turns are counted from the start of a run)");
  expect(read(screw, R"("c": 0.4)"), 0.4, 0.01 * 0.4 / (2 * std::numbers::pi), 0, 0);
}

// A joint that is driven has no other start; one whose speed is prescribed may stand anywhere. Values that were set count.
TEST(ConfigurationFiles, KnowDrives) {
  const auto arm = [](const std::string& drive) {
    const auto description = std::make_shared<const Description>(read_model_text(
        R"({"liedyn": 1, "parameters": {"speed": 3},
          "bodies": {"arm": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [0.5, 0, 0],
                             "velocity": "consistent", "angular_velocity": "consistent"}},
          "joints": {"hinge": {"type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1]},
                     "motor": {"joint": "hinge", )" +
            drive + "}}}",
        ""));
    return System(Model::compile(description), Params(description));
  };
  const System driven = arm(R"x("type": "prescribed_motion", "motion": "0.8*sin(speed*t)")x");
  EXPECT_EQ(configuration_complaint(R"({"joints": {"hinge": 0.5}})", driven),
            "rest.json:1: joints.hinge: the drive 'motor' prescribes this coordinate: its initial value "
            "cannot be set "
            "(hint: change joints.motor.motion, or the time of the start)");
  const System turned = arm(R"x("type": "prescribed_velocity", "velocity": "speed*cos(t)")x");
  const Configuration c = read_configuration_text(R"({"joints": {"hinge": 0.5}})", "", turned, {{}, 1.0});
  EXPECT_LT((c.bodies[0].position - 0.5 * Vec3(std::cos(0.5), std::sin(0.5), 0)).norm(), 1e-12);
  EXPECT_NEAR(c.bodies[0].angular_velocity.z(), 3 * std::cos(1.0), 1e-11);
  EXPECT_EQ(
      configuration_complaint(R"({"joints": {"hinge": {"value": 0.5, "rate": 1}}})", turned),
      "rest.json:1: joints.hinge: the drive 'motor' prescribes the rate of this coordinate, got 1 for it "
      "(hint: give the value only)");
  // A function of time that was replaced by a constant.
  Params params = turned.params();
  params.set("joints.motor.velocity", 0.25);
  const System slow(turned.shared_model(), params);
  EXPECT_NEAR(read_configuration_text(R"({"joints": {"hinge": 0.5}})", "", slow, {{}, 1.0})
                  .bodies[0]
                  .angular_velocity.z(),
              0.25, 1e-12);
}

// Turns are not kept: a configuration that needs them is an error, and no other force without a word.
TEST(ConfigurationFiles, SayThatTurnsAreLost) {
  // The rider makes a tree of every formulation.
  for (const std::string rider :
       {"", R"(, "rider": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1], "on": "disc"})"})
    for (const char* formulation : {"r3so3", "minimal"}) {
      const auto d = std::make_shared<const Description>(read_model_text(
          R"({"liedyn": 1, "bodies": {"disc": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]})" + rider +
              R"x(},
          "joints": {"h": {"type": "cylindrical", "between": ["ground", "disc"], "at": [0, 0, 0], "axis": [0, 0, 1]}},
          "forces": {"s": {"type": "joint_spring", "joint": "h", "stiffness": 8, "free": 5},
                     "by_sensor": {"type": "joint_effort", "joint": "h", "effort": "-3*turned"},
                     "other": {"type": "joint_effort", "joint": "h", "effort": "-5*sin(turned)"}},
          "states": {"sum": {"type": "integral", "input": "turned"}, "wave": {"type": "integral", "input": "sin(turned)"}},
          "sensors": {"turned": {"type": "joint_angle", "of": "h"}}})x",
          ""));
      const System system(Model::compile(d, formulation), Params(d));
      const System absolute = in_absolute_coordinates(system);
      const auto written = [&](double angle) {
        Configuration c = read_configuration_text(kNoChanges, "", system);
        State bodies = absolute.empty_state(), state = system.empty_state();
        Work work(system);
        for (double a = 0; a < angle + 0.5; a += 0.5) {
          for (BodyConfiguration& body : c.bodies)
            body.orientation = SO3<double>::exp(Vec3(0, 0, std::min(a, angle)));
          set_configuration(absolute.model(), c, bodies);
          State next = system.model().tree ? state_on_tree(system, absolute, bodies, work) : bodies;
          next.angles = state.angles;
          state = next;
          system.follow_angles(state, work);
        }
        return configuration_json(system, state);
      };
      const std::string what = std::string(formulation) + rider;
      EXPECT_EQ(configuration_complaint(written(3), system), "") << what;
      for (const double angle : {5.0, 2 * std::numbers::pi}) {
        const std::string found = configuration_complaint(written(angle), system);
        for (const char* name : {"forces.s", "forces.by_sensor", "states.sum"})
          EXPECT_NE(found.find(fmt::format("wound: '{}' depends on an angle beyond half a turn", name)),
                    std::string::npos)
              << what << found;
        for (const char* name : {"forces.other", "states.wave"})
          EXPECT_EQ(found.find(name), std::string::npos) << what << found;
      }
    }
}

System system_of(const std::string& text, const std::string& formulation = "r3so3") {
  const auto d = std::make_shared<const Description>(read_model_text(text, "model.json"));
  return System(Model::compile(d, formulation), Params(d));
}

// The angle of a planar body counts turns, and a configuration keeps them: whether it names the body, gives the angle, or is what the program writes.
TEST(ConfigurationFiles, KeepTheTurnsOfPlanarBodies) {
  for (const std::string formulation : {"r3so3", "se3"}) {
    const System system = system_of(
        R"json({"liedyn": 1, "bodies": {"wheel": {"type": "planar", "mass": 1, "inertia": 1, "position": [1, 2], "angle": 7}},
            "sensors": {"phi": {"type": "angle", "of": "wheel"}},
            "forces": {"drive": {"type": "torque", "on": "wheel", "torque": [0, 0, "-5*(phi - 7)"]}}})json",
        formulation);
    const auto angle = [&](const std::string& text) {
      State state = system.empty_state();
      set_configuration(system.model(), read_configuration_text(text, "c.json", system), state);
      return state.q[2];
    };
    State typed = system.empty_state();
    typed.q = initial_values(system.model(), system.params().values().data()).q;
    for (const std::string& text :
         {std::string(R"({"bodies": {"wheel": {"velocity": [0, 0, 0]}}})"),
          std::string(R"({"bodies": {"wheel": {"angle": 7}}})"), configuration_json(system, typed)})
      expect_at_most(std::abs(angle(text) - 7), 1e-14, formulation + ": angle [rad]");
    expect_at_most(std::abs(angle(R"({"bodies": {"wheel": {"orientation": [0, 0, 0.5]}}})") - 0.5), 1e-15,
                   formulation + ": an orientation is within half a turn [rad]");
  }
}

TEST(ConfigurationFiles, RefuseWhatABodyCannotDo) {
  const System system = system_of(
      R"({"liedyn": 1, "bodies": {"wheel": {"type": "planar", "mass": 1, "inertia": 1}, "top": {"type": "rotating", "mass": 1, "inertia": [1, 1, 1]},
          "stone": {"type": "point", "mass": 1}}})");
  const std::pair<const char*, const char*> cases[] = {
      {R"("wheel": {"position": [0, 0, 5]})",
       "bodies.wheel.position: expected z = 0: the body stays in the plane"},
      {R"("wheel": {"velocity": [0, 0, 5]})",
       "bodies.wheel.velocity: expected z = 0: the body stays in the plane"},
      {R"("wheel": {"orientation": {"cardan": [1.2, 0, 0]}})",
       "bodies.wheel.orientation: expected a rotation about z"},
      {R"("wheel": {"angular_velocity": [3, 0, 0]})",
       "bodies.wheel.angular_velocity: expected x = y = 0: the body turns about z only"},
      {R"("top": {"velocity": [1, 0, 0]})", "bodies.top.velocity: expected 0: the body only rotates"},
      {R"("stone": {"orientation": [0, 0, 1]})",
       "bodies.stone.orientation: expected no rotation: the body has no orientation"},
      {R"("stone": {"angular_velocity": [0, 0, 1]})",
       "bodies.stone.angular_velocity: expected 0: the body has no orientation"}};
  for (const auto& [body, message] : cases) try {
      read_configuration_text(fmt::format("{{\"bodies\": {{{}}}}}", body), "c.json", system);
      ADD_FAILURE() << "accepted: " << body;
    } catch (const InputError& error) {
      EXPECT_STREQ(error.what(), fmt::format("c.json:1: {}", message).c_str());
    }
}

TEST(ConfigurationFiles, ModalCoordinatesBelongToTheirModes) {
  const System none = block("0"), six = block("6"), nine = block("9");
  const auto written = [](const System& system) {
    const Initial initial = initial_values(system.model(), system.params().values().data());
    State state = system.empty_state();
    state.q = initial.q;
    state.v = initial.v;
    return configuration_json(system, state);
  };
  EXPECT_EQ(configuration_complaint(written(six), six), "");
  const auto expect = [](const std::string& found, const std::string& message) {
    EXPECT_NE(found.find("bodies.block: " + message), std::string::npos) << found;
    EXPECT_EQ(found.find('\n'), std::string::npos) << found;
  };
  expect(configuration_complaint(written(six), nine), "has 6 modal coordinates here and 9 in the model");
  expect(configuration_complaint(written(nine), six), "has 9 modal coordinates here and 6 in the model");
  expect(configuration_complaint(written(none), six), "has 0 modal coordinates here and 6 in the model");
  // By hand only what differs from the model.
  const std::string one = R"({"bodies": {"block.modes2": {"position": [0.001, 0, 0]}}})";
  EXPECT_EQ(configuration_complaint(one, nine), "");
  EXPECT_EQ(configuration_complaint(R"({"bodies": {"block": {"position": [0, 0, 1]}}})", nine), "");
}

// A body attached to another one follows it where the file names only that.
TEST(ConfigurationFiles, AttachedBodiesFollowTheirHosts) {
  ModelBuilder b;
  b.body("host", "rigid").set("mass", {1}).set("inertia", {1, 1, 1}).set("position", {0.5, 0, 0});
  b.body("rider", "rigid")
      .set("mass", {1})
      .set("inertia", {1, 1, 1})
      .set("position", {1, 0, 0.1})
      .set("on", std::string("host"));
  const System system = make_system(b.finish());
  const Configuration found = read_configuration_text(
      R"({"bodies": {"host": {"position": [0, 0, -0.5], "orientation": {"axis": [0, 1, 0], "angle": 1.5707963267948966},
          "angular_velocity": [0, 2, 0]}}})",
      "from.json", system);
  // From (0.5, 0, 0.1) on the host, turned about y: x to -z, z to x.
  EXPECT_LT((found.bodies[1].position - Vec3(0.1, 0, -1)).norm(), 1e-12)
      << found.bodies[1].position.transpose();
  EXPECT_LT((found.bodies[1].velocity - Vec3(0, 2, 0).cross(Vec3(0.1, 0, -0.5))).norm(), 1e-12);
  EXPECT_LT((found.bodies[1].angular_velocity - Vec3(0, 2, 0)).norm(), 1e-12);
}

}  // namespace
}  // namespace liedyn
