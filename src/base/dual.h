// Forward-mode automatic differentiation: a value with N directional derivatives.
//
//   f(v + eps d) = f(v) + eps f'(v) d
//
// Dual numbers nest: Dual<Dual<double, N>, N> carries second derivatives. They are scalars for Eigen. Comparisons look
// at the value only, so a branch is taken as it would be without derivatives.
#pragma once

#include <array>
#include <cmath>
#include <compare>
#include <concepts>
#include <type_traits>

#include <Eigen/Core>

namespace liedyn {

template <class T, int N>
struct Dual {
  static_assert(N > 0);
  using Inner = T;
  static constexpr int directions = N;

  T v;
  std::array<T, N> d;

  Dual() = default;  // like double: `Dual x;` is not initialised, `Dual{}` is zero

  // A constant. Implicit, because formulas mix constants and variables freely.
  template <class C>
  requires std::is_arithmetic_v<C> || std::same_as<C, T>
  constexpr Dual(const C& constant) : v(static_cast<T>(constant)), d{} {}

  constexpr Dual& operator+=(const Dual& o) {
    v += o.v;
    for (int i = 0; i < N; ++i) d[i] += o.d[i];
    return *this;
  }
  constexpr Dual& operator-=(const Dual& o) {
    v -= o.v;
    for (int i = 0; i < N; ++i) d[i] -= o.d[i];
    return *this;
  }
  constexpr Dual& operator*=(const Dual& o) { return *this = *this * o; }
  constexpr Dual& operator/=(const Dual& o) { return *this = *this / o; }

  friend constexpr Dual operator+(const Dual& a) { return a; }
  friend constexpr Dual operator-(const Dual& a) {
    Dual r;
    r.v = -a.v;
    for (int i = 0; i < N; ++i) r.d[i] = -a.d[i];
    return r;
  }
  friend constexpr Dual operator+(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v + b.v;
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] + b.d[i];
    return r;
  }
  friend constexpr Dual operator-(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v - b.v;
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] - b.d[i];
    return r;
  }
  friend constexpr Dual operator*(const Dual& a, const Dual& b) {
    Dual r;
    r.v = a.v * b.v;
    for (int i = 0; i < N; ++i) r.d[i] = a.d[i] * b.v + a.v * b.d[i];
    return r;
  }
  // (a/b)' = (a' - (a/b) b') / b
  friend constexpr Dual operator/(const Dual& a, const Dual& b) {
    Dual r;
    const T reciprocal = T(1) / b.v;
    r.v = a.v / b.v;
    for (int i = 0; i < N; ++i) r.d[i] = (a.d[i] - r.v * b.d[i]) * reciprocal;
    return r;
  }

  friend constexpr bool operator==(const Dual& a, const Dual& b) { return a.v == b.v; }
  friend constexpr auto operator<=>(const Dual& a, const Dual& b) { return a.v <=> b.v; }
};

template <class X>
inline constexpr bool is_dual = false;
template <class T, int N>
inline constexpr bool is_dual<Dual<T, N>> = true;

// What may stand beside a Dual<T, N> without derivatives of its own. Products with constants are worth their own
// operators: half the work, and with double constants they are what matrices of duals spend their time on.
template <class C, class T>
concept ConstantFor = std::is_arithmetic_v<C> || std::same_as<C, T>;

template <class T, int N, ConstantFor<T> C>
constexpr Dual<T, N> operator*(const Dual<T, N>& a, const C& c) {
  Dual<T, N> r;
  const T factor(c);
  r.v = a.v * factor;
  for (int i = 0; i < N; ++i) r.d[i] = a.d[i] * factor;
  return r;
}
template <class T, int N, ConstantFor<T> C>
constexpr Dual<T, N> operator*(const C& c, const Dual<T, N>& a) {
  return a * c;
}

template <class T, int N, ConstantFor<T> C>
constexpr Dual<T, N> operator/(const Dual<T, N>& a, const C& c) {
  Dual<T, N> r;
  const T divisor(c);
  r.v = a.v / divisor;
  for (int i = 0; i < N; ++i) r.d[i] = a.d[i] / divisor;
  return r;
}
template <class T, int N, ConstantFor<T> C>
constexpr Dual<T, N> operator/(const C& c, const Dual<T, N>& a) {
  return Dual<T, N>(c) / a;
}

