#include "liedyn/analyses/sampling.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

namespace liedyn {
namespace {

using Method = Sampling::Method;

// Points 1, 2, 3, ... of the first dimensions as Bratley and Fox print them: 1/2, 3/4, 1/4, 3/8, 7/8, ...
TEST(Sampling, SobolsSequenceBeginsAsPublished) {
  const double first[] = {0, 0.5, 0.75, 0.25, 0.375, 0.875, 0.625, 0.125};
  const double second[] = {0, 0.5, 0.25, 0.75, 0.375, 0.875, 0.125, 0.625};
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(sobol_bits(i, 0) * 0x1p-32, first[i]);
    EXPECT_EQ(sobol_bits(i, 1) * 0x1p-32, second[i]);
  }
}

// A (0, m, 1) net in each dimension: 2^m points lie in 2^m different intervals; and any two of the first ten dimensions fill squares evenly.
TEST(Sampling, SobolsPointsFillEveryDimension) {
  constexpr unsigned kBits = 8;
  for (int d = 0; d < kSobolDimensions; ++d) {
    std::set<std::uint32_t> intervals;
    for (std::uint64_t i = 0; i < (1U << kBits); ++i) intervals.insert(sobol_bits(i, d) >> (32 - kBits));
    EXPECT_EQ(intervals.size(), 1U << kBits) << d;
  }
  for (int a = 0; a < 10; ++a)
    for (int b = 0; b < a; ++b) {
      int inside = 0;
      for (std::uint64_t i = 0; i < 4096; ++i)
        inside += (sobol_bits(i, a) >> 30) == 0 && (sobol_bits(i, b) >> 30) == 0 ? 1 : 0;
      EXPECT_EQ(inside, 256) << a << ' ' << b;
    }
}

// The integral of prod (1 + (u_k - 1/2)/k) over the cube is 1.
double product(const Sampling& s, int dimensions) {
  double sum = 0;
  for (std::uint64_t i = 0; i < s.size(); ++i) {
    double f = 1;
    for (int d = 0; d < dimensions; ++d) f *= 1 + (s.unit(i, d) - 0.5) / (d + 1);
    sum += f;
  }
  return sum / static_cast<double>(s.size());
}

TEST(Sampling, SequencesIntegrateBetterThanRandomPoints) {
  constexpr int kDimensions = 5;
  constexpr std::uint64_t kCount = 4096;
  // The standard deviation of f is 0.36 here: 0.0056 for the mean of random points.
  EXPECT_NEAR(product({Method::Random, kDimensions, kCount, 1}, kDimensions), 1, 0.02);
  EXPECT_NEAR(product({Method::LatinHypercube, kDimensions, kCount, 1}, kDimensions), 1, 3e-3);
  EXPECT_NEAR(product({Method::Sobol, kDimensions, kCount, 1}, kDimensions), 1, 5e-4);
  EXPECT_NEAR(product({Method::Sobol, kDimensions, kCount, 1, false}, kDimensions), 1, 2e-3);
  EXPECT_NEAR(product({Method::Halton, kDimensions, kCount, 1}, kDimensions), 1, 2e-3);
}

// Scrambled points are a net still: 2^m of them lie in 2^m different intervals, in each dimension.
TEST(Sampling, ScramblingKeepsTheIntervals) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Sampling s(Method::Sobol, 8, 256, seed);
    for (int d = 0; d < 8; ++d) {
      std::set<int> intervals;
      for (std::uint64_t i = 0; i < 256; ++i) intervals.insert(static_cast<int>(256 * s.unit(i, d)));
      EXPECT_EQ(intervals.size(), 256U);
    }
  }
}

TEST(Sampling, ALatinHypercubeHasOnePointInEachLayer) {
  const Sampling s(Method::LatinHypercube, 3, 1000, 5);
  for (int d = 0; d < 3; ++d) {
    std::set<int> layers;
    for (std::uint64_t i = 0; i < s.size(); ++i) layers.insert(static_cast<int>(1000 * s.unit(i, d)));
    EXPECT_EQ(layers.size(), 1000U);
  }
}

TEST(Sampling, GridsVaryTheLastVariableFastest) {
  const Sampling s(Method::Grid, 3, 0, 0, true, {2, 3, 4});
  ASSERT_EQ(s.size(), 24U);
  EXPECT_EQ(s.choice(0, 2), 0U);
  EXPECT_EQ(s.choice(1, 2), 1U);
  EXPECT_EQ(s.choice(4, 1), 1U);
  EXPECT_EQ(s.choice(23, 0), 1U);
  EXPECT_EQ(Sampling(Method::Grid, 4, 0, 0, true, {100000, 100000, 100000, 2}).size(), 0U);  // too many
}

