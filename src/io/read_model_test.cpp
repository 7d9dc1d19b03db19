#include "liedyn/io/read_model.h"

#include <chrono>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/base/paths.h"
#include "liedyn/io/json.h"
#include "liedyn/model/model.h"
#include "liedyn/model/params.h"

namespace liedyn {
namespace {

// One of everything the reader can read.
constexpr const char* kExample =
    R"json({ "$schema": "x", "liedyn": 1, "name": "example", "description": "for tests",
  "parameters": { "m": 2, "length": "m/4" },
  "gravity": [0, 0, "-m*5"],
  "bodies": {
    "a": { "type": "rigid", "mass": "m", "inertia": [[1, 0.1, 0], [0.1, "m", "length"], [0, "length", 1.5]],
           "orientation": { "axis": [0, 0, 1], "angle": "pi/2" }, "velocity": "consistent" },
    "b": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1, 0, 0, 0.25], "orientation": { "quaternion": [1, 0, 0, 0] } },
    "c": { "type": "point", "mass": 3, "position": [1, 2, 3] } },
  "joints": {
    "rod": { "type": "distance", "between": ["a", "c"], "points": [[0, 0, 0], ["m", 2, 3]] } },
  "forces": { "push": { "type": "force", "on": "b", "force": ["m*sin(t)", 0, 0], "axes": "body" } },
  "states": {},
  "sensors": { "place": { "type": "position", "of": "a" }, "sum": { "type": "expression", "value": "place[0] + t" } },
  "simulation": { "start": 1, "end": "1 + m", "step": 0.5, "integrator": "generalized-alpha,rho=0.5",
                  "formulation": "se3", "initial": "project", "output_every": 10 } })json";

TEST(ReadModel, ManyParametersThatDependOnEachOtherTakeLinearTime) {
  // The best of three, as other processes may hold a run up.
  std::map<int, double> seconds = {{5'000, 1e300}, {50'000, 1e300}};
  for (int attempt = 0; attempt < 6; ++attempt) {
    const int count = attempt % 2 == 0 ? 5'000 : 50'000;
    std::string text = R"({ "liedyn": 1, "parameters": { "p0": 1)";
    for (int i = 1; i < count; ++i) text += fmt::format(R"(, "p{}": "p{} + 1")", i, i - 1);
    text += " } }";
    const auto begin = std::chrono::steady_clock::now();
    const auto description = std::make_shared<const Description>(read_model_text(text, "many.json"));
    const Params params(description);
    seconds[count] = std::min(
        seconds[count], std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    EXPECT_EQ(params.values()[static_cast<std::size_t>(count - 1)], count);
  }
  fmt::print("  5 000 parameters: {:.3f} s, 50 000: {:.3f} s\n", seconds[5'000], seconds[50'000]);
  EXPECT_LT(seconds[50'000], 40 * std::max(seconds[5'000], 1e-3)) << "quadratic: 100";
}

TEST(ReadModel, MatricesAreSymmetricUpToRoundOff) {
  const auto read = [](const std::string& entry) {
    return read_model_text(fmt::format(R"({{ "liedyn": 1, "bodies": {{ "b": {{ "type": "rigid", "mass": 1,
      "inertia": [[1, {}, 0], [0.1, 1, 0], [0, 0, 1]] }} }} }})",
                                       entry),
                           "model.json");
  };
  const Description d = read("0.10000000000000003");
  const Params params(std::make_shared<const Description>(d));
  EXPECT_NEAR(params.get(params.find("bodies.b.inertia[5]")), 0.1, 1e-15);
  EXPECT_NO_THROW(read("0.1000003"));  // written with six digits
  EXPECT_THROW(read("0.100003"), InputError);
}

TEST(ReadModel, NumbersMayStandWhereExpressionsMay) {
  const Description d = read_model_text(R"({ "liedyn": 1,
    "bodies": { "arm": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1], "position": [1, 0, 0] } },
    "joints": { "h": { "type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1] } },
    "forces": { "motor": { "type": "joint_effort", "joint": "h", "effort": 5 } },
    "states": { "x": { "type": "integral", "input": -2.5 } },
    "sensors": { "five": { "type": "expression", "value": 5, "unit": "N m" } } })",
                                        "model.json");
  const auto model = Model::compile(std::make_shared<const Description>(d));
  EXPECT_EQ(model->unit_of(model->sensors[0]), "N m");
}

