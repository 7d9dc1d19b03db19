#include "liedyn/io/expand/scope.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"
#include "liedyn/model/field.h"
#include "liedyn/model/parameter_paths.h"

namespace liedyn {
namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

// R = I + sin(a) n~ + (1 - cos(a)) n~ n~
TermMatrix about(const Term3& n, const Term& angle) {
  const Term s = sin(angle), c = cos(angle), d = Term(1) - c;
  TermMatrix R;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) {
      const Term both = n[i] * n[j];
      // The axis itself stays exactly what it is.
      R[i][j] = i == j && both.is(1) ? Term(1) : d * both + (i == j ? c : Term(0));
    }
  R[0][1] += -(s * n[2]), R[0][2] += s * n[1], R[1][2] += -(s * n[0]);
  R[1][0] += s * n[2], R[2][0] += -(s * n[1]), R[2][1] += s * n[0];
  return R;
}

}  // namespace

Scope::Scope(const Item& root, const std::vector<Assignment>& assignments, Findings& findings)
    : findings_(findings), has_tables_(root.find("tables") != nullptr) {
  const Item* parameters = root.find("parameters");
  if (parameters == nullptr || !parameters->is(JsonType::Object)) return;
  for (const Item& parameter : parameters->items) {
    double value = kNoValue;
    if (parameter.is(JsonType::Number)) value = parameter.number;
    if (parameter.is(JsonType::String)) try {
        value = Expression::parse(parameter.text, names_).evaluate<double>(values_);
      } catch (const ExpressionError&) {  // the reader reports it, or it calls a table
      }
    for (const Assignment& a : assignments)
      if (a.path == parameter.key || a.path == "parameters." + parameter.key) value = a.value;
    names_.add(parameter.key);
    values_.push_back(value);
  }
}

std::optional<Term> Scope::term(const Item& item, const std::string& path) {
  if (item.is(JsonType::Number)) return Term(item.number);
  if (!item.is(JsonType::String)) {
    findings_.expected(path, "a number or an expression of parameters", item);
    return {};
  }
  try {
    Expression::parse(item.text, names_);
  } catch (const ExpressionError& error) {
    findings_.add(path,
                  fmt::format("in the expression '{}', at character {}: {}", excerpt(item.text),
                              error.position() + 1, error.what()),
                  error.hint(), item.origin);
    return {};
  }
  return Term::expression(item.text);
}

std::optional<std::vector<Term>> Scope::terms(const Item& item, std::size_t count, const std::string& path) {
  if (!item.is(JsonType::Array) || item.items.size() != count) {
    findings_.expected(path, fmt::format("{} numbers", count), item);
    return {};
  }
  std::vector<Term> out;
  for (std::size_t i = 0; i < count; ++i)
    if (const auto number = term(item.items[i], fmt::format("{}[{}]", path, i))) out.push_back(*number);
  if (out.size() < count) return {};
  return out;
}

std::optional<Term3> Scope::vector(const Item& item, const std::string& path) {
  const auto numbers = terms(item, 3, path);
  if (!numbers) return {};
  return Term3{(*numbers)[0], (*numbers)[1], (*numbers)[2]};
}

