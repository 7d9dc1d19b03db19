// One corrector for all implicit methods. It solves, for theta and lambda at the end of a stage,
//
//   r(q, v, vdot, lambda, t) = 0,   Phi(q, t) = 0 (index 3) or B v + Phi_t = 0 (index 2), or both (system/stabilized.h)
//
// with q, v, vdot given by theta through (stage) of model/nodes/stage.h.
//
// Newton's linear system has the increments of q as unknowns, so that no tangent operator stands beside B:
//
//   | s (M E + c_v C E + K)   B^T | | d              |     | s r |
//   |          B               0  | | s (d lambda)   | = - | Phi |           s = 1 / (dvdot/dq at T = 1)
//
// (index 3; in index 2 the lower row is k (Z + c_v B E) d = -k (B v + Phi_t) with k = s/c_v, which tends to B as well).
// The scale s on the equations of motion and the multipliers keeps the condition number bounded as h -> 0 (Bottasso et
// al.; Eqs. (57)-(60) of Arnold, Cardona, Brüls), since s M E tends to M.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model/nodes/parameter_stage.h"
#include "system/stabilized.h"
#include "system/subsystems.h"
#include "system/system.h"

namespace liedyn {

struct CorrectorOptions {
  // Stop when each residual is below `relative` times what its equation is a sum of (system/subsystems.h), or at its round-off.
  double relative = 1e-8;
  // Stop instead when all residuals together have fallen to `relative` times what the predictor left: for comparison with programs that do so.
  bool from_first = false;
  int max_iterations = 20;
  bool modified = false;  // keep the factorised matrix until the contraction is worse than 0.5
  bool by_cost =
      false;  // or as long as the additional iterations cost less than a new one, where matrices are expensive
  bool simplified = false;   // leave the tangent operators out of the matrix, where they matter least
  bool line_search = false;  // Armijo
  IndexForm form = IndexForm::Index3;
  StageUpdate update = StageUpdate::Exact;
  double sigma = 0;  // for StageUpdate::Expanded
  bool local =
      false;  // Lie nodes advance in local coordinates (parameter_stage.h) instead of by the stage relation
  Chart chart = Chart::Exponential;
  LocalForm local_form = LocalForm::Rates;
};

enum class CorrectorFailure { None, TooManyIterations, Singular, NotFinite, SingularParameters };

struct CorrectorOutcome {
  CorrectorFailure failure = CorrectorFailure::None;
  int iterations = 0;   // linear solves
  int jacobians = 0;    // assemblies with factorisation
  int worst = -1;       // unknown whose equation was worst, or that made the matrix singular
  double residual = 0;  // of that equation
  double regularity =
      1;  // least |cos phi_2| of Cardan angles at the last iterate, and the node it belongs to
  int least_regular = -1;
  bool has_factors =
      false;  // the solver holds the factors of the last matrix, not one that was assembled in vain
  bool converged() const { return failure == CorrectorFailure::None; }
};

class Corrector {
 public:
  Corrector(const System& system, CorrectorOptions options);

  // The stage's data, to be filled by the integrator before solve(): Model::stage_numbers numbers each.
  std::vector<double> Theta, V, theta;  // theta: the predictor
  // A force of the reference configuration that is carried along, T^-T(theta) g beside r (local coordinates of Lie nodes); empty: none.
  std::vector<double> covector;

  // Makes what depends on the structure of the matrix, and forgets any matrix: before the first step.
  void prepare(Work& work);
  // And what depends on where the run starts, so that the first step allocates nothing.
  void prepare(const State& start, Work& work);
  // Whether states need y, y' and y''.
  bool uses_parameters() const { return uses_parameters_; }
  // The arrays of a stage between two states.
  ParameterStage parameter_stage(const Stage& stage, const State& reference, State& to) const;
  // `to` enters with the predicted lambda (and eta) and the time, and leaves with q, v, vdot, lambda (and eta). `reference`
  // is the state whose q is q_ref; h scales eta. With an update that is not exact, q, v, vdot of `to` are the predictor too.
  CorrectorOutcome solve(const Stage& stage, double h, const State& reference, State& to, Work& work);

  // Takes the solution that solve() has left in a log, from `place` on, which moves behind it.
  void accept(const Stage& stage, double h, const State& reference, State& to, Work& work,
              const SolutionLog& log, std::size_t& place);
  // The exact matrix at the solution that solve() has just found, not yet factorised: what derivatives of the solution need.
  void assemble_solution(const Stage& stage, const State& reference, State& to, Work& work);
  // The rows that a stage holds.
  RowRequest rows(const Stage& stage) const {
    return {holds_positions(), holds_velocities(), false, 1 / (stage.rate() * stage.c_v)};
  }
  bool holds_positions() const { return options_.form != IndexForm::Index2; }
  bool holds_velocities() const { return options_.form != IndexForm::Index3; }

