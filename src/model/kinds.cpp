#include "liedyn/model/beams/list.h"
#include "liedyn/model/bodies/list.h"
#include "liedyn/model/description.h"
#include "liedyn/model/flexible/list.h"
#include "liedyn/model/forces/list.h"
#include "liedyn/model/joints/list.h"
#include "liedyn/model/sensors/list.h"
#include "liedyn/model/states/list.h"

namespace liedyn {
namespace {

template <class Listed>
std::vector<Kind> only_kinds(const std::vector<Listed>& list) {
  std::vector<Kind> out;
  out.reserve(list.size());
  for (const Listed& listed : list) out.push_back(listed.kind);
  return out;
}

}  // namespace

std::string_view section_name(Section section) {
  constexpr std::string_view names[] = {"bodies", "beams",  "flexible", "joints",
                                        "forces", "states", "sensors"};
  return names[static_cast<std::size_t>(section)];
}

const std::vector<Kind>& kinds(Section section) {
  static const std::array<std::vector<Kind>, kSectionCount> all = {
      only_kinds(body_kinds()),  only_kinds(beam_kinds()),  only_kinds(flexible_kinds()),
      only_kinds(joint_kinds()), only_kinds(force_kinds()), only_kinds(state_kinds()),
      only_kinds(sensor_kinds())};
  return all[static_cast<std::size_t>(section)];
}

const Kind* find_kind(Section section, std::string_view type) {
  for (const Kind& kind : kinds(section))
    if (kind.type == type) return &kind;
  return nullptr;
}

}  // namespace liedyn
