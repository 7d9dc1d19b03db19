// Constraint residuals alone, where forces are of no interest.
#pragma once

#include "liedyn/system/system.h"

namespace liedyn {

// Work::phi and Work::rate at the state whose motions stand in `work`, as System::energy() leaves them. Bodies and forces, most of the cost of System::residual(), are left
// out. Work::r and Work::wrench do not stand for anything afterwards.
void evaluate_constraint_rows(const Model& model, const State& at, Work& work);

}  // namespace liedyn
