// Arithmetic expressions of named variables: "2*spin + sin(omega*t)". Parsed once into a list of instructions and
// evaluated without allocation for any scalar type, so that dual numbers give the derivatives.
//
//   numbers      1, .5, 2e-3, and pi
//   operators    + - * / ^ and parentheses; ^ binds tightest and to the right: -x^2 = -(x^2), 2^3^2 = 2^9
//   functions    sin cos tan asin acos atan atan2(y, x) sinh cosh tanh exp log sqrt abs sign min(a, b) max(a, b)
//                step(t, t0, t1): 0 before t0, 1 after t1, a quintic with continuous second derivative between
//   variables    names, also with a component: position[2]
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
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

class Expression {
 public:
  // Intermediate values that evaluate() can hold; a deeper expression is refused when it is parsed.
  static constexpr int kMaxDepth = 64;

  Expression() = default;
  // Throws ExpressionError. The names are those of the variables, in the order evaluate() takes their values.
  static Expression parse(std::string_view text, std::span<const std::string> variables);

  template <class S>
  S evaluate(std::span<const S> variables) const;

  bool uses(int variable) const;

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
  };

  struct Instruction {
    Op op;
    std::int32_t variable = 0;  // for Variable
    double constant = 0;        // for Constant and PowerConstant
  };

  // Calculates one instruction on the values on top of the stack and returns the new top.
  template <class S>
  static S* execute(const Instruction& instruction, std::span<const S> variables, S* top);

  template <class S>
  static S smooth_step(const S& t, const S& t0, const S& t1);

  std::vector<Instruction> instructions_;  // postfix
};

template <class S>
S Expression::evaluate(std::span<const S> variables) const {
  // The first place stays empty, so that `top` always points into the array.
  std::array<S, kMaxDepth + 1> stack;
  S* top = stack.data();
  for (const Instruction& instruction : instructions_) top = execute(instruction, variables, top);
  return instructions_.empty() ? S(0) : *top;
}

template <class S>
S* Expression::execute(const Instruction& instruction, std::span<const S> variables, S* top) {
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

}  // namespace liedyn
