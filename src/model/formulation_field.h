// The field by which a body chooses its own coordinates.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "liedyn/model/field.h"
#include "liedyn/model/nodes/formulations.h"

namespace liedyn {

// Of the bodies whose formulations are the absolute ones: "Coordinates of this body; ...". `node` is what such a body has in a formulation:
// of those in which it is the same, the first one is a choice.
inline Field formulation_field(const std::string& summary, NodeType Formulation::*node = &Formulation::body) {
  std::vector<std::string> choices = {"model"};
  for (const Formulation& formulation : kFormulations)
    if (&formulation == std::ranges::find(kFormulations, formulation.*node, node))
      choices.emplace_back(formulation.name);
  return {.name = "formulation",
          .type = FieldType::Choice,
          .unit = "",
          .summary = summary + "; the model's formulation if not given.",
          .choices = choices};
}

}  // namespace liedyn
