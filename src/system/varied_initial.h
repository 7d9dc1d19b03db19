// Initial values with their derivatives.
#pragma once

#include "liedyn/system/initial.h"
#include "liedyn/system/varied_system.h"

namespace liedyn {

// Consistent initial values as consistent_state() finds them, with their derivatives.
VariedState consistent_state(const VariedSystem& system, double t, const InitialOptions& options,
                             VariedWork& work);

}  // namespace liedyn
