// Names of the numbers of a description: "parameters.spin", "gravity[2]", "bodies.top.inertia[1]",
// "bodies.top.orientation.axis[0]". They are computed from the layout, not stored per number.
#pragma once

#include <string>
#include <string_view>

#include "liedyn/model/description.h"

namespace liedyn {

// Where a number stands: in a field of an entry, or (entry null) among the parameters and gravity.
struct ParameterPlace {
  Section section = Section::Bodies;
  const Entry* entry = nullptr;
  int field = -1;
  int component = 0;

  const Field* kind_field() const {
    return entry == nullptr ? nullptr : &entry->kind->fields[static_cast<std::size_t>(field)];
  }
};

ParameterPlace locate_parameter(const Description& description, int number);
std::string parameter_path(const Description& description, int number);
std::string_view parameter_unit(const Description& description,
                                int number);  // empty for none, and for parameters

// A default that another field of its entry replaces: angular_velocity beside an angular_velocity_inertial that is given.
bool is_unused(const Description& description, int number);

// The inverse of parameter_path; parameters also by their bare name. Throws InputError (with a suggestion).
int find_parameter(const Description& description, std::string_view path);

// What is wrong with a value: "expected a positive number, got -1". Empty if nothing is. Parameters and gravity have no
// field (null); they only have to be finite.
std::string value_mistake(const Field* field, double value);

// What is wrong with a rotation as a whole: a zero axis, say. Empty if nothing is.
std::string rotation_mistake(RotationForm form, const double* numbers);

// The same of a matrix that has to be symmetric, row by row, up to what may be left of its formulas.
std::string symmetry_mistake(int size, const double* numbers);

}  // namespace liedyn
