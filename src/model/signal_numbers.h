// Numbers that are evaluated together with the motion (Description::signals): functions of states and sensors, and of time where a field is not
// evaluated anew in every step. They have no value that could be set, and none with respect to which there would be a derivative.
#pragma once

#include <fmt/format.h>

#include "liedyn/base/error.h"
#include "liedyn/base/expression.h"
#include "liedyn/model/description.h"
#include "liedyn/model/number_paths.h"

namespace liedyn {

// The expression of such a number; null: it is not one.
inline const NumberExpression* signal_of(const Description& description, int number) {
  for (const NumberExpression& signal : description.signals)
    if (signal.number == number) return &signal;
  return nullptr;
}

// Every analysis that takes numbers as parameters asks this: setting values and derivatives. Throws InputError.
inline void refuse_signal(const Description& description, int number) {
  const NumberExpression* signal = signal_of(description, number);
  if (signal == nullptr) return;
  VariableNames variables(description.parameter_names);
  variables.add("t");
  bool only_time = true;
  try {
    Expression::parse(signal->text, variables);
  } catch (const ExpressionError&) {
    only_time = false;
  }
  throw InputError(number_path(description, number),
                   fmt::format("follows {}, '{}', and cannot be set",
                               only_time ? "the time" : "states or sensors", signal->text),
                   "set a parameter that the expression uses");
}

}  // namespace liedyn
