#include "model/forces/list.h"

#include "model/forces/applied.h"
#include "model/forces/belt.h"
#include "model/forces/bushing.h"
#include "model/forces/contact.h"
#include "model/forces/coordinate_forces.h"
#include "model/forces/joint_effort.h"
#include "model/forces/line_load.h"
#include "model/forces/spring_damper.h"
#include "model/forces/two_point_force.h"

namespace liedyn {

const std::vector<ListedKind>& force_kinds() {
  static const std::vector<ListedKind> list = [] {
    std::vector<ListedKind> kinds = {force(),        torque(),     spring_damper(),   bushing(),
                                     joint_spring(), joint_stop(), joint_actuator(),  joint_friction(),
                                     joint_effort(), line_load(),  two_point_force(), belt()};
    for (ListedKind& kind : contact_kinds()) kinds.push_back(std::move(kind));
    return kinds;
  }();
  return list;
}

}  // namespace liedyn
