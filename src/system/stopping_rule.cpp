#include "liedyn/system/stopping_rule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "liedyn/base/index.h"
#include "liedyn/system/extent.h"
#include "liedyn/system/newton_constants.h"

namespace liedyn {
namespace {

using namespace newton;

constexpr double kInfinite = std::numeric_limits<double>::infinity();

Extent absolute_extent(const double* values, std::size_t count) {
  return extent_of(values, count, [values](std::size_t i) { return std::abs(values[i]); });
}

}  // namespace

void StoppingRule::prepare(bool smooth) {
  measure_.reset();
  smooth_ = smooth;
  seen_ = {};
}

void StoppingRule::prepare(const State& start, Work& work) { measure_.reset(start, work); }

void StoppingRule::forget_iterations() {
  seen_ = {};
  unchecked_ = 0;
}

void StoppingRule::forget_past() {
  forget_iterations();
  measure_.forget_rounding();
}

void StoppingRule::archive(Archive& a) { a(measure_, smooth_, seen_, last_residual_, unchecked_); }

void StoppingRule::begin(const StageProblem& p, bool similar, bool keeps_matrix) {
  similar_ = similar;
  keeps_matrix_ = keeps_matrix;
  settled_ = predicts_ = false;
  residual_ = residual_before_ = kInfinite;
  first_norm_ = 0;
  measure_.begin(p, similar);
}

StoppingRule::Verdict StoppingRule::judge(const StageEquations& equations, const StageProblem& p,
                                          int iterations) {
  measure_.update(equations, p, iterations);
  ResidualMeasure::Largest now = measure_.largest(p.stage, p.to, p.work);
  if (!now.finite) return Verdict::NotFinite;
  if (predicts_) {
    made_.residual = now.relative;
    seen_[at(iterations - 1)] = made_;
  }
  residual_before_ = residual_;
  // Residuals that iterations do not diminish may be round-off.
  const bool stagnates =
      settled_ || (iterations > 1 && !(now.relative < kWorstContraction * residual_before_));
  if (now.relative > options_.relative && stagnates) {
    measure_.probe_again(equations, p);
    now = measure_.largest(p.stage, p.to, p.work);
  }
  residual_ = now.relative;
  if (!settled_ && !is_small(iterations, stagnates, p.work)) return Verdict::GoOn;
  last_residual_ = residual_;
  unchecked_ = 0;
  return Verdict::Converged;
}

bool StoppingRule::is_small(int iterations, bool stagnates, const Work& work) {
  if (options_.from_first && !stagnates) {
    const double norm = measure_.norm(work);
    if (iterations == 0) first_norm_ = norm;
    return (first_norm_ > 0 ? norm / first_norm_ : 0) <= options_.relative;
  }
  double counted = residual_;
  // A predictor that is nearly good enough would leave its own errors in every step: it must be much better to count.
  if (iterations == 0) counted *= kPredictorFactor;
  // With a kept matrix residuals shrink by a factor instead of being squared: they must be smaller, while they still shrink, to leave as little.
  if (keeps_matrix_ && iterations > 0 && residual_ < kWorstContraction * residual_before_)
    counted *= smooth_ ? kKeptMatrixFactorIfSmooth : kKeptMatrixFactor;
  return counted <= options_.relative;
}

bool StoppingRule::is_last_iteration(const StageEquations& equations, const StageProblem& p, int iterations,
                                     bool new_matrix) {
  predicts_ = new_matrix && smooth_ && similar_ && at(iterations) <= seen_.size();
  if (predicts_) {
    made_ = increments(equations.system().model().nv, p.work);
    if (leaves_little(iterations - 1)) {
      ++unchecked_;
      return true;
    }
  }
  // With a kept matrix small increments of q say nothing about the multipliers.
  settled_ = new_matrix && measure_.increments_are_negligible(equations, p);
  return false;
}

// Of the linear system just solved; what is not finite counts as infinite.
StoppingRule::Iteration StoppingRule::increments(int nv, const Work& work) {
  const std::size_t count = work.right.size();
  const Extent q = absolute_extent(work.right.data(), at(nv)),
               others = absolute_extent(work.right.data() + nv, count - at(nv));
  if (!std::isfinite(q.sum + others.sum)) return {kInfinite, 0, 0};
  return {q.largest, others.largest, 0};
}

// With the exact matrix an iteration leaves terms of second order in the increment x of q and that y of the multipliers, a x^2 + b x y with a, b >= 0
// (the equations are linear in the multipliers), down to round-off: at most the residual that its counterpart left, times the larger of both ratios.
bool StoppingRule::leaves_little(int number) const {
  if (unchecked_ >= kMostUnchecked) return false;
  const Iteration& seen = seen_[at(number)];
  if (!(seen.increment > 0) || (made_.multipliers > 0 && !(seen.multipliers > 0))) return false;
  const double x = made_.increment / seen.increment;
  const double y = made_.multipliers > 0 ? made_.multipliers / seen.multipliers : 0;
  return kPredictionMargin * std::max(seen.residual * x * std::max(x, y), last_residual_) <=
         options_.relative;
}

}  // namespace liedyn
