// A number that depends on parameters: a value, and its place on the tape of this thread (base/tape.h), which knows how it came about. The scalar of sensitivities: what
// has to be differentiated is written once, as a template of its scalar, and runs with double and with this.
//
// Constants are not recorded, nor are products with 0 or 1.
#pragma once

#include <Eigen/Core>
#include <cmath>
#include <compare>
#include <span>
#include <type_traits>
#include <vector>

#include "liedyn/base/dual.h"
#include "liedyn/base/tape.h"

namespace liedyn {

struct Varied {
  double v;
  Tape::Id id;  // 0: a constant

  Varied() = default;  // like double: `Varied x;` is not initialised, `Varied{}` is zero
  template <class C>
  requires std::is_arithmetic_v<C>
  constexpr Varied(C constant) : v(static_cast<double>(constant)), id(0) {}
  Varied(double value, Tape::Id place) : v(value), id(place) {}

  // f with the derivative slope x' (+ slope_y y').
  static Varied of(double f, double slope, const Varied& x) {
    return {f, x.id == 0 ? 0 : Tape::current().push(x.id, slope)};
  }
  static Varied of(double f, double slope_x, const Varied& x, double slope_y, const Varied& y) {
    if (x.id == 0) return of(f, slope_y, y);
    if (y.id == 0) return of(f, slope_x, x);
    return {f, Tape::current().push(x.id, slope_x, y.id, slope_y)};
  }

  friend Varied operator+(const Varied& a) { return a; }
  friend Varied operator-(const Varied& a) { return of(-a.v, -1, a); }
  friend Varied operator+(const Varied& a, const Varied& b) {
    if (b.id == 0) return {a.v + b.v, a.id};
    if (a.id == 0) return {a.v + b.v, b.id};
    return {a.v + b.v, Tape::current().push(a.id, 1, b.id, 1)};
  }
  friend Varied operator-(const Varied& a, const Varied& b) {
    if (b.id == 0) return {a.v - b.v, a.id};
    return of(a.v - b.v, 1, a, -1, b);
  }
  friend Varied operator*(const Varied& a, const Varied& b) {
    if (a.id == 0) return scaled(b, a.v);
    if (b.id == 0) return scaled(a, b.v);
    return {a.v * b.v, Tape::current().push(a.id, b.v, b.id, a.v)};
  }
  // (a/b)' = (a' - (a/b) b') / b
  friend Varied operator/(const Varied& a, const Varied& b) {
    const double quotient = a.v / b.v;
    return of(quotient, 1 / b.v, a, -quotient / b.v, b);
  }
  Varied& operator+=(const Varied& o) { return *this = *this + o; }
  Varied& operator-=(const Varied& o) { return *this = *this - o; }
  Varied& operator*=(const Varied& o) { return *this = *this * o; }
  Varied& operator/=(const Varied& o) { return *this = *this / o; }

  friend constexpr bool operator==(const Varied& a, const Varied& b) { return a.v == b.v; }
  friend constexpr auto operator<=>(const Varied& a, const Varied& b) { return a.v <=> b.v; }

