// Which numbers of forces are loads: what statics raises step by step, and what a linearised model has as inputs.
#pragma once

#include "model/field.h"

namespace liedyn {

// A force or torque that is applied, as opposed to a stiffness, or to the force of a friction that depends on the motion.
inline bool is_load(const Field& field) {
  if (!field.may_depend_on_time) return false;
  for (const char* unit : {"N", "N m", "N/m", "N m or N"})
    if (field.unit == unit) return true;
  return false;
}

}  // namespace liedyn
