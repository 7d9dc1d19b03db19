#include "liedyn/system/block_solver.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <type_traits>

#include "liedyn/base/index.h"
#include "liedyn/base/matrix.h"
#include "liedyn/system/block_graph.h"
#include "liedyn/system/front_solver.h"

namespace liedyn {
namespace {

// --- Kernels. N is the size of the pivot block; 0 stands for any. ---

constexpr int kLargestBlock = 64;  // of the blocks that are not of a fixed size

template <int N>
struct Sized {
  static constexpr int rows = N == 0 ? Eigen::Dynamic : N;
  using Square = Eigen::Map<Eigen::Matrix<double, rows, rows>>;
  using ConstSquare = Eigen::Map<const Eigen::Matrix<double, rows, rows>>;
  using Vector = Eigen::Map<Eigen::Matrix<double, rows, 1>>;
};

// The inverse by cofactors: no pivots to seek, one division. False where the determinant is so small that digits are lost.
constexpr double kSmallestDeterminant =
    1e-3;  // relative to that of perpendicular columns of the same lengths

bool invert_by_cofactors(const Eigen::Matrix<double, 1, 1>& A, Eigen::Matrix<double, 1, 1>& inverse) {
  inverse(0, 0) = 1 / A(0, 0);
  return A(0, 0) != 0;
}
bool invert_by_cofactors(const Eigen::Matrix2d& A, Eigen::Matrix2d& inverse) {
  const double determinant = A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0);
  const double lengths = A.col(0).squaredNorm() * A.col(1).squaredNorm();
  if (!(determinant * determinant > kSmallestDeterminant * kSmallestDeterminant * lengths)) return false;
  inverse << A(1, 1), -A(0, 1), -A(1, 0), A(0, 0);
  inverse /= determinant;
  return true;
}
bool invert_by_cofactors(const Mat3& A, Mat3& inverse) {
  const Vec3 a = A.col(0), b = A.col(1), c = A.col(2);
  const Vec3 bc = b.cross(c), ca = c.cross(a), ab = a.cross(b);
  // Relative to the lengths of the columns: unequal ones, as of a thin rod's inertia, cost no digits.
  const double determinant = a.dot(bc), lengths = a.squaredNorm() * b.squaredNorm() * c.squaredNorm();
  if (!(determinant * determinant > kSmallestDeterminant * kSmallestDeterminant * lengths)) return false;
  const double factor = 1 / determinant;
  inverse.row(0) = factor * bc.transpose();
  inverse.row(1) = factor * ca.transpose();
  inverse.row(2) = factor * ab.transpose();
  return true;
}

// The inverse in place of what bodies and joints have most, without seeking pivots: the first three rows (translations, places), then
// the others with what these leave. Often neither knows of the other. False: nothing was changed.
template <int N>
bool invert_quickly(Eigen::Map<Eigen::Matrix<double, N, N>> A) {
  constexpr int M = N - 3;
  Mat3 first;
  if (!invert_by_cofactors(A.template topLeftCorner<3, 3>(), first)) return false;
  if constexpr (M == 0) {
    A = first;
  } else {
    Eigen::Matrix<double, M, M> second;
    const Eigen::Matrix<double, 3, M> right = A.template topRightCorner<3, M>();
    const Eigen::Matrix<double, M, 3> below = A.template bottomLeftCorner<M, 3>();
    if ((right.array() == 0).all() && (below.array() == 0).all()) {
      if (!invert_by_cofactors(A.template bottomRightCorner<M, M>(), second)) return false;
      A.template topLeftCorner<3, 3>() = first;
      A.template bottomRightCorner<M, M>() = second;
      return true;
    }
    const Eigen::Matrix<double, 3, M> first_right = first * right;
    const Eigen::Matrix<double, M, 3> below_first = below * first;
    // What is left must not be a small difference of large numbers.
    const Eigen::Matrix<double, M, M> left = A.template bottomRightCorner<M, M>() - below * first_right;
    constexpr double kCancelled = 0.05;
    if (left.cwiseAbs().maxCoeff() < kCancelled * A.template bottomRightCorner<M, M>().cwiseAbs().maxCoeff())
      return false;
    if (!invert_by_cofactors(left, second)) return false;
    A.template bottomRightCorner<M, M>() = second;
    A.template topRightCorner<3, M>() = -first_right * second;
    A.template bottomLeftCorner<M, 3>() = -second * below_first;
    A.template topLeftCorner<3, 3>() = first - A.template topRightCorner<3, M>() * below_first;
  }
  return true;
}

// LU with partial pivoting inside the block, for blocks whose inverse would lose digits. False: no pivot worth the name.
template <int N>
bool factorize_block(double* a, std::int8_t* exchanged, int size) {
  const int n = N == 0 ? size : N;
  constexpr double kSmallest = 1e-13;
  const double scale = typename Sized<N>::Square(a, n, n).cwiseAbs().maxCoeff();
  if (!(scale > 0) || !std::isfinite(scale)) return false;
  for (int k = 0; k < n; ++k) {
    double* column = a + k * n;
    int pivot = k;
    for (int r = k + 1; r < n; ++r)
      if (std::abs(column[r]) > std::abs(column[pivot])) pivot = r;
    if (!(std::abs(column[pivot]) > kSmallest * scale)) return false;
    exchanged[k] = static_cast<std::int8_t>(pivot);
    if (pivot != k)
      for (int c = 0; c < n; ++c) std::swap(a[k + c * n], a[pivot + c * n]);
    const double inverse = 1 / column[k];
    column[k] = inverse;  // kept inverted: solving multiplies
    for (int r = k + 1; r < n; ++r) column[r] *= inverse;
    for (int c = k + 1; c < n; ++c) {
      double* other = a + c * n;
      const double factor = other[k];
      for (int r = k + 1; r < n; ++r) other[r] -= factor * column[r];
    }
  }
  return true;
}

// x = D^-1 x with the factors of D.
template <int N>
void solve_column(const double* a, const std::int8_t* exchanged, int size, double* x) {
  const int n = N == 0 ? size : N;
  for (int k = 0; k < n; ++k)
    if (exchanged[k] != k) std::swap(x[k], x[exchanged[k]]);
  for (int k = 0; k < n; ++k) {
    const double factor = x[k];
    for (int r = k + 1; r < n; ++r) x[r] -= factor * a[r + k * n];
  }
  for (int k = n - 1; k >= 0; --k) {
    x[k] *= a[k + k * n];
    const double factor = x[k];
    for (int r = 0; r < k; ++r) x[r] -= factor * a[r + k * n];
  }
}

// A pivot block is inverted where that is safe, and factorised elsewhere; exchanged[0] says which.
constexpr std::int8_t kInverted = -1;

template <int N>
bool prepare_block(double* a, std::int8_t* exchanged, int size) {
  if constexpr (N >= 3)
    if (invert_quickly<N>(typename Sized<N>::Square(a))) return exchanged[0] = kInverted, true;
  return factorize_block<N>(a, exchanged, size);
}

// x = D^-1 x for each of `count` columns.
template <int N>
void solve_columns(const double* a, const std::int8_t* exchanged, int size, double* x, int count) {
  const int n = N == 0 ? size : N;
  if (exchanged[0] != kInverted) {
    for (int c = 0; c < count; ++c) solve_column<N>(a, exchanged, size, x + c * n);
    return;
  }
  const typename Sized<N>::ConstSquare A(a, n, n);
  for (int c = 0; c < count; ++c) {
    typename Sized<N>::Vector column(x + c * n, n);
    column = (A * column).eval();
  }
}

// W numbers that stand side by side: one of each right-hand side.
template <std::size_t W>
struct Lanes {
  double x[W];
  static Lanes load(const double* from) {
    Lanes out;
    for (std::size_t k = 0; k < W; ++k) out.x[k] = from[k];
    return out;
  }
  void store(double* to) const {
    for (std::size_t k = 0; k < W; ++k) to[k] = x[k];
  }
  void add(double factor, const double* y) {
    for (std::size_t k = 0; k < W; ++k) x[k] += factor * y[k];
  }
  void scale(double factor) {
    for (std::size_t k = 0; k < W; ++k) x[k] *= factor;
  }
};

// x -= A y for W right-hand sides: A has `rows` rows and `columns` columns, one below the other.
template <std::size_t W>
void subtract_lanes(const double* A, int rows, int columns, const double* y, double* x) {
  for (int r = 0; r < rows; ++r) {
    Lanes<W> sum = Lanes<W>::load(x + at(r) * W);
    for (int c = 0; c < columns; ++c) sum.add(-A[r + c * rows], y + at(c) * W);
    sum.store(x + at(r) * W);
  }
}

// x = D^-1 x for W right-hand sides, as solve_columns does for columns; `scratch` has room for x.
template <std::size_t W>
void solve_lanes(const double* a, const std::int8_t* exchanged, int n, double* x, double* scratch) {
  if (exchanged[0] == kInverted) {
    std::copy_n(x, at(n) * W, scratch);
    for (int r = 0; r < n; ++r) {
      Lanes<W> sum{};
      for (int c = 0; c < n; ++c) sum.add(a[r + c * n], scratch + at(c) * W);
      sum.store(x + at(r) * W);
    }
    return;
  }
  for (int k = 0; k < n; ++k)
    if (exchanged[k] != k) std::swap_ranges(x + at(k) * W, x + at(k + 1) * W, x + at(exchanged[k]) * W);
  for (int r = 1; r < n; ++r) {
    Lanes<W> sum = Lanes<W>::load(x + at(r) * W);
    for (int c = 0; c < r; ++c) sum.add(-a[r + c * n], x + at(c) * W);
    sum.store(x + at(r) * W);
  }
  for (int r = n - 1; r >= 0; --r) {
    Lanes<W> sum = Lanes<W>::load(x + at(r) * W);
    for (int c = r + 1; c < n; ++c) sum.add(-a[r + c * n], x + at(c) * W);
    sum.scale(a[r + r * n]);
    sum.store(x + at(r) * W);
  }
}

// out = L u for each of `count` columns of u: L has `height` rows and N columns. Four columns of `out` share a pass over L.
template <int N>
void panel_product(const double* lower, int height, const double* u, int size, int count, double* out) {
  const int n = N == 0 ? size : N;
  int j = 0;
  if constexpr (N > 0) {
    for (; j + 3 <= count; j += 3, u += 3 * n, out += 3 * height) {
      double factor[3][N];
      for (int i = 0; i < 3; ++i)
        for (int c = 0; c < N; ++c) factor[i][c] = u[i * N + c];
      for (int r = 0; r < height; ++r) {
        double sum[3] = {0, 0, 0};
        for (int c = 0; c < N; ++c) {
          const double l = lower[r + c * height];
          for (int i = 0; i < 3; ++i) sum[i] += l * factor[i][c];
        }
        for (int i = 0; i < 3; ++i) out[r + i * height] = sum[i];
      }
    }
  }
  for (; j < count; ++j, u += n, out += height) {
    for (int r = 0; r < height; ++r) out[r] = lower[r] * u[0];
    for (int c = 1; c < n; ++c)
      for (int r = 0; r < height; ++r) out[r] += lower[r + c * height] * u[c];
  }
}

// x -= U y: U has N rows and `height` columns.
template <int N>
void subtract_gathered(const double* upper, int height, const double* y, int size, double* x) {
  const int n = N == 0 ? size : N;
  if constexpr (N > 0) {
    double sum[N];
    for (int r = 0; r < N; ++r) sum[r] = x[r];
    for (int h = 0; h < height; ++h)
      for (int r = 0; r < N; ++r) sum[r] -= upper[r + h * N] * y[h];
    for (int r = 0; r < N; ++r) x[r] = sum[r];
  } else {
    for (int h = 0; h < height; ++h)
      for (int r = 0; r < n; ++r) x[r] -= upper[r + h * n] * y[h];
  }
}

// C -= L U for a pivot that reaches one block only: L is M x N, U is N x M.
template <int M, int N>
void subtract_product(const double* lower, const double* upper, int height, int inner, double* target,
                      int stride) {
  constexpr int kRows = Sized<M>::rows, kInner = Sized<N>::rows;
  const Eigen::Map<const Eigen::Matrix<double, kRows, kInner>> L(lower, height, inner);
  const Eigen::Map<const Eigen::Matrix<double, kInner, kRows>> U(upper, inner, height);
  Eigen::Map<Eigen::Matrix<double, kRows, kRows>, 0, Eigen::OuterStride<>> C(target, height, height,
                                                                             Eigen::OuterStride<>(stride));
  C.noalias() -= L.lazyProduct(U);
}
// The same for one block of several: M of the `height` rows of L, M columns of U.
template <int M, int N>
void subtract_part(const double* lower, int height, const double* upper, double* target, int stride) {
  const Eigen::Map<const Eigen::Matrix<double, M, N>, 0, Eigen::OuterStride<>> L(
      lower, Eigen::OuterStride<>(height));
  const Eigen::Map<const Eigen::Matrix<double, N, M>> U(upper);
  Eigen::Map<Eigen::Matrix<double, M, M>, 0, Eigen::OuterStride<>> C(target, Eigen::OuterStride<>(stride));
  C.noalias() -= L.lazyProduct(U);
}
// y -= A x for M of the `height` rows of A, of N columns.
template <int M, int N>
void subtract_rows(const double* a, int height, const double* x, double* y) {
  const Eigen::Map<const Eigen::Matrix<double, M, N>, 0, Eigen::OuterStride<>> A(
      a, Eigen::OuterStride<>(height));
  typename Sized<M>::Vector(y, M).noalias() -=
      A.lazyProduct(Eigen::Map<const Eigen::Matrix<double, N, 1>>(x));
}
// y -= A x, with A of M x N
template <int M, int N>
void subtract_product(const double* a, int rows, int columns, const double* x, double* y) {
  constexpr int kRows = Sized<M>::rows, kColumns = Sized<N>::rows;
  const Eigen::Map<const Eigen::Matrix<double, kRows, kColumns>> A(a, rows, columns);
  typename Sized<M>::Vector(y, rows).noalias() -=
      A.lazyProduct(Eigen::Map<const Eigen::Matrix<double, kColumns, 1>>(x, columns));
}

// Calls `work` with the size as a compile-time number, 0 if it is none of those.
template <class Function>
auto with_size(int size, Function&& work) {
  switch (size) {
    case 1: return work(std::integral_constant<int, 1>());
    case 2: return work(std::integral_constant<int, 2>());
    case 3: return work(std::integral_constant<int, 3>());
    case 4: return work(std::integral_constant<int, 4>());
    case 5: return work(std::integral_constant<int, 5>());
    case 6: return work(std::integral_constant<int, 6>());
    default: return work(std::integral_constant<int, 0>());
  }
}

class BlockSolver final : public LinearSolver {
 public:
  // `structure[k]`: later positions that pivot k reaches.
  BlockSolver(const BlockPattern& pattern, const std::vector<int>& order,
              const std::vector<std::vector<int>>& structure)
      : start_(pattern.start), position_(order.size()) {
    const int blocks = pattern.blocks();
    pivots_.reserve(order.size());
    std::int32_t values = 0;
    std::size_t products = 0;
    for (int k = 0; k < blocks; ++k) position_[at(order[at(k)])] = k;
    const auto size_of = [&](int k) { return start_[at(order[at(k)]) + 1] - start_[at(order[at(k)])]; };
    for (int k = 0; k < blocks; ++k) {
      Pivot p;
      p.size = static_cast<std::int16_t>(size_of(k));
      p.unknown = start_[at(order[at(k)])];
      p.first_row = static_cast<std::int32_t>(rows_.size());
      p.row_count = static_cast<std::int32_t>(structure[at(k)].size());
      p.diagonal = values;
      values += p.size * p.size;
      int height = 0;
      for (const int i : structure[at(k)]) {
        rows_.push_back({i, height, 0});
        height += size_of(i);
      }
      p.height = height;
      p.first_product = static_cast<std::int32_t>(products);
      products += structure[at(k)].size() * structure[at(k)].size();
      p.lower = values;
      values += height * p.size;
      p.upper = values;
      values += height * p.size;
      pivots_.push_back(p);
    }
    // Where each product of an elimination goes: column block by column block.
    int tallest = 0, largest = 0;
    for (const Pivot& p : pivots_) {
      tallest = std::max(tallest, p.height);
      largest = std::max(largest, static_cast<int>(p.size));
    }
    products_.reserve(products);
    for (int k = 0; k < blocks; ++k) {
      const Pivot& p = pivots_[at(k)];
      for (int b = 0; b < p.row_count; ++b)
        for (int a = 0; a < p.row_count; ++a)
          products_.push_back(
              place(rows_[at(p.first_row + a)].position, rows_[at(p.first_row + b)].position));
    }
    share_work(values);
    values_.assign(at(values), 0);
    exchanged_.assign(at(pattern.unknowns()), 0);
    panel_stride_ = at(tallest * largest);
    panel_.resize(panel_stride_ * (tasks_.size() + 1));
  }

