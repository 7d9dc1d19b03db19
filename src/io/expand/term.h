// A number or an expression of parameters: what may stand for a number in a model file. Arithmetic with numbers gives numbers, the rest gives the text of an
// expression, so that what is derived from parameters stays differentiable.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace liedyn {

class Term {
 public:
  Term(double value = 0) : value_(value) {}         // NOLINT(google-explicit-constructor)
  static Term expression(const std::string& text);  // as a user typed it

  bool is_number() const { return text_.empty(); }
  bool is(double value) const { return is_number() && value_ == value; }
  double number() const { return value_; }
  std::string text() const;  // also of a number, with all its digits

  friend Term operator+(const Term& a, const Term& b);
  friend Term operator-(const Term& a, const Term& b);
  friend Term operator*(const Term& a, const Term& b);
  friend Term operator/(const Term& a, const Term& b);
  friend Term operator-(const Term& a);
  friend Term sin(const Term& a);
  friend Term cos(const Term& a);
  friend Term sqrt(const Term& a);
  Term& operator+=(const Term& other) { return *this = *this + other; }
  friend bool operator==(const Term&, const Term&) = default;

 private:
  enum class Level : std::uint8_t { Sum, Product, Atom };  // what binds the text together
  Term(std::string text, Level level) : text_(std::move(text)), level_(level) {}
  std::string inside(Level level) const;  // in parentheses unless it binds as strongly
  static Term function(const char* name, const Term& a);

  double value_ = 0;
  std::string text_;
  Level level_ = Level::Atom;
};

using Term3 = std::array<Term, 3>;
using TermMatrix = std::array<Term3, 3>;  // rows

Term3 operator+(const Term3& a, const Term3& b);
Term3 operator-(const Term3& a, const Term3& b);
Term3 operator-(const Term3& a);
Term3 operator*(const Term& a, const Term3& b);
Term3 operator*(const TermMatrix& A, const Term3& b);
TermMatrix operator*(const TermMatrix& A, const TermMatrix& B);
Term dot(const Term3& a, const Term3& b);
TermMatrix transposed(const TermMatrix& A);
TermMatrix identity_matrix();
bool is_identity(const TermMatrix& A);

}  // namespace liedyn
