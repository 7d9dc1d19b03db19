// What the search for an equilibrium says where it found none.
#pragma once

#include <string>
#include <vector>

#include "liedyn/analyses/linearization.h"

namespace liedyn {

// The bodies that went away between two states, and where to: "body 'ball' along (0.94, 0, -0.342) and about (0, 1, 0)". `motion`: the last step of them, displacements and
// rotations; may be empty.
std::string ways_of_bodies(const System& system, const State& from, const State& to,
                           const Eigen::VectorXd& motion, Work& work);

// States whose rates stay what they are, whatever moves: equations of them that no unknown reaches.
std::vector<std::string> stubborn_states(const System& system, const State& state, Work& work);

// States that no equation contains, their own included.
std::vector<std::string> states_without_effect(const System& system, const State& state, Work& work);

}  // namespace liedyn