TEST(Sampling, PathsOfMorrisMoveOneCoordinateAtATime) {
  constexpr int kDimensions = 6;
  const Sampling s(Method::Morris, kDimensions, 50, 3);
  ASSERT_EQ(s.size(), 50U * 7U);
  for (std::uint64_t path = 0; path < 50; ++path) {
    std::set<int> moved;
    for (std::uint64_t k = 0; k < kDimensions; ++k) {
      int changes = 0;
      for (int d = 0; d < kDimensions; ++d) {
        const double change = s.unit(7 * path + k + 1, d) - s.unit(7 * path + k, d);
        if (change == 0) continue;
        EXPECT_EQ(std::abs(change), 0.5);
        ++changes, moved.insert(d);
      }
      EXPECT_EQ(changes, 1);
    }
    EXPECT_EQ(moved.size(), static_cast<std::size_t>(kDimensions));
  }
}

TEST(Sampling, SaltellisRunsExchangeOneCoordinate) {
  const Sampling s(Method::Saltelli, 3, 16, 1);
  ASSERT_EQ(s.size(), 16U * 5U);
  for (std::uint64_t j = 0; j < 16; ++j)
    for (int k = 0; k < 3; ++k)
      for (int d = 0; d < 3; ++d)
        EXPECT_EQ(s.unit(5 * j + 2 + static_cast<std::uint64_t>(k), d), s.unit(5 * j + (k == d ? 1 : 0), d));
}

// Phi(quantile(u)) = u, between the bounds as a fraction of what lies between them.
TEST(Distribution, QuantilesInvertTheDistribution) {
  const auto phi = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2.0)); };
  Distribution d{.kind = Distribution::Kind::Normal, .center = 3, .deviation = 0.5};
  for (const double u : {1e-12, 0.01, 0.3, 0.5, 0.9, 0.999})
    EXPECT_NEAR(phi((d.quantile(u) - 3) / 0.5), u, 1e-13 * (1 + u));
  EXPECT_NEAR(d.quantile(0.975), 3 + 0.5 * 1.959963984540054, 1e-14);
  d.lower = 2.5, d.upper = 4.5;
  for (const double u : {0.001, 0.5, 0.999})
    EXPECT_NEAR((phi((d.quantile(u) - 3) / 0.5) - phi(-1)) / (phi(3) - phi(-1)), u, 1e-13);
  // Far above the mean, where 1 - Phi has no digits left: erfc has them.
  d.lower = 3 + 0.5 * 9, d.upper = 3 + 0.5 * 10;
  const auto above = [](double z) { return 0.5 * std::erfc(z / std::sqrt(2.0)); };
  EXPECT_NEAR((above(9) - above((d.quantile(0.5) - 3) / 0.5)) / (above(9) - above(10)), 0.5, 1e-10);
  Distribution log{.kind = Distribution::Kind::LogNormal, .center = 2, .deviation = 0.1};
  EXPECT_NEAR(log.quantile(0.5), 2, 1e-14);
  EXPECT_NEAR(std::log(log.quantile(0.975) / 2), 0.1 * 1.959963984540054, 1e-14);
}

TEST(Distribution, DiscreteValuesHaveTheirWeights) {
  const Distribution d{.kind = Distribution::Kind::Discrete, .values = {1, 2, 3}, .weights = {1, 0, 3}};
  EXPECT_EQ(d.quantile(0.2), 1);
  EXPECT_EQ(d.quantile(0.3), 3);
  EXPECT_EQ(d.quantile(0.9999999), 3);
  const Distribution even{.kind = Distribution::Kind::Discrete, .values = {1, 2}};
  EXPECT_EQ(even.quantile(0.49), 1);
  EXPECT_EQ(even.quantile(0.51), 2);
}

TEST(Distribution, MistakesAreNamed) {
  using Kind = Distribution::Kind;
  EXPECT_NE((Distribution{.kind = Kind::Uniform, .lower = 2, .upper = 1}.mistake()), "");
  EXPECT_NE((Distribution{.kind = Kind::Uniform}.mistake()), "");
  EXPECT_NE((Distribution{.kind = Kind::Normal, .center = 1, .deviation = 0}.mistake()), "");
  EXPECT_NE((Distribution{.kind = Kind::LogNormal, .center = -1, .deviation = 1}.mistake()), "");
  EXPECT_NE((Distribution{.kind = Kind::Normal, .center = 0, .deviation = 1, .lower = 50}.mistake()), "");
  EXPECT_NE((Distribution{.kind = Kind::LogUniform, .lower = 0, .upper = 1}.mistake()), "");
  EXPECT_NE((Distribution{.kind = Kind::Discrete, .values = {1}, .weights = {0}}.mistake()), "");
  EXPECT_EQ((Distribution{.kind = Kind::Normal, .center = 0, .deviation = 1, .lower = -1}.mistake()), "");
}

}  // namespace
}  // namespace liedyn
