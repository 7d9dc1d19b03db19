#include "model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/suggest.h"
#include "model/beams/beam.h"
#include "model/beams/list.h"
#include "model/bodies/list.h"
#include "model/bodies/rigid.h"
#include "model/flexible/body.h"
#include "model/flexible/linear_beam.h"
#include "model/flexible/list.h"
#include "model/forces/list.h"
#include "model/is_given.h"
#include "model/joints/list.h"
#include "model/sensors/list.h"
#include "model/states/list.h"
#include "model/states/signal_batch.h"

namespace liedyn {
namespace {

using Lookup = std::unordered_map<std::string_view, int>;

Lookup names_of(const std::vector<Entry>& entries) {
  Lookup out;
  out.reserve(entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) out.emplace(entries[i].name, static_cast<int>(i));
  return out;
}

template <class Listed>
int position_in(const std::vector<Listed>& list, const Kind* kind) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].kind.type == kind->type) return static_cast<int>(i);
  return -1;
}

unsigned shape_of(const ListedKind& listed, const Description& d, const Entry& entry) {
  return listed.shape == nullptr ? 0 : listed.shape(d, entry);
}
unsigned shape_of(const BodyKind&, const Description&, const Entry&) { return 0; }

const std::string& word(const Description& d, const Entry& entry, int field, int i = 0) {
  return d.words[static_cast<std::size_t>(entry.fields[static_cast<std::size_t>(field)].word + i)];
}

// Index of the body's node, -1 for ground.
int node_named(const Description& d, const Lookup& bodies, const Entry& entry, int field, int i) {
  const std::string& name = word(d, entry, field, i);
  return name == "ground" ? -1 : bodies.at(name);
}

// A sensor of a beam's section looks at the part between boundaries of elements where section forces jump; at such a boundary at the part before it.
void look_between(const std::vector<int>& jumps, Sensor& sensor) {
  const double wanted = sensor.fraction * sensor.elements;
  int first = 0, last = sensor.elements;
  for (const int i : jumps) {
    if (i < wanted - 1e-9) {
      first = i;
    } else {
      last = i;
      break;
    }
  }
  sensor.fraction = (wanted - first) / (last - first);
  sensor.element += first;
  sensor.elements = last - first;
}

// Those of an exact beam: at nodes with forces or joints.
void look_between_loads(const Description& d, const Entry& beam, Sensor& sensor) {
  std::unordered_set<std::string_view> loaded;
  for (const Section section : {Section::Joints, Section::Forces})
    for (const Entry& entry : d.entries(section))
      for (std::size_t f = 0; f < entry.fields.size(); ++f) {
        const FieldType type = entry.kind->fields[f].type;
        const int words = type == FieldType::Body ? 1 : type == FieldType::Bodies ? 2 : 0;
        for (int i = 0; i < words && entry.fields[f].word >= 0; ++i)
          loaded.insert(word(d, entry, static_cast<int>(f), i));
      }
  const BeamMesh mesh = beam_mesh(d, beam);
  std::vector<int> jumps;
  for (int i = 1; i < mesh.elements; ++i)
    if (loaded.count(beam_node_name(beam.name, i * mesh.order, mesh)) > 0) jumps.push_back(i);
  look_between(jumps, sensor);
}

// The batch of a force, its first element there, and how many there are.
void look_at_force(const Model& m, int entry, Sensor& sensor) {
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    if (m.sections[b] != Section::Forces) continue;
    const std::vector<std::int32_t>& list = m.batches[b]->entries;
    const auto found = std::find(list.begin(), list.end(), entry);
    if (found == list.end()) continue;
    sensor.batch = static_cast<int>(b);
    sensor.element = static_cast<int>(found - list.begin());
    sensor.elements = static_cast<int>(std::count(list.begin(), list.end(), entry));
  }
}

// What is wrong with the joint that an entry names: it must have the coordinate that the entry uses.
std::string coordinate_mistake(const Description& d, const Entry& entry, const Kind& joint) {
  const int field = entry.kind->field("coordinate");
  const int choice = field >= 0 ? Inputs<double>(d, entry, nullptr, nullptr).choice(field) : 0;
  const AxisCoordinates has = joint.coordinates;
  if (choice == 1 && !has.angle) return "expected a joint with an angle about its axis";
  if (choice == 2 && !has.displacement) return "expected a joint with a displacement along its axis";
  if (!has.angle && !has.displacement) return "expected a joint with a coordinate";
  return {};
}

// Whether a text begins with the name of one of these entries.
bool names_one_of(std::string_view text, const Entry* first, const Entry* end) {
  std::size_t length = 0;
  while (length < text.size() &&
         (std::isalnum(static_cast<unsigned char>(text[length])) != 0 || text[length] == '_'))
    ++length;
  return std::any_of(first, end, [&](const Entry& entry) { return entry.name == text.substr(0, length); });
}

