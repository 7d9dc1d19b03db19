#include "liedyn/base/independent_jobs.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace liedyn {

void run_jobs(std::size_t count, int threads, const std::function<Job()>& make_worker,
              const std::function<bool()>& stop, std::atomic<bool>& stopped) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::condition_variable ended;
  std::size_t running = 0;
  std::exception_ptr error;
  const auto serve = [&] {
    try {
      const Job work = make_worker();
      while (!stopped.load(std::memory_order_relaxed)) {
        const std::size_t number = next.fetch_add(1);
        if (number >= count) break;
        work(number);
      }
    } catch (...) {
      stopped = true;
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    --running;
    ended.notify_one();
  };
  if (stop && stop()) stopped = true;
  if (stopped) return;
  std::vector<std::thread> servers;
  const std::size_t wanted = std::min(static_cast<std::size_t>(std::max(threads, 1)), count);
  for (std::size_t i = 0; i < wanted; ++i) {
    {
      const std::lock_guard lock(mutex);
      ++running;
    }
    try {
      servers.emplace_back(serve);
    } catch (const std::system_error&) {  // the machine allows no more: those that there are do it
      {
        const std::lock_guard lock(mutex);
        --running;
      }
      if (servers.empty()) throw;
      break;
    }
  }
  {
    constexpr auto kPause = std::chrono::milliseconds(50);
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, kPause, [&] { return running == 0; })) {
      lock.unlock();
      if (!stopped && stop && stop()) stopped = true;
      lock.lock();
    }
  }
  for (std::thread& server : servers) server.join();
  if (error) std::rethrow_exception(error);
}

}  // namespace liedyn
