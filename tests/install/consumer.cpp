#include <cstdio>

#include "base/allocation_counter.h"
#include "base/peak_memory.h"

// A library must not count the allocations of somebody else's program.
int main() {
  std::printf("peak memory %lld bytes\n", static_cast<long long>(liedyn::peak_memory()));
  return liedyn::allocation_count() == -1 ? 0 : 1;
}
