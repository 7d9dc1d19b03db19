// Advances a state from start to end: it owns the step size, retries, counters and the calls of the observer.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "integrators/integrator.h"

namespace liedyn {

struct DriveOptions {
  double end = 1;
  double step = 1e-3;  // equal steps: adjusted down so that they meet the end; adaptive: the first one
  // Called with the states at multiples of `spacing` after the start, between steps as the method interpolates there; after the observer has
  // seen the step. None if empty.
  double spacing = 0;
  std::function<void(const State&)> output = {};
};

struct DriveReport {
  double step = 0;                          // used; adaptive: the mean
  double least_step = 0, largest_step = 0;  // accepted
  long steps = 0;
  long rejected = 0;  // attempts whose error was too large, or that did not converge
  long newton_iterations = 0;
  long jacobian_updates = 0;
  long allocations = -1;  // in the loop, observer excluded; -1: not counted
  double seconds = 0;     // in the loop, observer excluded
  bool completed = true;
  bool interrupted = false;           // by the observer
  std::string failure;                // with time, step and the worst equation
  std::vector<std::string> warnings;  // singular configurations passed
};

// Called after every accepted step with its number; returning false stops the run (the user interrupted it).
using Observer = std::function<bool(const State&, long step)>;

// Equal steps from `start` to `end` that are at most `step` long (up to round-off).
long step_count(double start, double end, double step);

// Drives `state` (consistent, not yet started) to the end, or to the last good step.
DriveReport drive(Integrator& integrator, const System& system, const DriveOptions& options, State& state,
                  Work& work, const Observer& observer);

}  // namespace liedyn
