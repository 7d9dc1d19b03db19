// Solutions with the transpose of matrices that have been assembled before: what derivatives need that go backwards.
#pragma once

#include <memory>
#include <vector>

#include "liedyn/system/linear.h"

namespace liedyn {

class TransposedSolver {
 public:
  explicit TransposedSolver(const BlockPattern& pattern);

  // The matrix as it stands in a solver of the same pattern.
  using Matrix = std::shared_ptr<const std::vector<double>>;
  Matrix copy(LinearSolver& from);
  // A^-T x in place; factors are kept while the matrix is the same. False: singular.
  bool solve(const Matrix& matrix, double* x);

 private:
  bool factorize(const std::vector<double>& matrix);

  BlockPattern pattern_;  // of the matrix
  std::size_t entries_ = 0;
  std::unique_ptr<LinearSolver> solver_;
  // Where the blocks of the pattern stand, in its order: in the solver that was copied last, and transposed in the own one.
  const LinearSolver* source_ = nullptr;
  const double* source_values_ = nullptr;
  std::vector<BlockRef> from_, to_;
  Matrix last_;
  bool regular_ = false;
};

}  // namespace liedyn
