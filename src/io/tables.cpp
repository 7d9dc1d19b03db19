#include "liedyn/io/tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "liedyn/base/error.h"
#include "liedyn/base/expression.h"
#include "liedyn/base/paths.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/trajectory.h"

namespace liedyn {
namespace {

constexpr std::array<std::string_view, 3> kInterpolations = {"linear", "pchip", "spline"};

std::string interpolation_of(JsonValue object, std::string_view otherwise) {
  const JsonValue value = object.find("interpolation");
  if (!value) return std::string(otherwise);
  if (!value.is(JsonType::String) ||
      std::ranges::find(kInterpolations, value.text()) == kInterpolations.end())
    throw TableError(fmt::format("interpolation: expected one of {}, got {}",
                                 fmt::join(kInterpolations, ", "), value.describe()),
                     value.is(JsonType::String) ? did_you_mean(value.text(), kInterpolations) : "");
  return std::string(value.text());
}

void check_keys(JsonValue object, std::initializer_list<std::string_view> known) {
  for (JsonValue value : object)
    if (std::ranges::find(known, value.key()) == known.end())
      throw TableError(
          fmt::format("unknown key '{}', expected {}", excerpt(value.key()), fmt::join(known, ", ")),
          did_you_mean(value.key(), known));
}

// The numbers of a text, line by line. Lines that do not begin with a number are headings at the top, or mistakes.
std::vector<std::vector<double>> rows_of(const std::string& text, std::string_view file) {
  std::vector<std::vector<double>> rows;
  int line = 0;
  for (std::size_t start = 0; start < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    std::string_view rest = std::string_view(text).substr(start, end - start);
    start = end + 1;
    std::vector<double> row;
    std::string_view wrong;  // the first cell that is no number
    bool is_number = true, first_is_empty = false;
    while (true) {
      const std::size_t begin = rest.find_first_not_of(" \t\r");
      if (begin == std::string_view::npos) break;
      rest.remove_prefix(begin);
      const std::size_t stop = std::min(rest.find_first_of(",; \t\r"), rest.size());
      const std::string_view cell = rest.substr(0, stop);
      double value = 0;
      const auto [last, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      const bool good = error == std::errc{} && last == cell.data() + cell.size() && std::isfinite(value);
      if (!good && row.empty() && !first_is_empty && rows.empty())
        first_is_empty = true, row.push_back(0);  // the corner of a table over two variables, or a heading
      else if (good)
        row.push_back(value);
      else if (std::exchange(is_number, false))
        wrong = cell;
      rest.remove_prefix(stop);
      const std::size_t next = rest.find_first_not_of(" \t\r");
      rest.remove_prefix(next == std::string_view::npos ? rest.size() : next);
      if (!rest.empty() && (rest[0] == ',' || rest[0] == ';')) rest.remove_prefix(1);
    }
    if (row.empty() && is_number) continue;
    const bool heading = !is_number || (first_is_empty && row.size() <= 2);
    if (heading && rows.empty()) continue;
    if (heading)
      throw TableError(fmt::format("'{}', line {}: expected numbers, got {}", excerpt(file), line + 1,
                                   wrong.empty() ? "an empty cell" : fmt::format("'{}'", excerpt(wrong))));
    if (!rows.empty() && row.size() != rows.front().size())
      throw TableError(fmt::format("'{}', line {}: expected {} numbers, got {}", excerpt(file), line + 1,
                                   rows.front().size(), row.size()));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string list_of(const std::vector<double>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

std::vector<double> numbers_of(JsonValue array, std::string_view what) {
  std::vector<double> out;
  if (array && array.is(JsonType::Array))
    for (JsonValue item : array) {
      if (!item.is(JsonType::Number))
        throw TableError(fmt::format("{}: expected numbers, got {}", what, item.describe()));
      out.push_back(item.number());
    }
  if (out.size() < 2) throw TableError(fmt::format("{}: expected a list of at least two numbers", what));
  return out;
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_table_name(std::string_view name) {
  // Tables of sub-models have the name of the sub-model before theirs.
  if (const std::size_t dot = name.find('.'); dot != std::string_view::npos)
    return is_table_name(name.substr(0, dot)) && is_table_name(name.substr(dot + 1));
  return !name.empty() && is_letter(name[0]) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); });
}

// A number, or an expression without variables: "30*deg".
double constant_of(JsonValue value, const std::string& what) {
  double number = std::numeric_limits<double>::quiet_NaN();
  if (value.is(JsonType::Number)) number = value.number();
  if (value.is(JsonType::String)) try {
      number = Expression::parse(value.text(), VariableNames()).evaluate<double>({});
    } catch (const UnknownName& error) {
      throw TableError(
          fmt::format("{}: {}", what, error.what()),
          "the times of a trajectory are computed when the model is read: parameters cannot change it");
    } catch (const ExpressionError& error) {
      throw TableError(fmt::format("{}: {}", what, error.what()), error.hint());
    }
  if (!std::isfinite(number))
    throw TableError(fmt::format("{}: expected a finite number, got {}", what, value.describe()));
  return number;
}
std::vector<double> waypoints_of(JsonValue array, const std::string& what) {
  if (!array.is(JsonType::Array) || array.size() < 2)
    throw TableError(fmt::format("{}: expected at least two numbers, got {}", what, array.describe()));
  std::vector<double> out;
  for (JsonValue item : array) out.push_back(constant_of(item, what));
  return out;
}

// Where the parenthesis that opens at `open` closes, and how many arguments there are between; npos if it does not close.
std::size_t closing(std::string_view text, std::size_t open, int& arguments) {
  int depth = 0;
  arguments = 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) {
      if (text.substr(open + 1, i - open - 1).find_first_not_of(" \t\n\r") == std::string_view::npos)
        arguments = 0;
      return i;
    }
    if (text[i] == ',' && depth == 1) ++arguments;
  }
  return std::string_view::npos;
}

}  // namespace

Tables::Table Tables::through_points(JsonValue points, std::string_view interpolation) const {
  Table out{std::string(interpolation), "", 1};
  if (!points.is(JsonType::Array) || points.size() < 2)
    throw TableError(fmt::format("expected at least two points [x, y], got {}", points.describe()));
  for (JsonValue point : points) {
    if (!point.is(JsonType::Array) || point.size() != 2)
      throw TableError(fmt::format("expected points [x, y], got {}", point.describe()));
    for (JsonValue item : point) {
      if (item.is(JsonType::Number))
        out.points += fmt::format(", {}", item.number());
      else if (item.is(JsonType::String))
        out.points += fmt::format(", ({})", item.text());
      else
        throw TableError(fmt::format("expected a number in the table, got {}", item.describe()));
    }
  }
  return out;
}

Tables::Table Tables::from_file(std::string_view file, std::string_view interpolation) const {
  std::filesystem::path path(file);
  if (path.is_relative()) path = std::filesystem::path(model_file_).parent_path() / path;
  if (const std::string outside = outside_of_model(path, model_file_); !outside.empty())
    throw TableError(fmt::format("'{}': {}", excerpt(file, 200), outside), kAllowOutside);
  std::vector<std::vector<double>> rows;
  try {
    rows = rows_of(read_text_file(path.string()), file);
  } catch (const InputError& error) {
    const bool beside = !model_file_.empty() && std::filesystem::path(file).is_relative();
    throw TableError(
        fmt::format("the file '{}': {}{}", excerpt(file, 200), error.diagnostics().front().message,
                    beside ? fmt::format("; its path is relative to the model file, so it was "
                                         "looked for at '{}'",
                                         excerpt(path.string(), 200))
                           : ""),
        error.diagnostics().front().hint);
  }
  if (rows.size() < 2 || rows.front().size() < 2)
    throw TableError(fmt::format("'{}': expected at least two lines of two numbers", excerpt(file)));
  if (rows.front().size() == 2) {
    Table out{std::string(interpolation), "", 1};
    for (const std::vector<double>& row : rows) out.points += fmt::format(", {}, {}", row[0], row[1]);
    return out;
  }
  // The first line has the values of y, the first column those of x.
  std::vector<double> x, z;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    x.push_back(rows[i][0]);
    z.insert(z.end(), rows[i].begin() + 1, rows[i].end());
  }
  const std::vector<double> y(rows[0].begin() + 1, rows[0].end());
  return {"bilinear",
          fmt::format(", {}, {}, {}, {}, {}", x.size(), list_of(x), y.size(), list_of(y), list_of(z)), 2};
}

