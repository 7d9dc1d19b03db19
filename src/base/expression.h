// Arithmetic expressions of named variables: "2*spin + sin(omega*t)". Parsed once into a list of instructions and
// evaluated without allocation for any scalar type, so that dual numbers give the derivatives.
//
//   numbers      1, .5, 2e-3, and pi
//   operators    + - * / ^ and parentheses; ^ binds tightest and to the right: -x^2 = -(x^2), 2^3^2 = 2^9
//   functions    sin cos tan asin acos atan atan2(y, x) sinh cosh tanh exp log sqrt abs sign min(a, b) max(a, b)
//                step(t, t0, t1): 0 before t0, 1 after t1, a quintic with continuous second derivative between
//                poly(x, c0, c1, ...): c0 + c1 x + c2 x^2 + ...
//                harmonic(t, amplitude, frequency, phase): amplitude sin(2 pi frequency t + phase)
//                spline(t, t0, y0, t1, y1, ...): natural cubic spline through points given as constants, straight beyond the ends
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
    Spline,
  };

  struct Instruction {
    Op op;
    std::int32_t variable = 0;  // for Variable; arguments of Poly; number of the Spline
    double constant = 0;        // for Constant and PowerConstant
  };

  // Knots, values there, and second derivatives there.
  struct Spline {
    std::vector<double> t, y, curvature;
    Spline(std::vector<double> knots, std::vector<double> values);
    template <class S>
    S evaluate(const S& x) const;
  };

  // Calculates one instruction on the values on top of the stack and returns the new top.
  template <class S>
  static S* execute(const Instruction& instruction, std::span<const S> variables,
                    std::span<const Spline> splines, S* top);

  template <class S>
  static S smooth_step(const S& t, const S& t0, const S& t1);

  std::vector<Instruction> instructions_;  // postfix
  std::vector<Spline> splines_;
};

template <class S>
S Expression::evaluate(std::span<const S> variables) const {
  // The first place stays empty, so that `top` always points into the array.
  std::array<S, kMaxDepth + 1> stack;
  S* top = stack.data();
  for (const Instruction& instruction : instructions_)
    top = execute<S>(instruction, variables, splines_, top);
  return instructions_.empty() ? S(0) : *top;
}

template <class S>
S* Expression::execute(const Instruction& instruction, std::span<const S> variables,
                       std::span<const Spline> splines, S* top) {
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
    case Op::Spline:
      *top = splines[static_cast<std::size_t>(instruction.variable)].template evaluate<S>(*top);
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

// On a piece of length h, with a = (t_1 - x)/h and b = (x - t_0)/h,
//   y = a y_0 + b y_1 + ((a^3 - a) y_0'' + (b^3 - b) y_1'') h^2/6
template <class S>
S Expression::Spline::evaluate(const S& x) const {
  const std::size_t last = t.size() - 1;
  const auto slope_at = [&](std::size_t i, std::size_t j) {  // at knot i of the piece with j
    const double h = t[j] - t[i];
    return (y[j] - y[i]) / h - h / 6 * (2 * curvature[i] + curvature[j]);
  };
  if (x <= S(t[0])) return S(y[0]) + S(slope_at(0, 1)) * (x - S(t[0]));
  if (x >= S(t[last])) return S(y[last]) + S(slope_at(last, last - 1)) * (x - S(t[last]));
  std::size_t low = 0, high = last;
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (S(t[middle]) <= x ? low : high) = middle;
  }
  const double h = t[high] - t[low];
  const S a = (S(t[high]) - x) / S(h), b = (x - S(t[low])) / S(h);
  return a * S(y[low]) + b * S(y[high]) +
         ((a * a * a - a) * S(curvature[low]) + (b * b * b - b) * S(curvature[high])) * S(h * h / 6);
}

}  // namespace liedyn
