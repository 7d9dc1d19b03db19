// A direct solver for mechanisms with many loops (nets, trusses, plates of bodies), where the elimination of single blocks fills the matrix:
// nested dissection of the block graph, and dense matrices ("fronts") for the parts of the elimination tree.
//
// Joints go after all of their bodies. With positive definite inertia and independent constraints every leading part of the matrix is then
// regular, in any such order: rows of joints are whole rows of B, and a part of the bodies without ground floats, which inertia allows.
// So the graph to dissect is that of the joints, two of them neighbours if they share a body, and separators are cuts through joints:
// three unknowns each instead of the six of a body. Rows are exchanged inside a front; a pivot that is too small makes factorize() fail.
#pragma once

#include <memory>
#include <vector>

#include "liedyn/system/linear.h"

namespace liedyn {

// Null if the factors would have more numbers than offsets can count.
std::unique_ptr<LinearSolver> make_front_solver(const BlockPattern& pattern,
                                                const std::vector<std::vector<int>>& neighbours);

}  // namespace liedyn
