#include "system/block_solver.h"

#include <amd.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace liedyn {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Neighbours of every block, without itself.
std::vector<std::vector<int>> neighbours_of(const BlockPattern& pattern) {
  std::vector<std::vector<int>> out(at(pattern.blocks()));
  for (const auto& [column, row] : pattern.pairs) {
    if (row == column) continue;
    out[at(column)].push_back(row);
    out[at(row)].push_back(column);
  }
  for (auto& list : out) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  return out;
}

// The body that each joint holds, -1 for joints that close a loop: a search from the ground outwards finds it.
std::vector<int> held_bodies(const std::vector<std::vector<int>>& neighbours,
                             const std::vector<bool>& zero_diagonal) {
  const int blocks = static_cast<int>(neighbours.size());
  std::vector<int> held(neighbours.size(), -1);
  std::vector<bool> reached(neighbours.size(), false);
  std::vector<int> queue;
  const auto is_joint = [&](int i) { return zero_diagonal[at(i)]; };
  const auto bodies_of = [&](int joint, auto&& visit) {
    for (const int i : neighbours[at(joint)])
      if (!is_joint(i)) visit(i);
  };
  const auto take = [&](int joint) {
    bodies_of(joint, [&](int body) {
      if (reached[at(body)] || held[at(joint)] >= 0) return;
      reached[at(body)] = true;
      held[at(joint)] = body;
      queue.push_back(body);
    });
  };
  // Joints with one body are fixed to the ground; then whatever is not reached from there.
  for (int i = 0; i < blocks; ++i) {
    int count = 0;
    if (is_joint(i)) bodies_of(i, [&](int) { ++count; });
    if (count == 1) take(i);
  }
  std::size_t next = 0;
  for (int seed = 0; seed <= blocks; ++seed) {
    for (; next < queue.size(); ++next)
      for (const int i : neighbours[at(queue[next])])
        if (is_joint(i) && held[at(i)] < 0) take(i);
    if (seed < blocks && !is_joint(seed) && !reached[at(seed)]) {
      reached[at(seed)] = true;
      queue.push_back(seed);
    }
  }
  return held;
}

// Elimination order: position -> block. Minimum degree on the graph of bodies with the joints they carry.
std::vector<int> elimination_order(const std::vector<std::vector<int>>& neighbours,
                                   const std::vector<bool>& zero_diagonal) {
  const int blocks = static_cast<int>(neighbours.size());
  const std::vector<int> held = held_bodies(neighbours, zero_diagonal);
  // Groups: a body and the joints that hold it; a loop joint is a group of its own.
  std::vector<int> group(neighbours.size(), -1);
  int groups = 0;
  for (int i = 0; i < blocks; ++i)
    if (!zero_diagonal[at(i)] || held[at(i)] < 0) group[at(i)] = groups++;
  for (int i = 0; i < blocks; ++i)
    if (zero_diagonal[at(i)] && held[at(i)] >= 0) group[at(i)] = group[at(held[at(i)])];

  std::vector<std::vector<int>> graph(at(groups));
  for (int i = 0; i < blocks; ++i)
    for (const int j : neighbours[at(i)])
      if (group[at(i)] != group[at(j)]) graph[at(group[at(i)])].push_back(group[at(j)]);
  std::vector<int> columns = {0}, rows;
  for (auto& list : graph) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    rows.insert(rows.end(), list.begin(), list.end());
    columns.push_back(static_cast<int>(rows.size()));
  }
  std::vector<int> permutation(at(groups));
  amd_order(groups, columns.data(), rows.data(), permutation.data(), nullptr, nullptr);
  std::vector<int> rank(at(groups));
  for (int k = 0; k < groups; ++k) rank[at(permutation[at(k)])] = k;

  // A loop joint waits for its bodies; joints go behind the bodies of their group.
  std::vector<int> key(at(blocks));
  for (int i = 0; i < blocks; ++i) {
    key[at(i)] = rank[at(group[at(i)])];
    if (zero_diagonal[at(i)] && held[at(i)] < 0)
      for (const int j : neighbours[at(i)])
        if (!zero_diagonal[at(j)]) key[at(i)] = std::max(key[at(i)], rank[at(group[at(j)])]);
  }
  std::vector<int> order(at(blocks));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    if (key[at(a)] != key[at(b)]) return key[at(a)] < key[at(b)];
    const int late_a = zero_diagonal[at(a)] ? (held[at(a)] < 0 ? 2 : 1) : 0,
              late_b = zero_diagonal[at(b)] ? (held[at(b)] < 0 ? 2 : 1) : 0;
    return late_a < late_b;
  });
  return order;
}

// --- Kernels. N is the size of the pivot block; 0 stands for any. ---

template <int R, int C>
using Block = Eigen::Map<Eigen::Matrix<double, R == 0 ? Eigen::Dynamic : R, C == 0 ? Eigen::Dynamic : C>, 0,
                         Eigen::OuterStride<>>;

