// Models with a mistake, each as a user could have written it: the program ends with exit code 2, prints nothing on
// standard output, and says on standard error what is wrong and where.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"

namespace liedyn::testing {
namespace {

// A good model. Every mistake is one change to it.
const std::string kGood = R"json({ "liedyn": 1,
  "parameters": { "spin": 150, "zero": 0 },
  "gravity": [0, 0, -9.81],
  "bodies": {
    "top": { "type": "rigid", "mass": 15, "inertia": [0.25, 0.5, 0.25],
             "position": [0, 1, 0], "velocity": "consistent", "angular_velocity": [0, "spin", 0] },
    "ball": { "type": "point", "mass": 1, "position": [5, 0, 0] } },
  "joints": {
    "pivot": { "type": "spherical", "between": ["ground", "top"], "at": [0, 0, 0] } },
  "forces": {
    "push": { "type": "force", "on": "ball", "force": ["sin(t)", 0, 0] } },
  "sensors": {
    "place": { "type": "position", "of": "top" },
    "height": { "type": "expression", "value": "place[2]" } },
  "simulation": { "end": 0.01, "step": 1e-3, "integrator": "generalized-alpha,rho=0.9" } }
)json";

const std::string kBallJoint =
    R"json("type": "spherical", "between": ["ground", "top"], "at": [0, 0, 0])json";

const std::string kTwoLengths = R"json({ "liedyn": 1,
  "bodies": { "ball": { "type": "point", "mass": 1, "position": { "consistent": [0, 0, 0] } } },
  "joints": { "a": { "type": "distance", "between": ["ground", "ball"], "points": [[1, 0, 0], [0, 0, 0]], "length": 1 },
              "b": { "type": "distance", "between": ["ground", "ball"], "points": [[1, 0, 0], [0, 0, 0]], "length": 1.2 } } })json";

struct BadModel {
  std::string title;
  std::string from, to;            // what is replaced, and by what
  std::vector<std::string> words;  // all in the message
  int errors = 1;                  // lines: a mistake is said once, and its consequences are not
};
void PrintTo(const BadModel& bad, std::ostream* out) { *out << bad.title; }

int count_errors(const std::string& text) {
  int out = 0;
  for (std::size_t i = text.find("error: "); i != std::string::npos; i = text.find("error: ", i + 1)) ++out;
  return out;
}

class BadInput : public ::testing::TestWithParam<BadModel> {};

