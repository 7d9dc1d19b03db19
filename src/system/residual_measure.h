// How large the residuals of an iterate are: relative to the size of the terms of each equation (system/subsystems.h), but not below the round-off
// of the equation divided by the tolerance (docs/theory/04_corrector.md, "Stopping criterion").
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "liedyn/system/stage_equations.h"
#include "liedyn/system/subsystems.h"

namespace liedyn {

class ResidualMeasure {
 public:
  ResidualMeasure(const System& system, const CorrectorOptions& options);

  // Forgets scales and round-off; with a state, makes both and all room, so that steps allocate nothing.
  void reset();
  void reset(const State& start, Work& work);
  // The round-off belongs to other parameters.
  void forget_rounding();
  void archive(Archive& archive);

  // Before a solve. `similar`: the motion goes on smoothly, so that the scales of some solves before suffice.
  void begin(const StageProblem& p, bool similar);
  // Renews the scales at the iterate just evaluated, if this iteration is due to.
  void update(const StageEquations& equations, const StageProblem& p, int iteration);
  // Measures round-off at the iterate, which `work` holds the residuals of. The second time in a solve its margin grows.
  void probe_again(const StageEquations& equations, const StageProblem& p);

  // The largest residual of any equation, relative to its scale.
  struct Largest {
    double relative = 0;
    bool finite = true;
  };
  Largest largest(const Stage& stage, const State& to, const Work& work) const;
  // sqrt(r^2 + Phi^2 + (B v + Phi_t)^2), without scales.
  double norm(const Work& work) const;
  // The unknown whose equation is worst, and its residual.
  int worst_unknown(const Stage& stage, const State& to, const Work& work, double* residual) const;
  // Whether the increments in work.right are below the round-off of theta, or far below the tolerance.
  bool increments_are_negligible(const StageEquations& equations, const StageProblem& p) const;

 private:
  void set_weights(const Stage& stage);
  void probe(const StageEquations& equations, const Stage& stage, const State& to, Work& work);
  void probe_all(const StageEquations& equations, const Stage& stage, const State& to, Work& work);
  void probe_accelerations(const StageEquations& equations, const Stage& stage, const State& to, Work& work);
  void begin_probe(const State& to);
  double random_change(double size);
  double own_state_scale(const Stage& stage, const State& to, int i) const;
  double state_scale(const Stage& stage, const State& to, int i) const;
  bool node_is_settled(const StageEquations& equations, std::size_t n, double tolerance,
                       const Work& work) const;

  const System* system_;
  double tolerance_;
  bool holds_positions_, holds_velocities_;
  std::vector<int> bristle_vectors_;  // of the states, see model/forces/bristles.h
  // Scales of the equations, and 1 / scale of forces, Phi and B v + Phi_t, for the stage `weights_stage_`.
  std::unique_ptr<NaturalScales> scales_;
  int scales_age_ = 0;   // in solves
  bool renews_ = false;  // in this solve
  Stage weights_stage_;
  std::vector<double> weight_, row_weight_, rate_weight_;
  // Round-off: of forces by positions, velocities and multipliers; of forces by accelerations, per dvdot/dq; of Phi; of B v + Phi_t. Empty: not yet measured.
  std::vector<double> rounding_, inertial_rounding_, row_rounding_, rate_rounding_;
  double margin_ = 1;    // of the round-off
  bool probed_ = false;  // in this solve, because the iteration stagnated
  // Scratch of probe(): a state with changed digits, the residuals without, and the random sequence.
  State probe_;
  std::vector<double> kept_r_, kept_phi_, kept_rate_;
  std::uint32_t random_bits_ = 0;
};

}  // namespace liedyn
