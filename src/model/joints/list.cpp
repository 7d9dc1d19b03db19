#include "liedyn/model/joints/list.h"

#include "liedyn/base/registry.h"
#include "liedyn/model/joints/axis_joint.h"
#include "liedyn/model/joints/coordinate_joints.h"
#include "liedyn/model/joints/distance.h"
#include "liedyn/model/joints/generic.h"
#include "liedyn/model/joints/planar_joint.h"
#include "liedyn/model/joints/rolling_disc.h"
#include "liedyn/model/joints/spherical.h"
#include "liedyn/model/joints/universal.h"
#include "liedyn/model/registration.h"

namespace liedyn {

namespace {

std::vector<ListedKind> built_in() {
  return {spherical(), revolute(),        prismatic(),        cylindrical(),       universal(),
          planar(),    fixed(),           distance(),         point_on_line(),     point_on_plane(),
          generic(),   screw(),           rolling_disc(),     prescribed_motion(), prescribed_velocity(),
          gear(),      planar_revolute(), planar_prismatic(), planar_fixed(),      planar_point_on_line()};
}

Registry<ListedKind>& registry() {
  static Registry<ListedKind> registry(
      "joint", built_in(), [](const ListedKind& listed) -> const std::string& { return listed.kind.type; });
  return registry;
}

}  // namespace

const std::vector<ListedKind>& joint_kinds() { return registry().all(); }

void register_joint(ListedKind kind) {
  check_kind("joint", kind.kind);
  if (kind.make == nullptr)
    throw InputError("joint '" + kind.kind.type + "'", "has no function that makes it");
  // Elements of several shapes have several sets of attachments, and none without an entry.
  if (kind.shape == nullptr) check_attachments("joint", kind.kind, kind.make(0)->attachments());
  registry().add(std::move(kind));
}

}  // namespace liedyn