template <class T, int N, ConstantFor<T> C>
constexpr Dual<T, N> operator+(Dual<T, N> a, const C& c) {
  a.v += T(c);
  return a;
}
template <class T, int N, ConstantFor<T> C>
constexpr Dual<T, N> operator+(const C& c, Dual<T, N> a) {
  a.v += T(c);
  return a;
}
template <class T, int N, ConstantFor<T> C>
constexpr Dual<T, N> operator-(Dual<T, N> a, const C& c) {
  a.v -= T(c);
  return a;
}
template <class T, int N, ConstantFor<T> C>
constexpr Dual<T, N> operator-(const C& c, const Dual<T, N>& a) {
  return Dual<T, N>(c) - a;
}

template <class T, int N, ConstantFor<T> C>
constexpr bool operator==(const Dual<T, N>& a, const C& c) {
  return a.v == T(c);
}
template <class T, int N, ConstantFor<T> C>
constexpr auto operator<=>(const Dual<T, N>& a, const C& c) {
  return a.v <=> T(c);
}

// f(x) from f(x.v) and f'(x.v): the chain rule, used by every function below and by the quotients of lie/trig.h.
template <class T, int N>
constexpr Dual<T, N> chain(const T& f, const T& slope, const Dual<T, N>& x) {
  Dual<T, N> r;
  r.v = f;
  for (int i = 0; i < N; ++i) r.d[i] = slope * x.d[i];
  return r;
}
template <class T, int N>
constexpr Dual<T, N> chain(const T& f, const T& slope_x, const Dual<T, N>& x, const T& slope_y,
                           const Dual<T, N>& y) {
  Dual<T, N> r;
  r.v = f;
  for (int i = 0; i < N; ++i) r.d[i] = slope_x * x.d[i] + slope_y * y.d[i];
  return r;
}

template <class T, int N>
Dual<T, N> sqrt(const Dual<T, N>& x) {
  using std::sqrt;
  const T root = sqrt(x.v);
  return chain(root, T(T(0.5) / root), x);
}
template <class T, int N>
Dual<T, N> sin(const Dual<T, N>& x) {
  using std::sin, std::cos;
  return chain(T(sin(x.v)), T(cos(x.v)), x);
}
template <class T, int N>
Dual<T, N> cos(const Dual<T, N>& x) {
  using std::sin, std::cos;
  return chain(T(cos(x.v)), T(-sin(x.v)), x);
}
template <class T, int N>
Dual<T, N> tan(const Dual<T, N>& x) {
  using std::tan;
  const T t = tan(x.v);
  return chain(t, T(T(1) + t * t), x);
}
template <class T, int N>
Dual<T, N> asin(const Dual<T, N>& x) {
  using std::asin, std::sqrt;
  return chain(T(asin(x.v)), T(T(1) / sqrt((T(1) - x.v) * (T(1) + x.v))), x);
}
template <class T, int N>
Dual<T, N> acos(const Dual<T, N>& x) {
  using std::acos, std::sqrt;
  return chain(T(acos(x.v)), T(T(-1) / sqrt((T(1) - x.v) * (T(1) + x.v))), x);
}
template <class T, int N>
Dual<T, N> atan(const Dual<T, N>& x) {
  using std::atan;
  return chain(T(atan(x.v)), T(T(1) / (T(1) + x.v * x.v)), x);
}
template <class T, int N>
Dual<T, N> atan2(const Dual<T, N>& y, const Dual<T, N>& x) {
  using std::atan2;
  const T r2 = x.v * x.v + y.v * y.v;
  return chain(T(atan2(y.v, x.v)), T(x.v / r2), y, T(-y.v / r2), x);
}
template <class T, int N>
Dual<T, N> exp(const Dual<T, N>& x) {
  using std::exp;
  const T e = exp(x.v);
  return chain(e, e, x);
}
template <class T, int N>
Dual<T, N> log(const Dual<T, N>& x) {
  using std::log;
  return chain(T(log(x.v)), T(T(1) / x.v), x);
}
template <class T, int N>
Dual<T, N> sinh(const Dual<T, N>& x) {
  using std::sinh, std::cosh;
  return chain(T(sinh(x.v)), T(cosh(x.v)), x);
}
template <class T, int N>
Dual<T, N> cosh(const Dual<T, N>& x) {
  using std::sinh, std::cosh;
  return chain(T(cosh(x.v)), T(sinh(x.v)), x);
}
template <class T, int N>
Dual<T, N> tanh(const Dual<T, N>& x) {
  using std::tanh;
  const T t = tanh(x.v);
  return chain(t, T((T(1) - t) * (T(1) + t)), x);
}
template <class T, int N>
Dual<T, N> hypot(const Dual<T, N>& x, const Dual<T, N>& y) {
  using std::hypot;
  const T h = hypot(x.v, y.v);
  return chain(h, T(x.v / h), x, T(y.v / h), y);
}
// The derivative at 0 is taken from the right, as for a spring that is about to be stretched.
template <class T, int N>
Dual<T, N> abs(const Dual<T, N>& x) {
  return x.v < T(0) ? -x : x;
}

