#include "liedyn/analyses/statics/allowed_motions.h"

namespace liedyn {

AllowedMotions allowed_motions(const SparseMatrix& B, const StaticScales& scales) {
  std::vector<int> moving;  // what is not a state
  for (int i = 0; i < B.cols(); ++i)
    if (scales.part_of(i) >= 0) moving.push_back(i);
  const Eigen::MatrixXd own = Eigen::MatrixXd(B)(Eigen::all, moving);
  const Eigen::MatrixXd N = admissible_motions(own.sparseView(), scales.units()(moving));
  AllowedMotions out;
  out.N = Eigen::MatrixXd::Zero(B.cols(), N.cols());
  out.N(moving, Eigen::all) = N;
  // A motion is one of a single subsystem: constraints do not connect two of them.
  for (Eigen::Index column = 0; column < N.cols(); ++column) {
    Eigen::Index largest = 0;
    N.col(column).cwiseAbs().maxCoeff(&largest);
    out.part.push_back(scales.part_of(moving[static_cast<std::size_t>(largest)]));
  }
  return out;
}

}  // namespace liedyn
