#include "liedyn/analyses/shortest_solution.h"

#include "liedyn/analyses/independent_blocks.h"
#include "liedyn/base/decompositions.h"

namespace liedyn {

Eigen::MatrixXd shortest_solution(const Eigen::MatrixXd& A, const Eigen::MatrixXd& right) {
  constexpr double kDependent = 1e-7;
  Eigen::MatrixXd X = Eigen::MatrixXd::Zero(A.cols(), right.cols());
  for (const auto& [rows, columns] : independent_blocks(A)) {
    if (rows.empty()) continue;
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(kDependent);
    decomposition.compute(A(rows, columns));
    const Eigen::MatrixXd own = right(rows, Eigen::all), solution = decomposition.solve(own);
    X(columns, Eigen::all) = solution;
  }
  return X;
}

}  // namespace liedyn
