// A direct solver made for the matrices of mechanisms: small dense blocks, an elimination order computed once on the block
// graph, fixed-size kernels, values factorised where the elements wrote them. Trees cost O(N).
//
// A joint's own block is zero until one of its bodies has been eliminated, so the order comes from a graph in which each
// joint is tied to the body it holds (the one farther from the ground): that body goes first, the joint right after it.
// Joints that close loops go after both of their bodies. Pivoting is inside the blocks only; a pivot that is too small
// makes factorize() fail, and the caller turns to a solver with full pivoting. Where single blocks would fill the matrix, fronts
// (system/front_solver.h) take their place.
#pragma once

#include <memory>

#include "liedyn/system/linear.h"

namespace liedyn {

// Null if there are blocks that are too large for it, or too many numbers.
std::unique_ptr<LinearSolver> make_block_solver(const BlockPattern& pattern);

}  // namespace liedyn