// LU with partial pivoting inside the block. False: no pivot worth the name.
template <int N>
bool factorize_block(double* a, std::int8_t* pivots, int size) {
  const int n = N == 0 ? size : N;
  constexpr double kSmallest = 1e-13;
  double scale = 0;
  for (int i = 0; i < n * n; ++i) scale = std::max(scale, std::abs(a[i]));
  if (!(scale > 0) || !std::isfinite(scale)) return false;
  for (int k = 0; k < n; ++k) {
    double* column = a + k * n;
    int pivot = k;
    for (int r = k + 1; r < n; ++r)
      if (std::abs(column[r]) > std::abs(column[pivot])) pivot = r;
    if (!(std::abs(column[pivot]) > kSmallest * scale)) return false;
    pivots[k] = static_cast<std::int8_t>(pivot);
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

// x = D^-1 x for one column.
template <int N>
void solve_column(const double* a, const std::int8_t* pivots, int size, double* x) {
  const int n = N == 0 ? size : N;
  for (int k = 0; k < n; ++k)
    if (pivots[k] != k) std::swap(x[k], x[pivots[k]]);
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

template <int N>
void solve_columns(const double* a, const std::int8_t* pivots, int size, double* x, int count) {
  const int n = N == 0 ? size : N;
  for (int c = 0; c < count; ++c) solve_column<N>(a, pivots, size, x + c * n);
}

// C -= A B
template <int R, int N, int C>
void subtract_product(const double* a, int a_stride, const double* b, double* c, int c_stride, int rows,
                      int inner, int columns) {
  Eigen::Map<const Eigen::Matrix<double, R == 0 ? Eigen::Dynamic : R, N == 0 ? Eigen::Dynamic : N>, 0,
             Eigen::OuterStride<>>
      left(a, rows, inner, Eigen::OuterStride<>(a_stride));
  Eigen::Map<const Eigen::Matrix<double, N == 0 ? Eigen::Dynamic : N, C == 0 ? Eigen::Dynamic : C>> right(
      b, inner, columns);
  Block<R, C> target(c, rows, columns, Eigen::OuterStride<>(c_stride));
  target.noalias() -= left.lazyProduct(right);
}

using ProductKernel = void (*)(const double*, int, const double*, double*, int, int, int, int);

ProductKernel product_kernel(int rows, int inner, int columns) {
  if (inner == 6) {
    if (rows == 3 && columns == 3) return &subtract_product<3, 6, 3>;
    if (rows == 6 && columns == 6) return &subtract_product<6, 6, 6>;
    if (rows == 3 && columns == 6) return &subtract_product<3, 6, 6>;
    if (rows == 6 && columns == 3) return &subtract_product<6, 6, 3>;
  }
  if (inner == 3) {
    if (rows == 6 && columns == 6) return &subtract_product<6, 3, 6>;
    if (rows == 3 && columns == 3) return &subtract_product<3, 3, 3>;
    if (rows == 3 && columns == 6) return &subtract_product<3, 3, 6>;
    if (rows == 6 && columns == 3) return &subtract_product<6, 3, 3>;
  }
  return &subtract_product<0, 0, 0>;
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
        rows_.push_back({i, height});
        height += size_of(i);
      }
      p.height = height;
      p.lower = values;
      values += height * p.size;
      p.upper = values;
      values += height * p.size;
      pivots_.push_back(p);
    }
    values_.assign(at(values), 0);
    exchange_.assign(at(pattern.unknowns()), 0);
    // Where each product of an elimination goes.
    for (int k = 0; k < blocks; ++k) {
      const Pivot& p = pivots_[at(k)];
      for (int a = 0; a < p.row_count; ++a)
        for (int b = 0; b < p.row_count; ++b) {
          const int i = rows_[at(p.first_row + a)].position, j = rows_[at(p.first_row + b)].position;
          const BlockRef target = place(i, j);
          products_.push_back({target.offset, target.stride, product_kernel(size_of(i), p.size, size_of(j))});
        }
    }
  }

  std::string_view name() const override { return "block"; }
  BlockRef block(int row_block, int column_block) const override {
    return place(position_[at(row_block)], position_[at(column_block)]);
  }
  double* values() override { return values_.data(); }
  void set_zero() override { std::fill(values_.begin(), values_.end(), 0.0); }
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
    const Product* product = products_.data();
    double* const values = values_.data();
    for (const Pivot& p : pivots_) {
      double* const diagonal = values + p.diagonal;
      std::int8_t* const exchange = exchange_.data() + p.unknown;
      bool good = false;
      switch (p.size) {
        case 6:
          good = factorize_block<6>(diagonal, exchange, 6);
          solve_columns<6>(diagonal, exchange, 6, values + p.upper, p.height);
          break;
        case 3:
          good = factorize_block<3>(diagonal, exchange, 3);
          solve_columns<3>(diagonal, exchange, 3, values + p.upper, p.height);
          break;
        default:
          good = factorize_block<0>(diagonal, exchange, p.size);
          if (good) solve_columns<0>(diagonal, exchange, p.size, values + p.upper, p.height);
      }
      if (!good) {
        singular_ = p.unknown;
        return false;
      }
      for (int a = 0; a < p.row_count; ++a) {
        const Row& row_a = rows_[at(p.first_row + a)];
        const double* left = values + p.lower + row_a.offset;
        const int height = pivots_[at(row_a.position)].size;
        for (int b = 0; b < p.row_count; ++b, ++product) {
          const Row& row_b = rows_[at(p.first_row + b)];
          product->kernel(left, p.height, values + p.upper + row_b.offset * p.size, values + product->offset,
                          product->stride, height, p.size, pivots_[at(row_b.position)].size);
        }
      }
    }
    singular_ = -1;
    return true;
  }

  void solve(double* right) override {
    const double* const values = values_.data();
    for (const Pivot& p : pivots_) {
      double* const x = right + p.unknown;
      switch (p.size) {
        case 6: solve_column<6>(values + p.diagonal, exchange_.data() + p.unknown, 6, x); break;
        case 3: solve_column<3>(values + p.diagonal, exchange_.data() + p.unknown, 3, x); break;
        default: solve_column<0>(values + p.diagonal, exchange_.data() + p.unknown, p.size, x);
      }
      for (int a = 0; a < p.row_count; ++a) {
        const Row& row = rows_[at(p.first_row + a)];
        const Pivot& other = pivots_[at(row.position)];
        const double* lower = values + p.lower + row.offset;
        double* const y = right + other.unknown;
        for (int c = 0; c < p.size; ++c, lower += p.height)
          for (int r = 0; r < other.size; ++r) y[r] -= lower[r] * x[c];
      }
    }
    for (auto p = pivots_.rbegin(); p != pivots_.rend(); ++p) {
      double* const x = right + p->unknown;
      for (int a = 0; a < p->row_count; ++a) {
        const Row& row = rows_[at(p->first_row + a)];
        const Pivot& other = pivots_[at(row.position)];
        const double* upper = values + p->upper + row.offset * p->size;
        const double* const y = right + other.unknown;
        for (int c = 0; c < other.size; ++c, upper += p->size)
          for (int r = 0; r < p->size; ++r) x[r] -= upper[r] * y[c];
      }
    }
  }

  int singular_unknown() const override { return singular_; }

  // Hager's estimate needs products with the original matrix, which the factors have overwritten.
  double reciprocal_condition() override { return pivot_ratio(); }
  double pivot_ratio() const override {
    // Pivots are kept inverted.
    double least = INFINITY, most = 0;
    for (const Pivot& p : pivots_)
      for (int i = 0; i < p.size; ++i) {
        const double inverse = std::abs(values_[at(p.diagonal + i + i * p.size)]);
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
    std::int16_t size;
  };
  struct Row {
    std::int32_t position;  // of the block in the order
    std::int32_t offset;    // of its rows in the panel
  };
  struct Product {
    std::int32_t offset, stride;
    ProductKernel kernel;
  };

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
  std::vector<Product> products_;
  std::vector<double> values_;
  std::vector<std::int8_t> exchange_;  // rows exchanged inside the blocks
  int singular_ = -1;
};

}  // namespace

