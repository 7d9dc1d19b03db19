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
//   variables    names, also with a component: position[2]
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
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

// Whether expressions have a function of this name.
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
  };

  struct Instruction {
    Op op;
    std::int32_t variable = 0;  // for Variable; arguments of Poly; index of the Curve or Surface
    double constant = 0;        // for Constant and PowerConstant
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
  };

  // The interval of `points` that x is in, the first or the last one if it is outside.
  template <class S>
  static std::size_t interval(const std::vector<double>& points, const S& x);

  // Calculates one instruction on the values on top of the stack and returns the new top.
  template <class S>
  static S* execute(const Instruction& instruction, std::span<const S> variables, const Tables& tables,
                    S* top);

  template <class S>
  static S smooth_step(const S& t, const S& t0, const S& t1);

  std::vector<Instruction> instructions_;  // postfix
  Tables tables_;
};

template <class S>
S Expression::evaluate(std::span<const S> variables) const {
  // The first place stays empty, so that `top` always points into the array.
  std::array<S, kMaxDepth + 1> stack;
  S* top = stack.data();
  for (const Instruction& instruction : instructions_) top = execute<S>(instruction, variables, tables_, top);
  return instructions_.empty() ? S(0) : *top;
}

template <class S>
S* Expression::execute(const Instruction& instruction, std::span<const S> variables, const Tables& tables,
                       S* top) {
  using std::exp, std::log, std::sqrt, std::abs, std::pow;
  using std::sin, std::cos, std::tan, std::asin, std::acos, std::atan, std::atan2, std::sinh, std::cosh,
      std::tanh;
  switch (instruction.op) {
    case Op::Constant: *++top = S(instruction.constant); break;
    case Op::Variable: *++top = variables[static_cast<std::size_t>(instruction.variable)]; break;
    case Op::Negate: *top = -*top; break;
    case Op::Add:
      --top;
      *top = top[0] + top[1];
      break;
    case Op::Subtract:
      --top;
      *top = top[0] - top[1];
      break;
    case Op::Multiply:
      --top;
      *top = top[0] * top[1];
      break;
    case Op::Divide:
      --top;
      *top = top[0] / top[1];
      break;
    case Op::Power:
      --top;
      *top = pow(top[0], top[1]);
      break;
    // Apart from Power: the derivative with respect to an exponent does not exist for negative bases.
    case Op::PowerConstant: *top = pow(*top, instruction.constant); break;
    case Op::Sin: *top = sin(*top); break;
    case Op::Cos: *top = cos(*top); break;
    case Op::Tan: *top = tan(*top); break;
    case Op::Asin: *top = asin(*top); break;
    case Op::Acos: *top = acos(*top); break;
    case Op::Atan: *top = atan(*top); break;
    case Op::Atan2:
      --top;
      *top = atan2(top[0], top[1]);
      break;
    case Op::Sinh: *top = sinh(*top); break;
    case Op::Cosh: *top = cosh(*top); break;
    case Op::Tanh: *top = tanh(*top); break;
    case Op::Exp: *top = exp(*top); break;
    case Op::Log: *top = log(*top); break;
    case Op::Sqrt: *top = sqrt(*top); break;
    case Op::Abs: *top = abs(*top); break;
    case Op::Sign: *top = S(*top > S(0) ? 1.0 : *top < S(0) ? -1.0 : 0.0); break;
    case Op::Min:
      --top;
      if (top[1] < top[0]) *top = top[1];
      break;
    case Op::Max:
      --top;
      if (top[1] > top[0]) *top = top[1];
      break;
    case Op::Step:
      top -= 2;
      *top = smooth_step(top[0], top[1], top[2]);
      break;
    case Op::Poly: {
      const int coefficients = instruction.variable - 1;
      const S* c = top - coefficients + 1;
      const S x = top[-coefficients];
      S sum = c[coefficients - 1];
      for (int i = coefficients - 2; i >= 0; --i) sum = sum * x + c[i];
      top -= coefficients;
      *top = sum;
      break;
    }
    case Op::Harmonic:
      top -= 3;
      *top = top[1] * sin(S(2 * std::numbers::pi) * top[2] * top[0] + top[3]);
      break;
    case Op::Floor: *top = S(std::floor(value(*top))); break;
    case Op::Mod: {
      --top;
      const S whole(std::floor(value(S(top[0] / top[1]))));
      *top = top[0] - top[1] * whole;
      break;
    }
    case Op::Less:
      --top;
      *top = S(top[0] < top[1] ? 1.0 : 0.0);
      break;
    case Op::LessOrEqual:
      --top;
      *top = S(top[0] <= top[1] ? 1.0 : 0.0);
      break;
    case Op::Greater:
      --top;
      *top = S(top[0] > top[1] ? 1.0 : 0.0);
      break;
    case Op::GreaterOrEqual:
      --top;
      *top = S(top[0] >= top[1] ? 1.0 : 0.0);
      break;
    case Op::Equal:
      --top;
      *top = S(top[0] == top[1] ? 1.0 : 0.0);
      break;
    case Op::NotEqual:
      --top;
      *top = S(top[0] == top[1] ? 0.0 : 1.0);
      break;
    case Op::Where:
      top -= 2;
      *top = top[0] == S(0) ? top[2] : top[1];
      break;
    case Op::Curve:
      *top = tables.curves[static_cast<std::size_t>(instruction.variable)].template evaluate<S>(*top);
      break;
    case Op::Surface:
      --top;
      *top = tables.surfaces[static_cast<std::size_t>(instruction.variable)].template evaluate<S>(top[0],
                                                                                                  top[1]);
      break;
  }
  return top;
}

