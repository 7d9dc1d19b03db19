// The kinds of sensors by what they look at, each family in a file of its own.
#pragma once

#include <vector>

#include "liedyn/model/sensors/sensor.h"

namespace liedyn {

std::vector<ListedSensor> body_sensors();
std::vector<ListedSensor> relative_sensors();
std::vector<ListedSensor> joint_sensors();
std::vector<ListedSensor> force_sensors();
std::vector<ListedSensor> flexible_sensors();
std::vector<ListedSensor> model_sensors();

}  // namespace liedyn
