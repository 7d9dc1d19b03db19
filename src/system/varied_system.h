// The equations of a model with derivatives with respect to parameters: what System gives, for states whose numbers carry derivatives.
//
// Unknowns of a solve (Newton's method, consistent values, accelerations) get theirs from the implicit function theorem. With the residual
// R(x, y, p) = 0 at the solution x, R is evaluated once more with dx = 0, which leaves R_y dy + R_p dp in its derivatives, and
//
//   R_x dx = -(R_y dy + R_p dp)
//
// takes one solve per parameter with the factors of the exact matrix, or, backwards, one with its transpose.
#pragma once

#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include "liedyn/system/corrector.h"
#include "liedyn/system/system.h"
#include "liedyn/system/transposed_solver.h"

namespace liedyn {

class VariedSystem;

struct VariedWork : EvaluationWork<Varied> {
  explicit VariedWork(const VariedSystem& system, std::string_view solver_choice = "auto",
                      IndexForm form = IndexForm::Index3);

  Work plain;  // matrices and their factors, and what the values need
  ConstantsOf<Varied> constants;
  State values;                         // scratch
  std::shared_ptr<ThreadPool> threads;  // none: a tape belongs to one thread
  // The matrix that plain.solver holds, for VariedSystem::solve(): factorised, or, backwards, kept to be transposed. False: it is singular.
  bool take_matrix();
  // Solutions of the step that is done again, and where the next one stands; null: they are looked for.
  const SolutionLog* log = nullptr;
  std::size_t place_in_log = 0;
  std::shared_ptr<TransposedSolver> transposed;  // backwards only
  TransposedSolver::Matrix matrix;
};

class VariedSystem {
 public:
  // `parameters`: indices of Params. They become independent numbers of the tape in use, in this order, each with its direction. Throws InputError for a number
  // that is itself a function of time.
  VariedSystem(const System& system, const std::vector<int>& parameters);

  // The same parameters of another system of the same description.
  VariedSystem on(const System& other) const { return {other, parameters_, seeds_}; }

  const System& plain() const { return *system_; }
  const Model& model() const { return system_->model(); }
  // The parameters as numbers of the tape.
  const std::vector<Varied>& seeds() const { return seeds_; }
  const std::vector<Varied>& params() const { return params_; }

  VariedState empty_state() const;
  void residual(const VariedState& at, VariedWork& work, const RowRequest& rows) const;
  // The derivatives of the same, not its values, at a state with constant q and lambda whose motions stand in work.plain: elements that depend on nothing else and
  // have no parameters are left out.
  void residual_of_moving(const VariedState& at, VariedWork& work, const RowRequest& rows) const;
  // B(q)^T y of the joints, one number per velocity.
  void constraint_forces(const VariedState& at, const std::vector<Varied>& y, VariedWork& work,
                         std::vector<Varied>& out) const;
  void sense(const VariedState& at, VariedWork& work, std::vector<Varied>& variables, Varied* out) const;

  // Numbers of value `values`, with derivatives x' that solve (matrix) x' = -right', where the matrix is the one taken last (VariedWork::take_matrix). With
  // scales, (matrix) (x'/columns) = -(rows right').
  struct Scales {
    std::vector<double> rows, columns;
  };
  std::vector<Varied> solve(VariedWork& work, const std::vector<Varied>& right,
                            const std::vector<double>& values,
                            const std::shared_ptr<const Scales>& scales = nullptr) const;

 private:
  friend struct VariedWork;
  // `with_twists` (may be null): nodes whose twists matter; the poses of others are those of work.plain.
  VariedEvaluation prepare(const VariedState& at, VariedWork& work, const RowRequest& rows,
                           const std::vector<bool>* with_twists = nullptr) const;
  void evaluate_residuals(const VariedEvaluation& e, VariedWork& work) const;
  bool varies(const Batch& batch, int e) const;
  void find_moving();

  VariedSystem(const System& system, const std::vector<int>& parameters, const std::vector<Varied>& seeds);

  const System* system_;
  std::vector<int> parameters_;
  std::vector<Varied> seeds_;
  std::vector<Varied> params_;
  ConstantsOf<Varied> constants_;
  std::vector<TimedElement> timed_;
  // What residual_of_moving() evaluates, and which nodes' twists it needs.
  struct MovingElements {
    int batch, begin, end;
  };
  std::vector<MovingElements> moving_;
  std::vector<bool> with_twists_;
};

// The same for double and Varied, where a method is written once for both.
template <class S>
using SystemOf = std::conditional_t<is_varied<S>, VariedSystem, System>;
template <class S>
using WorkOf = std::conditional_t<is_varied<S>, VariedWork, Work>;

}  // namespace liedyn
