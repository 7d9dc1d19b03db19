#include "liedyn/model/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <unordered_set>

#include "liedyn/base/index.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/beams/list.h"
#include "liedyn/model/bodies/list.h"
#include "liedyn/model/bodies/rigid.h"
#include "liedyn/model/flexible/connect.h"
#include "liedyn/model/flexible/list.h"
#include "liedyn/model/forces/list.h"
#include "liedyn/model/frame_rotation.h"
#include "liedyn/model/is_given.h"
#include "liedyn/model/joints/gear_mesh.h"
#include "liedyn/model/joints/list.h"
#include "liedyn/model/joints/types.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/sensors/connect.h"
#include "liedyn/model/sensors/events.h"
#include "liedyn/model/sensors/list.h"
#include "liedyn/model/states/list.h"
#include "liedyn/model/states/signal_batch.h"

namespace liedyn {
namespace {

std::int32_t small(std::size_t i) { return static_cast<std::int32_t>(i); }

template <class Listed>
std::size_t position_in(const std::vector<Listed>& list, const Kind* kind) {
  return static_cast<std::size_t>(
      std::find_if(list.begin(), list.end(), [&](const Listed& l) { return l.kind.type == kind->type; }) -
      list.begin());
}
template <class Listed>
const Listed& listed_kind(const std::vector<Listed>& list, const Entry& entry) {
  return list[position_in(list, entry.kind)];
}

unsigned shape_of(const ListedKind& listed, const Description& d, const Entry& entry) {
  return listed.shape == nullptr ? 0 : listed.shape(d, entry);
}
unsigned shape_of(const BodyKind&, const Description&, const Entry&) { return 0; }
// The beam that an entry has elements along; null: it is one element.
const Entry* beam_along(const ListedKind& listed, const Description& d, const Entry& entry) {
  return listed.along == nullptr ? nullptr : &listed.along(d, entry);
}
const Entry* beam_along(const BodyKind&, const Description&, const Entry&) { return nullptr; }

// The names in an expression, as "name" or "name[i]", without those of functions.
std::vector<std::string_view> names_in(std::string_view text) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  const auto is_inside = [&](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0 || c == '.';
  };
  std::vector<std::string_view> out;
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
    end = begin + 1;
    if (!is_inside(text[begin])) continue;
    while (end < text.size() && is_inside(text[end])) ++end;
    if (!is_letter(text[begin])) continue;  // 1e-3
    if (end < text.size() && text[end] == '[') end = std::min(text.find(']', end), text.size() - 1) + 1;
    const std::size_t next = std::min(text.find_first_not_of(' ', end), text.size());
    if (next == text.size() || text[next] != '(') out.push_back(text.substr(begin, end - begin));
  }
  return out;
}

// Names that expressions use although they stand for two things, a parameter and a sensor, say. Without this the meaning would depend on the field and on what else the
// expression names: a field that may follow sensors takes parameters as long as an expression names nothing else.
class AmbiguousNames {
 public:
  AmbiguousNames(const Model& model, std::vector<Diagnostic>& findings)
      : d_(model.description()), findings_(&findings) {
    for (const SignalName& name : signal_names(model)) meanings_[name.name].push_back(name);
    std::erase_if(meanings_, [](const auto& one) { return one.second.size() < 2; });
  }

  void check() {
    if (meanings_.empty()) return;
    for (const auto* list : {&d_.expressions, &d_.signals})
      for (const NumberExpression& written : *list) {
        const Field* field = locate_parameter(d_, written.number).kind_field();
        if (field != nullptr && field->may_depend_on_signals)
          check(written.text, parameter_path(d_, written.number), written.line, kAll);
      }
    for (const Section section : {Section::Forces, Section::States, Section::Sensors}) {
      const auto& entries = d_.entries(section);
      for (std::size_t e = 0; e < entries.size(); ++e)
        check(entries[e], section, section == Section::Sensors ? static_cast<int>(e) : kAll);
    }
  }

 private:
  static constexpr int kAll = -1;

