// The parameters of a document while it is expanded: numbers and expressions of them become terms, and terms have values.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "liedyn/base/expression.h"
#include "liedyn/io/expand/item.h"
#include "liedyn/io/expand/term.h"
#include "liedyn/io/read_model.h"

namespace liedyn {

class Scope {
 public:
  // The parameters of the outermost object, with the values that are set from outside.
  Scope(const Item& root, const std::vector<Assignment>& assignments, Findings& findings);

  // A number or an expression of parameters; none, with a finding, otherwise.
  std::optional<Term> term(const Item& item, const std::string& path);
  // Several of them: an array of `count`.
  std::optional<std::vector<Term>> terms(const Item& item, std::size_t count, const std::string& path);
  std::optional<Term3> vector(const Item& item, const std::string& path);
  std::optional<TermMatrix> rotation(const Item& item, const std::string& path);

  // With the values that the parameters have now; NaN if one of them is unknown.
  double value(const Term& term) const;
  // The hint for a value that is not a number: it may depend on a table. Empty for others, and without tables.
  std::string hint_of(double value) const;
  // What is not `> 0` gets a finding.
  bool is_positive(const Term& term, const Item& item, const std::string& path);

  Findings& findings() { return findings_; }

 private:
  Findings& findings_;
  VariableNames names_;
  std::vector<double> values_;
  bool has_tables_;
};

// As it stands in a model file.
Item item_of(const Term& term, int origin);
Item item_of(const Term3& terms, int origin);
Item rotation_item(const TermMatrix& R, int origin);  // {"matrix": ...}

// Each name in an expression as what rename(name, called) makes of it, or rename(name, called, index) with the index that follows, "[2]", or nothing. `called`: a
// parenthesis follows.
template <class Rename>
std::string renamed(std::string_view text, const Rename& rename) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const auto letter = [&](std::size_t at) {
      return at < text.size() && ((text[at] >= 'a' && text[at] <= 'z') ||
                                  (text[at] >= 'A' && text[at] <= 'Z') || text[at] == '_');
    };
    const auto digit = [&](std::size_t at) { return at < text.size() && text[at] >= '0' && text[at] <= '9'; };
    const std::size_t begin = i;
    if (digit(i) || (text[i] == '.' && digit(i + 1))) {  // a number, with its exponent
      while (digit(i) || (i < text.size() && text[i] == '.')) ++i;
      if (i < text.size() && (text[i] == 'e' || text[i] == 'E') &&
          (digit(i + 1) ||
           ((i + 1 < text.size()) && (text[i + 1] == '+' || text[i + 1] == '-') && digit(i + 2))))
        for (i += 2; digit(i);) ++i;
      out += text.substr(begin, i - begin);
    } else if (letter(i)) {
      while (letter(i) || digit(i) || (i < text.size() && text[i] == '.' && letter(i + 1))) ++i;
      const std::string_view name = text.substr(begin, i - begin);
      const std::size_t next = text.find_first_not_of(" \t\n\r", i);
      const bool called = next != std::string_view::npos && text[next] == '(';
      if constexpr (std::is_invocable_v<Rename, std::string_view, bool, std::string_view>) {
        std::size_t end = i < text.size() && text[i] == '[' ? i + 1 : i;
        while (end > i && digit(end)) ++end;
        end = end > i + 1 && end < text.size() && text[end] == ']' ? end + 1 : i;
        out += rename(name, called, text.substr(i, end - i));
        i = end;
      } else {
        out += rename(name, called);
      }
    } else {
      out += text[i++];
    }
  }
  return out;
}

}  // namespace liedyn
