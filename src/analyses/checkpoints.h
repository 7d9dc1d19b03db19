// A run that may be killed at any time: what it needs to go on with the same bits is kept now and then, with the figures of its summary.
//
// Checkpoints are taken between two steps. They change nothing: a run with them, or one that went on from any of them, gives the same bits as one without.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "liedyn/analyses/result.h"

namespace liedyn {

// Of a run that goes on from one the result is that of the whole run. simulate() throws InputError if it belongs to another run or is damaged.
struct Checkpoints {
  // Asked after every step with its number. Empty: none is kept.
  std::function<bool(long step)> due = {};
  // Called where one was due, and where the user stops the run. `bytes` and what was recorded up to here are all that a run needs to go on.
  std::function<void(const std::string& bytes, const Trajectory& recorded)> keep = {};
  // The bytes to go on from, and the rows that belong to them. Empty: from the start, or as SimulateOptions::resume says.
  std::string resume = {};
  std::vector<double> recorded = {};
};

}  // namespace liedyn
