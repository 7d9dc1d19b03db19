#include "liedyn/system/linear.h"

#include <klu.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "liedyn/base/index.h"
#include "liedyn/system/block_solver.h"
#include "liedyn/system/transposed_solver.h"

namespace liedyn {

void BlockPattern::normalize() {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

void LinearSolver::solve_several(double* right, std::size_t unknowns, std::size_t columns) {
  if (columns == 1) return solve(right);
  std::vector<double> one(unknowns);
  for (std::size_t k = 0; k < columns; ++k) {
    for (std::size_t i = 0; i < unknowns; ++i) one[i] = right[i * columns + k];
    solve(one.data());
    for (std::size_t i = 0; i < unknowns; ++i) right[i * columns + k] = one[i];
  }
}

namespace {

// LU with partial pivoting, column by column. Written out since for the few dozen unknowns it serves, the dynamic-size
// library routine spends more time on its own set-up than on the arithmetic (docs/decisions.md has the figures).
class DenseSolver final : public LinearSolver {
 public:
  explicit DenseSolver(const BlockPattern& pattern)
      : start_(pattern.start), n_(pattern.unknowns()), values_(at(n_) * at(n_), 0), pivots_(at(n_), 0) {}

  std::string_view name() const override { return "dense"; }
  bool pivots_fully() const override { return true; }
  BlockRef block(int row_block, int column_block) const override {
    return {start_[at(row_block)] + n_ * start_[at(column_block)], n_};
  }
  double* values() override { return values_.data(); }
  void set_zero() override { std::fill(values_.begin(), values_.end(), 0.0); }
  void hold(const std::vector<bool>& held) override {
    for (int c = 0; c < n_; ++c)
      for (int r = 0; r < n_; ++r)
        if (held[at(r)] || held[at(c)]) values_[at(r + c * n_)] = r == c ? 1 : 0;
  }

  bool factorize() override {
    double* a = values_.data();
    for (int k = 0; k < n_; ++k) {
      double* column = a + k * n_;
      int pivot = k;
      for (int r = k + 1; r < n_; ++r)
        if (std::abs(column[r]) > std::abs(column[pivot])) pivot = r;
      pivots_[at(k)] = pivot;
      if (!(std::abs(column[pivot]) > 0) || !std::isfinite(column[pivot])) {
        singular_ = k;
        return false;
      }
      if (pivot != k)
        for (int c = 0; c < n_; ++c) std::swap(a[k + c * n_], a[pivot + c * n_]);
      const double inverse = 1 / column[k];
      for (int r = k + 1; r < n_; ++r) column[r] *= inverse;
      for (int c = k + 1; c < n_; ++c) {
        double* other = a + c * n_;
        const double factor = other[k];
        if (factor == 0) continue;
        for (int r = k + 1; r < n_; ++r) other[r] -= factor * column[r];
      }
    }
    singular_ = -1;
    return true;
  }

  void solve(double* b) override {
    const double* a = values_.data();
    // Whole rows were exchanged, multipliers included, so all exchanges come first.
    for (int k = 0; k < n_; ++k) std::swap(b[k], b[pivots_[at(k)]]);
    for (int k = 0; k < n_; ++k) {
      const double factor = b[k];
      const double* column = a + k * n_;
      for (int r = k + 1; r < n_; ++r) b[r] -= factor * column[r];
    }
    for (int k = n_ - 1; k >= 0; --k) {
      const double* column = a + k * n_;
      b[k] /= column[k];
      const double factor = b[k];
      for (int r = 0; r < k; ++r) b[r] -= factor * column[r];
    }
  }

  int singular_unknown() const override { return singular_; }
  double pivot_ratio() const override {
    double least = INFINITY, most = 0;
    for (int i = 0; i < n_; ++i) {
      const double pivot = std::abs(values_[at(i) * at(n_ + 1)]);
      least = std::min(least, pivot);
      most = std::max(most, pivot);
    }
    return n_ == 0 ? 1 : least / most;
  }

  Cost cost() const override {
    const double n = n_;
    return {0.2 * n * n * n, 0.5 * n * n};
  }
  void archive(Archive& a) override { a(values_, pivots_, singular_); }

 private:
  std::vector<int> start_;
  int n_;
  std::vector<double> values_;
  std::vector<int> pivots_;
  int singular_ = -1;
};

class KluSolver final : public LinearSolver {
 public:
  explicit KluSolver(const BlockPattern& pattern)
      : start_(pattern.start), pairs_(pattern.pairs), n_(pattern.unknowns()) {
    // Compressed columns: all columns of a block column have the same rows, so a block is a strided rectangle.
    columns_.reserve(at(n_) + 1);
    block_offset_.reserve(pairs_.size());
    columns_.push_back(0);
    for (std::size_t p = 0; p < pairs_.size();) {
      const int column_block = pairs_[p].first;
      while (static_cast<int>(first_pair_.size()) <= column_block) first_pair_.push_back(static_cast<int>(p));
      std::size_t end = p;
      int height = 0;
      for (; end < pairs_.size() && pairs_[end].first == column_block; ++end) {
        block_offset_.push_back(height);
        height += size_of(pairs_[end].second);
      }
      for (int c = 0; c < size_of(column_block); ++c) {
        for (std::size_t k = p; k < end; ++k)
          for (int r = start_[at(pairs_[k].second)]; r < start_[at(pairs_[k].second) + 1]; ++r)
            rows_.push_back(r);
        columns_.push_back(static_cast<int>(rows_.size()));
      }
      p = end;
    }
    while (static_cast<int>(first_pair_.size()) <= pattern.blocks())
      first_pair_.push_back(static_cast<int>(pairs_.size()));
    rows_.shrink_to_fit();
    values_.assign(rows_.size(), 0);
    factorized_ = values_;
    pivoted_ = values_;
    klu_defaults(&common_);
    // No block triangular form: a mechanism is one block, and the matching would break the symmetric pattern.
    common_.btf = 0;
    common_.scale = 2;  // rows by their largest entry: forces and lengths have different units
    symbolic_ = klu_analyze(n_, columns_.data(), rows_.data(), &common_);
    if (symbolic_ == nullptr) throw std::runtime_error("KLU: symbolic analysis failed");
  }
  ~KluSolver() override {
    klu_free_numeric(&numeric_, &common_);
    klu_free_symbolic(&symbolic_, &common_);
  }
  KluSolver(const KluSolver&) = delete;
  KluSolver& operator=(const KluSolver&) = delete;

  std::string_view name() const override { return kFullPivoting; }
  bool pivots_fully() const override { return true; }
  BlockRef block(int row_block, int column_block) const override {
    const auto begin = pairs_.begin() + first_pair_[at(column_block)];
    const auto end = pairs_.begin() + first_pair_[at(column_block) + 1];
    const auto found = std::lower_bound(begin, end, std::pair<int, int>(column_block, row_block));
    const int column = start_[at(column_block)];
    return {columns_[at(column)] + block_offset_[static_cast<std::size_t>(found - pairs_.begin())],
            columns_[at(column) + 1] - columns_[at(column)]};
  }
  double* values() override { return values_.data(); }
  void set_zero() override { std::fill(values_.begin(), values_.end(), 0.0); }
  void hold(const std::vector<bool>& held) override {
    for (int c = 0; c < n_; ++c)
      for (int k = columns_[at(c)]; k < columns_[at(c) + 1]; ++k) {
        const int r = rows_[at(k)];
        if (held[at(r)] || held[at(c)]) values_[at(k)] = r == c ? 1 : 0;
      }
  }

  // The pivots of the last full factorisation are used again as long as they stay good.
  bool factorize() override {
    factorized_ = values_;
    if (numeric_ != nullptr) {
      if (klu_refactor(columns_.data(), rows_.data(), values_.data(), symbolic_, numeric_, &common_) != 0 &&
          klu_rcond(symbolic_, numeric_, &common_) != 0 && common_.rcond > kWorstPivotRatio * full_rcond_)
        return true;
      klu_free_numeric(&numeric_, &common_);
    }
    pivoted_ = values_;
    numeric_ = klu_factor(columns_.data(), rows_.data(), values_.data(), symbolic_, &common_);
    if (numeric_ == nullptr || common_.status != KLU_OK) return false;
    klu_rcond(symbolic_, numeric_, &common_);
    full_rcond_ = common_.rcond;
    return full_rcond_ > 0 && std::isfinite(full_rcond_);
  }
  void solve(double* right) override { klu_solve(symbolic_, numeric_, n_, 1, right, &common_); }
  int singular_unknown() const override { return common_.singular_col < n_ ? common_.singular_col : -1; }
  double pivot_ratio() const override { return common_.rcond; }
  // The fill is not known before the first factorisation: a small one, as of mechanisms with few loops.
  Cost cost() const override {
    const auto entries = static_cast<double>(values_.size());
    return {20 * entries, 3 * entries};
  }
  // KLU's factors have no form to be stored in. They follow from the matrix that chose the pivots and the last one.
  void archive(Archive& a) override {
    bool has_factors = numeric_ != nullptr;
    std::vector<double> values = values_;
    a(has_factors, values, pivoted_, factorized_);
    if (!a.reads()) return;
    klu_free_numeric(&numeric_, &common_);
    if (has_factors) {
      values_ = pivoted_;
      const std::vector<double> last = factorized_;
      factorize();
      if (last != pivoted_) values_ = last, factorize();
    }
    values_ = values;
  }

 private:
  static constexpr double kWorstPivotRatio = 1e-3;
  int size_of(int block) const { return start_[at(block) + 1] - start_[at(block)]; }

  std::vector<int> start_;
  std::vector<std::pair<int, int>> pairs_;
  std::vector<int> first_pair_;    // per column block
  std::vector<int> block_offset_;  // per pair: row of the block within its column
  int n_;
  std::vector<int> columns_, rows_;
  std::vector<double> values_;
  std::vector<double> factorized_,
      pivoted_;  // the matrix of the factors, and that of the last full factorisation
  klu_common common_{};
  klu_symbolic* symbolic_ = nullptr;
  klu_numeric* numeric_ = nullptr;
  double full_rcond_ = 0;
};

constexpr int kLargestDense = 3;

// Column sums of |A|, and their largest.
double one_norm(const BlockPattern& pattern, LinearSolver& solver) {
  std::vector<double> sums(at(pattern.unknowns()), 0);
  for (const auto& [column, row] : pattern.pairs) {
    const BlockRef ref = solver.block(row, column);
    const int rows = pattern.start[at(row) + 1] - pattern.start[at(row)];
    for (int c = pattern.start[at(column)]; c < pattern.start[at(column) + 1]; ++c)
      for (int r = 0; r < rows; ++r)
        sums[at(c)] +=
            std::abs(solver.values()[ref.offset + r + (c - pattern.start[at(column)]) * ref.stride]);
  }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

double sum_of_magnitudes(const std::vector<double>& x) {
  double sum = 0;
  for (const double value : x) sum += std::abs(value);
  return sum;
}

// |A^-1| as the largest |A^-1 e_j| over all columns.
double exact_inverse_norm(LinearSolver& solver, int unknowns) {
  double norm = 0;
  std::vector<double> column(at(unknowns));
  for (int c = 0; c < unknowns; ++c) {
    std::fill(column.begin(), column.end(), 0.0);
    column[at(c)] = 1;
    solver.solve(column.data());
    norm = std::max(norm, sum_of_magnitudes(column));
  }
  return norm;
}

// Hager (1984): climbs along the gradient A^-T sign(A^-1 x) from x = (1, ..., 1)/n to a corner of the unit ball.
double estimated_inverse_norm(LinearSolver& solver, TransposedSolver& transposed,
                              const TransposedSolver::Matrix& matrix, int unknowns) {
  constexpr int kMostCorners = 5;
  std::vector<double> x(at(unknowns), 1.0 / unknowns);
  double norm = 0;
  for (int corner = 0; corner < kMostCorners; ++corner) {
    const std::vector<double> before = x;
    solver.solve(x.data());
    const double now = sum_of_magnitudes(x);
    if (!(now > norm)) break;
    norm = now;
    for (double& value : x) value = value < 0 ? -1 : 1;
    if (!transposed.solve(matrix, x.data())) break;
    const auto steepest =
        std::max_element(x.begin(), x.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
    double along = 0;
    for (std::size_t i = 0; i < x.size(); ++i) along += x[i] * before[i];
    if (std::abs(*steepest) <= along) break;
    const auto next = steepest - x.begin();
    std::fill(x.begin(), x.end(), 0.0);
    x[static_cast<std::size_t>(next)] = 1;
  }
  // Higham: what alternates in sign and grows is seldom orthogonal to the direction looked for.
  for (int i = 0; i < unknowns; ++i)
    x[at(i)] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i) / std::max(1, unknowns - 1));
  solver.solve(x.data());
  return std::max(norm, 2 * sum_of_magnitudes(x) / (3.0 * unknowns));
}

}  // namespace

double factorize_with_condition(const BlockPattern& pattern, LinearSolver& solver) {
  constexpr int kExact = 60;
  const int n = pattern.unknowns();
  if (n == 0) return 1;
  const double norm = one_norm(pattern, solver);
  double inverse_norm = 0;
  if (n <= kExact) {
    if (!solver.factorize()) return 0;
    inverse_norm = exact_inverse_norm(solver, n);
  } else {
    TransposedSolver transposed(pattern);
    const TransposedSolver::Matrix matrix = transposed.copy(solver);
    if (!solver.factorize()) return 0;
    inverse_norm = estimated_inverse_norm(solver, transposed, matrix, n);
  }
  const double out = 1 / (norm * inverse_norm);
  return std::isfinite(out) ? out : 0;
}

std::unique_ptr<LinearSolver> make_linear_solver(const BlockPattern& pattern, std::string_view choice) {
  const bool dense = choice == "dense" || (choice == "auto" && pattern.unknowns() <= kLargestDense);
  if (dense) return std::make_unique<DenseSolver>(pattern);
  if (choice != kFullPivoting)
    if (auto block = make_block_solver(pattern)) return block;
  return std::make_unique<KluSolver>(pattern);
}

}  // namespace liedyn
