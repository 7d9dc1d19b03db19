// Threads that wait for work between the phases of a step. What is to be done is cut into a fixed number of parts, whatever the number of
// threads: results do not depend on that.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace liedyn {

class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // with the caller's
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return static_cast<int>(workers_.size()) + 1; }

  // work(part) for part = 0 .. parts - 1; returns when all are done. If one throws, the others are done all the same,
  // and the first exception goes to the caller.
  template <class Function>
  void run(int parts, const Function& work) {
    run_parts(
        parts, [](const void* context, int part) { (*static_cast<const Function*>(context))(part); }, &work);
  }

 private:
  using Call = void (*)(const void* context, int part);
  void run_parts(int parts, Call call, const void* context);
  void take_parts();
  void serve();

  Call call_ = nullptr;
  const void* context_ = nullptr;
  int parts_ = 0;
  std::atomic<int> next_{0};        // parts that nobody has taken yet
  std::atomic<int> busy_{0};        // parts that are not finished
  std::atomic<unsigned> phase_{0};  // counts the phases; workers wait for it to change
  std::atomic<bool> stop_{false};
  std::atomic<bool> failed_{false};
  std::exception_ptr failure_;  // of the part that set `failed_`
  std::vector<std::thread> workers_;
};

// work(begin, end) over 0 .. count - 1, in `kParts` parts where that is worth it. A null pool: all at once.
template <class Function>
void parallel_for(ThreadPool* pool, std::size_t count, const Function& work) {
  constexpr std::size_t kParts = 16, kWorthwhile = 4096;
  if (pool == nullptr || count < kWorthwhile) return work(std::size_t{0}, count);
  pool->run(kParts, [&](int part) {
    const auto p = static_cast<std::size_t>(part);
    work(count * p / kParts, count * (p + 1) / kParts);
  });
}

}  // namespace liedyn
