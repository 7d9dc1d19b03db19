// Results as files and as the summary that `--json` prints.
//
//   .csv   one header row "t,position[0],position[1],..."; every number with all its digits.
//   .h5    HDF5, see result_file.h.
//
// A file appears under its name only when it is complete.
#pragma once

#include <string>
#include <vector>

#include "liedyn/analyses/result.h"

namespace liedyn {

// Throws InputError if results cannot be written there: asked before a run, so that none is lost.
void check_output(const std::string& file);

// Throws InputError if the file cannot be written. The extension decides on the format. Events, with their times, are kept in .h5 files only.
void write_results(const Result& result, const std::string& file,
                   const std::vector<std::pair<double, std::string>>& events = {});

// The summary with the final values of the sensors, as a JSON object. Numbers have all their digits.
std::string summary_json(const Result& result);

// The lines of a .csv file from this row on; before the first one the names of the columns.
std::string csv_rows(const Trajectory& trajectory, std::size_t first);

// Names of the columns: "t", "position[0]", ..., "energy".
std::vector<std::string> column_names(const Trajectory& trajectory);

}  // namespace liedyn
