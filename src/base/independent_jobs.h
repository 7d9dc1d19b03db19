// Jobs that do not depend on each other, on several threads: the cases of a study, the runs of a comparison.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace liedyn {

using Job = std::function<void(std::size_t number)>;

// Runs the jobs 0 .. count - 1 on up to `threads` threads, which start them in this order. Each thread calls `make_worker` once, for memory of its own.
// The caller's thread runs none: it asks `stop` now and then, which may be a function of that thread only. Where it says true, `stopped` is set, for
// running jobs to look at, and no job starts any more; whoever sets `stopped` has the same effect. The first exception of a job does so too, and goes
// to the caller once all threads have ended.
void run_jobs(std::size_t count, int threads, const std::function<Job()>& make_worker,
              const std::function<bool()>& stop, std::atomic<bool>& stopped);

}  // namespace liedyn
