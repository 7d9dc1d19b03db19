// The graph of a block pattern, from which solvers find their order of elimination.
#pragma once

#include <vector>

#include "liedyn/system/linear.h"

namespace liedyn {

// Neighbours of every block, sorted, without itself.
std::vector<std::vector<int>> neighbours_of(const BlockPattern& pattern);

// Elimination order: position -> block. Minimum degree on the graph of bodies with the joints they carry; joints have no diagonal of their own.
std::vector<int> elimination_order(const std::vector<std::vector<int>>& neighbours,
                                   const std::vector<bool>& zero_diagonal);

// Rows of the factors, by positions of the order: what pivot k reaches is what its block touches later, and what the pivots that it is the first
// to follow reached. Empty if there would be more than `most_products` products of blocks.
std::vector<std::vector<int>> structure_of_factors(const std::vector<std::vector<int>>& neighbours,
                                                   const std::vector<int>& order, std::size_t most_products);

}  // namespace liedyn