// A frame needs no numbers of its own where it is the node's.
bool at_reference(const Entry& entry, const Attachment& a) {
  if (entry.rides) return false;
  const bool point = a.place == Attachment::Place::Point && is_given(entry, a.point_field);
  const Attachment::Place place = a.place == Attachment::Place::Point && !point ? a.otherwise : a.place;
  return !point && place == Attachment::Place::Reference;
}

}  // namespace

const std::vector<std::string>& formulations() {
  static const std::vector<std::string> list = {"r3so3",  "r3so3-spatial", "se3",    "euler-parameters",
                                                "cardan", "cardan-body",   "minimal"};
  return list;
}

const std::vector<std::string>& formulation_choices() {
  static const std::vector<std::string> list = [] {
    std::vector<std::string> out = formulations();
    out.emplace_back("auto");
    return out;
  }();
  return list;
}

namespace {

// Joints that the tree may hold: of the kinds it knows, unless a sensor or a force wants their multipliers. Only in minimal coordinates
// these are more than the ones that stand for bodies that ride on others.
Tree plan_tree(const Description& d, const Lookup& bodies, const std::vector<NodeType>& types,
               const std::vector<bool>& own, bool minimal) {
  std::vector<bool> roots;
  const auto rides = [&](std::size_t i) {
    return i < d.entries(Section::Bodies).size() && d.entries(Section::Bodies)[i].rides;
  };
  for (std::size_t i = 0; i < types.size(); ++i) {
    // States come last, behind all that grows from the ground and from other roots.
    roots.push_back(types[i] != NodeType::State && !rides(i) &&
                    (!minimal || own[i] || types[i] != NodeType::R3xSO3));
  }
  std::unordered_set<std::string_view> keep_rows;
  for (const Entry& sensor : d.entries(Section::Sensors))
    if (sensor.kind->type == "multiplier") keep_rows.insert(word(d, sensor, sensor.kind->field("of")));
  for (const Entry& force : d.entries(Section::Forces)) {
    const ListedKind& listed =
        force_kinds()[static_cast<std::size_t>(position_in(force_kinds(), force.kind))];
    if (force.kind->field("joint") >= 0 &&
        listed.make(shape_of(listed, d, force))->coupling().multipliers > 0)
      keep_rows.insert(word(d, force, force.kind->field("joint")));
  }

  const auto& joints = d.entries(Section::Joints);
  std::vector<TreeJoint> candidates;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const std::span<const Link::Kind> motions = tree_motions(joints[i].kind->type);
    if (motions.empty() || keep_rows.contains(joints[i].name) || !(minimal || joints[i].rides)) continue;
    const int between = joints[i].kind->field("between");
    candidates.push_back(
        {static_cast<int>(i),
         {node_named(d, bodies, joints[i], between, 0), node_named(d, bodies, joints[i], between, 1)},
         motions});
  }
  return spanning_tree(static_cast<int>(types.size()), roots, static_cast<int>(joints.size()), candidates);
}

// Gives the batches of flexible bodies and their interfaces their frames, and what they share. `frames` and `modes`: bodies by entry.
void connect_flexible(Model& m, const std::vector<int>& frames, const std::vector<std::vector<int>>& modes) {
  const Description& d = m.description();
  const auto& entries = d.entries(Section::Flexible);
  const Lookup names = names_of(entries);
  std::vector<std::shared_ptr<FlexibleSource>> sources(entries.size());
  const auto owner = [&](std::size_t i) {
    return is_interface(entries[i]) ? static_cast<std::size_t>(names.at(interface_owner(d, entries[i]))) : i;
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
    batch.connect(sources[owner(i)], 3 * static_cast<int>(modes[owner(i)].size()));
    const auto add = [&](int body) {
      batch.frames.push_back(static_cast<std::int32_t>(m.frames.size()));
      m.frames.push_back({.node = body, .numbers = -1});
    };
    add(frames[owner(i)]);
    for (const int body : modes[owner(i)]) add(body);
    if (owner(i) != i) add(frames[i]);
  }
}

}  // namespace

