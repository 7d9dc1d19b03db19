#include "liedyn/analyses/joint_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "liedyn/base/suggest.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

const Entry& joint_named(const Description& d, const JointStart& start, const std::string& file) {
  std::vector<std::string> names;
  for (const Entry& joint : d.entries(Section::Joints)) {
    if (joint.name == start.joint) return joint;
    if (joint.kind->coordinates.angle || joint.kind->coordinates.displacement) names.push_back(joint.name);
  }
  throw InputError({{file, start.line, "joints." + excerpt(start.joint), "the model has no such joint",
                     did_you_mean(start.joint, names)}});
}

// An entry whose word stands in the field `name`.
Entry entry_for(Description& d, std::string name, const Kind& kind, std::string_view field,
                const std::string& word) {
  Entry entry{std::move(name), &kind, 0, static_cast<std::int32_t>(d.numbers.size()),
              std::vector<FieldValue>(kind.fields.size())};
  FieldValue& value = entry.fields[at(kind.field(field))];
  value.word = static_cast<std::int32_t>(d.words.size());
  value.given = true;
  d.words.push_back(word);
  return entry;
}

// The model with a sensor for the coordinate of each joint, called "JOINT.start", behind its own.
Description with_sensors(Description d, const std::vector<JointStart>& joints, const std::string& file) {
  for (const JointStart& start : joints) {
    const AxisCoordinates has = joint_named(d, start, file).kind->coordinates;
    if (!has.angle && !has.displacement)
      throw InputError(
          {{file, start.line, "joints." + excerpt(start.joint),
            fmt::format("a joint of type {} has no coordinate", joint_named(d, start, file).kind->type),
            "give the positions of its bodies instead"}});
    if (has.angle && std::abs(start.value) > std::numbers::pi)
      throw InputError({{file, start.line, "joints." + excerpt(start.joint),
                         fmt::format("expected an angle from -pi to pi, got {}", start.value),
                         "turns are counted from the start of a run"}});
    const Kind& kind = *find_kind(Section::Sensors, has.angle ? "joint_angle" : "joint_displacement");
    Entry sensor = entry_for(d, start.joint + ".start", kind, "of", start.joint);
    d.entries(Section::Sensors).push_back(std::move(sensor));
  }
  return d;
}

// The model with drives that hold the coordinates: value + rate (t - time).
Description with_drives(Description d, const std::vector<JointStart>& joints, double time) {
  const Kind& kind = *find_kind(Section::Joints, "prescribed_motion");
  for (const JointStart& start : joints) {
    Entry drive = entry_for(d, start.joint + ".start", kind, "joint", start.joint);
    FieldValue& motion = drive.fields[at(kind.field("motion"))];
    motion.first = static_cast<std::int32_t>(d.numbers.size());
    motion.count = 1;
    motion.given = true;
    d.expressions.push_back(
        {motion.first, 0, fmt::format("({}) + ({})*(t - ({}))", start.value, start.rate, time)});
    d.numbers.push_back(start.value);
    d.entries(Section::Joints).push_back(std::move(drive));
  }
  return d;
}

System system_of(Description d, const std::string& formulation) {
  const auto shared = std::make_shared<const Description>(std::move(d));
  return {Model::compile(shared, formulation), Params(shared)};
}

// The coordinates that the last sensors of the model show.
std::vector<double> coordinates(const System& system, const State& state, std::size_t count, Work& work) {
  std::vector<double> variables(at(system.model().sensor_variables)), out(at(system.model().sensor_values));
  system.sense(state, work, variables, out.data());
  return {out.end() - static_cast<std::ptrdiff_t>(count), out.end()};
}

// Moves the joints that a spanning tree holds, all others keep their coordinates. Loops are open afterwards.
Configuration moved_along_tree(const Description& d, const std::vector<JointStart>& joints,
                               const Configuration& from, double time) {
  const System tree = system_of(d, "minimal"), absolute = in_absolute_coordinates(tree);
  Work work(tree), absolute_work(absolute);
  State bodies = absolute.empty_state();
  bodies.t = time;
  set_configuration(absolute.model(), from, bodies);
  State state = state_on_tree(tree, absolute, bodies, work);
  const std::vector<double> before = coordinates(tree, state, joints.size(), work);
  for (std::size_t i = 0; i < joints.size(); ++i) {
    const auto& entries = d.entries(Section::Joints);
    const auto joint = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& e) { return e.name == joints[i].joint; });
    // Of a cylindrical joint, the angle.
    const Link::Kind wanted = joint->kind->coordinates.angle ? Link::Kind::Turn : Link::Kind::Slide;
    for (const Link& link : tree.model().tree->links) {
      if (link.joint != static_cast<int>(joint - entries.begin()) || link.kind != wanted) continue;
      double& q = state.q[at(tree.model().nodes[at(link.node)].q)];
      // The coordinate is q or -q, up to a constant.
      constexpr double kProbe = 0.1;
      q += kProbe;
      const double change = coordinates(tree, state, joints.size(), work)[i] - before[i];
      q += (joints[i].value - before[i]) * std::copysign(1.0, std::remainder(change, 2 * std::numbers::pi)) -
           kProbe;
    }
  }
  Configuration out = configuration_of(tree, state);
  for (std::size_t i = 0; i < out.bodies.size(); ++i) {
    out.bodies[i].velocity = from.bodies[i].velocity;
    out.bodies[i].angular_velocity = from.bodies[i].angular_velocity;
    out.bodies[i].gives = from.bodies[i].gives;
  }
  out.states = from.states;
  return out;
}

}  // namespace

Configuration with_joint_coordinates(const System& system, const std::vector<JointStart>& joints,
                                     const Configuration& from, double time, const std::string& file) {
  Description d = system.model().description();
  d.numbers = system.params().values();
  const Configuration near = moved_along_tree(with_sensors(d, joints, file), joints, from, time);

  // Closes the loops and finds the velocities.
  const System driven = in_absolute_coordinates(
      system_of(with_drives(std::move(d), joints, time), system.model().formulation()));
  Work work(driven);
  const State state =
      consistent_state(driven, time, {.policy = InitialPolicy::Project, .given = &near, .movable = {}}, work);
  Configuration out = configuration_of(driven, state);
  out.states = from.states;
  for (BodyConfiguration& body : out.bodies) body.gives = {true, true, true, true};
  return out;
}

}  // namespace liedyn
