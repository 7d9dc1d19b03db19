// What a model is before it moves: unknowns, degrees of freedom, constraints that repeat others, initial residuals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "liedyn/base/error.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/system.h"

namespace liedyn {

struct Inspection {
  int coordinates = 0;
  int velocities = 0;
  int constraints = 0;
  int degrees_of_freedom = 0;          // velocities of bodies less independent constraints
  int states = 0;                      // of first order
  bool is_locked = false;              // there are bodies, but none can move and nothing drives them
  std::vector<std::string> redundant;  // constraints that follow from others, by name
  // Largest |Phi| and |B v + Phi_t| of the initial values: as a simulation would begin, or as typed if it would not.
  double residual_position = 0;
  double residual_velocity = 0;
  std::vector<std::string> warnings;
  std::vector<Diagnostic> findings;  // why a simulation would not begin; empty if it would
};

Inspection inspect(const System& system, double start, InitialPolicy policy);

// Velocities of bodies less the constraints that are independent; first-order states are not counted.
int degrees_of_freedom(const Model& model, const State& state);

// That constraints of State::redundant are not imposed, and what that means for the `result` ("motion") and for reactions.
std::string redundancy_warning(const System& system, const State& state, std::string_view result);

// Warnings about models that can be simulated but are probably wrong: a model that cannot move, gravity that no body feels, flexible bodies with doubtful data.
std::vector<std::string> model_warnings(const System& system, const State& state);

}  // namespace liedyn
