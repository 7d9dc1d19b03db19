// The state that an analysis looks at: the start, an equilibrium, or a simulation at some time.
#pragma once

#include <string>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

// `at`: "initial", "static" (the equilibrium that find_equilibrium finds from the start), "end", or a time of the simulation that the options
// describe. Throws InputError if it is none of these, NumericalError if there is no such state.
State operating_point(const System& system, const std::string& at, SimulateOptions options);

}  // namespace liedyn
