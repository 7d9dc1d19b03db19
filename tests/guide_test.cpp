// What helps a user: new, explain, doctor, completion, schema --all.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace liedyn::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string explained(const std::vector<std::string>& words) {
  std::vector<std::string> arguments = {"explain"};
  arguments.insert(arguments.end(), words.begin(), words.end());
  const Outcome outcome = run_program(arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

TEST(New, EveryTemplateCanBeCheckedAndSimulated) {
  const TemporaryDirectory directory;
  const std::string list = run_program({"new", "--list"}).out;
  for (const std::string name : {"pendulum", "loop", "beam", "robot", "control"}) {
    EXPECT_THAT(list, HasSubstr(name));
    const std::string file = directory.file(name + ".json");
    const Outcome written = run_program({"new", directory.file(name), "--template", name});
    ASSERT_EQ(written.exit_code, 0) << written.err;
    EXPECT_THAT(written.out, HasSubstr("liedyn run " + file));
    const Outcome check = run_program({"check", file});
    EXPECT_EQ(check.exit_code, 0) << check.err;
    EXPECT_EQ(check.err, "") << name << ": a model to start from gives no warnings";
    const Outcome run = run_program({"run", file, "--json"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "") << name;
    EXPECT_TRUE(nlohmann::json::parse(run.out)["completed"]);
  }
}

TEST(Check, ExplainsStudiesOfOptimizeAndNamesTheirMistakes) {
  const std::string folder = std::string(LIEDYN_SOURCE) + "/examples/identify_pendulum/";
  const Outcome right = run_program({"check", folder + "study.json"});
  EXPECT_EQ(right.exit_code, 0) << right.err;
  EXPECT_THAT(right.out,
              AllOf(HasSubstr("from 0.001 to 0.1: inertia"), HasSubstr("The study minimises misfit.")));
  EXPECT_THAT(run_program({"run", folder + "study.json"}).err,
              HasSubstr("not a model (hint: liedyn optimize"));
  const TemporaryDirectory directory;
  const std::string open = directory.file("open.json");
  std::ofstream(open) << R"({ "model": "heavy_top", "minimize": "m",
  "variables": { "m": { "parameter": "bodies.top.mass", "initial": 15 } } })";
  EXPECT_THAT(run_program({"check", open}).out, HasSubstr("15, without bounds: bodies.top.mass"));
  const std::string file = directory.file("study.json");
  std::ofstream(file) << R"({ "model": "heavy_top", "minimize": "w",
  "variables": { "m": { "parameter": "bodies.top.mass", "initial": 15, "lower": 20, "upper": 30 } } })";
  const Outcome wrong = run_program({"check", file});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err,
              HasSubstr("study.json:2: variables.m: expected an initial value from 20 to 30, got 15"));
}

TEST(New, TheStudyCanBeCheckedAndRun) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("many.json");
  const Outcome written = run_program({"new", file, "--template", "study"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("liedyn sweep " + file));
  EXPECT_THAT(run_program({"check", file}).out, HasSubstr("The study has 45 cases."));
  const Outcome swept = run_program({"sweep", file, "--end", "0.01", "--out", directory.file("many.h5")});
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
  // A study is no model, and a model is no study.
  const Outcome run = run_program({"run", file});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("this is a study of many runs, not a model (hint: liedyn sweep"));
  ASSERT_EQ(run_program({"new", directory.file("one")}).exit_code, 0);
  EXPECT_THAT(run_program({"sweep", directory.file("one.json")}).err,
              HasSubstr("this is a model, not a study of many runs (hint: a study gives a model"));
}

// The deflection of the cantilever is F L^3/(3 E I), less 1/(4 n^2) of it for n elements with two nodes. The controlled rod stays upright.
TEST(New, TemplatesDoWhatTheirCommentsSay) {
  const TemporaryDirectory directory;
  ASSERT_EQ(run_program({"new", directory.file("beam"), "--template", "beam"}).exit_code, 0);
  const Outcome beam =
      run_program({"static", directory.file("beam.json"), "--time", "1", "--set", "load=1", "--json"});
  ASSERT_EQ(beam.exit_code, 0) << beam.err;
  const double deflection = 1 / (3 * 2.1e11 * 0.03 * 1e-6 / 12) * (1 - 1 / (4.0 * 8 * 8));
  EXPECT_NEAR(nlohmann::json::parse(beam.out)["sensors"]["tip"][2].get<double>(), -deflection,
              5e-4 * deflection);

  ASSERT_EQ(run_program({"new", directory.file("control"), "--template", "control"}).exit_code, 0);
  const Outcome control = run_program({"run", directory.file("control.json"), "--json"});
  ASSERT_EQ(control.exit_code, 0) << control.err;
  EXPECT_NEAR(nlohmann::json::parse(control.out)["sensors"]["angle"].get<double>(), 0, 1e-3);
}

