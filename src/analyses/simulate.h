// Simulation in time: consistent initial values, the integrator's steps, sensors recorded, and the figures of the summary.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "liedyn/analyses/result.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/system.h"

namespace liedyn {

// Linear solvers: chosen by size and structure (auto), or one of those of system/linear.h.
inline constexpr std::string_view kSolvers[] = {"auto", "dense", "block", kFullPivoting};

struct SimulateOptions {
  double start = 0;
  double end = 1;
  double step = 1e-3;
  std::string integrator = "generalized-alpha";
  std::string initial = "check";                   // or "project"
  std::shared_ptr<const Configuration> from = {};  // where to start; null: as the model says
  std::shared_ptr<const std::string> resume =
      {};                                        // a checkpoint (Simulation::save) to go on from; null: none
  std::shared_ptr<std::string> checkpoint = {};  // receives that of the end, if not null
  // Record every n-th step; 0: only the start and the end. Adaptive integrators choose their steps freely: then at every n-th multiple of
  // `step`, interpolated.
  long output_every = 1;
  std::string solver = "auto";  // one of kSolvers
  // Of large models; 0: as many as the machine has, where that pays. Results do not depend on it.
  int threads = 1;
  // Also record the largest |Phi| and |B v + Phi_t|, unscaled, as the channels constraint_residual.position and
  // constraint_residual.velocity.
  bool record_residuals = false;
  // Called with every state that is recorded, and with the one that a run goes on from; the system may be another one than simulate() was given, if it chooses the formulation. May be empty.
  std::function<void(const System&, const State&)> recorded = {};
  // Called now and then with the fraction done; returning false stops the run. May be empty.
  std::function<bool(double fraction)> progress = {};
};

// The settings in the model's description.
SimulateOptions default_options(const Description& description);
inline SimulateOptions default_options(const System& system) {
  return default_options(system.model().description());
}

// "check" or "project". Throws InputError.
InitialPolicy initial_policy(const std::string& name);

// Throws InputError if the times, the step, the solver or what is to be recorded cannot be.
void check_times(const SimulateOptions& options);

// Throws InputError if the input is wrong. A numerical failure is in the result: summary.completed is false, and the
// trajectory is complete up to there.
Result simulate(const System& system, const SimulateOptions& options);
// As the model says.
inline Result simulate(const System& system) { return simulate(system, default_options(system)); }

}  // namespace liedyn