double number(const Description& description, const std::string& path) {
  const Params params(std::make_shared<const Description>(description));
  return params.get(params.find(path));
}

TEST(ReadModel, ReadsEverySection) {
  const Description d = read_model_text(kExample, "example.json");
  EXPECT_EQ(d.name, "example");
  EXPECT_EQ(d.entries(Section::Bodies).size(), 3u);
  EXPECT_EQ(d.entries(Section::Joints).size(), 1u);
  EXPECT_EQ(d.entries(Section::Forces).size(), 1u);
  EXPECT_EQ(d.entries(Section::Sensors).size(), 2u);
  EXPECT_EQ(d.entries(Section::Bodies)[1].line, 7);
  EXPECT_EQ(number(d, "gravity[2]"), -10);
  EXPECT_EQ(number(d, "bodies.a.mass"), 2);
  EXPECT_EQ(number(d, "bodies.a.orientation.angle"), std::acos(-1.0) / 2);
  EXPECT_EQ(number(d, "bodies.b.orientation.quaternion[0]"), 1);
  EXPECT_EQ(number(d, "joints.rod.points[1][0]"), 2);
  EXPECT_EQ(number(d, "forces.push.force[0]"), 2 * std::sin(1.0)) << "expressions of t hold at the start";
}

TEST(ReadModel, FunctionsOfTimeMayBeObjects) {
  const auto at_one = [](const std::string& load) {
    return number(
        read_model_text(
            R"({ "liedyn": 1, "parameters": { "a": 2 }, "bodies": { "b": { "type": "point", "mass": 1 } },
      "forces": { "push": { "type": "force", "on": "b", "force": [)" +
                load + R"(, 0, 0] } }, "simulation": { "start": 1, "end": 2 } })",
            "m.json"),
        "forces.push.force[0]");
  };
  EXPECT_EQ(at_one(R"({ "polynomial": [1, "a", 3] })"), 6);
  EXPECT_NEAR(at_one(R"({ "harmonic": { "amplitude": "a", "frequency": 0.25, "offset": 5 } })"), 7, 1e-15);
  EXPECT_NEAR(at_one(R"({ "step": { "start": 0, "end": "a", "from": 1, "to": -3 } })"), -1, 1e-15);
  EXPECT_NEAR(at_one(R"({ "table": [[0, 0], [2, 5], [4, 0]] })"), 3.4375, 1e-15);
  for (const char* wrong :
       {R"({ "polynomial": [] })", R"({ "harmonic": { "amplitude": 1 } })",
        R"({ "step": { "start": 0, "end": 1, "too": 2 } })", R"({ "table": [[0, 0], [0, 5]] })",
        R"({ "table": [[0]] })", R"({ "tabel": [[0, 1]] })", "{}"})
    try {
      at_one(wrong);
      FAIL() << wrong << " was accepted";
    } catch (const InputError& error) {
      fmt::print("  {}\n", error.what());
    }
}

TEST(ReadModel, InertiaIsStoredInOneOrderHoweverItIsWritten) {
  const Description d = read_model_text(kExample, "");
  const double matrix[] = {1, 2, 1.5, 0.5, 0, 0.1};
  const double six[] = {1, 1, 1, 0, 0, 0.25};
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(number(d, fmt::format("bodies.a.inertia[{}]", i)), matrix[i]) << i;
    EXPECT_EQ(number(d, fmt::format("bodies.b.inertia[{}]", i)), six[i]) << i;
  }
  Params params(std::make_shared<const Description>(d));
  params.set("m", 1);
  EXPECT_EQ(params.get(params.find("bodies.a.inertia[3]")), 0.25) << "yz is an expression of m";
}

TEST(ReadModel, ReadsTheSimulationSettings) {
  const SimulationSettings s = read_model_text(kExample, "").simulation;
  EXPECT_EQ(s.start, 1);
  EXPECT_EQ(s.end, 3);
  EXPECT_EQ(s.step, 0.5);
  EXPECT_EQ(s.integrator, "generalized-alpha,rho=0.5");
  EXPECT_EQ(s.formulation, "se3");
  EXPECT_EQ(s.initial, "project");
  EXPECT_EQ(s.output_every, 10);
}

TEST(ReadModel, AssignedParametersReachTheSettings) {
  std::vector<Assignment> assignments = {{"m", 7}, {"bodies.c.mass", 4}};
  const Description d = read_model_text(kExample, "", assignments);
  EXPECT_EQ(d.simulation.end, 8);
  EXPECT_EQ(number(d, "length"), 7.0 / 4);
  ASSERT_EQ(assignments.size(), 1u) << "what is left is for Params";
  EXPECT_EQ(assignments[0].path, "bodies.c.mass");
}

TEST(ReadModel, NameComesFromTheFile) {
  constexpr const char* text = R"({"liedyn": 1})";
  EXPECT_EQ(read_model_text(text, "some/where/arm.json").name, "arm");
  EXPECT_EQ(read_model_text(text, "models/heavy_top/model.json").name, "heavy_top");
}

TEST(ReadModel, ShippedModelsAreReadByName) {
  ASSERT_FALSE(model_names().empty());
  for (const std::string& name : model_names()) {
    const Description d = read_model(name);
    EXPECT_EQ(d.name, name);
    EXPECT_FALSE(d.entries(Section::Bodies).empty()) << name;
  }
}

TEST(ReadModel, AnUnknownNameIsExplained) {
  try {
    read_model("heavy_tpo");
    FAIL() << "found";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "there is no model 'heavy_tpo', neither a file nor a shipped model (hint: did you mean "
                 "'heavy_top'?)");
  }
}

