// Parts of a matrix that have nothing to do with each other, as those of two mechanisms in one model. An orthogonal transformation of the whole matrix
// would leave round-off of the larger part in the smaller one.
#pragma once

#include <vector>

#include <Eigen/Core>

namespace liedyn {

struct IndependentBlock {
  std::vector<int> rows, columns;
};
// Every column is in one of them, in the order of their first columns; rows of zeros are in none.
std::vector<IndependentBlock> independent_blocks(const Eigen::MatrixXd& A);

}  // namespace liedyn
