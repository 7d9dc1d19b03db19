#include "liedyn/base/thread_pool.h"

#include <system_error>
#include <utility>

namespace liedyn {
namespace {

// Phases follow each other within microseconds, so whoever waits looks a while before it goes to sleep, some 50 microseconds. Not longer, and without giving its
// turn away: on a machine with other work to do it would be taken from the others, or come back too late.
constexpr int kSpins = 20000;

void pause() {
#if defined(__aarch64__)
  asm volatile("yield");
#elif defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

template <class Number>
void wait_for_change(const std::atomic<Number>& value, Number from) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (value.load(std::memory_order_acquire) != from) return;
    pause();
  }
  value.wait(from, std::memory_order_acquire);
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
  try {
    for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
  } catch (const std::system_error&) {  // the machine allows no more: these do it
  }
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  ++phase_;
  phase_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

// Taking a part that is left proves that the phase is not over, and it cannot be before that part is done: what is to be called stays as it is until then.
void ThreadPool::take_parts() {
  int left = next_.load(std::memory_order_acquire);
  while (left > 0) {
    if (!next_.compare_exchange_weak(left, left - 1, std::memory_order_acq_rel, std::memory_order_acquire))
      continue;
    try {
      call_(context_, parts_ - left);
    } catch (...) {
      if (!failed_.exchange(true)) failure_ = std::current_exception();
    }
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) == 1) busy_.notify_one();
    left = next_.load(std::memory_order_acquire);
  }
}

// A thread that wakes too late finds nothing to do; nobody waits for it.
void ThreadPool::serve() {
  unsigned seen = 0;
  for (;;) {
    wait_for_change(phase_, seen);
    seen = phase_.load(std::memory_order_acquire);
    if (stop_) return;
    take_parts();
  }
}

void ThreadPool::run_parts(int parts, Call call, const void* context) {
  call_ = call;
  context_ = context;
  parts_ = parts;
  busy_.store(parts, std::memory_order_relaxed);
  next_.store(parts, std::memory_order_release);
  phase_.fetch_add(1, std::memory_order_release);
  phase_.notify_all();
  take_parts();
  // The last parts are under way in other threads.
  for (int left = busy_.load(std::memory_order_acquire); left > 0;
       left = busy_.load(std::memory_order_acquire))
    wait_for_change(busy_, left);
  if (failed_.exchange(false)) std::rethrow_exception(std::exchange(failure_, nullptr));
}

}  // namespace liedyn
