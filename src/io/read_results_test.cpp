#include "io/read_results.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/write_results.h"

namespace liedyn {
namespace {

using ::testing::HasSubstr;

class ReadResults : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  const std::string& write(const std::string& text) {
    std::ofstream(file_) << text;
    return file_;
  }
  std::string message_for(const std::string& text) {
    try {
      read_results(write(text));
    } catch (const InputError& error) {
      return error.what();
    }
    return "read without an error";
  }
  std::string file_ = (std::filesystem::temp_directory_path() / "liedyn_read_results_test.csv").string();
};

TEST_F(ReadResults, GivesBackWhatWasWritten) {
  Result result;
  result.trajectory.channels = {{"position", "m", 1, 3}, {"energy", "J", 4, 1}, {"speed", "m/s", 5, 1}};
  result.trajectory.columns = 6;
  result.trajectory.data = {0, 0.1, 1e-300, -3, 4, 5, 0.5, 1.0 / 3, 2, 3, 4, 5};
  write_results(result, file_);
  const Trajectory read = read_results(file_);
  EXPECT_EQ(read.data, result.trajectory.data);
  ASSERT_EQ(read.channels.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(read.channels[i].name, result.trajectory.channels[i].name);
    EXPECT_EQ(read.channels[i].first, result.trajectory.channels[i].first);
    EXPECT_EQ(read.channels[i].components, result.trajectory.channels[i].components);
  }
}

TEST_F(ReadResults, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(message_for("time,x\n0,1\n"), HasSubstr(":1: expected a first column 't', got 'time'"));
  EXPECT_THAT(message_for("t,x\n0,1\n1\n"), HasSubstr(":3: expected 2 numbers, got 1"));
  EXPECT_THAT(message_for("t,x\n0,one\n"), HasSubstr(":2: expected a number, got 'one'"));
  EXPECT_THAT(message_for("t,x\n1,1\n1,2\n"), HasSubstr(":3: expected a time later"));
  EXPECT_THAT(message_for("t,x\n"), HasSubstr("has no rows"));
  EXPECT_THROW(read_results("result.h5"), InputError);
  EXPECT_THROW(read_results("/nowhere/result.csv"), InputError);
}

}  // namespace
}  // namespace liedyn
