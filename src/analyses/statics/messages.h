// What the search for an equilibrium says where it found none.
#pragma once

#include <string>

#include "liedyn/analyses/statics/search.h"

namespace liedyn {

// `system`: under this share of the loads; `start`: where the search began; `work`: that of the search.
std::string no_equilibrium(const System& system, double factor, const State& start,
                           const SearchReport& report, Work& work);

}  // namespace liedyn
