// Sensors for all that moves, for models that have none of their own.
#pragma once

#include "liedyn/model/description.h"

namespace liedyn {

// Adds sensors called "NAME.position", "NAME.reaction_force" and so on: positions, velocities, orientations and angular velocities of the
// bodies (not of the nodes of beams and the parts of flexible bodies), coordinates and reactions of the joints, states, powers and efforts of
// the forces, of those without an effort their forces and torques, powers of drives. A dot cannot stand in a name that was typed, so that none is hidden.
void record_all(Description& description);

}  // namespace liedyn
