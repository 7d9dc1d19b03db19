#include "liedyn/model/flexible/connect.h"

#include "liedyn/base/index.h"
#include "liedyn/model/flexible/body.h"

namespace liedyn {
namespace {

// The bodies that each entry consists of: its frame or the interface itself, and its modes.
struct Parts {
  explicit Parts(const Description& d)
      : frame(d.entries(Section::Flexible).size()), modes(d.entries(Section::Flexible).size()) {
    const auto& bodies = d.entries(Section::Bodies);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      if (!bodies[i].is_part_of(Section::Flexible)) continue;
      if (bodies[i].kind->is_modal)
        modes[at(bodies[i].owner)].push_back(static_cast<int>(i));
      else
        frame[at(bodies[i].owner)] = static_cast<int>(i);
    }
  }
  std::vector<int> frame;
  std::vector<std::vector<int>> modes;
};

}  // namespace

void connect_flexible(Model& m, const EntryNames& names) {
  const Description& d = m.description();
  const auto& entries = d.entries(Section::Flexible);
  if (entries.empty()) return;
  const Parts parts(d);
  std::vector<std::shared_ptr<FlexibleSource>> sources(entries.size());
  const auto owner = [&](std::size_t i) {
    return is_interface(entries[i]) ? at(names.find(Section::Flexible, interface_owner(d, entries[i]))) : i;
  };
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_member(entries[i])) continue;
    std::shared_ptr<FlexibleSource>& source = sources[owner(i)];
    if (source == nullptr) source = std::make_shared<FlexibleSource>(d, static_cast<int>(owner(i)));
    if (is_interface(entries[i])) source->add_interface(static_cast<int>(i));
  }
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    if (m.sections[b] != Section::Flexible) continue;
    auto& batch = dynamic_cast<FlexibleBatch&>(*m.batches[b]);
    const auto i = static_cast<std::size_t>(batch.entries.front());
    batch.connect(sources[owner(i)], 3 * static_cast<int>(parts.modes[owner(i)].size()));
    const auto add = [&](int body) {
      batch.frames.push_back(static_cast<std::int32_t>(m.frames.size()));
      m.frames.push_back({.node = body, .constants = -1});
    };
    add(parts.frame[owner(i)]);
    for (const int body : parts.modes[owner(i)]) add(body);
    if (owner(i) != i) add(parts.frame[i]);
  }
}

}  // namespace liedyn
