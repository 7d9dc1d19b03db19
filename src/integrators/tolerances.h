// How large the errors of a step may be: what methods that choose their steps compare their estimates with.
//
// Places count relative to the length L of the mechanism that a body belongs to, angles in radians. Whatever has the unit of a speed counts relative to
//
//   V = sqrt(L a),     W = sqrt(alpha)
//
// with the acceleration a and the angular acceleration alpha of the body itself: the speed that they give over the length, or one radian. So the
// tolerances depend neither on the units, nor on where the origin is or how fast it moves, nor on the length of the run.
#pragma once

#include "liedyn/integrators/integrator.h"

namespace liedyn {

// adaptive, rtol, atol, max_step: for methods that estimate their error.
std::vector<IntegratorOption> step_control_options();

class Tolerances {
 public:
  Tolerances() = default;
  explicit Tolerances(const IntegratorOptions& options);

  bool adaptive() const { return adaptive_; }
  // `order`: of the step, in the estimate.
  StepControl control(int order, int remembered_steps = StepControl::kUsualMemory) const {
    return {adaptive_, order, max_step_, remembered_steps};
  }
  // The lengths of the mechanisms, at the start of a run.
  void measure(const System& system, const State& state, Work& work);
  void measure(const VariedSystem&, const VariedState&, const VariedWork&) {}  // it takes given steps

  void archive(Archive& a) { a(lengths_); }

  // The largest error of a step relative to its tolerance. Errors per unit of time of places and angles, laid out as velocities: in the time L/V in which
  // the acceleration moves a body by the length they may add up to a tenth of atol + rtol L.
  double worst_rate(const System& system, const std::vector<double>& rates, const State& from,
                    const State& to) const;
  // Errors of places and angles, and of velocities, in one step.
  double worst_step(const System& system, const std::vector<double>& increments,
                    const std::vector<double>& velocities, const State& from, const State& to) const;

 private:
  struct OfNode {
    double place = 0, angle = 0, speed = 0, spin = 0;
  };
  OfNode of_node(std::size_t n, const Node& node, const State& from, const State& to) const;

  bool adaptive_ = false;
  double relative_ = 0, absolute_ = 0, max_step_ = 0;
  std::vector<double> lengths_;  // per node
};

}  // namespace liedyn