TEST(ReadModel, EveryMistakeOfAFileIsReportedWithLineAndPath) {
  constexpr const char* text = R"json({ "liedyn": 2,
  "gravty": [0, 0, -9.81],
  "parameters": { "spin": true },
  "bodies": {
    "top": { "type": "rigid", "mass": "15*", "inertia": [1, 2],
             "position": [0, null, 0], "orientation": { "euler": [0, 0, 0] } },
    "top": { "type": "point", "mass": 1 },
    "ball": 3 },
  "joints": {
    "pivot": { "type": "spherical", "between": ["ground", "tip"] } },
  "simulation": { "end": -1, "stepp": 1, "initial": "projct" } })json";
  constexpr const char* messages =
      R"text(m.json:1: liedyn: expected the version 1, got 2 (hint: this program reads no other version)
m.json:2: gravty: unknown key (hint: did you mean 'gravity'?)
m.json:3: parameters.spin: expected a number or an expression, got true
m.json:5: bodies.top.mass: in the expression '15*', at character 4: expected a number, a name or '(', found the end
m.json:5: bodies.top.inertia: expected 3 principal moments, 6 numbers (xx, yy, zz, yz, xz, xy) or a 3x3 matrix, got an array of 2
m.json:6: bodies.top.position: expected a number or an expression as number 2, got null
m.json:6: bodies.top.orientation.euler: unknown key, expected {"rotation_vector": [3 numbers]}, {"cardan": [3]}, {"quaternion": [4]}, {"axis": [3], "angle": a} or {"matrix": [3 rows of 3]}
m.json:7: bodies.top: this key is given twice
m.json:8: bodies.ball: expected an object, got 3
m.json:10: joints.pivot.at: missing: Position of the joint in the initial configuration, inertial axes.
m.json:10: joints.pivot.between: there is no body 'tip' (hint: did you mean 'top'?)
m.json:11: simulation.stepp: unknown key (hint: did you mean 'step'?)
m.json:11: simulation.initial: expected one of check, project, got 'projct' (hint: did you mean 'project'?)
m.json:11: simulation.end: expected a time after the start (0), got -1)text";
  try {
    read_model_text(text, "m.json");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), messages);
  }
}

