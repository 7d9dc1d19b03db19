// Initial values in minimal coordinates. What users type about bodies, what they leave to be found and what they get wrong is the same
// in all formulations, so it is settled in absolute coordinates; the coordinates of the joints follow from the bodies' motion.
#pragma once

#include "liedyn/system/system.h"

namespace liedyn {

// The same model in absolute coordinates; itself if it is.
System in_absolute_coordinates(const System& system);

// Throws InputError in minimal coordinates, for what knows absolute ones only.
void require_absolute_coordinates(const System& system, const std::string& what);
// Throws InputError if there are first-order states, for what knows mechanics only.
void require_mechanics_only(const System& system, const std::string& what);

// The state of a system in minimal coordinates whose bodies stand and move as in a state of the same model in absolute coordinates: q, v
// and t. vdot and the multipliers are left at zero.
State state_on_tree(const System& system, const System& absolute, const State& of_bodies, Work& work);

}  // namespace liedyn
