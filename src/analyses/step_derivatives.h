// One step as a discrete system, x_{n+1} = F(x_n, u): exact derivatives of the step as the method takes it, for predictive control, observers and shooting.
//
//   dx_{n+1} = A dx_n + B du,    dx = (dq, dv),   q = q_n exp(dq)
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "liedyn/analyses/simulation.h"

namespace liedyn {

struct StepDerivatives {
  double t = 0, step = 0;
  // The parts of x and their sizes: "position", "velocity", and of the whole state what the method takes from the step before.
  std::vector<std::pair<std::string, int>> parts;
  std::vector<std::string> inputs;
  Eigen::MatrixXd A, B;
};

// Of the next step of the simulation, which is not advanced. `inputs` are paths of parameters.
//
// x is position and velocity, and the step is that of a method which begins at x: for methods that remember nothing (Runge-Kutta) the step of the simulation itself.
// `whole`: x has all that the method remembers besides (accelerations, multipliers, past points), and the step is that of the simulation for every method.
//
// Throws InputError for models with events, for inputs that are none, and for the whole state before the first step, NumericalError if the step fails.
StepDerivatives step_derivatives(const Simulation& simulation, const std::vector<std::string>& inputs,
                                 bool whole = false);

}  // namespace liedyn
