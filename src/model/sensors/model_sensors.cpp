// Sensors of states and of the whole model; expressions, events and samples.
#include "liedyn/model/sensors/families.h"

#include <type_traits>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/model/sensors/connect.h"
#include "liedyn/model/sensors/events.h"

namespace liedyn {

std::vector<ListedSensor> model_sensors() {
  return {
      {{"state",
        "Value of a first-order state.",
        {{.name = "of", .type = FieldType::State, .unit = "", .summary = "The state.", .required = true}}},
       "",
       1,
       [](const auto& c, auto* out) { out[0] = c.motion().V[0]; },
       {.axes = ShownIn::NoAxes,
        .gradient =
            [](const SensorContext& c, int, SensorGradient& out) {
              c.sensor.listed->evaluate(c, &out.value);
              out.V[0][0] = 1;
            }}},
      {{"energy",
        "Mechanical energy of the whole model.",
        {{.name = "part",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Part of the energy.",
          .choices = {"total", "kinetic", "potential"}}}},
       "J",
       1,
       [](const auto& c, auto* out) {
         const std::remove_pointer_t<decltype(out)> parts[] = {c.energy.kinetic + c.energy.potential,
                                                               c.energy.kinetic, c.energy.potential};
         out[0] = parts[c.sensor.choice];
       },
       {.axes = ShownIn::NoAxes, .shows_energy = true}},
      {{"expression",
        "Any expression of the time t, of parameters and of the sensors listed before it, such as "
        "\"mass*9.81*position[2]\". Several, separated by semicolons, are the components of a vector.",
        {{.name = "value",
          .type = FieldType::Text,
          .unit = "",
          .summary = "The expression, or several separated by semicolons.",
          .required = true,
          .holds_expression = true},
         {.name = "unit",
          .type = FieldType::Text,
          .unit = "",
          .summary = "Unit of the values, for tables and plots."}}},
       "",
       1,
       [](const auto& c, auto* out) {
         for (const Expression& expression : c.sensor.expressions)
           *out++ = expression.template evaluate<std::remove_pointer_t<decltype(out)>>(c.variables);
       },
       {.axes = ShownIn::NoAxes, .shows_reactions = true}},
      {{"event",
        "Event where an expression of the time t, of parameters and of sensors crosses zero; its output is "
        "the expression.",
        {{.name = "when",
          .type = FieldType::Text,
          .unit = "",
          .summary = "The expression whose zero crossings are located, or a condition such as \"x > 3\": the "
                     "event is where it becomes true.",
          .required = true,
          .holds_expression = true},
         {.name = "direction",
          .type = FieldType::Choice,
          .unit = "",
          .summary =
              "Direction of the zero crossings. If not given, a condition counts only where it becomes true.",
          .choices = {"both", "rising", "falling"}},
         {.name = "set",
          .type = FieldType::Text,
          .unit = "",
          .summary = "Assignments, \"u = 3; sensors.speed[2] = -0.8*speed[2]\": parameters, states, or, by "
                     "an impulse, "
                     "velocities that sensors show; \"joints.latch = 0\" releases a joint, 1 engages it."},
         {.name = "action",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Whether the run continues after the event.",
          .choices = {"continue", "stop"}}}},
       "",
       1,
       [](const auto& c, auto* out) {
         *out = c.sensor.expressions.front().template evaluate<std::remove_pointer_t<decltype(out)>>(
             c.variables);
       },
       {.axes = ShownIn::NoAxes, .shows_reactions = true, .connect = &connect_event}},
      {{"sample",
        "Sample and hold, as in a digital controller: sets a parameter or a state to the value of an "
        "expression at equal time intervals; its output is the expression.",
        {{.name = "value",
          .type = FieldType::Text,
          .unit = "",
          .summary = "The expression.",
          .required = true,
          .holds_expression = true},
         {.name = "into",
          .type = FieldType::Text,
          .unit = "",
          .summary = "Target of the assignment: \"u\", \"forces.motor.torque[2]\", \"states.held\" or "
                     "\"joints.latch\".",
          .required = true},
         {.name = "every",
          .type = FieldType::Number,
          .unit = "s",
          .summary = "Sampling time.",
          .required = true,
          .range = Range::Positive},
         {.name = "delay",
          .type = FieldType::Number,
          .unit = "s",
          .summary = "Delay from the sample until the target is set.",
          .defaults = {0},
          .range = Range::NonNegative},
         {.name = "first",
          .type = FieldType::Number,
          .unit = "s",
          .summary = "Time of the first sample after the start of the run.",
          .defaults = {0},
          .range = Range::NonNegative}}},
       "",
       1,
       [](const auto& c, auto* out) {
         *out = c.sensor.expressions.front().template evaluate<std::remove_pointer_t<decltype(out)>>(
             c.variables);
       },
       {.axes = ShownIn::NoAxes, .shows_reactions = true, .connect = &connect_sample}},
  };
}

}  // namespace liedyn
