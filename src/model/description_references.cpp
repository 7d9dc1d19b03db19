// Names that entries have for each other: whether they are there, and whether what is given can be known where it is needed.
#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "liedyn/base/suggest.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/description_names.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {

// Joints and forces act on the material of a flexible body, that is on its interfaces.
void DescriptionBuilder::refuse_flexible(std::size_t index, const Field& kind_field,
                                         const std::string& word) {
  const std::vector<Entry>& entries = description_.entries(Section::Flexible);
  // "rod.modes1" belongs to "rod". Names of parts of sub-models have dots of their own.
  std::string_view owner = word;
  const auto find_owner = [&] {
    return std::find_if(entries.begin(), entries.end(),
                        [&](const Entry& entry) { return entry.name == owner; });
  };
  auto body = find_owner();
  while (body == entries.end() && owner.find('.') != std::string_view::npos) {
    owner = owner.substr(0, owner.rfind('.'));
    body = find_owner();
  }
  if (body == entries.end()) return;
  const Entry& entry = description_.entries(section_)[index];
  const std::string path = fmt::format("{}.{}", entry_path(section_, entry.name), kind_field.name);
  if (kind_field.type == FieldType::Flexible) {
    if (is_interface(*body))
      finding(path, fmt::format("'{}' is an interface, expected a flexible body", excerpt(word)),
              "name the body itself", entry.line);
    else if (is_member(*body))
      finding(path, fmt::format("'{}' is a member of a frame, expected a flexible body", excerpt(word)),
              fmt::format("name the frame, '{}'", excerpt(member_owner(description_, *body))), entry.line);
    else if (section_ == Section::Flexible && is_linear_beam(entry) && !is_beam_frame(*body))
      finding(path,
              fmt::format("expected a flexible body of type frame, got '{}' of type {}", excerpt(word),
                          body->kind->type),
              {}, entry.line);
    return;
  }
  if (is_interface(*body) || (section_ == Section::Sensors && owner.size() == word.size())) return;
  finding(path,
          fmt::format("'{}' is not a point of the material of the flexible body '{}'", excerpt(word), owner),
          fmt::format("give '{}' an interface and name that", owner), entry.line);
}

// Places on beams. A body may be a node of a beam, by its place: "wing[0.5]" becomes "wing.node4". True: there is nothing else to say.
bool DescriptionBuilder::resolve_beam(std::size_t index, const Field& kind_field, std::string& word) {
  const BeamPlace place = parse_beam_place(word);
  const auto is_part_of = [&word](std::string_view failed) {
    return word.starts_with(failed) &&
           (word.size() == failed.size() || word[failed.size()] == '.' || word[failed.size()] == '[');
  };
  if (std::any_of(failed_names_.begin(), failed_names_.end(), is_part_of)) return true;
  const bool body = kind_field.type != FieldType::Beam;
  if (body && !place.given) return false;
  const Entry& entry = description_.entries(section_)[index];
  const auto say = [&](std::string message, std::string hint) {
    finding(fmt::format("{}.{}", entry_path(section_, entry.name), kind_field.name), std::move(message),
            std::move(hint), entry.line);
    return true;
  };
  // Sensors may look at sections of linear beams as at those of exact ones.
  const bool linear_too = !body && section_ == Section::Sensors;
  const Entry* beam = nullptr;
  Suggestion suggestion(place.beam);
  const auto look = [&](const Entry& candidate) {
    suggestion.consider(candidate.name);
    if (candidate.name == place.beam) beam = &candidate;
  };
  for (const Entry& candidate : description_.entries(Section::Beams)) look(candidate);
  if (linear_too)
    for (const Entry& candidate : description_.entries(Section::Flexible))
      if (is_linear_beam(candidate)) look(candidate);
  if (beam == nullptr) {
    // A linear beam has no bodies along it, and line loads act on exact beams.
    for (const Entry& candidate : description_.entries(Section::Flexible))
      if (is_linear_beam(candidate) && candidate.name == place.beam)
        return say(fmt::format("'{}' is a linear beam of a flexible body, expected one of `beams`",
                               excerpt(place.beam)),
                   fmt::format("give '{}' an interface there and name that",
                               excerpt(is_member(candidate) ? member_owner(description_, candidate)
                                                            : candidate.name)));
    return say(fmt::format("there is no beam '{}'", excerpt(place.beam)), did_you_mean(suggestion.name()));
  }
  if (!place.valid)
    return say(
        fmt::format("expected a fraction of the length from 0 to 1 in brackets, got '{}'", excerpt(word)),
        fmt::format("write {}[0.5] for the middle", beam->name));
  if (!body) {
    const bool wanted = section_ == Section::Sensors;
    if (place.given == wanted) return true;
    return wanted ? say(fmt::format("expected a position on the beam '{}'", beam->name),
                        fmt::format("write {}[0.5] for the middle", beam->name))
                  : say(fmt::format("expected the name of a beam, got '{}'", excerpt(word)),
                        fmt::format("write {}", beam->name));
  }
  const BeamMesh mesh = beam_mesh(description_, *beam);
  const int node = beam_node_at(mesh, place.fraction);
  if (node < 0)
    return say(fmt::format("the beam '{}' has no node at {}", beam->name, place.fraction),
               fmt::format("its nodes are at the multiples of 1/{}", mesh.nodes() - 1));
  word = beam_node_name(beam->name, node, mesh);
  return true;
}

