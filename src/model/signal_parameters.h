// Which numbers cannot be parameters of an analysis. Functions of time (Params::timed) may be set, to a constant, but have no derivative as one number. Signals
// (Description::signals) are evaluated together with the motion: functions of states and sensors, and of time where a field is not evaluated anew in every step. They have no
// value either that could be set.
#pragma once

#include <algorithm>

#include <fmt/format.h>

#include "liedyn/base/error.h"
#include "liedyn/base/expression.h"
#include "liedyn/model/description.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/params.h"

namespace liedyn {

// The expression of such a number; null: it is not one.
inline const NumberExpression* signal_of(const Description& description, int number) {
  for (const NumberExpression& signal : description.signals)
    if (signal.number == number) return &signal;
  return nullptr;
}

// Of a number that is to be set. Throws InputError.
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
  throw InputError(parameter_path(description, number),
                   fmt::format("depends on {}, '{}', and cannot be set",
                               only_time ? "the time" : "states or sensors", signal->text),
                   "set a parameter that the expression uses");
}

// Whether a number has no derivative since it is a function: of time, states or sensors.
inline bool is_function(const Params& params, int number) {
  return signal_of(params.description(), number) != nullptr ||
         std::any_of(params.timed().begin(), params.timed().end(),
                     [&](const Params::Bound& timed) { return timed.number == number; });
}

// Of a number with respect to which there are to be derivatives, by whatever method. Throws InputError.
inline void refuse_function(const Params& params, int number) {
  refuse_signal(params.description(), number);
  if (is_function(params, number))
    throw InputError(params.path(number),
                     "this value is a function of time: no derivative with respect to it is defined",
                     "use the parameters of its expression");
}

}  // namespace liedyn
