// The numbers of one field as a model file writes them: plain, as expressions, as functions of time, as points or as rows of a matrix.
// What each function returns is wrong with them; empty if they were collected.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/io/json.h"
#include "liedyn/io/tables.h"

namespace liedyn {

class WrittenNumbers {
 public:
  struct Mistake {
    std::string message, hint;

    Mistake() = default;
    Mistake(std::string what, std::string to_try = {}) : message(std::move(what)), hint(std::move(to_try)) {}
    bool empty() const { return message.empty(); }
  };
  struct Formula {
    int index;  // in values()
    int line;
    std::string text;
  };

  explicit WrittenNumbers(const Tables& tables) : tables_(tables) {}

  void clear() { values_.clear(), formulas_.clear(); }
  const std::vector<double>& values() const { return values_; }  // 0 where there is an expression
  const std::vector<Formula>& formulas() const { return formulas_; }

  // `part` says which one it is: " as angle".
  Mistake number(JsonValue value, std::string_view part);
  // `place` says where the array stands: " in row 2".
  Mistake array(JsonValue value, std::size_t count, std::string_view place);
  // An array of `count` arrays of three numbers.
  Mistake rows(JsonValue value, std::size_t count, std::string_view row_name);
  // One point, or a list of points.
  Mistake path(JsonValue value);
  // Three moments, six numbers or a matrix: xx, yy, zz, yz, xz, xy.
  Mistake inertia(JsonValue value);
  // Rows of a symmetric matrix, or its diagonal.
  Mistake matrix6(JsonValue value);

 private:
  Mistake make_symmetric(int size);
  Mistake keep_symmetric_part();
  std::string_view formula_text(int index) const;

  const Tables& tables_;
  std::vector<double> values_;
  std::vector<Formula> formulas_;
};

}  // namespace liedyn
