#include "liedyn/base/independent_jobs.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace liedyn {
namespace {

// What all jobs do, for tests that need no memory for each thread.
std::function<Job()> each(const Job& work) {
  return [&work] { return work; };
}

TEST(IndependentJobs, EveryJobIsDoneOnceWhateverTheNumberOfThreads) {
  for (const int threads : {1, 2, 4}) {
    std::vector<int> done(1000, 0);
    std::atomic<bool> stopped{false};
    const Job work = [&](std::size_t i) { ++done[i]; };
    run_jobs(done.size(), threads, each(work), {}, stopped);
    for (const int count : done) EXPECT_EQ(count, 1) << threads << " threads";
    EXPECT_FALSE(stopped);
  }
}

TEST(IndependentJobs, NoneIsNoError) {
  std::atomic<bool> stopped{false};
  const Job work = [](std::size_t) { throw std::runtime_error("there is no job"); };
  run_jobs(0, 2, each(work), {}, stopped);
}

TEST(IndependentJobs, EachThreadHasItsOwnMemory) {
  std::atomic<int> workers{0};
  std::atomic<bool> stopped{false};
  const auto make_worker = [&]() -> Job {
    ++workers;
    return [used = false](std::size_t) mutable {
      EXPECT_FALSE(used) << "two threads share it";
      used = true;
      std::this_thread::sleep_for(std::chrono::microseconds(10));
      used = false;
    };
  };
  run_jobs(100, 3, make_worker, {}, stopped);
  EXPECT_EQ(workers, 3);
}

TEST(IndependentJobs, TheFirstExceptionEndsAllAndGoesToTheCaller) {
  for (const int threads : {1, 2, 4}) {
    std::atomic<int> begun{0};
    std::atomic<bool> stopped{false};
    const Job work = [&](std::size_t i) {
      ++begun;
      if (i == 5) throw std::runtime_error("job 5 fails");
    };
    EXPECT_THROW(run_jobs(1'000'000'000, threads, each(work), {}, stopped), std::runtime_error);
    EXPECT_TRUE(stopped);
    EXPECT_LT(begun, 1'000'000'000);
  }
}

TEST(IndependentJobs, OnlyTheCallersThreadAsksWhetherToStopAlsoWhileItWaitsForALongJob) {
  const auto caller = std::this_thread::get_id();
  std::set<std::thread::id> asked;
  int questions = 0;
  std::atomic<bool> stopped{false};
  std::atomic<int> begun{0};
  const auto stop = [&] {
    asked.insert(std::this_thread::get_id());
    return ++questions == 3;
  };
  const Job work = [&](std::size_t) {
    ++begun;
    while (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  run_jobs(100, 2, each(work), stop, stopped);
  EXPECT_EQ(asked, std::set<std::thread::id>{caller});
  EXPECT_LE(begun, 2) << "a job began after the stop";
}

TEST(IndependentJobs, StoppedBeforeTheyBegin) {
  std::atomic<bool> stopped{false};
  const Job work = [](std::size_t) { ADD_FAILURE() << "a job began"; };
  run_jobs(
      100, 2, each(work), [] { return true; }, stopped);
  EXPECT_TRUE(stopped);
}

}  // namespace
}  // namespace liedyn
