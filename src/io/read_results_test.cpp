#include "liedyn/io/read_results.h"

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/base/error.h"
#include "liedyn/io/hdf5_file.h"
#include "liedyn/io/write_results.h"

namespace liedyn {
namespace {

using ::testing::HasSubstr;

class ReadResults : public ::testing::Test {
 protected:
  void TearDown() override {
    std::filesystem::remove(file_);
    std::filesystem::remove(hdf5_);
  }
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
  std::string hdf5_ = (std::filesystem::temp_directory_path() / "liedyn_read_results_test.h5").string();
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

// Names whose alphabetical order is another one, a failure, a NaN: all as it was.
TEST_F(ReadResults, Hdf5GivesBackTheWholeResult) {
  Result result;
  result.trajectory.channels = {{"velocity", "m/s", 1, 3}, {"energy", "J", 4, 1}};
  result.trajectory.columns = 5;
  result.trajectory.data = {0, 0.1, 1e-300, -3, 4, 0.5, 1.0 / 3, 2, 3, 4};
  Summary& s = result.summary;
  s.model = "top";
  s.model_file = "top.json";
  s.model_text = std::make_shared<const std::string>("{ \"liedyn\": 1 }");
  s.set = {{"spin", 100}, {"bodies.top.mass", 0.1}};
  s.date = "2026-01-02T03:04:05Z";
  s.integrator = "generalized-alpha";
  s.formulation = "se3";
  s.formulation_chosen = true;
  s.step = 0.5;
  s.least_step = 0.1;
  s.largest_step = 0.7;
  s.rejected = 3;
  s.start = 0;
  s.end = 0.5;
  s.steps = 2;
  s.newton_iterations = 5;
  s.jacobian_updates = 4;
  s.wall_seconds = 0.25;
  s.allocations_in_loop = 7;
  s.energy_initial = 1;
  s.energy_final = std::nan("");
  s.energy_max_drift = 1e-3;
  s.residual_position = 1e-9;
  s.residual_velocity = 1e-8;
  s.unknowns = 9;
  s.degrees_of_freedom = 3;
  s.states = 1;
  s.solver = "dense";
  s.redundant = {"joints.C: x"};
  s.warnings = {"a warning"};
  s.completed = false;
  s.failure = "t = 0.5: no";
  write_results(result, hdf5_);
  const Result read = read_result(hdf5_);
  EXPECT_EQ(read.trajectory.data, result.trajectory.data);
  EXPECT_EQ(summary_json(read), summary_json(result));
  EXPECT_EQ(read_results(hdf5_).columns, 5);
}

TEST_F(ReadResults, SaysWhyAFileIsNoHdf5Result) {
  const auto message = [&] {
    try {
      read_result(hdf5_);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("read without an error");
  };
  EXPECT_THAT(message(), HasSubstr("cannot be read: No such file or directory"));
  std::ofstream(hdf5_) << "t,x\n0,1\n";
  EXPECT_THAT(message(), HasSubstr("cannot be read as HDF5"));
  {
    Hdf5File other(hdf5_);
    other.group("/sensors");
    other.close();
  }
  EXPECT_THAT(message(), HasSubstr("has no table of numbers '/time'"));
  Result result;
  result.trajectory.data = {0, 1};
  std::string summary = summary_json(result);
  {
    Hdf5File other(hdf5_);
    other.rows({{"/time", {}}}, 8);
    other.text("/summary", "{}");
    other.word("/status", "completed");
    other.close();
  }
  EXPECT_THAT(message(), HasSubstr("has no summary of a run"));
  const std::array<double, 3> numbers = {0, 1, 0.5};
  const auto write_with = [&](const char* units, int times) {
    Hdf5File other(hdf5_);
    other.text("/summary", summary.substr(0, summary.rfind("\"units\": {}")) + units +
                               summary.substr(summary.rfind("\"units\": {}") + 11));
    other.word("/status", "completed");
    other.group("/sensors");
    const int time = other.rows({{"/time", {}}}, 8), x = other.rows({{"/sensors/x", {}}}, 8);
    for (int i = 0; i < times; ++i) other.append(time, {&numbers.at(static_cast<std::size_t>(i)), 1});
    for (std::size_t i = 0; i < 2; ++i) other.append(x, {&numbers.at(i), 1});
    other.attribute("/sensors/x", "unit", "m");
    other.close();
  };
  write_with("\"units\": {\"y\": \"m\"}", 2);
  EXPECT_THAT(message(), HasSubstr("has no table of numbers '/sensors/y'"));
  write_with("\"units\": {\"x\": \"m\"}", 1);
  EXPECT_THAT(message(), HasSubstr("expected 1 rows of '/sensors/x', got 2"));
  write_with("\"units\": {}", 3);
  EXPECT_THAT(message(), HasSubstr("expected a time not before 1, got 0.5"));
  write_with("\"units\": {\"x\": \"m\"}", 2);
  EXPECT_EQ(read_result(hdf5_).trajectory.channels.at(0).unit, "m");
}

TEST_F(ReadResults, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(message_for("time,x\n0,1\n"), HasSubstr(":1: expected a first column 't', got 'time'"));
  EXPECT_THAT(message_for("t,x\n0,1\n1\n"), HasSubstr(":3: expected 2 numbers, got 1"));
  EXPECT_THAT(message_for("t,x\n0,one\n"), HasSubstr(":2: expected a number, got 'one'"));
  EXPECT_THAT(message_for("t,x\n1,1\n0.9,2\n"), HasSubstr(":3: expected a time not before"));
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