TEST_P(BadInput, IsRefusedWithAHelpfulMessage) {
  const BadModel& bad = GetParam();
  std::string text = kGood;
  const std::size_t place = text.find(bad.from);
  ASSERT_NE(place, std::string::npos) << "the good model does not contain " << bad.from;
  text.replace(place, bad.from.size(), bad.to);

  const TemporaryDirectory directory;
  const Outcome outcome = run_program({"run", directory.write("model.json", text), "--json"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  for (const std::string& word : bad.words) EXPECT_THAT(outcome.err, ::testing::HasSubstr(word));
  EXPECT_LT(outcome.err.size(), 2000u) << outcome.err;
  EXPECT_EQ(count_errors(outcome.err), bad.errors) << outcome.err;
}

TEST(BadInputTable, StartsFromAGoodModel) {
  const TemporaryDirectory directory;
  const Outcome outcome = run_program({"run", directory.write("model.json", kGood), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

INSTANTIATE_TEST_SUITE_P(
    Syntax, BadInput,
    ::testing::Values(
        BadModel{"empty file", kGood, "", {"model.json: is empty"}},
        BadModel{"not JSON at all", kGood, "mass = 15\n", {"model.json:1: not valid JSON"}},
        BadModel{"binary file",
                 kGood,
                 std::string("\x7f"
                             "ELF\x02\x01\0\0\0",
                             9),
                 {"model.json: is not a text file"}},
        BadModel{"an array", kGood, "[1, 2, 3]", {"model.json:1: expected an object, got an array of 3"}},
        BadModel{"cut off", R"("sensors": {)", "", {"model.json:", "not valid JSON"}},
        BadModel{"comma too many", "\"step\": 1e-3,", "\"step\": 1e-3,,", {"model.json:15: not valid JSON"}},
        BadModel{"comma before a bracket",
                 "\"position\": [5, 0, 0]",
                 "\"position\": [5, 0, 0,]",
                 {"model.json:7:", "remove the comma"}},
        BadModel{"comma missing", "\"mass\": 15,", "\"mass\": 15", {"model.json:5:", "is a comma missing"}},
        BadModel{
            "comment", "\"gravity\"", "# down\n  \"gravity\"", {"model.json:3:", "comments begin with //"}},
        BadModel{"single quotes", "\"gravity\"", "'gravity'", {"model.json:3:", "double quotation marks"}},
        BadModel{"NaN", "\"mass\": 15", "\"mass\": NaN", {"model.json:5:", "JSON has no NaN or infinity"}},
        BadModel{"infinity", "-9.81", "-Infinity", {"model.json:3:", "JSON has no NaN or infinity"}},
        BadModel{"number too large", "\"mass\": 15", "\"mass\": 1e999", {"model.json:5:", "number overflow"}},
        BadModel{"not UTF-8", "\"top\"", "\"t\xf6p\"", {"model.json:5:", "UTF-8"}},
        BadModel{"nested without end",
                 "\"bodies\": {",
                 "\"bodies\": " + std::string(200000, '['),
                 {"model.json:4: nested more than 100"}},
        BadModel{"key given twice",
                 "\"gravity\"",
                 "\"parameters\": {},\n  \"gravity\"",
                 {"model.json:3: parameters: this key is given twice"}}));

INSTANTIATE_TEST_SUITE_P(
    Structure, BadInput,
    ::testing::Values(
        BadModel{
            "no version", "\"liedyn\": 1,", "", {"model.json:1: liedyn: missing", "begin the file with"}},
        BadModel{"version of the future",
                 "\"liedyn\": 1",
                 "\"liedyn\": 7",
                 {"model.json:1: liedyn: expected the version 1, got 7"}},
        BadModel{"unknown section",
                 "\"bodies\"",
                 "\"bodys\"",
                 {"model.json:4: bodys: unknown key", "did you mean 'bodies'?"}},
        BadModel{"section of the wrong type",
                 "\"forces\": {",
                 "\"forces\": [], \"states\": {",
                 {"model.json:10: forces: expected an object, got an array of 0",
                  "states.push.type: expected one of"},
                 2},
        BadModel{"entry of the wrong type",
                 "{ \"type\": \"position\", \"of\": \"top\" }",
                 "3",
                 {"model.json:13: sensors.place: expected an object, got 3"}},
        BadModel{"no type",
                 "\"type\": \"spherical\", ",
                 "",
                 {"model.json:9: joints.pivot.type: missing, expected one of", "spherical"}},
        BadModel{"unknown type",
                 "\"spherical\"",
                 "\"sphercial\"",
                 {"joints.pivot.type: expected one of", "got 'sphercial'", "did you mean 'spherical'?"}},
        BadModel{"type that is a number",
                 "\"type\": \"spherical\"",
                 "\"type\": 3",
                 {"joints.pivot.type: expected a string, got 3"}},
        BadModel{"unknown key",
                 "\"mass\": 15",
                 "\"mas\": 15",
                 {"model.json:5: bodies.top.mas: unknown key 'mas'", "did you mean 'mass'?"}},
        BadModel{"missing field", "\"mass\": 15,", "", {"model.json:5: bodies.top.mass: missing: Mass."}},
        BadModel{"name with a space",
                 "\"ball\":",
                 "\"the ball\":",
                 {"bodies.the ball: expected a name of letters", "there is no body 'ball'"},
                 2},
        BadModel{"body called ground",
                 "\"ball\":",
                 "\"ground\":",
                 {"'ground' is the name of the inertial frame", "there is no body 'ball'"},
                 2},
        BadModel{"state without a type",
                 "\"forces\": {",
                 "\"states\": {\"x\": {}}, \"forces\": {",
                 {"model.json:10: states.x.type: missing, expected one of expression, integral, filter"}},
        BadModel{"argument below its range",
                 "\"gravity\"",
                 "\"arguments\": {\"n\": {\"value\": 0, \"least\": 1}}, \"repeat\": [], \"gravity\"",
                 {"arguments.n: expected at least 1, got 0"}},
        BadModel{"argument without a value",
                 "\"gravity\"",
                 "\"arguments\": {\"n\": {\"least\": 1}}, \"repeat\": [], \"gravity\"",
                 {"arguments.n: expected a number, or {\"value\": 10"}},
        BadModel{"key of an argument that is none",
                 "\"gravity\"",
                 "\"arguments\": {\"n\": {\"value\": 1, \"leats\": 1}}, \"repeat\": [], \"gravity\"",
                 {"arguments.n.leats: unknown key", "did you mean 'least'?"}},
        BadModel{"the key generator, which files of earlier versions had",
                 "\"gravity\"",
                 "\"generator\": \"chain\", \"gravity\"",
                 {"generator: unknown key"}},
        BadModel{"arguments without a repetition",
                 "\"gravity\"",
                 "\"arguments\": {}, \"gravity\"",
                 {"arguments: there is no \"repeat\""}}));

INSTANTIATE_TEST_SUITE_P(
    Values, BadInput,
    ::testing::Values(
        BadModel{"text for a number",
                 "\"mass\": 15",
                 "\"mass\": \"heavy\"",
                 {"model.json:5: bodies.top.mass:", "unknown name 'heavy'"}},
        BadModel{"true for a number",
                 "\"mass\": 15",
                 "\"mass\": true",
                 {"bodies.top.mass: expected a number or an expression, got true"}},
        BadModel{"negative mass",
                 "\"mass\": 15",
                 "\"mass\": -15",
                 {"model.json:5: bodies.top.mass: expected a non-negative number, got -15"}},
        BadModel{"vector of two",
                 "[0, 1, 0]",
                 "[0, 1]",
                 {"model.json:6: bodies.top.position: expected 3 numbers, got an array of 2"}},
        BadModel{"number for a vector", "[0, 1, 0]", "1", {"bodies.top.position: expected 3 numbers, got 1"}},
        BadModel{"null in a vector",
                 "[0, 1, 0]",
                 "[0, null, 0]",
                 {"bodies.top.position: expected a number or an expression as number 2, got null"}},
        BadModel{"gravity of two",
                 "[0, 0, -9.81]",
                 "[0, -9.81]",
                 {"model.json:3: gravity: expected 3 numbers, got an array of 2"}},
        BadModel{"inertia of two",
                 "[0.25, 0.5, 0.25]",
                 "[0.25, 0.5]",
                 {"bodies.top.inertia: expected 3 principal moments", "got an array of 2"}},
        BadModel{"asymmetric inertia",
                 "[0.25, 0.5, 0.25]",
                 "[[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]]",
                 {"bodies.top.inertia: expected a symmetric matrix, but [0][1] and [1][0] differ"}},
        BadModel{"inertia of no body",
                 "[0.25, 0.5, 0.25]",
                 "[0.1, 0.5, 0.1]",
                 {"model.json:5: bodies.top", "principal moments"}},
        BadModel{"negative inertia",
                 "[0.25, 0.5, 0.25]",
                 "[-0.25, 0.5, 0.25]",
                 {"model.json:5: bodies.top", "positive semi-definite"}},
        BadModel{"zero axis",
                 "\"velocity\": \"consistent\"",
                 "\"orientation\": {\"axis\": [0, 0, 0], \"angle\": 1}",
                 {"bodies.top.orientation: expected an axis that is not zero"}},
        BadModel{"axis without an angle",
                 "\"velocity\": \"consistent\"",
                 "\"orientation\": {\"axis\": [0, 0, 1]}",
                 {"bodies.top.orientation: expected both \"axis\" and \"angle\""}},
        BadModel{"matrix that is no rotation",
                 "\"velocity\": \"consistent\"",
                 "\"orientation\": {\"matrix\": [[1, 0, 0], [0, 2, 0], [0, 0, 1]]}",
                 {"expected a rotation matrix"}},
        BadModel{"both angular velocities",
                 R"("angular_velocity": [0, "spin", 0])",
                 R"("angular_velocity": [0, "spin", 0], "angular_velocity_inertial": [0, 1, 0])",
                 {"bodies.top", "both given"}},
        BadModel{"a torque on a point mass",
                 R"("type": "force", "on": "ball", "force")",
                 R"("type": "torque", "on": "ball", "torque")",
                 {"forces.push", "'ball' has no orientation"}},
        BadModel{
            "a bushing that turns a point mass",
            R"json("type": "force", "on": "ball", "force": ["sin(t)", 0, 0])json",
            R"("type": "bushing", "between": ["top", "ball"], "at": [5, 0, 0], "rotational_damping": [1, 0, 0])",
            {"forces.push", "'ball' has no orientation"}},
        BadModel{"a force beside a point mass",
                 R"("on": "ball", )",
                 R"("on": "ball", "at": [5, 1, 0], )",
                 {"forces.push", "not the position of the point mass 'ball'"}},
        BadModel{"HHT with too much damping",
                 "generalized-alpha,rho=0.9",
                 "generalized-alpha,rho=0.3,parameters=hht",
                 {"parameters=hht needs rho from 0.5"}},
        BadModel{"Newmark without beta",
                 "generalized-alpha,rho=0.9",
                 "generalized-alpha,beta=0",
                 {"beta and gamma must be positive"}},
        BadModel{"unknown rotation",
                 "\"velocity\": \"consistent\"",
                 "\"orientation\": {\"quaternoin\": [1, 0, 0, 0]}",
                 {"orientation.quaternoin: unknown key", "did you mean 'quaternion'?"}},
        BadModel{"mistake in an expression",
                 "\"spin\", 0]",
                 "\"2*(spin\", 0]",
                 {"model.json:6: bodies.top.angular_velocity:", "at character 8: expected ')'"}},
        BadModel{"unknown parameter",
                 "\"spin\", 0]",
                 "\"spni\", 0]",
                 {"unknown name 'spni'", "did you mean 'spin'?"}},
        BadModel{"expression that is infinite",
                 "\"spin\", 0]",
                 "\"1/zero\", 0]",
                 {"the expression '1/zero' gives inf"}},
        BadModel{"parameter defined later",
                 "\"spin\": 150",
                 "\"spin\": \"2*zero\"",
                 {"model.json:2: parameters.spin:", "uses 'zero', which is defined later"}},
        BadModel{
            "parameter called t", "\"zero\": 0", "\"t\": 0", {"parameters.t: 't' already has a meaning"}},
        BadModel{"mass that varies with time",
                 "\"mass\": 15",
                 "\"mass\": \"15 - t\"",
                 {"bodies.top.mass:", "must not depend on time"}},
        BadModel{"consistent mass",
                 "\"mass\": 15",
                 "\"mass\": \"consistent\"",
                 {"bodies.top.mass: \"consistent\" is not allowed here"}}));

INSTANTIATE_TEST_SUITE_P(
    References, BadInput,
    ::testing::Values(
        BadModel{"body that does not exist",
                 "[\"ground\", \"top\"]",
                 "[\"ground\", \"tpo\"]",
                 {"model.json:9: joints.pivot.between: there is no body 'tpo'", "did you mean 'top'?"}},
        BadModel{"one body of two",
                 "[\"ground\", \"top\"]",
                 "[\"top\"]",
                 {"joints.pivot.between: expected the names of two bodies"}},
        BadModel{"the same body twice",
                 "[\"ground\", \"top\"]",
                 "[\"top\", \"top\"]",
                 {"joints.pivot.between: expected two different bodies"}},
        BadModel{"force on nothing",
                 "\"on\": \"ball\"",
                 "\"on\": \"bell\"",
                 {"model.json:11: forces.push.on: there is no body 'bell'"}},
        BadModel{"sensor of a joint that does not exist",
                 "\"position\", \"of\": \"top\"",
                 "\"reaction_force\", \"of\": \"pivto\"",
                 {"sensors.place.of: there is no joint 'pivto'", "did you mean 'pivot'?"}},
        BadModel{"sensor defined later",
                 "\"place[2]\"",
                 "\"place[2] + width\"",
                 {"model.json:14: sensors.height.value:", "unknown name 'width'"}},
        BadModel{"component that does not exist",
                 "\"place[2]\"",
                 "\"place[3]\"",
                 {"sensors.height.value:", "unknown name 'place[3]'"}},
        BadModel{"a body where a joint is wanted",
                 R"("type": "position", "of": "top")",
                 R"("type": "reaction_force", "of": "top")",
                 {"sensors.place.of: there is no joint 'top'", "'top' is one of the bodies"}},
        BadModel{"the time by another name",
                 R"json(["sin(t)", 0, 0])json",
                 R"json(["sin(time)", 0, 0])json",
                 {"unknown name 'time'", "did you mean 't'?"}},
        BadModel{"a sensor that stands later",
                 R"("place": { "type": "position", "of": "top" })",
                 R"("early": { "type": "expression", "value": "2*place[0]" },
    "place": { "type": "position", "of": "top" })",
                 {"unknown name 'place[0]'", "this sensor is defined later"}},
        BadModel{"components in the axes of another body",
                 "\"at\": [0, 0, 0] }",
                 R"("at": { "ground": [0, 0, 0], "ball": [0, 0, 0] } })",
                 {"joints.pivot.at:", "expected the components in the axes of 'ground' and 'top'"}},
        BadModel{"an open position with a joint in inertial axes",
                 "\"position\": [0, 1, 0]",
                 "\"position\": \"consistent\"",
                 {"joints.pivot.at:", "the position of 'top' is \"consistent\"", "give it in body axes"}}));

INSTANTIATE_TEST_SUITE_P(
    Mechanics, BadInput,
    ::testing::Values(
        BadModel{"velocities that violate a joint",
                 "\"velocity\": \"consistent\"",
                 "\"velocity\": [0, 1, 0]",
                 {"joints.pivot", "velocities violate this constraint", "consistent"}},
        BadModel{"rod that has another length",
                 kBallJoint,
                 "\"type\": \"distance\", \"between\": [\"ground\", \"top\"], \"points\": [[0, 0, 0], [0, 1, "
                 "0]], \"length\": 2",
                 {"joints.pivot", "positions violate this constraint"}},
        BadModel{
            "points of a rod that coincide",
            kBallJoint,
            "\"type\": \"distance\", \"between\": [\"ground\", \"top\"], \"points\": [[0, 0, 0], [0, 0, 0]]",
            {"joints.pivot"}},
        BadModel{"no mass and no joint",
                 "\"mass\": 1,",
                 "\"mass\": 0,",
                 {"bodies.ball", "no mass and no constraint"}},
        BadModel{"joints that contradict each other",
                 kGood,
                 kTwoLengths,
                 {"joints.", "contradicts other constraints"},
                 2}));

const std::string kAtOrigin = R"json("between": ["ground", "top"], "at": [0, 0, 0])json";

INSTANTIATE_TEST_SUITE_P(
    Joints, BadInput,
    ::testing::Values(
        BadModel{"axis of no direction",
                 kBallJoint,
                 R"("type": "revolute", "axis": ["zero", 0, 0], )" + kAtOrigin,
                 {"model.json:9: joints.pivot.axis: expected a direction, got [0, 0, 0]"}},
        BadModel{"no axis",
                 kBallJoint,
                 R"("type": "revolute", )" + kAtOrigin,
                 {"model.json:9: joints.pivot.axis: missing: Axis of the hinge"}},
        BadModel{"parallel axes",
                 kBallJoint,
                 R"("type": "universal", "first_axis": [1, 1, 0], "second_axis": [-2, -2, 0], )" + kAtOrigin,
                 {"joints.pivot: first_axis and second_axis: expected different directions"}},
        BadModel{"a word instead of a list",
                 kBallJoint,
                 R"("type": "generic", "fixed": "x", )" + kAtOrigin,
                 {"joints.pivot.fixed: expected a list of some of x, y, z, rotation_x", "got 'x'"}},
        BadModel{"a list with a number",
                 kBallJoint,
                 R"("type": "generic", "fixed": ["x", 3], )" + kAtOrigin,
                 {"joints.pivot.fixed: expected a list of some of x, y, z, rotation_x"}},
        BadModel{"an empty list",
                 kBallJoint,
                 R"("type": "generic", "fixed": [], )" + kAtOrigin,
                 {"joints.pivot.fixed: expected at least one of x, y, z, rotation_x"}},
        BadModel{"an unknown word in a list",
                 kBallJoint,
                 R"("type": "generic", "fixed": ["x", "rotation_w"], )" + kAtOrigin,
                 {"joints.pivot.fixed: expected one or more of x, y, z", "got 'rotation_w'", "did you mean"}},
        BadModel{"a word twice in a list",
                 kBallJoint,
                 R"("type": "generic", "fixed": ["x", "x"], )" + kAtOrigin,
                 {"joints.pivot.fixed: 'x' is given twice"}},
        BadModel{
            "an angle that the joint does not have",
            R"("type": "position", "of": "top")",
            R"("type": "joint_angle", "of": "pivot")",
            {"model.json:13: sensors.place.of: expected a joint with an angle about its axis",
             "got 'pivot' of type spherical", "revolute, cylindrical, planar, screw and planar_revolute"},
            2},
        BadModel{"a hinge on a point",
                 kBallJoint,
                 R"("type": "revolute", "axis": [1, 0, 0], "between": ["top", "ball"], "at": [5, 0, 0])",
                 {"joints.pivot: the point mass 'ball' has no orientation"}}));

INSTANTIATE_TEST_SUITE_P(
    Simulation, BadInput,
    ::testing::Values(
        BadModel{"end before the start",
                 "\"end\": 0.01",
                 "\"end\": -1",
                 {"model.json:15: simulation.end: expected a time after the start (0), got -1"}},
        BadModel{"step of zero",
                 "\"step\": 1e-3",
                 "\"step\": 0",
                 {"model.json:15: simulation.step: expected a positive number, got 0"}},
        BadModel{"unknown setting",
                 "\"step\": 1e-3",
                 "\"stp\": 1e-3",
                 {"simulation.stp: unknown key", "did you mean 'step'?"}},
        BadModel{"unknown integrator",
                 "generalized-alpha,rho=0.9",
                 "generalised-alpha",
                 {"model.json:15: simulation.integrator: unknown integrator",
                  "did you mean 'generalized-alpha'?"}},
        BadModel{"unknown option of the integrator",
                 "rho=0.9",
                 "ro=0.9",
                 {"simulation.integrator: unknown option 'ro'", "did you mean 'rho'?"}},
        BadModel{"option out of its range",
                 "rho=0.9",
                 "rho=1.9",
                 {"simulation.integrator: rho must be between 0 and 1, got 1.9"}},
        BadModel{"unknown formulation",
                 "\"end\"",
                 "\"formulation\": \"so3r3\", \"end\"",
                 {"simulation.formulation: expected one of r3so3"}},
        BadModel{
            "steps without number", "\"step\": 1e-3", "\"step\": 1e-30", {"simulation.step:", "too many"}}));

// Several mistakes in one file, each found by another phase: all of them at once, and nothing else.
const std::string kTwoArms = R"json({ "liedyn": 1,
  "parameters": { "length": 1 },
  "gravity": [0, 0, -9.81],
  "bodies": {
    "upper": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0.5, 0, 0] },
    "lower": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [1.5, 0, 0] },
    "rider": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.1, 0.1], "on": "lower" } },
  "beams": {
    "shaft": { "type": "circle", "from": [0, 5, 0], "to": [1, 5, 0], "elements": 4, "radius": 0.01, "young": 2e11, "density": 7800 } },
  "joints": {
    "shoulder": { "type": "revolute", "between": ["ground", "upper"], "at": [0, 0, 0], "axis": [0, 1, 0] },
    "elbow": { "type": "revolute", "between": ["upper", "lower"], "at": ["length", 0, 0], "axis": [0, 1, 0] } },
  "forces": {
    "motor": { "type": "joint_effort", "joint": "elbow", "effort": "-2*phi" },
    "brake": { "type": "joint_spring", "joint": "shoulder", "damping": 0.1 } },
  "sensors": {
    "phi": { "type": "joint_angle", "of": "elbow" },
    "held": { "type": "reaction_force", "of": "rider.on" },
    "twice": { "type": "expression", "value": "2*phi" } } }
)json";

