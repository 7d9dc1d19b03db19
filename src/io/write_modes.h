// Modes as files: .csv (one row per mode), .json (all of it), .npz (eigenvalues, shapes (modes x velocities), names).
#pragma once

#include <string>

#include "liedyn/analyses/modes.h"

namespace liedyn {

std::string modes_json(const Modes& modes, const Model& model);
std::string modes_csv(const Modes& modes, const Model& model);

// Both throw InputError; the first is asked before the analysis.
void check_modes_output(const std::string& file);
void write_modes(const Modes& modes, const Model& model, const std::string& file);

}  // namespace liedyn
