#include "liedyn/model/sensors/connect.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <unordered_set>

#include "liedyn/base/index.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/beams/beam.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/flexible/linear_beam.h"
#include "liedyn/model/forces/machine_output.h"
#include "liedyn/model/joints/types.h"
#include "liedyn/model/sensors/events.h"
#include "liedyn/model/sensors/list.h"

namespace liedyn {
namespace {

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

}  // namespace

std::vector<int> section_force_jumps(const Description& d, const Entry& beam) {
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
  return jumps;
}

namespace {

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

// Whether a text begins with the name of one of these entries.
bool names_one_of(std::string_view text, const Entry* first, const Entry* end) {
  std::size_t length = 0;
  while (length < text.size() && (std::isalnum(static_cast<unsigned char>(text[length])) != 0 ||
                                  text[length] == '_' || text[length] == '.'))
    ++length;
  return std::any_of(first, end, [&](const Entry& entry) { return entry.name == text.substr(0, length); });
}

// ---- by the type of a field

void connect_to_body(SensorConnection& c, Sensor& sensor) {
  sensor.frame = c.add_frame(0);
  if (!sensor.listed->traits.in_plane) return;
  const int body = c.model.frames.back().node;
  if (body < 0 || !is_planar(c.model.body_types[at(body)]))
    c.refuse(fmt::format("expected a body of type planar, got '{}'", c.word()),
             "bodies in space have an orientation and a rotation_vector, joints a joint_angle");
  else if (c.model.node_of_body(body) < 0)
    c.refuse(
        fmt::format("in minimal coordinates a joint moves '{}', which has no angle of its own", c.word()),
        "use the joint_angle");
}

void connect_to_bodies(SensorConnection& c, Sensor& sensor) {
  sensor.frame = c.add_frame(0);
  sensor.second_frame = c.add_frame(1);
}

void connect_to_joint(SensorConnection& c, Sensor& sensor) {
  std::tie(sensor.batch, sensor.element) = c.model.element_of_joint(c.find(Section::Joints, c.word()));
  if (sensor.components == 0) sensor.components = c.model.batches[at(sensor.batch)]->coupling().rows;
  const Kind& joint = *c.model.entry_of(sensor.batch, sensor.element).kind;
  const AxisCoordinates needed = sensor.listed->traits.needs, has = joint.coordinates;
  if ((needed.angle && !has.angle) || (needed.displacement && !has.displacement))
    c.refuse(fmt::format("expected a joint with {}, got '{}' of type {}",
                         needed.angle ? "an angle about its axis" : "a displacement along its axis", c.word(),
                         joint.type),
             joints_with([&](const Kind& k) {
               return needed.angle ? k.coordinates.angle : k.coordinates.displacement;
             }) + " joints have one");
}

void connect_to_force(SensorConnection& c, Sensor& sensor) {
  const int index = c.find(Section::Forces, c.word());
  if (index < 0) {  // drives do work as well
    std::tie(sensor.batch, sensor.element) = c.model.element_of_joint(c.find(Section::Joints, c.word()));
    sensor.elements = 1;
    return;
  }
  const Entry& force = c.d.entries(Section::Forces)[at(index)];
  look_at_force(c.model, index, sensor);
  // Between two joints the effort is that in the second.
  const int one = force.kind->field("joint"), joint_field = one >= 0 ? one : force.kind->field("joints");
  if (joint_field >= 0) {
    const int joint = c.find(Section::Joints, word(c.d, force, joint_field, one >= 0 ? 0 : 1));
    const auto [batch, element] = c.model.element_of_joint(joint);
    sensor.driven = c.model.batches[at(batch)].get();
    sensor.driven_element = element;
    const int coordinate = force.kind->field("coordinate");
    const int choice = coordinate >= 0 ? Inputs<double>(c.d, force, nullptr, nullptr).choice(coordinate) : 0;
    sensor.about =
        choice == 0 ? c.d.entries(Section::Joints)[at(joint)].kind->coordinates.angle : choice == 1;
  }
  const SensorTraits& traits = sensor.listed->traits;
  if (traits.of_effort && !has_effort(*force.kind))
    c.refuse(
        fmt::format("expected a force in a joint or along the line between two points, got '{}' of type {}",
                    force.name, force.kind->type),
        "applied_force and applied_torque give the loads of other forces");
  else if (sensor.elements > 1 && !traits.sums_elements)
    c.refuse(fmt::format("'{}' of type {} is distributed along a beam", force.name, force.kind->type),
             "such a force has the sensors power and work");
}

// The batch of a beam, exact or linear, and its first element there.
void look_at_beam(const Model& m, Section section, int entry, Sensor& sensor) {
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    const std::vector<std::int32_t>& list = m.batches[b]->entries;
    const auto found = std::find(list.begin(), list.end(), entry);
    if (m.sections[b] != section || found == list.end()) continue;
    sensor.batch = static_cast<int>(b);
    sensor.element = static_cast<int>(found - list.begin());
  }
}

void connect_to_exact_beam(SensorConnection& c, int index, Sensor& sensor) {
  const Entry& beam = c.d.entries(Section::Beams)[at(index)];
  sensor.elements = beam_mesh(c.d, beam).elements;
  look_at_beam(c.model, Section::Beams, index, sensor);
  look_between(section_force_jumps(c.d, beam), sensor);
}

// A member stands among the others of its frame, whose elements follow each other.
void connect_to_linear_beam(SensorConnection& c, int index, Sensor& sensor) {
  const auto& entries = c.d.entries(Section::Flexible);
  const Entry& beam = entries[at(index)];
  BeamMesh mesh = beam_mesh(c.d, beam);
  sensor.elements = mesh.elements;
  int owner = index, first = 0;
  if (beam.is_part()) {
    owner = beam.owner;
    mesh.elements = 0;
    for (const Entry* member : beam_entries(c.d, entries[at(owner)])) {
      if (member == &beam) first = mesh.elements;
      mesh.elements += beam_mesh(c.d, *member).elements;
    }
  }
  look_at_beam(c.model, Section::Flexible, owner, sensor);
  sensor.element += first;
  auto& body = dynamic_cast<FlexibleOutput&>(*c.model.batches[at(sensor.batch)]);
  body.show_sections(mesh);
  look_between(body.jumps(c.d, beam), sensor);
}

void connect_to_section(SensorConnection& c, Sensor& sensor) {
  const BeamPlace place = parse_beam_place(c.word());
  sensor.fraction = place.fraction;
  const int exact = c.find(Section::Beams, place.beam);
  if (exact >= 0)
    connect_to_exact_beam(c, exact, sensor);
  else
    connect_to_linear_beam(c, c.find(Section::Flexible, place.beam), sensor);
}

void connect_to_flexible(SensorConnection& c, Sensor& sensor) {
  const int body = c.find(Section::Flexible, c.word());
  const Model& m = c.model;
  for (std::size_t b = 0; b < m.batches.size(); ++b)
    if (m.sections[b] == Section::Flexible && m.batches[b]->entries.front() == body)
      sensor.batch = static_cast<int>(b);
  sensor.element = 0;
  if (sensor.components == 0)
    sensor.components = dynamic_cast<FlexibleBatch&>(*m.batches[at(sensor.batch)]).modes();
}

void connect_to_material(SensorConnection& c, FlexibleOutput::Of of, Sensor& sensor) {
  connect_to_flexible(c, sensor);
  const auto& sensors = c.d.entries(Section::Sensors);
  sensor.element = dynamic_cast<FlexibleOutput&>(*c.model.batches[at(sensor.batch)])
                       .add(static_cast<int>(&c.entry - sensors.data()), of);
}

void connect_to_state(SensorConnection& c, Sensor& sensor) {
  sensor.frame = c.model.state_frames[at(c.find(Section::States, c.word()))];
}

// One component per expression between semicolons.
void connect_expressions(SensorConnection& c, Sensor& sensor) {
  const std::string& text = c.word();
  std::size_t start = 0;
  try {
    for (std::size_t end = 0; end < text.size(); start = end + 1) {
      end = std::min(text.find(';', start), text.size());
      sensor.expressions.push_back(Expression::parse(text.substr(start, end - start), c.variables));
    }
  } catch (const ExpressionError& error) {
    const std::size_t place = start + error.position();
    const auto& sensors = c.d.entries(Section::Sensors);
    const bool later = names_one_of(text.substr(std::min(place, text.size())), &c.entry + 1,
                                    sensors.data() + sensors.size());
    c.refuse(
        fmt::format("in the expression '{}', at character {}: {}", excerpt(text), place + 1, error.what()),
        later ? "this sensor is defined later: expressions may use only sensors that are defined before them"
              : error.hint());
  }
  sensor.components = static_cast<int>(sensor.expressions.size());
}

void (*connection_by(const Field& field))(SensorConnection&, Sensor&) {
  switch (field.type) {
    case FieldType::Body: return &connect_to_body;
    case FieldType::Bodies: return &connect_to_bodies;
    case FieldType::Joint: return &connect_to_joint;
    case FieldType::Force: return &connect_to_force;
    case FieldType::Beam: return &connect_to_section;
    case FieldType::Flexible: return &connect_to_flexible;
    case FieldType::State: return &connect_to_state;
    case FieldType::Text: return field.holds_expression ? &connect_expressions : nullptr;
    default: return nullptr;
  }
}

}  // namespace

