// Gradients of few outputs with respect to many parameters, by one sweep backwards through the steps of a run.
//
// A step is a map y_n = F(y_{n-1}, p) of the numbers of the state. With the weights w_n = dJ/dy_n of an output J = sum_n g_n(y_n, p),
//
//   w_{n-1} = F_y^T w_n + (dg_{n-1}/dy)^T,     dJ/dp = sum_n (F_p^T w_n + (dg_n/dp)^T)
//
// Each step is done again with numbers that record what is calculated (base/tape.h), from the state where it began and with the solutions that it found. These are kept where they fit
// into kBytesOfStates; beyond that every L-th one, and those between are calculated again, L of them at a time.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "liedyn/analyses/fixed_steps.h"
#include "liedyn/analyses/outputs.h"

namespace liedyn {

class AdjointRun {
 public:
  static constexpr std::size_t kBytesOfStates = std::size_t{64} << 20;

  // Runs forwards. `system` and what follows must outlive this. Throws as sensitivity().
  AdjointRun(const System& system, const SimulateOptions& options, const std::vector<double>& ends,
             const std::vector<Output>& outputs, std::size_t bytes_of_states = kBytesOfStates);

  std::vector<double> values() const { return sums_.values(); }  // of the outputs
  // Gradients of sums of the outputs with these weights (a row for each sum): one row for each sum, one column for each parameter (an index of Params).
  Eigen::MatrixXd gradients(const std::vector<int>& parameters, const Eigen::MatrixXd& weights);
  std::size_t most_bytes() const { return most_bytes_; }
  std::size_t distance() const { return distance_; }  // steps from one state that is kept to the next

 private:
  // Where a step begins, and what its solves find.
  struct Begin {
    State state;
    SolutionLog log;
  };
  Begin& begin_of(std::size_t n);

  const System& system_;
  const SimulateOptions& options_;
  const std::vector<double>& ends_;
  const std::vector<Output>& outputs_;
  OutputSums sums_;
  FixedSteps<double> steps_;
  std::size_t distance_ = 1;
  std::vector<Begin> kept_;     // of steps 1, L + 1, 2 L + 1, ...; logs only if L = 1
  std::vector<Begin> segment_;  // of steps first_ + 1, first_ + 2, ...
  std::size_t first_ = 0;
  std::size_t most_bytes_ = 0;
};

}  // namespace liedyn
