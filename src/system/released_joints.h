// Joints that are released during a run, and engaged again. The rows of a released joint stay in the matrix, so that its sparsity is constant, but they are not imposed:
// they are among State::redundant, and their multipliers are zero.
#pragma once

#include <string>
#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

// The rows of a joint, ascending; none: it is part of the tree of a formulation in minimal coordinates.
std::vector<int> rows_of_joint(const Model& model, int joint);

// Of the rows that are not released those that are imposed, after `released` (ascending) has changed: sets State::redundant. The multipliers of the others become
// zero, accelerations and multipliers do not follow yet.
void release_rows(const System& system, const std::vector<int>& released, State& state, Work& work);

// Engages `rows`, which are not among `released` any more: positions move onto the constraint by what the steps so far have left of it, and velocities jump by its impulse,
//
//   M dv + B^T Lambda = 0,    B (v + dv) + Phi_t = 0.
//
// Empty if that succeeds; otherwise what is wrong, and the state is as it was.
std::string engage_rows(const System& system, const std::vector<int>& rows, const std::vector<int>& released,
                        State& state, Work& work);

}  // namespace liedyn
