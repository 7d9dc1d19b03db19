// What the ways to an equilibrium share: the system under its loads, how far a state is from balance, and what is reported
// of the search. A way is a function of a search and of the state from which it starts; it returns whether it has arrived.
//
//   descent.h            downhill, with dense matrices
//   coupled_balance.h    bodies and first-order states together, with dense matrices
//   sparse_newton.h      for models of any size
#pragma once

#include <string>

#include "liedyn/analyses/statics/gaps.h"
#include "liedyn/analyses/statics/imbalance.h"
#include "liedyn/analyses/statics/section_forces.h"

namespace liedyn {

struct SearchReport {
  int iterations = 0;
  State reached;           // where the last way with states ended that failed, or one that ran away
  Eigen::VectorXd motion;  // the last step of the way that ended there
  bool ran_away = false;   // so far that only round-off could balance what acts there
  bool driven_on = false;  // far, and what drives it stays the same
  std::string overloaded;  // clutches that would have to carry more than they can
};

struct StaticSearch {
  StaticSearch(const System& its_system, const State& start, Work& its_work, double tolerance)
      : system(its_system),
        work(its_work),
        imbalance(its_system, start, its_work, tolerance),
        section_forces(its_system),
        gaps(its_system),
        held(Eigen::VectorXd::Zero(its_system.model().nv)) {}

  bool has_states() const { return system.model().first_state() < system.model().nv; }
  const StaticScales& scales() const { return imbalance.scales(); }
  double extent() const { return scales().extent(work); }

  const System& system;
  Work& work;
  Imbalance imbalance;
  SectionForces section_forces;
  Gaps gaps;
  Eigen::VectorXd held;   // 1: states that keep their values
  bool pressing = false;  // with bristles that hold whatever acts
  double first_extent = 1;
  SearchReport report;
};

// What a way that cannot be made shorter may leave, relative to what is tolerated.
inline constexpr double kLeftByRoundOff = 1e4;

// The state after the increment d of positions and first-order states.
State incremented(const System& system, const State& state, const Eigen::VectorXd& d);

// mu with which the first step of (K + mu M) y = -r is at most a tenth of the length of a subsystem, or a radian.
double first_shift(const StaticSearch& search, const State& state);

}  // namespace liedyn
