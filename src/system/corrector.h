// One corrector for all implicit methods: Newton's method for the equations of a stage (system/stage_equations.h). When it stops is said by
// system/stopping_rule.h, when it takes a new matrix by system/matrix_policy.h.
#pragma once

#include <string>
#include <vector>

#include "liedyn/system/corrector_options.h"
#include "liedyn/system/matrix_policy.h"
#include "liedyn/system/stage_equations.h"
#include "liedyn/system/stopping_rule.h"
#include "liedyn/system/system.h"

namespace liedyn {

class Corrector : public StageEquations {
 public:
  Corrector(const System& system, const CorrectorOptions& options);

  // Makes what depends on the structure of the matrix, and forgets any matrix: before the first step.
  void prepare(Work& work);
  // And what depends on where the run starts, so that the first step allocates nothing.
  void prepare(const State& start, Work& work);
  // `to` enters with the predicted lambda (and eta) and the time, and leaves with q, v, vdot, lambda (and eta). `reference`
  // is the state whose q is q_ref; h scales eta. With an update that is not exact, q, v, vdot of `to` are the predictor too.
  CorrectorOutcome solve(const Stage& stage, double h, const State& reference, State& to, Work& work);

  // Takes the solution that solve() has left in a log, from `place` on, which moves behind it.
  void accept(const Stage& stage, double h, const State& reference, State& to, Work& work,
              const SolutionLog& log, std::size_t& place);
  // The exact matrix at the solution that solve() has just found, not yet factorised: what derivatives of the solution need.
  void assemble_solution(const Stage& stage, const State& reference, State& to, Work& work);

  // Each solve is like the one before, one step later: expensive matrices may be kept, and some solves may end without evaluating the last residual.
  void expect_similar_solves() { similar_ = true; }
  // The factorised matrix does not fit the next solve (another step size, a rejected step).
  void forget_matrix() { matrices_.forget(); }
  // Nor does what earlier solves say about the next one (other parameters).
  void forget_past();
  // What a solve takes over from those before it. To be read after prepare(start, work).
  void archive(Archive& a) { a(similar_, stopping_, matrices_); }

 private:
  bool converges_quadratically() const;
  bool is_smooth() const;
  void begin(const StageProblem& p);
  void assemble_matrix(const StageProblem& p);
  void search_line(const StageProblem& p);
  void note_regularity(const State& to, CorrectorOutcome& out) const;
  CorrectorOutcome give_up(CorrectorFailure failure, const StageProblem& p, CorrectorOutcome out);
  CorrectorOutcome finish(const StageProblem& p, CorrectorOutcome out);

  StoppingRule stopping_;
  MatrixPolicy matrices_;
  bool similar_ = false;
  std::vector<double> base_theta_, base_lambda_, base_eta_;  // where the line search starts
};

// "Newton's method did not converge in 20 iterations; the largest residual, 1.2e-3, is in 'joints.pivot: position x'"
std::string describe(const CorrectorOutcome& outcome, const System& system);
// "; the Cardan angles of 'bodies.top' ..." where they are nearly singular.
std::string regularity_note(const CorrectorOutcome& outcome, const System& system);

}  // namespace liedyn
