// Every kind of sensor.
#pragma once

#include <vector>

#include "model/sensors/sensor.h"

namespace liedyn {

const std::vector<ListedSensor>& sensor_kinds();

}  // namespace liedyn
