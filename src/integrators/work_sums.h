// What sensors of work show: the power of a force or a joint, integrated over time since the start of the run. Each step adds
//
//   W(t) = W(t_n) + integral of P from t_n to t,    t_n < t <= t_n + h
//
// by Gauss's rule with two points, at states between the ends of the step as the method interpolates there. The sum at the end of a step depends on nothing but the steps: not on
// when it is shown, or on where a run was interrupted. It is kept in State::angles, and so belongs to every copy of a state and to checkpoints.
//
// The error is of fourth order in the step, or of that of the method. Implicit methods interpolate multipliers linearly between their values at the ends: the work of what
// depends on these (drives, friction in joints) has an error of second order, or of the order of the multipliers if that is lower.
#pragma once

#include <functional>
#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

class WorkSums {
 public:
  explicit WorkSums(const System& system);
  bool empty() const { return sensors_.empty(); }

  // The state at a time within the step.
  using StateAt = std::function<const State&(double t)>;
  // Of a step that begins at `start` with the sums in `begin`: those at the time t, into `angles`.
  void set(const std::vector<double>& begin, double start, double t, const StateAt& state_at, Work& work,
           std::vector<double>& angles) const;

 private:
  const System* system_;
  std::vector<const Sensor*> sensors_;
};

}  // namespace liedyn
