// Least squares where columns of the matrix repeat others, as those of redundant constraints do.
#pragma once

#include <Eigen/Core>

namespace liedyn {

// The shortest X among those with the least |A X - right|. Columns of A have the size 1. A column whose part across the others is below 1e-7 repeats them, as in
// docs/theory/10_redundant_constraints.md: positions are rounded, so that the columns of redundant rows are dependent up to that rounding only. Multipliers along
// such a direction would be as large as the rounding is small. Blocks that no entry connects are solved apart: none sees the round-off of another.
Eigen::MatrixXd shortest_solution(const Eigen::MatrixXd& A, const Eigen::MatrixXd& right);

}  // namespace liedyn
