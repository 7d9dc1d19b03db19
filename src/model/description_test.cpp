#include "liedyn/model/description.h"

#include <functional>
#include <limits>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/params.h"

namespace liedyn {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

DescriptionBuilder::Parameter number(std::string name, double value) {
  return {.name = std::move(name), .value = value};
}
DescriptionBuilder::Parameter formula(std::string name, std::string text) {
  return {.name = std::move(name), .expression = std::move(text)};
}

// A rigid body with everything that is required.
bool begin_body(DescriptionBuilder& b, const std::string& name) {
  if (!b.begin(Section::Bodies, name, "rigid")) return false;
  b.values("mass", std::array{1.0});
  b.values("inertia", std::array{1.0, 1.0, 1.0});
  return true;
}
void add_body(DescriptionBuilder& b, const std::string& name) {
  begin_body(b, name);
  b.end();
}
void add_joint(DescriptionBuilder& b, const std::string& first, const std::string& second) {
  b.begin(Section::Joints, "pivot", "spherical");
  b.words("between", first, second);
  b.values("at", std::array{0.0, 0.0, 0.0});
  b.end();
}

struct Mistake {
  std::string title;
  std::function<void(DescriptionBuilder&)> build;
  std::string message;
};
void PrintTo(const Mistake& mistake, std::ostream* out) { *out << mistake.title; }

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreTheOnlyFinding) {
  DescriptionBuilder builder("test", "test.json", {number("m", 2), number("zero", 0)}, {0, 0, -9.81});
  GetParam().build(builder);
  try {
    builder.finish();
    FAIL() << "accepted: " << GetParam().title;
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().size(), 1u) << error.what();
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos) << error.what();
  }
}

using B = DescriptionBuilder;

