// Positions in which constraints depend on each other that are independent elsewhere, as in a four-bar linkage with all bars in one line: a motion branches there, and how many
// degrees of freedom it has depends on the last digits.
#pragma once

#include <string>

#include "liedyn/analyses/linearization.h"

namespace liedyn {

// Rows of B are scaled to the length 1 in natural units. A pivot of their QR decomposition that is neither of order 1 nor round-off belongs to a constraint that nearly depends on
// others. Empty: all pivots are clear. B is made a dense matrix.
std::string near_singular_position(const Linearization& l);

}  // namespace liedyn
