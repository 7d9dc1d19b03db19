#include "liedyn/lie/trig.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

namespace liedyn {
namespace {

using Real = long double;

// Angles from 1e-12 to pi, logarithmically, and the neighbourhoods of the places where the evaluation changes.
std::vector<double> sweep(double end) {
  std::vector<double> t{0};
  for (int i = 0; i <= 400; ++i) t.push_back(1e-12 * std::pow(end / 1e-12, i / 400.0));
  for (const double seam : {0.01, 1.0, 12.0})
    for (const double factor : {1 - 1e-9, 1 - 1e-15, 1.0, 1 + 1e-15, 1 + 1e-9})
      t.push_back(std::min(end, std::sqrt(seam * factor)));
  return t;
}

// sum_n (-1)^(n+j) (n+j)(n+j-1)..(n+1) x^n/(2n+2j+k)!, smallest terms first
Real stumpff_reference(int k, int j, Real x) {
  std::vector<Real> terms;
  for (int n = 0; n < 60; ++n) {
    Real term = (n + j) % 2 == 0 ? 1 : -1;
    for (int i = 1; i <= j; ++i) term *= static_cast<Real>(n + i);
    for (int i = 1; i <= n; ++i) term *= x / static_cast<Real>(i);
    for (int i = n + 1; i <= 2 * (n + j) + k; ++i) term /= static_cast<Real>(i);
    terms.push_back(term);
  }
  Real sum = 0;
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) sum += *term;
  return sum;
}

// (1 - (t/2) cot(t/2))/t^2 = 2 sum_k 1/((2 pi k)^2 - x), derived j times: 2 j! sum_k ((2 pi k)^2 - x)^-(j+1). The tail
// beyond K = 400 by the Euler-Maclaurin formula.
Real cot_reference(int j, Real x) {
  const Real step = 4 * std::numbers::pi_v<Real> * std::numbers::pi_v<Real>;
  const int K = 400;
  const auto term = [&](Real k) { return 1 / (step * k * k - x); };
  Real sum = 0;
  for (int k = K - 1; k >= 1; --k) {
    Real power = 1;
    for (int i = 0; i <= j; ++i) power *= term(k);
    sum += power;
  }
  // Expand the terms of the tail in x/(step k^2): sum_m C(m+j, j) x^m step^-(m+j+1) zeta(2(m+j+1), K).
  const Real last = K;
  const auto zeta_tail = [&](int s) {
    const Real p = static_cast<Real>(s);
    const Real at_K = std::pow(last, -p);
    return at_K * last / (p - 1) + at_K / 2 + p * at_K / (12 * last) -
           p * (p + 1) * (p + 2) * at_K / (720 * last * last * last);
  };
  Real binomial = 1;
  Real power = std::pow(step, static_cast<Real>(-(j + 1)));
  for (int m = 0; m < 12; ++m) {
    sum += binomial * power * zeta_tail(2 * (m + j + 1));
    binomial *= static_cast<Real>(m + 1 + j) / static_cast<Real>(m + 1);
    power *= x / step;
  }
  for (int i = 1; i <= j; ++i) sum *= static_cast<Real>(i);
  return 2 * sum;
}

struct Worst {
  double error = 0, angle = 0;
  void see(double computed, Real reference, Real scale, double t) {
    const auto e = static_cast<double>(std::abs((computed - reference) / scale));
    if (!(e <= error)) error = e, angle = t;
  }
  void print(const char* name, int k, int j) const {
    std::printf("%-12s k = %d, derivative %d: worst relative error %.1e at angle %.3g\n", name, k, j, error,
                angle);
  }
};

// Relative to the function, except for cos t and sin t/t (and their kin with k = 1): these pass through zero, and the
// rounding of t^2 alone moves them by ulps of their largest value.
template <int k, int j>
void check_stumpff(double end, double bound) {
  Worst worst;
  for (const double t : sweep(end)) {
    const Real reference = stumpff_reference(k, j, static_cast<Real>(t * t));
    const Real scale = k < 2 ? stumpff_reference(k, j, 0) : reference;
    worst.see(stumpff<k, j>(t * t), reference, scale, t);
  }
  worst.print("stumpff", k, j);
  EXPECT_LT(worst.error, bound) << "stumpff<" << k << ", " << j << "> at angle " << worst.angle;
}
template <int j>
void check_cot(double end, double bound) {
  Worst worst;
  for (const double t : sweep(end)) {
    const Real reference = cot_reference(j, static_cast<Real>(t * t));
    worst.see(cot_quotient<j>(t * t), reference, reference, t);
  }
  worst.print("cot_quotient", 0, j);
  EXPECT_LT(worst.error, bound) << "cot_quotient<" << j << "> at angle " << worst.angle;
}

TEST(Trig, QuotientsAreAccurateToPi) {
  const double pi = std::numbers::pi;
  const double bound = 4.5e-16;  // two ulp
  check_stumpff<0, 0>(pi, bound);
  check_stumpff<1, 0>(pi, bound);
  check_stumpff<2, 0>(pi, bound);
  check_stumpff<3, 0>(pi, bound);
  check_stumpff<4, 0>(pi, bound);
  check_stumpff<5, 0>(pi, bound);
  check_cot<0>(pi, bound);
}

TEST(Trig, DerivativesAreAsAccurateAsTheQuotients) {
  const double pi = std::numbers::pi;
  const double bound = 1e-15;
  check_stumpff<0, 1>(pi, bound);
  check_stumpff<1, 1>(pi, bound);
  check_stumpff<1, 2>(pi, bound);
  check_stumpff<2, 1>(pi, bound);
  check_stumpff<2, 2>(pi, bound);
  check_stumpff<3, 1>(pi, bound);
  check_stumpff<3, 2>(pi, bound);
  check_stumpff<3, 4>(pi, bound);
  check_cot<1>(pi, bound);
  check_cot<2>(pi, bound);
  check_cot<4>(pi, 3e-15);
}

// Beyond the polynomials the derivatives come from recurrences, which lose a digit or two.
TEST(Trig, ClosedFormsTakeOverBeyondPi) {
  check_stumpff<0, 0>(6, 1e-15);
  check_stumpff<1, 0>(6, 1e-15);
  check_stumpff<2, 0>(6, 3e-15);  // has a double zero at 2 pi
  check_stumpff<3, 0>(6, 1e-15);
  check_stumpff<2, 1>(6, 1e-14);
  check_stumpff<3, 2>(6, 1e-13);
  check_cot<0>(6, 1e-14);
  check_cot<1>(6, 3e-14);
  check_cot<2>(6, 3e-14);
}

TEST(Trig, ClosedFormsAreTheFunctionsTheyAreNamedAfter) {
  for (const double t : {0.05, 0.7, 2.0, 3.1, 5.0, 20.0}) {
    const double s = t * t;
    EXPECT_NEAR(stumpff<0>(s), std::cos(t), 1e-15) << t;
    EXPECT_NEAR(stumpff<1>(s), std::sin(t) / t, 1e-15) << t;
    EXPECT_NEAR(stumpff<2>(s), (1 - std::cos(t)) / s, 1e-13) << t;
    EXPECT_NEAR(stumpff<3>(s), (t - std::sin(t)) / (s * t), 1e-13) << t;
    EXPECT_NEAR(cot_quotient(s), (1 - t / 2 / std::tan(t / 2)) / s, 1e-13) << t;
  }
}

TEST(Trig, DualsCarryExactDerivativesAtZeroAndEverywhere) {
  using D = Dual<double, 1>;
  using DD = Dual<D, 1>;
  using DDD = Dual<DD, 1>;
  for (const double t : {0.0, 1e-9, 0.05, 0.7, 2.0, 3.1}) {
    const DDD s = seed<1>(seed<1>(seed<1>(t * t, 0), 0), 0);
    const DDD f = stumpff<3>(s);
    const DDD c = cot_quotient(s);
    EXPECT_EQ(f.v.v.v, (stumpff<3>(t * t)));
    EXPECT_EQ(f.v.v.d[0], (stumpff<3, 1>(t * t)));
    EXPECT_EQ(f.d[0].v.v, (stumpff<3, 1>(t * t)));
    EXPECT_EQ(f.d[0].d[0].v, (stumpff<3, 2>(t * t)));
    EXPECT_EQ(f.d[0].d[0].d[0], (stumpff<3, 3>(t * t)));
    EXPECT_EQ(c.v.d[0].d[0], (cot_quotient<2>(t * t)));
    EXPECT_EQ(c.d[0].d[0].d[0], (cot_quotient<3>(t * t)));
  }
}

TEST(Trig, SmallAnglesNeedFewTerms) {
  using trig_detail::CotPolynomials, trig_detail::StumpffPolynomials;
  EXPECT_LE((StumpffPolynomials<1, 0>::small.c.size()), 6u);
  EXPECT_LE((StumpffPolynomials<3, 0>::small.c.size()), 6u);
  EXPECT_LE((CotPolynomials<0>::small.c.size()), 6u);
}

}  // namespace
}  // namespace liedyn
