#include "liedyn/base/random.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace liedyn {
namespace {

// The known answers that its authors publish.
TEST(Random, PhiloxGivesTheKnownAnswers) {
  using Block = std::array<std::uint32_t, 4>;
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, UnitsAreUniformAndIndependentOfTheirOrder) {
  constexpr std::uint64_t kCount = 100000;
  double sum = 0, squares = 0, neighbours = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const double u = random_unit(7, 3, i) - 0.5;
    sum += u, squares += u * u, neighbours += u * (random_unit(7, 4, i) - 0.5);
    EXPECT_LT(std::abs(u), 0.5);
  }
  // Standard deviations: of the mean 1/sqrt(12 n), of the variance sqrt(1/180 n), of the covariance 1/(12 sqrt n).
  const double n = kCount;
  EXPECT_LT(std::abs(sum / n), 4 / std::sqrt(12 * n));
  EXPECT_LT(std::abs(squares / n - 1.0 / 12), 4 / std::sqrt(180 * n));
  EXPECT_LT(std::abs(neighbours / n), 4 / (12 * std::sqrt(n)));
  EXPECT_EQ(random_unit(7, 3, 12345), random_unit(7, 3, 12345));
  EXPECT_NE(random_unit(7, 3, 12345), random_unit(8, 3, 12345));
}

TEST(Random, OrdersHoldEveryNumberOnce) {
  for (const std::uint64_t count : {1, 2, 3, 4, 5, 16, 17, 1000, 4097}) {
    std::vector<int> seen(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t at = random_order(1, 2, count, i);
      ASSERT_LT(at, count);
      ++seen[at];
    }
    for (const int times : seen) EXPECT_EQ(times, 1) << count;
  }
}

// Each of the 24 orders of four is as frequent as the others: chi squared of 23 degrees of freedom is below 50 with probability 0.999.
TEST(Random, OrdersOfFourAreEquallyFrequent) {
  std::vector<int> times(256);
  constexpr int kSeeds = 2400;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    std::size_t code = 0;
    for (std::uint64_t i = 0; i < 4; ++i) code = 4 * code + random_order(seed, 0, 4, i);
    ++times[code];
  }
  double chi = 0;
  int orders = 0;
  for (const int n : times)
    if (n > 0) ++orders, chi += (n - kSeeds / 24.0) * (n - kSeeds / 24.0) / (kSeeds / 24.0);
  EXPECT_EQ(orders, 24);
  EXPECT_LT(chi, 50);
}

}  // namespace
}  // namespace liedyn
