// The state that an analysis looks at: the start, an equilibrium, or a simulation at some time.
#pragma once

#include <string>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

// `at`: "initial", "static" (the equilibrium that find_equilibrium finds from the start), "end", or a time of the simulation that the options
// describe. Parameters of the system become what events have made of them until then. Throws InputError if it is none of these, or if events have released joints, NumericalError if
// there is no such state.
State operating_point(System& system, const std::string& at, SimulateOptions options);

}  // namespace liedyn
