// The equations of a model as the integrators see them: numbering, constant sparsity, residuals and matrices.
//
//   r = M(q) vdot + g(q, v, lambda, t) + B(q)^T lambda,    Phi(q, t),    B v + Phi_t,    B vdot + Z(v, v) + ...
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "liedyn/base/time_jet.h"
#include "liedyn/model/model.h"
#include "liedyn/system/layout.h"
#include "liedyn/system/linear.h"
#include "liedyn/system/state.h"
#include "liedyn/system/tree_assembly.h"

namespace liedyn {

class System;

// What the solves of a step have found, one after the other: whoever does the step again, to differentiate it, need not look for it.
using SolutionLog = std::vector<double>;  // theta, lambda, eta of each

// What evaluations of the equations write, for double and for numbers with derivatives.
template <class S>
struct EvaluationWork {
  // `parameters`: all of them, of which the first `named` have names; `timed`: whether some are functions of time.
  EvaluationWork(const Model& model, const std::vector<S>& parameters, int named, bool timed);

  // Residuals of rows that are not imposed do not count.
  void clear_residuals(const std::vector<int>& rows);
  // Parameters that are functions of time are evaluated anew.
  void forget_time() { constants_time = std::numeric_limits<double>::quiet_NaN(); }

  std::vector<S> params;                           // with those that depend on t; empty if there are none
  std::vector<S> param_rates, param_second_rates;  // their time derivatives
  double constants_time;                           // for which these hold
  std::vector<TimeJetOf<S>> time_variables;        // of expressions: parameters that have names, t
  std::unique_ptr<TreeMotionOf<S>> links;          // in minimal coordinates
  std::vector<Motion<S>> motions;                  // per body
  std::vector<Vec6T<S>> wrench;                    // per body
  std::vector<S> r;                                // nv
  std::vector<S> phi, rate, acceleration;          // rows
  std::vector<S> right;                            // right-hand side and solution
};

// Scratch of one simulation: everything that is written while it runs, except the states.
struct Work : EvaluationWork<double> {
  explicit Work(const System& system, std::string_view solver_choice = "auto",
                IndexForm form = IndexForm::Index3);

  // Another solver from now on; the matrix in the old one is lost.
  void use_solver(const System& system, std::string_view choice);
  // A solver that pivots fully from now on. False: the one before does already.
  bool pivot_fully(const System& system);
  // `attempt` assembles a matrix and factorises it; where it fails, once more with full pivoting. False: singular.
  template <class Attempt>
  bool factorize(const System& system, const Attempt& attempt) {
    return attempt() || (pivot_fully(system) && attempt());
  }

  // Threads for what follows; null: the caller's alone. Results do not depend on their number.
  void use_threads(std::shared_ptr<ThreadPool> threads);

  // Decouples the multipliers of rows that are not imposed, and unknowns that stay at rest (may be null), in the matrix just assembled.
  void hold(const std::vector<int>& rows, const std::vector<bool>* at_rest = nullptr);
  // The linear solver and its factors: all that later evaluations at other states depend on.
  void archive(const System& system, Archive& archive);

  IndexForm form;
  const Constants*
      constants;  // of the elements, at the time last evaluated: those of the system if none depends on t
  std::unique_ptr<Constants> own_constants;
  int revision;                      // of the parameters that these constants follow
  std::vector<double> tangent;       // the nodes' maps E
  std::vector<double> rate_tangent;  // and E', where these are different
  double force_scale =
      0;  // largest component of the wrenches of the bodies (inertia and weight) at the last evaluation

  std::unique_ptr<LinearSolver> solver;
  std::vector<std::vector<BlockRef>> blocks;  // per list, see for_each_listed_block
  std::unique_ptr<TreeAssembly> tree;         // in minimal coordinates
  std::vector<BlockRef> diagonal;             // per node
  std::vector<bool> held;                     // unknowns decoupled by hold()
  std::shared_ptr<ThreadPool> threads;
  SolutionLog* log = nullptr;  // solutions are added to it, if there is one
};

// Elements with parameters that are functions of time.
struct TimedElement {
  int batch, element;
};
std::vector<TimedElement> timed_elements(const Model& model, const Params& params);

// Which constraint residuals are wanted.
struct RowRequest {
  bool phi = true, rate = false, acceleration = false;
  double velocity_scale = 0;  // rows at velocity level have this times their rate in place of Phi
};

// Which matrix: rows of the nodes s (K dq + C dv + M dvdot) with the seeding `force`, B^T beside them, and constraint rows
// of the given level with the seeding `row`.
struct MatrixRequest {
  Seeding force;
  Seeding row;
  RowLevel level = RowLevel::Position;
  Seeding velocity_row;      // of the rows at velocity level where `level` is Position
  bool use_tangent = false;  // E from Work::tangent; otherwise the identity
  // Of the stabilised form: velocity rows besides those of position, per list of blocks; null otherwise.
  const std::vector<std::vector<BlockRef>>* rate_blocks = nullptr;
  Seeding rate;
};

class System {
 public:
  System(std::shared_ptr<const Model> model, Params params);