INSTANTIATE_TEST_SUITE_P(
    Builder, Mistakes,
    testing::Values(
        Mistake{"unknown type",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "rigit");
                  b.values("mass", std::array{-1.0});
                  b.end();
                },
                "got 'rigit' (hint: did you mean 'rigid'?)"},
        Mistake{"missing type",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "");
                  b.end();
                },
                "bodies.top.type: missing, expected one of"},
        Mistake{"name taken",
                [](B& b) {
                  add_body(b, "top");
                  add_body(b, "top");
                },
                "bodies.top: this name is given twice"},
        Mistake{"name with a space", [](B& b) { add_body(b, "the top"); },
                "bodies.the top: expected a name of letters"},
        Mistake{"empty name", [](B& b) { add_body(b, ""); }, "expected a name of letters"},
        Mistake{"name begins with a digit", [](B& b) { add_body(b, "1st"); }, "expected a name of letters"},
        Mistake{"sensor called t", [](B& b) { b.begin(Section::Sensors, "t", "energy"), b.end(); },
                "sensors.t: 't' already has a meaning in expressions"},
        Mistake{"sensor called pi", [](B& b) { b.begin(Section::Sensors, "pi", "energy"), b.end(); },
                "sensors.pi: 'pi' already has a meaning in expressions"},
        Mistake{"beam called ground", [](B& b) { b.begin(Section::Beams, "ground", "rectangle"); },
                "beams.ground: 'ground' is the name of the inertial frame"},
        Mistake{"body called ground", [](B& b) { add_body(b, "ground"); },
                "'ground' is the name of the inertial frame"},
        Mistake{
            "unknown field",
            [](B& b) {
              begin_body(b, "top");
              b.values("postion", std::array{0.0, 0.0, 0.0});
              b.end();
            },
            "bodies.top.postion: unknown key 'postion' for the type rigid (hint: did you mean 'position'?)"},
        Mistake{"missing field",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "point");
                  b.end();
                },
                "bodies.top.mass: missing"},
        Mistake{"field twice",
                [](B& b) {
                  begin_body(b, "top");
                  b.values("mass", std::array{1.0});
                  b.end();
                },
                "bodies.top.mass: is given twice"},
        Mistake{"too few numbers",
                [](B& b) {
                  begin_body(b, "top");
                  b.values("position", std::array{0.0, 0.0});
                  b.end();
                },
                "bodies.top.position: expected 3 numbers, got 2"},
        Mistake{"inertia of four numbers",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "rigid");
                  b.values("mass", std::array{1.0});
                  b.values("inertia", std::array{1.0, 1.0, 1.0, 0.0});
                  b.end();
                },
                "bodies.top.inertia: expected 3 or 6 numbers, got 4"},
        Mistake{"negative mass",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "point");
                  b.values("mass", std::array{-1.0});
                  b.end();
                },
                "bodies.top.mass: expected a non-negative number, got -1"},
        Mistake{"not a number",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "point");
                  b.values("mass", std::array{kNotANumber});
                  b.end();
                },
                "bodies.top.mass: expected a finite number, got nan"},
        Mistake{"negative by expression",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "point");
                  b.values("mass", std::array{0.0});
                  b.expression("mass", 0, "-m");
                  b.end();
                },
                "bodies.top.mass: expected a non-negative number, got -2"},
        Mistake{"infinite by expression",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "point");
                  b.values("mass", std::array{0.0});
                  b.expression("mass", 0, "m/zero");
                  b.end();
                },
                "the expression 'm/zero' gives inf"},
        Mistake{"expression with a mistake",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "point");
                  b.values("mass", std::array{0.0});
                  b.expression("mass", 0, "2*");
                  b.end();
                },
                "bodies.top.mass: in the expression '2*', at character 3: expected a number"},
        Mistake{"mass that varies with time",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "point");
                  b.values("mass", std::array{0.0});
                  b.expression("mass", 0, "t+1");
                  b.end();
                },
                "uses the time t, but this value must not depend on time"},
        Mistake{"numbers for words",
                [](B& b) {
                  b.begin(Section::Joints, "j", "spherical");
                  b.values("between", std::array{1.0, 2.0});
                  b.values("at", std::array{0.0, 0.0, 0.0});
                  b.end();
                },
                "joints.j.between: expected strings, got numbers"},
        Mistake{"word for numbers",
                [](B& b) {
                  begin_body(b, "top");
                  b.word("position", "here");
                  b.end();
                },
                "bodies.top.position: expected numbers, got 'here'"},
        Mistake{"unknown choice",
                [](B& b) {
                  begin_body(b, "top");
                  b.word("formulation", "se(3)");
                  b.end();
                },
                "got 'se(3)' (hint: did you mean 'se3'?)"},
        Mistake{"consistent mass",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "point");
                  b.consistent("mass");
                  b.end();
                },
                "bodies.top.mass: \"consistent\" is not allowed here"},
        Mistake{"dangling reference",
                [](B& b) {
                  add_body(b, "top");
                  add_joint(b, "ground", "topp");
                },
                "joints.pivot.between: there is no body 'topp' (hint: did you mean 'top'?)"},
        Mistake{"the same body twice",
                [](B& b) {
                  add_body(b, "top");
                  add_joint(b, "top", "top");
                },
                "expected two different bodies, got 'top' twice"},
        Mistake{"one body of two",
                [](B& b) {
                  b.begin(Section::Joints, "j", "spherical");
                  b.word("between", "ground");
                  b.values("at", std::array{0.0, 0.0, 0.0});
                  b.end();
                },
                "joints.j.between: expected two names, got 'ground'"},
        Mistake{"joint that does not exist",
                [](B& b) {
                  b.begin(Section::Sensors, "f", "reaction_force");
                  b.word("of", "pivot");
                  b.end();
                },
                "sensors.f.of: there is no joint 'pivot'"},
        Mistake{"reference to a body of unknown type",
                [](B& b) {
                  b.begin(Section::Bodies, "top", "rigit");
                  b.end();
                  add_joint(b, "ground", "top");
                },
                "bodies.top.type"},
        Mistake{"zero quaternion",
                [](B& b) {
                  begin_body(b, "top");
                  b.values("orientation", std::array{0.0, 0.0, 0.0, 0.0}, 0, RotationForm::Quaternion);
                  b.end();
                },
                "bodies.top.orientation: expected a quaternion"},
        Mistake{"zero axis",
                [](B& b) {
                  begin_body(b, "top");
                  b.values("orientation", std::array{0.0, 0.0, 0.0, 1.0}, 0, RotationForm::AxisAngle);
                  b.end();
                },
                "expected an axis that is not zero"},
        Mistake{"shear instead of a rotation",
                [](B& b) {
                  begin_body(b, "top");
                  b.values("orientation", std::array{1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, 0,
                           RotationForm::Matrix);
                  b.end();
                },
                "R^T R differs from the identity by 1"},
        Mistake{"reflection instead of a rotation",
                [](B& b) {
                  begin_body(b, "top");
                  b.values("orientation", std::array{1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0}, 0,
                           RotationForm::Matrix);
                  b.end();
                },
                "got a reflection"}));

