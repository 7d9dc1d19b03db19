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

const Kind& force_state_kind() {
  static const Kind kind = {
      "state of a force",
      "A state that a force has of its own.",
      {{.name = "initial", .type = FieldType::Number, .unit = "", .summary = "Value at the start."}}};
  return kind;
}

std::string_view owner_of_state(std::string_view state) {
  const std::size_t dot = state.find('.');
  return dot == std::string_view::npos ? std::string_view() : state.substr(0, dot);
}

}  // namespace liedyn
