// Sensors of joints: what they transmit, and their coordinates.
#include "liedyn/model/sensors/families.h"

#include <algorithm>
#include <array>

#include "liedyn/model/sensors/fields.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {
namespace {

Field of_joint() {
  return {.name = "of", .type = FieldType::Joint, .unit = "", .summary = "The joint.", .required = true};
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
  return FrameViewOf<S>(frame, c.at.constants, c.at.nodes, c.at.motions).motion().R * local;
}

// The coordinate of the joint that a sensor looks at: the angle about its axis, or the displacement along it.
template <class S>
CoordinateDerivativesOf<S> derivatives_of_coordinate(const SensorContextOf<S>& c, bool about) {
  const Batch& joint = *c.joint;
  // The numbers of every joint with coordinates begin with its axes.
  std::array<S, kCoordinateConstants> p;
  std::copy_n(c.at.constants + joint.first_constant + c.sensor.element * joint.constants_per_element(),
              kAxesConstants, p.begin());
  p[kAxesConstants] = S(about ? 0 : 1);
  const auto motion = [&](int i) {
    return FrameViewOf<S>(c.at.frames[joint.frames[static_cast<std::size_t>(2 * c.sensor.element + i)]],
                          c.at.constants, c.at.nodes, c.at.motions)
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

}  // namespace

std::vector<ListedSensor> joint_sensors() {
  return {
      {{"reaction_force",
        "Force that a joint exerts on its second body, at the joint's position on that body.",
        {of_joint(), axes("inertial", "body")}},
       "N",
       3,
       [](const auto& c, auto* out) { put(reaction(c, 0), out); },
       {.axes = ShownIn::LoadedBody, .shows_reactions = true}},
      {{"reaction_torque",
        "Torque that a joint exerts on its second body, about the joint's position on that body.",
        {of_joint(), axes("inertial", "body")}},
       "N m",
       3,
       [](const auto& c, auto* out) { put(reaction(c, 3), out); },
       {.axes = ShownIn::LoadedBody, .shows_reactions = true}},
      {{"joint_angle",
        "Angle by which the second body of a joint has turned about its axis since the initial "
        "configuration; continuous beyond half a turn, if no step rotates by more.",
        {of_joint()}},
       "rad",
       1,
       [](const auto& c, auto* out) { out[0] = c.sensor.wound_angle(c.at, *c.joint); },
       {.axes = ShownIn::NoAxes,
        .needs = {.angle = true},
        .remembers = true,
        .is_angle = true,
        .gradient = &coordinate_of_joint<true, Of::Value>}},
      {{"joint_angle_rate",
        "Angular velocity of the second body of a joint relative to the first, about the joint's axis.",
        {of_joint()}},
       "rad/s",
       1,
       [](const auto& c, auto* out) { out[0] = c.joint->axis_motion(c.at, c.sensor.element).angle_rate; },
       {.axes = ShownIn::NoAxes,
        .needs = {.angle = true},
        .is_rate = true,
        .gradient = &coordinate_of_joint<true, Of::Rate>}},
      {{"joint_displacement",
        "Displacement of the second body of a joint along its axis since the initial configuration.",
        {of_joint()}},
       "m",
       1,
       [](const auto& c, auto* out) { out[0] = c.joint->axis_motion(c.at, c.sensor.element).displacement; },
       {.axes = ShownIn::NoAxes,
        .needs = {.displacement = true},
        .gradient = &coordinate_of_joint<false, Of::Value>}},
      {{"joint_displacement_rate",
        "Velocity of the second body of a joint relative to the first, along the joint's axis.",
        {of_joint()}},
       "m/s",
       1,
       [](const auto& c, auto* out) {
         out[0] = c.joint->axis_motion(c.at, c.sensor.element).displacement_rate;
       },
       {.axes = ShownIn::NoAxes,
        .needs = {.displacement = true},
        .is_rate = true,
        .gradient = &coordinate_of_joint<false, Of::Rate>}},
      {{"multiplier",
        "Lagrange multipliers of a joint, as they appear in the equations of motion.",
        {of_joint()}},
       "",
       0,
       [](const auto& c, auto* out) {
         const int rows = c.joint->coupling().rows;
         for (int i = 0; i < rows; ++i)
           out[i] = c.at.lambda[c.joint->first_row + c.sensor.element * rows + i];
       },
       {.axes = ShownIn::Joint, .shows_reactions = true, .shows_multipliers = true}},
  };
}

Varied coordinate_in_dynamics(const SensorContextOf<Varied>& context) {
  const SensorTraits& traits = context.sensor.listed->traits;
  const CoordinateDerivativesOf<Varied> d = derivatives_of_coordinate(context, traits.needs.angle);
  return traits.is_rate ? d.rate : d.value;
}

}  // namespace liedyn
