// The state of a simulation, as a plain value: rejecting a step, a checkpoint and the adjoint are copies of one thing.
#pragma once

#include <vector>

#include "liedyn/base/varied.h"
#include "liedyn/model/element.h"  // first: its enumerators have names like those here

namespace liedyn {

template <class S>
struct StateOf {
  double t = 0;
  std::vector<S> q;       // coordinates of the nodes
  std::vector<S> v;       // velocities; those of the nodes of states are the states
  std::vector<S> vdot;    // accelerations that satisfy equilibrium
  std::vector<S> lambda;  // multipliers
  std::vector<S> eta;     // multipliers of the stabilised index-2 form
  // Angles of joints that may wind up, as they were at the end of the last step: an angle is known up to full turns, and the turn
  // nearest to these holds (Model::angles numbers).
  std::vector<double> angles;
  // Where nodes advance in parameter space (model/nodes/parameter_stage.h): parameters and their rates, one number per velocity
  // and one more per set of Euler parameters. Empty otherwise.
  std::vector<S> y, ydot, yddot;
  // Constraint rows that follow from the others (system/redundancy.h), ascending: they are not imposed, and their multipliers stay where
  // they are while a step is solved.
  std::vector<int> redundant;
  std::vector<S> memory;  // the integrator's own: its a, past points, auxiliary derivatives
};
using State = StateOf<double>;
using VariedState = StateOf<Varied>;

// All numbers of a state, vector by vector.
template <class AnyState, class Visit>
void for_each_vector(AnyState& state, const Visit& visit) {
  for (auto* part : {&state.q, &state.v, &state.vdot, &state.lambda, &state.eta, &state.y, &state.ydot,
                     &state.yddot, &state.memory})
    visit(*part);
}

// The values of a state without what the integrator remembers, or a state of constants.
inline void set_values(const VariedState& from, State& to) {
  to.t = from.t;
  to.angles = from.angles;
  to.redundant = from.redundant;
  set_values(from.q, to.q);
  set_values(from.v, to.v);
  set_values(from.vdot, to.vdot);
  set_values(from.lambda, to.lambda);
  set_values(from.eta, to.eta);
  set_values(from.y, to.y);
  set_values(from.ydot, to.ydot);
  set_values(from.yddot, to.yddot);
}
inline void set_constants(const State& from, VariedState& to) {
  to.t = from.t;
  to.angles = from.angles;
  to.redundant = from.redundant;
  set_constants(from.q, to.q);
  set_constants(from.v, to.v);
  set_constants(from.vdot, to.vdot);
  set_constants(from.lambda, to.lambda);
  set_constants(from.eta, to.eta);
  set_constants(from.y, to.y);
  set_constants(from.ydot, to.ydot);
  set_constants(from.yddot, to.yddot);
  set_constants(from.memory, to.memory);
}

}  // namespace liedyn
