#include "liedyn/io/write_results.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/base/suggest.h"
#include "liedyn/base/version.h"
#include "liedyn/io/result_file.h"
#include "liedyn/io/text_output.h"

namespace liedyn {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// Beside the file, so that renaming it is one step; messages name the file.
std::string unfinished(const std::string& file) { return file + ".part"; }

File open_to_write(const std::string& file) {
  File out(std::fopen(unfinished(file).c_str(), "wb"), &std::fclose);
  if (out == nullptr) cannot_write(file, std::strerror(errno));
  return out;
}

void head_to(fmt::memory_buffer& buffer, const Trajectory& t) {
  fmt::format_to(std::back_inserter(buffer), "{}\n", fmt::join(column_names(t), ","));
}

// The shortest text that is read back as the same number.
void row_to(fmt::memory_buffer& buffer, const Trajectory& t, std::size_t row) {
  for (int column = 0; column < t.columns; ++column)
    fmt::format_to(std::back_inserter(buffer), "{}{}", t.at(row, column),
                   column + 1 < t.columns ? ',' : '\n');
}

void write_csv(const Result& result, const std::string& file) {
  const File out = open_to_write(file);
  fmt::memory_buffer buffer;
  const auto flush = [&] {
    if (std::fwrite(buffer.data(), 1, buffer.size(), out.get()) != buffer.size())
      cannot_write(file, std::strerror(errno));
    buffer.clear();
  };
  head_to(buffer, result.trajectory);
  for (std::size_t row = 0; row < result.trajectory.rows(); ++row) {
    row_to(buffer, result.trajectory, row);
    constexpr std::size_t enough = 1 << 20;
    if (buffer.size() > enough) flush();
  }
  flush();
  if (std::fflush(out.get()) != 0) cannot_write(file, std::strerror(errno));
}

bool is_csv(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  if (extension == ".csv" || extension == ".h5") return extension == ".csv";
  throw InputError("--out",
                   fmt::format("expected a file that ends with .csv or .h5, got '{}'", excerpt(file, 200)));
}

}  // namespace

void check_output(const std::string& file) {
  is_csv(file);
  check_place(file);
  open_to_write(file);
  std::error_code ignored;
  std::filesystem::remove(unfinished(file), ignored);
}

void write_results(const Result& result, const std::string& file,
                   const std::vector<std::pair<double, std::string>>& events) {
  check_output(file);
  if (!is_csv(file)) return write_result_file(result, file, events);
  const std::string part = unfinished(file);
  std::error_code error;
  try {
    write_csv(result, file);
  } catch (...) {
    std::filesystem::remove(part, error);
    throw;
  }
  std::filesystem::rename(part, file, error);
  if (error) cannot_write(file, error.message());
}

std::string csv_rows(const Trajectory& trajectory, std::size_t first) {
  fmt::memory_buffer buffer;
  if (first == 0) head_to(buffer, trajectory);
  for (std::size_t row = first; row < trajectory.rows(); ++row) row_to(buffer, trajectory, row);
  return fmt::to_string(buffer);
}

std::vector<std::string> column_names(const Trajectory& trajectory) {
  std::vector<std::string> names = {"t"};
  for (const Channel& channel : trajectory.channels)
    for (int i = 0; i < channel.components; ++i)
      names.push_back(channel.components == 1 ? channel.name : fmt::format("{}[{}]", channel.name, i));
  return names;
}

std::string summary_json(const Result& result) {
  using Json = nlohmann::ordered_json;
  const Summary& s = result.summary;
  const Trajectory& t = result.trajectory;
  Json sensors = Json::object(), units = Json::object(), set = Json::object();
  for (const auto& [path, value] : s.set) set[path] = value;
  for (const Channel& channel : t.channels) {
    Json value = Json::array();
    for (int i = 0; i < channel.components; ++i)
      value.push_back(t.rows() == 0 ? Json(nullptr) : Json(t.at(t.rows() - 1, channel.first + i)));
    sensors[channel.name] = channel.components == 1 ? value[0] : value;
    units[channel.name] = channel.unit;
  }
  const Json json = {
      {"liedyn", version()},
      {"date", s.date},
      {"model", s.model},
      {"model_file", s.model_file.empty() ? Json(nullptr) : Json(s.model_file)},
      {"set", set},
      {"integrator", s.integrator},
      {"formulation", s.formulation},
      {"formulation_chosen", s.formulation_chosen},
      {"start", s.start},
      {"end", s.end},
      {"step", s.step},
      {"steps", s.steps},
      {"least_step", s.least_step},
      {"largest_step", s.largest_step},
      {"rejected_steps", s.rejected},
      {"newton_iterations", s.newton_iterations},
      {"jacobian_updates", s.jacobian_updates},
      {"wall_seconds", s.wall_seconds},
      {"allocations_in_loop", s.allocations_in_loop < 0 ? Json(nullptr) : Json(s.allocations_in_loop)},
      {"unknowns", s.unknowns},
      {"degrees_of_freedom", s.degrees_of_freedom},
      {"states", s.states},
      {"redundant_constraints", s.redundant},
      {"solver", s.solver},
      {"sensors", sensors},
      {"units", units},
      {"energy",
       {{"initial", s.energy_initial}, {"final", s.energy_final}, {"max_drift", s.energy_max_drift}}},
      {"constraint_residual", {{"position", s.residual_position}, {"velocity", s.residual_velocity}}},
      {"warnings", s.warnings},
      {"completed", s.completed},
      {"failure", s.completed ? Json(nullptr) : Json(s.failure)},
      {"model_text", s.model_text == nullptr ? Json(nullptr) : Json(*s.model_text)},
  };
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace liedyn
