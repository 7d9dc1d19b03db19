// Sensors of beams and of flexible bodies.
#include "liedyn/model/sensors/families.h"

#include <algorithm>

#include "liedyn/model/beams/beam.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/sensors/connect.h"
#include "liedyn/model/sensors/fields.h"

namespace liedyn {
namespace {

Field of_beam() {
  return {.name = "of",
          .type = FieldType::Beam,
          .unit = "",
          .summary = "Position on a beam, exact or linear, as a fraction of its length: \"wing[0.25]\".",
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
          .summary = std::move(summary) + " Its position in the initial configuration, inertial axes.",
          .required = true,
          .pose = PoseRole::Point};
}
template <class S>
const FlexibleOutput& flexible(const SensorContextOf<S>& c) {
  return dynamic_cast<const FlexibleOutput&>(*c.joint);
}

}  // namespace

std::vector<ListedSensor> flexible_sensors() {
  return {
      {{"section_force",
        "Internal force of a beam, exerted by the part behind the section on the part before it: axial, "
        "shear along y and along z, section axes.",
        {of_beam()}},
       "N",
       3,
       [](const auto& c, auto* out) { section_value<true, 0>(c, out); },
       {.axes = ShownIn::NoAxes}},
      {{"section_moment",
        "Internal moment of a beam: torsion, bending about y and about z, section axes.",
        {of_beam()}},
       "N m",
       3,
       [](const auto& c, auto* out) { section_value<true, 3>(c, out); },
       {.axes = ShownIn::NoAxes}},
      {{"section_strain", "Strain of a beam: axial, shear along y and along z, section axes.", {of_beam()}},
       "",
       3,
       [](const auto& c, auto* out) { section_value<false, 0>(c, out); },
       {.axes = ShownIn::NoAxes}},
      {{"section_curvature",
        "Change of curvature of a beam: twist, bending about y and about z, section axes.",
        {of_beam()}},
       "rad/m",
       3,
       [](const auto& c, auto* out) { section_value<false, 3>(c, out); },
       {.axes = ShownIn::NoAxes}},
      {{"modal_coordinates",
        "Modal coordinates of a flexible body: the largest displacement that each mode adds.",
        {of_flexible()}},
       "m",
       0,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const Modal<S> eta = flexible(c).coordinates(c.at);
         std::copy(eta.data(), eta.data() + eta.size(), out);
       },
       {.axes = ShownIn::NoAxes}},
      {{"elastic_displacement",
        "Displacement of a node of a flexible body relative to its floating frame.",
        {of_flexible(), at_material("The node nearest to this position."), axes("body", "inertial")}},
       "m",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const Vec3T<S> u = flexible(c).displacement(c.at, c.sensor.element);
         put(c.sensor.choice == 0 ? u : Vec3T<S>(flexible(c).frame(c.at).R * u), out);
       },
       {.axes = ShownIn::Body, .connect = &connect_to_displacement}},
      {{"material_position",
        "Position of a node of a flexible body, inertial axes.",
        {of_flexible(), at_material("The node nearest to this position.")}},
       "m",
       3,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         const FlexibleOutput& body = flexible(c);
         const Motion<S>& frame = body.frame(c.at);
         put(frame.p +
                 frame.R * (body.place(c.at, c.sensor.element) + body.displacement(c.at, c.sensor.element)),
             out);
       },
       {.axes = ShownIn::Place, .connect = &connect_to_displacement}},
      {{"stress",
        "Stress in a flexible body of solid elements: xx, yy, zz, yz, xz, xy, body axes.",
        {of_flexible(), at_material("The point.")}},
       "N/m^2",
       6,
       []<class S>(const SensorContextOf<S>& c, S* out) {
         Eigen::Map<Vec6T<S>>{out} = flexible(c).stress(c.at, c.sensor.element);
       },
       {.axes = ShownIn::NoAxes, .connect = &connect_to_stress}},
  };
}

}  // namespace liedyn
