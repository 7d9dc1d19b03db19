// The record of a calculation, read forwards and backwards.

#include "liedyn/base/tape.h"

#include <gtest/gtest.h>

#include <cmath>

#include "liedyn/base/varied.h"

namespace liedyn {
namespace {

// Every operation once; some of them on constants.
template <class S>
S function(const S& x, const S& y) {
  using std::sin, std::cos, std::tan, std::asin, std::acos, std::atan, std::atan2, std::exp, std::log,
      std::sqrt, std::sinh, std::cosh, std::tanh, std::hypot, std::pow, std::abs;
  S sum = sin(x) * cos(y) + tan(x) / (S(2) + y) - asin(S(0.3) * x) + acos(S(0.2) * y) * atan(x);
  sum += atan2(x, y) + exp(-x) - log(y) * sqrt(x + y);
  sum -= sinh(x) * S(0) + cosh(y) * S(1) + tanh(x * y);
  sum *= hypot(x, y);
  sum /= S(1) + pow(x, 3) + pow(y, x) + abs(-y);
  return -sum + x;
}

TEST(Tape, GivesTheDerivativesOfDualNumbersBothWays) {
  const double x = 0.7, y = 1.3;
  using Pair = Dual<double, 2>;
  const Pair expected = function(seed<2>(x, 0), seed<2>(y, 1));

  Tape forwards(Tape::Sweep::Forwards, 2);
  {
    const Tape::Use use(forwards);
    const Varied a(x, forwards.independent(0)), b(y, forwards.independent(1));
    const Varied f = function(a, b);
    double slope[2];
    forwards.derivatives(f.id, slope);
    EXPECT_DOUBLE_EQ(f.v, expected.v);
    for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(slope[k], expected.d[k], 1e-14);
  }
  Tape backwards(Tape::Sweep::Backwards);
  {
    const Tape::Use use(backwards);
    const Varied a(x, backwards.independent()), b(y, backwards.independent());
    const Varied f = function(a, b);
    backwards.end_beginning();
    Tape::Weights weights;
    weights[f.id] = 1;
    backwards.backwards_through_beginning(weights);
    EXPECT_NEAR(weights.of(a.id), expected.d[0], 1e-14);
    EXPECT_NEAR(weights.of(b.id), expected.d[1], 1e-14);
  }
}

TEST(Tape, DoesNotRecordConstants) {
  Tape tape(Tape::Sweep::Backwards);
  const Tape::Use use(tape);
  const Varied x(2.0, tape.independent());
  const std::size_t before = tape.size();
  EXPECT_EQ((Varied(3) * Varied(4) + sin(Varied(1))).id, 0);
  EXPECT_EQ((x * Varied(1)).id, x.id);
  EXPECT_EQ((x + Varied(5)).id, x.id);
  EXPECT_EQ((x * Varied(0)).id, 0);
  EXPECT_EQ(tape.size(), before);
}

// x_{n+1} = x_n + 0.1 p sin(x_n), ten steps, with one linear map in each; against dual numbers.
TEST(Tape, GoesThroughStepsThatAreForgotten) {
  constexpr int kSteps = 10;
  using Slope = Dual<double, 1>;
  Slope p = seed<1>(0.8, 0), expected(1.0);
  for (int n = 0; n < kSteps; ++n) expected += 0.1 * p * sin(expected) * 3.0;

  const auto map = [](const double* in, double* out) { out[0] = 3 * in[0]; };
  const auto map_of_columns = [](const double* in, double* out, std::size_t columns) {
    for (std::size_t k = 0; k < columns; ++k) out[k] = 3 * in[k];
  };
  const auto step = [&](Tape& tape, const Varied& parameter, const Varied& x) {
    const Varied inside = 0.1 * parameter * sin(x);
    const Tape::Id ids[] = {inside.id};
    return x + Varied(3 * inside.v, tape.call(ids, 1, map_of_columns, map));
  };
  {
    Tape tape(Tape::Sweep::Forwards, 1);
    const Tape::Use use(tape);
    const Varied parameter(0.8, tape.independent(0));
    tape.end_beginning();
    Varied x(1.0);
    for (int n = 0; n < kSteps; ++n) {
      x = step(tape, parameter, x);
      Tape::Id* kept[] = {&x.id};
      tape.restart(kept);
    }
    double slope = 0;
    tape.derivatives(x.id, &slope);
    EXPECT_NEAR(x.v, expected.v, 1e-14);
    EXPECT_NEAR(slope, expected.d[0], 1e-14);
  }
  {
    Tape tape(Tape::Sweep::Backwards);
    const Tape::Use use(tape);
    const Varied parameter(0.8, tape.independent());
    tape.end_beginning();
    std::vector<double> values = {1.0};
    for (int n = 0; n < kSteps; ++n) values.push_back(values.back() + 0.3 * 0.8 * std::sin(values.back()));
    Tape::Weights weights;
    double of_state = 1;
    for (int n = kSteps; n > 0; --n) {
      Varied x(values[static_cast<std::size_t>(n - 1)]);
      Tape::Id* kept[] = {&x.id};
      tape.restart(kept);
      const Varied next = step(tape, parameter, x);
      weights[next.id] += of_state;
      tape.backwards(weights, 1);
      of_state = std::exchange(weights[x.id], 0.0);
    }
    tape.backwards_through_beginning(weights);
    EXPECT_NEAR(weights.of(parameter.id), expected.d[0], 1e-14);
  }
}

}  // namespace
// Any number of directions goes forwards in blocks, whose numbers stand side by side: running sums of p_k sin p_k, one direction for each p_k, with numbers
// that a restart keeps, drops because nothing moves them, or finds twice.
TEST(Tape, TakesManyDirectionsThroughCallsAndRestarts) {
  for (const std::size_t count : {1, 2, 3, 5, 8, 11, 17}) {
    Tape tape(Tape::Sweep::Forwards, count);
    const Tape::Use use(tape);
    std::vector<Varied> p;
    for (std::size_t k = 0; k < count; ++k)
      p.emplace_back(0.1 * static_cast<double>(k + 1), tape.independent(static_cast<int>(k)));
    tape.end_beginning();
    std::vector<Varied> x;
    for (std::size_t k = 0; k < count; ++k) x.push_back(p[k] * sin(p[k]));
    x.push_back(x.front());
    x.push_back(x.front() - x.front());
    std::vector<Tape::Id*> kept;
    for (Varied& number : x) kept.push_back(&number.id);
    tape.restart(kept);
    EXPECT_EQ(x.back().id, 0);

    std::vector<Tape::Id> inputs;
    for (const Varied& number : x) inputs.push_back(number.id);
    const std::size_t size = inputs.size();
    const auto sums = [&](const double* in, double* out, std::size_t columns) {
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t k = 0; k < columns; ++k)
          out[i * columns + k] = in[i * columns + k] + (i > 0 ? out[(i - 1) * columns + k] : 0);
    };
    const Tape::Id first = tape.call(inputs, size, sums, {});
    for (std::size_t i = 0; i < size; ++i) {
      std::vector<double> slopes(count);
      tape.derivatives(first + static_cast<Tape::Id>(i), slopes.data());
      for (std::size_t k = 0; k < count; ++k) {
        const double of_x = std::sin(p[k].v) + p[k].v * std::cos(p[k].v);
        const double times = (k <= i ? 1 : 0) + (k == 0 && i >= count ? 1 : 0);
        EXPECT_NEAR(slopes[k], times * of_x, 1e-15)
            << count << " directions, sum " << i << ", direction " << k;
      }
    }
  }
}

}  // namespace liedyn
