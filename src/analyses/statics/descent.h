// The way downhill with dense matrices, for models without states. What it finds is stable, unless the start is in balance
// already.
#pragma once

#include "liedyn/analyses/statics/search.h"

namespace liedyn {

// Beyond so many velocities the way down is not that of dense matrices, and may end at a saddle.
inline constexpr int kLargestDescent = 300;

bool descend(StaticSearch& search, State& state);

}  // namespace liedyn