Tables::Table Tables::surface(JsonValue table) {
  const std::vector<double> x = numbers_of(table.find("x"), "x"), y = numbers_of(table.find("y"), "y");
  const JsonValue values = table.find("values");
  if (!values || !values.is(JsonType::Array) || values.size() != x.size())
    throw TableError(
        fmt::format("values: expected {} rows of {} numbers, one row for each x", x.size(), y.size()));
  std::vector<double> z;
  for (JsonValue row : values) {
    const std::vector<double> numbers = numbers_of(row, "values");
    if (numbers.size() != y.size())
      throw TableError(fmt::format("values: expected rows of {} numbers, one for each y, got {}", y.size(),
                                   numbers.size()));
    z.insert(z.end(), numbers.begin(), numbers.end());
  }
  return {"bilinear",
          fmt::format(", {}, {}, {}, {}, {}", x.size(), list_of(x), y.size(), list_of(y), list_of(z)), 2};
}

Tables::Motion Tables::motion(JsonValue object) {
  if (!object.is(JsonType::Object))
    throw TableError(
        fmt::format("expected an object with waypoints, speed and acceleration, got {}", object.describe()));
  check_keys(object, {"waypoints", "speed", "acceleration", "start"});
  for (const char* key : {"waypoints", "speed", "acceleration"})
    if (!object.find(key)) throw TableError(fmt::format("{}: missing", key));
  const JsonValue waypoints = object.find("waypoints");
  std::vector<std::string> names;
  std::vector<std::vector<double>> values;
  if (waypoints.is(JsonType::Object)) {
    for (JsonValue value : waypoints) {
      const std::string what = "waypoints." + excerpt(value.key());
      if (!is_table_name(value.key()) || value.key() == "end")
        throw TableError(what + ": expected a name of letters, digits and underscores, other than 'end'");
      if (std::ranges::find(names, value.key()) != names.end()) throw TableError(what + ": is given twice");
      names.emplace_back(value.key());
      values.push_back(waypoints_of(value, what));
      if (values.back().size() != values.front().size())
        throw TableError(fmt::format("{}: expected {} waypoints as of '{}', got {}", what,
                                     values.front().size(), names.front(), values.back().size()),
                         "all coordinates pass their waypoints at the same times");
    }
    if (names.empty()) throw TableError("waypoints: expected at least one coordinate, got none");
  } else {
    names.emplace_back();
    values.push_back(waypoints_of(waypoints, "waypoints"));
  }
  constexpr std::size_t kMostWaypoints = 1000;
  if (values.front().size() > kMostWaypoints)
    throw TableError(
        fmt::format("waypoints: expected at most {}, got {}", kMostWaypoints, values.front().size()));
  for (std::size_t i = 0; i + 1 < values.front().size(); ++i)
    if (std::ranges::all_of(values, [&](const auto& of) { return of[i] == of[i + 1]; }))
      throw TableError(fmt::format("waypoints: the waypoints {} and {} are the same", i + 1, i + 2),
                       "leave one of them out; for a pause, use two trajectories with different `start`");

  const auto limits = [&](const char* key) {
    const JsonValue given = object.find(key);
    std::vector<double> out;
    if (given.is(JsonType::Object))
      for (JsonValue value : given)
        if (std::ranges::find(names, value.key()) == names.end())
          throw TableError(fmt::format("{}: there are no waypoints of '{}'", key, excerpt(value.key())),
                           did_you_mean(value.key(), names));
    for (const std::string& name : names) {
      const JsonValue value = given.is(JsonType::Object) ? given.find(name) : given;
      const std::string what =
          given.is(JsonType::Object) ? fmt::format("{}.{}", key, name) : std::string(key);
      if (!value) throw TableError(what + ": missing");
      out.push_back(constant_of(value, what));
      if (!(out.back() > 0))
        throw TableError(fmt::format("{}: expected a positive number, got {}", what, out.back()));
    }
    return out;
  };
  const JsonValue start = object.find("start");
  const TimedWaypoints found = trajectory_through(values, limits("speed"), limits("acceleration"),
                                                  start ? constant_of(start, "start") : 0.0);
  Motion out;
  out.end = found.times.back();
  for (std::size_t c = 0; c < names.size(); ++c) {
    // spline(min(end, max(start, x)), points): exactly at rest at both ends and beyond.
    Table table{fmt::format("spline(min({}, max({}, ", found.times.back(), found.times.front()), ")))", 1};
    for (std::size_t k = 0; k < found.times.size(); ++k)
      table.points += fmt::format(", {}, {}", found.times[k], found.values[c][k]);
    out.coordinates.emplace_back(names[c], std::move(table));
  }
  return out;
}

