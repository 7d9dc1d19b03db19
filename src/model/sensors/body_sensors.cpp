// Sensors of one body.
#include "liedyn/model/sensors/families.h"

#include <type_traits>

#include "liedyn/model/frame_rotation.h"
#include "liedyn/model/sensors/fields.h"
#include "liedyn/model/sensors/winding.h"

namespace liedyn {
namespace {

Field of_body() {
  return {.name = "of", .type = FieldType::Body, .unit = "", .summary = "The body.", .required = true};
}
Field at_point() {
  return {
      .name = "at",
      .type = FieldType::Vector,
      .unit = "m",
      .summary =
          "Point of the body in the initial configuration, inertial axes; its reference point if not given.",
      .body_axes = BodyAxes::Each,
      .pose = PoseRole::Point};
}

Field own_axes() {
  return frame_rotation("rotation",
                        "Rotation from these body-fixed axes to the body axes; the body axes if not given.");
}

// e_k.R y of a vector y = V_t or V_r, which begins at `first`: d(R y) = R dy - R y~ d_r.
void vector_gradient(const Motion<double>& m, int first, int k, SensorGradient& out) {
  const Eigen::RowVector3d row = m.R.row(k);
  const Vec3 y = m.V.segment<3>(first);
  out.value = row.dot(y);
  out.X[0].tail<3>() = -row * skew(y);
  out.V[0].segment<3>(first) = row;
}

}  // namespace

std::vector<ListedSensor> body_sensors() {
  return {
      {{"position", "Position of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m",
       3,
       [](const auto& c, auto* out) { put(c.motion().p, out); },
       {.axes = ShownIn::Place,
        .gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Motion<double> m = c.motion();
              out.value = m.p[k];
              out.X[0].head<3>() = m.R.row(k);
            }}},
      {{"velocity", "Velocity of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m/s",
       3,
       [](const auto& c, auto* out) { put(c.motion().velocity(), out); },
       {.axes = ShownIn::Inertial,
        .gradient = [](const SensorContext& c, int k,
                       SensorGradient& out) { vector_gradient(c.motion(), 0, k, out); }}},
      {{"acceleration", "Acceleration of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m/s^2",
       3,
       [](const auto& c, auto* out) { put(c.motion().acceleration(), out); },
       {.axes = ShownIn::Inertial}},
      {{"orientation",
        "Orientation of a body as a unit quaternion (w, x, y, z), body to inertial axes. Its sign is that of "
        "w >= 0 at the start; from there it is continuous, if no step rotates by half a turn or more.",
        {of_body(), own_axes()}},
       "",
       4,
       [](const auto& c, auto* out) {
         using S = std::remove_pointer_t<decltype(out)>;
         Eigen::Matrix<S, 4, 1> q = SO3<S>::from_matrix(c.motion().R).coordinates();
         double along = 0;  // the quaternion of the last step; none yet at the start
         for (int i = 0; i < 4; ++i) along += c.at.angles[c.sensor.angle + i] * value(q[i]);
         if (along < 0 || (along == 0 && value(q[0]) < 0)) q = -q;
         Eigen::Map<Eigen::Matrix<S, 4, 1>>{out} = q;
       },
       {.axes = ShownIn::Orientation, .remembers = true}},
      {{"rotation_vector",
        "Orientation of a body as a rotation vector, body to inertial axes. It is continuous beyond half a "
        "turn, if no step rotates by more.",
        {of_body(), own_axes()}},
       "rad",
       3,
       [](const auto& c, auto* out) { put(wound_rotation_vector(c, c.motion().R), out); },
       {.axes = ShownIn::Orientation, .remembers = true, .is_angle = true}},
      {{"cardan_angles",
        "Orientation of a body by Cardan angles, R = R_x(a) R_y(b) R_z(c), body to inertial axes; continuous "
        "in time.",
        {of_body(), own_axes()}},
       "rad",
       3,
       [](const auto& c, auto* out) { put(wound_cardan_angles(c, c.motion().R), out); },
       {.axes = ShownIn::Orientation, .remembers = true, .is_angle = true}},
      {{"angle",
        "Angle of a body in the plane, from the inertial to its body axes; continuous over many turns.",
        {of_body()}},
       "rad",
       1,
       [](const auto& c, auto* out) { out[0] = c.at.q[c.at.nodes[c.at.frames[c.sensor.frame].node].q + 2]; },
       {.axes = ShownIn::Angle,
        .in_plane = true,
        .is_angle = true,
        .gradient =
            [](const SensorContext& c, int, SensorGradient& out) {
              c.sensor.listed->evaluate(c, &out.value);
              out.X[0][5] = 1;
            }}},
      {{"angular_velocity", "Angular velocity of a body.", {of_body(), axes("body", "inertial"), own_axes()}},
       "rad/s",
       3,
       [](const auto& c, auto* out) {
         const auto m = c.motion();
         const Vec3T<std::remove_pointer_t<decltype(out)>> w = m.V.template tail<3>();
         if (c.sensor.choice == 0)
           put(w, out);
         else
           put(m.R * w, out);
       },
       {.axes = ShownIn::Body,
        .gradient =
            [](const SensorContext& c, int k, SensorGradient& out) {
              const Motion<double> m = c.motion();
              if (c.sensor.choice == 1) return vector_gradient(m, 3, k, out);
              out.value = m.V[3 + k];
              out.V[0][3 + k] = 1;
            }}},
      {{"angular_acceleration",
        "Angular acceleration of a body.",
        {of_body(), axes("body", "inertial"), own_axes()}},
       "rad/s^2",
       3,
       [](const auto& c, auto* out) {
         const auto m = c.motion();
         const Vec3T<std::remove_pointer_t<decltype(out)>> alpha = m.A.template tail<3>();
         if (c.sensor.choice == 0)
           put(alpha, out);
         else
           put(m.R * alpha, out);
       },
       {.axes = ShownIn::Body}},
  };
}

}  // namespace liedyn