// A constant exponent allows x <= 0 where x^p does; x^0 and x^1 have finite derivatives at 0.
template <class T, int N, class P>
requires std::is_arithmetic_v<P> Dual<T, N> pow(const Dual<T, N>& x, P exponent) {
  using std::pow;
  const auto p = static_cast<double>(exponent);
  return chain(T(pow(x.v, p)), p == 0 ? T(0) : T(T(p) * pow(x.v, p - 1)), x);
}
template <class T, int N>
Dual<T, N> pow(const Dual<T, N>& x, const Dual<T, N>& p) {
  using std::log, std::pow;
  const T power = pow(x.v, p.v);
  return chain(power, T(p.v * pow(x.v, p.v - T(1))), x, T(power * log(x.v)), p);
}

// The plain number under any depth of nesting.
constexpr double value(double x) { return x; }
template <class T, int N>
constexpr double value(const Dual<T, N>& x) {
  return value(x.v);
}

template <class T, int N>
bool isfinite(const Dual<T, N>& x) {
  using std::isfinite;
  bool finite = isfinite(x.v);
  for (const T& di : x.d) finite = finite && isfinite(di);
  return finite;
}
template <class T, int N>
bool isnan(const Dual<T, N>& x) {
  using std::isnan;
  bool any = isnan(x.v);
  for (const T& di : x.d) any = any || isnan(di);
  return any;
}

// The independent variable number i of N.
template <int N, class T>
constexpr Dual<T, N> seed(const T& x, int i) {
  Dual<T, N> r(x);
  r.d[i] = T(1);
  return r;
}

}  // namespace liedyn

namespace Eigen {

template <class T, int N>
struct NumTraits<liedyn::Dual<T, N>> : NumTraits<T> {
  using Real = liedyn::Dual<T, N>;
  using NonInteger = Real;
  using Nested = Real;
  using Literal = typename NumTraits<T>::Literal;
  enum {
    IsComplex = 0,
    IsInteger = 0,
    IsSigned = 1,
    RequireInitialization = NumTraits<T>::RequireInitialization,
    ReadCost = (N + 1) * int(NumTraits<T>::ReadCost),
    AddCost = (N + 1) * int(NumTraits<T>::AddCost),
    MulCost = (2 * N + 1) * int(NumTraits<T>::MulCost) + N * int(NumTraits<T>::AddCost)
  };
};

// double * Dual and inner * nested inside matrix products, without promoting the constant.
template <class T, int N, class Op>
struct ScalarBinaryOpTraits<liedyn::Dual<T, N>, T, Op> {
  using ReturnType = liedyn::Dual<T, N>;
};
template <class T, int N, class Op>
struct ScalarBinaryOpTraits<T, liedyn::Dual<T, N>, Op> {
  using ReturnType = liedyn::Dual<T, N>;
};
template <class T, int M, int N, class Op>
struct ScalarBinaryOpTraits<liedyn::Dual<liedyn::Dual<T, M>, N>, double, Op> {
  using ReturnType = liedyn::Dual<liedyn::Dual<T, M>, N>;
};
template <class T, int M, int N, class Op>
struct ScalarBinaryOpTraits<double, liedyn::Dual<liedyn::Dual<T, M>, N>, Op> {
  using ReturnType = liedyn::Dual<liedyn::Dual<T, M>, N>;
};

}  // namespace Eigen

namespace liedyn {

// All components of x as independent variables: the argument of f when its Jacobian is wanted.
template <class T, int N>
Eigen::Matrix<Dual<T, N>, N, 1> seed(const Eigen::Matrix<T, N, 1>& x) {
  Eigen::Matrix<Dual<T, N>, N, 1> r;
  for (int i = 0; i < N; ++i) r(i) = seed<N>(x(i), i);
  return r;
}

// The value and the Jacobian of f, read from f(seed(x)).
template <class T, int N, int Rows, int Cols>
Eigen::Matrix<T, Rows, Cols> values(const Eigen::Matrix<Dual<T, N>, Rows, Cols>& y) {
  return y.unaryExpr([](const Dual<T, N>& yi) { return yi.v; });
}
template <class T, int N, int Rows>
Eigen::Matrix<T, Rows, N> jacobian(const Eigen::Matrix<Dual<T, N>, Rows, 1>& y) {
  Eigen::Matrix<T, Rows, N> j;
  for (int row = 0; row < Rows; ++row)
    for (int i = 0; i < N; ++i) j(row, i) = y(row).d[i];
  return j;
}

}  // namespace liedyn
