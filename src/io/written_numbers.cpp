#include "liedyn/io/written_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "liedyn/base/suggest.h"
#include "liedyn/model/parameter_paths.h"

namespace liedyn {
namespace {

using Mistake = WrittenNumbers::Mistake;

bool append_argument(JsonValue item, std::string& text) {
  if (item.is(JsonType::Number))
    text += fmt::format(", {}", item.number());
  else if (item.is(JsonType::String))
    text += fmt::format(", ({})", item.text());
  else
    return false;
  return true;
}

struct Argument {
  std::string_view name;
  std::string_view otherwise;  // empty: required
};
// The arguments of a function in their order, then ")" and what is added to it.
Mistake append_arguments(JsonValue object, const std::vector<Argument>& arguments, const Argument& added,
                         std::string& text) {
  const auto append = [&](const Argument& argument) -> Mistake {
    const JsonValue value = object.find(argument.name);
    if (!value && argument.otherwise.empty())
      return fmt::format("{}: '{}' is missing", object.key(), argument.name);
    if (!value)
      text += fmt::format(", {}", argument.otherwise);
    else if (!append_argument(value, text))
      return fmt::format("{}: expected a number as {}, got {}", object.key(), argument.name,
                         value.describe());
    return {};
  };
  for (JsonValue value : object) {
    const bool known = value.key() == added.name ||
                       std::ranges::find(arguments, value.key(), &Argument::name) != arguments.end();
    if (!known) return fmt::format("{}: unknown key '{}'", object.key(), excerpt(value.key()));
  }
  for (const Argument& argument : arguments) {
    Mistake mistake = append(argument);
    if (!mistake.empty()) return mistake;
  }
  text += ')';
  const std::size_t end = text.size();
  Mistake mistake = append(added);
  if (mistake.empty()) text.replace(end, 2, " + ");
  return mistake;
}

// from + (to - from) step(t, start, end)
Mistake step_text(JsonValue object, std::string& text) {
  std::string values = "(";
  Mistake mistake =
      append_arguments(object, {{"start", ""}, {"end", ""}, {"from", "0"}, {"to", "1"}}, {"", "0"}, values);
  if (!mistake.empty()) return mistake;
  const auto written = [&](std::string_view name, std::string_view otherwise) {
    std::string out;
    const JsonValue value = object.find(name);
    if (!value) return std::string(otherwise);
    append_argument(value, out);
    return out.substr(2);
  };
  const std::string from = written("from", "0");
  text = fmt::format("{} + ({} - {})*step(t, {}, {})", from, written("to", "1"), from, written("start", ""),
                     written("end", ""));
  return {};
}

// A function of time written as an object is short for an expression of t.
Mistake function_text(JsonValue value, const Tables& tables, std::string& text) {
  const auto shape = value.size() == 1 ? *value.begin() : JsonValue();
  if (shape && shape.key() == "polynomial" && shape.is(JsonType::Array) && shape.size() > 0) {
    text = "poly(t";
    for (JsonValue item : shape)
      if (!append_argument(item, text))
        return fmt::format("expected a number as coefficient, got {}", item.describe());
    text += ')';
    return {};
  }
  if (shape && shape.key() == "harmonic" && shape.is(JsonType::Object)) {
    text = "harmonic(t";
    return append_arguments(shape, {{"amplitude", ""}, {"frequency", ""}, {"phase", "0"}}, {"offset", "0"},
                            text);
  }
  if (shape && shape.key() == "step" && shape.is(JsonType::Object)) return step_text(shape, text);
  if (value.find("table") || value.find("trajectory")) {
    try {
      text = tables.function_of_time(value);
    } catch (const TableError& error) {
      return {error.what(), error.hint()};
    }
    return {};
  }
  return fmt::format(
      "expected a number, an expression or one of {{\"polynomial\": [c0, c1, ...]}}, {{\"harmonic\": "
      "{{amplitude, "
      "frequency, phase, offset}}}}, {{\"step\": {{from, to, start, end}}}}, {{\"table\": [[t, y], ...] or "
      "\"FILE\", \"interpolation\": ...}}, {{\"trajectory\": {{waypoints, speed, acceleration, start}}}}, "
      "got {}",
      value.describe());
}

}  // namespace

// What is wrong with a number at this place; empty if it was collected.
Mistake WrittenNumbers::number(JsonValue value, std::string_view part) {
  if (value.is(JsonType::String)) {
    std::string text;
    try {
      text = tables_.written_out(value.text());
    } catch (const TableError& error) {
      return {error.what(), error.hint()};
    }
    formulas_.push_back({static_cast<int>(values_.size()), value.line(), std::move(text)});
    values_.push_back(0);
  } else if (value.is(JsonType::Object)) {
    std::string text;
    const Mistake mistake = function_text(value, tables_, text);
    if (!mistake.empty()) return mistake;
    formulas_.push_back({static_cast<int>(values_.size()), value.line(), std::move(text)});
    values_.push_back(0);
  } else if (value.is(JsonType::Number)) {
    values_.push_back(value.number());
  } else {
    return fmt::format("expected a number or an expression{}, got {}", part, value.describe());
  }
  return {};
}

// The same for an array of `count` numbers; `place` says where it stands, for the message: " in row 2".
Mistake WrittenNumbers::array(JsonValue value, std::size_t count, std::string_view place) {
  if (!value.is(JsonType::Array) || value.size() != count)
    return fmt::format("expected {} numbers{}, got {}", count, place, value.describe());
  std::size_t i = 0;
  for (JsonValue item : value) {
    const Mistake mistake = number(item, fmt::format(" as number {}{}", ++i, place));
    if (!mistake.empty()) return mistake;
  }
  return {};
}

// An array of `rows` arrays of three numbers.
Mistake WrittenNumbers::rows(JsonValue value, std::size_t rows, std::string_view row_name) {
  if (!value.is(JsonType::Array) || value.size() != rows)
    return fmt::format("expected {} {}s of 3 numbers, got {}", rows, row_name, value.describe());
  std::size_t i = 0;
  for (JsonValue row : value) {
    const Mistake mistake = array(row, 3, fmt::format(" in {} {}", row_name, ++i));
    if (!mistake.empty()) return mistake;
  }
  return {};
}

// One point, or a list of points.
Mistake WrittenNumbers::path(JsonValue value) {
  const bool list = value.is(JsonType::Array) && value.size() > 0 && (*value.begin()).is(JsonType::Array);
  return list ? rows(value, value.size(), "point") : array(value, 3, "");
}

Mistake WrittenNumbers::inertia(JsonValue value) {
  if (!value.is(JsonType::Array) || (value.size() != 3 && value.size() != 6))
    return fmt::format(
        "expected 3 principal moments, 6 numbers (xx, yy, zz, yz, xz, xy) or a 3x3 matrix, got {}",
        value.describe());
  if (value.size() == 6 || !(*value.begin()).is(JsonType::Array)) return array(value, value.size(), "");
  const Mistake mistake = rows(value, 3, "row");
  return mistake.empty() ? keep_symmetric_part() : mistake;
}

// Rows of a symmetric matrix, or its diagonal.
Mistake WrittenNumbers::matrix6(JsonValue value) {
  if (!value.is(JsonType::Array) || value.size() != 6)
    return fmt::format("expected 6 rows of 6 numbers or the 6 numbers of the diagonal, got {}",
                       value.describe());
  if (!(*value.begin()).is(JsonType::Array)) {
    const Mistake mistake = array(value, 6, "");
    if (!mistake.empty()) return mistake;
    std::vector<double> matrix(36, 0.0);
    for (std::size_t i = 0; i < 6; ++i) matrix[7 * i] = values_[i];
    for (Formula& formula : formulas_) formula.index *= 7;
    values_ = std::move(matrix);
    return {};
  }
  int row = 0;
  for (JsonValue line : value) {
    const Mistake mistake = array(line, 6, fmt::format(" in row {}", ++row));
    if (!mistake.empty()) return mistake;
  }
  return make_symmetric(6);
}

// Matrices that are products of others are symmetric up to round-off: mirrored entries become their mean. They may differ by a little compared
// with the entries on the diagonal of their row and column; formulas may not.
Mistake WrittenNumbers::make_symmetric(int size) {
  if (Mistake mistake = symmetry_mistake(size, values_.data()); !mistake.empty()) return mistake;
  const auto value = [this](int i) -> double& { return values_[static_cast<std::size_t>(i)]; };
  for (int r = 0; r < size; ++r)
    for (int c = 0; c < r; ++c) {
      const int below = size * r + c, above = size * c + r;
      if (formula_text(below) != formula_text(above))
        return fmt::format("expected a symmetric matrix, but [{}][{}] and [{}][{}] differ", c, r, r, c);
      value(above) = value(below) = 0.5 * (value(above) + value(below));
    }
  return {};
}

// Turns the nine numbers of a matrix into xx, yy, zz, yz, xz, xy.
Mistake WrittenNumbers::keep_symmetric_part() {
  Mistake mistake = make_symmetric(3);
  if (!mistake.empty()) return mistake;
  constexpr std::array<int, 6> order = {0, 4, 8, 5, 2, 1};
  std::vector<double> values;
  std::vector<Formula> formulas;
  for (int from : order) {
    for (const Formula& formula : formulas_)
      if (formula.index == from)
        formulas.push_back({static_cast<int>(values.size()), formula.line, formula.text});
    values.push_back(values_[static_cast<std::size_t>(from)]);
  }
  values_ = std::move(values);
  formulas_ = std::move(formulas);
  return {};
}

std::string_view WrittenNumbers::formula_text(int index) const {
  for (const Formula& formula : formulas_)
    if (formula.index == index) return formula.text;
  return {};
}

}  // namespace liedyn