TEST(New, NeverOverwrites) {
  const TemporaryDirectory directory;
  const std::string file = directory.write("mine.json", "precious");
  for (const std::string& name : {file, directory.file("mine")}) {
    const Outcome outcome = run_program({"new", name});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("exists, and is not overwritten"));
  }
  EXPECT_EQ(content_of(file), "precious");
  EXPECT_THAT(run_program({"new", directory.file("a"), "--template", "pendulun"}).err,
              HasSubstr("did you mean 'pendulum'?"));
  EXPECT_THAT(run_program({"new", directory.file("none/a")}).err, HasSubstr("there is no directory"));
  EXPECT_THAT(run_program({"new"}).err, HasSubstr("liedyn new arm writes arm.json"));
  EXPECT_EQ(run_program({"new", directory.file("")}).exit_code, 2) << "a directory";
}

TEST(Explain, WordsOfEveryTable) {
  EXPECT_THAT(explained({"revolute"}), HasSubstr("a type of joints"));
  EXPECT_THAT(explained({"nothing supports body"}), HasSubstr("No equilibrium was found"));
  EXPECT_THAT(explained({"nothing supports body 'stone' along (0, 0, -1)"}),
              HasSubstr("No equilibrium was found"));
  EXPECT_THAT(explained({"revolute"}),
              HasSubstr(R"("NAME": { "type": "revolute", "between": ["ground", "BODY"])"));
  EXPECT_THAT(explained({"sigma"}), HasSubstr("an option of integrators"));
  EXPECT_THAT(explained({"sigma"}), HasSubstr("docs/theory/05_generalized_alpha.md"));
  EXPECT_THAT(explained({"dopri5"}), HasSubstr("--integrator dopri5"));
  EXPECT_THAT(explained({"cylinder"}), HasSubstr("a shape of bodies"));
  EXPECT_THAT(explained({"minimal"}), HasSubstr("spanning tree"));
  EXPECT_THAT(explained({"between"}), HasSubstr("a key of entries"));
  EXPECT_THAT(explained({"output_every"}), HasSubstr("a key of \"simulation\""));
  EXPECT_THAT(explained({"parameters"}), HasSubstr("a key of model files"));
  EXPECT_THAT(explained({"kg/m^3"}), HasSubstr("density"));
  EXPECT_THAT(explained({"--set"}), HasSubstr("an option of commands"));
  EXPECT_THAT(explained({"modes"}), HasSubstr("a command"));
  EXPECT_THAT(explained({"3"}), HasSubstr("the numerics failed"));
  EXPECT_THAT(explained({"exit", "code", "2"}), HasSubstr("the input is wrong"));
  EXPECT_THAT(explained({"Joint Angle"}), HasSubstr("joint_angle"));
  EXPECT_THAT(explained({"multiplier"}), HasSubstr("Lagrange multiplier"));
  EXPECT_THAT(explained({"howto/drive_joints"}), HasSubstr("# Drive, couple and brake joints"));
  EXPECT_THAT(explained({"model_files.md"}), HasSubstr("# Model files and results"));
}

