// Result files that the program wrote, read back to be compared with.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "liedyn/analyses/result.h"

namespace liedyn {

// What write_results wrote. A .csv file (columns "t", then "name" or "name[0]", "name[1]", ...) has neither units nor a summary: of the
// summary only the times are known then. Throws InputError with file and line.
Result read_result(const std::string& file);
// Its table alone.
Trajectory read_results(const std::string& file);

// The table of a .csv file; `file` is the name in messages. Throws InputError.
Trajectory read_csv(std::istream& in, const std::string& file);

// The object that summary_json gives; `file` is the name in messages. Throws InputError.
Summary read_summary(const std::string& json, const std::string& file);

// Throws InputError if the columns of the channels are not those of the table, or the times do not ascend.
void check_trajectory(const Trajectory& trajectory, const std::string& file);

// Values measured over time, as other programs write them: a table whose head names its columns, one of them "t" (or "time"), separated by commas, semicolons or tabs. Empty lines and those that begin with # are
// skipped, names may be quoted; an empty cell, or "nan", is no value (NaN). Throws InputError with file and line.
struct MeasuredTable {
  std::vector<double> times;
  std::vector<std::string> names;            // without the time
  std::vector<std::vector<double>> columns;  // of these
};
MeasuredTable read_measured(const std::string& file);

}  // namespace liedyn
