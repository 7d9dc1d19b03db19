// State spaces as files. NAME.npz holds A, B, C, D and the names; NAME.mtx writes NAME.A.mtx ... NAME.D.mtx (MatrixMarket), NAME.csv
// NAME.A.csv ... with the names as titles; NAME.json all of it.
#pragma once

#include <string>

#include "liedyn/analyses/state_space.h"

namespace liedyn {

std::string state_space_json(const StateSpace& space);

// Both throw InputError; the first is asked before the analysis.
void check_state_space_output(const std::string& file);
// The files written.
std::vector<std::string> write_state_space(const StateSpace& space, const std::string& file);

}  // namespace liedyn
