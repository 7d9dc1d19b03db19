#include "liedyn/model/forces/list.h"

#include "liedyn/base/registry.h"
#include "liedyn/model/forces/applied.h"
#include "liedyn/model/forces/bearing.h"
#include "liedyn/model/forces/belt.h"
#include "liedyn/model/forces/bushing.h"
#include "liedyn/model/forces/clutch.h"
#include "liedyn/model/forces/contact.h"
#include "liedyn/model/forces/coordinate_forces.h"
#include "liedyn/model/forces/dc_motor.h"
#include "liedyn/model/forces/hydraulics.h"
#include "liedyn/model/forces/joint_effort.h"
#include "liedyn/model/forces/line_load.h"
#include "liedyn/model/forces/spring_damper.h"
#include "liedyn/model/forces/two_point_force.h"
#include "liedyn/model/forces/tyre.h"
#include "liedyn/model/registration.h"

namespace liedyn {

namespace {

std::vector<ListedKind> built_in() {
  std::vector<ListedKind> kinds = {force(),
                                   torque(),
                                   spring_damper(),
                                   bushing(),
                                   joint_spring(),
                                   joint_stop(),
                                   joint_actuator(),
                                   joint_friction(),
                                   joint_effort(),
                                   line_load(),
                                   two_point_force(),
                                   belt(),
                                   bearing(),
                                   dc_motor(),
                                   clutch(),
                                   joint_clutch(),
                                   hydraulic_cylinder(),
                                   joint_hydraulics()};
  for (ListedKind& kind : contact_kinds()) kinds.push_back(std::move(kind));
  kinds.push_back(tyre());
  return kinds;
}

Registry<ListedKind>& registry() {
  static Registry<ListedKind> registry(
      "force", built_in(), [](const ListedKind& listed) -> const std::string& { return listed.kind.type; });
  return registry;
}

}  // namespace

const std::vector<ListedKind>& force_kinds() { return registry().all(); }

void register_force(ListedKind kind) {
  check_kind("force", kind.kind);
  if (kind.make == nullptr)
    throw InputError("force '" + kind.kind.type + "'", "has no function that makes it");
  // Elements of several shapes have several sets of attachments, and none without an entry.
  if (kind.shape == nullptr) check_attachments("force", kind.kind, kind.make(0)->attachments());
  registry().add(std::move(kind));
}

}  // namespace liedyn