std::shared_ptr<const Model> Model::compile(std::shared_ptr<const Description> description,
                                            const std::string& formulation, Riders riders) {
  const Description& d = *description;
  auto model = std::make_shared<Model>();
  Model& m = *model;
  m.description_ = description;
  m.formulation_ = formulation.empty() ? d.simulation.formulation : formulation;
  const auto& known = formulation_choices();
  if (std::find(known.begin(), known.end(), m.formulation_) == known.end())
    throw InputError(
        "formulation",
        fmt::format("unknown formulation '{}', expected one of {}", m.formulation_, fmt::join(known, ", ")),
        did_you_mean(m.formulation_, known));

  const auto& bodies = d.entries(Section::Bodies);
  const Lookup body_names = names_of(bodies);
  const Lookup beam_names = names_of(d.entries(Section::Beams));
  const Lookup flexible_names = names_of(d.entries(Section::Flexible));
  const Lookup joint_names = names_of(d.entries(Section::Joints));
  const Lookup force_names = names_of(d.entries(Section::Forces));
  const Lookup state_names = names_of(d.entries(Section::States));

  // The node of each body in absolute coordinates, and whether it asks for one of its own.
  const bool minimal = m.formulation_ == "minimal";
  std::vector<NodeType> types;
  std::vector<bool> own;
  const BodyKind rigid_body = rigid();  // nodes of beams and flexible bodies have the same coordinates
  for (const Entry& body : bodies) {
    if (body.kind == &flexible_modes_kind()) {
      types.push_back(NodeType::R3);
      own.push_back(true);
      continue;
    }
    if (body.flexible >= 0) {
      const Entry& flexible = d.entries(Section::Flexible)[static_cast<std::size_t>(body.flexible)];
      const int field = flexible.kind->field("formulation");
      const bool given = is_given(flexible, field) && word(d, flexible, field) != "model";
      const std::string& common = m.formulation_ == "auto" ? formulations().front() : m.formulation_;
      types.push_back(rigid_body.node(given ? word(d, flexible, field) : common));
      own.push_back(given || !is_interface(flexible));  // no joint moves a floating frame
      continue;
    }
    if (body.beam >= 0) {
      const Entry& beam = d.entries(Section::Beams)[static_cast<std::size_t>(body.beam)];
      own.push_back(is_given(beam, kBeamFormulation) && word(d, beam, kBeamFormulation) != "model");
      const std::string& common = m.formulation_ == "auto" ? formulations().front() : m.formulation_;
      types.push_back(rigid_body.node(own.back() ? word(d, beam, kBeamFormulation) : common));
      continue;
    }
    const BodyKind& listed = body_kinds()[static_cast<std::size_t>(position_in(body_kinds(), body.kind))];
    const int field = body.kind->field("formulation");
    own.push_back(field >= 0 && is_given(body, field) && word(d, body, field) != "model");
    const std::string& common = m.formulation_ == "auto" ? formulations().front() : m.formulation_;
    types.push_back(listed.node(own.back() ? word(d, body, field) : common));
  }
  m.body_types = types;
  // States follow the bodies, each with a scalar node.
  const std::size_t states = d.entries(Section::States).size();
  types.resize(types.size() + states, NodeType::State);
  own.resize(types.size(), true);
  const auto add_node = [&](NodeType type) {
    const NodeSize size = node_size(type);
    m.nodes.push_back({type, m.nq, m.nv, m.tangents, -1});
    m.nq += size.q;
    m.nv += size.v;
    m.tangents += size.tangent;
    return static_cast<int>(m.nodes.size()) - 1;
  };
  const bool merges = riders == Riders::Merged &&
                      std::any_of(bodies.begin(), bodies.end(), [](const Entry& body) { return body.rides; });
  if (!minimal && !merges) {
    m.nodes.reserve(types.size());
    for (const NodeType type : types) add_node(type);
  } else {
    m.tree = plan_tree(d, body_names, types, own, minimal);
    for (std::size_t i = 0; i < m.tree->links.size(); ++i) {
      Link& link = m.tree->links[i];
      if (link.kind == Link::Kind::Weld) continue;
      link.node = add_node(link.kind == Link::Kind::Root       ? types[static_cast<std::size_t>(link.body)]
                           : link.kind == Link::Kind::Rotation ? NodeType::SO3
                           : link.kind == Link::Kind::Turn     ? NodeType::Turn
                                                               : NodeType::Slide);
      if (link.kind == Link::Kind::Root)
        m.tree->bodies[static_cast<std::size_t>(link.body)].q = m.nodes.back().q;
      m.tree->of_node.push_back(static_cast<int>(i));
    }
  }

  for (std::size_t i = 0; i < states; ++i) {
    m.state_frames.push_back(static_cast<std::int32_t>(m.frames.size()));
    m.frames.push_back({.node = static_cast<std::int32_t>(bodies.size() + i), .numbers = -1});
  }

  m.stage_numbers = m.nv;
  for (Node& node : m.nodes)
    if (has_euler_parameters(node.type)) node.extra = m.stage_numbers++;

  // One batch per kind (and shape) that occurs; its elements in the order of the entries.
  const auto add_batches = [&](Section section, const auto& list) {
    const auto& entries = d.entries(section);
    std::map<std::tuple<std::size_t, unsigned, bool>, Batch*> of_shape;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      // A node of a beam, or a part of a flexible body: other elements bring its inertia.
      if (entries[i].beam >= 0 || entries[i].flexible >= 0) continue;
      if (section == Section::Flexible && is_member(entries[i])) continue;
      const auto k = static_cast<std::size_t>(position_in(list, entries[i].kind));
      const unsigned shape = shape_of(list[k], d, entries[i]);
      const bool in_tree = m.tree && section == Section::Joints && m.tree->of_joint[i] >= 0;
      Batch*& batch = of_shape[{k, shape, in_tree}];
      if (batch == nullptr) {
        m.batches.push_back(list[k].make(shape));
        if (in_tree) m.batches.back() = std::make_unique<TreeJoints>(std::move(m.batches.back()));
        m.sections.push_back(section);
        batch = m.batches.back().get();
      }
      const int field = entries[i].kind->field("on");
      const bool on_beam =
          field >= 0 && entries[i].kind->fields[static_cast<std::size_t>(field)].type == FieldType::Beam;
      if (section != Section::Beams && !on_beam) {
        batch->entries.push_back(static_cast<std::int32_t>(i));
        continue;
      }
      // One for each element of the beam.
      const Entry& beam =
          on_beam
              ? d.entries(Section::Beams)[static_cast<std::size_t>(beam_names.at(word(d, entries[i], field)))]
              : entries[i];
      for (int part = 0; part < beam_mesh(d, beam).elements; ++part) {
        batch->entries.push_back(static_cast<std::int32_t>(i));
        batch->parts.push_back(part);
      }
    }
  };
  add_batches(Section::Bodies, body_kinds());
  add_batches(Section::Beams, beam_kinds());
  add_batches(Section::Flexible, flexible_kinds());
  add_batches(Section::Joints, joint_kinds());
  add_batches(Section::Forces, force_kinds());
  add_batches(Section::States, state_kinds());

  // The bodies that a flexible one consists of: its frame or the interface itself, and its modes.
  const auto& flexible = d.entries(Section::Flexible);
  std::vector<int> flexible_frames(flexible.size());
  std::vector<std::vector<int>> flexible_modes(flexible.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    if (bodies[i].flexible < 0) continue;
    const auto of = static_cast<std::size_t>(bodies[i].flexible);
    if (bodies[i].kind == &flexible_modes_kind())
      flexible_modes[of].push_back(static_cast<int>(i));
    else
      flexible_frames[of] = static_cast<int>(i);
  }
  connect_flexible(m, flexible_frames, flexible_modes);

  const auto add_frame = [&](const Entry& entry, const Attachment& a) {
    Frame frame;
    frame.node = node_named(d, body_names, entry, a.body_field, a.body_index);
    if (frame.node < 0 || !at_reference(entry, a)) {
      frame.numbers = m.numbers;
      m.numbers += kFrameNumbers;
    }
    m.frames.push_back(frame);
    return static_cast<int>(m.frames.size()) - 1;
  };
  m.joint_elements_.resize(d.entries(Section::Joints).size());
  int joints = 0;
  std::vector<int> first_joint;  // running number of the first joint of each batch
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    first_joint.push_back(joints);
    if (m.batches[b]->coupling().rows > 0) joints += m.batches[b]->size();
    if (m.sections[b] != Section::Joints) continue;
    const auto& list = m.batches[b]->entries;
    for (std::size_t e = 0; e < list.size(); ++e)
      m.joint_elements_[static_cast<std::size_t>(list[e])] = {static_cast<std::int32_t>(b),
                                                              static_cast<std::int32_t>(e)};
  }
  std::vector<Diagnostic> findings;
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    Batch& batch = *m.batches[b];
    const Coupling coupling = batch.coupling();
    const std::vector<Attachment> attachments = batch.attachments();
    const auto& entries = d.entries(m.sections[b]);
    batch.frames.reserve(batch.entries.size() * static_cast<std::size_t>(coupling.frames));
    for (std::size_t i = 0; i < batch.parts.size(); ++i) {
      const Entry& entry = entries[static_cast<std::size_t>(batch.entries[i])];
      const std::string beam =
          m.sections[b] == Section::Beams ? entry.name : word(d, entry, entry.kind->field("on"));
      const int first = body_names.at(beam + ".start") + batch.parts[i] * (coupling.frames - 1);
      for (int k = 0; k < coupling.frames; ++k) {
        batch.frames.push_back(static_cast<std::int32_t>(m.frames.size()));
        m.frames.push_back({.node = first + k, .numbers = -1});
      }
    }
    for (const std::int32_t e : batch.entries) {
      if (!batch.parts.empty()) break;
      if (m.sections[b] == Section::Bodies) {
        m.frames.push_back({.node = e, .numbers = -1});
        batch.frames.push_back(static_cast<std::int32_t>(m.frames.size()) - 1);
        continue;
      }
      for (const Attachment& a : attachments)
        batch.frames.push_back(a.joint_field < 0 ? add_frame(entries[static_cast<std::size_t>(e)], a) : -1);
    }
    batch.first_row = m.rows;
    m.rows += coupling.rows * batch.size();
    m.velocity_rows += coupling.velocity_rows * batch.size();
    if (coupling.multipliers > 0) m.forces_use_multipliers = true;
    batch.first_number = m.numbers;
    if (m.sections[b] != Section::Flexible) m.numbers += batch.numbers_per_element() * batch.size();
    batch.first_angle = m.angles;
    m.angles += batch.angles_per_element() * batch.size();
    if (auto* tree_joints = dynamic_cast<TreeJoints*>(&batch)) tree_joints->finish(*m.tree, m.frames);
  }
  if (m.tree)
    for (Link& link : m.tree->links) {
      if (link.kind == Link::Kind::Root) continue;
      link.numbers = m.numbers;
      m.numbers += kLinkNumbers;
    }
  // Frames of joints that other elements name.
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    Batch& batch = *m.batches[b];
    const std::vector<Attachment> attachments = batch.attachments();
    if (attachments.empty() || attachments.front().joint_field < 0) continue;
    for (int e = 0; e < batch.size(); ++e)
      for (const Attachment& a : attachments)
        if (a.joint_frame == 0)
          batch.named_joints.push_back(
              joint_names.at(word(d, m.entry_of(static_cast<int>(b), e), a.joint_field, a.joint_index)));
    for (int e = 0; e < batch.size(); ++e) {
      const Entry& entry = m.entry_of(static_cast<int>(b), e);
      for (std::size_t i = 0; i < attachments.size(); ++i) {
        const Attachment& a = attachments[i];
        const auto [joint_batch, joint_element] = m.named_joint(static_cast<int>(b), e, a.joint_index);
        const Batch& joint = *m.batches[static_cast<std::size_t>(joint_batch)];
        const std::string mistake =
            coordinate_mistake(d, entry, *m.entry_of(joint_batch, joint_element).kind);
        if (!mistake.empty()) {
          if (a.joint_frame == 0)
            findings.push_back(
                {d.file, entry.line,
                 fmt::format("{}.{}.{}", section_name(m.sections[b]), entry.name,
                             entry.kind->fields[static_cast<std::size_t>(a.joint_field)].name),
                 fmt::format("{}, got '{}' of type {}", mistake, word(d, entry, a.joint_field, a.joint_index),
                             m.entry_of(joint_batch, joint_element).kind->type),
                 "revolute, cylindrical and planar joints have an angle, prismatic, cylindrical and "
                 "point_on_line joints a displacement"});
          continue;
        }
        batch.frames[static_cast<std::size_t>(e) * attachments.size() + i] =
            joint.frames[static_cast<std::size_t>(joint_element * joint.coupling().frames + a.joint_frame)];
      }
      if (batch.coupling().multipliers > 0) {
        const auto [joint_batch, joint_element] = m.named_joint(static_cast<int>(b), e, 0);
        const Batch& joint = *m.batches[static_cast<std::size_t>(joint_batch)];
        if (joint.coupling().rows != batch.coupling().multipliers)
          findings.push_back(
              {d.file, entry.line, fmt::format("{}.{}", section_name(m.sections[b]), entry.name),
               fmt::format("a {} joint has no {}", m.entry_of(joint_batch, joint_element).kind->type,
                           entry.kind->type),
               "revolute, prismatic and cylindrical joints have"});
        batch.joints.push_back(first_joint[static_cast<std::size_t>(joint_batch)] + joint_element);
        batch.joint_rows.push_back(joint.first_row + joint_element * joint.coupling().rows);
      }
    }
  }
  if (!findings.empty()) throw InputError(findings);

  // Sensors; an expression may use t, parameters and, hiding these, the values before it, as "name" or "name[i]".
  VariableNames variables;
  variables.add("t");
  for (const std::string& name : d.parameter_names) variables.add(name);
  const auto& sensors = d.entries(Section::Sensors);
  for (const Entry& entry : sensors) {
    Sensor sensor;
    sensor.listed = &sensor_kinds()[static_cast<std::size_t>(position_in(sensor_kinds(), entry.kind))];
    sensor.name = entry.name;
    sensor.components = sensor.listed->components;
    if (sensor.listed->remembers) {
      sensor.angle = m.angles;
      m.angles += sensor.components;
    }
    for (std::size_t f = 0; f < entry.kind->fields.size(); ++f) {
      const Field& field = entry.kind->fields[f];
      const int index = static_cast<int>(f);
      if (field.type == FieldType::Body) {
        sensor.frame = add_frame(entry, sensor_attachment(*entry.kind, 0));
        const int node = m.frames.back().node;
        if (sensor.listed->in_plane && (node < 0 || !is_planar(types[static_cast<std::size_t>(node)])))
          findings.push_back(
              {d.file, entry.line, "sensors." + entry.name + "." + field.name,
               fmt::format("expected a body of type planar, got '{}'", word(d, entry, index)),
               "bodies in space have an orientation and a rotation_vector, joints a joint_angle"});
        else if (sensor.listed->in_plane && m.node_of_body(node) < 0)
          findings.push_back(
              {d.file, entry.line, "sensors." + entry.name + "." + field.name,
               fmt::format("in minimal coordinates a joint moves '{}', which has no angle of its own",
                           word(d, entry, index)),
               "use the joint_angle"});
      } else if (field.type == FieldType::Joint) {
        std::tie(sensor.batch, sensor.element) = m.element_of_joint(joint_names.at(word(d, entry, index)));
        const Batch& batch = *m.batches[static_cast<std::size_t>(sensor.batch)];
        if (sensor.components == 0) sensor.components = batch.coupling().rows;
        const AxisCoordinates needed = sensor.listed->needs,
                              has = m.entry_of(sensor.batch, sensor.element).kind->coordinates;
        if ((needed.angle && !has.angle) || (needed.displacement && !has.displacement))
          findings.push_back(
              {d.file, entry.line, "sensors." + entry.name + "." + field.name,
               fmt::format("expected a joint with {}, got '{}' of type {}",
                           needed.angle ? "an angle about its axis" : "a displacement along its axis",
                           word(d, entry, index), m.entry_of(sensor.batch, sensor.element).kind->type),
               needed.angle
                   ? "revolute, cylindrical, planar and planar_revolute joints have one"
                   : "prismatic, cylindrical and point_on_line joints have one, in space and in the plane"});
      } else if (field.type == FieldType::Bodies) {
        sensor.frame = add_frame(entry, sensor_attachment(*entry.kind, 0));
        sensor.second_frame = add_frame(entry, sensor_attachment(*entry.kind, 1));
      } else if (field.type == FieldType::Force && !force_names.contains(word(d, entry, index))) {
        std::tie(sensor.batch, sensor.element) = m.element_of_joint(joint_names.at(word(d, entry, index)));
        sensor.elements = 1;
      } else if (field.type == FieldType::Force) {
        const int force = force_names.at(word(d, entry, index));
        const Entry& of = d.entries(Section::Forces)[static_cast<std::size_t>(force)];
        look_at_force(m, force, sensor);
        const int joint = of.kind->field("joint");
        if (joint >= 0) {
          const Entry& driven =
              d.entries(Section::Joints)[static_cast<std::size_t>(joint_names.at(word(d, of, joint)))];
          const auto [batch, element] = m.element_of_joint(joint_names.at(word(d, of, joint)));
          sensor.driven = m.batches[static_cast<std::size_t>(batch)].get();
          sensor.driven_element = element;
          const int choice = Inputs<double>(d, of, nullptr, nullptr).choice(of.kind->field("coordinate"));
          sensor.about = choice == 0 ? driven.kind->coordinates.angle : choice == 1;
        }
        const std::string path = "sensors." + entry.name + "." + field.name;
        if (sensor.listed->of_effort && joint < 0 && of.kind->field("points") < 0)
          findings.push_back(
              {d.file, entry.line, path,
               fmt::format("expected a force in a joint or between two points, got '{}' of type {}", of.name,
                           of.kind->type),
               "applied_force and applied_torque show what other forces exert"});
        else if (sensor.elements > 1 && !may_look_at_joint(*entry.kind))
          findings.push_back({d.file, entry.line, path,
                              fmt::format("'{}' of type {} is spread over a beam", of.name, of.kind->type),
                              "of such a force there are the power and the work"});
      } else if (field.type == FieldType::Beam) {
        const BeamPlace place = parse_beam_place(word(d, entry, index));
        const auto exact = beam_names.find(place.beam);
        const Section section = exact != beam_names.end() ? Section::Beams : Section::Flexible;
        const int beam = exact != beam_names.end() ? exact->second : flexible_names.at(place.beam);
        const Entry& beam_entry = d.entries(section)[static_cast<std::size_t>(beam)];
        BeamMesh mesh = beam_mesh(d, beam_entry);
        sensor.fraction = place.fraction;
        sensor.elements = mesh.elements;
        // A member stands among the others of its frame, whose elements follow each other.
        int owner = beam, first = 0;
        if (section == Section::Flexible && is_member(beam_entry)) {
          owner = flexible_names.at(member_owner(d, beam_entry));
          mesh.elements = 0;
          for (const Entry* member : beam_entries(d, d.entries(section)[static_cast<std::size_t>(owner)])) {
            if (member == &beam_entry) first = mesh.elements;
            mesh.elements += beam_mesh(d, *member).elements;
          }
        }
        for (std::size_t b = 0; b < m.batches.size(); ++b) {
          const std::vector<std::int32_t>& list = m.batches[b]->entries;
          const auto found = std::find(list.begin(), list.end(), owner);
          if (m.sections[b] != section || found == list.end()) continue;
          sensor.batch = static_cast<int>(b);
          sensor.element = first + static_cast<int>(found - list.begin());
        }
        if (section == Section::Flexible) {
          auto& body = dynamic_cast<FlexibleOutput&>(*m.batches[static_cast<std::size_t>(sensor.batch)]);
          body.show_sections(mesh);
          look_between(body.jumps(d, beam_entry), sensor);
        } else {
          look_between_loads(d, beam_entry, sensor);
        }
      } else if (field.type == FieldType::Flexible) {
        const int body = flexible_names.at(word(d, entry, index));
        for (std::size_t b = 0; b < m.batches.size(); ++b)
          if (m.sections[b] == Section::Flexible && m.batches[b]->entries.front() == body)
            sensor.batch = static_cast<int>(b);
        Batch& batch = *m.batches[static_cast<std::size_t>(sensor.batch)];
        if (sensor.components == 0) sensor.components = dynamic_cast<FlexibleBatch&>(batch).modes();
        sensor.element = 0;
        if (entry.kind->field("at") >= 0)
          sensor.element = dynamic_cast<FlexibleOutput&>(batch).add(
              static_cast<int>(&entry - sensors.data()),
              entry.kind->type == "stress" ? FlexibleOutput::Of::Stress : FlexibleOutput::Of::Displacement);
      } else if (field.type == FieldType::State) {
        sensor.frame = m.state_frames[static_cast<std::size_t>(state_names.at(word(d, entry, index)))];
      } else if (field.type == FieldType::Choice) {
        sensor.choice = Inputs<double>(d, entry, nullptr, nullptr).choice(index);
      } else if (field.holds_expression) {
        // One component per expression between semicolons.
        const std::string& text = word(d, entry, index);
        std::size_t start = 0;
        try {
          for (std::size_t end = 0; end < text.size(); start = end + 1) {
            end = std::min(text.find(';', start), text.size());
            sensor.expressions.push_back(Expression::parse(text.substr(start, end - start), variables));
          }
        } catch (const ExpressionError& error) {
          const std::size_t place = start + error.position();
          const bool later = names_one_of(text.substr(std::min(place, text.size())), &entry + 1,
                                          sensors.data() + sensors.size());
          findings.push_back(
              {d.file, entry.line, "sensors." + entry.name + "." + field.name,
               fmt::format("at character {}: {}", place + 1, error.what()),
               later ? "this sensor stands later: expressions may use those before them" : error.hint()});
        }
        sensor.components = static_cast<int>(sensor.expressions.size());
      }
    }
    sensor.first = m.sensor_values;
    m.sensor_values += sensor.components;
    if (sensor.components == 1)
      variables.add(sensor.name);
    else
      for (int i = 0; i < sensor.components; ++i) variables.add(fmt::format("{}[{}]", sensor.name, i));
    m.sensors.push_back(std::move(sensor));
  }
  m.sensor_variables = static_cast<int>(variables.size());

  // Flexible bodies have numbers for the sensors that look at them.
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    if (m.sections[b] != Section::Flexible) continue;
    m.batches[b]->first_number = m.numbers;
    m.numbers += m.batches[b]->numbers_per_element();
  }

  // Elements made of expressions take their frames from what these name.
  const std::vector<SignalName> names = signal_names(m);
  for (const auto& batch : m.batches) {
    auto* signals = dynamic_cast<SignalBatch*>(batch.get());
    if (signals == nullptr) continue;
    signals->connect(m, names, findings);
    batch->first_number = m.numbers;
    m.numbers += batch->numbers_per_element() * batch->size();
  }
  if (!findings.empty()) throw InputError(findings);
  return model;
}

