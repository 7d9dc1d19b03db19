// Constraints that follow from others, and configurations in which constraints become dependent (docs/theory/10_redundant_constraints.md).
//
// Of rows that are dependent everywhere a maximal independent set is imposed; the others, State::redundant, hold by consequence. The motion is
// then the same as with all of them, and unique. Multipliers are not: of all lambda with the same B^T lambda the shortest is taken, torques divided by the
// model's length.
#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <Eigen/SparseCore>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

// What makes forces and torques, velocities and angular velocities comparable.
struct ConstraintScales {
  double length = 1;  // of the largest subsystem (system/subsystems.h)
  std::vector<double>
      row;  // the length of its subsystem where the multiplier is a torque, 1 where it is a force
  std::vector<double>
      column;  // the length of its subsystem where the velocity is an angular one, 1 otherwise
  std::vector<double> row_length, column_length;  // the lengths of these subsystems
  void archive(Archive& a) { a(length, row, column, row_length, column_length); }
};
ConstraintScales constraint_scales(const System& system, const State& at, Work& work);

// B^T with dimensionless entries: rows of angles times the length, columns of rotations by it.
Eigen::SparseMatrix<double> scaled_constraints(const System& system, const State& at,
                                               const ConstraintScales& scales, Work& work);

// Rows that are linear combinations of the others at the state, such that the others are far from dependent; ascending. At position level,
// rows of velocities depend on nothing and are among them. `at_rest`: velocities that do not count; may be null. Rank is decided on the scaled rows: a row whose part across the others is below `tolerance` depends on them.
// Rows of released joints, ascending, are among them as well.
std::vector<int> dependent_rows(const System& system, const State& at, double tolerance, RowLevel level,
                                const std::vector<bool>* at_rest, Work& work,
                                const std::vector<int>& released = {});

// The acceleration matrix | M B^T; B 0 | of the rows that the state imposes into work.solver, factorised. False: singular.
bool factorize_accelerations(const System& system, const State& at, Work& work);

// State::redundant without the rows of released joints (system/released_joints.h), which follow from nothing.
std::vector<int> following_rows(const State& state, const std::vector<int>& released);

// Of all multipliers with the same forces the shortest ones.
void shorten_multipliers(const System& system, State& state, const std::vector<int>& released, Work& work);

// How redundant rows depend on the others, from the factorised acceleration matrix: one column n per row of `rows`, those of State::redundant that are not released, with
// B^T n = 0, where n is 1 at that row and 0 at the other redundant ones.
class Dependences {
 public:
  explicit Dependences(const System& system);
  void evaluate(const State& at, const std::vector<int>& rows, Work& work);
  auto vectors() const { return solutions_.bottomRows(system_->model().rows); }
  // lambda without its part along the columns, in the norm of the scaled rows: the shortest with the same B^T lambda. In minimal coordinates the reactions of
  // the joints of the tree, which follow from lambda, count as well.
  void shorten(const ConstraintScales& scales, State& state, Work& work);

 private:
  const System* system_;
  std::vector<double> blocks_;
  Eigen::MatrixXd solutions_;  // (u, x) of each redundant row
  Eigen::MatrixXd weighted_, normal_;
  Eigen::LDLT<Eigen::MatrixXd> factors_;
  Eigen::VectorXd scaled_, part_;
  Eigen::VectorXd reactions_, others_;  // of the joints of the tree
};

// "joints.a: position x, joints.b: position x"
std::string row_names(const Model& model, const std::vector<int>& rows);

// Follows the constraints along a run: keeps the imposed rows independent, the multipliers short, and notices singular configurations.
class ConstraintWatch {
 public:
  // `released`: rows of State::redundant that follow from nothing.
  ConstraintWatch(const System& system, const State& start, Work& work, std::vector<int> released = {});
  ~ConstraintWatch();

  // After an accepted step of length h. May choose other redundant rows and other multipliers. `work` holds the last factorised matrix of the step, null: there is
  // none. False: a constraint that was left out as redundant is violated; failure() says which.
  bool after_step(State& state, double h, Work* work);
  // Of a state between steps: the shortest multipliers.
  void shorten(State& state);
  const std::string& failure() const { return failure_; }
  const std::vector<std::string>& warnings() const { return warnings_; }
  // What it has seen of the run.
  void archive(Archive& archive);
  // For the message of a step that failed: what is singular near the state, or nothing.
  std::string singularity_near(const State& state, double h);

 private:
  // The direction in which the imposed rows are closest to dependent.
  struct Weakest {
    bool found = false;
    double time_to = 0;  // to the configuration in which they are, seen from the state along its velocities
    std::vector<int> rows;  // that take part
  };
  void prepare();
  void find_following(const State& state);
  bool settle(State& state);
  double follow_weakest(const State& state, Work& work);
  Weakest weakest(const State& state, double h);
  void constraint_force(const State& state, const Eigen::VectorXd& lambda, Eigen::VectorXd& out);

  const System* system_;
  std::vector<int> released_;
  std::vector<int> follow_;     // the other rows of State::redundant
  std::unique_ptr<Work> work_;  // made when first needed
  std::unique_ptr<Dependences> dependences_;
  ConstraintScales scales_;
  bool watches_ = false;           // there are loops: constraints may become dependent along the motion
  Eigen::VectorXd weakest_;        // estimate of the weakest direction, in scaled multipliers
  double usual_ = 0;               // largest sigma^2 of it so far
  double look_again_ = -INFINITY;  // time before which nothing is expected
  double warned_at_ = -INFINITY;   // time of the last singular configuration
  std::vector<double> blocks_;
  std::string failure_;
  std::vector<std::string> warnings_;
};

}  // namespace liedyn
