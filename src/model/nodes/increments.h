// Increments theta of a node, q = q_ref exp(theta) or q = q_ref map(theta) in other local coordinates, as a method that remembers past points or
// stages needs them: their rates, and the same points seen from another reference.
#pragma once

#include "liedyn/model/nodes/node.h"

namespace liedyn {

// Local coordinates of Lie nodes.
enum class Chart : std::uint8_t { Exponential, Conformal, Cayley };

// q = q_ref map(theta), in place. Conventional nodes as R3xSO3 or SO3.
template <class S>
void move_by(NodeType type, Chart chart, const S* theta, S* q);

// theta' = T^-1(theta) v on the node's group (inertial axes: T^-1(-theta)). Conventional nodes: theta' = v, their parameters' rates.
template <class S>
void increment_rates(NodeType type, Chart chart, const S* theta, const S* v, S* rates);

// theta += T^-1(theta) d: the coordinates of the pose moved by a small d. Lie nodes.
template <class S>
void add_increment(NodeType type, Chart chart, const S* d, S* theta);

// The increment from one configuration to another, log(q^-1 q_to); turns by less than pi. Conventional nodes: that of R3xSO3 or SO3.
template <class S>
void increment_between(NodeType type, const S* q, const S* q_to, S* theta);

// The point q_ref map(theta) relative to q_ref map(moved): theta becomes log(exp(-moved) exp(theta)) or its like, the difference in a vector
// space.
template <class S>
void refer_to_moved(NodeType type, Chart chart, const S* moved, S* theta);

}  // namespace liedyn
