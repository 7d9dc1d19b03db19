// liedyn sensitivity as a user meets it.

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/program.h"

namespace liedyn::testing {
namespace {

using ::testing::HasSubstr;

TEST(SensitivityCommand, PrintsAndChecksDerivatives) {
  const Outcome outcome = run_program({"sensitivity", "heavy_top", "--parameters", "bodies.top.mass,spin",
                                       "--outputs", "position[2],energy@max", "--end", "0.02", "--integrator",
                                       "generalized-alpha,newton_tol=1e-12", "--check"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* words :
       {"d/d(bodies.top.mass) at 15", "d/d(spin) at 150", "position[2]", "energy@max", "relative difference",
        "by the direct method", "m/kg", "check: all 4 derivatives agree"})
    EXPECT_THAT(outcome.out, HasSubstr(words));
}

TEST(SensitivityCommand, GivesJsonAndATableOverTime) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("d.csv");
  const Outcome outcome =
      run_program({"sensitivity", "heavy_top", "--parameters", "bodies.top.mass", "--outputs", "position",
                   "--end", "0.01", "--json", "--check", "--out", file, "--integrator", "rk44"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_LT(json["check"]["bodies.top.mass"]["disagreement"].get<double>(), 1e-6);
  EXPECT_NEAR(json["derivatives"]["position[2]"]["bodies.top.mass"].get<double>(),
              json["differences"]["position[2]"]["bodies.top.mass"].get<double>(), 1e-9);
  std::ifstream in(file);
  std::string header;
  std::getline(in, header);
  EXPECT_THAT(header, HasSubstr("t,position[0]"));
  EXPECT_THAT(header, HasSubstr("d(position[2])/d(bodies.top.mass)"));
}

// The sensor of a reaction that redundant joints share has no derivatives; the others have.
TEST(SensitivityCommand, LeavesOutWhatHasNoDerivatives) {
  const Outcome outcome = run_program(
      {"sensitivity", "four_bar", "--parameters", "y_B , bodies.*.mass", "--end", "0.01", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("left out force_A"));
  const nlohmann::json json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["method"], "direct");
  EXPECT_GT(json["parameters"].size(), 2U);
  EXPECT_FALSE(json["derivatives"].contains("force_A[0]"));
}

TEST(SensitivityCommand, EndsWithThreeIfDifferencesDisagree) {
  const Outcome outcome = run_program({"sensitivity", "heavy_top", "--parameters", "bodies.top.mass",
                                       "--outputs", "position", "--end", "0.05", "--step", "5e-3",
                                       "--integrator", "generalized-alpha,newton_tol=1", "--check"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, HasSubstr("DISAGREE"));
}

TEST(SensitivityCommand, RefusesWhatItDoesNotKnow) {
  const auto error = [](const std::vector<std::string>& arguments) {
    const Outcome outcome = run_program(arguments);
    EXPECT_EQ(outcome.exit_code, 2);
    return outcome.err;
  };
  EXPECT_THAT(error({"sensitivity", "heavy_top", "--parameters", "bodies.top.mas"}), HasSubstr("mass"));
  EXPECT_THAT(error({"sensitivity", "heavy_top", "--parameters", "spin", "--outputs", "place"}),
              HasSubstr("there is no sensor 'place'"));
  EXPECT_THAT(error({"sensitivity", "heavy_top", "--parameters", "spin,parameters.spin"}),
              HasSubstr("named twice"));
  EXPECT_THAT(error({"sensitivity", "heavy_top", "--parameters", "spin", "--out", "x.h5"}),
              HasSubstr(".csv"));
  EXPECT_THAT(
      error({"sensitivity", "heavy_top", "--parameters", "spin", "--check", "--method", "difference"}),
      HasSubstr("cannot be combined with --method difference"));
  EXPECT_THAT(error({"sensitivity", "heavy_top", "--parameters", "spin", "--method", "guess"}),
              HasSubstr("expected direct, adjoint or difference"));
}

}  // namespace
}  // namespace liedyn::testing
