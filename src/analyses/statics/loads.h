// Loads of a static analysis, which load steps scale together: gravity, and the components of applied forces and torques.
#pragma once

#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

struct StaticLoad {
  int number;    // its index in Params
  double value;  // at the time of the analysis
};
std::vector<StaticLoad> static_loads(const System& system, double time);

// The system under this share of its loads.
System with_loads(const System& system, const std::vector<StaticLoad>& loads, double factor);

}  // namespace liedyn
