// Functions of a program that expressions may call by name, as they call sin: a controller written in Python, a law of a C++ program.
//
//   register_function({"grip", 2, [](const double* x) { return x[0] > 0.1 ? -x[1] : 0.0; }});      then "5*grip(depth, rate)"
//
// Derivatives follow from the partial derivatives that the function brings. Without them they are central differences.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "liedyn/base/dual.h"

namespace liedyn {

struct CodeFunction {
  static constexpr int kMaxArguments = 32;

  std::string name;
  int arguments = 1;
  std::function<double(const double* x)> value;
  std::function<void(const double* x, double* out)> gradient;  // may be empty
  std::vector<double> scales;                                  // of the arguments, for differences; empty: 1

  // df/dx_i and d2f/dx_i dx_j. `x` is changed and restored.
  double slope(double* x, int i) const;
  double curvature(double* x, int i, int j) const;

 private:
  double scale(int i) const;
};

// From now on expressions know it; those read before keep the function of this name that they found. Throws InputError if the name is none, or
// belongs to the expressions themselves, or if the number of arguments is not 1 to kMaxArguments.
void register_function(CodeFunction function);
std::shared_ptr<const CodeFunction> find_code_function(std::string_view name);  // null: there is none
// Those without a gradient that a text calls.
std::vector<std::string> differenced_functions(std::string_view text);

// How often a number can be differentiated.
template <class S>
inline constexpr int derivative_order = std::is_same_v<S, double> ? 0 : 1;
template <class T, int N>
inline constexpr int derivative_order<Dual<T, N>> = 1 + derivative_order<T>;

// No derivative is other than zero.
constexpr bool is_constant(double) { return true; }
template <class T, int N>
bool is_constant(const Dual<T, N>& x) {
  bool constant = is_constant(x.v);
  for (const T& d : x.d) constant = constant && value(d) == 0 && is_constant(d);
  return constant;
}

[[noreturn]] void refuse_third_derivatives(const CodeFunction& function);

// With dx = x - value(x), which has no value, only derivatives,
//
//   f(x) = f + sum_i f_i dx_i + 1/2 sum_ij f_ij dx_i dx_j
template <class S>
S call(const CodeFunction& f, const S* x) {
  std::array<double, CodeFunction::kMaxArguments> at;
  for (int i = 0; i < f.arguments; ++i) at[static_cast<std::size_t>(i)] = value(x[i]);
  S out(f.value(at.data()));
  if constexpr (derivative_order < S >> 0) {
    std::array<S, CodeFunction::kMaxArguments> dx;
    const auto varies = [&](int i) { return !is_constant(x[i]); };
    for (int i = 0; i < f.arguments; ++i) {
      if (!varies(i)) continue;
      if constexpr (derivative_order < S >> 2) refuse_third_derivatives(f);
      const auto n = static_cast<std::size_t>(i);
      dx[n] = x[i] - S(at[n]);
      out += S(f.slope(at.data(), i)) * dx[n];
      if constexpr (derivative_order<S> == 2)
        for (int j = 0; j <= i; ++j)
          if (varies(j))
            out += S((i == j ? 0.5 : 1.0) * f.curvature(at.data(), i, j)) * dx[n] *
                   dx[static_cast<std::size_t>(j)];
    }
  }
  return out;
}

}  // namespace liedyn
