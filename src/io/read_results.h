// Result files that the program wrote, read back to be compared with.
#pragma once

#include <string>

#include "analyses/result.h"

namespace liedyn {

// The table of a .csv file: columns "t", then "name" or "name[0]", "name[1]", ... Throws InputError with file and line.
Trajectory read_results(const std::string& file);

}  // namespace liedyn
