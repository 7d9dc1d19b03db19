#include "liedyn/model/common_fields.h"

#include <fmt/format.h>

namespace liedyn {

using Place = Attachment::Place;

Field between_bodies(std::string summary) {
  return {.name = "between",
          .type = FieldType::Bodies,
          .unit = "",
          .summary = std::move(summary),
          .required = true};
}

Field two_points() {
  return {.name = "points",
          .type = FieldType::Points,
          .unit = "m",
          .summary = "The two points in the initial configuration, inertial axes.",
          .required = true,
          .body_axes = BodyAxes::Each,
          .pose = PoseRole::Point};
}
std::vector<Attachment> frames_at_two_points(int between, int points) {
  return {{between, 0, Place::Point, points, 0}, {between, 1, Place::Point, points, 1}};
}

Field common_place(std::string summary) {
  return {.name = "at",
          .type = FieldType::Vector,
          .unit = "m",
          .summary = std::move(summary),
          .required = true,
          .body_axes = BodyAxes::Each,
          .pose = PoseRole::Point};
}
std::vector<Attachment> frames_at_common_place(int between, int at) {
  return {{between, 0, Place::Point, at, 0}, {between, 1, Place::Point, at, 0}};
}

Field named_joint(std::string summary) {
  return {
      .name = "joint", .type = FieldType::Joint, .unit = "", .summary = std::move(summary), .required = true};
}
Field joint_coordinate_choice() {
  return {.name = "coordinate",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Coordinate of the joint. `auto`: its only coordinate, or the angle if it has two.",
          .choices = {"auto", "angle", "displacement"}};
}
std::vector<Field> zero_fields(AxisCoordinates coordinates) {
  const auto zero = [](std::string name, bool angle) {
    return Field{
        .name = std::move(name),
        .type = FieldType::Number,
        .unit = angle ? "rad" : "m",
        .summary = fmt::format("Zero position of the {}, relative to the initial configuration. Sensors, "
                               "targets, drives and springs measure from there. 0 if not given.",
                               angle ? "angle of the joint" : "displacement of the joint")};
  };
  std::vector<Field> out;
  if (coordinates.angle || coordinates.displacement) out.push_back(zero("zero", coordinates.angle));
  if (coordinates.angle && coordinates.displacement) out.push_back(zero("zero_displacement", false));
  return out;
}
std::vector<Attachment> frames_of_joint(int field, int joints) {
  std::vector<Attachment> out;
  for (int joint = 0; joint < joints; ++joint)
    for (int frame = 0; frame < 2; ++frame)
      out.push_back({.body_field = -1, .joint_field = field, .joint_index = joint, .joint_frame = frame});
  return out;
}

Field direction(std::string name, std::string summary, BodyAxes carriers) {
  return {.name = std::move(name),
          .type = FieldType::Vector,
          .unit = "",
          .summary = std::move(summary),
          .required = true,
          .body_axes = carriers,
          .pose = PoseRole::Direction};
}
void check_direction(const Inputs<double>& in, int field, std::string_view name, std::string& message,
                     std::string& hint) {
  bool nonzero = true;
  for (int i = 0; i < 2; ++i)
    nonzero = nonzero &&
              (in.in_bodies(field) && in.in_body(field, i) ? in.vector_in_body(field, i) : in.vector(field))
                      .norm() > 0;
  if (nonzero) return;
  const bool plane = in.kind().fields[static_cast<std::size_t>(field)].type == FieldType::PlaneVector;
  message = std::string(name) + ": expected a direction, got " + (plane ? "[0, 0]" : "[0, 0, 0]");
  hint = "the length does not matter, but it must not be zero";
}

}  // namespace liedyn
