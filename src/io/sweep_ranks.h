// A study on several processes: rank 0 has the store and hands out cases, all ranks run them.
//
// Ranks ask for nothing: rank 0 keeps each of them supplied with about kAhead seconds of work, and less towards the end. Every rank runs its cases on threads of their own, while its first thread
// sends and receives. A rank that has been silent for some time is lost: the cases it was running stay missing, since one of them may be why, and its others are given to the rest.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/analyses/sweep.h"
#include "liedyn/io/message_port.h"

namespace liedyn {

struct RankOptions {
  int threads = 1;         // of each rank
  double lost_after = 30;  // seconds of silence
};

struct RankReport {
  std::vector<std::string>
      lost;  // ranks that do not answer, and the cases they were running; ranks that gave up, and why
};

// Of rank 0. `sink` gets the encoded records (sweep_store.h), `stop` is asked now and then. `fingerprint`: what all ranks must have read.
RankReport lead_ranks(MessagePort& port, const SweepPlan& plan, const std::string& fingerprint,
                      const std::vector<std::uint64_t>& cases, const RankOptions& options,
                      const std::function<void(std::string_view encoded)>& sink,
                      const std::function<bool()>& stop);

// Of rank 0, where the study cannot begin: all others end.
void release_ranks(MessagePort& port, const RankOptions& options);

// Of all others: until rank 0 says that all is done. `read` gives the plan and its fingerprint; what it throws is reported to rank 0.
void follow_rank_0(MessagePort& port, const std::function<std::pair<const SweepPlan*, std::string>()>& read,
                   const RankOptions& options);

}  // namespace liedyn
