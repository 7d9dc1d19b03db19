// Derivatives of the outputs of a run as JSON, and those of all sensors over time as a table.
#pragma once

#include <string>

#include "liedyn/analyses/sensitivity.h"

namespace liedyn {

std::string sensitivity_json(const Sensitivity& result);

// Columns t, the sensors, and "d(sensor)/d(parameter)" for each parameter. Throws InputError if the file cannot be written.
void write_sensitivity_csv(const Sensitivity& result, const std::string& file);

}  // namespace liedyn
