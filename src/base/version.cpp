#include "liedyn/base/version.h"

namespace liedyn {

std::string_view version() { return LIEDYN_VERSION; }

}  // namespace liedyn