const std::string& Model::unit_of(const Sensor& sensor) const {
  // What acts along the coordinate of a joint has the unit of power by that of its rate.
  static const std::string torque = "N m", force = "N";
  if (sensor.listed->of_effort) return sensor.driven != nullptr && sensor.about ? torque : force;
  const Entry& entry =
      description_->entries(Section::Sensors)[static_cast<std::size_t>(&sensor - sensors.data())];
  const int field = entry.kind->field("unit");
  return is_given(entry, field) ? word(*description_, entry, field) : sensor.listed->unit;
}

bool Model::has_conventional_nodes() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const Node& node) { return is_conventional(node.type); });
}

const Entry& Model::entry_of(int batch, int element) const {
  const auto b = static_cast<std::size_t>(batch);
  return description_->entries(
      sections[b])[static_cast<std::size_t>(batches[b]->entries[static_cast<std::size_t>(element)])];
}

std::pair<int, int> Model::element_of_joint(int entry) const {
  return joint_elements_[static_cast<std::size_t>(entry)];
}

std::pair<int, int> Model::named_joint(int batch, int element, int i) const {
  const std::vector<std::int32_t>& named = batches[static_cast<std::size_t>(batch)]->named_joints;
  const std::size_t each = named.size() / batches[static_cast<std::size_t>(batch)]->entries.size();
  return element_of_joint(named[static_cast<std::size_t>(element) * each + static_cast<std::size_t>(i)]);
}

