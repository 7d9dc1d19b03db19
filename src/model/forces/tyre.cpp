#include "liedyn/model/forces/tyre.h"

#include <fmt/format.h>

#include "liedyn/model/common_fields.h"
#include "liedyn/model/forces/relative_partials.h"

namespace liedyn {
namespace {

enum Fields {
  kBetween,
  kPoints,
  kPlaneNormal,
  kWheelAxis,
  kWheelRadius,
  kStiffness,
  kFriction = kStiffness + kNormalFields,
  kLongitudinalStiffness,
  kCorneringStiffness,
  kNominalLoad,
  kPatchLength,
  kRollingRadius,
  kRollingResistance,
  kMinimumSpeed
};

Field number(std::string name, std::string unit, std::string summary, std::vector<double> defaults,
             Range range, bool required = false) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .required = required,
          .defaults = std::move(defaults),
          .range = range};
}

}  // namespace

std::vector<Attachment> Tyre::attachments() {
  std::vector<Attachment> out = frames_at_two_points(kBetween, kPoints);
  for (Attachment& a : out) a.oriented = true;
  return out;
}

template <class S>
void Tyre::derive(const Inputs<S>& in, S* p) {
  Eigen::Map<Vec3T<S>>{p + kNormal} = in.direction_in_body(kPlaneNormal, 0).normalized();
  Eigen::Map<Vec3T<S>>{p + kAxis} = in.direction_in_body(kWheelAxis, 1).normalized();
  p[kRadius] = in.number(kWheelRadius);
  derive_normal(in, kStiffness, p + kLaw);
  p[kMu] = in.number(kFriction);
  p[kLongitudinal] = in.number(kLongitudinalStiffness);
  p[kLateral] = in.number(kCorneringStiffness);
  p[kGrows] = S(in.stored(kNominalLoad) ? 1 : 0);
  if (in.stored(kNominalLoad)) {
    p[kLongitudinal] /= in.number(kNominalLoad);
    p[kLateral] /= in.number(kNominalLoad);
  }
  p[kHalfPatch] = in.number(kPatchLength) / 2;
  p[kRolling] = in.stored(kRollingRadius) ? in.number(kRollingRadius) : S(0);
  p[kResistance] = in.number(kRollingResistance);
  p[kLeastSpeed] = in.number(kMinimumSpeed);
}

void Tyre::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  check_direction(in, kPlaneNormal, "normal", message, hint);
  if (message.empty()) check_direction(in, kWheelAxis, "axis", message, hint);
  if (message.empty()) check_normal(in, kStiffness, message, hint);
  if (!message.empty()) return;
  const Vec3 normal = in.frame(0).R * in.direction_in_body(kPlaneNormal, 0).normalized(),
             axis = in.frame(1).R * in.direction_in_body(kWheelAxis, 1).normalized();
  constexpr double kLeast = 1e-3;  // sine of the angle between them
  if (normal.cross(axis).norm() < kLeast) {
    message = fmt::format(
        "axis: the wheel lies flat: its axis [{:.4g}, {:.4g}, {:.4g}] is along the normal of the road",
        axis.x(), axis.y(), axis.z());
    hint = "expected the axis about which the wheel turns, along the road";
  }
}

void Tyre::partials(const World<double>&, const Motions& f, const double* p, ForcePartials<2>& d) {
  if (stance(f, p).depth > 0) return relative_partials<Tyre>(f, p, d);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) d.K[i][j].setZero(), d.C[i][j].setZero();
}

ListedKind tyre() {
  std::vector<Field> fields = {
      between_bodies("The body with the road, and the body with the wheel.").as(kBetween),
      two_points().as(kPoints),
      direction("normal",
                "Normal of the road in the initial configuration, inertial axes, towards the wheel.",
                BodyAxes::First)
          .as(kPlaneNormal),
      direction(
          "axis",
          "Axis of the wheel in the initial configuration, inertial axes; the wheel rolls forwards along "
          "axis x normal if its spin about the axis is positive.",
          BodyAxes::Second)
          .as(kWheelAxis),
      number("radius", "m", "Radius of the wheel without load.", {}, Range::Positive, true).as(kWheelRadius)};
  fields[kPoints].summary =
      "In the initial configuration, inertial axes: a point of the road, and the centre of the wheel.";
  int index = kStiffness;
  for (const Field& field : normal_fields(1)) fields.push_back(field.as(index++));
  const Field of_slip[] = {
      number("friction", "", "Coefficient of friction mu: the largest force is mu times the load.", {},
             Range::Positive, true)
          .as(kFriction),
      number("longitudinal_stiffness", "N",
             "Longitudinal force divided by the longitudinal slip, for small slip.", {}, Range::Positive,
             true)
          .as(kLongitudinalStiffness),
      number("cornering_stiffness", "N/rad", "Lateral force divided by the slip angle, for small slip.", {},
             Range::Positive, true)
          .as(kCorneringStiffness),
      number("nominal_load", "N",
             "Load that both slip stiffnesses belong to; they are then proportional to the load. Without it "
             "they do not depend on the load.",
             {}, Range::Positive)
          .as(kNominalLoad),
      number("patch_length", "m",
             "Length of the contact patch, for the self-aligning torque; 0: there is none.", {0},
             Range::NonNegative)
          .as(kPatchLength),
      number("rolling_radius", "m",
             "Distance per turn of a free wheel, divided by 2 pi; the loaded radius if not given.", {},
             Range::Positive)
          .as(kRollingRadius),
      number("rolling_resistance", "", "Resistance of the rolling wheel divided by the load.", {0},
             Range::NonNegative)
          .as(kRollingResistance),
      number("minimum_speed", "m/s",
             "Rolling speed below which the forces fall smoothly to those of a viscous damper.", {0.1},
             Range::Positive)
          .as(kMinimumSpeed)};
  fields.insert(fields.end(), std::begin(of_slip), std::end(of_slip));
  return {
      {"tyre",
       "A tyre: a wheel of the second body on a plane road of the first, with the combined slip forces of "
       "the brush model.",
       std::move(fields)},
      &make_watched<Tyre>};
}

}  // namespace liedyn
