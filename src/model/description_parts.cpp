// Bodies and joints that other entries stand for: nodes of beams, frames, interfaces and modes of flexible bodies, what holds a body on another one.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/description_names.h"
#include "liedyn/model/flexible/body.h"

namespace liedyn {

// A node is a body without numbers of its own: all that is known about it stands in the beam's fields.
void DescriptionBuilder::add_beam_nodes(std::size_t index) {
  const Entry& beam = description_.entries(Section::Beams)[index];
  const BeamMesh mesh = beam_mesh(description_, beam);
  if (mesh.elements == 0) {  // which was found before
    failed_names_.push_back(beam.name);
    return;
  }
  std::vector<Entry>& bodies = description_.entries(Section::Bodies);
  for (int node = 0; node < mesh.nodes(); ++node) {
    bodies.push_back({beam_node_name(beam.name, node, mesh),
                      &beam_node_kind(),
                      beam.line,
                      static_cast<std::int32_t>(description_.parameters.size()),
                      {},
                      static_cast<std::int32_t>(index),
                      Section::Beams,
                      node});
    names_[static_cast<std::size_t>(Section::Bodies)]->insert(bodies.size() - 1);
  }
}

// The frame of a flexible body, or an interface: a body without numbers of its own, like the nodes of beams.
void DescriptionBuilder::add_flexible_frame(std::size_t index) {
  const Entry& entry = description_.entries(Section::Flexible)[index];
  if (is_member(entry)) return check_member(entry);
  std::vector<Entry>& bodies = description_.entries(Section::Bodies);
  bodies.push_back({entry.name,
                    is_interface(entry) ? &flexible_interface_kind() : &flexible_frame_kind(),
                    entry.line,
                    static_cast<std::int32_t>(description_.parameters.size()),
                    {}});
  bodies.back().owner = static_cast<std::int32_t>(index);
  bodies.back().owner_section = Section::Flexible;
  if (names_[static_cast<std::size_t>(Section::Bodies)]->insert(bodies.size() - 1)) return;
  finding(entry_path(Section::Flexible, entry.name), "there is a body of this name already",
          "flexible bodies and their interfaces are bodies for joints and forces: choose another name",
          entry.line);
  bodies.pop_back();
}

// A member of a frame has the fields of a linear beam, but it is no body.
void DescriptionBuilder::check_member(const Entry& member) {
  for (std::size_t i = 0; i < member.fields.size(); ++i)
    if (const std::string& name = member.kind->fields[i].name;
        member.fields[i].given && concerns_whole_frame(name))
      finding(fmt::format("{}.{}", entry_path(Section::Flexible, member.name), name),
              "applies to the whole frame, not to one of its members",
              fmt::format("give it to '{}'", excerpt(member_owner(description_, member))), member.line);
  if (names_[static_cast<std::size_t>(Section::Beams)]->contains(member.name))
    finding(entry_path(Section::Flexible, member.name), "there is a beam of this name already",
            "sensors refer to positions on both by name: choose another name", member.line);
}

// How many modes a body has depends on its interfaces. Its members are part of a frame, which is known by now.
void DescriptionBuilder::add_modes() {
  std::vector<Entry>& entries = description_.entries(Section::Flexible);
  std::vector<Entry>& bodies = description_.entries(Section::Bodies);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_interface(entries[i]) || is_member(entries[i])) continue;
    const auto interfaces = std::count_if(entries.begin(), entries.end(), [&](const Entry& other) {
      return is_interface(other) && other.fields[0].word >= 0 &&
             interface_owner(description_, other) == entries[i].name;
    });
    const int points = modal_points(description_, entries[i], static_cast<int>(interfaces));
    if (3 * points > kMostModes) {
      finding(entry_path(Section::Flexible, entries[i].name) + ".modes",
              fmt::format("expected at most {} modes, got {}", kMostModes, 3 * points),
              "an interface adds six static deformations to those of method craig_bampton", entries[i].line);
      continue;
    }
    for (int point = 0; point < points; ++point) {
      bodies.push_back({fmt::format("{}.modes{}", entries[i].name, point + 1),
                        &flexible_modes_kind(),
                        entries[i].line,
                        static_cast<std::int32_t>(description_.parameters.size()),
                        {}});
      bodies.back().owner = static_cast<std::int32_t>(i);
      bodies.back().owner_section = Section::Flexible;
      names_[static_cast<std::size_t>(Section::Bodies)]->insert(bodies.size() - 1);
    }
  }
  std::unordered_map<std::string_view, std::int32_t> index;
  for (std::size_t i = 0; i < entries.size(); ++i)
    index.emplace(entries[i].name, static_cast<std::int32_t>(i));
  for (Entry& entry : entries) {
    if (!is_member(entry)) continue;
    const auto frame = index.find(member_owner(description_, entry));
    if (frame == index.end()) continue;  // which will be said
    entry.owner = frame->second;
    entry.owner_section = Section::Flexible;
  }
}