TEST(Explain, PartsOfModelFilesListTheirTypes) {
  for (const char* word : {"joints", "joint"}) {
    EXPECT_THAT(explained({word}), HasSubstr("\n  revolute  ")) << word;
    EXPECT_THAT(explained({word}), HasSubstr("\n  gear  ")) << word;
    EXPECT_THAT(explained({word}), testing::Not(HasSubstr("\n  gravity_gradient  "))) << word;
  }
  EXPECT_THAT(explained({"bodies"}), HasSubstr("\n  rigid  "));
  EXPECT_THAT(explained({"body"}), HasSubstr("\n  rigid  "));
  EXPECT_THAT(explained({"shapes"}), HasSubstr("\n  cylinder  "));
  const Outcome listed = run_program({"list", "joints"});
  EXPECT_EQ(listed.exit_code, 2);
  EXPECT_THAT(listed.err, HasSubstr("liedyn explain joints"));
  const std::string joints = run_program({"list", "elements", "joints"}).out;
  EXPECT_THAT(joints, HasSubstr("  revolute "));
  EXPECT_THAT(joints, testing::Not(HasSubstr("\nforces\n")));
}

TEST(Explain, WordsThatAreNoNamesLeadToTypes) {
  EXPECT_THAT(explained({"motor"}), HasSubstr("\n  dc_motor  "));
  EXPECT_THAT(explained({"hinge"}), HasSubstr("\n  revolute  "));
  EXPECT_THAT(explained({"friction"}), HasSubstr("\n  joint_friction  ")) << "also a key";
}

TEST(Explain, EveryElementAndIntegrator) {
  const nlohmann::json all = nlohmann::json::parse(run_program({"schema", "--all"}).out);
  int count = 0;
  // One of each section: all of them would start the program two hundred times.
  for (const auto& [section, kinds] : all["elements"].items()) {
    const std::string type = kinds.begin().key();
    EXPECT_THAT(explained({type}), HasSubstr("a type of " + section));
    ++count;
  }
  EXPECT_EQ(count, 7);
}

TEST(Explain, Errors) {
  EXPECT_THAT(explained({"not converged"}), HasSubstr("Newton's method did not converge"));
  EXPECT_THAT(
      explained(
          {"t = 0.314, step 0.001: Newton's method did not converge in 12 iterations; the largest residual, "
           "3.2e+05, is in 'bodies.rod: force x'"}),
      HasSubstr("Use a smaller step"));
  const TemporaryDirectory directory;
  const std::string model = directory.write(
      "model.json",
      R"({ "liedyn": 1, "bodies": { "top": { "type": "rigid", "mas": 1, "inertia": [1, 1, 1] } } })");
  const Outcome wrong = run_program({"check", model});
  ASSERT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(explained({wrong.err.substr(0, wrong.err.find('\n'))}),
              HasSubstr("A key, a type or a name of the model file is wrong"));
}

TEST(Explain, NearMissesAreSuggested) {
  // Messages use the word, too: it is a misspelt name all the same.
  EXPECT_THAT(run_program({"explain", "quaternio"}).err, HasSubstr("did you mean 'quaternion'?"));
  const Outcome near = run_program({"explain", "revolut"});
  EXPECT_EQ(near.exit_code, 2);
  EXPECT_THAT(near.err, HasSubstr("did you mean 'revolute'?"));
  EXPECT_EQ(run_program({"explain"}).exit_code, 2);
  EXPECT_EQ(run_program({"explain", ""}).exit_code, 2);
  EXPECT_EQ(run_program({"explain", "xqzvw"}).exit_code, 2);
  EXPECT_EQ(run_program({"explain", std::string(5000, 'x')}).exit_code, 2);
}

