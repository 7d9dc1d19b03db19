// The program as a user meets it: what it prints where, its exit codes and its files.

#include <filesystem>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace liedyn::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Run, JsonIsAllThatStandsOnStandardOutput) {
  const Outcome outcome = run_program({"run", "heavy_top", "--json", "--end", "0.01"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "no progress bar where nobody watches";
  const nlohmann::json summary = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(summary["model"], "heavy_top");
  EXPECT_EQ(summary["steps"], 10);
  EXPECT_EQ(summary["end"], 0.01);
  EXPECT_EQ(summary["sensors"]["position"].size(), 3u);
  EXPECT_TRUE(summary["completed"]);
}

TEST(Run, WithAPageThatNobodyOpensItEndsAsWithout) {
  const TemporaryDirectory directory;
  setenv("LIEDYN_VIEWER", directory.write("viewer.html", "<!--liedyn-scene-->").c_str(), 1);
  const Outcome outcome = run_program({"run", "heavy_top", "--json", "--end", "0.01", "--view", "--no-open"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, ::testing::StartsWith("The run is shown at http://127.0.0.1:"));
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["steps"], 10);
  for (const std::vector<std::string>& wrong :
       std::vector<std::vector<std::string>>{{"--pace", "1"},
                                             {"--slider", "spin"},
                                             {"--paused"},
                                             {"--view", "--pace", "-1"},
                                             {"--view", "--slider", "spin"},
                                             {"--view", "--slider", "gravity[2]=1"}}) {
    std::vector<std::string> words = {"run", "heavy_top", "--end", "0.01", "--no-open"};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const Outcome refused = run_program(words);
    EXPECT_EQ(refused.exit_code, 2) << wrong.back();
    EXPECT_EQ(refused.out, "") << wrong.back();
  }
  unsetenv("LIEDYN_VIEWER");
}

TEST(Run, NumbersAndArgumentsAreSet) {
  const Outcome heavy = run_program(
      {"run", "heavy_top", "--json", "--end", "0.001", "--set", "spin=10", "--set", "bodies.top.mass=20"});
  ASSERT_EQ(heavy.exit_code, 0) << heavy.err;
  EXPECT_NEAR(nlohmann::json::parse(heavy.out)["sensors"]["angular_velocity"][1].get<double>(), 10, 1e-9);

  const Outcome chain = run_program({"run", "--set", "links=3", "chain", "--json", "--end", "0.001"});
  ASSERT_EQ(chain.exit_code, 0) << chain.err;
  EXPECT_EQ(nlohmann::json::parse(chain.out)["unknowns"], 3 * 9);
}

TEST(Plugin, AFileThatIsNoneIsRefused) {
  const TemporaryDirectory directory;
  const Outcome missing = run_program({"list", "elements", "--plugin", directory.file("none.so")});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_THAT(missing.err, HasSubstr("none.so: there is no such file"));
  const std::string text = directory.write("text.so", "no shared object");
  const Outcome other = run_program({"run", "heavy_top", "--plugin=" + text});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(other.out, "");
  EXPECT_THAT(other.err, HasSubstr("text.so: cannot be loaded"));
  EXPECT_EQ(run_program({"run", "heavy_top", "--plugin"}).exit_code, 2) << "no file";
  EXPECT_THAT(run_program({"run", "--help"}).out, HasSubstr("--plugin FILE"));
}

TEST(Run, WritesEveryFormat) {
  const TemporaryDirectory directory;
  for (const char* name : {"r.csv", "r.h5"}) {
    const Outcome outcome = run_program(
        {"run", "heavy_top", "--end", "0.01", "--output-every", "5", "--out", directory.file(name)});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(directory.file(name)));
    EXPECT_GT(std::filesystem::file_size(directory.file(name)), 0u) << name;
  }
  std::istringstream csv(content_of(directory.file("r.csv")));
  std::string line;
  std::getline(csv, line);
  EXPECT_THAT(line, ::testing::StartsWith("t,position[0],position[1],position[2],velocity[0]"));
  int rows = 0;
  while (std::getline(csv, line)) ++rows;
  EXPECT_EQ(rows, 3) << "the steps 0, 5 and 10";
}

