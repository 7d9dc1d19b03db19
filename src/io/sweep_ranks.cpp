#include "liedyn/io/sweep_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "liedyn/base/error.h"
#include "liedyn/io/sweep_store.h"

namespace liedyn {
namespace {

using Clock = std::chrono::steady_clock;

// The first byte of a message.
enum Message : char {
  kReady = 'r',    // to 0: the fingerprint
  kRefuses = 'x',  // to 0: why this rank cannot run the study
  kRecords = 'd',  // to 0: cases that are done
  kAlive = 'a',    // to 0
  kGone = 'g',     // to 0: the last message
  kCases = 'c',    // to others: cases to be run
  kEnd = 'e',      // to others: nothing more; with a second byte: some rank is lost
};

constexpr double kAhead = 0.05;  // seconds of work that a rank has waiting
constexpr auto kHeartbeat = std::chrono::milliseconds(500);
constexpr auto kPause = std::chrono::microseconds(300);         // of threads that look for messages
constexpr auto kRecordPatience = std::chrono::milliseconds(5);  // records wait for others so long

double seconds_between(Clock::time_point a, Clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

std::string pack(const std::vector<std::uint64_t>& cases) {
  std::string out(1, kCases);
  out.append(reinterpret_cast<const char*>(cases.data()), cases.size() * sizeof(std::uint64_t));
  return out;
}
std::vector<std::uint64_t> unpack(std::string_view message) {
  std::vector<std::uint64_t> out((message.size() - 1) / sizeof(std::uint64_t));
  if (!out.empty()) std::memcpy(out.data(), message.data() + 1, out.size() * sizeof(std::uint64_t));
  return out;
}

// Threads of one rank that run cases from a queue, and put the records into another one.
class Workers {
 public:
  Workers(const SweepPlan& plan, int count) : plan_(plan) {
    try {
      for (int i = 0; i < std::max(count, 1); ++i) threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the machine allows no more
      if (threads_.empty()) throw;
    }
  }
  ~Workers() {
    end();
    for (std::thread& thread : threads_) thread.join();
  }
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void add(const std::vector<std::uint64_t>& cases) {
    const std::lock_guard lock(mutex_);
    queue_.insert(queue_.end(), cases.begin(), cases.end());
    changed_.notify_all();
  }
  // Cases that are run end without a record.
  void end() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    queue_.clear();
    changed_.notify_all();
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
    return std::exchange(records_, {});
  }
  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return queue_.size() + static_cast<std::size_t>(running_);
  }

 private:
  void work() {
    try {
      CaseRunner runner(plan_);
      const std::function<bool()> stop = [this] { return ended_.load(std::memory_order_relaxed); };
      for (;;) {
        std::uint64_t index = 0;
        {
          std::unique_lock lock(mutex_);
          changed_.wait(lock, [this] { return ended_ || !queue_.empty(); });
          if (ended_) return;
          index = queue_.front();
          queue_.pop_front();
          ++running_;
        }
        const CaseRecord record = runner.run(index, stop);
        const std::lock_guard lock(mutex_);
        --running_;
        if (record.status != CaseStatus::Missing) records_.push_back(encode(record));
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
    }
  }

  const SweepPlan& plan_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::uint64_t> queue_;
  std::vector<std::string> records_;
  std::atomic<bool> ended_{false};
  int running_ = 0;
  std::exception_ptr error_;
  std::vector<std::thread> threads_;
};

// Tells those that answer to end, and waits for them, also for those that are still reading the study.
void dismiss_ranks(MessagePort& port, std::vector<bool> answers, bool lost, double patience) {
  for (std::size_t r = 1; r < answers.size(); ++r)
    if (answers[r]) port.send(static_cast<int>(r), std::string(lost ? 2 : 1, kEnd));
  const auto begin = Clock::now();
  const auto waits = [&] { return std::find(answers.begin() + 1, answers.end(), true) != answers.end(); };
  std::string message;
  while (waits()) {
    int from = 0;
    while (port.receive(from, message))
      if (message.front() == kGone || message.front() == kRefuses)
        answers[static_cast<std::size_t>(from)] = false;
    if (seconds_between(begin, Clock::now()) > patience) break;
    std::this_thread::sleep_for(kPause);
  }
  port.finish(lost || waits());
}

class Leader {
 public:
  Leader(MessagePort& port, const SweepPlan& plan, const std::string& fingerprint,
         const std::vector<std::uint64_t>& cases, const RankOptions& options,
         const std::function<void(std::string_view)>& sink)
      : port_(port),
        plan_(plan),
        fingerprint_(fingerprint),
        options_(options),
        sink_(sink),
        waiting_(cases.begin(), cases.end()),
        ranks_(static_cast<std::size_t>(port.size())) {
    for (Rank& rank : ranks_) rank.heard = Clock::now();
    ranks_[0].state = Rank::State::Ready;
  }

