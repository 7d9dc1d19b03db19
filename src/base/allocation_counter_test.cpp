#include "liedyn/base/allocation_counter.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

#include "liedyn/base/sanitized.h"

namespace liedyn {
namespace {

#if defined(LIEDYN_SANITIZED) || !defined(__GLIBC__)

TEST(AllocationCounter, SaysThatItDoesNotCount) { EXPECT_EQ(allocation_count(), -1); }

#else

// The compiler may drop an allocation that nobody looks at; storing its address here keeps it.
void* volatile seen;

template <class Allocate>
long count_of(Allocate allocate) {
  const long before = allocation_count();
  void* const memory = allocate();
  seen = memory;
  const long after = allocation_count();
  std::free(memory);
  return after - before;
}

TEST(AllocationCounter, CountsEveryRoadToTheHeapOnce) {
  EXPECT_EQ(count_of([] { return std::malloc(10); }), 1);
  EXPECT_EQ(count_of([] { return std::calloc(10, 8); }), 1);
  EXPECT_EQ(count_of([] { return std::realloc(nullptr, 10); }), 1);
  EXPECT_EQ(count_of([] { return std::aligned_alloc(64, 128); }), 1);
  EXPECT_EQ(count_of([] {
              void* memory = nullptr;
              EXPECT_EQ(posix_memalign(&memory, 64, 100), 0);
              EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
              return memory;
            }),
            1);

  const long before = allocation_count();
  const auto number = std::make_unique<double>(1.0);
  seen = number.get();
  std::vector<double> numbers(100);
  seen = numbers.data();
  struct alignas(64) Line {
    double data[8];
  };
  const auto line = std::make_unique<Line>();
  seen = line.get();
  EXPECT_EQ(allocation_count() - before, 3);
}

TEST(AllocationCounter, RefusesAnAlignmentThatIsNoPowerOfTwo) {
  void* memory = nullptr;
  EXPECT_EQ(posix_memalign(&memory, 24, 100), EINVAL);
  EXPECT_EQ(memory, nullptr);
}

TEST(AllocationCounter, CountsInAllThreads) {
  constexpr int threads = 4;
  constexpr int each = 1000;
  const long before = allocation_count();
  {
    std::vector<std::jthread> workers;
    for (int i = 0; i < threads; ++i) {
      workers.emplace_back([] {
        for (int k = 0; k < each; ++k) {
          void* const memory = std::malloc(8);
          seen = memory;
          std::free(memory);
        }
      });
    }
  }
  const long counted = allocation_count() - before;
  EXPECT_GE(counted, threads * each);
  EXPECT_LT(counted, threads * each + 100);  // starting a thread allocates a little
}

#endif

}  // namespace
}  // namespace liedyn
