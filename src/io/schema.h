// The JSON Schema of model files, made from the lists of kinds: editors complete and check with it.
#pragma once

#include <string>

namespace liedyn {

std::string model_schema();

}  // namespace liedyn
