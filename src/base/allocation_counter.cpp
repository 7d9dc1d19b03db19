#include "liedyn/base/allocation_counter.h"

#include <cstdlib>

#include "liedyn/base/sanitized.h"

#if defined(__GLIBC__) && !defined(LIEDYN_SANITIZED)

#include <atomic>
#include <bit>
#include <cerrno>

namespace {

// Counting must not allocate, and must work before constructors run.
constinit std::atomic<long> allocations = 0;

void count() { allocations.fetch_add(1, std::memory_order_relaxed); }

}  // namespace

namespace liedyn {

long allocation_count() { return allocations.load(std::memory_order_relaxed); }

}  // namespace liedyn

// glibc lets a program replace these and reach the originals under their internal names.
extern "C" {

// NOLINTBEGIN(bugprone-reserved-identifier)
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* memory, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
// NOLINTEND(bugprone-reserved-identifier)

void* malloc(std::size_t size) noexcept {
  count();
  return __libc_malloc(size);
}

void* calloc(std::size_t number, std::size_t size) noexcept {
  count();
  return __libc_calloc(number, size);
}

void* realloc(void* memory, std::size_t size) noexcept {
  count();
  return __libc_realloc(memory, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
  count();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) noexcept {
  if (alignment % sizeof(void*) != 0 || !std::has_single_bit(alignment)) return EINVAL;
  count();
  void* const block = __libc_memalign(alignment, size);
  if (block == nullptr) return ENOMEM;
  *memory = block;
  return 0;
}

}  // extern "C"

#endif