// A force that has no value after t = 0.5.
constexpr const char* kFailing = R"json({ "liedyn": 1,
  "bodies": { "stone": { "type": "point", "mass": 1 } },
  "forces": { "push": { "type": "force", "on": "stone", "force": ["sqrt(0.5 - t)", 0, 0] } },
  "sensors": { "place": { "type": "position", "of": "stone" } },
  "simulation": { "end": 1, "step": 0.125 } })json";

TEST(Run, FailedNumericsLeaveTheResultsUpToThere) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("failing.json", kFailing);
  const Outcome outcome = run_program({"run", model, "--json", "--out", directory.file("r.csv")});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("t = 0.5"));
  EXPECT_THAT(outcome.err, HasSubstr("bodies.stone: force x"));
  // What is said to help was tried, and nothing helps where a force has no value.
  EXPECT_THAT(outcome.err, HasSubstr("hint: tried without success: --step 0.0625; --step 0.0125; "));
  EXPECT_THAT(outcome.err, Not(HasSubstr("the run continues beyond this time")));
  EXPECT_THAT(outcome.err, HasSubstr("The last valid state is in"));
  EXPECT_TRUE(std::filesystem::exists(directory.file("r.csv.last.json")));
  const nlohmann::json summary = nlohmann::json::parse(outcome.out);
  EXPECT_FALSE(summary["completed"]);
  EXPECT_EQ(summary["end"], 0.5);
  const std::string csv = content_of(directory.file("r.csv"));
  EXPECT_THAT(csv, HasSubstr("\n0.5,"));
  EXPECT_EQ(csv.back(), '\n') << "the last row is complete";
}

// Small tolerances are out of reach of index 3; another form of the constraints reaches them.
TEST(Run, AdvisesAnotherFormOfTheConstraintsForSmallTolerances) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("pendulum.json", R"json({ "liedyn": 1, "gravity": [0, 0, -9.81],
    "bodies": { "bob": { "type": "rigid", "mass": 1, "inertia": [0.01, 0.01, 0.01], "position": [-1, 0, 0] } },
    "joints": { "hinge": { "type": "revolute", "between": ["ground", "bob"], "at": [0, 0, 0], "axis": [0, -1, 0] } },
    "sensors": { "place": { "type": "position", "of": "bob" } }, "simulation": { "end": 1, "step": 1e-3 } })json");
  const std::string method = "generalized-alpha,adaptive=true,rtol=1e-9";
  const Outcome outcome = run_program({"run", model, "--integrator", method});
  ASSERT_EQ(outcome.exit_code, 3) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("hint: with --integrator " + method + ",index=stabilized or --integrator " + method +
                        ",index=2 the run continues beyond this time"));
  EXPECT_EQ(run_program({"run", model, "--integrator", method + ",index=stabilized"}).exit_code, 0);
}

// A step that is too long for Newton's method: the smaller one that is advised works, and the state before the failure is a start.
TEST(Run, AdvisesWhatWasTriedWithSuccess) {
  const TemporaryDirectory directory;
  const std::vector<std::string> run = {"run",   "heavy_top", "--step", "0.02",
                                        "--end", "0.2",       "--out",  directory.file("r.csv")};
  const Outcome outcome = run_program(run);
  ASSERT_EQ(outcome.exit_code, 3) << outcome.err;
  const std::size_t place = outcome.err.find("hint: with --step ");
  ASSERT_NE(place, std::string::npos) << outcome.err;
  const std::string step = outcome.err.substr(place + 18, outcome.err.find(' ', place + 18) - place - 18);
  EXPECT_EQ(run_program({"run", "heavy_top", "--step", step, "--end", "0.2"}).exit_code, 0) << step;
  const Outcome from =
      run_program({"run", "heavy_top", "--step", "1e-3", "--from", directory.file("r.csv.last.json"),
                   "--initial", "project", "--end", "0.2"});
  EXPECT_EQ(from.exit_code, 0) << from.err;
}

