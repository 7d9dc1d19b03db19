// When Newton's method stops: at residuals below the tolerance, at round-off, or where the last iteration is known to suffice.
#pragma once

#include <array>

#include "liedyn/system/residual_measure.h"

namespace liedyn {

class StoppingRule {
 public:
  StoppingRule(const System& system, const CorrectorOptions& options)
      : measure_(system, options), options_(options) {}

  // Before the first solve. `smooth`: Newton's method converges quadratically everywhere, so that residuals can be predicted.
  void prepare(bool smooth);
  void prepare(const State& start, Work& work);  // and makes all room
  // Earlier solves say nothing about the next one (another stage); nor do round-off and scales (other parameters).
  void forget_iterations();
  void forget_past();
  void archive(Archive& archive);

  // `similar`: each solve is like the one before. `keeps_matrix`: the iteration may converge linearly.
  void begin(const StageProblem& p, bool similar, bool keeps_matrix);

  enum class Verdict : std::uint8_t { GoOn, Converged, NotFinite };
  // At an iterate whose residuals have just been evaluated.
  Verdict judge(const StageEquations& equations, const StageProblem& p, int iterations);
  // After the linear solve of an iteration, before its update: whether the residual that it leaves is known to be small enough.
  bool is_last_iteration(const StageEquations& equations, const StageProblem& p, int iterations,
                         bool new_matrix);

  // The largest relative residual at the last iterate, and at the one before; infinite if there is none.
  double residual() const { return residual_; }
  double residual_before() const { return residual_before_; }
  const ResidualMeasure& measure() const { return measure_; }

 private:
  // Increments of q and of the multipliers in an iteration, and the residual that it left.
  struct Iteration {
    double increment = 0, multipliers = 0, residual = 0;
  };
  static Iteration increments(int nv, const Work& work);
  bool leaves_little(int number) const;
  bool is_small(int iterations, bool stagnates, const Work& work);

  ResidualMeasure measure_;
  CorrectorOptions options_;
  // Of the solve in progress.
  double residual_ = 0, residual_before_ = 0;
  double first_norm_ = 0;  // of all residuals at the predictor
  bool similar_ = false, keeps_matrix_ = false;
  bool settled_ = false;   // the last increments were negligible
  bool predicts_ = false;  // the last iteration can predict the residual of its counterpart in the next solve
  Iteration made_;         // and is this one
  // Iterations with a new matrix as last seen, and the residual at the end of a solve. Equations without kinks let them predict whether the next iteration is the last.
  bool smooth_ = false;
  std::array<Iteration, 2> seen_;
  double last_residual_ = 0;
  int unchecked_ = 0;  // solves in a row that ended by prediction
};

}  // namespace liedyn