void Tables::add(std::string_view name, JsonValue table) {
  try {
    read(name, table);
  } catch (const TableError&) {
    failed_.emplace(name);
    throw;
  }
}

void Tables::read(std::string_view name, JsonValue table) {
  if (!is_table_name(name))
    throw TableError("expected a name of letters, digits and underscores that does not begin with a digit");
  if (is_built_in_function(name))
    throw TableError(fmt::format("'{}' is a function of expressions", name), "choose another name");
  if (!table.is(JsonType::Object))
    throw TableError(fmt::format("expected an object, got {}", table.describe()),
                     "for example {\"points\": [[0, 0], [1, 2]]} or {\"file\": \"road.csv\"}");
  if (table.find("waypoints")) {
    Motion motion = Tables::motion(table);
    std::string& names = motions_[std::string(name)];
    for (auto& [coordinate, read] : motion.coordinates) {
      if (!coordinate.empty()) names += fmt::format("{}{}.{}", names.empty() ? "" : ", ", name, coordinate);
      tables_.emplace(coordinate.empty() ? std::string(name) : fmt::format("{}.{}", name, coordinate),
                      std::move(read));
    }
    constants_.emplace(fmt::format("{}.end", name), fmt::format("({})", motion.end));
    return;
  }
  Table read;
  if (table.find("values")) {
    check_keys(table, {"x", "y", "values"});
    read = surface(table);
  } else if (const JsonValue file = table.find("file")) {
    check_keys(table, {"file", "interpolation"});
    if (!file.is(JsonType::String))
      throw TableError(fmt::format("file: expected a string, got {}", file.describe()));
    const std::string interpolation = interpolation_of(table, "linear");
    read = from_file(file.text(), interpolation);
    if (read.arguments == 2 && interpolation != "linear")
      throw TableError("a table over two variables has linear interpolation only");
  } else if (const JsonValue points = table.find("points")) {
    check_keys(table, {"points", "interpolation"});
    read = through_points(points, interpolation_of(table, "linear"));
  } else {
    check_keys(table, {"points", "file", "x", "y", "values", "interpolation", "waypoints", "speed",
                       "acceleration", "start"});
    throw TableError("expected \"points\", \"file\", \"waypoints\" or \"x\", \"y\" and \"values\"",
                     table.find("x") && table.find("y")
                         ? "a curve is written point by point: \"points\": [[x1, y1], [x2, y2]]"
                         : "");
  }
  // The points are checked here, once, instead of in every expression.
  try {
    const std::string call =
        fmt::format("{}(x{}{})", read.function, read.arguments == 2 ? ", x" : "", read.points);
    if (read.points.find('(') == std::string::npos) Expression::parse(call, std::vector<std::string>{"x"});
  } catch (const ExpressionError& error) {
    throw TableError(error.what(), error.hint());
  }
  tables_.emplace(name, std::move(read));
}

