#include "liedyn/model/parameter_paths.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <Eigen/Core>
#include <Eigen/LU>

#include "liedyn/base/suggest.h"
#include "liedyn/model/flexible/kinds.h"

namespace liedyn {
namespace {

// What follows the name of the field: "", "[2]", "[1][0]", ".axis[2]", ".angle", ".crank[2]".
std::string component_suffix(const Description& description, const Field& field, const FieldValue& value,
                             int i) {
  const auto row_and_column = [i] { return fmt::format("[{}][{}]", i / 3, i % 3); };
  if (value.in_bodies) {
    const int each = field.type == FieldType::PlaneVector ? 2 : 3;
    return fmt::format(".{}[{}]", description.words[static_cast<std::size_t>(value.word + i / each)],
                       i % each);
  }
  switch (field.type) {
    case FieldType::Vector:
    case FieldType::PlaneVector:
    case FieldType::Inertia: return fmt::format("[{}]", i);
    case FieldType::Points: return row_and_column();
    case FieldType::Path: return value.count == 3 ? fmt::format("[{}]", i) : row_and_column();
    case FieldType::Matrix6: return fmt::format("[{}][{}]", i / 6, i % 6);
    case FieldType::Rotation: {
      if (value.form == RotationForm::AxisAngle && i == 3) return ".angle";
      const std::string_view key = kRotationNames[static_cast<std::size_t>(value.form)];
      return fmt::format(".{}{}", key,
                         value.form == RotationForm::Matrix ? row_and_column() : fmt::format("[{}]", i));
    }
    default: return "";
  }
}

[[noreturn]] void no_such(std::string_view path, std::string message, std::string hint = {}) {
  throw InputError(std::string(excerpt(path, 200)), std::move(message), std::move(hint));
}

std::string_view take_key(std::string_view& rest) {
  const std::size_t end = std::min(rest.find_first_of(".["), rest.size());
  const std::string_view key = rest.substr(0, end);
  rest.remove_prefix(end);
  return key;
}

bool take_dot(std::string_view& rest) {
  if (!rest.starts_with('.')) return false;
  rest.remove_prefix(1);
  return true;
}

int find_component(const Description& description, const Entry& entry, std::size_t field,
                   std::string_view suffix, std::string_view path) {
  const Field& kind_field = entry.kind->fields[field];
  const FieldValue& value = entry.fields[field];
  if (kind_field.holds_expression)
    no_such(path, fmt::format("'{}' is an expression, not a number", kind_field.name),
            "use a parameter in the expression, and set that parameter");
  if (number_count(kind_field.type) == 0) no_such(path, fmt::format("'{}' is not a number", kind_field.name));
  if (kind_field.type == FieldType::Integer)
    no_such(path, fmt::format(
                      "'{}' determines the structure of the model: it cannot change after the model is built",
                      kind_field.name));
  if (value.first < 0)
    no_such(path, value.consistent ? "is \"consistent\" in the model and has no value of its own"
                                   : "is not given in the model and has no default value");
  for (int i = 0; i < value.count; ++i)
    if (component_suffix(description, kind_field, value, i) == suffix) return value.first + i;
  no_such(path, fmt::format("no such component, expected {}{}{}", kind_field.name,
                            component_suffix(description, kind_field, value, 0),
                            value.count > 1 ? fmt::format(" ... {}{}", kind_field.name,
                                                          component_suffix(description, kind_field, value,
                                                                           value.count - 1))
                                            : ""));
}

int find_in_section(const Description& description, Section section, std::string_view rest,
                    std::string_view path) {
  if (!take_dot(rest)) no_such(path, fmt::format("expected {}.NAME.FIELD", section_name(section)));
  const std::vector<Entry>& entries = description.entries(section);
  const std::string_view all = rest;
  std::string_view name = take_key(rest);
  const auto find = [&] {
    return std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == name; });
  };
  auto entry = find();
  // Names of parts of sub-models have dots: left.knee.
  const std::string_view first = name, after = rest;
  while (entry == entries.end() && take_dot(rest)) {
    const std::string_view key = take_key(rest);
    name = all.substr(0, static_cast<std::size_t>(key.data() + key.size() - all.data()));
    entry = find();
  }
  if (entry == entries.end()) name = first, rest = after;
  if (entry == entries.end()) {
    Suggestion suggestion(name);
    for (const Entry& e : entries) suggestion.consider(e.name);
    no_such(path, fmt::format("there is no '{}' among the {}", excerpt(name), section_name(section)),
            did_you_mean(suggestion.name()));
  }
  if (!take_dot(rest)) no_such(path, fmt::format("expected {}.{}.FIELD", section_name(section), name));
  const std::string_view field_name = take_key(rest);
  const int field = entry->kind->field(field_name);
  const bool member = section == Section::Flexible && is_member(*entry);
  if (member && concerns_whole_frame(field_name))
    no_such(path, "applies to the whole frame, not to one of its members",
            fmt::format("give it to '{}'", excerpt(member_owner(description, *entry))));
  if (field < 0) {
    Suggestion suggestion(field_name);
    for (const Field& f : entry->kind->fields)
      if (number_count(f.type) > 0) suggestion.consider(f.name);
    no_such(path, fmt::format("'{}' has no field '{}'", entry->name, excerpt(field_name)),
            did_you_mean(suggestion.name()));
  }
  return find_component(description, *entry, static_cast<std::size_t>(field), rest, path);
}

