// Sensors of force elements: what they exert, and their work.
#include "liedyn/model/sensors/families.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "liedyn/model/forces/machine_output.h"
#include "liedyn/model/sensors/connect.h"
#include "liedyn/model/sensors/fields.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {
namespace {

Field of_force() {
  return {.name = "of", .type = FieldType::Force, .unit = "", .summary = "The force.", .required = true};
}
Field of_force_or_joint() {
  return {.name = "of",
          .type = FieldType::Force,
          .unit = "",
          .summary = "The force, or the joint: a drive, for example.",
          .required = true};
}
// What a force exerts on the body it acts on, of two the second: the same signs as those of reactions.
template <class S>
Vec3T<S> applied(const SensorContextOf<S>& c, int part) {
  const int frames = c.joint->acting_frames(), last = frames - 1;
  const Vec3T<S> local = -c.joint->wrench_on(c.at, c.sensor.element, last).template segment<3>(part);
  const int frame =
      c.joint->frames[static_cast<std::size_t>(c.sensor.element * c.joint->coupling().frames + last)];
  // Along the axes of the frame, which may be turned against those of the body: Q.
  if (c.sensor.choice == 1) return offset_of(c.at.frames[frame], c.at.constants).Q * local;
  return c.motion_of(frame).R * local;
}
// -sum_i W_i.V_i over the elements of a force: a wrench stands in the residual with a minus sign. Of a joint this is -lambda.B v = lambda.Phi_t:
// 0 unless it depends on time. Joints of a tree do not, and what they transmit need not be known for this. What a rotor inside of a machine stores is
// part of the energy of the model: it counts as well.
template <class S>
S power(const SensorContextOf<S>& c) {
  S sum(0);
  if (dynamic_cast<const TreeJoints*>(c.joint) != nullptr) return sum;
  const int frames = c.joint->coupling().frames;
  for (int e = c.sensor.element; e < c.sensor.element + c.sensor.elements; ++e)
    for (int i = 0; i < c.joint->acting_frames(); ++i)
      sum -= c.joint->wrench_on(c.at, e, i)
                 .dot(c.motion_of(c.joint->frames[static_cast<std::size_t>(e * frames + i)]).V);
  if (const auto* machine = dynamic_cast<const MachineOutput*>(c.joint); machine != nullptr)
    sum += machine->rotor_power(c.at);
  return sum;
}

// Of forces in a joint, W_2 = -B_2^T u; between two points, W_1 = R_1^T f n with n from the second point to the first.
template <class S>
S effort(const SensorContextOf<S>& c) {
  // The joint that is driven has the last two of the frames.
  const int first_frame = c.sensor.driven == nullptr ? 0 : c.joint->acting_frames() - 2;
  const auto frame = [&](int i) {
    return c.motion_of(c.joint->frames[static_cast<std::size_t>(
        c.sensor.element * c.joint->coupling().frames + first_frame + i)]);
  };
  if (c.sensor.driven == nullptr) {
    const Motion<S> first = frame(0);
    const Vec3T<S> span = first.p - frame(1).p;
    const Vec3T<S> F = first.R * c.joint->wrench_on(c.at, c.sensor.element, 0).template head<3>();
    const S square = span.squaredNorm();
    using std::sqrt;
    return square > S(0) ? S(F.dot(span) / sqrt(square)) : S(0);
  }
  const Batch& joint = *c.sensor.driven;
  std::array<S, kCoordinateConstants> p;
  std::copy_n(c.at.constants + joint.first_constant + c.sensor.driven_element * joint.constants_per_element(),
              kAxesConstants, p.begin());
  p[kAxesConstants] = S(c.sensor.about ? 0 : 1);
  const Vec6T<S> B = coordinate_gradient<S>(frame(0), frame(1), p.data())[1];
  return -c.joint->wrench_on(c.at, c.sensor.element, first_frame + 1).dot(B) / B.squaredNorm();
}

}  // namespace

std::vector<ListedSensor> force_sensors() {
  return {
      {{"applied_force",
        "Force that a force element exerts on its body, of two the second, at its point on that body.",
        {of_force(), axes("inertial", "body")}},
       "N",
       3,
       [](const auto& c, auto* out) { put(applied(c, 0), out); },
       {.axes = ShownIn::LoadedBody}},
      {{"applied_torque",
        "Torque that a force element exerts on its body, of two the second, about its point on that body.",
        {of_force(), axes("inertial", "body")}},
       "N m",
       3,
       [](const auto& c, auto* out) { put(applied(c, 3), out); },
       {.axes = ShownIn::LoadedBody}},
      {{"effort",
        "Torque or force that a force element (motor, spring, friction) exerts in a joint, in the direction "
        "of the coordinate. Of a spring_damper: its tension.",
        {of_force()}},
       "N m or N",
       1,
       []<class S>(const SensorContextOf<S>& c, S* out) { out[0] = effort(c); },
       {.axes = ShownIn::NoAxes, .of_effort = true}},
      {{"power",
        "Power of a force element or of a joint: the rate at which it adds energy to the bodies, for a "
        "dc_motor including its rotor. Joints that do not depend on time have zero power.",
        {of_force_or_joint()}},
       "W",
       1,
       [](const auto& c, auto* out) { out[0] = power(c); },
       {.axes = ShownIn::NoAxes, .sums_elements = true}},
      {{"work",
        "Work of a force element or of a joint: its power, integrated over time since the start of the run.",
        {of_force_or_joint()}},
       "J",
       1,
       []<class S>(const SensorContextOf<S>& c, S* out) { out[0] = S(c.at.angles[c.sensor.angle]); },
       {.axes = ShownIn::NoAxes, .remembers = true, .sums_elements = true}},
      {{"quantity",
        "Internal quantity of a machine element: the current of a dc_motor, the slip of a clutch, the flows "
        "of a "
        "hydraulic_cylinder.",
        {of_force(),
         {.name = "quantity",
          .type = FieldType::Text,
          .unit = "",
          .summary = "Name of the quantity. dc_motor: current, voltage, electrical_power, loss. clutch, "
                     "joint_clutch: slip, "
                     "capacity, loss. hydraulic_cylinder, joint_hydraulics: pressure_a, pressure_b, flow_a, "
                     "flow_b, valve, force.",
          .required = true}}},
       "",
       1,
       [](const auto& c, auto* out) {
         out[0] = dynamic_cast<const MachineOutput&>(*c.joint).quantity(c.at, c.sensor.choice);
       },
       {.axes = ShownIn::NoAxes, .connect = &connect_to_quantity}},
  };
}

double power_of(const SensorContext& context) { return power(context); }

}  // namespace liedyn
