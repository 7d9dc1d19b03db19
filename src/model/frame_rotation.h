// Elements and sensors that see a body by axes of their own, which are fixed to it: a named frame of a model file with a rotation. Q turns these axes to
// those of the body.
#pragma once

#include <string>
#include <utility>

#include "liedyn/model/field.h"

namespace liedyn {

inline Field frame_rotation(std::string name, std::string summary, PoseRole body = PoseRole::OnFirst) {
  return {.name = std::move(name),
          .type = FieldType::Rotation,
          .unit = "",
          .summary = std::move(summary),
          .pose = body};
}

// The field with the rotation of the axes on the i-th body that an entry names; -1: its kind has none. What has one body calls it "rotation".
inline int frame_rotation_field(const Kind& kind, int i) {
  const int only = i == 0 ? kind.field("rotation") : -1;
  return only >= 0 ? only : kind.field(i == 0 ? "first_rotation" : "second_rotation");
}

}  // namespace liedyn
