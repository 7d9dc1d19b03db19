// The quotients of trigonometric functions in the exponential map and its derivatives, as functions of the SQUARED angle
//
//   stumpff<k>(t^2)    = 1/k! - t^2/(k+2)! + t^4/(k+4)! - ...    cos t, sin t/t, (1 - cos t)/t^2, (t - sin t)/t^3, ...
//   cot_quotient(t^2)  = (1 - (t/2) cot(t/2)) / t^2              1/12 + t^2/720 + ...
//
// All are smooth at 0 in the squared angle, which spares the square root and the division by a small number. The second
// template argument j asks for the j-th derivative with respect to t^2; dual numbers, nested or not, use f<j+1> as the
// slope of f<j>, so their derivatives are as accurate as the values, at 0 as well.
//
// Evaluation: a polynomial on each of three intervals up to t^2 = 12 (t = 3.46 > pi), closed forms above. The coefficients
// and the number of terms are computed by the compiler from the series. Increments of a time step have small angles: below
// 0.1 rad five or six terms suffice. Between 1 rad and pi a polynomial about the middle replaces the closed form, which
// would lose digits in 1/k! - stumpff<k> and is not faster.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "liedyn/base/dual.h"
#include "liedyn/base/varied.h"

namespace liedyn {
namespace trig_detail {

// Ends of the intervals in t^2; the polynomial of the last one is about its middle.
inline constexpr double small_end = 0.01;
inline constexpr double middle_end = 1.0;
inline constexpr double large_end = 12.0;
inline constexpr double large_centre = 6.5;

inline constexpr int max_terms = 32;
using Coefficients = std::array<long double, max_terms>;

constexpr long double factorial(int n) {
  long double product = 1;
  for (int i = 2; i <= n; ++i) product *= static_cast<long double>(i);
  return product;
}

// (n+j)!/n!, the factor that the j-th derivative gives to the coefficient n+j.
constexpr long double rising(int n, int j) {
  long double product = 1;
  for (int i = 1; i <= j; ++i) product *= static_cast<long double>(n + i);
  return product;
}

// f^(j)(x) = sum_n (-1)^(n+j) (n+j)!/n! x^n / (2n + 2j + k)!  for f = stumpff<k>
constexpr long double stumpff_series(int k, int j, long double x) {
  long double sum = 0;
  long double power = j % 2 == 0 ? 1 : -1;
  for (int n = 0; n < 40; ++n) {
    sum += rising(n, j) * power / factorial(2 * n + 2 * j + k);
    power *= -x;
  }
  return sum;
}

constexpr Coefficients stumpff_taylor(int k, int j, long double centre) {
  Coefficients c{};
  for (int m = 0; m < max_terms; ++m) c[m] = stumpff_series(k, j + m, centre) / factorial(m);
  return c;
}

// Coefficients |B_(2n+2)|/(2n+2)! of cot_quotient from its differential equation x f' = 1/8 - 3/2 f + x f^2/2. All terms
// are positive, so neither this recursion nor the polynomial loses digits.
constexpr std::array<long double, 2 * max_terms> cot_coefficients() {
  std::array<long double, 2 * max_terms> a{};
  for (int n = 0; n < 2 * max_terms; ++n) {
    long double rhs = n == 0 ? 0.125L : 0;
    for (int i = 0; i < n; ++i) rhs += 0.5L * a[i] * a[n - 1 - i];
    a[n] = rhs / (static_cast<long double>(n) + 1.5L);
  }
  return a;
}

inline constexpr long double two_pi_squared =
    4 * std::numbers::pi_v<long double> * std::numbers::pi_v<long double>;

// Series of the j-th derivative of cot_quotient, optionally without its nearest pole 2/(4 pi^2 - x). Without it the
// series converges up to t = 4 pi instead of 2 pi.
constexpr Coefficients cot_taylor(int j, bool remove_pole) {
  const auto a = cot_coefficients();
  Coefficients c{};
  for (int n = 0; n < max_terms; ++n) {
    long double pole = 2 / two_pi_squared;
    for (int i = 0; i < n + j; ++i) pole /= two_pi_squared;
    c[n] = rising(n, j) * (remove_pole ? a[n + j] - pole : a[n + j]);
  }
  return c;
}

// How many terms of a series reach double precision within the radius.
constexpr int terms_needed(const Coefficients& c, long double radius) {
  const auto magnitude = [](long double x) { return x < 0 ? -x : x; };
  long double power = 1;
  int needed = 1;
  for (int n = 0; n < max_terms; ++n) {
    if (magnitude(c[n]) * power > 0x1p-57L * magnitude(c[0])) needed = n + 1;
    power *= radius;
  }
  return needed;
}

template <int terms>
struct Polynomial {
  std::array<double, terms> c;

