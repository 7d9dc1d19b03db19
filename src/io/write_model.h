// A description as the text of a model file, whatever it was read from: a robot in URDF becomes a file that can be changed.
#pragma once

#include <string>

#include "liedyn/model/description.h"

namespace liedyn {

// What was typed, with the names of its bodies; repeated entries are written out, and calls of tables too. What bodies look like is written as shapes without mass, with
// absolute names of the files of meshes.
std::string model_text(const Description& description);

}  // namespace liedyn
