// Every kind of sensor.
#pragma once

#include <vector>

#include "liedyn/model/sensors/sensor.h"

namespace liedyn {

const std::vector<ListedSensor>& sensor_kinds();

// Where the frame of a sensor on its i-th body is.
Attachment sensor_attachment(const Kind& kind, int i);

// Of a sensor of a joint's coordinate: what SensorTraits::gradient gives as its value, with derivatives. Where the joint does not hold exactly, this is not quite
// what the sensor shows.
Varied coordinate_in_dynamics(const SensorContextOf<Varied>& context);

}  // namespace liedyn