std::pair<int, int> Model::element_of_row(int row) const {
  for (std::size_t b = 0; b < batches.size(); ++b) {
    const int per_element = batches[b]->coupling().rows;
    const int local = row - batches[b]->first_row;
    if (local >= 0 && local < per_element * batches[b]->size())
      return {static_cast<int>(b), local / per_element};
  }
  throw std::out_of_range(fmt::format("no constraint row {}", row));
}

bool Model::is_velocity_row(int row) const {
  const Batch& batch = *batches[static_cast<std::size_t>(element_of_row(row).first)];
  const Coupling c = batch.coupling();
  return (row - batch.first_row) % c.rows >= c.rows - c.velocity_rows;
}

const Entry& Model::joint_of(int row) const {
  const auto [batch, element] = element_of_row(row);
  return entry_of(batch, element);
}

std::string Model::row_name(int row) const {
  const auto [b, e] = element_of_row(row);
  const Batch& batch = *batches[static_cast<std::size_t>(b)];
  const int local = (row - batch.first_row) % batch.coupling().rows;
  return fmt::format("{}.{}: {}", section_name(sections[static_cast<std::size_t>(b)]), entry_of(b, e).name,
                     batch.row_name(local));
}

int Model::node_of_body(int body) const {
  if (!tree) return body;
  const Link& link = tree->links[static_cast<std::size_t>(tree->of_body[static_cast<std::size_t>(body)])];
  return link.kind == Link::Kind::Root ? link.node : -1;
}

