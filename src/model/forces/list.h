// Every kind of forces. Being listed is being in JSON, Python, help, schema, documentation and the property tests.
#pragma once

#include <vector>

#include "liedyn/model/element.h"

namespace liedyn {

const std::vector<ListedKind>& force_kinds();

}  // namespace liedyn