  RankReport run(const std::function<bool()>& stop) {
    try {
      hand_out(stop);
    } catch (...) {  // the store cannot be written
      dismiss();
      throw;
    }
    dismiss();
    return std::move(report_);
  }

 private:
  void hand_out(const std::function<bool()>& stop) {
    Workers own(plan_, options_.threads);
    bool stopped = false;
    for (;;) {
      bool busy = false;
      for (const std::string& record : own.take()) {
        accept(0, record);
        busy = true;
      }
      for (int from = 0; port_.receive(from, message_); busy = true) hear(from);
      find_lost();
      if (stop && stop()) stopped = true;
      stopped = stopped || failed_;
      if (stopped) waiting_.clear();
      for (std::size_t r = 0; r < ranks_.size(); ++r) {
        const std::vector<std::uint64_t> cases = next_for(r);
        if (cases.empty()) continue;
        if (r == 0)
          own.add(cases);
        else
          port_.send(static_cast<int>(r), pack(cases));
      }
      const bool open =
          std::any_of(ranks_.begin(), ranks_.end(), [](const Rank& rank) { return !rank.running.empty(); });
      // Ranks that have not yet said that they are ready may come too late: nothing is left for them.
      if (waiting_.empty() && (stopped || !open)) break;
      if (!busy) std::this_thread::sleep_for(kPause);
    }
  }

  struct Rank {
    enum class State { Starting, Ready, Gone, Lost } state = State::Starting;
    Clock::time_point heard;
    std::deque<std::uint64_t> running;  // given to it and not yet done, in this order
  };

  void accept(std::size_t rank, std::string_view record) {
    sink_(record);
    const CaseRecord read = decode(record);
    auto& running = ranks_[rank].running;
    const auto found = std::find(running.begin(), running.end(), read.index);
    if (found != running.end()) running.erase(found);
    seconds_ += read.seconds;
    ++done_;
    if (plan_.stop_at_failure && read.status != CaseStatus::Completed) failed_ = true;
  }

  void hear(int from) {
    Rank& rank = ranks_[static_cast<std::size_t>(from)];
    rank.heard = Clock::now();
    const std::string_view rest = std::string_view(message_).substr(1);
    switch (message_.front()) {
      case kReady:
        if (rest == fingerprint_) {
          rank.state = Rank::State::Ready;
          break;
        }
        report_.lost.push_back(fmt::format("rank {} has read another study or model, and is not used", from));
        rank.state = Rank::State::Gone;
        port_.send(from, std::string(1, kEnd));
        break;
      case kRefuses:
        report_.lost.push_back(fmt::format("rank {} is not used: {}", from, rest));
        rank.state = Rank::State::Gone;
        give_back(rank, 0);
        break;
      case kRecords:
        // A rank that was thought lost is welcome to what it has done.
        for (std::size_t at = 0; at + sizeof(std::uint32_t) <= rest.size();) {
          std::uint32_t length = 0;
          std::memcpy(&length, rest.data() + at, sizeof(length));
          at += sizeof(length);
          accept(static_cast<std::size_t>(from), rest.substr(at, length));
          at += length;
        }
        break;
      case kGone: rank.state = Rank::State::Gone; break;
      default: break;
    }
  }

  // The first `kept` of its cases may be why it has died.
  void give_back(Rank& rank, std::size_t kept) {
    while (rank.running.size() > kept) {
      waiting_.push_front(rank.running.back());
      rank.running.pop_back();
    }
    rank.running.clear();
  }

  void find_lost() {
    const auto now = Clock::now();
    for (std::size_t r = 1; r < ranks_.size(); ++r) {
      Rank& rank = ranks_[r];
      if (rank.state != Rank::State::Ready || seconds_between(rank.heard, now) < options_.lost_after)
        continue;
      rank.state = Rank::State::Lost;
      const std::size_t kept =
          std::min(rank.running.size(), static_cast<std::size_t>(std::max(options_.threads, 1)));
      report_.lost.push_back(fmt::format(
          "rank {} has not responded for {:g} s and is considered lost; it was running case {}", r,
          options_.lost_after,
          fmt::join(rank.running.begin(), rank.running.begin() + static_cast<std::ptrdiff_t>(kept), ", ")));
      give_back(rank, kept);
    }
  }

