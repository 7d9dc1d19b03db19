#include "liedyn/base/largest.h"

#include <limits>

#include <gtest/gtest.h>

#include "liedyn/base/varied.h"

namespace liedyn {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Largest, IsTheLargestMagnitude) {
  EXPECT_EQ(largest(std::vector<double>{}), 0);
  EXPECT_EQ(largest(std::vector<double>{0.0, -0.0}), 0);
  EXPECT_EQ(largest(std::vector<double>{1, -3, 2}), 3);
  EXPECT_EQ(largest(std::vector<double>{1, -kInfinity, 2}), kInfinity);
}

TEST(Largest, ShowsWhatIsNotANumberWhereverItStands) {
  EXPECT_TRUE(std::isnan(largest(std::vector<double>{kNaN})));
  EXPECT_TRUE(std::isnan(largest(std::vector<double>{kNaN, 1, 2})));
  EXPECT_TRUE(std::isnan(largest(std::vector<double>{1, kNaN, 2})));
  EXPECT_TRUE(std::isnan(largest(std::vector<double>{1, 2, -kNaN})));
  EXPECT_TRUE(std::isnan(largest(std::vector<double>{kInfinity, kNaN})));
  EXPECT_TRUE(std::isnan(largest(std::vector<double>{kNaN, kInfinity})));
}

TEST(Largest, TakesTheValuesOfNumbersWithDerivatives) {
  EXPECT_EQ(largest(std::vector<Varied>{Varied(1), Varied(-2)}), 2);
  EXPECT_TRUE(std::isnan(largest(std::vector<Varied>{Varied(kNaN), Varied(1)})));
}

TEST(Larger, KeepsWhatIsNotANumber) {
  EXPECT_EQ(larger(1, 2), 2);
  EXPECT_EQ(larger(2, 1), 2);
  EXPECT_TRUE(std::isnan(larger(kNaN, 1)));
  EXPECT_TRUE(std::isnan(larger(1, kNaN)));
}

}  // namespace
}  // namespace liedyn
