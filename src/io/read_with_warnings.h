// Model files, with what their reader changed: read_model() of io/read_model.h for callers that show warnings.
#pragma once

#include <string>
#include <vector>

#include "liedyn/io/read_model.h"

namespace liedyn {

// Adds one line to `warnings` for each repair that was asked for (docs/howto/robots.md).
Description read_model(const std::string& model, std::vector<Assignment>& assignments,
                       std::vector<std::string>& warnings);

}  // namespace liedyn
