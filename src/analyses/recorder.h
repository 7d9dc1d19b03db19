// Keeps the sensors at the output times, and the figures of the summary that are maxima over the run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "liedyn/analyses/result.h"
#include "liedyn/analyses/run_output.h"
#include "liedyn/base/archive.h"
#include "liedyn/system/system.h"

namespace liedyn {

class Recorder {
 public:
  // `rows`: how many are to be expected. Of the options `record_residuals` and `recorded`, of the output `sink` and `keep`.
  Recorder(const System& system, Work& work, Result& result, std::size_t rows, const SimulateOptions& options,
           const RunOutput& output = {});

  void record(const State& state) {
    watch(state);
    sense(state);
  }
  // The maxima of the summary.
  void watch(const State& state);
  // The sensors, and the residuals as they were watched last: a state between two steps has those of interpolation.
  void sense(const State& state);
  double last_time() const { return last_time_; }
  // Whether sensors show another thing than in the last row.
  bool shows_change(const State& state);
  // What the rows after this say about the steps.
  RunStatistics& statistics() { return statistics_; }
  // The maxima so far; with what was recorded they are all that a run that goes on needs.
  void archive(Archive& archive);
  // The rows of the run up to here. Throws InputError if they are not rows of this table.
  void go_on(const std::vector<double>& data);

 private:
  void add_channel(const std::string& name, const std::string& unit, int components);

  const System* system_;
  Work* work_;
  Result* result_;
  bool record_residuals_;
  bool releases_;  // events release joints, whose rows then are violated
  std::function<void(const System&, const State&)> recorded_;
  std::vector<double> variables_;
  bool first_ = true;
  RunStatistics statistics_;
  RunSink* sink_;
  bool keep_;
  double last_time_ = 0;
};

}  // namespace liedyn
