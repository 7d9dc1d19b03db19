// What users type into a force that has no effect beside what else they typed: the restitution is missing that a speed belongs to, or another
// law is chosen. Such a model runs, but hardly as it is meant.
#pragma once

#include <string>
#include <vector>

#include "liedyn/model/description.h"

namespace liedyn {

// "forces.clutch.smoothing has no effect with the law stick: ...", for all forces of a model.
std::vector<std::string> options_without_effect(const Description& description);

}  // namespace liedyn
