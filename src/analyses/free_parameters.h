// Parameters that a run cannot change by themselves, since what is given for the start would then contradict the constraints.
#pragma once

#include <string>
#include <vector>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

// A note for each of `parameters` (indices of Params) of this kind; none if the run projects its start.
std::vector<std::string> notes_on_bound_parameters(const System& system, const SimulateOptions& options,
                                                   const std::vector<int>& parameters);

}  // namespace liedyn
