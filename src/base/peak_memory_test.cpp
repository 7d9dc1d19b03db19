#include "liedyn/base/peak_memory.h"

#include <gtest/gtest.h>

#include <vector>

namespace liedyn {
namespace {

TEST(PeakMemory, GrowsWithWhatWasTouchedAndStays) {
  constexpr std::int64_t block = 64 << 20;
  const std::int64_t before = peak_memory();
  EXPECT_GT(before, 1 << 20);
  {
    std::vector<char> memory(block, 'x');
    EXPECT_EQ(memory[block / 2], 'x');
  }
  const std::int64_t after = peak_memory();
  EXPECT_GE(after - before, block / 2);
  EXPECT_LT(after - before, 2 * block);
}

}  // namespace
}  // namespace liedyn
