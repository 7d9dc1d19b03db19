#include "model/sensors/list.h"

#include <algorithm>
#include <type_traits>

#include "lie/so3.h"
#include "model/beams/beam.h"
#include "model/flexible/body.h"

namespace liedyn {
namespace {

template <class S, class Vector>
void put(const Vector& value, S* out) {
  Eigen::Map<Vec3T<S>>{out} = value;
}

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
      .body_axes = BodyAxes::Each};
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
template <class S>
Vec3T<S> reaction(const SensorContextOf<S>& c, int part) {
  const int last = c.joint->coupling().frames - 1;
  const Vec6T<S> W = c.joint->wrench_on(c.at, c.sensor.element, last);
  const Vec3T<S> local = -W.template segment<3>(part);
  if (c.sensor.choice == 1) return local;
  const Frame& frame =
      c.at.frames[c.joint->frames[static_cast<std::size_t>(c.sensor.element * (last + 1) + last)]];
  return FrameViewOf<S>(frame, c.at.numbers, c.at.nodes, c.at.motions).motion().R * local;
}

Field of_beam() {
  return {.name = "of",
          .type = FieldType::Beam,
          .unit = "",
          .summary = "The place on a beam, exact or linear, as a fraction of its length: \"wing[0.25]\".",
          .required = true};
}
// Strain or force of a section, translational or rotational part.
template <bool force, int part, class S>
void section_value(const SensorContextOf<S>& c, S* out) {
  const auto& sections = dynamic_cast<const BeamSections&>(*c.joint);
  Vec6T<S> strain, wrench;
  beam_section(sections, c.at, c.sensor.element, c.sensor.elements, c.sensor.fraction, strain, wrench);
  put(Vec3T<S>((force ? wrench : strain).template segment<3>(part)), out);
}

Field of_flexible() {
  return {.name = "of",
          .type = FieldType::Flexible,
          .unit = "",
          .summary = "The flexible body.",
          .required = true};
}
Field at_material(std::string summary) {
  return {.name = "at",
          .type = FieldType::Vector,
          .unit = "m",
          .summary = std::move(summary) + " Its place in the initial configuration, inertial axes.",
          .required = true};
}
template <class S>
const FlexibleOutput& flexible(const SensorContextOf<S>& c) {
  return dynamic_cast<const FlexibleOutput&>(*c.joint);
}

// e_k.R y of a vector y = V_t or V_r, which begins at `first`: d(R y) = R dy - R y~ d_r.
void vector_gradient(const Motion<double>& m, int first, int k, SensorGradient& out) {
  const Eigen::RowVector3d row = m.R.row(k);
  const Vec3 y = m.V.segment<3>(first);
  out.value = row.dot(y);
  out.X[0].tail<3>() = -row * skew(y);
  out.V[0].segment<3>(first) = row;
}

// The coordinate of the joint that a sensor looks at: the angle about its axis, or the displacement along it.
template <class S>
CoordinateDerivativesOf<S> derivatives_of_coordinate(const SensorContextOf<S>& c, bool about) {
  const Batch& joint = *c.joint;
  // The numbers of every joint with coordinates begin with its axes.
  std::array<S, kCoordinateNumbers> p;
  std::copy_n(c.at.numbers + joint.first_number + c.sensor.element * joint.numbers_per_element(),
              kAxesNumbers, p.begin());
  p[kAxesNumbers] = S(about ? 0 : 1);
  const auto motion = [&](int i) {
    return FrameViewOf<S>(c.at.frames[joint.frames[static_cast<std::size_t>(2 * c.sensor.element + i)]],
                          c.at.numbers, c.at.nodes, c.at.motions)
        .motion();
  };
  CoordinateDerivativesOf<S> d;
  coordinate_derivatives<S>(motion(0), motion(1), p.data(),
                            c.sensor.angle >= 0 ? c.at.angles[c.sensor.angle] : 0, d);
  return d;
}

// A coordinate of a joint, or its rate.
enum class Of { Value, Rate };
template <bool about, Of of>
void coordinate_of_joint(const SensorContext& c, int, SensorGradient& out) {
  const CoordinateDerivatives d = derivatives_of_coordinate(c, about);
  out.value = of == Of::Value ? d.value : d.rate;
  for (int i = 0; i < 2; ++i) {
    out.X[i] = of == Of::Value ? d.B[i] : d.Z[i];
    if (of == Of::Rate) out.V[i] = d.B[i];
  }
}

// The sensors that expressions of the dynamics may name.
std::vector<ListedSensor> with_gradients(std::vector<ListedSensor> list) {
  using Context = SensorContext;
  using Gradient = SensorGradient;
  const std::pair<std::string_view, void (*)(const Context&, int, Gradient&)> gradients[] = {
      {"position",
       [](const Context& c, int k, Gradient& out) {
         const Motion<double> m = c.motion();
         out.value = m.p[k];
         out.X[0].head<3>() = m.R.row(k);
       }},
      {"velocity", [](const Context& c, int k, Gradient& out) { vector_gradient(c.motion(), 0, k, out); }},
      {"angle",
       [](const Context& c, int, Gradient& out) {
         c.sensor.listed->evaluate(c, &out.value);
         out.X[0][5] = 1;
       }},
      {"angular_velocity",
       [](const Context& c, int k, Gradient& out) {
         const Motion<double> m = c.motion();
         if (c.sensor.choice == 1) return vector_gradient(m, 3, k, out);
         out.value = m.V[3 + k];
         out.V[0][3 + k] = 1;
       }},
      {"joint_angle", &coordinate_of_joint<true, Of::Value>},
      {"joint_angle_rate", &coordinate_of_joint<true, Of::Rate>},
      {"joint_displacement", &coordinate_of_joint<false, Of::Value>},
      {"joint_displacement_rate", &coordinate_of_joint<false, Of::Rate>},
      {"state",
       [](const Context& c, int, Gradient& out) {
         c.sensor.listed->evaluate(c, &out.value);
         out.V[0][0] = 1;
       }},
  };
  for (ListedSensor& listed : list)
    for (const auto& [type, gradient] : gradients)
      if (listed.kind.type == type) listed.gradient = gradient;
  return list;
}

}  // namespace