TEST(Converge, TabulatesErrorsOrdersAndCost) {
  const Outcome outcome = run_program({"converge", "heavy_top", "--formulation", "r3so3-spatial",
                                       "--formulation", "se3", "--steps", "2e-3,1e-3,5e-4", "--end", "0.1",
                                       "--of", "position", "--work-precision", "--jobs", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  for (const char* words :
       {"largest relative errors at 50 times", "error q", "error lambda", "error position", "order", "Newton",
        "generalized-alpha,rho=0.9 se3", "work and precision"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
}

TEST(Converge, WritesItsFigures) {
  const TemporaryDirectory directory;
  const Outcome outcome = run_program({"converge", "pendulum", "--step-range", "0.04:0.01:3", "--json",
                                       "--no-plot", "--out", directory.file("study")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json study = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(study, nlohmann::json::parse(content_of(directory.file("study.json"))));
  ASSERT_EQ(study["cases"][0]["rows"].size(), 3u);
  EXPECT_NEAR(study["cases"][0]["fitted_orders"]["q"].get<double>(), 2, 0.1);
  EXPECT_TRUE(study["cases"][0]["rows"][0]["orders"]["q"].is_null());
  EXPECT_THAT(content_of(directory.file("study.csv")),
              ::testing::StartsWith("integrator,formulation,step,steps,error_q,order_q,error_v"));
  EXPECT_FALSE(std::filesystem::exists(directory.file("study.png")));
}

TEST(Converge, ComparesWithAResultFile) {
  const TemporaryDirectory directory;
  const std::string fine = directory.file("fine.csv");
  ASSERT_EQ(run_program({"run", "heavy_top", "--end", "0.1", "--step", "1e-4", "--out", fine}).exit_code, 0);
  const Outcome outcome = run_program({"converge", "heavy_top", "--end", "0.1", "--steps", "2e-3,1e-3",
                                       "--norm", "end", "--reference", fine, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json study = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(study["quantities"], nlohmann::json::parse(R"(["position", "velocity", "angular_velocity",
                                                          "pivot_force", "multiplier", "energy"])"));
  EXPECT_NEAR(study["cases"][0]["rows"][1]["orders"]["position"].get<double>(), 2, 0.1);
}

TEST(Converge, ShowsRunsThatFailed) {
  const Outcome outcome = run_program({"converge", "heavy_top", "--steps", "0.25,1e-3,5e-4"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("failed: t = 0, step 0.25: Newton's method did not converge"));
  EXPECT_EQ(run_program({"converge", "heavy_top", "--steps", "0.25"}).exit_code, 3)
      << "there is no reference";
}

TEST(Converge, RefusesWrongArguments) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> table = {
      {{"--steps", "1e-3,small"}, "--steps: expected a number, got 'small'"},
      {{"--steps", "0"}, "expected positive steps, got 0"},
      {{"--step-range", "1e-3:1e-4"}, "expected FROM:TO:COUNT"},
      {{"--step-range", "1e-4:1e-3:4"}, "the larger one first"},
      {{"--steps", "1e-3", "--step-range", "1e-3:1e-4:3"}, "got both"},
      {{"--norm", "mean"}, "expected max or end, got 'mean'"},
      {{"--from", "2"}, "from: expected a time from 0 to less than 1, got 2"},
      {{"--of", "positon"}, "did you mean 'position'?"},
      {{"--jobs", "0"}, "expected a number of 1 or more, got 0"},
      {{"--reference", "exact"}, "expected fine, INTEGRATOR@STEP or a result file, got 'exact'"},
      {{"--reference", "generalised-alpha@1e-4"}, "did you mean 'generalized-alpha'?"},
      {{"--reference", "nowhere.csv"}, "cannot be read"},
      {{"--formulation", "se2"}, "unknown formulation 'se2'"},
      {{"--plot"}, "expected --out PREFIX as well"},
      {{"--out", "/nowhere/study"}, "cannot be written"},
  };
  for (const auto& [arguments, words] : table) {
    std::vector<std::string> all = {"converge", "heavy_top"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run_program(all);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  }
}

TEST(Check, ExplainsAModel) {
  const Outcome outcome = run_program({"check", "heavy_top"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words : {"1 rigid", "1 spherical", "degrees of freedom     3",
                            "redundant constraints  none", "can be simulated"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
  const nlohmann::json json =
      nlohmann::json::parse(run_program({"check", "chain", "--set", "links=7", "--json"}).out);
  EXPECT_EQ(json["degrees_of_freedom"], 21);
  EXPECT_TRUE(json["valid"]);
}

TEST(Check, NamesRedundantConstraints) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("twice.json", R"json({ "liedyn": 1,
    "bodies": { "top": { "type": "rigid", "mass": 1, "inertia": [1, 1, 1] } },
    "joints": { "a": { "type": "spherical", "between": ["ground", "top"], "at": [0, 0, 0] },
                "b": { "type": "spherical", "between": ["ground", "top"], "at": [1, 0, 0] } } })json");
  const Outcome outcome = run_program({"check", model});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, ::testing::ContainsRegex("redundant constraints  joints.[ab]: position x"));
  EXPECT_THAT(outcome.out, HasSubstr("degrees of freedom     1"));
  EXPECT_THAT(outcome.out, HasSubstr("can be simulated"));
  const Outcome simulated = run_program({"run", model, "--end", "0.1"});
  EXPECT_EQ(simulated.exit_code, 0);
  EXPECT_THAT(simulated.err, ::testing::ContainsRegex(
                                 "warning: 1 redundant constraint is not imposed: joints.[ab]: position x"));
}

TEST(Check, SaysThatNothingCanMove) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("locked.json", R"json({ "liedyn": 1, "gravity": [0, 0, -9.81],
    "bodies": { "arm": { "type": "rigid", "mass": 1, "inertia": [0.1, 0.1, 0.1] } },
    "joints": { "a": { "type": "revolute", "between": ["ground", "arm"], "at": [0, 0, 0], "axis": [0, 0, 1] },
                "b": { "type": "revolute", "between": ["ground", "arm"], "at": [1, 0, 0], "axis": [0, 0, 1] } },
    "sensors": { "force": { "type": "reaction_force", "of": "a" } } })json");
  const Outcome outcome = run_program({"check", model});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("The model can be simulated, but no body can move."));
  EXPECT_THAT(outcome.err, HasSubstr("warning: the model has 0 degrees of freedom"));
  // Statics leave rows out as well, and say so.
  const Outcome still = run_program({"static", model});
  EXPECT_EQ(still.exit_code, 0) << still.err;
  EXPECT_THAT(still.err, HasSubstr("redundant constraints are not imposed"));
  EXPECT_THAT(still.err, HasSubstr("equilibrium is not affected"));
}

TEST(Check, ComparesTheStepWithTheFastestMotion) {
  // omega = sqrt(k/m) = 1000 rad/s beside a pendulum.
  const TemporaryDirectory directory;
  const std::string model = directory.write("stiff.json", R"json({ "liedyn": 1, "gravity": [0, 0, -9.81],
    "bodies": { "ball": { "type": "point", "mass": 1 },
                "bob": { "type": "point", "mass": 1, "position": [0, 0, -1] } },
    "joints": { "rod": { "type": "distance", "between": ["ground", "bob"], "points": [[0, 0, 0], [0, 0, -1]] } },
    "forces": { "spring": { "type": "bushing", "between": ["ground", "ball"], "at": [0, 0, 0], "stiffness": [1e6, 1e6, 1e6] } },
    "sensors": { "x": { "type": "position", "of": "ball" } } })json");
  const Outcome implicit = run_program({"check", model, "--step", "0.01"});
  EXPECT_EQ(implicit.exit_code, 0);
  EXPECT_EQ(implicit.err, "");
  EXPECT_THAT(implicit.out,
              HasSubstr("|s| = 1000 rad/s, mostly of 'ball'; h |s| = 10 with steps of 0.01 s: not "
                        "resolved, the implicit method multiplies it by 0.77"));
  const Outcome resolved = run_program({"check", model, "--step", "1e-4"});
  EXPECT_THAT(resolved.out, HasSubstr("h |s| = 0.1 with steps of 0.0001 s: resolved"));
  const Outcome explicitly =
      run_program({"check", model, "--step", "0.01", "--integrator", "rk44", "--json"});
  EXPECT_EQ(explicitly.exit_code, 0);
  EXPECT_THAT(explicitly.err,
              HasSubstr("steps of 0.01 s are 3.5 times the stability limit of the explicit method rk44"));
  const nlohmann::json fastest = nlohmann::json::parse(explicitly.out)["fastest_motion"];
  EXPECT_NEAR(fastest["s"][1].get<double>(), 1000, 1e-6);
  EXPECT_NEAR(fastest["longest_stable_step"].get<double>(), 2.83e-3, 0.01e-3);
  EXPECT_EQ(fastest["mostly_of"], "ball");
  const Outcome nothing = run_program({"check", "pendulum", "--step", "5"});
  EXPECT_THAT(nothing.err, HasSubstr("resolve none of the oscillations"));
}

TEST(Check, RecognisesUnitsThatAreNotMeant) {
  const TemporaryDirectory directory;
  const std::string model = directory.write("steel.json", R"json({ "liedyn": 1,
    "beams": { "shaft": { "type": "circle", "from": [0, 0, 0], "to": [1, 0, 0], "elements": 2, "radius": 0.01, "young": 2.1e11, "density": 7.8 } },
    "joints": { "clamp": { "type": "fixed", "between": ["ground", "shaft[0]"], "at": [0, 0, 0] } },
    "sensors": { "tip": { "type": "position", "of": "shaft[1]" } } })json");
  EXPECT_THAT(run_program({"check", model}).err,
              HasSubstr("warning: beams.shaft.density: 7.8 kg/m^3 is less than any solid"));
  EXPECT_EQ(run_program({"check", model, "--set", "beams.shaft.density=7800"}).err, "");
}

TEST(Run, SaysThatAStepIsLongerThanTheRun) {
  EXPECT_THAT(run_program({"run", "pendulum", "--step", "5", "--end", "1"}).err,
              HasSubstr("the step (5 s) is longer than the run (1 s), which is a single step"));
}

TEST(List, ShowsWhatThereIs) {
  EXPECT_THAT(run_program({"list", "models"}).out, HasSubstr("heavy_top"));
  EXPECT_THAT(run_program({"list", "integrators"}).out, HasSubstr("generalized-alpha"));
  const std::string elements = run_program({"list", "elements"}).out;
  for (const char* words : {"rigid", "spherical", "spring_damper", "reaction_force", "[kg]", "required"})
    EXPECT_THAT(elements, HasSubstr(words));
  const std::string parameters = run_program({"list", "parameters", "heavy_top"}).out;
  for (const char* words :
       {"parameters.spin = 150\n", "gravity[2] = -9.81 m/s^2\n", "bodies.top.inertia[1] = 0.46875 kg m^2\n"})
    EXPECT_THAT(parameters, HasSubstr(words));
  EXPECT_THAT(run_program({"list", "parameters", "princeton_beam"}).out, HasSubstr("beams.beam.elements = "));
  // Whole numbers that the file leaves out have their defaults, and may be set too.
  EXPECT_THAT(
      run_program({"list", "parameters", "slider_crank_flexible", "--set", "flexible.rod.modes=9"}).out,
      HasSubstr("flexible.rod.modes = 9\n"));
}

TEST(List, ElementsByType) {
  const Outcome outcome = run_program({"list", "elements", "joint_effort"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("effort               number"));
  EXPECT_EQ(outcome.out.find("rigid"), std::string::npos);
  EXPECT_THAT(run_program({"list", "elements", "rigid"}).out,
              ::testing::AllOf(HasSubstr("default {\"rotation_vector\": [0, 0, 0]}"),
                               HasSubstr("Or \"consistent\": assembly finds it")));
  const Outcome wrong = run_program({"list", "elements", "joint_efort"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("did you mean 'joint_effort'?"));
}

TEST(List, ParametersHaveTheirUnitsAndNoneThatIsReplaced) {
  const TemporaryDirectory directory;
  const std::string model =
      directory.write("m.json", R"json({ "liedyn": 1, "bodies": { "b": { "type": "rigid", "mass": 1,
    "inertia": [1, 1, 1], "orientation": { "quaternion": [1, 0, 0, 0] }, "angular_velocity_inertial": [0, 0, 1] } } })json");
  const std::string out = run_program({"list", "parameters", model}).out;
  EXPECT_THAT(out, HasSubstr("bodies.b.orientation.quaternion[0] = 1\n"));
  EXPECT_THAT(out, HasSubstr("bodies.b.angular_velocity_inertial[2] = 1 rad/s\n"));
  EXPECT_EQ(out.find("bodies.b.angular_velocity["), std::string::npos) << out;
}

TEST(Messages, LeadToWhatWasMeant) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"run", "heavy_top", "--dt", "1e-3"}, "run has no option '--dt' (hint: did you mean '--step'?)"},
      {{"run", "heavy_top", "--set", "bodies.top.mass", "3"}, "write --set bodies.top.mass=3"},
      {{"schema", "heavy_top"}, "heavy_top not in {model,study}"},
      {{"run"}, "liedyn run --help"},
      {{"sensitivity", "heavy_top", "--parameters", "top.mass"}, "did you mean 'bodies.top.mass'?"},
      {{"run", "{\"liedyn\": 1}"}, "expected the name or the file of a model, got the string"}};
  for (const auto& [arguments, words] : cases) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << words;
    EXPECT_THAT(outcome.err, HasSubstr(words));
    EXPECT_THAT(outcome.err, ::testing::StartsWith("error: "));
  }
}

