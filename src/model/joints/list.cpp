#include "liedyn/model/joints/list.h"

#include <fmt/format.h>

#include <algorithm>

#include "liedyn/base/registry.h"
#include "liedyn/model/joints/axis_joint.h"
#include "liedyn/model/joints/coordinate_joints.h"
#include "liedyn/model/joints/distance.h"
#include "liedyn/model/joints/gear_mesh.h"
#include "liedyn/model/joints/generic.h"
#include "liedyn/model/joints/held_rows.h"
#include "liedyn/model/joints/planar_joint.h"
#include "liedyn/model/joints/pulley.h"
#include "liedyn/model/joints/rolling_disc.h"
#include "liedyn/model/joints/spherical.h"
#include "liedyn/model/joints/universal.h"
#include "liedyn/model/registration.h"
#include "liedyn/model/tree_form.h"

namespace liedyn {

namespace {

std::vector<ListedKind> built_in() {
  return {spherical(),
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
}

Registry<ListedKind>& registry() {
  static Registry<ListedKind> registry(
      "joint", built_in(), [](const ListedKind& listed) -> const std::string& { return listed.kind.type; });
  return registry;
}

}  // namespace

const std::vector<ListedKind>& joint_kinds() { return registry().all(); }

std::string joint_mistake(const ListedKind& joint) {
  const std::unique_ptr<Batch> batch = joint.make(0);
  const int rows = batch->coupling().rows;
  const Kind& kind = joint.kind;
  // Sensors and forces read the axes of the joint there.
  const bool has_axes = kind.coordinates.angle || kind.coordinates.displacement || kind.held_turns != 0;
  if (has_axes && batch->constants_per_element() < kAxesConstants)
    return fmt::format(
        "has coordinates or constrained rotations: expected at least {} numbers, those of its axes, got {}",
        kAxesConstants, batch->constants_per_element());
  if (kind.bearing && kind.bearing.forces + kind.bearing.torques != rows)
    return fmt::format("its bearing has {} forces and {} torques, expected as many as constraint rows, {}",
                       kind.bearing.forces, kind.bearing.torques, rows);
  if (kind.tree == nullptr) return {};
  const std::vector<LinkKind>& motions = kind.tree->motions;
  if (motions.empty() || motions.size() > static_cast<std::size_t>(kMostTreeMotions) ||
      std::find(motions.begin(), motions.end(), LinkKind::Root) != motions.end())
    return fmt::format("expected 1 to {} motions in a tree, none of them a root", kMostTreeMotions);
  int free = 0;
  for (const LinkKind motion : motions)
    free += motion == LinkKind::Rotation ? 3 : motion == LinkKind::Weld ? 0 : 1;
  if (free + rows != 6)
    return fmt::format("its motions in a tree have {} directions, its {} constraint rows leave {}", free,
                       rows, 6 - rows);
  if (kind.tree->carried_by_bodies && !std::equal(motions.begin() + 1, motions.end(), motions.begin()))
    return "motions that are exchanged in a tree must be of the same kind";
  return {};
}

void register_joint(ListedKind kind) {
  check_kind("joint", kind.kind);
  if (kind.make == nullptr)
    throw InputError("joint '" + kind.kind.type + "'", "has no function that makes it");
  // What forces, sensors and trees know about the joints of the library depends on how these derive their numbers.
  if (kind.kind.coordinates.angle || kind.kind.coordinates.displacement || kind.kind.bearing ||
      kind.kind.tree)
    throw InputError("joint '" + kind.kind.type + "'",
                     "a registered joint cannot have coordinates that other elements name, a bearing or "
                     "motions in a tree");
  // Elements of several shapes have several sets of attachments, and none without an entry.
  if (kind.shape == nullptr) {
    check_attachments("joint", kind.kind, kind.make(0)->attachments());
    if (std::string mistake = joint_mistake(kind); !mistake.empty())
      throw InputError("joint '" + kind.kind.type + "'", std::move(mistake));
  }
  registry().add(std::move(kind));
}

}  // namespace liedyn
