// When a run gives output besides every n-th step, and where the rows go while it runs.
//
//   ResultWriter writer("top.h5", {.states = true});     // io/result_writer.h
//   Result result = simulate(system, options, {.times = 0.01, .sink = &writer, .keep = false});
//   writer.finish(result);
#pragma once

#include <string>
#include <vector>

#include "liedyn/analyses/checkpoints.h"
#include "liedyn/analyses/companion.h"
#include "liedyn/analyses/simulate.h"

namespace liedyn {

struct Occurrence;  // analyses/simulation.h

// What is known about the run at a row: figures of the last step before it.
struct RunStatistics {
  double energy = 0, position_residual = 0, velocity_residual = 0;
  double step = 0;                                                            // the length of the last step
  long steps = 0, newton_iterations = 0, jacobian_updates = 0, rejected = 0;  // so far
};

// Takes the rows of a run one by one.
class RunSink {
 public:
  virtual ~RunSink() = default;
  // Before the first row. `result` has the channels, and of the summary what is known at the start.
  virtual void begin(const System& system, const Result& result) = 0;
  // `row` as in Result::trajectory.
  virtual void add(const double* row, const RunStatistics& statistics, const State& state) = 0;
  // An event has happened: its index among the sensors.
  virtual void happened(double t, int sensor) = 0;
};

struct RunOutput {
  // Rows at multiples of this time after the start, instead of those of SimulateOptions::output_every; between steps as the method interpolates, which keeps the order of
  // positions and velocities. 0: none.
  double times = 0;
  // Two more rows where an event happens, at the same time: before its changes and after them.
  bool events = false;
  RunSink* sink = nullptr;
  // Whether the result keeps all rows; if not, the last one.
  bool keep = true;
  // Looks at the run and may change its inputs. The results are the same bits as long as it changes nothing.
  Companion* companion = nullptr;
  // The events that happened during the run, in their order; null: nobody asks.
  std::vector<Occurrence>* happened = nullptr;
  // Of runs that may be killed; null: none are kept.
  const Checkpoints* checkpoints = nullptr;
};

// As simulate() of simulate.h, with such an output.
Result simulate(const System& system, const SimulateOptions& options, const RunOutput& output);

}  // namespace liedyn