TEST(Run, SaysWithWhichValues) {
  const nlohmann::json summary =
      nlohmann::json::parse(run_program({"run", "heavy_top", "--json", "--end", "0.001", "--set", "spin=100",
                                         "--set", "bodies.top.mass=20"})
                                .out);
  EXPECT_EQ(summary["set"], nlohmann::json({{"spin", 100}, {"bodies.top.mass", 20}}));
  EXPECT_THAT(summary["model_text"].get<std::string>(), HasSubstr("\"liedyn\": 1"));
  EXPECT_THAT(summary["date"].get<std::string>(), ::testing::MatchesRegex("20..-..-..T..:..:..Z"));
}

TEST(Program, HelpAndVersion) {
  const Outcome version = run_program({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_THAT(version.out, ::testing::MatchesRegex("liedyn [0-9]+\\.[0-9]+\\.[0-9]+\n"
                                                   "commit     ([0-9a-f]+(-dirty)?|unknown)\n"
                                                   "compiler   .+ [0-9.]+ .+\n"
                                                   "processor  .+, .+\n"
                                                   "libraries  .+\n"));
  for (const char* library : {"Eigen3", "fmt", "nlohmann_json", "SuiteSparse", "METIS", "HDF5", "Spectra",
                              "NLopt", "ZLIB", "CLI11"})
    EXPECT_THAT(version.out, ::testing::ContainsRegex(std::string(library) + " [0-9]+\\.[0-9]+"));
  EXPECT_EQ(run_program({"help"}).out, run_program({"--help"}).out);
  const Outcome help = run_program({"run", "--help"});
  EXPECT_EQ(run_program({"help", "run"}).out, help.out);
  EXPECT_EQ(run_program({"help", "run"}).exit_code, 0);
  EXPECT_EQ(help.exit_code, 0);
  for (const char* words : {"--integrator", "--formulation", "--step", "--set", "--out", "--json", "[s]"})
    EXPECT_THAT(help.out, HasSubstr(words));
}

TEST(Schema, IsJson) {
  const Outcome outcome = run_program({"schema"});
  EXPECT_EQ(outcome.exit_code, 0);
  const nlohmann::json schema = nlohmann::json::parse(outcome.out);
  EXPECT_TRUE(schema["properties"]["bodies"]["additionalProperties"].contains("allOf"));
}

}  // namespace
}  // namespace liedyn::testing
