// liedyn optimize as a user meets it.

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace liedyn::testing {
namespace {

using ::testing::HasSubstr;

std::string written(const TemporaryDirectory& directory, const std::string& name, const std::string& text) {
  const std::string file = directory.file(name);
  std::ofstream(file) << text;
  return file;
}

const char* kModel = R"({ "liedyn": 1, "gravity": [0, 0, -10],
  "bodies": { "stone": { "type": "point", "mass": 1, "velocity": [1, 0, 5] } },
  "sensors": { "place": { "type": "position", "of": "stone" } },
  "simulation": { "end": 1, "step": 0.01 } })";

TEST(OptimizeCommand, FitsAndWritesAReportAndGoesOnFromThere) {
  const TemporaryDirectory directory;
  written(directory, "stone.json", kModel);
  written(directory, "seen.csv", "t,height\n0,0\n0.5,2.75\n1,3\n");  // vz = 8
  const std::string study = written(directory, "study.json", R"({ "model": "stone.json",
    "variables": { "vz": { "parameter": "bodies.stone.velocity[2]", "lower": 0, "upper": 20 } },
    "data": [ { "file": "seen.csv", "columns": { "height": "place[2]" } } ] })");
  const std::string out = directory.file("found");
  const Outcome outcome = run_program({"optimize", study, "--out", out, "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_NEAR(json["variables"]["vz"].get<double>(), 8, 1e-4);
  EXPECT_NEAR(json["parameters"]["bodies.stone.velocity[2]"].get<double>(), 8, 1e-4);
  std::ifstream report(out + "/report.md");
  const std::string text((std::istreambuf_iterator<char>(report)), std::istreambuf_iterator<char>());
  EXPECT_THAT(text, HasSubstr("Converged"));
  std::ifstream history(out + "/history.csv");
  std::string header;
  std::getline(history, header);
  EXPECT_EQ(header, "evaluation,objective,violation,vz");

  const auto rows = [&] {
    std::ifstream in(out + "/history.csv");
    return std::count(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>(), '\n');
  };
  const auto before = rows();
  const Outcome again = run_program({"optimize", study, "--restart", out + "/result.json", "--quiet", "--out",
                                     out, "--tolerance", "1e-7", "--set", "bodies.stone.mass=2"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_GT(rows(), before);  // the history goes on
  EXPECT_EQ(run_program({"optimize", study, "--tolerance", "7"}).exit_code, 2);
  EXPECT_THAT(again.out, HasSubstr("(start 8)"));
}

TEST(OptimizeCommand, RefusesWhatWouldBeIgnored) {
  const TemporaryDirectory directory;
  written(directory, "stone.json", kModel);
  written(directory, "seen.csv", "t,height\n0,0\n0.5,2.75\n1,3\n");
  const auto error = [&](const std::string& rest) {
    const std::string study =
        written(directory, "study.json",
                R"({ "model": "stone.json", "outputs": { "far": "place[0]" },)" + rest + "}");
    const Outcome outcome = run_program({"optimize", study});
    EXPECT_EQ(outcome.exit_code, 2) << rest;
    return outcome.err;
  };
  const std::string variable =
      R"("variables": { "vz": { "parameter": "bodies.stone.velocity[2]", "lower": 0, "upper": 20 } })";
  const std::string data =
      R"("data": [ { "file": "seen.csv", "columns": { "height": "place[2]" }, "weights": )";
  EXPECT_THAT(error(variable + "," + data + R"({ "hight": 2 } } ])"), HasSubstr("did you mean 'height'?"));
  EXPECT_THAT(error(variable + "," + data + R"({ "height": -2 } } ])"), HasSubstr("not negative"));
  EXPECT_THAT(error(variable + R"(, "minimize": "far", "optimizer": { "evaluations": 2.5 })"),
              HasSubstr("whole number"));
  EXPECT_THAT(
      error(
          variable +
          R"(, "minimize": "far", "constraints": { "c": { "expression": "far", "equals": 1, "at_most": 2 } })"),
      HasSubstr("either equals"));
  EXPECT_THAT(error(R"("minimize": "far",
    "variables": { "pi": { "parameter": "bodies.stone.velocity[2]" } })"),
              HasSubstr("study.json:2: variables.pi"));
  // What the search itself finds has its line too.
  EXPECT_THAT(error(R"("minimize": "far",
    "variables": { "vz": { "parameter": "bodies.stone.velocity[2]",
      "lower": 30, "upper": 20 } })"),
              HasSubstr("study.json:2: variables.vz"));
  const std::string study =
      written(directory, "study.json", R"({ "model": "stone.json", "minimize": "vz",)" + variable + "}");
  const std::string far = written(directory, "far.json", R"({ "variables": { "vz": 100 } })");
  const Outcome outcome = run_program({"optimize", study, "--restart", far});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("from 0 to 20"));
}

TEST(OptimizeCommand, ReportsAllMistakesOfAStudy) {
  const TemporaryDirectory directory;
  written(directory, "stone.json", kModel);
  const std::string study = written(directory, "study.json", R"({ "model": "stone.json",
    "variables": { "vz": { "parameter": "bodies.stone.velocty[2]", "uper": 20 } },
    "outputs": { "far": 3 },
    "data": [ { "file": "nothing.csv", "columns": { "height": "place[2]" } } ] })");
  const Outcome outcome = run_program({"optimize", study});
  EXPECT_EQ(outcome.exit_code, 2);
  for (const char* words :
       {"study.json:2", "did you mean 'upper'?", "velocity", "outputs.far", "nothing.csv"})
    EXPECT_THAT(outcome.err, HasSubstr(words));
  EXPECT_EQ(run_program({"optimize", directory.file("none.json")}).exit_code, 2);
}

}  // namespace
}  // namespace liedyn::testing
