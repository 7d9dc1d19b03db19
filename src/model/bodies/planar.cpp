#include "liedyn/model/bodies/planar.h"

#include "liedyn/model/formulation_field.h"

namespace liedyn {
namespace {

enum Fields { kMass, kInertia, kReference };

}  // namespace

template <class S>
void PlanarInertia::derive(const Inputs<S>& in, S* p) {
  const S m = in.number(kMass);
  const Vec3T<S> c = -in.vector(kReference);
  std::fill_n(p, constants, S(0));
  p[0] = m;
  Eigen::Map<Vec3T<S>>(p + 1) = m * c;
  p[6] = in.number(kInertia) + m * c.squaredNorm();
}
template void PlanarInertia::derive<double>(const Inputs<double>&, double*);

BodyKind planar_body() {
  return {{.type = "planar",
           .summary = "Rigid body in the inertial x-y plane: three degrees of freedom.",
           .fields = {{.name = "mass",
                       .type = FieldType::Number,
                       .unit = "kg",
                       .summary = "Mass.",
                       .required = true,
                       .range = Range::NonNegative,
                       .weighs = true,
                       .index = kMass},
                      {.name = "inertia",
                       .type = FieldType::Number,
                       .unit = "kg m^2",
                       .summary = "Inertia about the centre of mass.",
                       .required = true,
                       .range = Range::NonNegative,
                       .weighs = true,
                       .index = kInertia},
                      {.name = "reference",
                       .type = FieldType::PlaneVector,
                       .unit = "m",
                       .summary = "Reference point relative to the centre of mass, in body axes. `position` "
                                  "and `velocity` refer to this point.",
                       .defaults = {0, 0},
                       .pose = PoseRole::Fixed,
                       .index = kReference},
                      {.name = "position",
                       .type = FieldType::PlaneVector,
                       .unit = "m",
                       .summary = "Initial position of the reference point, inertial axes.",
                       .defaults = {0, 0},
                       .is_initial = true,
                       .may_be_consistent = true,
                       .pose = PoseRole::Point},
                      {.name = "angle",
                       .type = FieldType::Number,
                       .unit = "rad",
                       .summary = "Initial angle from the inertial to the body axes.",
                       .defaults = {0},
                       .is_initial = true,
                       .may_be_consistent = true,
                       .pose = PoseRole::Angle},
                      {.name = "velocity",
                       .type = FieldType::PlaneVector,
                       .unit = "m/s",
                       .summary = "Initial velocity of the reference point, inertial axes.",
                       .defaults = {0, 0},
                       .is_initial = true,
                       .may_be_consistent = true,
                       .pose = PoseRole::Direction},
                      {.name = "angular_velocity",
                       .type = FieldType::Number,
                       .unit = "rad/s",
                       .summary = "Initial angular velocity.",
                       .defaults = {0},
                       .is_initial = true,
                       .may_be_consistent = true},
                      formulation_field("Coordinates of this body", &Formulation::planar)},
           .is_smooth = true},
          &make_batch<PlanarInertia>,
          [](std::string_view formulation) { return absolute_formulation(formulation).planar; }};
}

}  // namespace liedyn
