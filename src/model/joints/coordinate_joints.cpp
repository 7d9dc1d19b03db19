#include "liedyn/model/joints/coordinate_joints.h"

#include "liedyn/model/common_fields.h"
#include "liedyn/model/joints/coordinate_rows.h"

namespace liedyn {
namespace {

enum DriverFields { kJoint, kCoordinate, kMotion };
enum GearFields { kJoints, kRatio };
enum ScrewFields { kBetween, kAt, kAxis, kPitch };

// The coordinate is zero in the initial configuration: so is the turn that it begins in.
template <class E, class S>
void begin_angles(S* p) {
  for (int i = E::constants - E::angles; i < E::constants; ++i) p[i] = S(0);
}

Field motion(std::string name, std::string unit, std::string summary) {
  return {.name = std::move(name),
          .type = FieldType::Number,
          .unit = std::move(unit),
          .summary = std::move(summary),
          .required = true,
          .may_depend_on_time = true};
}

}  // namespace

// ---- prescribed motion

std::vector<Attachment> PrescribedMotion::attachments() { return frames_of_joint(kJoint); }

template <class S>
void PrescribedMotion::derive(const Inputs<S>& in, S* p) {
  derive_coordinate(in, 0, kCoordinate, p);
  p[kCoordinateConstants] = in.number(kMotion);
  p[kCoordinateConstants + 1] = in.rate(kMotion);
  p[kCoordinateConstants + 2] = in.second_rate(kMotion);
}

template <class S>
void PrescribedMotion::derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                                   JointDerivatives<2, 1, S>& d) {
  const S* motion = p + kCoordinateConstants;
  CoordinateDerivativesOf<S> x;
  coordinate_derivatives(f[0], f[1], p, value(motion[0]), x);
  set_zero(d);
  add_coordinate(x, S(1), lambda[0], 0, 0, d);
  d.phi[0] -= motion[0];
  d.phi_t[0] = -motion[1];
  d.bias[0] -= motion[2];
}
template void PrescribedMotion::derivatives<double>(const std::array<Motion<double>, 2>&, const double*,
                                                    const double*, JointDerivatives<2, 1>&);

ListedKind prescribed_motion() {
  return {
      {.type = "prescribed_motion",
       .summary = "Drives a joint: its angle or displacement is a given function of time.",
       .fields =
           {named_joint("The joint that is driven.").as(kJoint), joint_coordinate_choice().as(kCoordinate),
            motion("motion", "rad or m",
                   "The coordinate, counted from the zero of the joint: a number or a function of the time "
                   "t.")
                .as(kMotion)},
       .is_smooth = true,
       .drives = Drives::Value},
      &make_batch<PrescribedMotion>};
}

// ---- prescribed velocity

std::vector<Attachment> PrescribedVelocity::attachments() { return frames_of_joint(kJoint); }

template <class S>
void PrescribedVelocity::derive(const Inputs<S>& in, S* p) {
  derive_coordinate(in, 0, kCoordinate, p);
  p[kCoordinateConstants] = in.number(kMotion);
  p[kCoordinateConstants + 1] = in.rate(kMotion);
}

template <class S>
void PrescribedVelocity::derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                                     JointDerivatives<2, 1, S>& d) {
  CoordinateDerivativesOf<S> x;
  coordinate_derivatives(f[0], f[1], p, 0, x);
  set_zero(d);
  add_coordinate(x, S(1), lambda[0], 0, 0, d);
  d.phi_t[0] = -p[kCoordinateConstants];
  d.bias[0] -= p[kCoordinateConstants + 1];
}
template void PrescribedVelocity::derivatives<double>(const std::array<Motion<double>, 2>&, const double*,
                                                      const double*, JointDerivatives<2, 1>&);

ListedKind prescribed_velocity() {
  return {{.type = "prescribed_velocity",
           .summary = "Drives a joint: the rate of its angle or displacement is a given function of time.",
           .fields = {named_joint("The joint that is driven.").as(kJoint),
                      joint_coordinate_choice().as(kCoordinate),
                      motion("velocity", "rad/s or m/s",
                             "The rate of the coordinate: a number or a function of the time t.")
                          .as(kMotion)},
           .is_smooth = true,
           .drives = Drives::Rate},
          &make_batch<PrescribedVelocity>};
}

// ---- gear

std::vector<Attachment> Gear::attachments() { return frames_of_joint(kJoints, 2); }

