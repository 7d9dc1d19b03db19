// Models from somebody else: what they may not do to the machine that reads them.

#include <chrono>
#include <filesystem>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/program.h"

namespace liedyn::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string with(const std::string& more) {
  return R"({"liedyn": 1, "bodies": {"b": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1])" + more +
         R"(, "sensors": {"place": {"type": "position", "of": "b"}}, "simulation": {"end": 0.002, "step": 1e-3}})";
}

// Tables, meshes, sub-models, matrices and data of studies.
TEST(Hardening, FilesOutsideOfTheFolderOfAModelAreRefused) {
  const TemporaryDirectory directory;
  std::filesystem::create_directories(directory.file("models/parts"));
  directory.write("secret.csv", "0,1\n1,2\n");
  directory.write("secret.stl", "solid s\nendsolid s\n");
  directory.write("secret.json", R"json({"liedyn": 1, "bodies": {"c": {"type": "point", "mass": 1}}})json");
  directory.write("models/inside.csv", "0,1\n1,2\n");
  directory.write("models/parts/inside.json", R"json({"liedyn": 1, "tables": {"f": {"file": "../inside.csv"}},
    "bodies": {"c": {"type": "point", "mass": 1}},
    "forces": {"push": {"type": "force", "on": "c", "force": ["f(t)", 0, 0]}}})json");
  const auto run = [&](const std::string& more, const std::string& option = "") {
    const std::string model = directory.write("models/model.json", with(more));
    return option.empty() ? run_program({"run", model}) : run_program({"run", model, option});
  };
  const std::string files[] = {
      R"json(}}, "tables": {"f": {"file": "../secret.csv"}})json",
      R"json(}}, "tables": {"f": {"file": ")json" + directory.file("secret.csv") + R"json("}})json",
      R"json(}}, "models": {"m": {"file": "../secret.json"}})json",
      R"json(, "shape": {"type": "mesh", "file": "../secret.stl"}}})json"};
  for (const std::string& more : files) {
    const Outcome outcome = run(more);
    EXPECT_EQ(outcome.exit_code, 2) << more;
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("outside of the folder of the model"), HasSubstr("--allow-outside")))
        << more;
  }
  EXPECT_EQ(run(files[0], "--allow-outside").exit_code, 0);
  EXPECT_EQ(run(files[2], "--allow-outside").exit_code, 0);
  EXPECT_EQ(run(R"json(}}, "tables": {"f": {"file": "inside.csv"}})json").exit_code, 0);
  const Outcome inside = run(R"json(}}, "models": {"m": {"file": "parts/inside.json"}})json");
  EXPECT_EQ(inside.exit_code, 0) << inside.err << "a sub-model may name what the outermost model may";
}

// Forty sensors, each twice the one before, would be an expression of 2^40 operations.
TEST(Hardening, ExpressionsDoNotGrowWithoutBound) {
  const TemporaryDirectory directory;
  std::string text = R"json({"liedyn": 1, "bodies": {"b": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1]}},
    "sensors": {"place": {"type": "position", "of": "b"}, "a0": {"type": "expression", "value": "place[0] + t"})json";
  for (int i = 1; i < 40; ++i)
    text +=
        fmt::format(R"json(, "a{}": {{"type": "expression", "value": "a{} + a{}"}})json", i, i - 1, i - 1);
  text += R"json(}, "forces": {"f": {"type": "force", "on": "b", "force": ["a39", 0, 0]}},
    "simulation": {"end": 0.01}})json";
  const Outcome outcome = run_program({"run", directory.write("chain.json", text)});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("has more than 100000 operations"));
}

// The element is named that made it, not the body whose equation it spoils.
TEST(Hardening, WhatIsNotANumberIsTracedToItsElement) {
  const TemporaryDirectory directory;
  const std::string model = directory.write(
      "log.json", R"json({"liedyn": 1, "bodies": {"b": {"type": "rigid", "mass": 1, "inertia": [1, 1, 1],
    "position": [0.05, 0, 0], "velocity": [-1, 0, 0]}}, "sensors": {"place": {"type": "position", "of": "b"}},
    "forces": {"f": {"type": "force", "on": "b", "force": ["log(place[0])", 0, 0]}},
    "simulation": {"end": 0.1, "step": 1e-3}})json");
  const Outcome outcome = run_program({"run", model});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err,
              AllOf(HasSubstr("t = 0.046"), HasSubstr("the contribution of 'forces.f' is infinite or NaN")));
}

}  // namespace
}  // namespace liedyn::testing