bool has_effort(const Kind& force) {
  return force.field("joint") >= 0 || force.field("joints") >= 0 || force.acts_along_points;
}

int SensorConnection::add_frame(int i) {
  return compiler_->add_frame(entry, sensor_attachment(*entry.kind, i));
}

void SensorConnection::refuse(std::string message, std::string hint) {
  const bool acts =
      is_event(*entry.kind) || is_sample(*entry.kind);  // files have these in a section of their own
  compiler_->findings().push_back(
      {d.file, entry.line,
       (acts ? "events." : "sensors.") + entry.name + "." + entry.kind->fields[at(field)].name,
       std::move(message), std::move(hint)});
}

void connect_sensor(SensorConnection& c, Sensor& sensor) {
  const std::vector<Field>& fields = c.entry.kind->fields;
  for (std::size_t f = 0; f < fields.size(); ++f)
    if (fields[f].type == FieldType::Choice)
      sensor.choice = Inputs<double>(c.d, c.entry, nullptr, nullptr).choice(static_cast<int>(f));
  if (sensor.listed->traits.connect != nullptr) return sensor.listed->traits.connect(c, sensor);
  for (c.field = 0; c.field < static_cast<int>(fields.size()); ++c.field)
    if (const auto connect = connection_by(fields[at(c.field)])) connect(c, sensor);
}

