#include "liedyn/io/tables.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "liedyn/base/error.h"
#include "liedyn/base/expression.h"
#include "liedyn/base/suggest.h"

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
      else
        is_number = false;
      rest.remove_prefix(stop);
      const std::size_t next = rest.find_first_not_of(" \t\r");
      rest.remove_prefix(next == std::string_view::npos ? rest.size() : next);
      if (!rest.empty() && (rest[0] == ',' || rest[0] == ';')) rest.remove_prefix(1);
    }
    if (row.empty() && is_number) continue;
    const bool heading = !is_number || (first_is_empty && row.size() <= 2);
    if (heading && rows.empty()) continue;
    if (heading) throw TableError(fmt::format("'{}', line {}: expected numbers", excerpt(file), line + 1));
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

// Where the parenthesis that opens at `open` closes, and how many arguments there are between; npos if it does not close.
std::size_t closing(std::string_view text, std::size_t open, int& arguments) {
  int depth = 0;
  arguments = 1;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
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
  if (interpolation != "linear") throw TableError("a table over two variables has linear interpolation only");
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

void Tables::add(std::string_view name, JsonValue table) {
  if (name.empty() || !is_letter(name[0]) ||
      !std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c); }))
    throw TableError("expected a name of letters, digits and underscores that does not begin with a digit");
  if (is_expression_function(name))
    throw TableError(fmt::format("'{}' is a function of expressions", name), "choose another name");
  if (!table.is(JsonType::Object))
    throw TableError(fmt::format("expected an object, got {}", table.describe()));
  Table read;
  if (table.find("values")) {
    check_keys(table, {"x", "y", "values"});
    read = surface(table);
  } else if (const JsonValue file = table.find("file")) {
    check_keys(table, {"file", "interpolation"});
    if (!file.is(JsonType::String))
      throw TableError(fmt::format("file: expected a string, got {}", file.describe()));
    read = from_file(file.text(), interpolation_of(table, "linear"));
  } else if (const JsonValue points = table.find("points")) {
    check_keys(table, {"points", "interpolation"});
    read = through_points(points, interpolation_of(table, "linear"));
  } else {
    check_keys(table, {"points", "file", "x", "y", "values", "interpolation"});
    throw TableError("expected \"points\", \"file\" or \"x\", \"y\" and \"values\"");
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
    while (end < text.size() && (is_letter(text[end]) || is_digit(text[end]))) ++end;
    const std::string_view word = text.substr(i, end - i);
    const std::size_t open = text.find_first_not_of(" \t", end);
    const auto table = tables_.find(word);
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
  check_keys(object, {"table", "interpolation"});
  const JsonValue table = object.find("table");
  // A spline unless something else is asked for: drives need two derivatives.
  const std::string interpolation = interpolation_of(object, "spline");
  const Table read = table.is(JsonType::String) ? from_file(table.text(), interpolation)
                                                : through_points(table, interpolation);
  if (read.arguments != 1) throw TableError("expected a table of two columns, time and value");
  return fmt::format("{}(t{})", read.function, read.points);
}

}  // namespace liedyn