struct ParameterMistake {
  std::vector<DescriptionBuilder::Parameter> parameters;
  std::string message;
};
void PrintTo(const ParameterMistake& mistake, std::ostream* out) { *out << mistake.message; }
class ParameterMistakes : public testing::TestWithParam<ParameterMistake> {};

TEST_P(ParameterMistakes, AreTheOnlyFinding) {
  DescriptionBuilder builder("test", "", GetParam().parameters, {0, 0, 0});
  ASSERT_EQ(builder.findings().size(), 1u);
  EXPECT_NE(to_string(builder.findings()[0]).find(GetParam().message), std::string::npos)
      << to_string(builder.findings()[0]);
}

INSTANTIATE_TEST_SUITE_P(
    Builder, ParameterMistakes,
    testing::Values(
        ParameterMistake{{number("a", 1), number("a", 2)}, "parameters.a: is defined twice"},
        ParameterMistake{{number("t", 1)}, "'t' already has a meaning"},
        ParameterMistake{{number("pi", 3)}, "'pi' already has a meaning"},
        ParameterMistake{{number("a-b", 1)}, "expected a name of letters"},
        ParameterMistake{{number("a", kNotANumber)}, "expected a finite number"},
        ParameterMistake{{formula("a", "2*b"), number("b", 1)}, "uses 'b', which is defined later"},
        ParameterMistake{{formula("a", "a+1")}, "uses 'a', which is defined later"},
        ParameterMistake{{formula("a", "1/0")}, "gives inf"},
        ParameterMistake{{formula("a", "1/"), formula("b", "2*a")}, "parameters.a: in the expression '1/'"}));

TEST(Builder, ReportsEveryMistakeInTheOrderOfLines) {
  DescriptionBuilder builder("test", "model.json", {}, {0, 0, 0});
  builder.begin(Section::Joints, "pivot", "spherical", 9);
  builder.words("between", "ground", "top", 10);
  builder.end();
  builder.begin(Section::Bodies, "ball", "point", 3);
  builder.values("mass", std::array{-1.0}, 4);
  builder.values("colour", std::array{1.0}, 5);
  builder.end();
  try {
    builder.finish();
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "model.json:4: bodies.ball.mass: expected a non-negative number, got -1\n"
        "model.json:5: bodies.ball.colour: unknown key 'colour' for the type point (hint: it has "
        "mass, position, velocity)\n"
        "model.json:9: joints.pivot.at: missing: Position of the joint in the initial configuration, "
        "inertial axes.\n"
        "model.json:9: joints.pivot.between: there is no body 'top'");
  }
}

TEST(Builder, CountsTheFindingsItDoesNotShow) {
  DescriptionBuilder builder("test", "", {}, {0, 0, 0});
  for (int i = 0; i < 250; ++i) add_body(builder, fmt::format("{}", i));
  try {
    builder.finish();
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().size(), 101u);
    EXPECT_EQ(error.diagnostics().back().message, "150 more messages are not shown");
  }
}

// A model with one of everything that has numbers.
std::shared_ptr<const Description> example() {
  DescriptionBuilder b("example", "", {number("m", 2), formula("double_m", "2*m")}, {0, 0, 0});
  b.gravity_expression(2, "-m", 1);
  b.begin(Section::Bodies, "top", "rigid");
  b.values("mass", std::array{0.0});
  b.expression("mass", 0, "double_m + 1");
  b.values("inertia", std::array{0.1, 0.2, 0.3});
  b.values("orientation", std::array{0.0, 0.0, 1.0, 0.5}, 0, RotationForm::AxisAngle);
  b.consistent("velocity");
  b.end();
  b.begin(Section::Joints, "rod", "distance");
  b.words("between", "ground", "top");
  b.values("points", std::array{0.0, 0.0, 0.0, 1.0, 2.0, 3.0});
  b.end();
  b.begin(Section::Forces, "push", "force");
  b.word("on", "top");
  b.values("force", std::array{0.0, 5.0, 0.0});
  b.expression("force", 0, "m*cos(t)");
  b.end();
  return std::make_shared<const Description>(b.finish());
}

