#include "liedyn/analyses/shortest_solution.h"

#include "liedyn/base/decompositions.h"

namespace liedyn {

Eigen::MatrixXd shortest_solution(const Eigen::MatrixXd& A, const Eigen::MatrixXd& right) {
  constexpr double kDependent = 1e-7;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
  decomposition.setThreshold(kDependent);
  decomposition.compute(A);
  return decomposition.solve(right);
}

}  // namespace liedyn