int Model::node_of_velocity(int dof) const {
  const auto next =
      std::upper_bound(nodes.begin(), nodes.end(), dof, [](int i, const Node& node) { return i < node.v; });
  return static_cast<int>(next - nodes.begin()) - 1;
}

const Entry& Model::body_of(int dof) const {
  int body = node_of_velocity(dof);
  if (tree) {
    const Link& link = tree->links[static_cast<std::size_t>(tree->of_node[static_cast<std::size_t>(body)])];
    body = link.joint < 0
               ? link.body
               : tree->links[static_cast<std::size_t>(tree->of_joint[static_cast<std::size_t>(link.joint)])]
                     .body;
  }
  const int bodies = static_cast<int>(body_types.size());
  return body < bodies ? description_->entries(Section::Bodies)[static_cast<std::size_t>(body)]
                       : description_->entries(Section::States)[static_cast<std::size_t>(body - bodies)];
}

std::string Model::equation_name(int dof) const {
  if (dof >= first_state()) return fmt::format("states.{}: rate", body_of(dof).name);
  const int index = node_of_velocity(dof);
  const Node& node = nodes[static_cast<std::size_t>(index)];
  const Link* link =
      tree ? &tree->links[static_cast<std::size_t>(tree->of_node[static_cast<std::size_t>(index)])] : nullptr;
  const int component = components(node.type)[dof - node.v];
  if (link == nullptr || link->kind == Link::Kind::Root)
    return fmt::format("bodies.{}: {} {}", body_of(dof).name, component < 3 ? "force" : "torque",
                       "xyz"[component % 3]);
  const Entry& joint = description_->entries(Section::Joints)[static_cast<std::size_t>(link->joint)];
  if (link->kind == Link::Kind::Rotation)
    return fmt::format("joints.{}: free torque {}", joint.name, "xyz"[dof - node.v]);
  const std::string_view what = link->kind == Link::Kind::Turn ? "torque" : "force";
  return tree_motions(joint.kind->type).size() == 1
             ? fmt::format("joints.{}: free {}", joint.name, what)
             : fmt::format("joints.{}: free {} of motion {}", joint.name, what, link->step + 1);
}

}  // namespace liedyn
