// First-order states x' = f(x, q, v, t). A state is the velocity of a scalar node: its acceleration is x', and the node's own
// coordinate, the integral of x, stands in no equation. So x' - f = 0 is one more equation of motion, with mass 1, and every
// integrator, corrector and solver handles it as it is.
//
//   expression   f = the expression
//   integral     f = the input
//   filter       f = (input - x)/T
#pragma once

#include "liedyn/model/element.h"

namespace liedyn {

ListedKind state_expression();
ListedKind state_integral();
ListedKind state_filter();

}  // namespace liedyn
