// static, modes, linearize, assemble and kinematics as a user meets them.

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace liedyn::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kPendulum = R"json({ "liedyn": 1, "gravity": [0, -9.81, 0],
  "bodies": { "bob": { "type": "rigid", "mass": 2, "inertia": [0.1, 0.1, 0.2], "position": [0.7, 0, 0] } },
  "joints": { "hinge": { "type": "revolute", "between": ["ground", "bob"], "at": [0, 0, 0], "axis": [0, 0, 1] } },
  "forces": { "motor": { "type": "torque", "on": "bob", "torque": [0, 0, 0] } },
  "sensors": { "place": { "type": "position", "of": "bob" }, "force": { "type": "reaction_force", "of": "hinge" } },
  "simulation": { "end": 0.5, "step": 1e-3 } })json";

TEST(Static, FindsAnEquilibriumThatARunStartsFrom) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("pendulum.json", kPendulum), rest = directory.file("rest.json");
  const Outcome outcome = run_program({"static", model, "--out", rest});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* words : {"equilibrium in 1 load step", "stable", "force", "place", "run --from"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
  const Outcome run = run_program({"run", model, "--from", rest, "--json", "--formulation", "se3"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const nlohmann::json sensors = nlohmann::json::parse(run.out)["sensors"];
  EXPECT_NEAR(sensors["place"][1].get<double>(), -0.7, 1e-9);
  EXPECT_NEAR(sensors["force"][1].get<double>(), 2 * 9.81, 1e-6);
}

// Where a start would be refused, no start is promised; a body that is placed there in the model, as the hint says, rests where it is.
TEST(Static, PromisesNoStartWhereTurnsAreLost) {
  const TemporaryDirectory directory;
  const auto wound = [&](const std::string& name, const std::string& orientation, const std::string& free) {
    return directory.write(name, R"json({ "liedyn": 1,
      "bodies": { "A": { "type": "rigid", "mass": 2, "inertia": [0.02, 0.2, 0.2], "orientation": { "rotation_vector": [0, )json" +
                                     orientation + R"json(, 0] } } },
      "joints": { "j": { "type": "revolute", "between": ["ground", "A"], "at": [0, 0, 0], "axis": [0, -1, 0] } },
      "forces": { "s": { "type": "joint_spring", "joint": "j", "stiffness": 3, "damping": 0.5, "free": )json" +
                                     free + R"json( } },
      "simulation": { "end": 0.1, "step": 1e-3 } })json");
  };
  const std::string model = wound("wound.json", "0", "12"), rest = directory.file("rest.json");
  const Outcome outcome = run_program({"static", model, "--out", rest});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, ::testing::Not(HasSubstr("starts there")));
  EXPECT_THAT(outcome.out, HasSubstr("a run cannot start there: 'forces.s' depends on an angle"));
  EXPECT_THAT(outcome.out, HasSubstr("place the bodies near this position in the model"));
  EXPECT_EQ(run_program({"run", model, "--from", rest}).exit_code, 2);

  const std::string near = wound("near.json", "-12", "0");
  const Outcome again = run_program({"static", near, "--out", rest});
  EXPECT_THAT(again.out, HasSubstr("starts there")) << again.err;
  const Outcome run = run_program({"run", near, "--from", rest});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST(Static, NamesWhatNothingHolds) {
  const TemporaryDirectory directory;
  const std::string model = directory.write(
      "stone.json",
      R"json({ "liedyn": 1, "gravity": [0, 0, -9.81], "bodies": { "stone": { "type": "point", "mass": 1 } } })json");
  const Outcome outcome = run_program({"static", model});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("nothing supports body 'stone' along (0, 0, -1)"));
  const Outcome json = run_program({"static", model, "--json"});
  EXPECT_FALSE(nlohmann::json::parse(json.out)["converged"]);
}

// initial.JOINT and --from are the same start, of every command that starts somewhere; results say so.
TEST(StartValues, OfJointsAreSetLikeParameters) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("pendulum.json", kPendulum);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run"}, {"run", "--formulation", "minimal"}, {"assemble"}}) {
    std::vector<std::string> set = command, from = command;
    for (std::vector<std::string>* one : {&set, &from}) one->insert(one->end(), {model, "--json"});
    set.insert(set.end(), {"--set", "initial.hinge=-30*deg"});
    from.insert(from.end(), {"--from", "hinge=-30*deg"});
    const Outcome a = run_program(set), b = run_program(from);
    ASSERT_EQ(a.exit_code, 0) << a.err;
    ASSERT_EQ(b.exit_code, 0) << b.err;
    const nlohmann::json x = nlohmann::json::parse(a.out), y = nlohmann::json::parse(b.out);
    EXPECT_EQ(x["sensors"], y["sensors"]);
    if (command.front() == "run") {
      EXPECT_NEAR(x["set"]["initial.hinge"].get<double>(), -0.5235987755982988, 1e-15);
    }
  }
  // Given by both is an error that names both.
  const std::string file = directory.write("start.json", R"({"joints": {"hinge": "10*deg"}})");
  const Outcome both =
      run_program({"assemble", model, "--from", file, "--set", "initial.hinge=-30*deg", "--json"});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_NE(
      both.err.find("initial.hinge: the angle of this joint is given twice, by joints.hinge of " + file),
      std::string::npos)
      << both.err;
}

// A stiffness that grows with time: k = 5 + 3 t.
TEST(ModesCommand, HasATime) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("spring.json", R"json({ "liedyn": 1, "gravity": [0, 0, 0],
    "bodies": { "mass": { "type": "rigid", "mass": 2, "inertia": [1, 1, 1] } },
    "joints": { "rail": { "type": "prismatic", "between": ["ground", "mass"], "at": [0, 0, 0], "axis": [1, 0, 0] } },
    "forces": { "spring": { "type": "joint_spring", "joint": "rail", "stiffness": "5 + 3*t" } } })json");
  for (const double time : {0.0, 1.0, 4.0})
    for (const char* at : {"initial", "static"}) {
      const Outcome outcome =
          run_program({"modes", model, "--time", std::to_string(time), "--at", at, "--json"});
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
      const nlohmann::json found = nlohmann::json::parse(outcome.out);
      EXPECT_EQ(found["time"].get<double>(), time);
      EXPECT_NEAR(found["modes"][0]["frequency"].get<double>(),
                  std::sqrt((5 + 3 * time) / 2) / 6.283185307179586, 1e-9);
    }
}

