#include "model/forces/machine_states.h"

#include "model/forces/clutch.h"
#include "model/forces/dc_motor.h"
#include "model/forces/hydraulics.h"

namespace liedyn {

std::vector<ForceState> states_of_force(const Description& description, const Entry& force) {
  const std::string& type = force.kind->type;
  if (type == "dc_motor" && has_inductance(description, force)) return {{"current", "initial_current"}};
  if ((type == "clutch" || type == "joint_clutch") && sticks(description, force))
    return {{"bristle", "initial_bristle"}};
  if (type == "hydraulic_cylinder" || type == "joint_hydraulics")
    return {{"pressure_a", "initial_pressure_a"}, {"pressure_b", "initial_pressure_b"}};
  return {};
}

}  // namespace liedyn
