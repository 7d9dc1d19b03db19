// Convergence studies as files: PREFIX.csv, one row per run, and PREFIX.json, all of it.
#pragma once

#include <string>

#include "liedyn/analyses/converge.h"

namespace liedyn {

// One JSON object; what is unknown is null.
std::string convergence_json(const Convergence& convergence);
// "integrator,formulation,step,steps,error_q,order_q,...": one line per run.
std::string convergence_csv(const Convergence& convergence);

// Both throw InputError if a file cannot be written; the first is asked before the study.
void check_convergence_output(const std::string& prefix);
void write_convergence(const Convergence& convergence, const std::string& prefix);

}  // namespace liedyn
