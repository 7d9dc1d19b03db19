// Positions in which constraints depend on each other that are independent elsewhere, as in a four-bar linkage with all bars in one line: a motion branches there, and how many
// degrees of freedom it has depends on the last digits.
#pragma once

#include <string>

#include "liedyn/analyses/linearization.h"

namespace liedyn {

// Rows of B are scaled to the length 1 in natural units. A pivot of their QR decomposition that is neither of order 1 nor round-off belongs to a constraint that nearly depends on
// others. Constraints that depend on others to round-off are looked at beside the state. `l` is the linearisation at the state; its B is made a dense matrix. Empty: the position is
// regular.
std::string singular_position(const System& system, const State& state, const Linearization& l, Work& work);

}  // namespace liedyn
