#include "liedyn/model/bodies/rigid.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>

#include "liedyn/model/formulation_field.h"

namespace liedyn {
namespace {

enum RigidField { kMass, kInertia, kReference };
enum PointField { kPointMass };

Field mass_field() {
  return {.name = "mass",
          .type = FieldType::Number,
          .unit = "kg",
          .summary = "Mass.",
          .required = true,
          .range = Range::NonNegative,
          .weighs = true};
}
Field inertia_field() {
  return {.name = "inertia",
          .type = FieldType::Inertia,
          .unit = "kg m^2",
          .summary =
              "Inertia about the centre of mass in body axes: principal moments, (xx, yy, zz, yz, xz, xy), "
              "or a 3x3 matrix.",
          .required = true,
          .weighs = true};
}
Field reference_field() {
  return {.name = "reference",
          .type = FieldType::Vector,
          .unit = "m",
          .summary =
              "Reference point relative to the centre of mass, in body axes. `position` and `velocity` refer "
              "to this point.",
          .defaults = {0, 0, 0},
          .pose = PoseRole::Fixed};
}
Field position_field(const std::string& of) {
  return {.name = "position",
          .type = FieldType::Vector,
          .unit = "m",
          .summary = "Initial position of " + of + ", inertial axes.",
          .defaults = {0, 0, 0},
          .is_initial = true,
          .may_be_consistent = true,
          .pose = PoseRole::Point};
}
Field orientation_field() {
  return {.name = "orientation",
          .type = FieldType::Rotation,
          .unit = "rad",
          .summary = "Initial orientation, body to inertial axes.",
          .defaults = {0, 0, 0},
          .is_initial = true,
          .may_be_consistent = true,
          .pose = PoseRole::Orientation};
}
Field velocity_field(const std::string& of) {
  return {.name = "velocity",
          .type = FieldType::Vector,
          .unit = "m/s",
          .summary = "Initial velocity of " + of + ", inertial axes.",
          .defaults = {0, 0, 0},
          .is_initial = true,
          .may_be_consistent = true,
          .pose = PoseRole::Direction};
}
Field angular_velocity_field() {
  return {.name = "angular_velocity",
          .type = FieldType::Vector,
          .unit = "rad/s",
          .summary = "Initial angular velocity, body axes.",
          .defaults = {0, 0, 0},
          .is_initial = true,
          .replaced_by = "angular_velocity_inertial",
          .may_be_consistent = true,
          .pose = PoseRole::Fixed};
}
Field inertial_angular_velocity_field() {
  return {.name = "angular_velocity_inertial",
          .type = FieldType::Vector,
          .unit = "rad/s",
          .summary = "Initial angular velocity in inertial axes, instead of angular_velocity.",
          .is_initial = true,
          .pose = PoseRole::Direction};
}

}  // namespace

std::vector<Attachment> RigidInertia::attachments() { return {}; }
std::vector<Attachment> PointInertia::attachments() { return {}; }

template <class S>
void RigidInertia::derive(const Inputs<S>& in, S* p) {
  using V3 = Vec3T<S>;
  const S m = in.number(kMass);
  const V3 c = -in.vector(kReference);
  const Mat3T<S> J = inertia_matrix(in.values(kInertia)) - m * (skew(c) * skew(c));
  p[0] = m;
  Eigen::Map<V3>(p + 1) = m * c;
  p[4] = J(0, 0), p[5] = J(1, 1), p[6] = J(2, 2), p[7] = J(1, 2), p[8] = J(0, 2), p[9] = J(0, 1);
}
template void RigidInertia::derive<double>(const Inputs<double>&, double*);

template <class S>
void PointInertia::derive(const Inputs<S>& in, S* p) {
  p[0] = in.number(kPointMass);
}
template void PointInertia::derive<double>(const Inputs<double>&, double*);

// A body made of mass has a positive semi-definite inertia whose principal moments satisfy the triangle inequality.
void RigidInertia::check(const Inputs<double>& in, std::string& message, std::string& hint) {
  const Vec3 moments =
      Eigen::SelfAdjointEigenSolver<Mat3>(inertia_matrix(in.values(kInertia)), Eigen::EigenvaluesOnly)
          .eigenvalues();
  const double slack = 1e-9 * std::abs(moments[2]);
  if (moments[0] < -slack) {
    message =
        fmt::format("inertia must be positive semi-definite, got principal moments {:.6g}, {:.6g}, {:.6g}",
                    moments[0], moments[1], moments[2]);
    hint =
        "inertia is about the centre of mass, in body axes; check signs and order (xx, yy, zz, yz, xz, xy)";
  } else if (moments[0] + moments[1] < moments[2] - slack) {
    message = fmt::format(
        "inertia is not that of a body: principal moments {:.6g}, {:.6g}, {:.6g} violate a + b >= c",
        moments[0], moments[1], moments[2]);
    hint =
        "no distribution of positive mass has such an inertia; check units and order (xx, yy, zz, yz, xz, "
        "xy)";
  }
}

void RigidInertia::partials(const World<double>& world, const std::array<Motion<double>, 1>& f,
                            const double* n, ForcePartials<1>& d) {
  const double m = n[0];
  const Vec3 mc = Eigen::Map<const Vec3>(n + 1);
  const Mat3 J = inertia_matrix(n + 4), c = skew(mc);
  const Vec3 v = f[0].V.head<3>(), w = f[0].V.tail<3>();
  const Vec3 p = m * v + w.cross(mc), L = mc.cross(v) + J * w;
  const Mat3 vt = skew(v), wt = skew(w), pt = skew(p),
             gravity = skew(Vec3(f[0].R.transpose() * world.gravity));

  // d(-R^T gravity) = -(R^T gravity)~ d_r
  Mat6& K = d.K[0][0];
  K.leftCols<3>().setZero();
  K.topRightCorner<3, 3>() = -m * gravity;
  K.bottomRightCorner<3, 3>().noalias() = -c * gravity;

  // dp = m dv - (m c)~ dOmega,  dL = (m c)~ dv + J dOmega
  Mat6& C = d.C[0][0];
  C.topLeftCorner<3, 3>() = m * wt;
  C.topRightCorner<3, 3>().noalias() = -pt - wt * c;
  C.bottomLeftCorner<3, 3>().noalias() = wt * c + m * vt - pt;
  C.bottomRightCorner<3, 3>().noalias() = wt * J - skew(L) - vt * c;

  Mat6& M = d.M[0][0];
  M.topLeftCorner<3, 3>() = m * Mat3::Identity();
  M.topRightCorner<3, 3>() = -c;
  M.bottomLeftCorner<3, 3>() = c;
  M.bottomRightCorner<3, 3>() = J;
}

void PointInertia::partials(const World<double>& world, const std::array<Motion<double>, 1>& f,
                            const double* n, ForcePartials<1>& d) {
  const Vec3 v = f[0].V.head<3>(), w = f[0].V.tail<3>();
  d.K[0][0].setZero();
  d.K[0][0].topRightCorner<3, 3>() = -n[0] * skew(Vec3(f[0].R.transpose() * world.gravity));
  d.C[0][0].setZero();
  d.C[0][0].topLeftCorner<3, 3>() = n[0] * skew(w);
  d.C[0][0].topRightCorner<3, 3>() = -n[0] * skew(v);
  d.M[0][0].setZero();
  d.M[0][0].topLeftCorner<3, 3>() = n[0] * Mat3::Identity();
}

BodyKind rigid() {
  return {{.type = "rigid",
           .summary = "Rigid body, free to move in space.",
           .fields = {mass_field().as(kMass),
                      inertia_field().as(kInertia),
                      reference_field().as(kReference),
                      position_field("the reference point"),
                      orientation_field(),
                      velocity_field("the reference point"),
                      angular_velocity_field(),
                      inertial_angular_velocity_field(),
                      formulation_field("Coordinates of this body"),
                      {.name = "on",
                       .type = FieldType::Body,
                       .unit = "",
                       .summary = "Body or beam node to which this body is rigidly attached. It adds its "
                                  "inertia there and has no degrees of freedom or constraints of its own. "
                                  "Position and velocity are those of that body if not given."}},
           .is_smooth = true},
          &make_batch<RigidInertia>,
          [](std::string_view formulation) { return absolute_formulation(formulation).body; }};
}

BodyKind rotating() {
  return {{.type = "rotating",
           .summary = "Rigid body that rotates about its fixed reference point: three degrees of freedom, no "
                      "constraints.",
           .fields = {mass_field().as(kMass), inertia_field().as(kInertia), reference_field().as(kReference),
                      position_field("the fixed point"), orientation_field(), angular_velocity_field(),
                      inertial_angular_velocity_field()},
           .is_smooth = true},
          &make_batch<RigidInertia>,
          [](std::string_view formulation) { return absolute_formulation(formulation).turning; }};
}

BodyKind point() {
  return {{.type = "point",
           .summary = "Point mass: three degrees of freedom.",
           .fields = {mass_field().as(kPointMass), position_field("the point"), velocity_field("the point")},
           .is_smooth = true,
           .is_point = true},
          &make_batch<PointInertia>,
          [](std::string_view) { return NodeType::R3; }};
}

}  // namespace liedyn
