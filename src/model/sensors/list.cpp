#include "model/sensors/list.h"

#include "lie/so3.h"

namespace liedyn {
namespace {

void put(const Vec3& value, double* out) { Eigen::Map<Vec3>{out} = value; }

Field of_body() {
  return {.name = "of", .type = FieldType::Body, .unit = "", .summary = "The body.", .required = true};
}
Field at_point() {
  return {
      .name = "at",
      .type = FieldType::Vector,
      .unit = "m",
      .summary =
          "Point of the body in the initial configuration, inertial axes; its reference point if not given."};
}
Field of_joint() {
  return {.name = "of", .type = FieldType::Joint, .unit = "", .summary = "The joint.", .required = true};
}
Field axes(const std::string& first, const std::string& second) {
  return {.name = "axes",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Axes of the components.",
          .choices = {first, second}};
}

// The wrench that a joint exerts on its second body is what it adds to that body's residual, with the other sign.
Vec3 reaction(const SensorContext& c, int part) {
  const int last = c.joint->coupling().frames - 1;
  const Vec6 W = c.joint->wrench_on(c.at, c.sensor.element, last);
  const Vec3 local = -W.segment<3>(part);
  if (c.sensor.choice == 1) return local;
  const Frame& frame =
      c.at.frames[c.joint->frames[static_cast<std::size_t>(c.sensor.element * (last + 1) + last)]];
  return FrameView(frame, c.at.numbers, c.at.nodes, c.at.motions).motion().R * local;
}

// A coordinate of a joint, or its rate.
template <double AxisMotion::*part>
void axis_coordinate(const SensorContext& c, double* out) {
  out[0] = c.joint->axis_motion(c.at, c.sensor.element).*part;
}

}  // namespace

const std::vector<ListedSensor>& sensor_kinds() {
  using Context = SensorContext;
  static const std::vector<ListedSensor> list = {
      {{"position", "Place of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m",
       3,
       [](const Context& c, double* out) { put(c.motion().p, out); }},
      {{"velocity", "Velocity of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m/s",
       3,
       [](const Context& c, double* out) { put(c.motion().velocity(), out); }},
      {{"acceleration", "Acceleration of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m/s^2",
       3,
       [](const Context& c, double* out) { put(c.motion().acceleration(), out); }},
      {{"orientation",
        "Orientation of a body as a unit quaternion (w, x, y, z), body to inertial axes.",
        {of_body()}},
       "",
       4,
       [](const Context& c, double* out) {
         Eigen::Map<Eigen::Vector4d>{out} = SO3<double>::from_matrix(c.motion().R).coordinates();
       }},
      {{"rotation_vector", "Orientation of a body as a rotation vector, body to inertial axes.", {of_body()}},
       "rad",
       3,
       [](const Context& c, double* out) { put(SO3<double>::from_matrix(c.motion().R).log(), out); }},
      {{"angle",
        "Angle of a body in the plane, from the inertial to its body axes; it counts turns.",
        {of_body()}},
       "rad",
       1,
       [](const Context& c, double* out) {
         out[0] = c.at.q[c.at.nodes[c.at.frames[c.sensor.frame].node].q + 2];
       },
       {},
       false,
       true},
      {{"angular_velocity", "Angular velocity of a body.", {of_body(), axes("body", "inertial")}},
       "rad/s",
       3,
       [](const Context& c, double* out) {
         const Motion<double> m = c.motion();
         const Vec3 w = m.V.tail<3>();
         put(c.sensor.choice == 0 ? w : Vec3(m.R * w), out);
       }},
      {{"angular_acceleration", "Angular acceleration of a body.", {of_body(), axes("body", "inertial")}},
       "rad/s^2",
       3,
       [](const Context& c, double* out) {
         const Motion<double> m = c.motion();
         const Vec3 alpha = m.A.tail<3>();
         put(c.sensor.choice == 0 ? alpha : Vec3(m.R * alpha), out);
       }},
      {{"reaction_force",
        "Force that a joint exerts on its second body, at the joint's place on that body.",
        {of_joint(), axes("inertial", "body")}},
       "N",
       3,
       [](const Context& c, double* out) { put(reaction(c, 0), out); }},
      {{"reaction_torque",
        "Torque that a joint exerts on its second body, about the joint's place on that body.",
        {of_joint(), axes("inertial", "body")}},
       "N m",
       3,
       [](const Context& c, double* out) { put(reaction(c, 3), out); }},
      {{"joint_angle",
        "Angle by which the second body of a joint has turned about its axis since the initial "
        "configuration; it goes on past half a turn, if no step turns by more.",
        {of_joint()}},
       "rad",
       1,
       [](const Context& c, double* out) { out[0] = c.sensor.wound_angle(c.at, *c.joint); },
       {.angle = true},
       true},
      {{"joint_angle_rate",
        "Angular velocity of the second body of a joint relative to the first, about the joint's axis.",
        {of_joint()}},
       "rad/s",
       1,
       &axis_coordinate<&AxisMotion::angle_rate>,
       {.angle = true}},
      {{"joint_displacement",
        "Displacement of the second body of a joint along its axis since the initial configuration.",
        {of_joint()}},
       "m",
       1,
       &axis_coordinate<&AxisMotion::displacement>,
       {.displacement = true}},
      {{"joint_displacement_rate",
        "Velocity of the second body of a joint relative to the first, along the joint's axis.",
        {of_joint()}},
       "m/s",
       1,
       &axis_coordinate<&AxisMotion::displacement_rate>,
       {.displacement = true}},
      {{"multiplier", "Lagrange multipliers of a joint, as they stand in the equations.", {of_joint()}},
       "",
       0,
       [](const Context& c, double* out) {
         const int rows = c.joint->coupling().rows;
         for (int i = 0; i < rows; ++i)
           out[i] = c.at.lambda[c.joint->first_row + c.sensor.element * rows + i];
       }},
      {{"energy",
        "Mechanical energy of the whole model.",
        {{.name = "part",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Which part of it.",
          .choices = {"total", "kinetic", "potential"}}}},
       "J",
       1,
       [](const Context& c, double* out) {
         const double parts[] = {c.energy.kinetic + c.energy.potential, c.energy.kinetic, c.energy.potential};
         out[0] = parts[c.sensor.choice];
       }},
      {{"expression",
        "Any expression of the time t, of parameters and of the sensors listed before it, such as "
        "\"mass*9.81*position[2]\"; several between semicolons are the components of a vector.",
        {{.name = "value",
          .type = FieldType::Text,
          .unit = "",
          .summary = "The expression, or several between semicolons.",
          .required = true}}},
       "",
       1,
       [](const Context& c, double* out) {
         for (const Expression& expression : c.sensor.expressions) *out++ = expression.evaluate<double>(c.variables);
       }},
  };
  return list;
}

}  // namespace liedyn