TEST(Builder, StoresWhatWasGivenAndDefaults) {
  const auto description = example();
  const Entry& top = description->entries(Section::Bodies).at(0);
  const auto value = [&](const char* field) {
    return top.fields[static_cast<std::size_t>(top.kind->field(field))];
  };
  EXPECT_TRUE(value("mass").given);
  EXPECT_EQ(value("inertia").count, 6);
  EXPECT_FALSE(value("position").given);
  EXPECT_EQ(value("position").count, 3);
  EXPECT_TRUE(value("velocity").consistent);
  EXPECT_EQ(value("velocity").first, -1);
  EXPECT_EQ(value("orientation").form, RotationForm::AxisAngle);
  EXPECT_EQ(description->parameters[static_cast<std::size_t>(value("mass").first)], 5);
}

TEST(Params, EveryNumberIsFoundByItsPath) {
  const Params params(example());
  for (int i = 0; i < params.size(); ++i) EXPECT_EQ(params.find(params.path(i)), i) << params.path(i);
  EXPECT_EQ(params.find("m"), params.find("parameters.m"));
  EXPECT_EQ(params.get(params.find("bodies.top.inertia[1]")), 0.2);
  EXPECT_EQ(params.get(params.find("bodies.top.orientation.axis[2]")), 1);
  EXPECT_EQ(params.get(params.find("bodies.top.orientation.angle")), 0.5);
  EXPECT_EQ(params.get(params.find("joints.rod.points[1][2]")), 3);
  EXPECT_EQ(params.get(params.find("gravity[2]")), -2);
}

TEST(Params, ExpressionsFollowTheirParameters) {
  Params params(example());
  params.set("m", 10);
  EXPECT_EQ(params.get(params.find("double_m")), 20);
  EXPECT_EQ(params.get(params.find("bodies.top.mass")), 21);
  EXPECT_EQ(params.get(params.find("gravity[2]")), -10);
  EXPECT_EQ(params.get(params.find("forces.push.force[0]")), 10);
  ASSERT_EQ(params.timed().size(), 1u);
  EXPECT_EQ(params.timed()[0].number, params.find("forces.push.force[0]"));
}

TEST(Params, AnExpressionThatIsSetBecomesAConstant) {
  Params params(example());
  params.set("bodies.top.mass", 3);
  params.set("forces.push.force[0]", 4);
  params.set("m", 10);
  EXPECT_EQ(params.get(params.find("bodies.top.mass")), 3);
  EXPECT_EQ(params.get(params.find("forces.push.force[0]")), 4);
  EXPECT_TRUE(params.timed().empty());
}

TEST(Params, AValueOutOfRangeChangesNothing) {
  Params params(example());
  const std::vector<double> before = params.values();
  EXPECT_THROW(params.set("bodies.top.mass", -1), InputError);
  EXPECT_THROW(params.set("gravity[0]", kNotANumber), InputError);
  EXPECT_THROW(params.set("m", -10), InputError) << "the mass of top follows from m";
  EXPECT_EQ(params.values(), before);
}

struct WrongPath {
  std::string path;
  std::string message;
};
void PrintTo(const WrongPath& wrong, std::ostream* out) { *out << wrong.path; }
class WrongPaths : public testing::TestWithParam<WrongPath> {};

TEST_P(WrongPaths, AreExplained) {
  const Params params(example());
  try {
    params.find(GetParam().path);
    FAIL() << "found " << GetParam().path;
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find(GetParam().message), std::string::npos) << error.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    Params, WrongPaths,
    testing::Values(
        WrongPath{"duble_m", "did you mean 'double_m'?"},
        WrongPath{"parameters.q", "the parameters are m, double_m"}, WrongPath{"", "there is no parameter"},
        WrongPath{"joint.rod.length", "did you mean 'joints'?"},
        WrongPath{"bodies", "expected bodies.NAME.FIELD"},
        WrongPath{"bodies.tip.mass", "did you mean 'top'?"},
        WrongPath{"bodies.top", "expected bodies.top.FIELD"},
        WrongPath{"bodies.top.mas", "did you mean 'mass'?"}, WrongPath{"bodies.top.mass[0]", "expected mass"},
        WrongPath{"bodies.top.inertia[6]", "expected inertia[0] ... inertia[5]"},
        WrongPath{"bodies.top.inertia", "expected inertia[0]"},
        WrongPath{"bodies.top.velocity[0]", "\"consistent\""},
        WrongPath{"bodies.top.angular_velocity_inertial[0]", "is not given in the model"},
        WrongPath{"joints.rod.between", "'between' is not a number"},
        WrongPath{"gravity", "expected gravity[0]"}, WrongPath{"gravity[3]", "expected gravity[0]"}));

}  // namespace
}  // namespace liedyn