// What acts along a coordinate has the unit of that coordinate.
TEST(ListCommand, ShowsSensorsWithTheirUnits) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("two.json", R"json({ "liedyn": 1,
    "bodies": { "a": { "type": "rigid", "mass": 2, "inertia": [1, 1, 1] }, "b": { "type": "rigid", "mass": 2, "inertia": [1, 1, 1] } },
    "joints": { "rail": { "type": "prismatic", "between": ["ground", "a"], "at": [0, 0, 0], "axis": [1, 0, 0] },
                "pin": { "type": "cylindrical", "between": ["a", "b"], "at": [0, 0, 0], "axis": [1, 0, 0] } },
    "forces": { "push": { "type": "joint_spring", "joint": "rail", "stiffness": 5 },
                "turn": { "type": "joint_spring", "joint": "pin", "stiffness": 5 },
                "slide": { "type": "joint_spring", "joint": "pin", "coordinate": "displacement", "stiffness": 5 },
                "rope": { "type": "spring_damper", "between": ["a", "b"], "points": [[0, 0, 0], [0, 0, 1]], "stiffness": 1 } },
    "sensors": { "f": { "type": "effort", "of": "push" }, "g": { "type": "effort", "of": "turn" },
                 "h": { "type": "effort", "of": "slide" }, "k": { "type": "effort", "of": "rope" },
                 "p": { "type": "position", "of": "a" }, "w": { "type": "work", "of": "push" } } })json");
  const Outcome outcome = run_program({"list", "sensors", model});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(
      outcome.out,
      "f = effort of push [N]\ng = effort of turn [N m]\nh = effort of slide [N]\nk = effort of rope [N]\n"
      "p[0..2] = position of a [m]\nw = work of push [J]\n");
  const Outcome run = run_program({"run", model, "--end", "0.01", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(nlohmann::json::parse(run.out)["units"]["g"], "N m");
}

TEST(ModesCommand, TabulatesAndWrites) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("pendulum.json", kPendulum);
  for (const char* name : {"m.csv", "m.json", "m.npz"}) {
    const Outcome outcome = run_program({"modes", model, "--at", "static", "--out", directory.file(name)});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
    for (const char* words : {"1 degree of freedom", "0.542", "bob 100 %"})
      EXPECT_THAT(outcome.out, HasSubstr(words));
    EXPECT_GT(std::filesystem::file_size(directory.file(name)), 0u);
  }
  EXPECT_THAT(
      content_of(directory.file("m.csv")),
      ::testing::StartsWith("mode,real,imaginary,frequency,damping_ratio,bob: displacement x (real)"));
  const Outcome moving = run_program({"modes", model, "--at", "0.1", "--json"});
  ASSERT_EQ(moving.exit_code, 0) << moving.err;
  EXPECT_THAT(moving.err, HasSubstr("neither an equilibrium nor a steady motion"));
  EXPECT_FALSE(nlohmann::json::parse(moving.out)["steady"]);
  EXPECT_EQ(run_program({"modes", model, "--at", "yesterday"}).exit_code, 2);
  EXPECT_EQ(run_program({"modes", model, "--out", "modes.xls"}).exit_code, 2);
  EXPECT_EQ(run_program({"modes", model, "--solver", "magic"}).exit_code, 2);
}