  // Expressions of the dynamics see all names. Those of sensors see the time, parameters and the sensors before them, the first `sensors`.
  static bool is_seen(const SignalName& name, int sensors) {
    if (sensors == kAll) return true;
    return name.kind != SignalName::Kind::FirstOrderState &&
           (name.kind != SignalName::Kind::Sensor || name.index < sensors);
  }
  static std::string_view what_it_is(SignalName::Kind kind) {
    switch (kind) {
      case SignalName::Kind::Time: return "the time";
      case SignalName::Kind::Parameter: return "a parameter";
      case SignalName::Kind::FirstOrderState: return "a state";
      case SignalName::Kind::Sensor: return "a sensor";
    }
    return {};
  }

  void check(const Entry& entry, Section section, int sensors) {
    for (std::size_t f = 0; f < entry.fields.size(); ++f) {
      const Field& field = entry.kind->fields[f];
      const bool assigns = section == Section::Sensors && is_event(*entry.kind) && f == event_field::kSet;
      if (entry.fields[f].word < 0 || !(field.holds_expression || assigns)) continue;
      const std::string path = fmt::format("{}.{}.{}", section_name(section), entry.name, field.name);
      std::string_view rest = word(d_, entry, static_cast<int>(f));
      if (!assigns) check(rest, path, entry.line, sensors);
      // "u = k; states.x = 0": what is set is a parameter, unless its section stands before it.
      while (assigns && !rest.empty()) {
        const std::string_view one = rest.substr(0, rest.find(';'));
        check(one.substr(std::min(one.find('='), one.size())), path, entry.line, sensors);
        rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      }
    }
  }

  void check(std::string_view text, const std::string& path, int line, int sensors) {
    std::vector<std::string_view> named = names_in(text);
    std::sort(named.begin(), named.end());
    named.erase(std::unique(named.begin(), named.end()), named.end());
    for (const std::string_view name : named) {
      const auto found = meanings_.find(name);
      if (found == meanings_.end()) continue;
      std::vector<std::string_view> seen;
      for (const SignalName& meaning : found->second)
        if (is_seen(meaning, sensors)) seen.push_back(what_it_is(meaning.kind));
      if (seen.size() > 1)
        findings_->push_back(
            {d_.file, line, path,
             fmt::format("'{}' has more than one meaning: it is {}", excerpt(name), fmt::join(seen, " and ")),
             "give one of them another name"});
    }
  }

  const Description& d_;
  std::vector<Diagnostic>* findings_;
  std::map<std::string, std::vector<SignalName>, std::less<>> meanings_;  // of names that have several
};

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

// A frame needs no numbers of its own where it is the node's.
bool at_reference(const Entry& entry, const Attachment& a) {
  if (entry.rides) return false;
  const bool point = a.place == Attachment::Place::Point && is_given(entry, a.point_field);
  const Attachment::Place place = a.place == Attachment::Place::Point && !point ? a.otherwise : a.place;
  return !point && place == Attachment::Place::Reference;
}

}  // namespace

EntryNames::EntryNames(const Description& description) {
  for (const Section section : kSections) {
    const auto& entries = description.entries(section);
    auto& names = of_section_[static_cast<std::size_t>(section)];
    names.reserve(entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) names.emplace(entries[i].name, static_cast<int>(i));
  }
}

int EntryNames::find(Section section, std::string_view name) const {
  const auto& names = of_section_[static_cast<std::size_t>(section)];
  const auto found = names.find(name);
  return found == names.end() ? -1 : found->second;
}

ModelCompiler::ModelCompiler(std::shared_ptr<const Description> description, const std::string& formulation)
    : model_(std::make_shared<Model>()), d_(*description), names_(d_) {
  model_->description_ = std::move(description);
  model_->formulation_ = formulation.empty() ? d_.simulation.formulation : formulation;
  const auto& known = formulation_choices();
  if (std::find(known.begin(), known.end(), model_->formulation_) == known.end())
    throw InputError("formulation",
                     fmt::format("unknown formulation '{}', expected one of {}", model_->formulation_,
                                 fmt::join(known, ", ")),
                     did_you_mean(model_->formulation_, known));
}