 private:
  static Varied scaled(const Varied& x, double factor) {
    if (factor == 1) return x;
    if (factor == 0) return {x.v * factor, 0};
    return of(x.v * factor, factor, x);
  }
};

template <class S>
inline constexpr bool is_varied = std::is_same_v<S, Varied>;

constexpr double value(const Varied& x) { return x.v; }
constexpr bool is_constant(const Varied& x) { return x.id == 0; }
inline bool isfinite(const Varied& x) { return std::isfinite(x.v); }
inline bool isnan(const Varied& x) { return std::isnan(x.v); }

inline Varied chain(double f, double slope, const Varied& x) { return Varied::of(f, slope, x); }

inline Varied sqrt(const Varied& x) {
  const double root = std::sqrt(x.v);
  return chain(root, 0.5 / root, x);
}
inline Varied sin(const Varied& x) { return chain(std::sin(x.v), std::cos(x.v), x); }
inline Varied cos(const Varied& x) { return chain(std::cos(x.v), -std::sin(x.v), x); }
inline Varied tan(const Varied& x) {
  const double t = std::tan(x.v);
  return chain(t, 1 + t * t, x);
}
inline Varied asin(const Varied& x) { return chain(std::asin(x.v), 1 / std::sqrt((1 - x.v) * (1 + x.v)), x); }
inline Varied acos(const Varied& x) {
  return chain(std::acos(x.v), -1 / std::sqrt((1 - x.v) * (1 + x.v)), x);
}
inline Varied atan(const Varied& x) { return chain(std::atan(x.v), 1 / (1 + x.v * x.v), x); }
inline Varied atan2(const Varied& y, const Varied& x) {
  const double r2 = x.v * x.v + y.v * y.v;
  return Varied::of(std::atan2(y.v, x.v), x.v / r2, y, -y.v / r2, x);
}
inline Varied exp(const Varied& x) {
  const double e = std::exp(x.v);
  return chain(e, e, x);
}
inline Varied log(const Varied& x) { return chain(std::log(x.v), 1 / x.v, x); }
inline Varied sinh(const Varied& x) { return chain(std::sinh(x.v), std::cosh(x.v), x); }
inline Varied cosh(const Varied& x) { return chain(std::cosh(x.v), std::sinh(x.v), x); }
inline Varied tanh(const Varied& x) {
  const double t = std::tanh(x.v);
  return chain(t, (1 - t) * (1 + t), x);
}
inline Varied hypot(const Varied& x, const Varied& y) {
  const double h = std::hypot(x.v, y.v);
  return Varied::of(h, x.v / h, x, y.v / h, y);
}
inline Varied abs(const Varied& x) { return x.v < 0 ? -x : x; }
template <class P>
requires std::is_arithmetic_v<P> Varied pow(const Varied& x, P exponent) {
  const auto p = static_cast<double>(exponent);
  return chain(std::pow(x.v, p), p == 0 ? 0 : p * std::pow(x.v, p - 1), x);
}
inline Varied pow(const Varied& x, const Varied& p) {
  if (p.id == 0) return pow(x, p.v);
  const double power = std::pow(x.v, p.v);
  return Varied::of(power, p.v * std::pow(x.v, p.v - 1), x, power * std::log(x.v), p);
}

// A number of this value with the derivative sum_i slope_i x_i'.
template <class Slopes, class Numbers>
Varied linear_combination(double f, const Slopes& slope, const Numbers& x, Eigen::Index count) {
  Varied sum(f);
  for (Eigen::Index i = 0; i < count; ++i)
    if (x[i].id != 0 && slope[i] != 0)
      sum.id = sum.id == 0 ? Tape::current().push(x[i].id, slope[i])
                           : Tape::current().push(sum.id, 1, x[i].id, slope[i]);
  return sum;
}

inline void set_values(const std::vector<Varied>& from, std::vector<double>& to) {
  to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i].v;
}
// Constants.
inline void set_constants(const std::vector<double>& from, std::vector<Varied>& to) {
  to.assign(from.begin(), from.end());
}

}  // namespace liedyn

namespace Eigen {

template <>
struct NumTraits<liedyn::Varied> : NumTraits<double> {
  using Real = liedyn::Varied;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = double;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = 0,
    ReadCost = 2,
    AddCost = 8,
    MulCost = 8
  };
};
// double * Varied inside matrix products, without promoting the constant.
template <class Op>
struct ScalarBinaryOpTraits<liedyn::Varied, double, Op> {
  using ReturnType = liedyn::Varied;
};
template <class Op>
struct ScalarBinaryOpTraits<double, liedyn::Varied, Op> {
  using ReturnType = liedyn::Varied;
};
template <int N, class Op>
struct ScalarBinaryOpTraits<liedyn::Dual<liedyn::Varied, N>, double, Op> {
  using ReturnType = liedyn::Dual<liedyn::Varied, N>;
};
template <int N, class Op>
struct ScalarBinaryOpTraits<double, liedyn::Dual<liedyn::Varied, N>, Op> {
  using ReturnType = liedyn::Dual<liedyn::Varied, N>;
};

}  // namespace Eigen

namespace liedyn {

template <class Derived>
auto values(const Eigen::MatrixBase<Derived>& x) requires is_varied<typename Derived::Scalar> {
  return x.unaryExpr([](const Varied& y) { return y.v; }).eval();
}

}  // namespace liedyn