struct Replacement {
  std::string from, to;
};
struct BadTogether {
  std::string title;
  std::vector<Replacement> mistakes;
  std::vector<std::string> errors;  // one line each, without the name of the file
};
void PrintTo(const BadTogether& bad, std::ostream* out) { *out << bad.title; }
class BadTogetherInput : public ::testing::TestWithParam<BadTogether> {};

TEST_P(BadTogetherInput, IsRefusedForAllOfItAndForNothingElse) {
  std::string text = kTwoArms;
  for (const auto& [from, to] : GetParam().mistakes) {
    const std::size_t place = text.find(from);
    ASSERT_NE(place, std::string::npos) << "the good model does not contain " << from;
    text.replace(place, from.size(), to);
  }
  const TemporaryDirectory directory;
  const std::string file = directory.write("model.json", text);
  for (const char* command : {"run", "check"}) {
    const Outcome outcome = run_program({command, file});
    EXPECT_EQ(outcome.exit_code, GetParam().errors.empty() ? 0 : 2) << outcome.err;
    for (const std::string& words : GetParam().errors) EXPECT_THAT(outcome.err, ::testing::HasSubstr(words));
    EXPECT_EQ(count_errors(outcome.err), static_cast<int>(GetParam().errors.size())) << outcome.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Phases, BadTogetherInput,
    ::testing::Values(
        BadTogether{"nothing", {}, {}},
        BadTogether{"a body that does not exist beside an axis of no direction",
                    {{R"("between": ["ground", "upper"], "at": [0, 0, 0], "axis": [0, 1, 0])",
                      R"("between": ["ground", "uper"], "at": [0, 0, 0], "axis": [0, 0, 0])"}},
                    {":11: joints.shoulder.between: there is no body 'uper'",
                     ":11: joints.shoulder.axis: expected a direction"}},
        BadTogether{
            "a body that does not exist, and the displacement of a revolute joint",
            {{R"(["ground", "upper"])", R"(["ground", "uper"])"}, {"joint_angle", "joint_displacement"}},
            {"there is no body 'uper'",
             "sensors.phi.of: expected a joint with a displacement along its axis, got 'elbow'"}},
        BadTogether{"a wrong type, inertias of no body, a sensor that does not exist",
                    {{"joint_spring", "joint_sprng"},
                     {R"("inertia": [0.1, 0.1, 0.1], "position": [1.5, 0, 0])",
                      R"("inertia": [0.1, 0.1, 0.9], "position": [1.5, 0, 0])"},
                     {"2*phi\"", "2*psi\""}},
                    {"forces.brake.type: expected one of", "bodies.lower: inertia is not that of a body",
                     "forces.motor.effort: in the expression '-2*psi', at character 4: unknown name 'psi'"}},
        BadTogether{"a sensor with a mistake is not missing where it is used",
                    {{R"("joint_angle", "of": "elbow")", R"("joint_angle", "of": "elbw")"}},
                    {"sensors.phi.of: there is no joint 'elbw'"}},
        BadTogether{"positions that violate a joint beside a mistake in a sensor",
                    {{R"("position": [1.5, 0, 0])", R"("position": [1.5, 0, 0], "velocity": [0, 1, 0])"},
                     {R"("2*phi" } } })", R"("2*" } } })"}},
                    {"sensors.twice.value",
                     "joints.elbow: position y: the initial velocities violate this constraint"}},
        BadTogether{"with a force that is not finite, each once",
                    {{R"("position": [1.5, 0, 0])", R"("position": [1.5, 0, 0], "velocity": [0, 1, 0])"},
                     {"-2*phi", "log(phi - 1)"},
                     {R"("2*phi" } } })", R"("2*" } } })"}},
                    {"sensors.twice.value",
                     "joints.elbow: position y: the initial velocities violate this constraint",
                     "forces.motor: its contribution to the equations of motion at the start"}},
        BadTogether{"but not beside one in a joint, which may be the reason",
                    {{R"("position": [1.5, 0, 0])", R"("position": [1.5, 0, 0], "velocity": [0, 1, 0])"},
                     {R"("at": [0, 0, 0], "axis")", R"("at": [0, 0], "axis")"}},
                    {"joints.shoulder.at: expected 3 numbers, got an array of 2"}},
        BadTogether{"a body on something that does not exist has no joint of its own",
                    {{R"("on": "lower")", R"("on": "lowr")"}},
                    {"bodies.rider.on: there is no body 'lowr' (hint: did you mean 'lower'?)"}},
        BadTogether{
            "a body on a beam without a place",
            {{R"("on": "lower")", R"("on": "shaft")"}},
            {"bodies.rider.on: there is no body 'shaft' (hint: 'shaft' is a beam: give a position on it, "
             "shaft[0.5] for the middle)"}},
        BadTogether{"a parameter that cannot be computed is not missing where it is used",
                    {{"\"length\": 1", "\"length\": \"1/0\""}},
                    {"parameters.length: expected a finite number, but the expression '1/0' gives inf"}},
        BadTogether{"a misspelt section is read all the same",
                    {{"\"bodies\"", "\"bodys\""}},
                    {":4: bodys: unknown key (hint: did you mean 'bodies'?)"}},
        BadTogether{"a section that is none",
                    {{"\"joints\": {", "\"joints\": [], \"notes\": {"}},
                    {":10: joints: expected an object, got an array of 0", ":10: notes: unknown key"}},
        BadTogether{
            "an entry that is none",
            {{R"({ "type": "rigid", "mass": 1, "inertia": [0.1, 0.1, 0.1], "position": [0.5, 0, 0] })", "7"}},
            {":5: bodies.upper: expected an object, got 7"}},
        BadTogether{"a beam of no elements is a mistake of the beam alone",
                    {{"\"elements\": 4", "\"elements\": 0"}, {R"("on": "lower")", R"("on": "shaft[0.5]")"}},
                    {":9: beams.shaft.elements: expected a positive number, got 0"}}));

struct BadCommand {
  std::vector<std::string> arguments;
  std::string words;
};
void PrintTo(const BadCommand& bad, std::ostream* out) {
  for (const std::string& argument : bad.arguments) *out << argument << ' ';
}
class BadCommandLine : public ::testing::TestWithParam<BadCommand> {};

TEST_P(BadCommandLine, IsRefusedWithAHelpfulMessage) {
  const Outcome outcome = run_program(GetParam().arguments);
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, ::testing::HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    Program, BadCommandLine,
    ::testing::Values(
        BadCommand{{"rnu", "heavy_top"}, "did you mean 'run'?"},
        BadCommand{{"list", "model"}, "did you mean 'models'?"},
        BadCommand{{"help", "rnu"}, "did you mean 'run'?"},
        BadCommand{{"run", "heavy_top", "--dt", "1e-3"},
                   "run has no option '--dt' (hint: did you mean '--step'?)"},
        BadCommand{{"run", "heavy_top", "--save", "x.csv"}, "did you mean '--out'?"},
        BadCommand{{"check", "heavy_top", "--step", "-1"}, "simulation.step: must be positive, got -1"},
        BadCommand{{"check", "heavy_top", "--integrator", "rk4"}, "did you mean 'rk44'?"},
        BadCommand{{"run", "heavy_top", "--set", "bodies.top.mass", "3"}, "write --set bodies.top.mass=3"},
        BadCommand{{"sensitivity", "heavy_top", "--parameters", "top.mass"},
                   "did you mean 'bodies.top.mass'?"},
        BadCommand{{"run", "heavy_top", "--set", "spni=1", "--set", "bodies.top.mas=1"},
                   "did you mean 'spin'?"},
        BadCommand{{"run", "heavy_top", "--set", "bodies.tpo.mass=1", "--set", "bodies.top.mas=1"},
                   "did you mean 'mass'?"},
        BadCommand{{"run"}, "MODEL is required"},
        BadCommand{{"run", "heavy_tpo"}, "did you mean 'heavy_top'?"},
        BadCommand{{"run", "no/such/file.json"}, "no/such/file.json: there is no such file"},
        BadCommand{{"run", "/"}, "is a directory"},
        BadCommand{{"run", "heavy_top", "--stepp", "1"}, "--stepp"},
        BadCommand{{"run", "heavy_top", "--step", "abc"}, "--step"},
        BadCommand{{"run", "heavy_top", "--step", "-1"}, "simulation.step"},
        BadCommand{{"run", "heavy_top", "--step", "nan"}, "simulation.step"},
        BadCommand{{"run", "heavy_top", "--end", "0"}, "simulation.end"},
        BadCommand{{"run", "heavy_top", "--end", "inf"}, "simulation.end"},
        BadCommand{{"run", "heavy_top", "--output-every", "-1"}, "output_every"},
        BadCommand{{"run", "heavy_top", "--initial", "guess"}, "expected check or project, got 'guess'"},
        BadCommand{{"run", "heavy_top", "--solver", "magic"}, "magic"},
        BadCommand{{"run", "heavy_top", "--formulation", "se4"}, "did you mean 'se3'?"},
        BadCommand{{"run", "heavy_top", "--integrator", "generalized-alpha,sigma"},
                   "expected key=value, got 'sigma'"},
        BadCommand{{"run", "heavy_top", "--set", "spin"}, "expected PATH=VALUE"},
        BadCommand{{"run", "heavy_top", "--set", "spni=1"}, "did you mean 'spin'?"},
        BadCommand{{"run", "heavy_top", "--set", "bodies.top.mas=1"}, "did you mean 'mass'?"},
        BadCommand{{"run", "heavy_top", "--set", "bodies.top.mass=-1"},
                   "expected a non-negative number, got -1"},
        BadCommand{{"run", "heavy_top", "--set", "bodies.top.inertia[0]=9"}, "principal moments"},
        BadCommand{{"run", "chain", "--set", "links=0"}, "links: expected at least 1, got 0"},
        BadCommand{{"run", "slider_crank", "--set", "initial.cranc=1"},
                   "initial.cranc: the model has no such joint"},
        BadCommand{{"converge", "slider_crank", "--set", "initial.crank=1"},
                   "this command uses the configuration of the model file"},
        BadCommand{{"modes", "chain", "--time", "nan"}, "--time: expected a finite time, got nan"},
        BadCommand{{"run", "heavy_top", "--out", "result.txt"}, "ends with .csv or .h5"},
        BadCommand{{"run", "heavy_top", "--out", "no/such/directory/r.csv"},
                   "there is no folder 'no/such/directory'"}));

}  // namespace
}  // namespace liedyn::testing
