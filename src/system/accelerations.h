// Accelerations and multipliers that belong to positions and velocities, Eq. (19) of Arnold, Cardona, Brüls:
//
//   | M  B^T | | vdot   |     | g                                |
//   | B   0  | | lambda | = - | Z(v, v) + 2 Phi_tq v + Phi_tt    |
//
// at many states one after the other, as explicit methods need them. Where there are no constraints and M consists of a block for each node, it
// is inverted node by node, and once for all where it does not depend on the configuration; otherwise the matrix is assembled and factorised
// each time.
#pragma once

#include "liedyn/system/corrector.h"
#include "liedyn/system/system.h"

namespace liedyn {

class Accelerations {
 public:
  explicit Accelerations(const System& system);

  // Finds out what M is like, at the state and near it. Before the first solve, and after a change of parameters.
  void prepare(const State& state, Work& work);

  // vdot and lambda of the state; as it enters they are guesses, those of redundant rows stay. Counts into `outcome`, which says why where it returns
  // false.
  bool solve(State& state, Work& work, CorrectorOutcome& outcome);

  // The increment d of least d^T M d with B d = -residual, into work.right, where the residual is Work::phi or Work::rate. M and B are those of
  // the last solve. Systems with constraints only.
  void constraint_increment(const std::vector<double>& residual, Work& work) const;

  enum class Mass : std::uint8_t { Constant, NodeByNode, Coupled };
  Mass mass() const { return mass_; }
  void archive(Archive& a) { a(mass_, values_, inverse_); }

 private:
  void evaluate_blocks(const State& state, Work& work);
  bool has_coupling() const;
  bool invert_blocks(CorrectorOutcome& outcome);

  const System* system_;
  Mass mass_ = Mass::Coupled;
  std::vector<std::vector<BlockRef>> blocks_;  // per batch, in values_
  std::vector<double> values_;                 // M of each node, 6 x 6 padded, then what couples nodes
  std::vector<double> inverse_;                // of each node
};

}  // namespace liedyn
