// From a rough configuration a consistent one: positions, velocities and accelerations that meet the constraints, with bodies that stay and
// bodies that may move.
#pragma once

#include <string>
#include <vector>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

struct AssembleOptions {
  double time = 0;
  // Bodies that keep what they have, or else the only ones that may move; both empty: all move, as little as their masses say.
  std::vector<std::string> held, free;
  std::shared_ptr<const Configuration> from = {};  // where to start; null: as the model says
};

struct Assembly {
  State state;
  double initial_residual_position = 0,
         initial_residual_velocity = 0;                 // largest |Phi| and |B v + Phi_t|, before
  double residual_position = 0, residual_velocity = 0;  // and after
};

// Throws InputError if a body does not exist, or if no such configuration is found (with the worst constraint).
Assembly assemble(const System& system, const AssembleOptions& options);

}  // namespace liedyn
