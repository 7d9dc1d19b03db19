// Result files that the program wrote, read back to be compared with.
#pragma once

#include <string>
#include <vector>

#include "analyses/result.h"

namespace liedyn {

// The table of a .csv file: columns "t", then "name" or "name[0]", "name[1]", ... Throws InputError with file and line.
Trajectory read_results(const std::string& file);

// Values measured over time, as other programs write them: a table whose head names its columns, one of them "t" (or "time"), separated by commas, semicolons or tabs. Empty lines and those that begin with # are
// skipped, names may be quoted; an empty cell, or "nan", is no value (NaN). Throws InputError with file and line.
struct MeasuredTable {
  std::vector<double> times;
  std::vector<std::string> names;            // without the time
  std::vector<std::vector<double>> columns;  // of these
};
MeasuredTable read_measured(const std::string& file);

}  // namespace liedyn