std::unique_ptr<LinearSolver> make_block_solver(const BlockPattern& pattern) {
  const auto neighbours = neighbours_of(pattern);
  std::vector<bool> zero_diagonal = pattern.zero_diagonal;
  zero_diagonal.resize(neighbours.size(), false);
  const std::vector<int> order = elimination_order(neighbours, zero_diagonal);
  const int blocks = pattern.blocks();
  std::vector<int> position(at(blocks));
  for (int k = 0; k < blocks; ++k) position[at(order[at(k)])] = k;

  // Structure of the factors: what a pivot reaches is what its block touches later, and what the pivots that it is the first
  // to follow reached.
  constexpr std::size_t kProductsPerBlock = 30;
  std::vector<std::vector<int>> structure(at(blocks));
  std::vector<std::vector<int>> children(at(blocks));
  std::size_t products = 0;
  for (int k = 0; k < blocks; ++k) {
    std::vector<int>& reach = structure[at(k)];
    for (const int i : neighbours[at(order[at(k)])])
      if (position[at(i)] > k) reach.push_back(position[at(i)]);
    for (const int child : children[at(k)])
      for (const int i : structure[at(child)])
        if (i != k) reach.push_back(i);
    std::sort(reach.begin(), reach.end());
    reach.erase(std::unique(reach.begin(), reach.end()), reach.end());
    if (!reach.empty()) children[at(reach.front())].push_back(k);
    products += reach.size() * reach.size();
    if (products > kProductsPerBlock * at(blocks) + 1000) return nullptr;
  }
  return std::make_unique<BlockSolver>(pattern, order, structure);
}

}  // namespace liedyn
