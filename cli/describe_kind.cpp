#include "describe_kind.h"

#include <fmt/format.h>

#include "liedyn/model/sensors/list.h"

namespace liedyn::cli {

std::string type_name(const Field& field) {
  switch (field.type) {
    case FieldType::Number: return "number";
    case FieldType::Vector: return "3 numbers";
    case FieldType::PlaneVector: return "2 numbers";
    case FieldType::Points: return "2 points";
    case FieldType::Path: return "3 numbers or a list of points";
    case FieldType::Inertia: return "inertia";
    case FieldType::Rotation: return "rotation";
    case FieldType::Choice: return fmt::format("{}", fmt::join(field.choices, "|"));
    case FieldType::Choices: return fmt::format("list of {}", fmt::join(field.choices, "|"));
    case FieldType::Text: return field.holds_expression ? "expression or number" : "text";
    case FieldType::Body: return "body";
    case FieldType::Bodies: return "two bodies";
    case FieldType::Joint: return "joint";
    case FieldType::State: return "state";
    case FieldType::Beam: return "position on a beam";
    case FieldType::Force: return "force";
    case FieldType::Flexible: return "flexible body";
    case FieldType::Matrix6: return "6x6 matrix";
    case FieldType::Joints: return "two joints";
    case FieldType::Integer: return "whole number";
  }
  return {};
}

std::string presence(const Field& field) {
  if (field.required) return "required";
  if (field.type == FieldType::Choice && !field.choices.empty()) return "default " + field.choices[0];
  if (field.defaults.empty()) return "optional";
  return "default " + default_text(field);
}

std::string unit_of_kind(Section section, const Kind& kind) {
  return section == Section::Sensors ? listed_sensor(kind).unit : std::string();
}

std::string describe(const Field& field) {
  const std::string own = field.unit.empty() ? "" : fmt::format(" [{}]", field.unit);
  return fmt::format("    {:<20} {}{}, {}. {}\n", field.name, type_name(field), own, presence(field),
                     full_summary(field));
}

std::string describe(const Kind& kind, const std::string& unit) {
  std::string out =
      fmt::format("  {:<22} {}{}\n", kind.type, unit.empty() ? "" : fmt::format("[{}] ", unit), kind.summary);
  for (const Field& field : kind.fields) out += describe(field);
  return out;
}

std::string values_of(const IntegratorOption& option) {
  std::string text = option.fallback;
  for (const std::string& choice : option.choices)
    if (choice != option.fallback) text += ", or " + choice;
  if (option.least < option.most) text += fmt::format(", from {} to {}", option.least, option.most);
  return text;
}

std::string describe(const ListedIntegrator& integrator) {
  std::string out = fmt::format("{}\n  {}\n  {}\n", integrator.name, integrator.summary, integrator.source);
  for (const IntegratorOption& option : integrator.options)
    out += fmt::format("    {:<14} {} ({})\n", option.name, option.summary, values_of(option));
  return out;
}

}  // namespace liedyn::cli