// Words of other programs, and types that belong in another section.
TEST(ReadModel, WordsOfOtherProgramsAreExplained) {
  const auto message = [](const std::string& text) {
    try {
      read_model_text(text, "m.json");
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(
      message(R"json({ "liedyn": 1, "simulation": { "dt": 1e-3, "duration": 2, "solver": "rk44" } })json"),
      "m.json:1: simulation.dt: unknown key (hint: did you mean 'step'?)\n"
      "m.json:1: simulation.duration: unknown key (hint: did you mean 'end'?)\n"
      "m.json:1: simulation.solver: unknown key (hint: did you mean 'integrator'?)");
  const std::string body = R"json({ "liedyn": 1, "bodies": { "a": { "type": "point", "mass": 1 } }, )json";
  for (const auto& [entry, hint] :
       {std::pair<std::string, std::string>{
            R"json("joints": { "s": { "type": "spring_damper" } } })json",
            "got 'spring_damper' (hint: 'spring_damper' belongs in the section forces)"},
        {R"json("forces": { "s": { "type": "revolute" } } })json",
         "got 'revolute' (hint: 'revolute' belongs in the section joints)"},
        {R"json("sensors": { "s": { "type": "rigid" } } })json",
         "got 'rigid' (hint: 'rigid' belongs in the section bodies)"}})
    EXPECT_THAT(message(body + entry), ::testing::HasSubstr(hint));
}

// The shipped models that are made by repetition. The paths of the program find them by name.
Description shipped(const std::string& name, std::vector<Assignment> set = {}) {
  Description out = read_model(name, set);
  EXPECT_TRUE(set.empty()) << name;
  return out;
}

TEST(RepeatedModels, AChainHasTheLinksOfTheArgument) {
  for (const char* path : {"links", "arguments.links"}) {
    const Description d = shipped("chain", {{path, 3}});
    EXPECT_EQ(d.entries(Section::Bodies).size(), 3u);
    EXPECT_EQ(d.entries(Section::Joints).size(), 3u);
    EXPECT_EQ(number(d, "gravity[2]"), -9.81);
    EXPECT_EQ(number(d, "bodies.link3.position[0]"), 2.5);
    EXPECT_EQ(number(d, "joints.j1.at[0]"), 0);
    EXPECT_EQ(number(d, "sensors.tip.at[0]"), 3);
  }
  EXPECT_EQ(shipped("chain").entries(Section::Bodies).size(), 10u);
}

TEST(RepeatedModels, RingAndNetHaveTheLinksOfTheirArguments) {
  const Description ring = shipped("ring", {{"links", 4}});
  EXPECT_EQ(ring.entries(Section::Bodies).size(), 4u);
  EXPECT_EQ(ring.entries(Section::Joints).size(), 5u) << "four knots, and one that is held";
  EXPECT_NEAR(number(ring, "sensors.far.at[0]"), std::sqrt(2.0), 1e-15) << "the diagonal of a square";

  const Description net = shipped("net", {{"rows", 2}, {"columns", 3}});
  EXPECT_EQ(net.entries(Section::Bodies).size(), 6u);
  EXPECT_EQ(net.entries(Section::Joints).size(), 8u) << "chains 1 and 2 touch at knot 1, 2 and 3 at knot 2";
  EXPECT_NEAR(number(net, "joints.knot1_1.at[1]"), number(net, "joints.j2_2.at[1]"), 1e-15)
      << "they meet at one place";
  EXPECT_NEAR(number(net, "sensors.corner.at[0]"), 1.6, 1e-15);
}

TEST(RepeatedModels, RefuseSizesTheyCannotHave) {
  const std::tuple<const char*, std::vector<Assignment>, const char*> cases[] = {
      {"ring", {{"links", 2}}, "arguments.links: expected at least 3, got 2"},
      {"chain", {{"links", 0}}, "arguments.links: expected at least 1, got 0"},
      {"chain", {{"links", 2.5}}, "expected whole numbers, got 2.5"},
      {"chain", {{"links", 1e12}}, "arguments.links: expected at most 1000000, got 1000000000000"},
      {"net", {{"rows", 100000}, {"columns", 1000}}, "arguments.rows: expected at most 3000, got 100000"}};
  for (const auto& [name, set, message] : cases) try {
      std::vector<Assignment> assignments = set;
      read_model(name, assignments);
      FAIL() << "accepted: " << name << " " << message;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
}

std::string wing(const std::string& elements, const std::string& stiffness = "[9, 8, 7, 6, 5, 4]") {
  return R"({"liedyn": 1, "beams": {"wing": {"type": "matrix", "from": [0, 0, 0], "to": [1, 0, 0], "elements": )" +
         elements + R"(, "stiffness": )" + stiffness +
         R"(, "mass_per_length": 1, "inertia_per_length": [1, 1, 1]}}})";
}

TEST(Beams, HaveAsManyElementsAsTheFileOrTheUserSays) {
  EXPECT_EQ(read_model_text(wing("4"), "").entries(Section::Bodies).size(), 5u);
  std::vector<Assignment> assignments = {{"beams.wing.elements", 7}};
  const Description d = read_model_text(wing("4"), "", assignments);
  EXPECT_EQ(d.entries(Section::Bodies).size(), 8u);
  EXPECT_TRUE(assignments.empty());
  EXPECT_EQ(number(d, "beams.wing.stiffness[2][2]"), 7);
  EXPECT_EQ(number(d, "beams.wing.stiffness[2][1]"), 0);
  EXPECT_THROW(number(d, "beams.wing.elements"), InputError) << "it determines the structure of the model";
}

// A point, or a list of points with an expression among their numbers.
TEST(Beams, GoThroughOnePointOrSeveral) {
  const auto through = [](const std::string& points) {
    return R"({"liedyn": 1, "parameters": {"h": 0.2}, "beams": {"wing": {"type": "circle", "from": [0, 0, 0], "to": [3, 0, 0],
      "elements": 4, "radius": 0.1, "young": 1, "density": 1, "through": )" +
           points + "}}}";
  };
  EXPECT_EQ(number(read_model_text(through("[1, 0.5, 0]"), ""), "beams.wing.through[1]"), 0.5);
  const Description several = read_model_text(through(R"([[1, "h", 0], [2, "2*h", 0.1]])"), "");
  EXPECT_EQ(number(several, "beams.wing.through[1][1]"), 0.4);
  EXPECT_EQ(number(several, "beams.wing.through[1][2]"), 0.1);
  const auto mistake = [&](const std::string& points) -> std::string {
    try {
      read_model_text(through(points), "");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(mistake("[[1, 2, 3], [4, 5]]").find("expected 3 numbers in point 2"), std::string::npos)
      << mistake("[[1, 2, 3], [4, 5]]");
  EXPECT_NE(mistake("[]").find("expected 3 numbers"), std::string::npos) << mistake("[]");
  std::string many = "[[0.01, 0, 0]";
  for (int i = 2; i <= 81; ++i) many += fmt::format(", [{}, 0, 0]", 0.01 * i);
  EXPECT_NE(mistake(many + "]").find("expected at most 80 points, got 81"), std::string::npos)
      << mistake(many + "]");
}

// Whole numbers that a file leaves out may be set from outside all the same.
TEST(Flexible, ModesThatAreNotInTheFileMayBeSet) {
  const std::string text =
      R"({"liedyn": 1, "flexible": {"block": {"type": "brick", "size": [1, 0.2, 0.1], "divisions": [4, 1, 1],
      "young": 1e9, "density": 1000}}})";
  const auto bodies = [&](std::vector<Assignment> assignments) {
    const std::size_t count = read_model_text(text, "", assignments).entries(Section::Bodies).size();
    EXPECT_TRUE(assignments.empty());
    return count;
  };
  EXPECT_EQ(bodies({}), 1U + 2U);
  EXPECT_EQ(bodies({{"flexible.block.modes", 12}}), 1U + 4U);
}

