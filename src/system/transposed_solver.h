// Solutions with the transpose of matrices that have been assembled before: what derivatives need that go backwards.
#pragma once

#include <memory>
#include <vector>

#include "system/linear.h"

namespace liedyn {

class TransposedSolver {
 public:
  explicit TransposedSolver(const BlockPattern& pattern);

  // The matrix as it stands in a solver of the same pattern.
  using Matrix = std::shared_ptr<const std::vector<double>>;
  Matrix copy(LinearSolver& from) const;
  // A^-T x in place; factors are kept while the matrix is the same. False: singular.
  bool solve(const Matrix& matrix, double* x);

 private:
  BlockPattern pattern_;  // of the matrix
  std::unique_ptr<LinearSolver> solver_;
  Matrix last_;
  bool regular_ = false;
};

}  // namespace liedyn