std::string Tables::written_out(std::string_view text) const {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    if (!is_letter(text[i])) {
      out += text[i++];
      continue;
    }
    std::size_t end = i;
    const auto continues = [&](std::size_t at) {
      return at < text.size() && (is_letter(text[at]) || is_digit(text[at]));
    };
    // A coordinate of a trajectory stands behind a dot, move.shoulder(t).
    while (continues(end) || (end + 1 < text.size() && text[end] == '.' && is_letter(text[end + 1]))) ++end;
    const std::string_view word = text.substr(i, end - i);
    const std::size_t open = text.find_first_not_of(" \t", end);
    const auto table = tables_.find(word);
    if (const auto constant = constants_.find(word); constant != constants_.end()) {
      out += constant->second;
      i = end;
      continue;
    }
    const std::size_t dot = word.rfind('.');
    if (failed_.contains(word.substr(0, dot)) && !variables_.contains(word)) {
      int arguments = 0;
      const bool called = open != std::string_view::npos && text[open] == '(';
      const std::size_t close = called ? closing(text, open, arguments) : end - 1;
      out += '1';
      i = close == std::string_view::npos ? text.size() : close + 1;
      continue;
    }
    if (const auto of = motions_.find(word.substr(0, dot)); of != motions_.end() && table == tables_.end())
      throw TableError(fmt::format("the trajectory '{}' has no '{}'", of->first, excerpt(word)),
                       of->second.empty() ? fmt::format("write {0}(t) or {0}.end", of->first)
                                          : fmt::format("its functions of time are {}, and it has {}.end",
                                                        of->second, of->first));
    if (table == tables_.end() || open == std::string_view::npos || text[open] != '(') {
      if (table != tables_.end() && !variables_.contains(word))
        throw TableError(fmt::format("the table '{0}' is a function: write {0}({1})", word,
                                     table->second.arguments == 1 ? "x" : "x, y"),
                         "a function of time has the argument t");
      out += word;
      i = end;
      continue;
    }
    int arguments = 0;
    const std::size_t close = closing(text, open, arguments);
    if (close == std::string_view::npos) return std::string(text);  // whoever parses it says what is missing
    if (arguments != table->second.arguments)
      throw TableError(fmt::format("the table '{}' takes {} argument{}, got {}", word,
                                   table->second.arguments, table->second.arguments == 1 ? "" : "s",
                                   arguments));
    out += fmt::format("{}({}{})", table->second.function,
                       written_out(text.substr(open + 1, close - open - 1)), table->second.points);
    i = close + 1;
  }
  return out;
}

std::string Tables::function_of_time(JsonValue object) const {
  if (const JsonValue trajectory = object.find("trajectory")) {
    check_keys(object, {"trajectory"});
    const Motion read = motion(trajectory);
    if (!read.coordinates.front().first.empty())
      throw TableError(
          "trajectory: expected waypoints of one coordinate, [first, second, ...]",
          "give one of several coordinates a name among the tables, and call NAME.COORDINATE(t)");
    const Table& table = read.coordinates.front().second;
    return fmt::format("{}(t{})", table.function, table.points);
  }
  check_keys(object, {"table", "interpolation"});
  const JsonValue table = object.find("table");
  // A spline unless something else is asked for: drives need two derivatives.
  const std::string interpolation = interpolation_of(object, "spline");
  const Table read = table.is(JsonType::String) ? from_file(table.text(), interpolation)
                                                : through_points(table, interpolation);
  if (read.arguments != 1)
    throw TableError("expected a table of two columns, time and value, got one over two variables");
  return fmt::format("{}(t{})", read.function, read.points);
}

}  // namespace liedyn