std::shared_ptr<const Model> ModelCompiler::compile(Model::Riders riders) {
  Model& m = *model_;
  choose_node_types();
  const auto& bodies = d_.entries(Section::Bodies);
  const bool minimal = m.is_minimal();
  const bool merges = riders == Model::Riders::Merged &&
                      std::any_of(bodies.begin(), bodies.end(), [](const Entry& body) { return body.rides; });
  if (minimal || merges)
    add_tree(minimal);
  else
    add_nodes();
  add_states();

  add_batches(Section::Bodies, body_kinds());
  add_batches(Section::Beams, beam_kinds());
  add_batches(Section::Flexible, flexible_kinds());
  add_batches(Section::Joints, joint_kinds());
  add_batches(Section::Forces, force_kinds());
  add_batches(Section::States, state_kinds());
  connect_flexible(m, names_);

  number_joints();
  for (std::size_t b = 0; b < m.batches.size(); ++b) attach(b);
  number_links();
  for (std::size_t b = 0; b < m.batches.size(); ++b) connect_joints(b);
  if (!findings_.empty()) throw InputError(findings_);

  add_sensors();
  number_flexible_bodies();
  connect_signals();
  AmbiguousNames(m, findings_).check();
  if (!findings_.empty()) throw InputError(findings_);
  return model_;
}

// The node of each body in absolute coordinates, and whether it asks for one of its own. A beam or a flexible body says it for all its parts, which have the
// coordinates of rigid bodies.
void ModelCompiler::choose_node_types() {
  Model& m = *model_;
  const BodyKind rigid_body = rigid();
  const std::string& common = m.is_formulation_open() ? formulations().front() : m.formulation_;
  for (const Entry& body : d_.entries(Section::Bodies)) {
    const Entry& says = body.is_part() ? d_.entries(body.owner_section)[at(body.owner)] : body;
    const int field = says.kind->field("formulation");
    const bool given = is_given(says, field) && word(d_, says, field) != "model";
    const BodyKind& listed = body.is_part() ? rigid_body : listed_kind(body_kinds(), body);
    types_.push_back(body.kind->is_modal ? NodeType::R3
                                         : listed.node(given ? word(d_, says, field) : common));
    own_.push_back(given || body.kind->floats);
  }
  m.body_types = types_;
  // States follow the bodies, each with a scalar node.
  types_.resize(types_.size() + d_.entries(Section::States).size(), NodeType::State);
  own_.resize(types_.size(), true);
}

int ModelCompiler::add_node(NodeType type) {
  Model& m = *model_;
  const NodeSize size = node_size(type);
  m.nodes.push_back({type, m.nq, m.nv, m.tangents, -1});
  m.nq += size.q;
  m.nv += size.v;
  m.tangents += size.tangent;
  return static_cast<int>(m.nodes.size()) - 1;
}

void ModelCompiler::add_nodes() {
  model_->nodes.reserve(types_.size());
  for (const NodeType type : types_) add_node(type);
}

// Joints that the tree may hold: of the kinds it knows, unless a sensor or a force wants their multipliers, or an event releases them. Only in minimal coordinates
// these are more than the ones that stand for bodies that ride on others.
Tree ModelCompiler::plan_tree(bool minimal) const {
  const auto& bodies = d_.entries(Section::Bodies);
  std::vector<bool> roots;
  for (std::size_t i = 0; i < types_.size(); ++i) {
    // States come last, behind all that grows from the ground and from other roots.
    const bool rides = i < bodies.size() && bodies[i].rides;
    roots.push_back(types_[i] != NodeType::State && !rides &&
                    (!minimal || own_[i] || types_[i] != NodeType::R3xSO3));
  }
  const std::vector<std::string> switched = switched_joints(d_);
  std::unordered_set<std::string_view> keep_rows(switched.begin(), switched.end());
  for (const Entry& sensor : d_.entries(Section::Sensors))
    for (std::size_t f = 0; f < sensor.fields.size(); ++f)
      if (sensor.kind->fields[f].type == FieldType::Joint &&
          listed_kind(sensor_kinds(), sensor).traits.shows_multipliers)
        keep_rows.insert(word(d_, sensor, static_cast<int>(f)));
  for (const Entry& force : d_.entries(Section::Forces)) {
    const ListedKind& listed = listed_kind(force_kinds(), force);
    const int joint = force.kind->field("joint");
    if (joint >= 0 && listed.make(shape_of(listed, d_, force))->coupling().multipliers > 0)
      keep_rows.insert(word(d_, force, joint));
  }

  const auto& joints = d_.entries(Section::Joints);
  std::vector<TreeJoint> candidates;
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const TreeForm* form = joints[i].kind->tree.get();
    if (form == nullptr || keep_rows.contains(joints[i].name) || !(minimal || joints[i].rides)) continue;
    const int between = joints[i].kind->field("between");
    const auto body = [&](int k) { return names_.find(Section::Bodies, word(d_, joints[i], between, k)); };
    candidates.push_back({static_cast<int>(i), {body(0), body(1)}, form->motions});
  }
  return spanning_tree(static_cast<int>(types_.size()), roots, static_cast<int>(joints.size()), candidates);
}