void DescriptionBuilder::resolve(std::size_t index, const Field& kind_field, std::string& word) {
  if (kind_field.type == FieldType::Body || kind_field.type == FieldType::Bodies ||
      kind_field.type == FieldType::Beam)
    if (resolve_beam(index, kind_field, word)) return;
  const bool joint = kind_field.type == FieldType::Joint || kind_field.type == FieldType::Joints;
  const Section target = joint                                    ? Section::Joints
                         : kind_field.type == FieldType::State    ? Section::States
                         : kind_field.type == FieldType::Force    ? Section::Forces
                         : kind_field.type == FieldType::Flexible ? Section::Flexible
                                                                  : Section::Bodies;
  if (target == Section::Bodies && word == "ground") return;
  if (names_[static_cast<std::size_t>(target)]->contains(word)) {
    if (target == Section::Bodies || target == Section::Flexible) refuse_flexible(index, kind_field, word);
    return;
  }
  const auto has_failed = [&](std::string_view name) {
    return std::find(failed_names_.begin(), failed_names_.end(), name) != failed_names_.end();
  };
  if (has_failed(word) || has_failed(fmt::format("{}.*", section_name(target)))) return;
  const Entry& entry = description_.entries(section_)[index];
  const bool or_joint =
      target == Section::Forces && section_ == Section::Sensors && may_look_at_joint(*entry.kind);
  if (or_joint &&
      (names_[static_cast<std::size_t>(Section::Joints)]->contains(word) || has_failed("joints.*")))
    return;
  std::string hint;
  if (findings_.size() < kMaxFindings) {  // looking through all names is slow, for a model with many mistakes
    Suggestion suggestion(word);
    if (target == Section::Bodies) suggestion.consider("ground");
    for (const Entry& candidate : description_.entries(target)) suggestion.consider(candidate.name);
    if (or_joint)
      for (const Entry& candidate : description_.entries(Section::Joints))
        suggestion.consider(candidate.name);
    hint = did_you_mean(suggestion.name());
    // What other programs call the inertial frame.
    constexpr std::string_view kInertial[] = {"world",  "inertial", "fixed", "base",
                                              "origin", "frame",    "earth"};
    if (target == Section::Bodies && hint.empty() &&
        std::find(std::begin(kInertial), std::end(kInertial), word) != std::end(kInertial))
      hint = "the inertial frame is called 'ground'";
    for (const Section other :
         {Section::Bodies, Section::Joints, Section::Forces, Section::States, Section::Sensors})
      if (other != target && names_[static_cast<std::size_t>(other)]->contains(word))
        hint = fmt::format("'{}' is one of the {}", excerpt(word), section_name(other));
    if (target == Section::Bodies && names_[static_cast<std::size_t>(Section::Beams)]->contains(word))
      hint = fmt::format("'{0}' is a beam: give a position on it, {0}[0.5] for the middle", excerpt(word));
    if (target == Section::Bodies)
      for (const Entry& candidate : description_.entries(Section::Flexible))
        if (is_member(candidate) && candidate.name == word.substr(0, word.rfind('.')))
          hint = fmt::format("it is a member of '{0}': give '{0}' an interface and name that",
                             excerpt(member_owner(description_, candidate)));
  }
  finding(fmt::format("{}.{}", entry_path(section_, entry.name), kind_field.name),
          fmt::format("there is no {} '{}'",
                      target == Section::Joints     ? "joint"
                      : target == Section::States   ? "state"
                      : or_joint                    ? "force or joint"
                      : target == Section::Forces   ? "force"
                      : target == Section::Flexible ? "flexible body"
                                                    : "body",
                      excerpt(word)),
          hint, entry.line);
}