  constexpr explicit Polynomial(const Coefficients& all) : c{} {
    for (int n = 0; n < terms; ++n) c[n] = static_cast<double>(all[n]);
  }
  // Even and odd powers apart, each by Horner's rule in x^2: two chains of operations that need not wait for each other.
  constexpr double operator()(double x) const {
    if constexpr (terms == 1) {
      return c[0];
    } else {
      const double x2 = x * x;
      double last = c[terms - 1], other = c[terms - 2];
      for (int n = terms - 3; n >= 1; n -= 2) {
        last = last * x2 + c[n];
        other = other * x2 + c[n - 1];
      }
      if constexpr (terms % 2 == 0) return last * x + other;
      return (last * x2 + c[0]) + other * x;
    }
  }
};

template <int k, int j>
struct StumpffPolynomials {
  static constexpr Coefficients at_zero = stumpff_taylor(k, j, 0);
  static constexpr Coefficients at_centre = stumpff_taylor(k, j, large_centre);
  static constexpr Polynomial<terms_needed(at_zero, small_end)> small{at_zero};
  static constexpr Polynomial<terms_needed(at_zero, middle_end)> middle{at_zero};
  static constexpr Polynomial<terms_needed(at_centre, large_end - large_centre)> large{at_centre};
};

template <int j>
struct CotPolynomials {
  static constexpr Coefficients whole = cot_taylor(j, false);
  static constexpr Coefficients without_pole = cot_taylor(j, true);
  static constexpr Polynomial<terms_needed(whole, small_end)> small{whole};
  static constexpr Polynomial<terms_needed(whole, middle_end)> middle{whole};
  static constexpr Polynomial<terms_needed(without_pole, large_end)> large{without_pole};
};

// Beyond the polynomials 1/k! dominates stumpff<k>, and the recurrences are stable:
//   stumpff<k> = (1/(k-2)! - stumpff<k-2>) / t^2,      2 (stumpff<k>)' = k stumpff<k+2> - stumpff<k+1>
// Apart from the polynomials, which so need not save what these calls would overwrite.
template <int k, int j>
[[gnu::noinline]] double stumpff_closed(double t2) {
  if constexpr (j > 0) {
    return 0.5 * (k * stumpff_closed<k + 2, j - 1>(t2) - stumpff_closed<k + 1, j - 1>(t2));
  } else if constexpr (k >= 2) {
    constexpr auto leading = static_cast<double>(1 / factorial(k - 2));
    return (leading - stumpff_closed<k - 2, 0>(t2)) / t2;
  } else {
    const double t = std::sqrt(t2);
    return k == 0 ? std::cos(t) : std::sin(t) / t;
  }
}

// The derivatives follow from the differential equation above, differentiated i times:
//   x f^(i+1) = -(i + 3/2) f^(i) + (x (f^2)^(i) + i (f^2)^(i-1))/2 + (1/8 if i = 0)
template <int j>
[[gnu::noinline]] double cot_quotient_closed(double t2) {
  const double half = 0.5 * std::sqrt(t2);
  std::array<double, j + 1> f{(1 - half / std::tan(half)) / t2};
  const auto square_derivative = [&f](int i) {
    double sum = 0;
    double binomial = 1;
    for (int l = 0; l <= i; ++l) {
      sum += binomial * f[l] * f[i - l];
      binomial *= static_cast<double>(i - l) / (l + 1);
    }
    return sum;
  };
  for (int i = 0; i < j; ++i) {
    double rhs = -(i + 1.5) * f[i] + 0.5 * t2 * square_derivative(i);
    rhs += i == 0 ? 0.125 : 0.5 * i * square_derivative(i - 1);
    f[i + 1] = rhs / t2;
  }
  return f[j];
}

// j-th derivative of 2/(4 pi^2 - x)
template <int j>
double cot_pole(double x) {
  const double reciprocal = 1 / (static_cast<double>(two_pi_squared) - x);
  double term = 2 * reciprocal;
  for (int i = 1; i <= j; ++i) term *= i * reciprocal;
  return term;
}

}  // namespace trig_detail

// j-th derivative, with respect to t2 = t^2, of sum_n (-t2)^n / (2n + k)!
template <int k, int j = 0>
double stumpff(double t2) {
  static_assert(k >= 0 && j >= 0);
  using P = trig_detail::StumpffPolynomials<k, j>;
  if (t2 <= trig_detail::small_end) return P::small(t2);
  if (t2 <= trig_detail::middle_end) return P::middle(t2);
  if (t2 <= trig_detail::large_end) return P::large(t2 - trig_detail::large_centre);
  return trig_detail::stumpff_closed<k, j>(t2);
}
template <int k, int j = 0>
Varied stumpff(const Varied& t2) {
  return chain(stumpff<k, j>(t2.v), stumpff<k, j + 1>(t2.v), t2);
}
template <int k, int j = 0, class T, int N>
Dual<T, N> stumpff(const Dual<T, N>& t2) {
  return chain(stumpff<k, j>(t2.v), stumpff<k, j + 1>(t2.v), t2);
}

// j-th derivative, with respect to t2 = t^2, of (1 - (t/2) cot(t/2)) / t^2. Pole at t = 2 pi, where T is singular.
template <int j = 0>
double cot_quotient(double t2) {
  static_assert(j >= 0);
  using P = trig_detail::CotPolynomials<j>;
  if (t2 <= trig_detail::small_end) return P::small(t2);
  if (t2 <= trig_detail::middle_end) return P::middle(t2);
  if (t2 <= trig_detail::large_end) return P::large(t2) + trig_detail::cot_pole<j>(t2);
  return trig_detail::cot_quotient_closed<j>(t2);
}
template <int j = 0>
Varied cot_quotient(const Varied& t2) {
  return chain(cot_quotient<j>(t2.v), cot_quotient<j + 1>(t2.v), t2);
}
template <int j = 0, class T, int N>
Dual<T, N> cot_quotient(const Dual<T, N>& t2) {
  return chain(cot_quotient<j>(t2.v), cot_quotient<j + 1>(t2.v), t2);
}

}  // namespace liedyn
