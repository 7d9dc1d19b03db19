// A description as the text of a model file, whatever it was read from: a robot in URDF becomes a file that can be changed.
#pragma once

#include <string>

#include "liedyn/model/description.h"

namespace liedyn {

// What was typed, with the names of its bodies; entries of generators are written out, and calls of tables too. What a body looks like
// (Description::visuals) has no place in model files and is left out.
std::string model_text(const Description& description);

}  // namespace liedyn
