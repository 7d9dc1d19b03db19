#include "liedyn/model/field.h"

#include <fmt/format.h>

namespace liedyn {

int number_count(FieldType type, RotationForm form) {
  switch (type) {
    case FieldType::Number:
    case FieldType::Integer: return 1;
    case FieldType::Vector:
    case FieldType::Path: return 3;
    case FieldType::PlaneVector: return 2;
    case FieldType::Points:
    case FieldType::Inertia: return 6;
    case FieldType::Matrix6: return 36;
    case FieldType::Rotation: return kRotationValues[static_cast<int>(form)];
    case FieldType::Choice:
    case FieldType::Choices:
    case FieldType::Text:
    case FieldType::Body:
    case FieldType::Bodies:
    case FieldType::Joint:
    case FieldType::Joints:
    case FieldType::State:
    case FieldType::Beam:
    case FieldType::Force:
    case FieldType::Flexible: return 0;
  }
  return 0;
}

std::string full_summary(const Field& field) {
  std::string out = field.summary;
  const bool plane = field.type == FieldType::PlaneVector;
  const std::string_view vector = plane ? "[x, y]" : "[x, y, z]";
  if (field.body_axes == BodyAxes::Each)
    out += fmt::format(" Or in the axes of each body, by name: {{\"BODY\": {}, ...}}.", vector);
  else if (field.body_axes != BodyAxes::None)
    out += fmt::format(" Or in the axes of that body: {{\"BODY\": {}}}.", vector);
  if (field.may_depend_on_signals)
    out +=
        " An expression may name the time t, parameters, states, and sensors of coordinates and velocities.";
  else if (field.may_depend_on_time)
    out += " An expression may name the time t.";
  if (field.may_be_consistent)
    out += " Or \"consistent\": assembly finds it; {\"consistent\": VALUE}: from this guess.";
  return out;
}

std::string default_text(const Field& field) {
  if (field.type == FieldType::Choice && !field.choices.empty()) return field.choices[0];
  if (field.defaults.empty()) return {};
  const std::string numbers = fmt::format("{}", fmt::join(field.defaults, ", "));
  if (field.type == FieldType::Rotation) return fmt::format("{{\"rotation_vector\": [{}]}}", numbers);
  return field.defaults.size() == 1 ? numbers : fmt::format("[{}]", numbers);
}

int Kind::field(std::string_view name) const {
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name) return static_cast<int>(i);
  return -1;
}

}  // namespace liedyn