int find_parameter(const Description& description, std::string_view name, std::string_view path) {
  const std::vector<std::string>& names = description.parameter_names;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    Suggestion suggestion(name);
    for (const std::string& known : names) suggestion.consider(known);
    const std::string hint =
        suggestion.name().empty() && !names.empty()
            ? fmt::format("the parameters are {}", excerpt(fmt::format("{}", fmt::join(names, ", ")), 200))
            : did_you_mean(suggestion.name());
    no_such(path, fmt::format("there is no parameter '{}'", excerpt(name)), hint);
  }
  return static_cast<int>(found - names.begin());
}

}  // namespace

ParameterPlace locate_parameter(const Description& description, int number) {
  for (Section section : kSections) {
    const std::vector<Entry>& entries = description.entries(section);
    auto after = std::upper_bound(entries.begin(), entries.end(), number,
                                  [](int n, const Entry& entry) { return n < entry.first_parameter; });
    if (after == entries.begin()) continue;
    const Entry& entry = *--after;
    for (std::size_t f = 0; f < entry.fields.size(); ++f) {
      const FieldValue& value = entry.fields[f];
      if (value.first >= 0 && number >= value.first && number < value.first + value.count)
        return {section, &entry, static_cast<int>(f), number - value.first};
    }
  }
  return {};
}

std::string parameter_path(const Description& description, int number) {
  if (number < description.gravity())
    return "parameters." + description.parameter_names[static_cast<std::size_t>(number)];
  if (number < description.gravity() + 3) return fmt::format("gravity[{}]", number - description.gravity());
  const ParameterPlace place = locate_parameter(description, number);
  if (place.entry == nullptr) return fmt::format("number {}", number);
  const Field& field = *place.kind_field();
  return fmt::format(
      "{}.{}.{}{}", section_name(place.section), place.entry->name, field.name,
      component_suffix(description, field, place.entry->fields[static_cast<std::size_t>(place.field)],
                       place.component));
}

std::string_view parameter_unit(const Description& description, int number) {
  if (number >= description.gravity() && number < description.gravity() + 3) return "m/s^2";
  const ParameterPlace place = locate_parameter(description, number);
  if (place.entry == nullptr) return {};
  const Field& field = *place.kind_field();
  // Of the forms of a rotation some are angles, others have no unit.
  if (field.type == FieldType::Rotation) {
    const RotationForm form = place.entry->fields[static_cast<std::size_t>(place.field)].form;
    const bool angle = form == RotationForm::RotationVector || form == RotationForm::Cardan ||
                       (form == RotationForm::AxisAngle && place.component == 3);
    if (!angle) return {};
  }
  return field.unit;
}

bool is_unused(const Description& description, int number) {
  for (const NumberExpression& signal : description.signals)
    if (signal.number == number) return true;
  const ParameterPlace place = locate_parameter(description, number);
  if (place.entry == nullptr || place.kind_field()->replaced_by.empty()) return false;
  const int other = place.entry->kind->field(place.kind_field()->replaced_by);
  return other >= 0 && place.entry->fields[static_cast<std::size_t>(other)].given;
}

