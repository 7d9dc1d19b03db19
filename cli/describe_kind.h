// Kinds of elements, shapes and integrators in words, from the lists that the reader of model files uses: for `list` and `explain`.
#pragma once

#include <string>

#include "liedyn/integrators/integrator.h"
#include "liedyn/model/description.h"

namespace liedyn::cli {

// "3 numbers", "two bodies", "angle|displacement"
std::string type_name(const Field& field);
// "required", "default 0", "optional"
std::string presence(const Field& field);
// "N m" of a sensor's kind; empty for others, and where it depends on what the sensor looks at.
std::string unit_of_kind(Section section, const Kind& kind);
// One line for the kind and one for each field, the first indented by two.
std::string describe(const Kind& kind, const std::string& unit);
// One line for a field: "at                   3 numbers [m], required. Location."
std::string describe(const Field& field);

// "0.9, from 0 to 1" or "full, or modified"
std::string values_of(const IntegratorOption& option);
std::string describe(const ListedIntegrator& integrator);

}  // namespace liedyn::cli
