#include "liedyn/model/record_all.h"

#include <string>

namespace liedyn {
namespace {

void add_sensor(Description& d, const std::string& of, std::string_view type, std::string_view name) {
  const Kind* kind = find_kind(Section::Sensors, type);
  Entry entry{of + "." + std::string(name), kind, 0, static_cast<std::int32_t>(d.numbers.size()),
              std::vector<FieldValue>(kind->fields.size())};
  FieldValue& value = entry.fields[static_cast<std::size_t>(kind->field("of"))];
  value.word = static_cast<std::int32_t>(d.words.size());
  value.given = true;
  d.words.push_back(of);
  d.entries(Section::Sensors).push_back(std::move(entry));
}

}  // namespace

void record_all(Description& d) {
  const auto add = [&](const Entry& entry, std::initializer_list<std::string_view> types) {
    const std::string name = entry.name;
    for (const std::string_view type : types) add_sensor(d, name, type, type);
  };
  for (const Entry& body : d.entries(Section::Bodies)) {
    if (body.is_part()) continue;
    add(body, {"position", "velocity"});
    if (body.kind->field("orientation") >= 0 || body.kind->field("angle") >= 0)
      add(body, {"orientation", "angular_velocity"});
  }
  for (const Entry& joint : d.entries(Section::Joints)) {
    if (joint.rides) continue;
    if (joint.kind->coordinates.angle) add(joint, {"joint_angle", "joint_angle_rate"});
    if (joint.kind->coordinates.displacement) add(joint, {"joint_displacement", "joint_displacement_rate"});
    if (joint.kind->field("between") >= 0) add(joint, {"reaction_force", "reaction_torque"});
  }
  for (const Entry& force : d.entries(Section::Forces)) {
    add(force, {"power"});
    if (force.kind->field("joint") >= 0 || force.kind->field("points") >= 0) add(force, {"effort"});
  }
  for (const Entry& state : d.entries(Section::States)) add_sensor(d, state.name, "state", "value");
}

}  // namespace liedyn
