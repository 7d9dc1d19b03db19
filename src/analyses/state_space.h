// The linearised equations as a state space in minimal coordinates,
//
//   x' = A x + B u,    y = C x + D u,    x = (coordinates, their rates, first-order states)
//
// The coordinates are as many displacements and rotations of bodies as there are degrees of freedom, chosen so that all others follow from
// them; inputs are numbers of the model, outputs its sensors.
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "liedyn/analyses/linearization.h"

namespace liedyn {

struct StateSpaceOptions {
  // Paths of numbers, or of a force ("forces.motor": all components of its load); empty: all loads of all applied forces and torques.
  std::vector<std::string> inputs = {};
  std::vector<std::string> outputs = {};  // sensors; empty: all
};

struct StateSpace {
  std::string model, formulation;
  double time = 0;
  SteadyAxes axes;
  Eigen::MatrixXd A, B, C, D;
  std::vector<std::string> states, inputs,
      outputs;  // "crank: rotation x", "crank: rotation x rate", "current"; paths; "slider[0]"
  std::vector<double> input_values, output_values;  // at the state; u and y are deviations from them
  std::vector<std::string> warnings;

  // C (s - A)^-1 B + D
  Eigen::MatrixXcd transfer(std::complex<double> s) const;
};

// About a state that meets the equations of motion. Throws InputError for names that do not exist, inputs that a constraint depends on, and
// models too large for dense matrices.
StateSpace state_space(const System& system, const State& state, const StateSpaceOptions& options = {});

}  // namespace liedyn
