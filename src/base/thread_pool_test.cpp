#include "liedyn/base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace liedyn {
namespace {

TEST(ThreadPool, DoesEveryPartOnceInManyPhases) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    std::vector<int> done(37, 0);
    constexpr int kPhases = 2000;
    for (int phase = 0; phase < kPhases; ++phase)
      pool.run(static_cast<int>(done.size()), [&](int part) { ++done[static_cast<std::size_t>(part)]; });
    for (const int count : done) EXPECT_EQ(count, kPhases) << threads << " threads";
  }
}

TEST(ThreadPool, GivesTheFirstExceptionToTheCallerAndWorksOn) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    for (int phase = 0; phase < 100; ++phase) {
      std::atomic<int> done = 0;
      EXPECT_THROW(pool.run(16,
                            [&](int part) {
                              ++done;
                              if (part % 5 == 2) throw std::runtime_error("this part fails");
                            }),
                   std::runtime_error);
      EXPECT_EQ(done, 16);
      pool.run(16, [&](int) { --done; });
      EXPECT_EQ(done, 0);
    }
  }
}

TEST(ThreadPool, CoversARangeWithoutGapsWhateverItsLength) {
  ThreadPool pool(3);
  for (const std::size_t count : {0UL, 1UL, 4095UL, 4096UL, 100003UL}) {
    std::vector<int> done(count, 0);
    parallel_for(&pool, count, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) ++done[i];
    });
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0UL), count);
    parallel_for(nullptr, count, [&](std::size_t begin, std::size_t end) {
      EXPECT_EQ(begin, 0UL);
      EXPECT_EQ(end, count);
    });
  }
}

}  // namespace
}  // namespace liedyn
