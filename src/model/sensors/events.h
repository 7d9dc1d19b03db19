// Events: sensors that act. An `event` watches an expression for zero crossings, a `sample` evaluates one at equal distances in time; both then set
// parameters, states or velocities, or switch joints (analyses/events.h does it). A model file has them under "events"; among the sensors they show their expression.
#pragma once

#include <string>
#include <vector>

#include "liedyn/model/sensors/connect.h"

namespace liedyn {

bool is_event(const Kind& kind);   // of zero crossings
bool is_sample(const Kind& kind);  // of times
inline bool acts(const Kind& kind) { return is_event(kind) || is_sample(kind); }

// Sensor::expressions of an event: what it watches, then the new value of each target; of a sample: its value. Both check the targets.
void connect_event(SensorConnection& c, Sensor& sensor);
void connect_sample(SensorConnection& c, Sensor& sensor);

// What an entry sets, "forces.motor.torque" or "sensors.speed[2]": one for each expression after the first, or the one of a sample.
std::vector<std::string> event_targets(const Description& d, const Entry& entry);

struct EventTarget {
  enum class Of { Parameter, StateValue, Velocity, Joint } of;
  int index;          // of the parameter, the state, the sensor, or the joint
  int component = 0;  // of the sensor
};
// "parameters.u", "u", "bodies.ball.mass"; "states.x"; "sensors.speed[2]"; "joints.latch". Throws InputError.
EventTarget find_target(const Description& d, const std::string& target);

// The names of the joints that events release and engage.
std::vector<std::string> switched_joints(const Description& d);

// Field indices of the two kinds, as their lists in sensors/list.cpp have them.
namespace event_field {
inline constexpr int kWhen = 0, kDirection = 1, kSet = 2, kAction = 3;
}
namespace sample_field {
inline constexpr int kValue = 0, kInto = 1, kEvery = 2, kDelay = 3, kFirst = 4;
}

}  // namespace liedyn
