// How this program was built, for `liedyn --version`: a report of an error is only useful with it.
#pragma once

#include <string>

namespace liedyn::cli {

std::string build_information();

}  // namespace liedyn::cli
