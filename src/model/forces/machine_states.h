// First-order states that belong to a force: the current of a motor, the pressures of a cylinder, the bristles of a contact. They stand among the states of the model as
// "NAME.current": expressions and sensors may name them. A dot cannot stand in a name that was typed, so that none is hidden. Their initial
// values are numbers of the force. Among the states they have the rate 0 (DescriptionBuilder::finish); the batch of the force adds theirs
// (model/forces/machine.h).
#pragma once

#include "liedyn/model/description.h"

namespace liedyn {

// Those that a force has, as it was typed.
inline std::vector<ForceState> states_of_force(const Description& description, const Entry& force) {
  return force.kind->states != nullptr ? force.kind->states(description, force) : std::vector<ForceState>();
}

}  // namespace liedyn
