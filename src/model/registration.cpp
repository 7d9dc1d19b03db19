#include "liedyn/model/registration.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"

namespace liedyn {
namespace {

bool is_body(FieldType type) {
  return type == FieldType::Body || type == FieldType::Bodies || type == FieldType::Beam;
}

bool is_place(FieldType type) {
  return type == FieldType::Vector || type == FieldType::PlaneVector || type == FieldType::Points;
}

}  // namespace

void check_kind(std::string_view what, const Kind& kind) {
  const auto refuse = [&](const std::string& field, std::string message) {
    throw InputError(
        fmt::format("{} '{}'{}", what, excerpt(kind.type), field.empty() ? "" : ": field '" + field + "'"),
        std::move(message));
  };
  if (!is_name(kind.type))
    refuse("", "expected a name of letters, digits, underscores and hyphens that begins with a letter");
  for (std::size_t i = 0; i < kind.fields.size(); ++i) {
    const Field& field = kind.fields[i];
    if (!is_name(field.name) || field.name == "type")
      refuse(field.name, "expected a name of letters, digits and underscores other than 'type'");
    if (kind.field(field.name) != static_cast<int>(i)) refuse(field.name, "this name is given twice");
    if (field.index >= 0 && field.index != static_cast<int>(i))
      refuse(field.name, fmt::format("elements read it with the index {}, but it is field {} of the list",
                                     field.index, i));
    const bool chooses = field.type == FieldType::Choice || field.type == FieldType::Choices;
    if (chooses && field.choices.empty()) refuse(field.name, "expected at least one choice");
    if (field.type == FieldType::Choices && field.choices.size() > 32)
      refuse(field.name, "expected at most 32 choices");
    if (field.body_axes != BodyAxes::None && field.pose != PoseRole::Point &&
        field.pose != PoseRole::Direction)
      refuse(field.name,
             "what may be in the axes of bodies is a point or a direction: its `pose` says which");
    if (!field.replaced_by.empty() && kind.field(field.replaced_by) < 0)
      refuse(field.name,
             fmt::format("it is replaced by '{}', which this kind does not have", field.replaced_by));
    const int count = number_count(field.type);
    if (!field.defaults.empty() && field.type != FieldType::Path &&
        static_cast<int>(field.defaults.size()) != count)
      refuse(field.name, fmt::format("expected {} defaults, got {}", count, field.defaults.size()));
    for (double x : field.defaults)
      if (!std::isfinite(x)) refuse(field.name, "expected finite defaults");
  }
}

void check_attachments(std::string_view what, const Kind& kind, const std::vector<Attachment>& attachments) {
  const auto field = [&](int index, bool (*fits)(FieldType), int part, std::string_view role) {
    const bool known = index >= 0 && index < static_cast<int>(kind.fields.size()) &&
                       fits(kind.fields[static_cast<std::size_t>(index)].type);
    const int parts = known && (kind.fields[static_cast<std::size_t>(index)].type == FieldType::Bodies ||
                                kind.fields[static_cast<std::size_t>(index)].type == FieldType::Joints ||
                                kind.fields[static_cast<std::size_t>(index)].type == FieldType::Points)
                          ? 2
                          : 1;
    if (!known || part < 0 || part >= parts)
      throw InputError(fmt::format("{} '{}'", what, kind.type),
                       fmt::format("an attachment uses field {}[{}] as {}, but the kind has no such field",
                                   index, part, role));
  };
  for (const Attachment& a : attachments) {
    if (a.joint_field >= 0) {
      field(
          a.joint_field, [](FieldType type) { return type == FieldType::Joint || type == FieldType::Joints; },
          a.joint_index, "its joint");
      continue;
    }
    field(a.body_field, &is_body, a.body_index, "its body");
    if (a.place == Attachment::Place::Point) field(a.point_field, &is_place, a.point_index, "its point");
  }
}

}  // namespace liedyn