  std::vector<std::uint64_t> next_for(std::size_t r) {
    Rank& rank = ranks_[r];
    if (rank.state != Rank::State::Ready || waiting_.empty()) return {};
    const auto threads = static_cast<std::size_t>(std::max(options_.threads, 1));
    std::size_t ready = 0;
    for (const Rank& other : ranks_) ready += other.state == Rank::State::Ready ? threads : 0;
    const double each = done_ > 0 ? seconds_ / static_cast<double>(done_) : 1;
    constexpr double kMost = 1000;
    auto batch = static_cast<std::size_t>(std::clamp(kAhead / std::max(each, 1e-9), 1.0, kMost)) * threads;
    batch = std::max(std::min(batch, waiting_.size() / (2 * ready)), threads);
    if (rank.running.size() > batch) return {};
    std::vector<std::uint64_t> out;
    for (; out.size() < batch && !waiting_.empty(); waiting_.pop_front()) {
      out.push_back(waiting_.front());
      rank.running.push_back(waiting_.front());
    }
    return out;
  }

  void dismiss() {
    std::vector<bool> answers;
    bool lost = false;
    for (const Rank& rank : ranks_) {
      answers.push_back(rank.state == Rank::State::Ready || rank.state == Rank::State::Starting);
      lost = lost || rank.state == Rank::State::Lost;
    }
    dismiss_ranks(port_, answers, lost, options_.lost_after);
  }

  MessagePort& port_;
  const SweepPlan& plan_;
  const std::string& fingerprint_;
  RankOptions options_;
  const std::function<void(std::string_view)>& sink_;
  std::deque<std::uint64_t> waiting_;
  std::vector<Rank> ranks_;
  std::string message_;
  double seconds_ = 0;
  std::uint64_t done_ = 0;
  bool failed_ = false;
  RankReport report_;
};

}  // namespace

RankReport lead_ranks(MessagePort& port, const SweepPlan& plan, const std::string& fingerprint,
                      const std::vector<std::uint64_t>& cases, const RankOptions& options,
                      const std::function<void(std::string_view)>& sink, const std::function<bool()>& stop) {
  return Leader(port, plan, fingerprint, cases, options, sink).run(stop);
}

void release_ranks(MessagePort& port, const RankOptions& options) {
  if (port.finished()) return;
  dismiss_ranks(port, std::vector<bool>(static_cast<std::size_t>(port.size()), true), false,
                options.lost_after);
}

void follow_rank_0(MessagePort& port, const std::function<std::pair<const SweepPlan*, std::string>()>& read,
                   const RankOptions& options) {
  const SweepPlan* plan = nullptr;
  try {
    std::string fingerprint;
    std::tie(plan, fingerprint) = read();
    port.send(0, std::string(1, kReady) + fingerprint);
  } catch (const std::exception& error) {
    port.send(0, std::string(1, kRefuses) + error.what());
    port.finish(false);
    return;
  }
  Workers workers(*plan, options.threads);
  std::string message, records(1, kRecords);
  auto sent = Clock::now(), spoke = sent;
  const auto speak = [&](const std::string& text) {
    port.send(0, text);
    spoke = Clock::now();
  };
  for (;;) {
    bool busy = false;
    int from = 0;
    while (port.receive(from, message)) {
      busy = true;
      if (message.front() == kCases) workers.add(unpack(message));
      if (message.front() != kEnd) continue;
      workers.end();
      speak(std::string(1, kGone));
      port.finish(message.size() > 1);
      return;
    }
    try {
      for (const std::string& record : workers.take()) {
        const auto length = static_cast<std::uint32_t>(record.size());
        records.append(reinterpret_cast<const char*>(&length), sizeof(length));
        records += record;
        busy = true;
      }
    } catch (const std::exception& error) {
      speak(std::string(1, kRefuses) + error.what());
      port.finish(false);
      return;
    }
    const auto now = Clock::now();
    if (records.size() > 1 && (now - sent > kRecordPatience || workers.waiting() == 0)) {
      speak(records);
      records.resize(1);
      sent = now;
    } else if (now - spoke > kHeartbeat) {
      speak(std::string(1, kAlive));
    }
    if (!busy) std::this_thread::sleep_for(kPause);
  }
}

}  // namespace liedyn
