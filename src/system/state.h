// The state of a simulation, as a plain value: rejecting a step, a checkpoint and the adjoint are copies of one thing.
#pragma once

#include <vector>

namespace liedyn {

struct State {
  double t = 0;
  std::vector<double> q;       // coordinates of the nodes
  std::vector<double> v;       // velocities; those of the nodes of states are the states
  std::vector<double> vdot;    // accelerations that satisfy equilibrium
  std::vector<double> lambda;  // multipliers
  std::vector<double> eta;     // multipliers of the stabilised index-2 form
  // Angles of joints that may wind up, as they were at the end of the last step: an angle is known up to full turns, and the turn
  // nearest to these holds (Model::angles numbers).
  std::vector<double> angles;
  // Where nodes advance in parameter space (model/nodes/parameter_stage.h): parameters and their rates, one number per velocity
  // and one more per set of Euler parameters. Empty otherwise.
  std::vector<double> y, ydot, yddot;
  // Constraint rows that follow from the others (system/redundancy.h), ascending: they are not imposed, and their multipliers stay where
  // they are while a step is solved.
  std::vector<int> redundant;
  std::vector<double> memory;  // the integrator's own: its a, past points, auxiliary derivatives
};

}  // namespace liedyn
