// Names of a sub-model in the whole.
#pragma once

#include <filesystem>
#include <string>

#include "liedyn/io/expand/pose.h"
#include "liedyn/io/expand/scope.h"

namespace liedyn {

// Puts the name of a sub-model before all names in it. Sensors that its expressions name become what they are in its own axes. `directory`: of its file,
// from that of the model around it.
void put_prefix(Item& sub_model, const std::string& name, const std::filesystem::path& directory,
                const PartPose& pose, Findings& findings);

}  // namespace liedyn