TEST(ModesCommand, LargeModelsAreSparse) {
  const Outcome outcome =
      run_program({"modes", "chain", "--set", "links=150", "--at", "static", "--count", "6", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json found = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(found["solver"], "sparse");
  EXPECT_EQ(found["modes"].size(), 6u);
}

TEST(Linearize, WritesEveryFormat) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("pendulum.json", kPendulum);
  for (const char* extension : {"npz", "json", "mtx", "csv"}) {
    const Outcome outcome =
        run_program({"linearize", model, "--at", "static", "--inputs", "forces.motor.torque[2]", "--outputs",
                     "place", "--out", directory.file(std::string("s.") + extension)});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("states   2:"));
  }
  for (const char* name : {"s.npz", "s.json", "s.A.mtx", "s.B.mtx", "s.C.csv", "s.D.csv"})
    EXPECT_TRUE(std::filesystem::exists(directory.file(name))) << name;
  const Outcome wrong = run_program({"linearize", model, "--outputs", "plase"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'place'?"));
}

TEST(Assemble, HoldsBodies) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("pendulum.json", kPendulum);
  const std::string rough = directory.write(
      "rough.json",
      R"json({ "bodies": { "bob": { "orientation": { "rotation_vector": [0, 0, 0.5] } } } })json");
  const Outcome outcome =
      run_program({"assemble", model, "--from", rough, "--out", directory.file("good.json")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(run_program({"run", model, "--from", directory.file("good.json"), "--end", "0.01"}).exit_code, 0);
  EXPECT_EQ(run_program({"run", model, "--from", rough, "--end", "0.01"}).exit_code, 2) << "not consistent";
  EXPECT_EQ(run_program({"run", model, "--from", rough, "--end", "0.01", "--initial", "project"}).exit_code,
            0);
  const Outcome held = run_program({"assemble", model, "--from", rough, "--hold", "bob"});
  EXPECT_EQ(held.exit_code, 2);
  EXPECT_THAT(held.err, HasSubstr("joints.hinge: position"));
  const Outcome bad =
      run_program({"assemble", model, "--from", directory.write("bad.json", R"json({ "bodies": {
    "bop": {}, "bob": { "position": [1, 2], "spin": 3 } } })json")});
  EXPECT_EQ(bad.exit_code, 2);
  for (const char* words :
       {"did you mean 'bob'?", "expected 3 finite numbers", "bodies.bob.spin: unknown key", "bad.json:2"})
    EXPECT_THAT(bad.err, HasSubstr(words));
}

TEST(Kinematics, NamesWhatRemainsFree) {
  const TemporaryDirectory directory;
  const Outcome outcome = run_program({"kinematics", directory.write("pendulum.json", kPendulum)});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("no constraint prescribes this motion: bob turns about (0, 0, 1)"));
}

}  // namespace
}  // namespace liedyn::testing
