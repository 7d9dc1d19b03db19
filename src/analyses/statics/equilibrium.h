// The search for the equilibrium under one set of loads: the ways that fit the model, one after the other.
#pragma once

#include "liedyn/analyses/statics/search.h"

namespace liedyn {

class Equilibrium {
 public:
  // Both must outlive it. `state`: about where it starts, for the scales.
  Equilibrium(const System& system, const State& state, Work& work, double tolerance)
      : search_(system, state, work, tolerance) {}

  // From the state to the equilibrium. False: no convergence; the state is then as it was. `straight_first`: not beside an
  // unstable equilibrium, where it would lead back.
  bool solve(State& state, bool straight_first = true);
  // From an equilibrium over the increment d of its positions, which may bend slender beams but not stretch them, to a stable one. False as above.
  bool solve_beside(State& state, const Eigen::VectorXd& d);
  // Whether forces are in balance, up to the round-off that solve() tolerates.
  bool balances(const State& state) { return search_.imbalance.evaluate(state) <= kLeftByRoundOff; }
  const SearchReport& report() const { return search_.report; }

 private:
  bool press_in(State& state);
  bool share_among_clutches(State& state);

  StaticSearch search_;
};

}  // namespace liedyn
