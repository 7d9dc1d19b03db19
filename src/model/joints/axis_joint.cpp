#include "model/joints/axis_joint.h"

#include <cmath>

#include "model/common_fields.h"

namespace liedyn {
namespace {

enum Fields { kBetween, kAt, kAxis };

constexpr bool needs_axis(Held held) { return held != (kPlaces | kTurns); }

template <class E>
ListedKind listed(std::string type, std::string summary, std::string axis_summary = {}) {
  Kind kind{std::move(type),
            std::move(summary),
            {between_bodies(), common_place()},
            axis_coordinates(E::held_directions),
            !needs_axis(E::held_directions)};
  // Rows with turns compare the axes of both bodies; the others see those of the first alone.
  constexpr bool turns = (E::held_directions & kTurns) != 0;
  if (!axis_summary.empty())
    kind.fields.push_back(
        direction("axis", std::move(axis_summary), turns ? BodyAxes::Each : BodyAxes::First));
  for (Field& field : zero_fields(kind.coordinates)) kind.fields.push_back(std::move(field));
  return {std::move(kind), &make_batch<E>};
}

}  // namespace

template <Held held>
std::vector<Attachment> AxisJoint<held>::attachments() {
  return held_attachments(held, kBetween, kAt);
}

template <Held held>
template <class S>
void AxisJoint<held>::derive(const Inputs<S>& in, S* p) {
  if constexpr (needs_axis(held))
    derive_axes(in, kAxis, p);
  else
    derive_axes(in, Mat3T<S>(Mat3T<S>::Identity()), p);
  derive_zero(in, p);
}

template <Held held>
void AxisJoint<held>::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  if constexpr (needs_axis(held)) check_direction(in, kAxis, "axis", message, hint);
  if (message.empty()) check_zero(in, message);
}

template <Held held>
void AxisJoint<held>::turns(const Mat3& R_1, const Mat3& R_2, const double* p, const double* lambda,
                            TurnDerivatives<rows - places>& d) {
  if constexpr (places == 3) {
    const JointAxes<double> axes(p);
    TurnRows<rows - places> out(R_1, R_2, lambda, d);
    for (int i = 0; i < rows - places; ++i) {
      const HeldRow& row = row_list[static_cast<std::size_t>(places + i)];
      out.turn(i, axes.first.col(row.i), axes.second.col(row.j));
    }
  }
}

template struct AxisJoint<kPlaces | kTilt>;
template struct AxisJoint<kAcross | kTurns>;
template struct AxisJoint<kAcross | kTilt>;
template struct AxisJoint<place_along(2) | kTilt>;
template struct AxisJoint<kAcross>;
template struct AxisJoint<place_along(2)>;
template struct AxisJoint<kPlaces | kTurns>;

Held turns_held(std::string_view type) {
  if (type == "prismatic" || type == "fixed") return kTurns;
  for (const std::string_view tilting : {"revolute", "cylindrical", "planar", "screw"})
    if (type == tilting) return kTilt;
  return 0;
}

ListedKind revolute() {
  return listed<Revolute>("revolute", "Hinge: the second body turns about an axis of the first.",
                          "Axis of the hinge in the initial configuration, inertial axes.");
}
ListedKind prismatic() {
  return listed<Prismatic>("prismatic",
                           "Slider: the second body moves along an axis of the first, without turning.",
                           "Direction of the sliding in the initial configuration, inertial axes.");
}
ListedKind cylindrical() {
  return listed<Cylindrical>("cylindrical",
                             "The second body moves along an axis of the first and turns about it.",
                             "The axis in the initial configuration, inertial axes.");
}
ListedKind planar() {
  return listed<Planar>(
      "planar", "A plane of the second body moves in a plane of the first: two displacements and a turn.",
      "Normal of the plane in the initial configuration, inertial axes.");
}
ListedKind point_on_line() {
  return listed<PointOnLine>("point_on_line", "A point of the second body stays on a line of the first.",
                             "Direction of the line in the initial configuration, inertial axes.");
}
ListedKind point_on_plane() {
  return listed<PointOnPlane>("point_on_plane", "A point of the second body stays in a plane of the first.",
                              "Normal of the plane in the initial configuration, inertial axes.");
}
ListedKind fixed() { return listed<Fixed>("fixed", "Weld: the two bodies move as one."); }

}  // namespace liedyn
