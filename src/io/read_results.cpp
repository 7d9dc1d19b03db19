#include "liedyn/io/read_results.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/result_file.h"

namespace liedyn {
namespace {

[[noreturn]] void wrong(const std::string& file, int line, const std::string& message,
                        const std::string& hint = {}) {
  throw InputError({{file, line, "", message, hint}});
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> out;
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  for (;;) {
    const auto comma = text.find(',');
    out.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

// "position[0]", "position[1]", "position[2]", "energy" are two channels.
std::vector<Channel> channels_of(const std::vector<std::string_view>& names) {
  std::vector<Channel> out;
  for (std::size_t i = 1; i < names.size(); ++i) {
    const std::string name(names[i].substr(0, names[i].find('[')));
    if (!out.empty() && out.back().name == name && names[i].size() > name.size())
      ++out.back().components;
    else
      out.push_back({name, "", static_cast<int>(i), 1});
  }
  return out;
}

}  // namespace

Trajectory read_csv(std::istream& in, const std::string& file) {
  std::string line;
  std::getline(in, line);
  const std::vector<std::string_view> names = split(line);
  if (names.front() != "t")
    wrong(file, 1, fmt::format("expected a first column 't', got '{}'", excerpt(names.front())));
  Trajectory out;
  out.channels = channels_of(names);
  out.columns = static_cast<int>(names.size());
  for (int number = 2; std::getline(in, line); ++number) {
    const std::vector<std::string_view> cells = split(line);
    if (cells.size() != static_cast<std::size_t>(out.columns))
      wrong(file, number, fmt::format("expected {} numbers, got {}", out.columns, cells.size()));
    for (const std::string_view cell : cells) {
      double value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      if (error != std::errc() || end != cell.data() + cell.size())
        wrong(file, number, fmt::format("expected a number, got '{}'", excerpt(cell)));
      out.data.push_back(value);
    }
    // Two rows have the time of an event.
    if (out.rows() > 1 && !(out.at(out.rows() - 1, 0) >= out.at(out.rows() - 2, 0)))
      wrong(file, number, "expected a time not before that of the previous row");
  }
  if (out.rows() == 0) wrong(file, 0, "has no rows");
  return out;
}

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Summary read_summary(const std::string& text, const std::string& file) {
  Summary s;
  try {
    const Json json = Json::parse(text);
    // JSON has no NaN: it is written as null.
    const auto number = [](const Json& from, const char* key) {
      return from.at(key).is_null() ? std::numeric_limits<double>::quiet_NaN() : from.at(key).get<double>();
    };
    const auto word = [&](const char* key) {
      return json.at(key).is_null() ? std::string() : json.at(key).get<std::string>();
    };
    s.date = word("date");
    s.model = word("model");
    s.model_file = word("model_file");
    for (const auto& [path, value] : json.at("set").items()) s.set.emplace_back(path, value.get<double>());
    s.integrator = word("integrator");
    s.formulation = word("formulation");
    s.formulation_chosen = json.at("formulation_chosen").get<bool>();
    s.start = number(json, "start");
    s.end = number(json, "end");
    s.step = number(json, "step");
    s.steps = json.at("steps").get<long>();
    s.least_step = number(json, "least_step");
    s.largest_step = number(json, "largest_step");
    s.rejected = json.at("rejected_steps").get<long>();
    s.newton_iterations = json.at("newton_iterations").get<long>();
    s.jacobian_updates = json.at("jacobian_updates").get<long>();
    s.wall_seconds = number(json, "wall_seconds");
    if (!json.at("allocations_in_loop").is_null())
      s.allocations_in_loop = json.at("allocations_in_loop").get<long>();
    s.unknowns = json.at("unknowns").get<int>();
    s.degrees_of_freedom = json.at("degrees_of_freedom").get<int>();
    s.states = json.at("states").get<int>();
    s.redundant = json.at("redundant_constraints").get<std::vector<std::string>>();
    s.solver = word("solver");
    s.energy_initial = number(json.at("energy"), "initial");
    s.energy_final = number(json.at("energy"), "final");
    s.energy_max_drift = number(json.at("energy"), "max_drift");
    s.residual_position = number(json.at("constraint_residual"), "position");
    s.residual_velocity = number(json.at("constraint_residual"), "velocity");
    s.warnings = json.at("warnings").get<std::vector<std::string>>();
    s.completed = json.at("completed").get<bool>();
    s.failure = word("failure");
    if (!json.at("model_text").is_null())
      s.model_text = std::make_shared<const std::string>(word("model_text"));
  } catch (const nlohmann::json::exception& error) {
    wrong(file, 0, fmt::format("has no summary of a run: {}", excerpt(error.what(), 200)));
  }
  return s;
}

void check_trajectory(const Trajectory& t, const std::string& file) {
  int columns = 1;
  for (const Channel& channel : t.channels) {
    if (channel.components < 1)
      wrong(file, 0,
            fmt::format("'{}': expected at least one component, got {}", excerpt(channel.name),
                        channel.components));
    if (channel.first != columns)
      wrong(file, 0,
            fmt::format("'{}': expected column {} as its first, got {}", excerpt(channel.name), columns,
                        channel.first));
    columns += channel.components;
  }
  if (t.rows() == 0) wrong(file, 0, "has no rows");
  for (std::size_t row = 1; row < t.rows(); ++row)
    if (!(t.at(row, 0) >= t.at(row - 1, 0)))
      wrong(file, 0, fmt::format("expected a time not before {}, got {}", t.at(row - 1, 0), t.at(row, 0)));
}

Result read_result(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  std::error_code ignored;
  if (extension != ".csv" && extension != ".h5")
    wrong(file, 0, "expected a result file that ends with .csv or .h5",
          "liedyn run MODEL --out FILE.csv writes one");
  if (std::filesystem::is_directory(file, ignored)) wrong(file, 0, "cannot be read: it is a directory");
  if (extension == ".h5") return ResultFile(file).load();
  Result out;
  std::ifstream in(file);
  if (!in) wrong(file, 0, fmt::format("cannot be read: {}", std::strerror(errno)));
  out.trajectory = read_csv(in, file);
  out.summary.model = std::filesystem::path(file).stem().string();
  out.summary.start = out.trajectory.at(0, 0);
  out.summary.end = out.trajectory.at(out.trajectory.rows() - 1, 0);
  return out;
}

Trajectory read_results(const std::string& file) { return read_result(file).trajectory; }

namespace {

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// The cells of a line, without blanks around them; quoted ones may hold the separator, and a quote as two.
std::vector<std::string> measured_cells(std::string_view line, char separator) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"')
        out.back() += line[++i];
      else
        quoted = !quoted;
    } else if (c == separator && !quoted) {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  for (std::string& cell : out) cell = trimmed(cell);
  return out;
}

}  // namespace

MeasuredTable read_measured(const std::string& file) {
  std::ifstream in(file);
  if (!in || std::filesystem::is_directory(file))
    wrong(file, 0, fmt::format("cannot be read: {}", in ? "it is a directory" : std::strerror(errno)));
  MeasuredTable out;
  char separator = ',';
  std::vector<std::string> names;
  std::size_t time = 0;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (number == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);  // a byte order mark
    const std::string_view text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    if (names.empty()) {
      for (const char other : {';', '\t'})
        if (line.find(',') == std::string::npos && line.find(other) != std::string::npos) separator = other;
      names = measured_cells(line, separator);
      auto found = std::find(names.begin(), names.end(), "t");
      if (found == names.end()) found = std::find(names.begin(), names.end(), "time");
      if (found == names.end())
        wrong(file, number,
              fmt::format("expected names of columns, one of them 't', got '{}'", excerpt(text)));
      time = static_cast<std::size_t>(found - names.begin());
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (std::count(names.begin(), names.end(), names[i]) > 1)
          wrong(file, number, fmt::format("two columns have the name '{}'", excerpt(names[i])));
        if (i != time) out.names.push_back(names[i]);
      }
      out.columns.resize(out.names.size());
      continue;
    }
    const std::vector<std::string> cells = measured_cells(line, separator);
    if (cells.size() != names.size())
      wrong(file, number, fmt::format("expected {} numbers, got {}", names.size(), cells.size()));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::string& cell = cells[i];
      double value = std::numeric_limits<double>::quiet_NaN();
      if (!cell.empty()) {
        const char* begin = cell.data() + (cell.front() == '+' ? 1 : 0);
        const auto [end, error] = std::from_chars(begin, cell.data() + cell.size(), value);
        if (error != std::errc() || end != cell.data() + cell.size() || std::isinf(value))
          wrong(file, number, fmt::format("expected a finite number, got '{}'", excerpt(cell)));
      }
      if (i == time && std::isnan(value)) wrong(file, number, "expected a time, got none");
      if (i == time)
        out.times.push_back(value);
      else
        out.columns[i - (i > time ? 1 : 0)].push_back(value);
    }
  }
  if (names.empty()) wrong(file, 0, "is empty: expected names of columns, one of them 't'");
  if (out.times.empty()) wrong(file, 0, "has no rows");
  return out;
}

}  // namespace liedyn
