// When Newton's matrix is kept, evaluated and factorised: the choice MatrixRenewal.
//
// ByCost keeps a matrix as long as a solve with it costs less than the average of the solves that it has served, the matrix included. Costs are
// in iterations without a new matrix: with c for a matrix and a_k additional iterations in the k-th of n solves, a new matrix is due when
//
//   a_n > (c + a_1 + ... + a_n) / n,
//
// since the average would begin to rise. A solve that needs no iteration needs no matrix either, and counts as one without additional ones.
#pragma once

#include <vector>

#include "liedyn/system/corrector_options.h"
#include "liedyn/system/system.h"

namespace liedyn {

class MatrixPolicy {
 public:
  explicit MatrixPolicy(const CorrectorOptions& options);

  // Forgets any matrix and decides whether matrices are worth keeping by cost. `quadratic`: with new matrices the iteration converges quadratically;
  // `smooth`: see StoppingRule.
  void prepare(const System& system, const Work& work, bool quadratic, bool smooth);
  // The factorised matrix does not fit the next solve.
  void forget() { has_matrix_ = false; }
  void archive(Archive& archive);

  // Whether the last matrix belongs to another stage or to other redundant rows.
  bool is_foreign(const Stage& stage, const std::vector<int>& redundant) const;
  // Before a solve.
  void begin();
  // This solve may iterate with a matrix of an earlier iteration or solve by cost, and then converges linearly.
  bool keeps_by_cost() const { return by_cost_; }
  // The next matrix is almost surely needed: it is evaluated together with the residual.
  bool assembles_with_residual(int iterations) const { return renews_ && iterations < expected_iterations_; }
  // A new matrix for the next iteration, after residuals that fell from `before` to `now`.
  bool is_due(int iterations, double now, double before) const;
  // A matrix has been assembled, and is factorised. False: it is singular.
  void note_assembled(const Stage& stage, const std::vector<int>& redundant);
  bool factorize(Work& work);
  bool has_matrix() const { return has_matrix_; }
  // After a solve that converged.
  void end(const CorrectorOutcome& outcome);

 private:
  // A matrix serves several iterations of this solve.
  bool keeps() const { return options_.renewal == MatrixRenewal::WhenSlow || by_cost_; }
  double iterations_left(double now, double before) const;
  void end_with_kept_matrix(const CorrectorOutcome& outcome);

  CorrectorOptions options_;
  bool has_matrix_ = false;
  Stage matrix_stage_;
  std::vector<int> matrix_redundant_;  // rows that the matrix does not impose
  int expected_iterations_;            // those of the last solve
  // Of the solve in progress.
  bool by_cost_ = false;  // matrices are kept by cost
  bool renews_ = true;    // a new matrix in the next iteration whatever the residual
  bool kept_ = false;     // it began with a kept matrix
  // By cost: the cost of a new matrix, in iterations (0: it is not kept), the iterations of the solve that made
  // the last one, the number of solves that have had it, and the iterations that they needed in addition.
  double matrix_cost_ = 0;
  int iterations_of_new_ = 1;
  int solves_with_matrix_ = 1;
  double additional_iterations_ = 0;
  int pause_ = 0, next_pause_;  // solves with new matrices, after one that a kept matrix made more expensive
};

}  // namespace liedyn
