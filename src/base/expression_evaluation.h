// How expressions are evaluated, for the few files that do so with numbers that carry derivatives.
#pragma once

#include <array>
#include <cmath>
#include <numbers>

#include "liedyn/base/code_function.h"
#include "liedyn/base/dual.h"
#include "liedyn/base/expression.h"

namespace liedyn {

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
    case Op::Call: {
      const CodeFunction& function = *tables.functions[static_cast<std::size_t>(instruction.variable)];
      top -= function.arguments - 1;
      *top = call(function, static_cast<const S*>(top));
      break;
    }
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
