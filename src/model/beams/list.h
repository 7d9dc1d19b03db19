// Every kind of beams. Being listed is being in JSON, Python, help, schema, documentation and the property tests.
#pragma once

#include <vector>

#include "liedyn/model/element.h"

namespace liedyn {

const std::vector<ListedKind>& beam_kinds();

}  // namespace liedyn