std::optional<TermMatrix> Scope::rotation(const Item& item, const std::string& path) {
  constexpr std::string_view kForms =
      "{\"rotation_vector\": [3 numbers]}, {\"cardan\": [3]}, {\"quaternion\": [4]}, {\"axis\": [3], "
      "\"angle\": a} or "
      "{\"matrix\": [3 rows of 3]}";
  const auto bad = [&](std::string message, std::string hint = {}) -> std::optional<TermMatrix> {
    findings_.add(path, std::move(message), std::move(hint), item.origin);
    return {};
  };
  const Item* axis = item.find("axis");
  const Item* angle = item.find("angle");
  if (item.is(JsonType::Object) && axis != nullptr && angle != nullptr && item.items.size() == 2) {
    const auto n = vector(*axis, path + ".axis");
    const auto a = term(*angle, path + ".angle");
    if (!n || !a) return {};
    const Term length = sqrt(dot(*n, *n));
    if (const double l = value(length); !(l > 0))
      return bad(std::isnan(l) ? "axis: expected a direction, got a length that is not a number"
                               : "axis: expected a direction, got zero",
                 hint_of(l));
    // An axis along one of the axes stays what it is.
    return about(length.is(1) ? *n : Term3{(*n)[0] / length, (*n)[1] / length, (*n)[2] / length}, *a);
  }
  if (!item.is(JsonType::Object) || item.items.size() != 1) {
    findings_.expected(path, kForms, item);
    return {};
  }
  const Item& numbers = item.items[0];
  const std::string inner = fmt::format("{}.{}", path, excerpt(numbers.key));
  if (numbers.key == "rotation_vector") {
    const auto r = vector(numbers, inner);
    if (!r) return {};
    // About one axis the angle is the component itself, also where it is zero.
    for (std::size_t i = 0; i < 3; ++i)
      if ((*r)[(i + 1) % 3].is(0) && (*r)[(i + 2) % 3].is(0)) {
        Term3 n;
        n[i] = 1;
        return about(n, (*r)[i]);
      }
    const Term length = sqrt(dot(*r, *r));
    if (!length.is_number())
      return bad("only one component may be an expression, and the others must be zero",
                 "give {\"axis\": [...], \"angle\": \"...\"}");
    return about({(*r)[0] / length, (*r)[1] / length, (*r)[2] / length}, length);
  }
  if (numbers.key == "cardan") {
    const auto c = vector(numbers, inner);
    if (!c) return {};
    return about({1, 0, 0}, (*c)[0]) * about({0, 1, 0}, (*c)[1]) * about({0, 0, 1}, (*c)[2]);
  }
  if (numbers.key == "quaternion") {
    const auto q = terms(numbers, 4, inner);
    if (!q) return {};
    const Term &w = (*q)[0], &x = (*q)[1], &y = (*q)[2], &z = (*q)[3];
    const Term n = w * w + x * x + y * y + z * z;
    if (const double square = value(n); !(square > 0))
      return bad(std::isnan(square) ? "quaternion: expected a rotation, got a length that is not a number"
                                    : "quaternion: expected a rotation, got zero",
                 hint_of(square));
    const Term s = Term(2) / n;
    return TermMatrix{Term3{Term(1) - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)},
                      Term3{s * (x * y + w * z), Term(1) - s * (x * x + z * z), s * (y * z - w * x)},
                      Term3{s * (x * z - w * y), s * (y * z + w * x), Term(1) - s * (x * x + y * y)}};
  }
  if (numbers.key == "matrix") {
    if (!numbers.is(JsonType::Array) || numbers.items.size() != 3) {
      findings_.expected(inner, "3 rows of 3 numbers", numbers);
      return {};
    }
    TermMatrix R;
    for (std::size_t i = 0; i < 3; ++i) {
      const auto row = vector(numbers.items[i], fmt::format("{}[{}]", inner, i));
      if (!row) return {};
      R[i] = *row;
    }
    double rows[9];
    for (std::size_t i = 0; i < 9; ++i) rows[i] = value(R[i / 3][i % 3]);
    if (const std::string mistake = rotation_mistake(RotationForm::Matrix, rows); !mistake.empty())
      return bad("matrix: " + mistake);
    return R;
  }
  findings_.add(inner, fmt::format("unknown key, expected {}", kForms),
                did_you_mean(numbers.key, kRotationNames), numbers.origin);
  return {};
}

double Scope::value(const Term& term) const {
  if (term.is_number()) return term.number();
  try {
    return Expression::parse(term.text(), names_).evaluate<double>(values_);
  } catch (const ExpressionError&) {
    return kNoValue;
  }
}

std::string Scope::hint_of(double value) const {
  return has_tables_ && std::isnan(value) ? "parameters of shapes cannot depend on tables" : "";
}

bool Scope::is_positive(const Term& term, const Item& item, const std::string& path) {
  const double number = value(term);
  if (std::isfinite(number) && number > 0) return true;
  findings_.add(path,
                std::isnan(number) ? fmt::format("'{}' has no value", excerpt(term.text()))
                                   : fmt::format("expected a positive number, got {}", number),
                hint_of(number), item.origin);
  return false;
}

Item item_of(const Term& term, int origin) {
  return term.is_number() ? Item::of_number(term.number(), origin) : Item::of_text(term.text(), origin);
}
Item item_of(const Term3& terms, int origin) {
  Item out = Item::array(origin);
  for (const Term& term : terms) out.items.push_back(item_of(term, origin));
  return out;
}
Item rotation_item(const TermMatrix& R, int origin) {
  Item rows = Item::array(origin);
  for (const Term3& row : R) rows.items.push_back(item_of(row, origin));
  Item out = Item::object(origin);
  out.set("matrix", std::move(rows));
  return out;
}

}  // namespace liedyn