void DescriptionBuilder::resolve_references(Section section) {
  section_ = section;
  const std::vector<Entry>& entries = description_.entries(section);
  for (std::size_t e = 0; e < entries.size(); ++e) {
    for (std::size_t f = 0; f < entries[e].fields.size(); ++f) {
      const Field& kind_field = entries[e].kind->fields[f];
      const std::int32_t word = entries[e].fields[f].word;
      if (word < 0) continue;
      const bool pair = is_pair(kind_field.type);
      if (!pair && kind_field.type != FieldType::Body && kind_field.type != FieldType::Joint &&
          kind_field.type != FieldType::State && kind_field.type != FieldType::Beam &&
          kind_field.type != FieldType::Flexible && kind_field.type != FieldType::Force)
        continue;
      for (std::int32_t w = word; w < word + (pair ? 2 : 1); ++w)
        resolve(e, kind_field, description_.words[static_cast<std::size_t>(w)]);
      // Two names of one node of a beam.
      if (pair && description_.words[static_cast<std::size_t>(word)] ==
                      description_.words[static_cast<std::size_t>(word) + 1])
        finding(fmt::format("{}.{}", entry_path(section, entries[e].name), kind_field.name),
                fmt::format("expected two different bodies, got '{}' twice",
                            excerpt(description_.words[static_cast<std::size_t>(word)])),
                {}, entries[e].line);
    }
  }
}

namespace {

// A body whose position or orientation is to be found, without a guess: the names of these fields, empty where it is known.
struct UnknownPose {
  std::string_view position, orientation;
  std::string_view any() const { return position.empty() ? orientation : position; }
};
using UnknownPoses = std::unordered_map<std::string_view, UnknownPose>;  // by the name of the body

UnknownPoses unknown_poses(const Description& d) {
  UnknownPoses out;
  for (const Section section : {Section::Bodies, Section::Flexible})
    for (const Entry& entry : d.entries(section)) {
      const auto is_unknown = [&](std::string_view name) {
        const int field = entry.kind->field(name);
        if (field < 0 || entry.fields.empty()) return false;
        const FieldValue& value = entry.fields[static_cast<std::size_t>(field)];
        return value.consistent && value.first < 0;
      };
      UnknownPose found;
      if (is_unknown("position")) found.position = "position";
      for (const std::string_view name : {"orientation", "angle"})
        if (is_unknown(name)) found.orientation = name;
      if (!found.any().empty()) out.emplace(entry.name, found);
    }
  return out;
}

std::string is_nowhere(std::string_view missing, std::string_view body) {
  return fmt::format(
      "is given in inertial axes, but the {} of '{}' is \"consistent\": the position of this point on '{}' "
      "is unknown",
      missing, excerpt(body), excerpt(body));
}
std::string give_a_guess(std::string_view missing) {
  return fmt::format("give a guess, \"{}\": {{\"consistent\": ...}}", missing);
}

// Bodies that ride on others, and interfaces of flexible bodies. say(section, entry, field, message, hint)
template <class Say>
void check_carried(const Description& d, const UnknownPoses& unknown, const Say& say) {
  const auto& bodies = d.entries(Section::Bodies);
  for (const Entry& body : bodies) {
    if (!body.rides || body.host < 0) continue;
    const auto host = unknown.find(bodies[static_cast<std::size_t>(body.host)].name);
    if (host == unknown.end()) continue;
    const std::string_view missing = host->second.any();
    for (const char* field : {"position", "orientation"})
      if (body.fields[static_cast<std::size_t>(body.kind->field(field))].given)
        say(Section::Bodies, body, field, is_nowhere(missing, host->first), give_a_guess(missing));
  }
  for (const Entry& entry : d.entries(Section::Flexible)) {
    if (!is_interface(entry) || entry.fields[0].word < 0) continue;
    const auto owner = unknown.find(interface_owner(d, entry));
    if (owner == unknown.end()) continue;
    const std::string_view missing = owner->second.any();
    say(Section::Flexible, entry, "at", is_nowhere(missing, owner->first), give_a_guess(missing));
  }
}

// What an entry gives for its i-th body, whose pose is unknown.
template <class Say>
void check_given_on(const Entry& entry, Section section, int i, const UnknownPoses::value_type& body,
                    const std::string* other, const Say& say) {
  const auto& [name, pose] = body;
  if (entry.kind->keeps_orientation && !pose.orientation.empty())
    say(section, entry, "",
        fmt::format("keeps the relative orientation that the bodies have in the initial configuration, "
                    "but the {} of '{}' is \"consistent\"",
                    pose.orientation, excerpt(name)),
        give_a_guess(pose.orientation));
  for (std::size_t f = 0; f < entry.fields.size(); ++f) {
    const Field& field = entry.kind->fields[f];
    if (!entry.fields[f].given || entry.fields[f].in_bodies || !carries(field.body_axes, i)) continue;
    // A direction in body axes depends on the orientation alone, a point on the position as well.
    const bool direction = field.pose == PoseRole::Direction;
    const std::string_view missing = !direction && !pose.position.empty() ? pose.position : pose.orientation;
    if (missing.empty()) continue;
    const bool both = field.body_axes == BodyAxes::Each && other != nullptr;
    say(section, entry, field.name, is_nowhere(missing, name),
        fmt::format("give it in body axes, \"{}\": {{{}\"{}\": [...]}}, or {}", field.name,
                    both ? fmt::format("\"{}\": [...], ", excerpt(*other)) : "", excerpt(name),
                    give_a_guess(missing)));
  }
}

}  // namespace