  const Model& model() const { return *model_; }
  std::shared_ptr<const Model> shared_model() const { return model_; }
  const Params& params() const { return params_; }
  int unknowns() const { return model_->nv + model_->rows; }  // velocities and multipliers

  // Other values from now on, of the same model. Every Work follows at its next evaluation.
  void set_params(Params params);

  State empty_state() const;

  // Work::r and the requested rows at the state (its q, v, vdot, lambda, t).
  void residual(const State& at, Work& work, const RowRequest& rows) const;
  // The same, and the matrix into work.solver, not factorised.
  void jacobian(const State& at, Work& work, const RowRequest& rows, const MatrixRequest& matrix) const;

  // The part of the nodes' rows that bodies and forces give for a seeding (without E), into blocks of the caller.
  void inertia_matrix(const State& at, Work& work, const Seeding& seeding, double* values,
                      const std::vector<std::vector<BlockRef>>& blocks) const;
  // The same with Work::r, for systems without constraints.
  void unconstrained(const State& at, Work& work, const Seeding& seeding, double* values,
                     const std::vector<std::vector<BlockRef>>& blocks) const;
  // Whether parameters of bodies (a mass, say) are functions of time.
  bool bodies_follow_time() const;
  // B of every joint and frame, see Batch::constraint_matrices.
  void constraint_matrices(const State& at, Work& work, std::vector<double>& out) const;
  // The same with respect to the frames' own nodes, which in minimal coordinates are the bodies. Sizes `out`.
  void body_constraint_matrices(const State& at, Work& work, std::vector<double>& out) const;

  Energy energy(const State& at, Work& work) const;
  // State::angles of a step that was accepted.
  void follow_angles(State& state, Work& work) const;
  // What sensors remember, from `memory`, that of a state nearby, which then is that of this one: of states between steps.
  void continue_sensors(std::vector<double>& memory, State& state, Work& work) const;
  // All sensors at the state, Model::sensor_values numbers. `variables` is scratch of
  // Model::sensor_variables numbers.
  void sense(const State& at, Work& work, std::vector<double>& variables, double* out) const;

  // "bodies.top: force x" or "joints.pivot: position x": name of an unknown of the linear system and of its equation.
  std::string unknown_name(int unknown) const;
  // The entries of the model that add what is not a number, or infinite, to the equations at the state: "forces.motor", and their lines.
  struct EntryPlace {
    std::string path;
    int line = 0;
  };
  std::vector<EntryPlace> not_finite(const State& at, Work& work) const;

 private:
  friend struct Work;
  void follow_params(Work& work) const;
  Evaluation prepare(const State& at, Work& work, const RowRequest& rows) const;
  void follow_sensors(const Evaluation& e, std::vector<double>& angles) const;
  static void note_force_scale(Work& work);
  void add_forces(const Evaluation& e, Work& work, const Seeding& seeding, double* values,
                  const std::vector<std::vector<BlockRef>>& blocks) const;
  void evaluate_residuals(const Evaluation& e, Work& work) const;
  void finish_residual(Work& work) const;
  void tree_jacobian(const Evaluation& e, Work& work, const MatrixRequest& request) const;

  std::shared_ptr<const Model> model_;
  Params params_;
  Constants constants_;
  int revision_ = 0;              // how often set_params has been called
  std::size_t body_batches_ = 0;  // the first batches are those of the bodies
  // Large batches are evaluated in parts that share no node, then the elements between the parts.
  struct BatchParts {
    std::vector<std::pair<int, int>> ranges;
    std::vector<int>
        part;  // first range of each part, and the number of ranges at the end; empty: not divided
    std::vector<int> between;
  };
  std::vector<BatchParts> parts_;  // per batch
  BatchParts divide(const Batch& batch) const;
  template <class Evaluate>
  void for_each_part(std::size_t batch, const Evaluation& e, const Work& work,
                     const Evaluate& evaluate) const;

  std::vector<TimedElement> timed_;
};

}  // namespace liedyn
