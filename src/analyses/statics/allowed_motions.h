// Motions that the constraints allow, in coordinates that are dimensionless.
#pragma once

#include <vector>

#include "liedyn/analyses/linearization.h"
#include "liedyn/analyses/statics/scales.h"

namespace liedyn {

// Columns of y = N p with B N = 0, and the subsystem of each.
struct AllowedMotions {
  Eigen::MatrixXd N;
  std::vector<int> part;
};
AllowedMotions allowed_motions(const SparseMatrix& B, const StaticScales& scales);

}  // namespace liedyn
