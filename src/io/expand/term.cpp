#include "liedyn/io/expand/term.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

namespace liedyn {

Term Term::expression(const std::string& text) {
  // A number, or a name, perhaps with an index.
  const bool name = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '[' || c == ']';
  });
  return {text, name ? Level::Atom : Level::Sum};
}

std::string Term::text() const { return is_number() ? fmt::format("{}", value_) : text_; }

std::string Term::inside(Level level) const {
  if (is_number()) return value_ < 0 || std::signbit(value_) ? fmt::format("({})", value_) : text();
  return level_ >= level ? text_ : fmt::format("({})", text_);
}

Term operator+(const Term& a, const Term& b) {
  if (a.is_number() && b.is_number()) return a.value_ + b.value_;
  if (a.is(0)) return b;
  if (b.is(0)) return a;
  return {fmt::format("{} + {}", a.inside(Term::Level::Sum), b.inside(Term::Level::Product)),
          Term::Level::Sum};
}

Term operator-(const Term& a, const Term& b) {
  if (a.is_number() && b.is_number()) return a.value_ - b.value_;
  if (a.is(0)) return -b;
  if (b.is(0)) return a;
  if (a == b) return 0.0;
  return {fmt::format("{} - {}", a.inside(Term::Level::Sum), b.inside(Term::Level::Product)),
          Term::Level::Sum};
}

Term operator-(const Term& a) {
  if (a.is_number()) return a.value_ == 0 ? 0.0 : -a.value_;
  return {fmt::format("-{}", a.inside(Term::Level::Product)), Term::Level::Sum};
}

Term operator*(const Term& a, const Term& b) {
  if (a.is_number() && b.is_number()) return a.value_ * b.value_;
  if (a.is(0) || b.is(0)) return 0.0;
  if (a.is(1)) return b;
  if (b.is(1)) return a;
  return {fmt::format("{}*{}", a.inside(Term::Level::Product), b.inside(Term::Level::Atom)),
          Term::Level::Product};
}

Term operator/(const Term& a, const Term& b) {
  if (a.is_number() && b.is_number()) return a.value_ / b.value_;
  if (a.is(0)) return 0.0;
  if (b.is(1)) return a;
  return {fmt::format("{}/{}", a.inside(Term::Level::Product), b.inside(Term::Level::Atom)),
          Term::Level::Product};
}

Term Term::function(const char* name, const Term& a) {
  return {fmt::format("{}({})", name, a.text()), Level::Atom};
}

Term sin(const Term& a) { return a.is_number() ? Term(std::sin(a.value_)) : Term::function("sin", a); }
Term cos(const Term& a) { return a.is_number() ? Term(std::cos(a.value_)) : Term::function("cos", a); }
Term sqrt(const Term& a) { return a.is_number() ? Term(std::sqrt(a.value_)) : Term::function("sqrt", a); }

Term3 operator+(const Term3& a, const Term3& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Term3 operator-(const Term3& a, const Term3& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Term3 operator-(const Term3& a) { return {-a[0], -a[1], -a[2]}; }
Term3 operator*(const Term& a, const Term3& b) { return {a * b[0], a * b[1], a * b[2]}; }
Term dot(const Term3& a, const Term3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
Term3 operator*(const TermMatrix& A, const Term3& b) { return {dot(A[0], b), dot(A[1], b), dot(A[2], b)}; }

TermMatrix transposed(const TermMatrix& A) {
  TermMatrix out;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) out[i][j] = A[j][i];
  return out;
}

TermMatrix operator*(const TermMatrix& A, const TermMatrix& B) {
  const TermMatrix columns = transposed(B);
  TermMatrix out;
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) out[i][j] = dot(A[i], columns[j]);
  return out;
}

TermMatrix identity_matrix() { return {Term3{1, 0, 0}, Term3{0, 1, 0}, Term3{0, 0, 1}}; }
bool is_identity(const TermMatrix& A) { return A == identity_matrix(); }

}  // namespace liedyn