void connect_to_displacement(SensorConnection& c, Sensor& sensor) {
  connect_to_material(c, FlexibleOutput::Of::Displacement, sensor);
}
void connect_to_stress(SensorConnection& c, Sensor& sensor) {
  connect_to_material(c, FlexibleOutput::Of::Stress, sensor);
}

void connect_to_quantity(SensorConnection& c, Sensor& sensor) {
  c.field = c.entry.kind->field("of");
  connect_to_force(c, sensor);
  const Entry& force = c.d.entries(Section::Forces)[at(c.find(Section::Forces, c.word()))];
  const auto* machine = dynamic_cast<const MachineOutput*>(c.model.batches[at(sensor.batch)].get());
  std::vector<std::string> known;
  if (machine != nullptr)
    for (const MachineQuantity& quantity : machine->quantities()) known.push_back(quantity.name);
  c.field = c.entry.kind->field("quantity");
  const std::string& wanted = c.word();
  const auto found = std::find(known.begin(), known.end(), wanted);
  sensor.choice = static_cast<int>(found - known.begin());
  if (found != known.end()) return;
  const std::string got =
      fmt::format("'{}' of type {} has no quantity '{}'", force.name, force.kind->type, excerpt(wanted));
  if (known.empty())
    c.refuse(got + ", and no others", "effort, power and applied_force are sensors of other forces");
  else
    c.refuse(fmt::format("{}, expected one of {}", got, fmt::join(known, ", ")), did_you_mean(wanted, known));
}

}  // namespace liedyn
