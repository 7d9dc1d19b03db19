// Every kind of sensor.
#pragma once

#include <vector>

#include "liedyn/model/sensors/sensor.h"

namespace liedyn {

const std::vector<ListedSensor>& sensor_kinds();

// The sensor with this kind, one of kinds(Section::Sensors).
const ListedSensor& listed_sensor(const Kind& kind);

// Where the frame of a sensor on its i-th body is.
Attachment sensor_attachment(const Kind& kind, int i);

// Sensors of power and work look at a force, or at a joint if no force has the name: drives do work.
bool may_look_at_joint(const Kind& kind);

// Whether a sensor shows the time integral of its power since the start of the run: State::angles holds it, and whoever takes the steps adds to it
// (integrators/work_sums.h).
bool is_work(const Sensor& sensor);
// What the force or joint of a sensor of power or work adds to the energy of the bodies per time.
double power_of(const SensorContext& context);

// Of a sensor of a joint's coordinate: what SensorTraits::gradient gives as its value, with derivatives. Where the joint does not hold exactly, this is not quite
// what the sensor shows.
Varied coordinate_in_dynamics(const SensorContextOf<Varied>& context);

}  // namespace liedyn
