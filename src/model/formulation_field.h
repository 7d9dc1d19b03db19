// The field by which a body chooses its own coordinates.
#pragma once

#include <string>
#include <vector>

#include "liedyn/model/field.h"
#include "liedyn/model/nodes/formulations.h"

namespace liedyn {

// Of the bodies whose formulations are the absolute ones: "Coordinates of this body; ...".
inline Field formulation_field(const std::string& summary) {
  std::vector<std::string> choices = {"model"};
  for (const Formulation& formulation : kFormulations) choices.emplace_back(formulation.name);
  return {.name = "formulation",
          .type = FieldType::Choice,
          .unit = "",
          .summary = summary + "; the model's formulation if not given.",
          .choices = choices};
}

}  // namespace liedyn
