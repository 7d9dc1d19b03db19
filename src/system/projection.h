// The formulas of system/initial.h that do not depend on the scalar: double, or Varied where numbers carry derivatives.
#pragma once

#include <algorithm>
#include <vector>

#include "liedyn/system/varied_system.h"

namespace liedyn {

// See shifted_state() of system/initial.h.
template <class S>
bool shifted_state_of(const SystemOf<S>& system, const StateOf<S>& state, double sh, StateOf<S>& shifted,
                      std::vector<S>& theta, WorkOf<S>& work) {
  shifted = state;
  shifted.t += sh;
  theta.resize(state.v.size());
  for (std::size_t i = 0; i < theta.size(); ++i) {
    theta[i] = sh * state.v[i] + 0.5 * sh * sh * state.vdot[i];
    shifted.v[i] += sh * state.vdot[i];
  }
  for (const Node& node : system.model().nodes)
    increment_position<S>(node.type, theta.data() + node.v, shifted.q.data() + node.q);
  return solve_accelerations(system, shifted, work);
}

// See constrained_part() of system/initial.h. `increment(y)` puts the d of least d^T M d with B d = y into work.right; false: the matrix is singular.
template <class S, class Increment>
std::vector<S> constrained_part_of(const SystemOf<S>& system, const StateOf<S>& state,
                                   const std::vector<S>& y, WorkOf<S>& work, const Increment& increment) {
  const RowRequest rows{false, true, false};
  StateOf<S> moved = state;
  moved.v = y;
  system.residual(moved, work, rows);
  std::vector<S> rate = work.rate;  // B y + Phi_t
  std::fill(moved.v.begin(), moved.v.end(), S(0));
  system.residual(moved, work, rows);
  for (std::size_t i = 0; i < rate.size(); ++i) rate[i] -= work.rate[i];
  if (!increment(rate)) return {};
  return {work.right.begin(), work.right.begin() + static_cast<std::ptrdiff_t>(y.size())};
}

// See forbidden_velocity() of system/initial.h.
template <class S, class Increment>
bool forbidden_velocity_of(const SystemOf<S>& system, const StateOf<S>& state, WorkOf<S>& work,
                           const Increment& increment) {
  system.residual(state, work, {false, true, false});
  return increment(work.rate);
}

}  // namespace liedyn
