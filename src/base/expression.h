// Arithmetic expressions of named variables: "2*spin + sin(omega*t)". Parsed once into a list of instructions and
// evaluated without allocation for any scalar type, so that dual numbers give the derivatives.
//
//   numbers      1, .5, 2e-3, and pi
//   operators    + - * / ^ and parentheses; ^ binds tightest and to the right: -x^2 = -(x^2), 2^3^2 = 2^9
//                < <= > >= == != compare two sums: 1 if true, 0 otherwise
//   constants    pi, deg = pi/180 (30*deg)
//   functions    sin cos tan asin acos atan atan2(y, x) sinh cosh tanh exp log sqrt abs sign min(a, b) max(a, b)
//                floor mod(a, b) = a - b floor(a/b)
//                where(condition, a, b): a where the condition is not 0, b elsewhere
//                step(t, t0, t1): 0 before t0, 1 after t1, a quintic with continuous second derivative between
//                poly(x, c0, c1, ...): c0 + c1 x + c2 x^2 + ...
//                harmonic(t, amplitude, frequency, phase): amplitude sin(2 pi frequency t + phase)
//                spline(t, t0, y0, t1, y1, ...): natural cubic spline through points given as constants, straight beyond the ends
//                linear(t, t0, y0, ...), pchip(t, t0, y0, ...): straight pieces; cubic pieces that keep monotone data monotone.
//                Both keep the end values beyond the ends
//                bilinear(x, y, n, x_1 ... x_n, m, y_1 ... y_m, z_11, z_12, ... z_nm): table over two variables, constant beyond the edges
//                and those that the program has registered (base/code_function.h)
//   variables    names, also with a component: position[2]
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "liedyn/base/dual.h"

namespace liedyn {

// What is wrong with an expression, and at which character (counted from 0).
class ExpressionError : public std::runtime_error {
 public:
  ExpressionError(std::size_t position, const std::string& message, std::string hint = {})
      : std::runtime_error(message), position_(position), hint_(std::move(hint)) {}
  std::size_t position() const { return position_; }
  const std::string& hint() const { return hint_; }  // may be empty

 private:
  std::size_t position_;
  std::string hint_;
};

// Names of variables in the order in which an expression takes their values, found by hashing: a model may have many parameters.
class VariableNames {
 public:
  VariableNames() = default;
  explicit VariableNames(const std::vector<std::string>& names) {
    for (const std::string& name : names) add(name);
  }
  // Where names repeat, the last definition holds.
  void add(const std::string& name) {
    index_.insert_or_assign(name, static_cast<int>(names_.size()));
    names_.push_back(name);
  }
  int find(const std::string& name) const {  // -1: there is none
    const auto found = index_.find(name);
    return found == index_.end() ? -1 : found->second;
  }
  const std::string& operator[](std::size_t i) const { return names_[i]; }
  std::size_t size() const { return names_.size(); }
  auto begin() const { return names_.begin(); }
  auto end() const { return names_.end(); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, int> index_;
};

// One of its names is not among the variables.
class UnknownName : public ExpressionError {
 public:
  using ExpressionError::ExpressionError;
};

struct CodeFunction;

// Whether expressions have a function of this name: one of those above, or one that the program has registered.
bool is_built_in_function(std::string_view name);
bool is_expression_function(std::string_view name);

class Expression {
 public:
  // Intermediate values that evaluate() can hold; a deeper expression is refused when it is parsed.
  static constexpr int kMaxDepth = 64;

  Expression() = default;
  // Throws ExpressionError. The names are those of the variables, in the order evaluate() takes their values.
  static Expression parse(std::string_view text, const VariableNames& variables);
  static Expression parse(std::string_view text, const std::vector<std::string>& variables) {
    return parse(text, VariableNames(variables));
  }

  template <class S>
  S evaluate(std::span<const S> variables) const;

  // Puts another expression, of the same variables, in the place of one of them. Throws ExpressionError if it becomes too deep.
  void substitute(int variable, const Expression& by);
  // Variable i is new_index[i] from now on.
  void renumber(const std::vector<int>& new_index);

  // Whether it is a condition, which holds where it is positive: comparisons, joined by min, max, products, sums, 1 - c, where(c, 1, 0).
  bool is_condition() const;
  // All comparisons in it.
  struct Comparison;
  std::vector<Comparison> comparisons() const;

  bool uses(int variable) const;
  std::vector<int> variables() const;  // those that it uses, in their order

 private:
  friend class ExpressionParser;

  enum class Op : std::uint8_t {
    Constant,
    Variable,
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    PowerConstant,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Sqrt,
    Abs,
    Sign,
    Min,
    Max,
    Step,
    Poly,
    Harmonic,
    Floor,
    Mod,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Where,
    Curve,
    Surface,
    Call,
  };

  struct Instruction {
    Op op;
    std::int32_t variable =
        0;                // for Variable; arguments of Poly; index of the Curve, Surface or function to call
    double constant = 0;  // for Constant and PowerConstant
  };

  // A function through points: on the piece from t_i, with s = x - t_i, it is c_0 + s (c_1 + s (c_2 + s c_3)).
  enum class Interpolation : std::uint8_t { Spline, Linear, Pchip };
  struct Curve {
    std::vector<double> t;
    std::vector<std::array<double, 4>> pieces;  // one per interval
    double last = 0;                            // value at the last point
    double slope_before = 0, slope_after = 0;   // beyond the ends
    Curve(Interpolation interpolation, std::vector<double> points, const std::vector<double>& values);
    template <class S>
    S evaluate(const S& x) const;
  };
  // Values z_ij at (x_i, y_j), bilinear between.
  struct Surface {
    std::vector<double> x, y, z;
    template <class S>
    S evaluate(const S& at_x, const S& at_y) const;
  };
  struct Tables {
    std::vector<Curve> curves;
    std::vector<Surface> surfaces;
    std::vector<std::shared_ptr<const CodeFunction>> functions;
  };

  // The interval of `points` that x is in, the first or the last one if it is outside.
  template <class S>
  static std::size_t interval(const std::vector<double>& points, const S& x);

  // Calculates one instruction on the values on top of the stack and returns the new top.
  template <class S>
  static S* execute(const Instruction& instruction, std::span<const S> variables, const Tables& tables,
                    S* top);

  int operands(const Instruction& instruction) const;

  template <class S>
  static S smooth_step(const S& t, const S& t0, const S& t1);

  std::vector<Instruction> instructions_;  // postfix
  Tables tables_;
};

// The difference of the two sides, which is zero where the comparison may begin or cease to hold.
struct Expression::Comparison {
  Expression difference;
  bool is_equality;  // == or !=
};

// Instantiated once; other scalars include base/expression_evaluation.h.
extern template double Expression::evaluate<double>(std::span<const double>) const;

}  // namespace liedyn
