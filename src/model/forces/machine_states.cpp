#include "liedyn/model/forces/machine_states.h"

#include "liedyn/model/forces/bristles.h"
#include "liedyn/model/forces/clutch.h"
#include "liedyn/model/forces/dc_motor.h"
#include "liedyn/model/forces/hydraulics.h"

namespace liedyn {

std::vector<ForceState> states_of_force(const Description& description, const Entry& force) {
  const std::string& type = force.kind->type;
  if (type == "dc_motor" && has_inductance(description, force)) return {{"current", "initial_current"}};
  if ((type == "clutch" || type == "joint_clutch") && sticks(description, force))
    return {{"bristle", "initial_bristle"}};
  if (type == "hydraulic_cylinder" || type == "joint_hydraulics")
    return {{"pressure_a", "initial_pressure_a"}, {"pressure_b", "initial_pressure_b"}};
  std::vector<ForceState> out;
  for (int i = 0; i < bristle_states(force); ++i)
    out.push_back({bristle_name(force.name, i).substr(force.name.size() + 1), ""});
  return out;
}

}  // namespace liedyn
