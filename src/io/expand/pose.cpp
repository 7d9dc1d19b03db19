#include "liedyn/io/expand/pose.h"

#include <fmt/format.h>

#include "liedyn/model/flexible/kinds.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {
namespace {

// What an entry has chosen: the first of the choices if it says nothing.
std::string_view chosen(const Kind& kind, const Item& entry, std::string_view field) {
  if (const Item* given = entry.find(field)) return given->text;
  const int index = kind.field(field);
  return index >= 0 ? std::string_view(kind.fields[static_cast<std::size_t>(index)].choices[0])
                    : std::string_view();
}

}  // namespace

std::optional<int> PartPose::same_component(int own) const {
  // x_own,k = sum_i R_ik x_i
  std::optional<int> out;
  for (int i = 0; i < 3; ++i) {
    const Term& r = R[static_cast<std::size_t>(i)][static_cast<std::size_t>(own)];
    if (r.is(0)) continue;
    if (out || !r.is(1)) return {};
    out = i;
  }
  return out;
}

const Kind* kind_of(Section section, const Item& entry) {
  const Item* type = entry.find("type");
  return type != nullptr && type->is(JsonType::String) ? find_kind(section, type->text) : nullptr;
}

PoseRole pose_role(const Field& field) {
  if (field.pose != PoseRole::Unknown) return field.pose;
  switch (field.type) {
    case FieldType::Rotation:
    case FieldType::Vector:
    case FieldType::PlaneVector:
    case FieldType::Points:
    case FieldType::Path: return field.load != LoadKind::None ? PoseRole::Load : PoseRole::Unknown;
    default: return PoseRole::Fixed;
  }
}

MovedModel::MovedModel(const Item& root) {
  for (const Section section : {Section::Joints, Section::Forces})
    if (const Item* entries = root.find(section_name(section)))
      for (const Item& entry : entries->items)
        (section == Section::Joints ? joints_ : forces_).emplace(entry.key, &entry);
  const Item* bodies = root.find(section_name(Section::Bodies));
  if (bodies == nullptr) return;
  for (const Item& body : bodies->items) {
    const Kind* kind = kind_of(Section::Bodies, body);
    const bool is_point = kind != nullptr && kind->is_point;
    if (is_point) points_.insert(body.key);
    if (const Item* frames = body.find("frames"))
      for (const Item& frame : frames->items) {
        const std::string name = fmt::format("{}.{}", body.key, frame.key);
        frames_.insert(name);
        if (is_point) points_.insert(name);
      }
  }
}

bool MovedModel::axes_stand_still(std::string_view body) const {
  return body == "ground" || body.starts_with("ground.") || points_.contains(body);
}

// The i-th body that an entry names, or the second one of the joint that it names; empty if there is none.
std::string_view MovedModel::named_body(const Kind& kind, const Item& entry, std::size_t i) const {
  for (const Field& field : kind.fields) {
    const Item* value = entry.find(field.name);
    if (value == nullptr) continue;
    const bool two = field.type == FieldType::Bodies || field.type == FieldType::Joints;
    if (two && value->items.size() == 2) value = &value->items[i];
    if (field.type == FieldType::Body || field.type == FieldType::Bodies) return value->text;
    if (field.type != FieldType::Joint && field.type != FieldType::Joints) continue;
    const auto joint = joints_.find(value->text);
    const Kind* joint_kind = joint != joints_.end() ? kind_of(Section::Joints, *joint->second) : nullptr;
    if (joint_kind != nullptr && joint_kind->field("between") >= 0)
      return named_body(*joint_kind, *joint->second, 1);
  }
  return {};
}

// The body in whose axes a sensor of the wrench of a joint or force shows this.
std::string_view MovedModel::loaded_body(const Item& sensor) const {
  const Item* of = sensor.find("of");
  if (of == nullptr) return {};
  for (const Section section : {Section::Joints, Section::Forces}) {
    const auto& entries = section == Section::Joints ? joints_ : forces_;
    if (const auto entry = entries.find(of->text); entry != entries.end())
      if (const Kind* kind = kind_of(section, *entry->second)) return named_body(*kind, *entry->second, 1);
  }
  return {};
}

