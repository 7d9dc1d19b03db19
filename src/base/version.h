#pragma once

#include <string_view>

namespace liedyn {

std::string_view version();  // as in "0.1.0"

}  // namespace liedyn