const std::vector<ListedSensor>& sensor_kinds() {
  static const std::vector<ListedSensor> list = with_gradients({
      {{"position", "Place of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m",
       3,
       [](const auto& c, auto* out) { put(c.motion().p, out); }},
      {{"velocity", "Velocity of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m/s",
       3,
       [](const auto& c, auto* out) { put(c.motion().velocity(), out); }},
      {{"acceleration", "Acceleration of a point of a body, inertial axes.", {of_body(), at_point()}},
       "m/s^2",
       3,
       [](const auto& c, auto* out) { put(c.motion().acceleration(), out); }},
      {{"orientation",
        "Orientation of a body as a unit quaternion (w, x, y, z), body to inertial axes. Of the two with "
        "opposite "
        "signs it is the one with w >= 0 at the start and, if no step turns by half a turn, the continuous "
        "one "
        "from there.",
        {of_body()}},
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
       {},
       true},
      {{"rotation_vector", "Orientation of a body as a rotation vector, body to inertial axes.", {of_body()}},
       "rad",
       3,
       [](const auto& c, auto* out) {
         put(SO3<std::remove_pointer_t<decltype(out)>>::from_matrix(c.motion().R).log(), out);
       }},
      {{"angle",
        "Angle of a body in the plane, from the inertial to its body axes; it counts turns.",
        {of_body()}},
       "rad",
       1,
       [](const auto& c, auto* out) { out[0] = c.at.q[c.at.nodes[c.at.frames[c.sensor.frame].node].q + 2]; },
       {},
       false,
       true},
      {{"angular_velocity", "Angular velocity of a body.", {of_body(), axes("body", "inertial")}},
       "rad/s",
       3,
       [](const auto& c, auto* out) {
         const auto m = c.motion();
         const Vec3T<std::remove_pointer_t<decltype(out)>> w = m.V.template tail<3>();
         if (c.sensor.choice == 0)
           put(w, out);
         else
           put(m.R * w, out);
       }},
      {{"angular_acceleration", "Angular acceleration of a body.", {of_body(), axes("body", "inertial")}},
       "rad/s^2",
       3,
       [](const auto& c, auto* out) {
         const auto m = c.motion();
         const Vec3T<std::remove_pointer_t<decltype(out)>> alpha = m.A.template tail<3>();
         if (c.sensor.choice == 0)
           put(alpha, out);
         else
           put(m.R * alpha, out);
       }},
      {{"reaction_force",
        "Force that a joint exerts on its second body, at the joint's place on that body.",
        {of_joint(), axes("inertial", "body")}},
       "N",
       3,
       [](const auto& c, auto* out) { put(reaction(c, 0), out); }},
      {{"reaction_torque",
        "Torque that a joint exerts on its second body, about the joint's place on that body.",
        {of_joint(), axes("inertial", "body")}},
       "N m",
       3,
       [](const auto& c, auto* out) { put(reaction(c, 3), out); }},
      {{"section_force",
        "Force in a section of a beam, that of the part behind on the part before: axial, shear along y and "
        "along z, section axes.",
        {of_beam()}},
       "N",
       3,
       [](const auto& c, auto* out) { section_value<true, 0>(c, out); }},
      {{"section_moment",
        "Moment in a section of a beam: torsion, bending about y and about z, section axes.",
        {of_beam()}},
       "N m",
       3,
       [](const auto& c, auto* out) { section_value<true, 3>(c, out); }},
      {{"section_strain", "Strain of a beam: axial, shear along y and along z, section axes.", {of_beam()}},
       "",
       3,
       [](const auto& c, auto* out) { section_value<false, 0>(c, out); }},
      {{"section_curvature",
        "Change of curvature of a beam: twist, bending about y and about z, section axes.",
        {of_beam()}},
       "rad/m",
       3,
       [](const auto& c, auto* out) { section_value<false, 3>(c, out); }},
      {{"modal_coordinates",
        "Modal coordinates of a flexible body: the largest displacement that each mode adds.",
        {of_flexible()}},
       "m",
       0,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const Modal<S> eta = flexible(c).coordinates(c.at);
         std::copy(eta.data(), eta.data() + eta.size(), out);
       }},
      {{"elastic_displacement",
        "Displacement of a node of a flexible body relative to its floating frame.",
        {of_flexible(), at_material("The node nearest to this place."), axes("body", "inertial")}},
       "m",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const Vec3T<S> u = flexible(c).displacement(c.at, c.sensor.element);
         put(c.sensor.choice == 0 ? u : Vec3T<S>(flexible(c).frame(c.at).R * u), out);
       }},
      {{"material_position",
        "Place of a node of a flexible body, inertial axes.",
        {of_flexible(), at_material("The node nearest to this place.")}},
       "m",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const FlexibleOutput& body = flexible(c);
         const Motion<S>& frame = body.frame(c.at);
         put(frame.p +
                 frame.R * (body.place(c.at, c.sensor.element) + body.displacement(c.at, c.sensor.element)),
             out);
       }},
      {{"stress",
        "Stress in a flexible body of solid elements: xx, yy, zz, yz, xz, xy, body axes.",
        {of_flexible(), at_material("The point.")}},
       "N/m^2",
       6,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         Eigen::Map<Vec6T<S>>{out} = flexible(c).stress(c.at, c.sensor.element);
       }},
      {{"joint_angle",
        "Angle by which the second body of a joint has turned about its axis since the initial "
        "configuration; it goes on past half a turn, if no step turns by more.",
        {of_joint()}},
       "rad",
       1,
       [](const auto& c, auto* out) { out[0] = c.sensor.wound_angle(c.at, *c.joint); },
       {.angle = true},
       true},
      {{"joint_angle_rate",
        "Angular velocity of the second body of a joint relative to the first, about the joint's axis.",
        {of_joint()}},
       "rad/s",
       1,
       [](const auto& c, auto* out) { out[0] = c.joint->axis_motion(c.at, c.sensor.element).angle_rate; },
       {.angle = true}},
      {{"joint_displacement",
        "Displacement of the second body of a joint along its axis since the initial configuration.",
        {of_joint()}},
       "m",
       1,
       [](const auto& c, auto* out) { out[0] = c.joint->axis_motion(c.at, c.sensor.element).displacement; },
       {.displacement = true}},
      {{"joint_displacement_rate",
        "Velocity of the second body of a joint relative to the first, along the joint's axis.",
        {of_joint()}},
       "m/s",
       1,
       [](const auto& c, auto* out) {
         out[0] = c.joint->axis_motion(c.at, c.sensor.element).displacement_rate;
       },
       {.displacement = true}},
      {{"multiplier", "Lagrange multipliers of a joint, as they stand in the equations.", {of_joint()}},
       "",
       0,
       [](const auto& c, auto* out) {
         const int rows = c.joint->coupling().rows;
         for (int i = 0; i < rows; ++i)
           out[i] = c.at.lambda[c.joint->first_row + c.sensor.element * rows + i];
       }},
      {{"state",
        "Value of a first-order state.",
        {{.name = "of", .type = FieldType::State, .unit = "", .summary = "The state.", .required = true}}},
       "",
       1,
       [](const auto& c, auto* out) { out[0] = c.motion().V[0]; }},
      {{"energy",
        "Mechanical energy of the whole model.",
        {{.name = "part",
          .type = FieldType::Choice,
          .unit = "",
          .summary = "Which part of it.",
          .choices = {"total", "kinetic", "potential"}}}},
       "J",
       1,
       [](const auto& c, auto* out) {
         const std::remove_pointer_t<decltype(out)> parts[] = {c.energy.kinetic + c.energy.potential,
                                                               c.energy.kinetic, c.energy.potential};
         out[0] = parts[c.sensor.choice];
       }},
      {{"expression",
        "Any expression of the time t, of parameters and of the sensors listed before it, such as "
        "\"mass*9.81*position[2]\"; several between semicolons are the components of a vector.",
        {{.name = "value",
          .type = FieldType::Text,
          .unit = "",
          .summary = "The expression, or several between semicolons.",
          .required = true,
          .holds_expression = true},
         {.name = "unit",
          .type = FieldType::Text,
          .unit = "",
          .summary = "Unit of the values, for tables and plots."}}},
       "",
       1,
       [](const auto& c, auto* out) {
         for (const Expression& expression : c.sensor.expressions)
           *out++ = expression.template evaluate<std::remove_pointer_t<decltype(out)>>(c.variables);
       }},
  });
  return list;
}

Varied coordinate_in_dynamics(const SensorContextOf<Varied>& context) {
  const std::string_view type = context.sensor.listed->kind.type;
  const CoordinateDerivativesOf<Varied> d =
      derivatives_of_coordinate(context, type.starts_with("joint_angle"));
  return type.ends_with("_rate") ? d.rate : d.value;
}

}  // namespace liedyn
