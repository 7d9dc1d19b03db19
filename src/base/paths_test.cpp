#include "liedyn/base/paths.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace liedyn {
namespace {

namespace fs = std::filesystem;

class Paths : public testing::Test {
 protected:
  void SetUp() override { fs::remove_all(root_); }
  void TearDown() override {
    unsetenv("LIEDYN_MODELS");
    fs::remove_all(root_);
  }

  fs::path make_model(const fs::path& directory, const std::string& name) const {
    fs::path file = root_ / directory / name / "model.json";
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "{}";
    return file;
  }

  const fs::path root_ = fs::path(testing::TempDir()) / "liedyn_paths_test";
};

TEST_F(Paths, FindsShippedModelsFromTheBuildTree) {
  const auto directories = model_directories();
  ASSERT_EQ(directories.size(), 1U);
  EXPECT_EQ(directories[0].filename(), "models");
}

TEST_F(Paths, LooksIntoTheEnvironmentFirstAndInOrder) {
  const fs::path first = make_model("a", "wheel");
  make_model("b", "wheel");
  const fs::path second = make_model("b", "crank");
  setenv("LIEDYN_MODELS", ((root_ / "a").string() + "::" + (root_ / "b").string()).c_str(), 1);
  EXPECT_EQ(find_model("wheel"), first);
  EXPECT_EQ(find_model("crank"), second);
  EXPECT_EQ(find_model("no_such_model"), std::nullopt);
  EXPECT_THAT(model_names(), testing::IsSupersetOf({"crank", "wheel"}));
}

TEST_F(Paths, IgnoresDirectoriesThatDoNotExist) {
  setenv("LIEDYN_MODELS", (root_ / "missing").c_str(), 1);
  EXPECT_EQ(find_model("wheel"), std::nullopt);
  EXPECT_THAT(model_names(), testing::Not(testing::Contains("wheel")));
}

TEST_F(Paths, ModelsNameFilesOfTheirFolderOnly) {
  const fs::path model = make_model("a", "wheel"), shared = make_model("b", "crank");
  const fs::path folder = model.parent_path();
  const std::string file = model.string();
  EXPECT_EQ(outside_of_model(folder / "table.csv", file), "");
  EXPECT_EQ(outside_of_model(folder / "parts/leg.json", file), "");
  EXPECT_EQ(outside_of_model(folder / "parts/../table.csv", file), "");
  EXPECT_THAT(outside_of_model(folder / "../table.csv", file), testing::HasSubstr("outside of the folder"));
  EXPECT_THAT(outside_of_model("/etc/passwd", file), testing::HasSubstr("outside of the folder"));
  EXPECT_THAT(outside_of_model(fs::path(folder.string() + "_2") / "table.csv", file),
              testing::HasSubstr("outside of the folder"))
      << "a folder whose name begins in the same way";
  fs::create_symlink("/etc", folder / "link");
  EXPECT_THAT(outside_of_model(folder / "link/passwd", file), testing::HasSubstr("outside of the folder"));

  // A folder that the user has named, models that programs make, and what the user allows.
  EXPECT_NE(outside_of_model(shared, file), "");
  setenv("LIEDYN_MODELS", (root_ / "b").c_str(), 1);
  EXPECT_EQ(outside_of_model(shared, file), "");
  EXPECT_EQ(outside_of_model("/etc/passwd", ""), "");
  EXPECT_EQ(outside_of_model("/etc/passwd", "model"), "");
  // Written by a program, as the model of another file and as its own.
  const fs::path table = folder / "table.csv", written = make_model("c", "copy");
  EXPECT_NE(outside_of_model(table, written.string()), "");
  stands_for(written.string(), file);
  EXPECT_EQ(outside_of_model(table, written.string()), "");
  EXPECT_THAT(outside_of_model("/etc/passwd", written.string()), testing::HasSubstr(folder.string()));
  stands_for(written.string(), "");
  EXPECT_EQ(outside_of_model("/etc/passwd", written.string()), "");
  setenv("LIEDYN_ALLOW_OUTSIDE", "1", 1);
  EXPECT_EQ(outside_of_model("/etc/passwd", file), "");
  unsetenv("LIEDYN_ALLOW_OUTSIDE");
}

}  // namespace
}  // namespace liedyn
