// Accelerations and parts of velocities that constraints prescribe, with their derivatives.
#pragma once

#include <vector>

#include "liedyn/system/accelerations.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/varied_system.h"

namespace liedyn {

// As their namesakes of system/initial.h.
bool solve_accelerations(const VariedSystem& system, VariedState& state, VariedWork& work);
bool shifted_state(const VariedSystem& system, const VariedState& state, double sh, VariedState& shifted,
                   std::vector<Varied>& theta, VariedWork& work);
std::vector<Varied> constrained_part(const VariedSystem& system, const VariedState& state,
                                     const std::vector<Varied>& y, VariedWork& work);
bool forbidden_velocity(const VariedSystem& system, const VariedState& state, VariedWork& work);

// The d of least d^T M d with B d = y, with its derivatives: (M d + B^T mu = 0, B d = y), whose values are solved for first.
// Velocities `at_rest` (may be null) do not move, rows `left_out` do not count.
bool constrained_increment(const VariedSystem& system, const VariedState& state, const std::vector<Varied>& y,
                           const std::vector<int>& left_out, const std::vector<bool>* at_rest,
                           VariedWork& work, std::vector<Varied>& out);

// Accelerations with derivatives.
class VariedAccelerations {
 public:
  explicit VariedAccelerations(const VariedSystem& system) : system_(&system), plain_(system.plain()) {}

  void prepare(const VariedState& state, VariedWork& work);
  bool solve(VariedState& state, VariedWork& work, CorrectorOutcome& outcome);
  // Into work.right.
  void constraint_increment(const std::vector<Varied>& residual, VariedWork& work) const;

 private:
  const VariedSystem* system_;
  Accelerations plain_;
  VariedState last_;  // where M and B are taken
};
template <class S>
using AccelerationsOf = std::conditional_t<is_varied<S>, VariedAccelerations, Accelerations>;

}  // namespace liedyn