template <class S>
void Gear::derive(const Inputs<S>& in, S* p) {
  derive_coordinate(in, 0, -1, p);
  derive_coordinate(in, 1, -1, p + kCoordinateConstants);
  // Wheels mesh in the initial configuration, wherever the zeros of their joints are.
  for (const int i : {0, kCoordinateConstants}) p[i + kInitialAngle] = p[i + kInitialDisplacement] = S(0);
  p[2 * kCoordinateConstants] = in.number(kRatio);
  begin_angles<Gear>(p);
}

template <class S>
void Gear::derivatives(const std::array<Motion<S>, 4>& f, const S* p, const S* lambda,
                       JointDerivatives<4, 1, S>& d) {
  CoordinateDerivativesOf<S> x;
  set_zero(d);
  coordinate_derivatives(f[0], f[1], p, value(p[constants - 2]), x);
  add_coordinate(x, S(1), lambda[0], 0, 0, d);
  coordinate_derivatives(f[2], f[3], p + kCoordinateConstants, value(p[constants - 1]), x);
  add_coordinate(x, S(-p[2 * kCoordinateConstants]), lambda[0], 0, 2, d);
}
template void Gear::derivatives<double>(const std::array<Motion<double>, 4>&, const double*, const double*,
                                        JointDerivatives<4, 1>&);

void Gear::wound_angles(const std::array<Motion<double>, 4>& f, const double* p, double* out) {
  out[0] = coordinate_value<double>(f[0], f[1], p, p[constants - 2]);
  out[1] = coordinate_value<double>(f[2], f[3], p + kCoordinateConstants, p[constants - 1]);
}

ListedKind gear() {
  return {
      {.type = "gear",
       .summary = "Couples the coordinates of two joints: gear wheels, rack and pinion, pulleys.",
       .fields = {{.name = "joints",
                   .type = FieldType::Joints,
                   .unit = "",
                   .summary = "The two joints, each with one coordinate (of a cylindrical joint, the angle).",
                   .required = true,
                   .index = kJoints},
                  {.name = "ratio",
                   .type = FieldType::Number,
                   .unit = "",
                   .summary =
                       "First coordinate over second: -z2/z1 for external gear wheels, the radius in m for "
                       "a rack (first) and its "
                       "pinion.",
                   .required = true,
                   .index = kRatio}},
       .is_smooth = true},
      &make_batch<Gear>};
}

// ---- screw

std::vector<Attachment> Screw::attachments() { return held_attachments(held, kBetween, kAt); }

template <class S>
void Screw::derive(const Inputs<S>& in, S* p) {
  derive_axes(in, kAxis, p);
  derive_zero(in, p);
  p[kAxesConstants] = S(0);
  p[kCoordinateConstants] = in.number(kPitch) / (2 * std::numbers::pi);
  begin_angles<Screw>(p);
}

void Screw::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  check_direction(in, kAxis, "axis", message, hint);
}

std::string Screw::row_name(int row) {
  return row == 4 ? "pitch" : liedyn::row_name(held_rows(held)[static_cast<std::size_t>(row)]);
}

template <class S>
void Screw::derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                        JointDerivatives<2, 5, S>& d) {
  const JointAxes<S> axes(p);
  RowDerivatives<5, S> rows(f, lambda, d);
  for (int i = 0; i < 4; ++i) rows.held(i, held_rows(held)[static_cast<std::size_t>(i)], axes);
  rows.along(4, -axes.first.col(2));
  CoordinateDerivativesOf<S> x;
  coordinate_derivatives(f[0], f[1], p, value(p[constants - 1]), x);
  add_coordinate(x, S(-p[kCoordinateConstants]), lambda[4], 4, 0, d);
}
template void Screw::derivatives<double>(const std::array<Motion<double>, 2>&, const double*, const double*,
                                         JointDerivatives<2, 5>&);

void Screw::wound_angles(const std::array<Motion<double>, 2>& f, const double* p, double* out) {
  out[0] = coordinate_value<double>(f[0], f[1], p, p[constants - 1]);
}

ListedKind screw() {
  return {{.type = "screw",
           .summary = "The second body turns about an axis of the first and moves along it in proportion.",
           .fields = {between_bodies().as(kBetween),
                      common_place().as(kAt),
                      direction("axis", "Axis of the screw in the initial configuration, inertial axes.",
                                BodyAxes::Each)
                          .as(kAxis),
                      {.name = "pitch",
                       .type = FieldType::Number,
                       .unit = "m",
                       .summary = "Displacement along the axis per full turn.",
                       .required = true,
                       .index = kPitch}},
           .coordinates = {.angle = true, .displacement = true},
           .is_smooth = true,
           .held_turns = Screw::held & kTurns},
          &make_batch<Screw>};
}

}  // namespace liedyn
