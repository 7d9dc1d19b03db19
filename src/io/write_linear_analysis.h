// Linear analyses of integrators as files: PREFIX.csv, one row per integrator and h/T, and PREFIX.json.
#pragma once

#include <string>
#include <vector>

#include "liedyn/analyses/linear_analysis.h"

namespace liedyn {

std::string linear_analysis_json(const std::vector<LinearAnalysis>& analyses);
std::string linear_analysis_csv(const std::vector<LinearAnalysis>& analyses);
// Throws InputError if a file cannot be written.
void write_linear_analysis(const std::vector<LinearAnalysis>& analyses, const std::string& prefix);

}  // namespace liedyn