void ModelCompiler::add_tree(bool minimal) {
  Model& m = *model_;
  m.tree = plan_tree(minimal);
  for (std::size_t i = 0; i < m.tree->links.size(); ++i) {
    Link& link = m.tree->links[i];
    if (link.kind == LinkKind::Weld) continue;
    link.node = add_node(link.kind == LinkKind::Root       ? types_[at(link.body)]
                         : link.kind == LinkKind::Rotation ? NodeType::SO3
                         : link.kind == LinkKind::Turn     ? NodeType::Turn
                                                           : NodeType::Slide);
    if (link.kind == LinkKind::Root) m.tree->bodies[at(link.body)].q = m.nodes.back().q;
    m.tree->of_node.push_back(static_cast<int>(i));
  }
}

void ModelCompiler::add_states() {
  Model& m = *model_;
  for (std::size_t i = 0; i < d_.entries(Section::States).size(); ++i) {
    m.state_frames.push_back(small(m.frames.size()));
    m.frames.push_back({.node = small(d_.entries(Section::Bodies).size() + i), .constants = -1});
  }
  m.stage_size = m.nv;
  for (Node& node : m.nodes)
    if (has_euler_parameters(node.type)) node.extra = m.stage_size++;
}

// One batch per kind (and shape) that occurs; its elements in the order of the entries. Parts of beams and of flexible bodies have none: other elements bring
// their inertia.
template <class Listed>
void ModelCompiler::add_batches(Section section, const std::vector<Listed>& list) {
  Model& m = *model_;
  const auto& entries = d_.entries(section);
  std::map<std::tuple<std::size_t, unsigned, bool>, Batch*> of_shape;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].is_part()) continue;
    const std::size_t k = position_in(list, entries[i].kind);
    const unsigned shape = shape_of(list[k], d_, entries[i]);
    const bool in_tree = m.tree && section == Section::Joints && m.tree->of_joint[i] >= 0;
    Batch*& batch = of_shape[{k, shape, in_tree}];
    if (batch == nullptr) {
      m.batches.push_back(list[k].make(shape));
      if (in_tree) m.batches.back() = std::make_unique<TreeJoints>(std::move(m.batches.back()));
      m.sections.push_back(section);
      batch = m.batches.back().get();
    }
    const Entry* beam = beam_along(list[k], d_, entries[i]);
    if (beam == nullptr) {
      batch->entries.push_back(small(i));
      continue;
    }
    for (int part = 0; part < beam_mesh(d_, *beam).elements; ++part) {
      batch->entries.push_back(small(i));
      batch->parts.push_back(part);
    }
  }
}

int ModelCompiler::add_frame(const Entry& entry, const Attachment& a) {
  Model& m = *model_;
  Frame frame;
  // A body that was not named is the ground.
  const bool named = entry.fields[at(a.body_field)].word >= 0;
  frame.node = named ? names_.find(Section::Bodies, word(d_, entry, a.body_field, a.body_index)) : -1;
  frame.aligned = !is_given(entry, frame_rotation_field(*entry.kind, a.body_index));
  if (frame.node < 0 || !frame.aligned || !at_reference(entry, a)) {
    frame.constants = m.constants;
    m.constants += kFrameConstants;
  }
  m.frames.push_back(frame);
  return static_cast<int>(m.frames.size()) - 1;
}

void ModelCompiler::number_joints() {
  Model& m = *model_;
  m.joint_elements_.resize(d_.entries(Section::Joints).size());
  int joints = 0;
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    first_joint_.push_back(joints);
    if (m.batches[b]->coupling().rows > 0) joints += m.batches[b]->size();
    if (m.sections[b] != Section::Joints) continue;
    const auto& list = m.batches[b]->entries;
    for (std::size_t e = 0; e < list.size(); ++e) m.joint_elements_[at(list[e])] = {small(b), small(e)};
  }
}

