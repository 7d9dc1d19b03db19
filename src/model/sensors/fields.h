// What the families of sensors share: their fields, and how a vector is put out.
#pragma once

#include <string>

#include "liedyn/model/sensors/sensor.h"

namespace liedyn {

template <class S, class Vector>
void put(const Vector& value, S* out) {
  Eigen::Map<Vec3T<S>>{out} = value;
}

inline Field axes(const std::string& first, const std::string& second) {
  return {.name = "axes",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Axes of the components.",
          .choices = {first, second}};
}

}  // namespace liedyn
