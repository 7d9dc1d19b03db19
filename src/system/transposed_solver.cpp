#include "liedyn/system/transposed_solver.h"

namespace liedyn {
namespace {

std::unique_ptr<LinearSolver> solver_of_transposed(const BlockPattern& pattern, std::string_view choice) {
  BlockPattern both = pattern;
  for (const auto& [column, row] : pattern.pairs) both.pairs.emplace_back(row, column);
  both.normalize();
  return make_linear_solver(both, choice);
}

int size_of(const BlockPattern& pattern, int block) {
  return pattern.start[static_cast<std::size_t>(block) + 1] - pattern.start[static_cast<std::size_t>(block)];
}

std::vector<BlockRef> places(const BlockPattern& pattern, const LinearSolver& solver, bool transposed) {
  std::vector<BlockRef> out;
  for (const auto& [column, row] : pattern.pairs)
    out.push_back(transposed ? solver.block(column, row) : solver.block(row, column));
  return out;
}

// visit(place, rows, columns) for all blocks.
template <class Visit>
void for_each_block(const BlockPattern& pattern, const std::vector<BlockRef>& places, const Visit& visit) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const auto& [column, row] = pattern.pairs[i];
    visit(places[i], size_of(pattern, row), size_of(pattern, column));
  }
}

}  // namespace

TransposedSolver::TransposedSolver(const BlockPattern& pattern)
    : pattern_(pattern),
      solver_(solver_of_transposed(pattern, "auto")),
      to_(places(pattern_, *solver_, true)) {
  for (const auto& [column, row] : pattern_.pairs)
    entries_ += static_cast<std::size_t>(size_of(pattern_, row) * size_of(pattern_, column));
}

TransposedSolver::Matrix TransposedSolver::copy(LinearSolver& from) {
  const double* values = from.values();
  if (source_ != &from || source_values_ != values) {
    source_ = &from;
    source_values_ = values;
    from_ = places(pattern_, from, false);
  }
  auto out = std::make_shared<std::vector<double>>(entries_);
  double* next = out->data();
  for_each_block(pattern_, from_, [&](const BlockRef& place, int rows, int columns) {
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r) *next++ = values[place.offset + r + c * place.stride];
  });
  return out;
}

bool TransposedSolver::factorize(const std::vector<double>& matrix) {
  solver_->set_zero();
  double* const values = solver_->values();
  const double* next = matrix.data();
  for_each_block(pattern_, to_, [&](const BlockRef& place, int rows, int columns) {
    for (int c = 0; c < columns; ++c)
      for (int r = 0; r < rows; ++r) values[place.offset + c + r * place.stride] = *next++;
  });
  return solver_->factorize();
}

bool TransposedSolver::solve(const Matrix& matrix, double* x) {
  if (last_ != matrix) {
    last_ = matrix;
    regular_ = factorize(*matrix);
    if (!regular_ && !solver_->pivots_fully()) {
      solver_ = solver_of_transposed(pattern_, kFullPivoting);
      to_ = places(pattern_, *solver_, true);
      regular_ = factorize(*matrix);
    }
  }
  if (regular_) solver_->solve(x);
  return regular_;
}

}  // namespace liedyn
