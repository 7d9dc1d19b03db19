// Robots in the Unified Robot Description Format, as models. Links become rigid bodies (links welded to others join these),
// joints become joints of the same kind with a sensor and an actuator each; the root link stands on the ground.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "liedyn/io/read_model.h"

namespace liedyn {

// Assignments that are consumed: "initial.JOINT" (angle or displacement to start with), "floating" (1: the root link is a free body) and "stops" (the stiffness
// of one-sided springs at the limits of joints; 0: limits are not used) and "repair" (1: inertias that no body has are replaced by the nearest physical ones, and joints
// before links without any mass are fixed; each with a line in `warnings`).
// Throws InputError.
Description read_urdf(const std::string& text, const std::string& file, std::vector<Assignment>& assignments,
                      std::vector<std::string>& warnings);
Description read_urdf(const std::string& text, const std::string& file, std::vector<Assignment>& assignments);

}  // namespace liedyn