// A point or direction in inertial axes belongs to a body by where the body stands in the initial configuration. A body whose position or
// orientation is to be found, without a guess, stands nowhere: another mechanism would come out than the one that was meant.
void DescriptionBuilder::check_found_bodies() {
  const UnknownPoses unknown = unknown_poses(description_);
  if (unknown.empty()) return;
  const auto say = [&](Section section, const Entry& entry, std::string_view field, std::string message,
                       std::string hint) {
    const std::string path = entry_path(section, entry.name);
    finding(field.empty() ? path : fmt::format("{}.{}", path, field), std::move(message), std::move(hint),
            entry.line);
  };
  check_carried(description_, unknown, say);
  for (const Section section : {Section::Joints, Section::Forces, Section::Sensors})
    for (const Entry& entry : description_.entries(section)) {
      const int bodies = bodies_field(*entry.kind);
      if (bodies < 0 || entry.fields[static_cast<std::size_t>(bodies)].word < 0) continue;
      const std::int32_t word = entry.fields[static_cast<std::size_t>(bodies)].word;
      const int count = is_pair(entry.kind->fields[static_cast<std::size_t>(bodies)].type) ? 2 : 1;
      const auto name_of = [&](int i) { return &description_.words[static_cast<std::size_t>(word + i)]; };
      for (int i = 0; i < count; ++i)
        if (const auto body = unknown.find(*name_of(i)); body != unknown.end())
          check_given_on(entry, section, i, *body, count == 2 ? name_of(1 - i) : nullptr, say);
    }

  // Points and directions of elements that name joints belong to the first body of these, the pulleys of a rope to the body that carries them.
  const auto refuse = [&](Section section, const Entry& entry, std::string_view field_name,
                          const std::string& carrier) {
    const auto body = unknown.find(carrier);
    const int f = entry.kind->field(field_name);
    if (body == unknown.end() || f < 0 || !entry.fields[static_cast<std::size_t>(f)].given) return;
    const auto& [name, fields] = *body;
    const std::string_view missing = fields.position.empty() ? fields.orientation : fields.position;
    finding(fmt::format("{}.{}", entry_path(section, entry.name), field_name),
            fmt::format("is given in inertial axes, but the {} of '{}' is \"consistent\": the position of "
                        "this point on '{}' is unknown",
                        missing, excerpt(name), excerpt(name)),
            fmt::format("give a guess, \"{}\": {{\"consistent\": ...}}", missing), entry.line);
  };
  const auto& joints = description_.entries(Section::Joints);
  for (const Section section : {Section::Joints, Section::Forces})
    for (const Entry& entry : description_.entries(section)) {
      const auto word_of = [&](const Entry& of, int field) -> const std::string* {
        const std::int32_t word = field < 0 ? -1 : of.fields[static_cast<std::size_t>(field)].word;
        return word < 0 ? nullptr : &description_.words[static_cast<std::size_t>(word)];
      };
      if (entry.kind->field("pulleys") >= 0)
        if (const std::string* carrier = word_of(entry, entry.kind->field("on")))
          refuse(section, entry, "pulleys", *carrier);
      if (entry.kind->field("at") < 0) continue;
      const std::string* named = word_of(entry, entry.kind->field("joints"));
      if (named == nullptr) continue;
      const auto joint =
          std::find_if(joints.begin(), joints.end(), [&](const Entry& j) { return j.name == *named; });
      if (joint == joints.end()) continue;
      if (const std::string* carrier = word_of(*joint, joint->kind->field("between")))
        for (const char* field : {"at", "normal"}) refuse(section, entry, field, *carrier);
    }
}

}  // namespace liedyn
