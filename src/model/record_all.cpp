#include "liedyn/model/record_all.h"

#include <algorithm>
#include <string>

#include "liedyn/model/edit_description.h"
#include "liedyn/model/sensors/connect.h"

namespace liedyn {
namespace {

// At points of bodies, not spread over a beam.
bool acts_on_bodies(const Kind& force) {
  return std::any_of(force.fields.begin(), force.fields.end(), [](const Field& field) {
    return field.type == FieldType::Body || field.type == FieldType::Bodies;
  });
}

}  // namespace

void record_all(Description& d) {
  const auto add = [&](const Entry& entry, std::initializer_list<std::string_view> types) {
    const std::string name = entry.name;
    for (const std::string_view type : types)
      add_entry(d, Section::Sensors, name + "." + std::string(type), type, "of", name);
  };
  for (const Entry& body : d.entries(Section::Bodies)) {
    if (body.is_part()) continue;
    add(body, {"position", "velocity"});
    if (!body.kind->is_point) add(body, {"orientation", "angular_velocity"});
  }
  for (const Entry& joint : d.entries(Section::Joints)) {
    if (joint.rides) continue;
    if (joint.kind->coordinates.angle) add(joint, {"joint_angle", "joint_angle_rate"});
    if (joint.kind->coordinates.displacement) add(joint, {"joint_displacement", "joint_displacement_rate"});
    if (joint.kind->field("between") >= 0) add(joint, {"reaction_force", "reaction_torque"});
    // Drives do work; joints that do not depend on time do none.
    if (joint.kind->drives != Drives::Nothing) add(joint, {"power"});
  }
  for (const Entry& force : d.entries(Section::Forces)) {
    add(force, {"power"});
    if (has_effort(*force.kind))
      add(force, {"effort"});
    else if (acts_on_bodies(*force.kind))
      add(force, {"applied_force", "applied_torque"});
  }
  for (const Entry& state : d.entries(Section::States))
    add_entry(d, Section::Sensors, state.name + ".value", "state", "of", state.name);
}

}  // namespace liedyn