template <class S>
S Expression::smooth_step(const S& t, const S& t0, const S& t1) {
  if (t0 == t1) return S(t < t0 ? 0.0 : 1.0);
  const S s = (t - t0) / (t1 - t0);
  if (s <= S(0)) return S(0);
  if (s >= S(1)) return S(1);
  return s * s * s * (S(10) + s * (S(6) * s - S(15)));
}

template <class S>
std::size_t Expression::interval(const std::vector<double>& points, const S& x) {
  std::size_t low = 0, high = points.size() - 1;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (S(points[middle]) <= x ? low : high) = middle;
  }
  return low;
}

template <class S>
S Expression::Curve::evaluate(const S& x) const {
  if (x <= S(t.front())) return S(pieces.front()[0]) + S(slope_before) * (x - S(t.front()));
  if (x >= S(t.back())) return S(last) + S(slope_after) * (x - S(t.back()));
  const std::size_t i = interval(t, x);
  const std::array<double, 4>& c = pieces[i];
  const S s = x - S(t[i]);
  return S(c[0]) + s * (S(c[1]) + s * (S(c[2]) + s * S(c[3])));
}

// With a and b from 0 to 1 in the cell (i, j),   z = (1 - a) ((1 - b) z_ij + b z_ij+1) + a ((1 - b) z_i+1,j + b z_i+1,j+1)
template <class S>
S Expression::Surface::evaluate(const S& at_x, const S& at_y) const {
  const auto fraction = [](const std::vector<double>& points, const S& u, std::size_t& i) {
    i = interval(points, u);
    const S s = (u - S(points[i])) / S(points[i + 1] - points[i]);
    return s <= S(0) ? S(0) : s >= S(1) ? S(1) : s;
  };
  std::size_t i = 0, j = 0;
  const S a = fraction(x, at_x, i), b = fraction(y, at_y, j);
  const double* row = z.data() + i * y.size() + j;
  const double* next = row + y.size();
  const S here = S(row[0]) + b * S(row[1] - row[0]), there = S(next[0]) + b * S(next[1] - next[0]);
  return here + a * (there - here);
}

}  // namespace liedyn