TEST(Beams, WrongNumbersAreExplained) {
  const auto complaint = [](const std::string& text) -> std::string {
    try {
      read_model_text(text, "");
      return "accepted";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  const std::pair<std::string, std::string> cases[] = {
      {wing("0"), "beams.wing.elements: expected a positive"},
      {wing("2.5"), "beams.wing.elements: expected a whole number"},
      {wing("1e12"), "beams.wing.elements: expected at most 1000000"},
      {wing("\"n\""),
       "beams.wing.elements: expected a whole number, got 'n' (hint: it determines the structure of the "
       "model"},
      {wing("\"n\""), "--set beams.wing.elements=N"},
      {wing("2", "[1, 2]"), "expected 6 rows of 6 numbers or the 6 numbers of the diagonal"},
      {wing("2", "[[1,2,0,0,0,0],[0,1,0,0,0,0],[0,0,1,0,0,0],[0,0,0,1,0,0],[0,0,0,0,1,0],[0,0,0,0,0,1]]"),
       "expected a symmetric matrix, but [0][1] and [1][0] differ"}};
  for (const auto& [text, message] : cases)
    EXPECT_NE(complaint(text).find(message), std::string::npos) << complaint(text);
}

TEST(RepeatedModels, ALongChainIsMadeQuickly) {
  const auto begin = std::chrono::steady_clock::now();
  const Description d = shipped("chain", {{"links", 30000}});
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  EXPECT_EQ(d.entries(Section::Bodies).size(), 30000u);
  EXPECT_LT(seconds, 10) << "the release build needs about 0.4 s; this bound only finds quadratic time";
}

struct WrongAssignment {
  const char* text;
  const char* message;
};
void PrintTo(const WrongAssignment& wrong, std::ostream* out) { *out << wrong.text; }
class WrongAssignments : public testing::TestWithParam<WrongAssignment> {};

TEST_P(WrongAssignments, AreExplained) {
  try {
    std::vector<Assignment> assignments = {parse_assignment(GetParam().text)};
    read_model_text(
        R"({"liedyn": 1, "arguments": {"links": {"value": 10, "least": 1, "most": 1e6}}, "parameters": {"spin": 1},
                        "repeat": [{"for": {"i": [1, "links"]}, "bodies": {"b{i}": {"type": "point", "mass": 1}}}]})",
        "", assignments);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    ReadModel, WrongAssignments,
    testing::Values(WrongAssignment{"links", "expected PATH=VALUE, got 'links'"},
                    WrongAssignment{"=3", "expected PATH=VALUE"},
                    WrongAssignment{"links=", "expected a finite number, got ''"},
                    WrongAssignment{"links=ten", "expected a finite number, got 'ten'"},
                    WrongAssignment{"links=1/0", "expected a finite number"},
                    WrongAssignment{"links=2.5", "expected whole numbers, got 2.5"},
                    WrongAssignment{"links=0", "arguments.links: expected at least 1, got 0"},
                    WrongAssignment{"links=1e12",
                                    "arguments.links: expected at most 1000000, got 1000000000000"},
                    WrongAssignment{"link=3", "did you mean 'links'?"},
                    WrongAssignment{"spni=3", "did you mean 'spin'?"}));

TEST(ParseAssignment, TakesExpressionsOfNumbers) {
  const Assignment a = parse_assignment("bodies.top.angular_velocity[1]=2*pi*25");
  EXPECT_EQ(a.path, "bodies.top.angular_velocity[1]");
  EXPECT_DOUBLE_EQ(a.value, 50 * std::acos(-1.0));
}

// Reads and, if that works, compiles. Anything but success or an InputError fails the test (or crashes it).
bool is_accepted(std::string_view text) {
  try {
    Model::compile(std::make_shared<const Description>(read_model_text(text, "fuzz.json")));
    return true;
  } catch (const InputError& error) {
    EXPECT_FALSE(error.diagnostics().empty()) << text;
    for (const Diagnostic& d : error.diagnostics()) EXPECT_LT(to_string(d).size(), 1500u) << to_string(d);
    return false;
  }
}

TEST(Hostile, EveryTruncationIsRefused) {
  const std::string text = kExample;
  ASSERT_TRUE(is_accepted(text));
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(is_accepted(std::string_view(text).substr(0, length))) << "cut after " << length << " bytes";
}

TEST(Hostile, RandomChangesNeverCrash) {
  std::mt19937 random(12345);
  const std::string alphabet = "{}[]\",:.-+*/^()0123456789eatn \n\\\xff\x80\x01";
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = kExample;
    const int changes = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = random() % text.size();
      const char c = alphabet[random() % alphabet.size()];
      switch (random() % 4) {
        case 0: text[at] = c; break;
        case 1: text.insert(at, 1, c); break;
        case 2: text.erase(at, 1 + random() % 5); break;
        default:
          text[at] = static_cast<char>(static_cast<unsigned char>(text[at]) ^ (1u << (random() % 8)));
          break;
      }
    }
    accepted += is_accepted(text) ? 1 : 0;
  }
  EXPECT_GT(accepted, 0) << "no change was harmless, so none got past the parser";
  EXPECT_LT(accepted, 3000);
}

TEST(Hostile, ManyMistakesAreReportedInReasonableTime) {
  std::string text = R"({"liedyn": 1, "bodies": {)";
  for (int i = 0; i < 20000; ++i)
    text += fmt::format(R"({}"body{}": {{"type": "point", "mass": 1}})", i > 0 ? "," : "", i);
  text += R"(}, "joints": {)";
  for (int i = 0; i < 20000; ++i)
    text +=
        fmt::format(R"({}"j{}": {{"type": "spherical", "between": ["ground", "bdy{}"], "at": [0, 0, 0]}})",
                    i > 0 ? "," : "", i, i);
  text += "}}";
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(is_accepted(text));
  EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), 10);
}

}  // namespace
}  // namespace liedyn
