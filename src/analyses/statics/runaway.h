// Motions that nothing holds: ways that lead so far that there is no equilibrium at their end.
#pragma once

#include <optional>

#include "liedyn/analyses/statics/trial_point.h"

namespace liedyn {

// Nothing rests a million lengths of its subsystem away from where it began. `state` is the one whose residuals were
// evaluated last. If so, this is reported.
bool runs_away(StaticSearch& search, const State& state);

// How far a way has led, and whether what drives it has stayed the same: a motion that nothing resists goes on like this.
class DrivenWay {
 public:
  explicit DrivenWay(const TrialPoint& start);
  void went(const Eigen::VectorXd& y, double length, const StaticScales& scales, const TrialPoint& now);
  // Whether a step has led into a surface far deeper than what acts presses it: it would be shaken off.
  bool is_shock(const TrialPoint& now) const;
  // Reports that the way is driven on at its end, if it is.
  void report(const TrialPoint& now, SearchReport& out) const;

 private:
  double distance() const { return way_.lpNorm<Eigen::Infinity>(); }
  double first_;
  std::optional<double> half_way_;  // the force there
  Eigen::VectorXd way_;             // to and fro cancel
};

}  // namespace liedyn
