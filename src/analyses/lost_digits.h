// Positions are stored from the origin of the coordinates: far away from it their last digits are too coarse for what joints, contacts and springs make of differences.
#pragma once

#include <string>

#include "liedyn/system/system.h"

namespace liedyn {

// "positions have lost digits: the model is 1e+06 m from the origin, ...", with their rounding and what to do. Empty: nothing that is held or touched is so far away.
std::string lost_digits(const System& system, const State& at, Work& work);

}  // namespace liedyn
