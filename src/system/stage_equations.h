// The equations of one stage of an implicit method, for theta and lambda at its end:
//
//   r(q, v, vdot, lambda, t) = 0,   Phi(q, t) = 0 (index 3) or B v + Phi_t = 0 (index 2), or both (system/stabilized.h)
//
// with q, v, vdot given by theta through (stage) of model/nodes/stage.h.
//
// Their linear system has the increments of q as unknowns, so that no tangent operator stands beside B:
//
//   | s (M E + c_v C E + K)   B^T | | d              |     | s r |
//   |          B               0  | | s (d lambda)   | = - | Phi |           s = 1 / (dvdot/dq at T = 1)
//
// (index 3; in index 2 the lower row is k (Z + c_v B E) d = -k (B v + Phi_t) with k = s/c_v, which tends to B as well).
// The scale s on the equations of motion and the multipliers keeps the condition number bounded as h -> 0 (Bottasso et
// al.; Eqs. (57)-(60) of Arnold, Cardona, Brüls), since s M E tends to M.
#pragma once

#include <memory>
#include <vector>

#include "liedyn/model/nodes/parameter_stage.h"
#include "liedyn/system/corrector_options.h"
#include "liedyn/system/stabilized.h"
#include "liedyn/system/system.h"

namespace liedyn {

// The arrays of a stage, for double and for numbers with derivatives.
template <class S>
class StageArraysOf {
 public:
  StageArraysOf(const Model& model, const CorrectorOptions& options)
      : Theta(static_cast<std::size_t>(model.stage_size), S(0)),
        V(Theta),
        theta(Theta),
        options_(options),
        uses_parameters_(options.local.has_value() || model.has_conventional_nodes()) {}

  // To be filled by the integrator before solve(): Model::stage_size numbers each.
  std::vector<S> Theta, V, theta;  // theta: the predictor
  // A force of the reference configuration that is carried along, T^-T(theta) g beside r (local coordinates of Lie nodes); empty: none.
  std::vector<S> covector;

  const CorrectorOptions& options() const { return options_; }
  // Whether states need y, y' and y''.
  bool uses_parameters() const { return uses_parameters_; }
  bool holds_positions() const { return options_.holds_positions(); }
  bool holds_velocities() const { return options_.holds_velocities(); }
  // The rows that a stage imposes.
  RowRequest rows(const Stage& stage) const {
    return {holds_positions(), holds_velocities(), false, 1 / (stage.rate() * stage.c_v)};
  }
  // The arrays of a stage between two states: of all nodes in parameter space, and of one Lie node.
  ParameterStageOf<S> parameter_stage(const Stage& stage, const StateOf<S>& reference, StateOf<S>& to) const;
  NodeStageOf<S> node_stage(const Node& node, const StateOf<S>& reference, StateOf<S>& to) const {
    return {reference.q.data() + node.q, Theta.data() + node.v,
            V.data() + node.v,           drift_.empty() ? nullptr : drift_.data() + node.v,
            theta.data() + node.v,       to.q.data() + node.q,
            to.v.data() + node.v,        to.vdot.data() + node.v};
  }
  // T^-T(theta) g of every Lie node, added to r.
  void add_covectors(const Model& model, std::vector<S>& r) const;

 protected:
  CorrectorOptions options_;
  bool uses_parameters_;
  std::vector<S> drift_;  // h B_n^T eta in the stabilised form; empty otherwise
};

template <class S>
ParameterStageOf<S> StageArraysOf<S>::parameter_stage(const Stage& stage, const StateOf<S>& reference,
                                                      StateOf<S>& to) const {
  ParameterStageOf<S> p;
  p.stage = stage;
  p.chart = options_.chart;
  p.local_form = options_.local.value_or(LocalForm::Rates);
  p.unit_length = options_.form == IndexForm::Index3   ? UnitLength::Position
                  : options_.form == IndexForm::Index2 ? UnitLength::Velocity
                                                       : UnitLength::Both;
  p.q_ref = reference.q.data();
  p.y_ref = reference.y.data();
  p.Theta = Theta.data();
  p.V = V.data();
  p.theta = theta.data();
  p.drift = drift_.empty() ? nullptr : drift_.data();
  p.q = to.q.data();
  p.v = to.v.data();
  p.vdot = to.vdot.data();
  p.y = to.y.data();
  p.ydot = to.ydot.data();
  p.yddot = to.yddot.data();
  return p;
}

template <class S>
void StageArraysOf<S>::add_covectors(const Model& model, std::vector<S>& r) const {
  if (covector.empty()) return;
  for (const Node& node : model.nodes)
    if (!is_conventional(node.type))
      add_covector(node, options_.chart, theta.data(), covector.data(), r.data());
}

// One stage to be solved. `to` enters with the predicted lambda (and eta) and the time; `reference` is the state whose q is q_ref; h scales eta.
struct StageProblem {
  const Stage& stage;
  double h;
  const State& reference;
  State& to;
  Work& work;
};

class StageEquations : public StageArraysOf<double> {
 public:
  StageEquations(const System& system, const CorrectorOptions& options);

  // What depends on the structure of the linear system of `work`.
  void prepare_structure(Work& work);
  // In the stabilised form blocks of the matrix are addressed directly: a solver that was exchanged needs new addresses.
  bool is_structure_of(const Work& work) const {
    return stabilized_ == nullptr || prepared_for_ == work.solver.get();
  }

  // Takes over the redundant rows and, in the stabilised form, B of the reference state.
  void set_reference(const StageProblem& p);
  // q, v, vdot (and y, y', y'') of all nodes from theta.
  void evaluate_nodes(const StageProblem& p);
  // The residuals of a state.
  void residual(const Stage& stage, const State& to, Work& work) const;
  // The residuals of p.to and the matrix, not factorised.
  void assemble(const StageProblem& p) const;
  // The right side of the linear system, from the residuals.
  void set_right_side(const Stage& stage, Work& work) const;
  // Moves theta, lambda and eta by `factor` times the solution of the linear system.
  void apply(const StageProblem& p, double factor);

  const System& system() const { return *system_; }
  bool is_stabilized() const { return stabilized_ != nullptr; }

 private:
  // The unknown of the simplified matrix is the increment of q where positions are constrained, so that only M and C lack
  // the operators; otherwise that of the accelerations, so that only K does.
  bool simplified_in_accelerations() const {
    return options_.simplified && (system_->model().rows == 0 || !holds_positions());
  }
  // work(node) for all nodes, by the threads of `scratch`.
  template <class Function>
  void for_each_node(const Work& scratch, const Function& work) const;
  void set_tangents(const StageProblem& p) const;
  void add_covector_blocks(const StageProblem& p) const;
  void add_stabilized_columns(const StageProblem& p) const;

  const System* system_;
  std::unique_ptr<StabilizedColumns> stabilized_;  // in that form only
  std::vector<double> eta_increment_;
  std::vector<bool> held_;  // eta of rows at velocity level, which need none; empty if there are none
  const LinearSolver* prepared_for_ = nullptr;
};

}  // namespace liedyn
