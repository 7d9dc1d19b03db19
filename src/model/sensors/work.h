// Sensors of work show a sum over the steps of a run. That is no function of the state: analyses of a state and derivatives leave them out.
#pragma once

#include <string>
#include <vector>

#include "liedyn/model/model.h"

namespace liedyn {

// Whether a sensor shows work, or an expression of it.
bool shows_work(const Model& model, const Sensor& sensor);
// The names of those that do.
std::vector<std::string> sensors_of_work(const Model& model);

}  // namespace liedyn
