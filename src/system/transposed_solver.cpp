#include "system/transposed_solver.h"

namespace liedyn {
namespace {

std::unique_ptr<LinearSolver> solver_of_transposed(const BlockPattern& pattern, std::string_view choice) {
  BlockPattern both = pattern;
  for (const auto& [column, row] : pattern.pairs) both.pairs.emplace_back(row, column);
  both.normalize();
  return make_linear_solver(both, choice);
}

template <class Visit>
void for_each_block(const BlockPattern& pattern, const Visit& visit) {
  for (const auto& [column, row] : pattern.pairs) {
    const auto size = [&](int block) {
      return pattern.start[static_cast<std::size_t>(block) + 1] -
             pattern.start[static_cast<std::size_t>(block)];
    };
    visit(row, column, size(row), size(column));
  }
}

}  // namespace

TransposedSolver::TransposedSolver(const BlockPattern& pattern)
    : pattern_(pattern), solver_(solver_of_transposed(pattern, "auto")) {}

TransposedSolver::Matrix TransposedSolver::copy(LinearSolver& from) const {
  auto out = std::make_shared<std::vector<double>>();
  for_each_block(pattern_, [&](int row, int column, int rows, int columns) {
    const BlockRef ref = from.block(row, column);
    const double* values = from.values() + ref.offset;
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r) out->push_back(values[r + c * ref.stride]);
  });
  return out;
}

bool TransposedSolver::solve(const Matrix& matrix, double* x) {
  const auto factorize = [&] {
    solver_->set_zero();
    const double* next = matrix->data();
    for_each_block(pattern_, [&](int row, int column, int rows, int columns) {
      const BlockRef ref = solver_->block(column, row);
      double* values = solver_->values() + ref.offset;
      for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r) values[c + r * ref.stride] = *next++;
    });
    return solver_->factorize();
  };
  if (last_ != matrix) {
    last_ = matrix;
    regular_ = factorize();
    if (!regular_ && solver_->name() != "klu") {
      solver_ = solver_of_transposed(pattern_, "klu");
      regular_ = factorize();
    }
  }
  if (regular_) solver_->solve(x);
  return regular_;
}

}  // namespace liedyn
