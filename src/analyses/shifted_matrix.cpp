#include "liedyn/analyses/shifted_matrix.h"

#include <algorithm>
#include <cmath>

#include "liedyn/base/index.h"

namespace liedyn {
namespace {

template <class Visit>
void for_each_entry(const SparseMatrix& X, Visit&& visit) {
  for (int c = 0; c < X.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(X, c); it; ++it) visit(static_cast<int>(it.row()), c, it.value());
}

}  // namespace

ShiftedMatrix::ShiftedMatrix(const Model& model, const Linearization& l, const std::vector<int>& repeated)
    : l_(&l), nv_(model.nv), pattern_(block_pattern(model, IndexForm::Index3)) {
  block_of_.resize(at(pattern_.unknowns()));
  for (int b = 0; b < pattern_.blocks(); ++b)
    for (int i = pattern_.start[at(b)]; i < pattern_.start[at(b) + 1]; ++i) block_of_[at(i)] = b;
  solver_ = make_linear_solver(pattern_, kFullPivoting);
  right_.resize(at(pattern_.unknowns()));
  if (!repeated.empty()) hold(repeated);
}

void ShiftedMatrix::hold(const std::vector<int>& rows) {
  held_.assign(at(pattern_.unknowns()), false);
  for (const int row : rows) held_[at(nv_ + row)] = true;
}

bool ShiftedMatrix::factorize(double s, double mass) {
  if (filled_and_factorized(s, mass)) return true;
  if (held_.empty()) hold(dependent_rows(l_->B));
  return filled_and_factorized(s, mass);
}

void ShiftedMatrix::solve(const double* forces, const double* rows, double* out, double* mu) const {
  const auto n = static_cast<std::size_t>(l_->M.rows());
  std::fill(right_.begin(), right_.end(), 0.0);
  std::copy_n(forces, n, right_.begin());
  if (rows != nullptr) std::copy_n(rows, l_->B.rows(), right_.begin() + nv_);
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (held_[i]) right_[i] = 0;
  for (std::size_t i = 0; i < right_.size(); ++i) right_[i] *= row_unit_[i];
  solver_->solve(right_.data());
  for (std::size_t i = 0; i < right_.size(); ++i) right_[i] *= column_unit_[i];
  std::copy_n(right_.begin(), n, out);
  if (mu != nullptr) std::copy_n(right_.begin() + nv_, l_->B.rows(), mu);
}

bool ShiftedMatrix::filled_and_factorized(double s, double mass) {
  constexpr double kSingular = 1e-16;
  const int first_state = l_->first_state;
  solver_->set_zero();
  for_each_entry(l_->K, [&](int row, int column, double value) {
    if (column < first_state) entry(row, column) += value;
  });
  for_each_entry(l_->C, [&](int row, int column, double value) {
    entry(row, column) += column < first_state ? s * value : value;
  });
  for_each_entry(l_->M, [&](int row, int column, double value) {
    entry(row, column) += (column < first_state ? s * s + mass : s) * value;
  });
  for (int i = static_cast<int>(l_->M.rows()); i < nv_; ++i) entry(i, i) = 1;
  for_each_entry(l_->B, [&](int row, int column, double value) {
    entry(nv_ + row, column) += l_->velocity_row[at(row)] ? s * value : value;
  });
  for_each_entry(l_->B_y, [&](int row, int column, double value) { entry(nv_ + row, column) += value; });
  for_each_entry(l_->L, [&](int row, int column, double value) { entry(row, nv_ + column) += value; });
  if (!held_.empty()) solver_->hold(held_);
  equilibrate();
  return factorize_with_condition(pattern_, *solver_) > kSingular;
}

// Rows and columns are brought to the size 1, by powers of 2: forces, torques and rows of constraints have different units, and a slender beam's stiffness against
// shear is so much larger than that against bending that the condition number of the matrix as it is says nothing.
void ShiftedMatrix::equilibrate() {
  constexpr int kSweeps = 3;
  row_unit_.assign(right_.size(), 1);
  column_unit_.assign(right_.size(), 1);
  std::vector<double> rows, columns;
  const auto each = [&](auto&& visit) {
    for (const auto& [cb, rb] : pattern_.pairs) {
      const BlockRef ref = solver_->block(rb, cb);
      for (int c = pattern_.start[at(cb)]; c < pattern_.start[at(cb) + 1]; ++c)
        for (int r = pattern_.start[at(rb)]; r < pattern_.start[at(rb) + 1]; ++r)
          visit(r, c,
                solver_->values()[ref.offset + (r - pattern_.start[at(rb)]) +
                                  (c - pattern_.start[at(cb)]) * ref.stride]);
    }
  };
  const auto unit = [](double largest) {
    return largest > 0 ? std::exp2(-std::round(0.5 * std::log2(largest))) : 1.0;
  };
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    rows.assign(right_.size(), 0);
    columns.assign(right_.size(), 0);
    each([&](int r, int c, double value) {
      rows[at(r)] = std::max(rows[at(r)], std::abs(value));
      columns[at(c)] = std::max(columns[at(c)], std::abs(value));
    });
    for (std::size_t i = 0; i < right_.size(); ++i) {
      rows[i] = unit(rows[i]);
      columns[i] = unit(columns[i]);
      row_unit_[i] *= rows[i];
      column_unit_[i] *= columns[i];
    }
    each([&](int r, int c, double& value) { value *= rows[at(r)] * columns[at(c)]; });
  }
}

double& ShiftedMatrix::entry(int row, int column) {
  const int rb = block_of_[at(row)], cb = block_of_[at(column)];
  const BlockRef ref = solver_->block(rb, cb);
  return solver_->values()[ref.offset + (row - pattern_.start[at(rb)]) +
                           (column - pattern_.start[at(cb)]) * ref.stride];
}

}  // namespace liedyn
