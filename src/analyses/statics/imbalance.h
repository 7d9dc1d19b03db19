// How far a state is from equilibrium: forces, violations of constraints and rates of states, each relative to what is
// tolerated of it.
#pragma once

#include <vector>

#include "liedyn/analyses/linearization.h"
#include "liedyn/analyses/statics/friction.h"
#include "liedyn/analyses/statics/scales.h"

namespace liedyn {

class Imbalance {
 public:
  // `tolerance`: of forces, relative to the forces there are.
  Imbalance(const System& system, const State& state, Work& work, double tolerance);

  // The largest of all, at most 1 in balance; `with_round_off`: forces that rounded positions cause are tolerated. Leaves
  // the residuals of the state in the workspace.
  double evaluate(const State& state, bool with_round_off = true);
  // The largest violation of a constraint at the state evaluated last.
  double violation() const;

  // Positions are known to a few units of their last digit, and forces to that times the stiffness: of a stiff slender beam
  // this is more than the tolerance of small loads.
  void set_round_off(const State& state);
  // What the rates of states are sums of: dx' = C dx + K dq, with changes of the size of x and of the model.
  void set_rate_scales(const Linearization& l, const State& state);

  // Typical changes of the states.
  Eigen::VectorXd state_sizes(const Linearization& l, const State& state) const;
  const StaticScales& scales() const { return scales_; }
  double tolerance() const { return tolerance_; }
  const FrictionStates& friction() const { return friction_; }

 private:
  double tolerated_violation(int row) const;
  Eigen::VectorXd position_digits() const;
  double typical(const Linearization& l, const State& state, int i) const;

  const System* system_;
  Work* work_;
  double tolerance_;
  StaticScales scales_;
  FrictionStates friction_;
  std::vector<double> rate_scales_, round_off_, row_round_off_;  // empty: not set yet
};

}  // namespace liedyn