// Elements on the parts of a beam are between its nodes, which follow each other.
void ModelCompiler::attach_along_beams(std::size_t b) {
  Model& m = *model_;
  Batch& batch = *m.batches[b];
  const int frames = batch.coupling().frames;
  const auto& entries = d_.entries(m.sections[b]);
  for (std::size_t i = 0; i < batch.parts.size(); ++i) {
    const Entry& entry = entries[at(batch.entries[i])];
    const std::string beam =
        m.sections[b] == Section::Beams ? entry.name : word(d_, entry, entry.kind->field("on"));
    const int first = names_.find(Section::Bodies, beam + ".start") + batch.parts[i] * (frames - 1);
    for (int k = 0; k < frames; ++k) {
      batch.frames.push_back(small(m.frames.size()));
      m.frames.push_back({.node = first + k, .constants = -1});
    }
  }
}

// Frames, rows, numbers and angles of a batch. The frames of joints that it names come later, when all are there.
void ModelCompiler::attach(std::size_t b) {
  Model& m = *model_;
  Batch& batch = *m.batches[b];
  const Coupling coupling = batch.coupling();
  const std::vector<Attachment> attachments = batch.attachments();
  const auto& entries = d_.entries(m.sections[b]);
  batch.frames.reserve(batch.entries.size() * at(coupling.frames));
  attach_along_beams(b);
  for (const std::int32_t e : batch.entries) {
    if (!batch.parts.empty()) break;
    if (m.sections[b] == Section::Bodies) {
      m.frames.push_back({.node = e, .constants = -1});
      batch.frames.push_back(small(m.frames.size()) - 1);
      continue;
    }
    for (const Attachment& a : attachments)
      batch.frames.push_back(a.joint_field < 0 ? add_frame(entries[at(e)], a) : -1);
  }
  batch.first_row = m.rows;
  m.rows += coupling.rows * batch.size();
  m.velocity_rows += coupling.velocity_rows * batch.size();
  if (coupling.multipliers > 0 || dynamic_cast<const BothFlanks*>(&batch) != nullptr)
    m.forces_use_multipliers = true;
  batch.first_constant = m.constants;
  if (m.sections[b] != Section::Flexible) m.constants += batch.constants_per_element() * batch.size();
  batch.first_angle = m.angles;
  m.angles += batch.angles_per_element() * batch.size();
  if (auto* tree_joints = dynamic_cast<TreeJoints*>(&batch)) tree_joints->finish(*m.tree, m.frames);
}

void ModelCompiler::number_links() {
  Model& m = *model_;
  if (!m.tree) return;
  for (Link& link : m.tree->links) {
    if (link.kind == LinkKind::Root) continue;
    link.constants = m.constants;
    m.constants += kLinkConstants;
  }
}

// Frames of joints that other elements name.
void ModelCompiler::connect_joints(std::size_t b) {
  Model& m = *model_;
  Batch& batch = *m.batches[b];
  const std::vector<Attachment> attachments = batch.attachments();
  if (attachments.empty() || attachments.front().joint_field < 0) return;
  for (int e = 0; e < batch.size(); ++e)
    for (const Attachment& a : attachments)
      if (a.joint_frame == 0)
        batch.named_joints.push_back(names_.find(
            Section::Joints, word(d_, m.entry_of(static_cast<int>(b), e), a.joint_field, a.joint_index)));
  for (int e = 0; e < batch.size(); ++e) {
    for (std::size_t i = 0; i < attachments.size(); ++i) {
      const Attachment& a = attachments[i];
      if (!has_coordinate(b, e, a)) continue;
      const auto [joint_batch, joint_element] = m.named_joint(static_cast<int>(b), e, a.joint_index);
      const Batch& joint = *m.batches[at(joint_batch)];
      batch.frames[at(e) * attachments.size() + i] =
          joint.frames[at(joint_element * joint.coupling().frames + a.joint_frame)];
    }
    if (batch.coupling().multipliers > 0) use_multipliers(b, e);
  }
}