// A body that rides on another one is held by a fixed joint, NAME.on, which leaves no rows (plan_tree in model/model.cpp).
void DescriptionBuilder::add_riders() {
  std::vector<Entry>& bodies = description_.entries(Section::Bodies);
  std::unordered_map<std::string_view, std::int32_t> index{{"ground", -1}};
  for (std::size_t i = 0; i < bodies.size(); ++i) index.emplace(bodies[i].name, static_cast<std::int32_t>(i));
  for (Entry& body : bodies) {
    const int field = body.kind->field("on");
    if (field < 0 || !body.fields[static_cast<std::size_t>(field)].given) continue;
    const std::int32_t word = body.fields[static_cast<std::size_t>(field)].word;
    if (word < 0) continue;  // reported before
    const auto host = index.find(description_.words[static_cast<std::size_t>(word)]);
    if (host == index.end()) {
      failed_names_.push_back(body.name + ".on");  // the joint that it would have
      continue;
    }
    body.rides = true;
    body.host = host->second;
  }
  for (const Entry& body : bodies) {
    if (!body.rides) continue;
    const std::string path = entry_path(Section::Bodies, body.name) + ".on";
    constexpr int kMostRiders = 100;
    const Entry* carrier = &body;
    for (int steps = 0; carrier->rides && carrier->host >= 0 && steps < kMostRiders; ++steps)
      carrier = &bodies[static_cast<std::size_t>(carrier->host)];
    if (carrier->rides && carrier->host >= 0) {
      finding(path,
              fmt::format("'{}' is attached to itself, or through a chain of more than {} bodies",
                          excerpt(body.name), kMostRiders),
              "one of them must have degrees of freedom of its own, or be attached to ground", body.line);
      continue;
    }
    if (const int f = body.kind->field("formulation"); body.fields[static_cast<std::size_t>(f)].given)
      finding(fmt::format("{}.formulation", entry_path(Section::Bodies, body.name)),
              "a body with \"on\" has no coordinates of its own", "leave it out", body.line);
    for (const char* name : {"position", "orientation", "velocity", "angular_velocity"})
      if (const int f = body.kind->field(name); body.fields[static_cast<std::size_t>(f)].consistent)
        finding(fmt::format("{}.{}", entry_path(Section::Bodies, body.name), name),
                "\"consistent\" is not allowed for a body that is attached to another one",
                "leave it out: that body determines it", body.line);
    section_ = Section::Joints;
    std::vector<Entry>& joints = description_.entries(Section::Joints);
    const Kind* kind = find_kind(Section::Joints, "fixed");
    joints.push_back({body.name + ".on", kind, body.line,
                      static_cast<std::int32_t>(description_.parameters.size()),
                      std::vector<FieldValue>(kind->fields.size())});
    joints.back().rides = true;
    joints.back().host = static_cast<std::int32_t>(&body - bodies.data());
    names_[static_cast<std::size_t>(Section::Joints)]->insert(joints.size() - 1);
    entry_ = &joints.back();
    given_.clear();
    words("between", body.host < 0 ? "ground" : bodies[static_cast<std::size_t>(body.host)].name, body.name,
          body.line);
    end();
  }
}

}  // namespace liedyn