// An environment variable, as long as this lives.
class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) { setenv(name, value.c_str(), 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

// The page of the 3D view is built apart from the program: any file stands for it.
TEST(Doctor, ThisBuildWorks) {
  const TemporaryDirectory directory;
  const Environment page("LIEDYN_VIEWER", directory.write("viewer.html", "<html>"));
  const Outcome outcome = run_program({"doctor"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("All that is needed works."));
  EXPECT_THAT(outcome.out, HasSubstr("from the reference solution"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("FAILED")));
}

// Each with what to do about it.
TEST(Doctor, SaysWhatIsMissing) {
  const TemporaryDirectory directory;
  {
    const Environment page("LIEDYN_VIEWER", directory.file("none.html"));
    const Outcome viewer = run_program({"doctor"});
    EXPECT_EQ(viewer.exit_code, 1);
    EXPECT_THAT(viewer.out, HasSubstr("FAILED  page of the 3D view"));
    EXPECT_THAT(viewer.out, HasSubstr("LIEDYN_VIEWER names the file"));
  }
  const Environment page("LIEDYN_VIEWER", directory.write("viewer.html", "<html>"));
  {
    const Environment python("LIEDYN_PYTHON", "/none/python");
    const Outcome outcome = run_program({"doctor"});
    EXPECT_EQ(outcome.exit_code, 0) << "the program works without Python";
    EXPECT_THAT(outcome.out, HasSubstr("note    no Python package"));
  }
  const std::string script = directory.write("python", "#!/bin/sh\necho liedyn 9.9.9\n");
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const Environment python("LIEDYN_PYTHON", script);
  const Outcome outcome = run_program({"doctor"});
  EXPECT_EQ(outcome.exit_code, 1) << "a package of another version";
  EXPECT_THAT(outcome.out, HasSubstr("9.9.9"));
  EXPECT_THAT(outcome.out, HasSubstr("of the same version"));
}

// Drives the script as bash does.
std::string completions(const std::string& line) {
  const TemporaryDirectory directory;
  const std::string script = directory.write("script", run_program({"completion", "bash"}).out);
  std::string words;
  int count = 0;
  for (std::size_t begin = 0; begin <= line.size(); ++count) {
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    words += " '" + line.substr(begin, end - begin) + "'";
    begin = end + 1;
  }
  const std::string out = directory.file("out");
  const std::string command = "bash -c 'source " + script + "; COMP_WORDS=(" LIEDYN_PROGRAM + "'\"" + words +
                              "\"'); COMP_CWORD=" + std::to_string(count) +
                              "; _liedyn; echo \" ${COMPREPLY[*]} \"' >" + out;
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return content_of(out);
}

TEST(Completion, CommandsOptionsModelsAndIntegrators) {
  EXPECT_THAT(completions("conv"), HasSubstr(" converge "));
  EXPECT_THAT(completions("help mod"), HasSubstr(" modes "));
  EXPECT_THAT(completions("run heavy"), HasSubstr(" heavy_top "));
  EXPECT_THAT(completions("run heavy_top --integ"), HasSubstr(" --integrator "));
  EXPECT_THAT(completions("run heavy_top --integrator dop"), HasSubstr(" dopri5 "));
  EXPECT_THAT(completions("run heavy_top --formulation mini"), HasSubstr(" minimal "));
  EXPECT_THAT(completions("list "), HasSubstr(" integrators "));
  EXPECT_THAT(completions("list parameters heavy"), HasSubstr(" heavy_top "));
  EXPECT_THAT(completions("completion "), HasSubstr(" bash zsh "));
  EXPECT_EQ(completions("explain revo"), " revolute \n");
  EXPECT_THAT(completions("explain --integ"), HasSubstr(" --integrator "));
  EXPECT_THAT(completions("explain howto/drive"), HasSubstr(" howto/drive_joints "));
  EXPECT_THAT(completions("new mine --template "), HasSubstr(" beam "));
  EXPECT_EQ(run_program({"completion", "fish"}).exit_code, 2);
}

// One document, from which programs write models: what it names must be there.
TEST(Schema, AllIsOneDocument) {
  const Outcome outcome = run_program({"schema", "--all"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json all = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(all["elements"]["joints"]["revolute"]["keys"]["axis"]["required"]);
  EXPECT_EQ(all["elements"]["bodies"]["rigid"]["keys"]["mass"]["unit"], "kg");
  EXPECT_TRUE(all["integrators"]["generalized-alpha"]["options"].contains("sigma"));
  EXPECT_TRUE(all["commands"]["run"]["options"].contains("--step"));
  EXPECT_THAT(all["models"]["annotated"]["pendulum.json"].get<std::string>(),
              HasSubstr("// One rod on a hinge"));
  EXPECT_TRUE(all["models"]["shipped"].contains("heavy_top"));
  EXPECT_EQ(all["schema"], nlohmann::json::parse(run_program({"schema"}).out));
  int messages = 0;
  for (const nlohmann::json& family : all["errors"]) {
    EXPECT_NE(family["cause"], "") << family["family"];
    EXPECT_NE(family["remedy"], "") << family["family"];
    messages += static_cast<int>(family["messages"].size());
  }
  EXPECT_GT(messages, 500);
}

}  // namespace
}  // namespace liedyn::testing
