#include "liedyn/io/model_format.h"

#include "liedyn/model/description.h"
#include "liedyn/model/model.h"

namespace liedyn {

const std::vector<Field>& simulation_fields() {
  static const SimulationSettings defaults;
  static const std::vector<Field> fields = {
      {.name = "start",
       .type = FieldType::Number,
       .unit = "s",
       .summary = "Start time.",
       .defaults = {defaults.start}},
      {.name = "end",
       .type = FieldType::Number,
       .unit = "s",
       .summary = "End time.",
       .defaults = {defaults.end}},
      {.name = "step",
       .type = FieldType::Number,
       .unit = "s",
       .summary = "Time step; it is reduced slightly if needed, so that equal steps reach the end. The first "
                  "step if the integrator is adaptive.",
       .defaults = {defaults.step},
       .range = Range::Positive},
      {.name = "until",
       .type = FieldType::Text,
       .unit = "",
       .summary = "An expression of t, parameters and sensors: the run stops where it crosses zero, if this "
                  "is before `end`.",
       .holds_expression = true},
      {.name = "integrator",
       .type = FieldType::Text,
       .unit = "",
       .summary = "Integrator with its options: \"generalized-alpha,rho=0.9\"."},
      {.name = "formulation",
       .type = FieldType::Choice,
       .unit = "",
       .summary = "Coordinates of rigid bodies; auto: body or inertial axes, by a trial run.",
       .choices = formulation_choices()},
      {.name = "initial",
       .type = FieldType::Choice,
       .unit = "",
       .summary = "Initial values that violate constraints: an error (check), or projected onto the "
                  "constraints (project).",
       .choices = {"check", "project"}},
      {.name = "output_every",
       .type = FieldType::Integer,
       .unit = "",
       .summary = "Record every n-th step (adaptive integrators: at every n-th multiple of `step`, between "
                  "steps); 0: "
                  "only the start and the end.",
       .defaults = {static_cast<double>(defaults.output_every)},
       .range = Range::NonNegative},
  };
  return fields;
}

}  // namespace liedyn
