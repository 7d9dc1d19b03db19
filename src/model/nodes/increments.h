// Increments theta of a node, q = q_ref exp(theta), as a method that remembers past points or stages needs them: their rates, and the same
// points seen from another reference.
#pragma once

#include "model/nodes/node.h"

namespace liedyn {

// theta' = T^-1(theta) v on the node's group (inertial axes: T^-1(-theta)). Conventional nodes: theta' = v, their parameters' rates.
void increment_rates(NodeType type, const double* theta, const double* v, double* rates);

// The point q_ref exp(theta) relative to q_ref exp(moved): theta becomes log(exp(-moved) exp(theta)), the difference in a vector space.
void refer_to_moved(NodeType type, const double* moved, double* theta);

}  // namespace liedyn
