// Ways with sparse matrices, for models of any size: Newton's method for positions and multipliers together.
#pragma once

#include "liedyn/analyses/statics/search.h"

namespace liedyn {

// For stable equilibria of models that resist, without states. A step is good if the next one would be shorter, or if it goes
// downhill: forces are no measure where slender beams have been stretched. Unstable equilibria are not accepted.
bool go_straight(StaticSearch& search, State& state);

// With mu M added to K: as large steps as go downhill. Without states. It may end at an equilibrium that is not stable.
bool descend_slowly(StaticSearch& search, State& state);

// With a line search for the largest residual.
bool reduce_residuals(StaticSearch& search, State& state);

// These two accept what forces the rounding of positions might leave, which may hide small loads on slender beams: from there to where Newton's method
// ends, stable or not, if that is near and nearer to balance.
void refine(StaticSearch& search, State& state);

}  // namespace liedyn