PoseRole MovedModel::role(Section section, const Kind& kind, const Field& field, const Item& entry) const {
  const PoseRole role = pose_role(field);
  const auto if_still = [&](std::size_t body, PoseRole then) {
    return axes_stand_still(named_body(kind, entry, body)) ? then : PoseRole::Fixed;
  };
  switch (role) {
    case PoseRole::Load: {
      const std::string_view axes = chosen(kind, entry, "axes");
      if (axes.empty() || axes == "inertial") return PoseRole::Direction;
      if (entry.find("rotation") != nullptr) return PoseRole::Fixed;  // these axes turn instead
      return if_still(0, PoseRole::Direction);
    }
    case PoseRole::OnFirst: return if_still(0, PoseRole::Orientation);
    case PoseRole::OnSecond: return if_still(1, PoseRole::Orientation);
    default: break;
  }
  // Members of a frame of beams stand in its axes.
  if (section == Section::Flexible && is_linear_beam(kind) && entry.find("of") != nullptr)
    return PoseRole::Fixed;
  return role;
}

ShownRole MovedModel::shown(const Kind& kind, const Item& sensor) const {
  const bool inertial = chosen(kind, sensor, "axes") == "inertial";
  const auto with_axes = [&](std::string_view body) {
    return inertial || axes_stand_still(body) ? ShownRole::Direction : ShownRole::Fixed;
  };
  switch (listed_sensor(kind).traits.axes) {
    case ShownIn::Unknown: break;
    case ShownIn::NoAxes: return ShownRole::Fixed;
    case ShownIn::Place: return ShownRole::Point;
    case ShownIn::Inertial: return ShownRole::Direction;
    case ShownIn::Body: {
      const std::string_view body = named_body(kind, sensor, 0);
      // Axes that are given relative to such a body, and frames of the ground, turn with the sub-model.
      const bool own_axes = sensor.find("rotation") != nullptr || sensor.find("first_rotation") != nullptr ||
                            body.starts_with("ground.");
      return !inertial && own_axes ? ShownRole::Fixed : with_axes(body);
    }
    case ShownIn::LoadedBody: return with_axes(loaded_body(sensor));
    case ShownIn::Angle: return ShownRole::Angle;
    case ShownIn::Orientation: return ShownRole::Orientation;
    case ShownIn::RelativeOrientation:
      return axes_stand_still(named_body(kind, sensor, 0)) || axes_stand_still(named_body(kind, sensor, 1))
                 ? ShownRole::Orientation
                 : ShownRole::Fixed;
    case ShownIn::Joint: return ShownRole::Multipliers;
  }
  return ShownRole::Unknown;
}

bool changes(const PartPose& pose, ShownRole role) {
  switch (role) {
    case ShownRole::Fixed: return false;
    case ShownRole::Point:
    case ShownRole::Unknown: return pose.moves();
    default: return pose.turns;
  }
}

std::optional<Term> in_own_axes(const PartPose& pose, ShownRole role, const std::string& name, int own) {
  if (role == ShownRole::Angle)
    return pose.angle ? Term::expression(name) - *pose.angle : std::optional<Term>();
  if (role != ShownRole::Point && role != ShownRole::Direction) return {};
  // x_own,k = sum_i R_ik (x_i - p_i), without p_i of vectors that are no places
  Term out;
  for (std::size_t i = 0; i < 3; ++i) {
    Term x = Term::expression(fmt::format("{}[{}]", name, i));
    if (role == ShownRole::Point) x = x - pose.p[i];
    out += pose.R[i][static_cast<std::size_t>(own)] * x;
  }
  return out;
}

}  // namespace liedyn
