#include "liedyn/io/sweep_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "liedyn/io/sweep_file.h"
#include "liedyn/io/sweep_store.h"

namespace liedyn {
namespace {

// Ranks that are threads of one process.
class Exchange {
 public:
  explicit Exchange(int size) : boxes_(static_cast<std::size_t>(size)) {}
  void put(int from, int to, const std::string& message) {
    const std::lock_guard lock(mutex_);
    boxes_[static_cast<std::size_t>(to)].push_back({from, message});
  }
  bool take(int rank, int& from, std::string& message) {
    const std::lock_guard lock(mutex_);
    auto& box = boxes_[static_cast<std::size_t>(rank)];
    if (box.empty()) return false;
    std::tie(from, message) = box.front();
    box.pop_front();
    return true;
  }
  int size() const { return static_cast<int>(boxes_.size()); }

 private:
  std::mutex mutex_;
  std::vector<std::deque<std::pair<int, std::string>>> boxes_;
};

class ThreadPort : public MessagePort {
 public:
  ThreadPort(Exchange& exchange, int rank) : exchange_(exchange), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return exchange_.size(); }
  void send(int to, const std::string& message) override { exchange_.put(rank_, to, message); }
  bool receive(int& from, std::string& message) override { return exchange_.take(rank_, from, message); }
  bool lost = false;

 private:
  void close(bool some_lost) override { lost = some_lost; }
  Exchange& exchange_;
  int rank_;
};

SweepFile study(int cases) {
  return read_sweep_text(R"({ "liedyn_study": 1, "model": "heavy_top", "simulation": { "end": 0.01 },
    "parameters": { "spin": { "distribution": "uniform", "lower": 50, "upper": 150 } },
    "sampling": { "method": "random", "cases": )" +
                             std::to_string(cases) + R"( },
    "outputs": { "position": "position", "force": "pivot_force[2]@max" } })",
                         "study.json");
}

using Records = std::map<std::uint64_t, CaseRecord>;

TEST(Ranks, AllCasesAreRunOnceWithTheSameDigits) {
  const SweepFile file = study(60);
  std::vector<std::uint64_t> cases;
  Records alone;
  for (std::uint64_t i = 0; i < 60; ++i) cases.push_back(i);
  run_cases(file.plan, cases, 1, [&](const CaseRecord& r) { alone[r.index] = r; }, {});
  Exchange exchange(3);
  std::vector<std::thread> others;
  const RankOptions options{1, 30};
  for (int rank = 1; rank < 3; ++rank)
    others.emplace_back([&, rank] {
      ThreadPort port(exchange, rank);
      follow_rank_0(
          port,
          [&] {
            return std::pair<const SweepPlan*, std::string>(&file.plan, rank == 2 ? "another" : "same");
          },
          options);
    });
  ThreadPort port(exchange, 0);
  Records found;
  int times = 0;
  const RankReport report =
      lead_ranks(port, file.plan, "same", cases, options,
                 [&](std::string_view bytes) { ++times, found[decode(bytes).index] = decode(bytes); }, {});
  for (std::thread& other : others) other.join();
  EXPECT_EQ(times, 60);
  EXPECT_FALSE(port.lost);
  // Rank 2 has read something else. It may have said so after all was done.
  EXPECT_LE(report.lost.size(), 1U);
  for (const auto& [index, record] : alone) {
    EXPECT_EQ(record.outputs, found[index].outputs);
    EXPECT_EQ(record.variables, found[index].variables);
    EXPECT_EQ(record.statistics.newton_iterations, found[index].statistics.newton_iterations);
  }
}

TEST(Ranks, ARankThatFallsSilentCostsOneCase) {
  const SweepFile file = study(200);
  std::vector<std::uint64_t> cases;
  for (std::uint64_t i = 0; i < 200; ++i) cases.push_back(i);
  Exchange exchange(2);
  // It says that it is ready, takes cases, and is never heard of again.
  exchange.put(1, 0, "rsame");
  ThreadPort port(exchange, 0);
  Records found;
  const RankReport report =
      lead_ranks(port, file.plan, "same", cases, {1, 0.3},
                 [&](std::string_view bytes) { found[decode(bytes).index] = decode(bytes); }, {});
  EXPECT_EQ(found.size(), 199U);
  EXPECT_TRUE(port.lost);
  ASSERT_EQ(report.lost.size(), 1U);
  EXPECT_THAT(report.lost.front(), testing::HasSubstr("rank 1 has not responded for 0.3 s"));
}

TEST(Ranks, OthersSayWhyTheyTakeNoPart) {
  const SweepFile file = study(4);
  Exchange exchange(3);
  exchange.put(1, 0, "ranother");
  exchange.put(2, 0, "xmodel.json: there is no such file");
  ThreadPort port(exchange, 0);
  Records found;
  const RankReport report =
      lead_ranks(port, file.plan, "same", {0, 1, 2, 3}, {1, 30},
                 [&](std::string_view bytes) { found[decode(bytes).index] = decode(bytes); }, {});
  EXPECT_EQ(found.size(), 4U);
  EXPECT_THAT(report.lost, testing::ElementsAre("rank 1 has read another study or model, and is not used",
                                                "rank 2 is not used: model.json: there is no such file"));
  int from = -1;
  std::string message;
  ThreadPort other(exchange, 1);
  EXPECT_TRUE(other.receive(from, message));  // that it may end
  EXPECT_EQ(message, "e");
}

TEST(Ranks, AStoreThatCannotBeWrittenEndsAll) {
  const SweepFile file = study(20);
  Exchange exchange(2);
  const RankOptions options{1, 30};
  std::thread other([&] {
    ThreadPort port(exchange, 1);
    follow_rank_0(
        port, [&] { return std::pair<const SweepPlan*, std::string>(&file.plan, "same"); }, options);
  });
  ThreadPort port(exchange, 0);
  EXPECT_THROW(lead_ranks(port, file.plan, "same", {0, 1, 2, 3}, options,
                          [](std::string_view) { throw std::runtime_error("full"); }, {}),
               std::runtime_error);
  other.join();
}

TEST(Records, AreTheSameAfterAJourney) {
  CaseRecord r;
  r.index = 7;
  r.status = CaseStatus::Failed;
  r.variables = {1, -0.0};
  r.outputs = {std::numeric_limits<double>::quiet_NaN()};
  r.statistics = {1, 2, 3, 4, 5};
  r.seconds = 6;
  r.message = "why";
  const std::string bytes = encode(r);
  EXPECT_EQ(encode(decode(bytes)), bytes);
  for (std::size_t n = 0; n < bytes.size(); ++n)
    EXPECT_THROW(decode(bytes.substr(0, n)), std::runtime_error) << n;
}

}  // namespace
}  // namespace liedyn