int find_parameter(const Description& description, std::string_view path) {
  std::string_view rest = path;
  const std::string_view first = take_key(rest);
  for (Section section : kSections)
    if (first == section_name(section)) return find_in_section(description, section, rest, path);
  if (first == "gravity") {
    for (int i = 0; i < 3; ++i)
      if (rest == fmt::format("[{}]", i)) return description.gravity() + i;
    no_such(path, "expected gravity[0], gravity[1] or gravity[2]");
  }
  if (first == "parameters" && take_dot(rest)) return find_parameter(description, rest, path);
  if (rest.empty()) return find_parameter(description, first, path);
  // A parameter of a sub-model.
  if (std::find(description.parameter_names.begin(), description.parameter_names.end(), path) !=
      description.parameter_names.end())
    return find_parameter(description, path, path);
  if (std::any_of(description.parameter_names.begin(), description.parameter_names.end(),
                  [&](const std::string& name) { return name.starts_with(fmt::format("{}.", first)); }))
    return find_parameter(description, path, path);
  if (first == "initial")
    no_such(
        path, "the model has no such parameter",
        fmt::format("a run starts from coordinates of joints with --from {}=VALUE", excerpt(rest.substr(1))));
  // The name of an entry without its section.
  for (Section section : kSections)
    for (const Entry& entry : description.entries(section))
      if (entry.name == first && !rest.empty())
        no_such(path, "expected a path that begins with its section",
                fmt::format("did you mean '{}.{}'?", section_name(section), excerpt(path, 200)));
  Suggestion suggestion(first);
  for (Section section : kSections) suggestion.consider(section_name(section));
  for (const char* other : {"parameters", "gravity"}) suggestion.consider(other);
  no_such(path,
          fmt::format("expected a path that begins with bodies, beams, joints, forces, states, sensors, "
                      "gravity or parameters, got '{}'",
                      excerpt(first)),
          did_you_mean(suggestion.name()));
}

std::string value_mistake(const Field* field, double value) {
  if (!std::isfinite(value)) return fmt::format("expected a finite number, got {}", value);
  if (field == nullptr) return {};
  if (field->range == Range::Positive && !(value > 0))
    return fmt::format("expected a positive number, got {}", value);
  if (field->range == Range::NonNegative && !(value >= 0))
    return fmt::format("expected a non-negative number, got {}", value);
  if (field->type == FieldType::Integer && value != std::floor(value))
    return fmt::format("expected a whole number, got {}", value);
  return {};
}

std::string rotation_mistake(RotationForm form, const double* numbers) {
  switch (form) {
    case RotationForm::RotationVector:
    case RotationForm::Cardan: return {};
    case RotationForm::Quaternion:
      if (Eigen::Map<const Eigen::Vector4d>(numbers).norm() > 0) return {};
      return "expected a quaternion (w, x, y, z) that is not zero";
    case RotationForm::AxisAngle:
      if (Eigen::Map<const Eigen::Vector3d>(numbers).norm() > 0) return {};
      return "expected an axis that is not zero";
    case RotationForm::Matrix: {
      constexpr double tolerance = 1e-6;  // typed with six digits or more
      const Eigen::Matrix3d R = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(numbers);
      const double off = (R.transpose() * R - Eigen::Matrix3d::Identity()).cwiseAbs().maxCoeff();
      if (!(off < tolerance))
        return fmt::format("expected a rotation matrix, but R^T R differs from the identity by {:.2g}", off);
      if (R.determinant() < 0) return "expected a rotation matrix, got a reflection (its determinant is -1)";
      return {};
    }
  }
  return {};
}

std::string symmetry_mistake(int size, const double* numbers) {
  constexpr double kRounded = 1e-6;
  for (int r = 0; r < size; ++r)
    for (int c = 0; c < r; ++c) {
      const double below = numbers[size * r + c], above = numbers[size * c + r];
      const double scale = std::sqrt(std::abs(numbers[(size + 1) * r] * numbers[(size + 1) * c]));
      if (!(std::abs(above - below) <= kRounded * scale))
        return fmt::format("expected a symmetric matrix, but [{}][{}] and [{}][{}] differ", c, r, r, c);
    }
  return {};
}

}  // namespace liedyn