  std::string_view name() const override { return "block"; }
  bool pivots_fully() const override { return false; }
  BlockRef block(int row_block, int column_block) const override {
    return place(position_[at(row_block)], position_[at(column_block)]);
  }
  double* values() override { return values_.data(); }
  void set_zero() override {
    parallel_for(threads_, values_.size(), [&](std::size_t begin, std::size_t end) {
      std::fill(values_.begin() + static_cast<std::ptrdiff_t>(begin),
                values_.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    });
  }
  void use_threads(ThreadPool* threads) override { threads_ = threads; }
  void hold(const std::vector<bool>& held) override {
    for (int k = 0; k < static_cast<int>(pivots_.size()); ++k) {
      const Pivot& p = pivots_[at(k)];
      for (int c = 0; c < p.size; ++c)
        for (int r = 0; r < p.size; ++r)
          if (held[at(p.unknown + r)] || held[at(p.unknown + c)])
            values_[at(p.diagonal + r + c * p.size)] = r == c ? 1 : 0;
      for (int a = 0; a < p.row_count; ++a) {
        const Row& row = rows_[at(p.first_row + a)];
        const Pivot& other = pivots_[at(row.position)];
        for (int c = 0; c < p.size; ++c)
          for (int r = 0; r < other.size; ++r)
            if (held[at(other.unknown + r)] || held[at(p.unknown + c)]) {
              values_[at(p.lower + row.offset + r + c * p.height)] = 0;
              values_[at(p.upper + c + (row.offset + r) * p.size)] = 0;
            }
      }
    }
  }

  bool factorize() override {
    if (tasks_.empty()) {
      singular_ = -1;
      for (int k = 0; k < static_cast<int>(pivots_.size()); ++k)
        if (!eliminate(k, panel_.data())) return singular_ = pivots_[at(k)].unknown, false;
      return true;
    }
    for_each_task([&](int t) {
      Task& task = tasks_[at(t)];
      task.singular = -1;
      for (const int k : task.pivots)
        if (!eliminate(k, panel_.data() + panel_stride_ * (at(t) + 1))) {
          task.singular = pivots_[at(k)].unknown;
          return;
        }
    });
    singular_ = -1;
    for (const Task& task : tasks_)
      if (task.singular >= 0) return singular_ = task.singular, false;
    double* const values = values_.data();
    for (const SharedBlock& b : shared_blocks_)
      for (int c = 0; c < b.columns; ++c)
        for (int r = 0; r < b.rows; ++r)
          values[b.target.offset + r + c * b.target.stride] += values[b.own + r + c * b.rows];
    for (const int k : top_)
      if (!eliminate(k, panel_.data())) return singular_ = pivots_[at(k)].unknown, false;
    return true;
  }

  void solve(double* right) override {
    const auto forward_from = [&](int k, double* panel) {
      with_size(pivots_[at(k)].size, [&](auto size) { forward<size()>(pivots_[at(k)], right, panel); });
    };
    const auto backward_from = [&](int k, double* panel) {
      with_size(pivots_[at(k)].size, [&](auto size) { backward<size()>(pivots_[at(k)], right, panel); });
    };
    if (tasks_.empty()) {
      const int count = static_cast<int>(pivots_.size());
      for (int k = 0; k < count; ++k) forward_from(k, panel_.data());
      for (int k = count - 1; k >= 0; --k) backward_from(k, panel_.data());
      return;
    }
    const auto panel_of = [&](int t) { return panel_.data() + panel_stride_ * (at(t) + 1); };
    std::fill(shared_right_.begin(), shared_right_.end(), 0.0);
    for_each_task([&](int t) {
      for (const int k : tasks_[at(t)].pivots) forward_from(k, panel_of(t));
    });
    for (const SharedRows& rows : shared_rows_)
      for (int r = 0; r < rows.count; ++r) right[rows.unknown + r] += shared_right_[at(rows.own + r)];
    for (const int k : top_) forward_from(k, panel_.data());
    for (auto k = top_.rbegin(); k != top_.rend(); ++k) backward_from(*k, panel_.data());
    for_each_task([&](int t) {
      const std::vector<int>& pivots = tasks_[at(t)].pivots;
      for (auto k = pivots.rbegin(); k != pivots.rend(); ++k) backward_from(*k, panel_of(t));
    });
  }

  void solve_several(double* right, std::size_t unknowns, std::size_t columns) override {
    if (!tasks_.empty()) return LinearSolver::solve_several(right, unknowns, columns);
    switch (columns) {
      case 2: return solve_lanes_of_all<2>(right);
      case 4: return solve_lanes_of_all<4>(right);
      case 8: return solve_lanes_of_all<8>(right);
      default: return LinearSolver::solve_several(right, unknowns, columns);
    }
  }

  int singular_unknown() const override { return singular_; }

  Cost cost() const override {
    Cost sum{0, 0};
    for (const Pivot& p : pivots_) {
      const double s = p.size, h = p.height;
      sum.factorize += 40 + 0.25 * s * (2.0 / 3 * s * s + 2 * h * (s + h));
      sum.solve += 25 + 0.5 * s * (s + 2 * h);
    }
    return sum;
  }
  void archive(Archive& a) override { a(values_, exchanged_, singular_); }
  double pivot_ratio() const override {
    // The blocks are inverted, or factorised with inverted pivots on the diagonal.
    double least = INFINITY, most = 0;
    for (const Pivot& p : pivots_)
      for (int i = 0; i < p.size; ++i) {
        double inverse = std::abs(values_[at(p.diagonal + i + i * p.size)]);
        for (int c = 0; c < p.size && exchanged_[at(p.unknown)] == kInverted; ++c)
          inverse = std::max(inverse, std::abs(values_[at(p.diagonal + i + c * p.size)]));
        least = std::min(least, inverse);
        most = std::max(most, inverse);
      }
    return least / most;
  }

 private:
  struct Pivot {
    std::int32_t unknown;    // first of its unknowns
    std::int32_t diagonal;   // size x size
    std::int32_t lower;      // height x size: rows below, column by column
    std::int32_t upper;      // size x height: columns to the right
    std::int32_t height;     // of all rows it reaches
    std::int32_t first_row;  // in rows_
    std::int32_t row_count;
    std::int32_t first_product;  // in products_
    std::int16_t size;
  };
  struct Row {
    std::int32_t position;    // of the block in the order
    std::int32_t offset;      // of its rows in the panel
    std::int32_t target = 0;  // of its part of the right-hand side; negative: -1 - that in shared_right_
  };
  struct Task {
    std::vector<int> pivots;
    int singular = -1;
  };
  // What a task adds to a block above it, rows x columns at values_[own].
  struct SharedBlock {
    std::int32_t own;
    BlockRef target;
    std::int16_t rows, columns;
  };
  struct SharedRows {
    std::int32_t own, unknown;
    std::int16_t count;
  };
  template <class Function>
  void for_each_task(const Function& work) {
    const int count = static_cast<int>(tasks_.size());
    if (threads_ != nullptr) return threads_->run(count, work);
    for (int t = 0; t < count; ++t) work(t);
  }

  // A body between two joints that hold places, the most frequent of all pivots that reach several blocks.
  bool is_between_places(const Pivot& p) const {
    return p.row_count == 2 && p.height == 6 && rows_[at(p.first_row) + 1].offset == 3;
  }

  bool eliminate(int k, double* panel) {
    return with_size(pivots_[at(k)].size,
                     [&](auto size) { return eliminate<size()>(pivots_[at(k)], panel); });
  }

  // The pivot block is inverted or factorised, D^-1 U takes the place of U, and L D^-1 U is subtracted from what is left.
  template <int N>
  bool eliminate(const Pivot& p, double* panel) {
    double* const values = values_.data();
    double* const diagonal = values + p.diagonal;
    const BlockRef* target = products_.data() + p.first_product;
    std::int8_t* const exchanged = exchanged_.data() + p.unknown;
    if (!prepare_block<N>(diagonal, exchanged, p.size)) return false;
    solve_columns<N>(diagonal, exchanged, p.size, values + p.upper, p.height);
    const Row* const rows = rows_.data() + p.first_row;
    if (p.row_count == 1) {
      with_size(p.height, [&](auto height) {
        subtract_product<height(), N>(values + p.lower, values + p.upper, p.height, p.size,
                                      values + target->offset, target->stride);
      });
      return true;
    }
    if constexpr (N == 6)
      if (is_between_places(p)) {
        for (int b = 0; b < 2; ++b)
          for (int a = 0; a < 2; ++a, ++target)
            subtract_part<3, N>(values + p.lower + 3 * a, 6, values + p.upper + 3 * N * b,
                                values + target->offset, target->stride);
        return true;
      }
    for (int b = 0; b < p.row_count; ++b) {
      const int columns = pivots_[at(rows[b].position)].size;
      panel_product<N>(values + p.lower, p.height, values + p.upper + rows[b].offset * p.size, p.size,
                       columns, panel);
      for (int a = 0; a < p.row_count; ++a, ++target) {
        const int height = pivots_[at(rows[a].position)].size;
        const double* from = panel + rows[a].offset;
        double* to = values + target->offset;
        for (int c = 0; c < columns; ++c, from += p.height, to += target->stride)
          for (int r = 0; r < height; ++r) to[r] -= from[r];
      }
    }
    return true;
  }

  template <int N>
  void forward(const Pivot& p, double* right, double* panel) {
    const double* const values = values_.data();
    double* const x = right + p.unknown;
    solve_columns<N>(values + p.diagonal, exchanged_.data() + p.unknown, p.size, x, 1);
    const auto target = [&](const Row& row) {
      return row.target >= 0 ? right + row.target : shared_right_.data() + (-1 - row.target);
    };
    if (p.row_count == 1) {
      double* const y = target(rows_[at(p.first_row)]);
      with_size(p.height, [&](auto height) {
        subtract_product<height(), N>(values + p.lower, p.height, p.size, x, y);
      });
      return;
    }
    if constexpr (N == 6)
      if (is_between_places(p)) {
        const Row* const rows = rows_.data() + p.first_row;
        for (int a = 0; a < 2; ++a) subtract_rows<3, N>(values + p.lower + 3 * a, 6, x, target(rows[a]));
        return;
      }
    panel_product<N>(values + p.lower, p.height, x, p.size, 1, panel);
    for (int a = 0; a < p.row_count; ++a) {
      const Row& row = rows_[at(p.first_row + a)];
      double* const y = target(row);
      const int count = pivots_[at(row.position)].size;
      for (int r = 0; r < count; ++r) y[r] -= panel[row.offset + r];
    }
  }

  template <int N>
  void backward(const Pivot& p, double* right, double* panel) {
    if (p.row_count == 1) {
      const double* const y = right + pivots_[at(rows_[at(p.first_row)].position)].unknown;
      with_size(p.height, [&](auto height) {
        subtract_product<N, height()>(values_.data() + p.upper, p.size, p.height, y, right + p.unknown);
      });
      return;
    }
    if constexpr (N == 6)
      if (is_between_places(p)) {
        for (int a = 0; a < 2; ++a)
          subtract_product<N, 3>(values_.data() + p.upper + 3 * N * a, N, 3,
                                 right + pivots_[at(rows_[at(p.first_row + a)].position)].unknown,
                                 right + p.unknown);
        return;
      }
    double* to = panel;
    for (int a = 0; a < p.row_count; ++a) {
      const Pivot& other = pivots_[at(rows_[at(p.first_row + a)].position)];
      const double* const y = right + other.unknown;
      for (int r = 0; r < other.size; ++r) *to++ = y[r];
    }
    subtract_gathered<N>(values_.data() + p.upper, p.height, panel, p.size, right + p.unknown);
  }

  static constexpr std::size_t kMostLanes = 8;
  std::vector<double> lanes_;  // scratch of solve_several(), made when it is first needed

  template <std::size_t W>
  void solve_lanes_of_all(double* right) {
    static_assert(W <= kMostLanes);
    if (lanes_.empty()) {
      int most = 0;
      for (const Pivot& p : pivots_) most = std::max({most, static_cast<int>(p.size), p.height});
      lanes_.resize(at(most) * kMostLanes);
    }
    double* const panel = lanes_.data();
    const double* const values = values_.data();
    const auto part_of = [&](int unknown) { return right + at(unknown) * W; };
    for (const Pivot& p : pivots_) {
      double* const x = part_of(p.unknown);
      solve_lanes<W>(values + p.diagonal, exchanged_.data() + p.unknown, p.size, x, panel);
      std::fill_n(panel, at(p.height) * W, 0.0);
      subtract_lanes<W>(values + p.lower, p.height, p.size, x, panel);
      for (int a = 0; a < p.row_count; ++a) {
        const Row& row = rows_[at(p.first_row + a)];
        double* const y = part_of(row.target);
        const std::size_t count = at(pivots_[at(row.position)].size) * W;
        for (std::size_t i = 0; i < count; ++i) y[i] += panel[at(row.offset) * W + i];
      }
    }
    for (auto p = pivots_.rbegin(); p != pivots_.rend(); ++p) {
      double* to = panel;
      for (int a = 0; a < p->row_count; ++a) {
        const Pivot& other = pivots_[at(rows_[at(p->first_row + a)].position)];
        to = std::copy_n(part_of(other.unknown), at(other.size) * W, to);
      }
      subtract_lanes<W>(values + p->upper, p->size, p->height, panel, part_of(p->unknown));
    }
  }

  // Subtrees of the elimination tree are independent of each other: they become tasks, and the pivots above them follow. What a task adds
  // to blocks above goes to blocks of its own first, behind the others in values_, and is added up in a fixed order.
  void share_work(std::int32_t& values) {
    constexpr int kLarge = 4000, kMostSplits = 64, kTasks = 16;
    const int count = static_cast<int>(pivots_.size());
    for (Row& row : rows_) row.target = pivots_[at(row.position)].unknown;
    if (count < kLarge) return;
    const auto parent = [&](int k) {
      const Pivot& p = pivots_[at(k)];
      return p.row_count > 0 ? rows_[at(p.first_row)].position : -1;
    };
    std::vector<double> cost(pivots_.size(), 0);
    std::vector<std::vector<int>> children(pivots_.size());
    std::vector<int> roots;
    for (int k = 0; k < count; ++k) {
      const Pivot& p = pivots_[at(k)];
      cost[at(k)] += 1.0 * p.size * (p.height + p.size) * (p.height + p.size);
      const int above = parent(k);
      if (above < 0) {
        roots.push_back(k);
      } else {
        cost[at(above)] += cost[at(k)];
        children[at(above)].push_back(k);
      }
    }
    double total = 0;
    for (const int k : roots) total += cost[at(k)];
    std::vector<bool> on_top(pivots_.size(), false);
    const auto cheaper = [&](int a, int b) { return cost[at(a)] < cost[at(b)]; };
    for (int splits = 0; splits < kMostSplits && !roots.empty(); ++splits) {
      const auto heaviest = std::max_element(roots.begin(), roots.end(), cheaper);
      if (cost[at(*heaviest)] * kTasks <= total) break;
      const int k = *heaviest;
      roots.erase(heaviest);
      on_top[at(k)] = true;
      roots.insert(roots.end(), children[at(k)].begin(), children[at(k)].end());
    }
    // No gain where one subtree has nearly all of the work.
    if (roots.size() < 2 || cost[at(*std::max_element(roots.begin(), roots.end(), cheaper))] > 0.75 * total)
      return;
    // The heaviest first, each to the task with the least work.
    std::sort(roots.begin(), roots.end(),
              [&](int a, int b) { return cost[at(a)] != cost[at(b)] ? cost[at(a)] > cost[at(b)] : a < b; });
    std::vector<double> load(std::min(roots.size(), at(kTasks)), 0);
    std::vector<int> task_of(pivots_.size(), -1);
    for (const int root : roots) {
      const auto least = std::min_element(load.begin(), load.end());
      *least += cost[at(root)];
      task_of[at(root)] = static_cast<int>(least - load.begin());
    }
    tasks_.resize(load.size());
    for (int k = count - 1; k >= 0; --k)
      if (!on_top[at(k)] && task_of[at(k)] < 0) task_of[at(k)] = task_of[at(parent(k))];
    for (int k = 0; k < count; ++k) {
      if (on_top[at(k)])
        top_.push_back(k);
      else
        tasks_[at(task_of[at(k)])].pivots.push_back(k);
    }
    for (Task& task : tasks_) share_targets(task, on_top, values);
  }

  void share_targets(const Task& task, const std::vector<bool>& on_top, std::int32_t& values) {
    std::map<std::int32_t, std::int32_t> own_block, own_rows;  // by offset of the target, by unknown
    for (const int k : task.pivots) {
      const Pivot& p = pivots_[at(k)];
      for (int b = 0; b < p.row_count; ++b) {
        Row& row = rows_[at(p.first_row + b)];
        if (on_top[at(row.position)]) {
          const Pivot& above = pivots_[at(row.position)];
          const auto [found, is_new] =
              own_rows.try_emplace(above.unknown, static_cast<std::int32_t>(shared_right_.size()));
          if (is_new) {
            shared_rows_.push_back({found->second, above.unknown, above.size});
            shared_right_.resize(shared_right_.size() + at(above.size));
          }
          row.target = -1 - found->second;
        }
        for (int a = 0; a < p.row_count; ++a) {
          const int i = rows_[at(p.first_row + a)].position, j = row.position;
          if (!on_top[at(std::min(i, j))]) continue;
          BlockRef& target = products_[at(p.first_product + b * p.row_count + a)];
          const std::int16_t rows = pivots_[at(i)].size, columns = pivots_[at(j)].size;
          const auto [found, is_new] = own_block.try_emplace(target.offset, values);
          if (is_new) {
            shared_blocks_.push_back({values, target, rows, columns});
            values += rows * columns;
          }
          target = {found->second, rows};
        }
      }
    }
  }

  BlockRef place(int i, int j) const {
    if (i == j) return {pivots_[at(i)].diagonal, pivots_[at(i)].size};
    const Pivot& p = pivots_[at(std::min(i, j))];
    const auto begin = rows_.begin() + p.first_row, end = begin + p.row_count;
    const auto found = std::lower_bound(begin, end, std::max(i, j),
                                        [](const Row& row, int position) { return row.position < position; });
    if (i > j) return {p.lower + found->offset, p.height};
    return {p.upper + found->offset * p.size, p.size};
  }

  std::vector<int> start_;
  std::vector<int> position_;  // of each block in the order
  std::vector<Pivot> pivots_;
  std::vector<Row> rows_;
  std::vector<BlockRef> products_;
  std::vector<double> values_;
  std::vector<std::int8_t> exchanged_;  // rows exchanged inside the blocks that are factorised, or kInverted
  std::vector<double> panel_;  // scratch: one block column of a product, for each task and for those above
  std::size_t panel_stride_ = 0;
  std::vector<Task> tasks_;  // empty: all pivots one after the other
  std::vector<int> top_;     // pivots after those of the tasks
  std::vector<SharedBlock> shared_blocks_;
  std::vector<SharedRows> shared_rows_;
  std::vector<double> shared_right_;
  ThreadPool* threads_ = nullptr;
  int singular_ = -1;
};

}  // namespace

std::unique_ptr<LinearSolver> make_block_solver(const BlockPattern& pattern) {
  for (int i = 0; i < pattern.blocks(); ++i)
    if (pattern.start[at(i) + 1] - pattern.start[at(i)] > kLargestBlock) return nullptr;
  const auto neighbours = neighbours_of(pattern);
  std::vector<bool> zero_diagonal = pattern.zero_diagonal;
  zero_diagonal.resize(neighbours.size(), false);
  const std::vector<int> order = elimination_order(neighbours, zero_diagonal);
  // More products than this are the business of dense matrices.
  constexpr std::size_t kProductsPerBlock = 30;
  const auto structure = structure_of_factors(neighbours, order, kProductsPerBlock * order.size() + 1000);
  if (structure.empty()) return make_front_solver(pattern, neighbours);
  return std::make_unique<BlockSolver>(pattern, order, structure);
}

}  // namespace liedyn
