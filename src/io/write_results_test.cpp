#include "liedyn/io/write_results.h"

#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/io/hdf5_file.h"

namespace liedyn {
namespace {

Result example() {
  Result result;
  result.summary.model = "example";
  result.summary.integrator = "generalized-alpha,rho=0.9";
  result.summary.steps = 2;
  result.summary.date = "2026-01-02T03:04:05Z";
  result.summary.set = {{"spin", 100}, {"bodies.top.mass", 0.1}};
  result.summary.model_text = std::make_shared<const std::string>(R"({ "liedyn": 1 })");
  result.summary.energy_initial = 1.0 / 3;
  result.trajectory.channels = {{"position", "m", 1, 3}, {"energy", "J", 4, 1}};
  result.trajectory.columns = 5;
  result.trajectory.data = {0,   1,       2,       3,     4,
                            0.1, 1.0 / 3, -2e-300, 3e300, std::numeric_limits<double>::denorm_min()};
  return result;
}

class WriteResults : public testing::Test {
 protected:
  WriteResults() { std::filesystem::create_directories(directory_); }
  ~WriteResults() override { std::filesystem::remove_all(directory_); }
  std::string file(const std::string& name) const { return (directory_ / name).string(); }
  std::filesystem::path directory_ = std::filesystem::path(testing::TempDir()) / "liedyn_write_results";
};

TEST_F(WriteResults, CsvIsReadBackBitByBit) {
  const Result result = example();
  write_results(result, file("r.csv"));
  std::ifstream in(file("r.csv"));
  std::string line;
  std::getline(in, line);
  EXPECT_EQ(line, "t,position[0],position[1],position[2],energy");
  std::size_t i = 0;
  while (std::getline(in, line)) {
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');)
      EXPECT_EQ(std::strtod(cell.c_str(), nullptr), result.trajectory.data.at(i++)) << cell;
  }
  EXPECT_EQ(i, result.trajectory.data.size());
}

std::string text_attribute(hid_t object, const char* name) {
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  EXPECT_EQ(H5Tis_variable_str(type), 0) << name;
  std::string text(H5Tget_size(type), ' ');
  EXPECT_GE(H5Aread(attribute, type, text.data()), 0) << name;
  H5Tclose(type);
  H5Aclose(attribute);
  return text;
}

TEST_F(WriteResults, Hdf5HoldsOneDatasetPerSensor) {
  const Result result = example();
  write_results(result, file("r.h5"));
  const hid_t in = H5Fopen(file("r.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(in, 0);

  const hid_t position = H5Dopen2(in, "/sensors/position", H5P_DEFAULT);
  std::array<double, 6> values{};
  ASSERT_GE(H5Dread(position, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
  EXPECT_EQ(values, (std::array<double, 6>{1, 2, 3, 1.0 / 3, -2e-300, 3e300}));
  EXPECT_EQ(text_attribute(position, "unit"), "m");
  H5Dclose(position);

  const hid_t time = H5Dopen2(in, "/time", H5P_DEFAULT);
  std::array<double, 2> times{};
  ASSERT_GE(H5Dread(time, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, times.data()), 0);
  EXPECT_EQ(times, (std::array<double, 2>{0, 0.1}));
  H5Dclose(time);

  EXPECT_EQ(text_attribute(in, "set"), "spin=100 bodies.top.mass=0.1");
  EXPECT_EQ(text_attribute(in, "date"), "2026-01-02T03:04:05Z");
  EXPECT_EQ(text_attribute(in, "model"), "{ \"liedyn\": 1 }");
  H5Fclose(in);
  EXPECT_EQ(Hdf5Input(file("r.h5")).text("/summary"), summary_json(result));
}

TEST_F(WriteResults, Hdf5TakesTheSummaryOfManySensors) {
  Result result;
  constexpr int sensors = 5000;
  result.trajectory.columns = sensors + 1;
  result.trajectory.data.assign(sensors + 1, 0.1);
  for (int i = 0; i < sensors; ++i)
    result.trajectory.channels.push_back({"sensor" + std::to_string(i), "m", i + 1, 1});
  ASSERT_GT(summary_json(result).size(), 65536u);
  write_results(result, file("r.h5"));
  EXPECT_EQ(Hdf5Input(file("r.h5")).text("/summary"), summary_json(result));
}

TEST_F(WriteResults, OnlyTheFinishedFileRemains) {
  for (const char* name : {"r.csv", "r.h5"}) {
    check_output(file(name));
    EXPECT_FALSE(std::filesystem::exists(file(name))) << "the check left " << name;
    write_results(example(), file(name));
    write_results(example(), file(name));  // over the first
    EXPECT_TRUE(std::filesystem::exists(file(name)));
    EXPECT_FALSE(std::filesystem::exists(file(name) + ".part"));
  }
}

TEST_F(WriteResults, ImpossiblePlacesAreNamedBeforeTheRun) {
  const auto message = [](const std::string& name) {
    try {
      check_output(name);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(message("r.txt"), "--out: expected a file that ends with .csv or .h5, got 'r.txt'");
  EXPECT_EQ(message("r"), "--out: expected a file that ends with .csv or .h5, got 'r'");
  EXPECT_EQ(message(file("missing/r.h5")),
            file("missing/r.h5") + ": cannot be written: there is no folder '" + file("missing") + "'");
  std::filesystem::create_directories(file("directory.csv"));
  EXPECT_EQ(message(file("directory.csv")), file("directory.csv") + ": cannot be written: it is a directory");
  for (const char* name : {"missing/r.csv", "missing/r.h5"})
    EXPECT_THROW(write_results(example(), file(name)), InputError) << name;
  try {
    write_results(example(), file("missing/r.csv"));
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(),
              file("missing/r.csv") + ": cannot be written: there is no folder '" + file("missing") + "'");
  }
}

TEST(SummaryJson, HoldsTheFinalValuesWithAllDigits) {
  const nlohmann::json json = nlohmann::json::parse(summary_json(example()));
  EXPECT_EQ(json["model"], "example");
  EXPECT_EQ(json["steps"], 2);
  EXPECT_EQ(json["sensors"]["position"], nlohmann::json({1.0 / 3, -2e-300, 3e300}));
  EXPECT_EQ(json["sensors"]["energy"], std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(json["units"]["position"], "m");
  EXPECT_EQ(json["energy"]["initial"], 1.0 / 3);
  EXPECT_EQ(json["completed"], true);
  EXPECT_TRUE(json["failure"].is_null());
  EXPECT_EQ(json["set"], nlohmann::json({{"spin", 100.0}, {"bodies.top.mass", 0.1}}));
  EXPECT_EQ(json["date"], "2026-01-02T03:04:05Z");
  EXPECT_EQ(json["model_text"], "{ \"liedyn\": 1 }");
  EXPECT_TRUE(json["model_file"].is_null());
  EXPECT_TRUE(json["allocations_in_loop"].is_null()) << "not counted";
  for (const char* key : {"integrator", "formulation", "step", "end", "newton_iterations", "jacobian_updates",
                          "wall_seconds", "allocations_in_loop", "constraint_residual"})
    EXPECT_TRUE(json.contains(key)) << key;
}

}  // namespace
}  // namespace liedyn
