// Trial points of the ways with dense matrices, and steps from one to the next.
#pragma once

#include <functional>
#include <optional>

#include "liedyn/analyses/statics/allowed_motions.h"
#include "liedyn/analyses/statics/search.h"

namespace liedyn {

// A configuration that satisfies the constraints, with the multipliers that leave the least forces.
struct TrialPoint {
  State state;
  Linearization l;
  AllowedMotions motions;
  Eigen::VectorXd force;      // what is left along the motions; of states the rates
  Eigen::VectorXd predicted;  // the same with the section forces predicted
  double excess = 0;          // Imbalance::evaluate, with no allowance for round-off of forces
};
TrialPoint trial_point(StaticSearch& search, State state);

// The point after the increment d, back on the constraints, so that forces of different points are comparable. Empty:
// positions that cannot be projected, or forces that are not finite.
std::optional<TrialPoint> point_after(StaticSearch& search, const TrialPoint& from, const Eigen::VectorXd& d);

// The first acceptable point along d, from this length on, which is halved down to the shortest; steps across a gap
// (gaps.h) are not accepted.
struct Trial {
  TrialPoint point;
  double length;
};
std::optional<Trial> search_along(StaticSearch& search, const TrialPoint& from, const Eigen::VectorXd& d,
                                  double length, double shortest,
                                  const std::function<bool(const TrialPoint& then, double length)>& accept);

// Steps are less than a turn: angles are counted on from one point to the next.
void go_to(StaticSearch& search, TrialPoint&& then, TrialPoint& now);
// Close to balance one step more squares the error.
void keep_better(std::optional<Trial>&& then, TrialPoint& now);

}  // namespace liedyn
