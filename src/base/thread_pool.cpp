#include "base/thread_pool.h"

namespace liedyn {
namespace {

// Phases follow each other within microseconds, so a worker looks for the next one a while before it goes to sleep.
constexpr int kSpins = 20000;

}  // namespace

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i) workers_.emplace_back([this] { serve(); });
}

ThreadPool::~ThreadPool() {
  stop_ = true;
  ++phase_;
  phase_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::take_parts() {
  for (int part = next_.fetch_add(1); part < parts_; part = next_.fetch_add(1)) call_(context_, part);
}

void ThreadPool::serve() {
  unsigned seen = 0;
  for (;;) {
    for (int spin = 0; spin < kSpins && phase_.load(std::memory_order_acquire) == seen; ++spin)
      if (spin % 64 == 63) std::this_thread::yield();
    phase_.wait(seen);
    ++seen;
    if (stop_) return;
    take_parts();
    busy_.fetch_sub(1, std::memory_order_acq_rel);
  }
}

void ThreadPool::run_parts(int parts, Call call, const void* context) {
  call_ = call;
  context_ = context;
  parts_ = parts;
  next_ = 0;
  busy_ = static_cast<int>(workers_.size());
  ++phase_;
  phase_.notify_all();
  take_parts();
  // The last parts are under way in other threads.
  while (busy_.load(std::memory_order_acquire) > 0) std::this_thread::yield();
}

}  // namespace liedyn
