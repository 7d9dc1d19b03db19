#include "liedyn/model/sensors/list.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "liedyn/base/registry.h"
#include "liedyn/model/registration.h"
#include "liedyn/model/sensors/families.h"

namespace liedyn {
namespace {

std::vector<ListedSensor> built_in() {
  std::vector<ListedSensor> all;
  for (const auto family :
       {&body_sensors, &relative_sensors, &joint_sensors, &force_sensors, &flexible_sensors, &model_sensors})
    std::ranges::copy(family(), std::back_inserter(all));
  return all;
}

Registry<ListedSensor>& registry() {
  static Registry<ListedSensor> registry(
      "sensor", built_in(),
      [](const ListedSensor& listed) -> const std::string& { return listed.kind.type; });
  return registry;
}

}  // namespace

const std::vector<ListedSensor>& sensor_kinds() { return registry().all(); }

void register_sensor(ListedSensor sensor) {
  check_kind("sensor", sensor.kind);
  const std::string path = "sensor '" + sensor.kind.type + "'";
  bool joint = false;
  for (const Field& field : sensor.kind.fields) {
    switch (field.type) {
      case FieldType::Body:
        check_attachments("sensor", sensor.kind, {sensor_attachment(sensor.kind, 0)});
        break;
      case FieldType::Bodies:
        check_attachments("sensor", sensor.kind,
                          {sensor_attachment(sensor.kind, 0), sensor_attachment(sensor.kind, 1)});
        break;
      case FieldType::Joint: joint = true; break;
      case FieldType::Force:
      case FieldType::State:
      case FieldType::Choice: break;
      case FieldType::Vector:
      case FieldType::Points:
        if (field.name == "at" || field.name == "points") break;
        [[fallthrough]];
      default:
        throw InputError(path + ": field '" + field.name + "'",
                         "a sensor cannot read the value of such a field",
                         "it can read 'of', 'at', 'between', 'points', joints, forces, states and choices");
    }
  }
  constexpr int kMostComponents = 64;
  const int least = joint ? 0 : 1;  // 0: one per row of the joint
  if (sensor.components < least || sensor.components > kMostComponents)
    throw InputError(
        path, fmt::format("expected {} to {} components, got {}", least, kMostComponents, sensor.components));
  // Of a joint a sensor shows coordinates, or else what the constraints transmit; one number per row are its multipliers.
  SensorTraits& traits = sensor.traits;
  if (joint && !traits.needs.angle && !traits.needs.displacement) traits.shows_reactions = true;
  if (sensor.components == 0) traits.shows_multipliers = true;
  registry().add(std::move(sensor));
}

const ListedSensor& listed_sensor(const Kind& kind) {
  return *std::ranges::find(sensor_kinds(), kind.type, [](const ListedSensor& listed) -> const std::string& {
    return listed.kind.type;
  });
}

Attachment sensor_attachment(const Kind& kind, int i) {
  const int between = kind.field("between"), point = kind.field(between >= 0 ? "points" : "at");
  return {between >= 0 ? between : kind.field("of"), i,
          point >= 0 ? Attachment::Place::Point : Attachment::Place::Reference, point, i};
}

bool may_look_at_joint(const Kind& kind) { return listed_sensor(kind).traits.sums_elements; }

bool is_work(const Sensor& sensor) {
  return sensor.listed->traits.remembers && sensor.listed->traits.sums_elements;
}

}  // namespace liedyn
