#include "io/read_results.h"

#include <cmath>
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

// As spreadsheets and loggers write it: a byte order mark, quotes, blanks, comments, gaps, the time not first.
TEST_F(ReadResults, TakesWhatOtherProgramsMeasured) {
  const MeasuredTable table = read_measured(write(
      "\xEF\xBB\xBF\"angle\", t ,\"a, b\"\r\n# a comment\r\n0.1, 0, 1\r\n, 0.5, 2\r\nnan,0.25,+3\r\n\r\n"));
  EXPECT_EQ(table.names, (std::vector<std::string>{"angle", "a, b"}));
  EXPECT_EQ(table.times, (std::vector<double>{0, 0.5, 0.25}));
  EXPECT_EQ(table.columns[0][0], 0.1);
  EXPECT_TRUE(std::isnan(table.columns[0][1]) && std::isnan(table.columns[0][2]));
  EXPECT_EQ(table.columns[1], (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(read_measured(write("time;x\n0;1\n")).columns[0][0], 1);
  const auto message = [&](const std::string& text) {
    try {
      read_measured(write(text));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("read without an error");
  };
  EXPECT_THAT(message("t,x,x\n0,1,2\n"), HasSubstr("two columns have the name 'x'"));
  EXPECT_THAT(message("x,y\n0,1\n"), HasSubstr("one of them 't'"));
  EXPECT_THAT(message("t,x\n0,one\n"), HasSubstr(".csv:2"));
  EXPECT_THAT(message("t,x\n0\n"), HasSubstr("expected 2 numbers"));
  EXPECT_THAT(message("t,x\nnan,1\n"), HasSubstr("expected a time"));
  EXPECT_THAT(message(""), HasSubstr("is empty"));
}

}  // namespace
}  // namespace liedyn
