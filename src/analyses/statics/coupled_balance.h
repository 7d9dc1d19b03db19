// Equilibria of bodies and first-order states together, with dense matrices: controllers, bristles and clutches have no
// potential to go down.
#pragma once

#include "liedyn/analyses/statics/search.h"

namespace liedyn {

// Newton's method. A step is good if the next one with the same matrix would be shorter (Deuflhard). Motions and states that
// nothing determines stay where they are.
bool balance_with_states(StaticSearch& search, State& state);

// Where that fails: pseudo-time steps (J + mu diag(M, 1)) d = -r, the longer the less is left, as bodies move in honey and as
// the states themselves go.
bool settle_with_states(StaticSearch& search, State& state);

}  // namespace liedyn
