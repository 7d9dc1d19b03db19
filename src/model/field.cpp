#include "model/field.h"

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
    case FieldType::Rotation: return kRotationNumbers[static_cast<int>(form)];
    case FieldType::Choice:
    case FieldType::Choices:
    case FieldType::Text:
    case FieldType::Body:
    case FieldType::Bodies:
    case FieldType::Joint:
    case FieldType::Joints:
    case FieldType::State:
    case FieldType::Beam:
    case FieldType::Flexible: return 0;
  }
  return 0;
}

int Kind::field(std::string_view name) const {
  for (std::size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name) return static_cast<int>(i);
  return -1;
}

}  // namespace liedyn
