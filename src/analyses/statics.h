// Static equilibrium: q and lambda with g(q, 0, lambda, t) + B^T lambda = 0 and Phi(q, t) = 0.
//
// Newton's method along the motions N that the constraints allow, turned round where the stiffness is negative, d = -N |N^T K N|^-1 N^T r: always
// downhill, and quadratic close to a stable equilibrium. Where that fails, and for models too large for dense matrices, sparse methods for all
// unknowns; where they lead to an unstable equilibrium it is left along the unstable motion. With first-order states x the equations f(x, q, 0, t) = 0
// of their rates are solved with the others. Weight and applied forces are raised in load steps; one that fails is halved.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

struct StaticOptions {
  double time = 0;                // of loads and joints that depend on it
  int load_steps = 1;             // equal steps of the load factor to begin with
  double tolerance = 1e-10;       // of the forces left over, relative to the forces there are
  std::string initial = "check";  // positions to start from: check or project
  std::shared_ptr<const Configuration> from = {};
  // Called with the start as it is let go without loads (factor 0) and with the equilibrium of every load step, each with the system under this share of the loads.
  // May be empty.
  std::function<void(const System& loaded, double factor, const State&)> reached = {};
};

struct LoadStep {
  double factor = 0;  // of the weight and the applied forces
  int iterations = 0;
  std::vector<double> sensors;  // Model::sensor_values
};

struct StaticResult {
  std::string model, formulation;
  bool converged = false;
  std::string failure;        // with the worst equation and what nothing holds; empty if converged
  State state;                // v = vdot = 0; the last that converged, if not
  std::vector<double> start;  // Model::sensor_values at factor 0; only if StaticOptions::reached is given
  std::vector<LoadStep> steps;
  double residual_force = 0;     // largest |r|
  double residual_position = 0;  // largest |Phi|
  double potential = 0;          // energy
  // Of the equilibrium: number of directions in which the smallest push makes it leave (negative stiffness; with states, growing motions); in large
  // models 1 if one was found. -1: only the slowest motions of a large model with states were looked at.
  int unstable_directions = -1;
  std::vector<std::string>
      indifferent;  // motions that nothing resists and nothing drives, left where they were
  std::vector<std::string> warnings;
};

// Throws InputError if the options or the model are wrong. That there is no equilibrium is in the result.
StaticResult find_equilibrium(const System& system, const StaticOptions& options = {});

}  // namespace liedyn
