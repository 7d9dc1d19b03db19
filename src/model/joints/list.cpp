#include "model/joints/list.h"

#include "model/joints/axis_joint.h"
#include "model/joints/coordinate_joints.h"
#include "model/joints/distance.h"
#include "model/joints/gear_mesh.h"
#include "model/joints/generic.h"
#include "model/joints/planar_joint.h"
#include "model/joints/pulley.h"
#include "model/joints/rolling_disc.h"
#include "model/joints/spherical.h"
#include "model/joints/universal.h"

namespace liedyn {

const std::vector<ListedKind>& joint_kinds() {
  static const std::vector<ListedKind> list = {spherical(),
                                               revolute(),
                                               prismatic(),
                                               cylindrical(),
                                               universal(),
                                               planar(),
                                               fixed(),
                                               distance(),
                                               point_on_line(),
                                               point_on_plane(),
                                               generic(),
                                               screw(),
                                               rolling_disc(),
                                               prescribed_motion(),
                                               prescribed_velocity(),
                                               gear(),
                                               gear_mesh(),
                                               pulley(),
                                               planar_revolute(),
                                               planar_prismatic(),
                                               planar_fixed(),
                                               planar_point_on_line()};
  return list;
}

}  // namespace liedyn