  // Each solve is like the one before, one step later: expensive matrices may be kept, and some solves may end without a look at the last residual.
  void expect_similar_solves() { unchecked_ = std::max(unchecked_, 0); }
  // The factorised matrix no longer fits (the step size changed, a step was rejected).
  void forget_matrix() { has_matrix_ = false; }
  // Nor does what earlier solves say about the next one (parameters have changed).
  void forget_past() {
    has_matrix_ = false;
    seen_ = {};
    unchecked_ = std::min(unchecked_, 0);
    rounding_.clear();
    weights_stage_ = {};
  }
  // What a solve takes over from those before it. To be read after prepare(start, work).
  void archive(Archive& archive);
  const CorrectorOptions& options() const { return options_; }

 private:
  // The largest residual of any equation, relative to the scale of that.
  struct Measure {
    double largest = 0;
    bool finite = true;
  };
  struct Iteration {
    double increment = 0, multipliers = 0, residual = 0;
  };
  // The unknown of the simplified matrix is the increment of q where positions are constrained, so that only M and C lack
  // the operators; otherwise that of the accelerations, so that only K does.
  bool simplified_in_accelerations() const {
    return options_.simplified && (system_->model().rows == 0 || !holds_positions());
  }
  bool in_parameter_space(const Node& node) const { return options_.local || is_conventional(node.type); }

  NodeStage node_stage(const Node& node, const State& reference, State& to) const;
  void evaluate_stage_of_nodes(const Stage& stage, double h, const State& reference, State& to,
                               const Work& work);
  void set_weights(const Stage& stage);
  void probe_rounding(const Stage& stage, const State& to, Work& work);
  // work(node) for all nodes, by the threads of `scratch`.
  template <class Function>
  void for_each_node(const Work& scratch, const Function& work) const;
  double state_scale(const Stage& stage, const State& to, int i) const;
  Measure measure(const Stage& stage, const State& to, const Work& work) const;
  double residual_norm(const Work& work) const;
  double cost_of_matrix(const Work& work) const;
  Iteration increments(const Work& work) const;
  bool is_surely_small(int number, const Iteration& made) const;
  bool is_settled(const Stage& stage, const State& to, const Work& work) const;
  void evaluate_residual(const Stage& stage, const State& to, Work& work) const;
  void assemble(const Stage& stage, const State& reference, State& to, Work& work);
  void set_right_side(const Stage& stage, Work& work) const;
  void apply(const Stage& stage, double h, const State& reference, double factor, State& to,
             const Work& work);
  int worst_unknown(const Stage& stage, const State& to, const Work& work, double* residual) const;

  const System* system_;
  CorrectorOptions options_;
  bool uses_parameters_;
  bool has_matrix_ = false;
  Stage matrix_stage_;
  std::vector<int> matrix_redundant_;  // rows that the matrix does not impose
  const LinearSolver* prepared_for_ = nullptr;
  // Scales of the equations, and 1 / scale of forces, Phi and B v + Phi_t: not less than their round-off divided by the tolerance. Round-off of forces by places,
  // velocities and multipliers, and that which accelerations bring with them, per dvdot/dq; of Phi, of B v + Phi_t.
  std::unique_ptr<NaturalScales> scales_;
  int scales_age_ = 0;  // in solves
  Stage weights_stage_;
  std::vector<double> weight_, row_weight_, rate_weight_;
  std::vector<double> rounding_, inertial_rounding_, row_rounding_, rate_rounding_;
  State probe_;  // with changed digits; and the residuals without
  std::vector<double> kept_r_, kept_phi_, kept_rate_;
  double margin_ = 1;  // of the round-off
  // Keeping the matrix by cost: what a new one costs, in iterations (0: it is not kept), the iterations of the solve that made
  // the last one, how many solves have had it, and the iterations that they needed in addition.
  double matrix_cost_ = 0;
  int iterations_of_new_ = 1;
  int solves_with_matrix_ = 1;
  double additional_iterations_ = 0;
  int pause_ = 0,
      next_pause_ = 2;  // solves with new matrices, after one that a kept matrix made more expensive
  // Increments of q and of the multipliers in iterations with a new matrix, as last looked at, and the residual that they left; and that at
  // the end of a solve. Equations without kinks let them predict whether the next iteration is the last.
  std::array<Iteration, 2> seen_;
  double last_residual_ = 0;
  int unchecked_ = -1;  // solves in a row that ended by prediction; -1: none is to
  bool is_smooth_ = false;
  int expected_iterations_ = 2;  // of the last solve: until then residual and matrix are evaluated together
  std::vector<double> base_theta_, base_lambda_, base_eta_;  // where the line search starts
  std::unique_ptr<StabilizedColumns> stabilized_;            // in that form only
  std::vector<double> drift_;                                // h B_n^T eta, or its increment
  std::vector<double> eta_increment_;
  std::vector<bool> held_;  // eta of rows at velocity level, which need none; empty if there are none
};

// "Newton's method did not converge in 20 iterations; the largest residual, 1.2e-3, is in 'joints.pivot: place x'"
std::string describe(const CorrectorOutcome& outcome, const System& system);
// "; the Cardan angles of 'bodies.top' ..." where they are nearly singular.
std::string regularity_note(const CorrectorOutcome& outcome, const System& system);

}  // namespace liedyn
