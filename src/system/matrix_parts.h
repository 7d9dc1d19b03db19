// The matrix last assembled by System::jacobian, by its parts: K, C, M or a combination of them, and the rows of the constraints.
// For analyses; the hot loop factorises the whole in place.
#pragma once

#include <Eigen/SparseCore>

#include "liedyn/system/system.h"

namespace liedyn {

using SparseMatrix = Eigen::SparseMatrix<double>;

SparseMatrix force_part(const System& system, const Work& work);  // nv x nv
SparseMatrix row_part(const System& system, const Work& work);    // rows x nv
// nv x rows: B^T, and what forces add that depend on the multipliers.
SparseMatrix multiplier_part(const System& system, const Work& work);

// Throws InputError with the first body (joint, state) whose forces have no finite derivatives at the state, as sqrt(x) has none at x = 0. What is assembled is lost.
void require_derivatives(const System& system, const State& state, Work& work);

}  // namespace liedyn
