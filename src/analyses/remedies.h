// What to change about a run whose numerics failed. Each change is tried before it is said.
#pragma once

#include <string>
#include <vector>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

struct Remedies {
  std::vector<std::string> help;    // "--step 0.0005": with this the run passes the time where it failed
  std::vector<std::string> fail;    // these do not help
  std::vector<std::string> unsure;  // these had not come to that time when the patience ended
};

// `failed`: what simulate() gave with these options. Smaller steps, adaptive ones, and Newton's method with a new matrix in every iteration and a line search are tried from the
// start of the run; each at most for `patience` seconds.
Remedies find_remedies(const System& system, const SimulateOptions& options, const Result& failed,
                       double patience = 1);

// "--step 0.0005 passes this time; without success: ..." Empty: nothing was tried.
std::string describe(const Remedies& remedies);

}  // namespace liedyn
