// Places of a sub-model in the whole.
#pragma once

#include <string>

#include "liedyn/io/expand/pose.h"
#include "liedyn/io/expand/scope.h"

namespace liedyn {

// Moves and turns what a sub-model gives in inertial axes.
void move_places(Item& sub_model, const std::string& name, const PartPose& pose, Findings& findings);

}  // namespace liedyn
