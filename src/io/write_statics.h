// An equilibrium as the object that `static --json` prints.
#pragma once

#include <string>

#include "liedyn/analyses/statics.h"

namespace liedyn {

std::string static_json(const StaticResult& result, const System& system);

}  // namespace liedyn
