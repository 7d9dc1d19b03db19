// The linear systems of the corrector: a block pattern fixed once, values written in place, factorised and solved many
// times. Dense LU for small systems, a block solver made for mechanisms (system/block_solver.h) for large ones, and KLU
// (sparse, full pivoting, symbolic analysis once) where that one does not fit or finds no pivot, behind one interface.
#pragma once

#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "liedyn/base/archive.h"
#include "liedyn/base/thread_pool.h"
#include "liedyn/model/element.h"

namespace liedyn {

// Which blocks of the matrix may be nonzero.
struct BlockPattern {
  std::vector<int> start;                  // first unknown of each block, and the total at the end
  std::vector<std::pair<int, int>> pairs;  // (column block, row block); sorted and unique after normalize()

  int blocks() const { return static_cast<int>(start.size()) - 1; }
  int unknowns() const { return start.back(); }
  void add(int row_block, int column_block) { pairs.emplace_back(column_block, row_block); }
  void normalize();
  std::vector<bool> zero_diagonal;  // blocks whose own block is zero: those of the joints; empty: none
};

class LinearSolver {
 public:
  virtual ~LinearSolver() = default;

  virtual std::string_view name() const = 0;
  // Whether pivots are sought in whole columns. The others seek them inside blocks or fronts: they may find a regular matrix singular.
  virtual bool pivots_fully() const = 0;
  virtual BlockRef block(int row_block, int column_block) const = 0;
  virtual double* values() = 0;
  virtual void set_zero() = 0;
  // Decouples unknowns: their rows and columns become those of the identity.
  virtual void hold(const std::vector<bool>& held) = 0;
  // False: singular; singular_unknown() then names a suspect.
  virtual bool factorize() = 0;
  virtual void solve(double* right) = 0;  // in place
  // The same for several right-hand sides, which stand side by side: right[i * columns + k].
  virtual void solve_several(double* right, std::size_t unknowns, std::size_t columns);
  virtual int singular_unknown() const = 0;
  // The smallest pivot of the last factorisation relative to the largest: a cheap sign that the matrix comes close to a singular one.
  virtual double pivot_ratio() const = 0;
  // What the two take, in nanoseconds, by counts of operations: the same on every machine, since decisions depend on it.
  struct Cost {
    double factorize, solve;
  };
  virtual Cost cost() const = 0;
  // Threads to use from now on, where the solver can; null: none besides the caller's.
  virtual void use_threads(ThreadPool*) {}
  // The factors, and what later factorisations take over from them.
  virtual void archive(Archive& archive) = 0;
};

inline constexpr std::string_view kFullPivoting = "klu";
// `choice`: "auto" by size and structure, "dense", "klu", or any other: "block" for trees, "front" for nets, KLU if neither fits.
std::unique_ptr<LinearSolver> make_linear_solver(const BlockPattern& pattern,
                                                 std::string_view choice = "auto");

// Factorises the matrix that stands in the solver. Reciprocal of its condition number in the 1-norm, 1 / (|A| |A^-1|): exact for small
// matrices, estimated by Hager's method for others (|A^-1| from below, mostly within a factor of three); 0: singular. For reports and
// decisions, not for the hot loop: large matrices are factorised a second time, transposed.
double factorize_with_condition(const BlockPattern& pattern, LinearSolver& solver);

}  // namespace liedyn