// Whether a joint that an element names has the coordinate that it uses; said once, with its first frame.
bool ModelCompiler::has_coordinate(std::size_t b, int e, const Attachment& a) {
  const Model& m = *model_;
  const Entry& entry = m.entry_of(static_cast<int>(b), e);
  const auto [joint_batch, joint_element] = m.named_joint(static_cast<int>(b), e, a.joint_index);
  const Kind& joint = *m.entry_of(joint_batch, joint_element).kind;
  const std::string mistake = coordinate_mistake(d_, entry, joint);
  if (!mistake.empty() && a.joint_frame == 0)
    findings_.push_back({d_.file, entry.line,
                         fmt::format("{}.{}.{}", section_name(m.sections[b]), entry.name,
                                     entry.kind->fields[at(a.joint_field)].name),
                         fmt::format("{}, got '{}' of type {}", mistake,
                                     word(d_, entry, a.joint_field, a.joint_index), joint.type),
                         joints_with([](const Kind& k) { return k.coordinates.angle; }) +
                             " joints have an angle, " +
                             joints_with([](const Kind& k) { return k.coordinates.displacement; }) +
                             " joints a displacement"});
  return mistake.empty();
}

void ModelCompiler::use_multipliers(std::size_t b, int e) {
  const Model& m = *model_;
  Batch& batch = *m.batches[b];
  const Entry& entry = m.entry_of(static_cast<int>(b), e);
  const auto [joint_batch, joint_element] = m.named_joint(static_cast<int>(b), e, 0);
  const Batch& joint = *m.batches[at(joint_batch)];
  const Entry& carrier = m.entry_of(joint_batch, joint_element);
  const Kind& kind = *carrier.kind;
  if (!kind.bearing || joint.coupling().rows != batch.coupling().multipliers)
    findings_.push_back(
        {d_.file, entry.line, fmt::format("{}.{}", section_name(m.sections[b]), entry.name),
         fmt::format("{} supports only {} joints, got '{}' of type {}", entry.kind->type,
                     joints_with([](const Kind& k) { return bool(k.bearing); }), carrier.name, kind.type),
         ""});
  batch.joints.push_back(first_joint_[at(joint_batch)] + joint_element);
  batch.joint_rows.push_back(joint.first_row + joint_element * joint.coupling().rows);
}

// An expression may use t, parameters and the values before it, as "name" or "name[i]".
void ModelCompiler::add_sensors() {
  Model& m = *model_;
  VariableNames variables;
  variables.add("t");
  for (const std::string& name : d_.parameter_names) variables.add(name);
  for (const Entry& entry : d_.entries(Section::Sensors)) {
    Sensor sensor;
    sensor.listed = &listed_kind(sensor_kinds(), entry);
    sensor.name = entry.name;
    sensor.components = sensor.listed->components;
    if (sensor.listed->traits.remembers) {
      sensor.angle = m.angles;
      m.angles += sensor.components;
    }
    SensorConnection connection(*this, entry, variables);
    connect_sensor(connection, sensor);
    sensor.first = m.sensor_values;
    m.sensor_values += sensor.components;
    if (sensor.components == 1)
      variables.add(sensor.name);
    else
      for (int i = 0; i < sensor.components; ++i) variables.add(fmt::format("{}[{}]", sensor.name, i));
    m.sensors.push_back(std::move(sensor));
  }
  m.sensor_variables = static_cast<int>(variables.size());
}

// They have numbers for the sensors that look at them.
void ModelCompiler::number_flexible_bodies() {
  Model& m = *model_;
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    if (m.sections[b] != Section::Flexible) continue;
    m.batches[b]->first_constant = m.constants;
    m.constants += m.batches[b]->constants_per_element();
  }
}

// Elements made of expressions take their frames from what these name.
void ModelCompiler::connect_signals() {
  Model& m = *model_;
  const std::vector<SignalName> names = signal_names(m);
  for (const auto& batch : m.batches) {
    auto* signals = dynamic_cast<SignalBatch*>(batch.get());
    if (signals == nullptr) continue;
    signals->connect(m, names, findings_);
    batch->first_constant = m.constants;
    m.constants += batch->constants_per_element() * batch->size();
  }
}

}  // namespace liedyn
