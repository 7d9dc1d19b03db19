#include "liedyn/model/forces/joint_effort.h"

#include "liedyn/model/common_fields.h"

namespace liedyn {
namespace {

enum EffortFields { kEffortJoint, kEffortCoordinate, kEffort };

}  // namespace

std::vector<Attachment> JointEffort::attachments() { return frames_of_joint(kEffortJoint); }

template <class S>
void JointEffort::derive(const Inputs<S>& in, S* p) {
  derive_coordinate(in, 0, kEffortCoordinate, p);
  p[kCoordinateConstants] = in.number(kEffort);
}

void JointEffort::partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                           ForcePartials<2>& d) {
  CoordinateDerivatives x;
  coordinate_derivatives(f[0], f[1], p, 0, x);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) d.K[i][j] = -p[kCoordinateConstants] * x.G[i][j];
}

ListedKind joint_effort() {
  return {
      {"joint_effort",
       "Torque or force in a joint, optionally an expression of states and sensors: controllers and motors.",
       {named_joint("The joint it acts in.").as(kEffortJoint),
        joint_coordinate_choice().as(kEffortCoordinate),
        {.name = "effort",
         .type = FieldType::Number,
         .unit = "N m or N",
         .summary = "The torque or force on the second body, in the direction of the coordinate.",
         .required = true,
         .may_depend_on_time = true,
         .may_depend_on_signals = true,
         .load = LoadKind::TorqueOrForce,
         .index = kEffort}}},
      &make_force<JointEffort>,
      &signal_shape};
}

}  // namespace liedyn
