#include "liedyn/analyses/joint_start.h"
#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/index.h"
#include "liedyn/system/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "liedyn/base/suggest.h"
#include "liedyn/model/edit_description.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

InputError mistake(const JointStart& start, const std::string& file, std::string message, std::string hint) {
  const bool set = !start.path.empty();  // from outside: it stands in no file
  return InputError({{set ? "" : file, start.line, set ? start.path : "joints." + excerpt(start.joint),
                      std::move(message), std::move(hint)}});
}

const Entry& joint_named(const Description& d, const JointStart& start, const std::string& file) {
  std::vector<std::string> names;
  for (const Entry& joint : d.entries(Section::Joints)) {
    if (joint.name == start.joint) return joint;
    if (joint.kind->coordinates.angle || joint.kind->coordinates.displacement) names.push_back(joint.name);
  }
  throw mistake(start, file, "the model has no such joint", did_you_mean(start.joint, names));
}

// The drive of a type that prescribes the coordinate of the joint, its angle if it has one: null if there is none; and its number.
struct Drive {
  const Entry* entry = nullptr;
  int number = -1;
};
Drive drive_of(const Description& d, const Entry& joint, std::string_view type, std::string_view field) {
  for (const Entry& drive : d.entries(Section::Joints)) {
    if (drive.kind->type != type) continue;
    const int of = drive.kind->field("joint"), coordinate = drive.kind->field("coordinate");
    if (d.words[at(drive.fields[at(of)].word)] != joint.name) continue;
    const int choice = Inputs<double>(d, drive, nullptr, nullptr).choice(coordinate);
    const bool angle = choice == 0 ? joint.kind->coordinates.angle : choice == 1;
    if (angle == joint.kind->coordinates.angle)
      return {&drive, drive.fields[at(drive.kind->field(field))].first};
  }
  return {};
}

// Throws InputError if the joint cannot have the value. The rate of one that is driven is that of its drive.
void check_start(const Params& params, double time, const std::string& file, JointStart& start) {
  const Description& d = params.description();
  const Entry& joint = joint_named(d, start, file);
  const AxisCoordinates has = joint.kind->coordinates;
  if (!has.angle && !has.displacement)
    throw mistake(start, file, fmt::format("a joint of type {} has no coordinate", joint.kind->type),
                  "give the positions of its bodies instead");
  if (has.angle && std::abs(start.value) > std::numbers::pi)
    throw mistake(start, file, fmt::format("expected an angle from -pi to pi, got {}", start.value),
                  "turns are counted from the start of a run");
  if (const Drive drive = drive_of(d, joint, "prescribed_motion", "motion"); drive.entry != nullptr)
    throw mistake(
        start, file,
        fmt::format("the drive '{}' prescribes this coordinate: it has no other start", drive.entry->name),
        fmt::format("change joints.{}.motion, or the time of the start", drive.entry->name));
  const Drive drive = drive_of(d, joint, "prescribed_velocity", "velocity");
  if (drive.entry == nullptr) return;
  if (start.rate != 0)
    throw mistake(start, file,
                  fmt::format("the drive '{}' prescribes the rate of this coordinate, got {} for it",
                              drive.entry->name, start.rate),
                  "give the value only");
  start.rate = params.get(drive.number);
  std::vector<TimeJetOf<double>> variables;
  for (int i = 0; i < params.parameter_count(); ++i)
    variables.push_back(constant_in_time(params.values()[at(i)]));
  variables.push_back(time_itself<double>(time));
  for (const Params::Bound& timed : params.timed())
    if (timed.number == drive.number) {
      const TimeJetOf<double> rate = timed.expression.evaluate<TimeJetOf<double>>(variables);
      start.rate = rate.v.v;
      start.acceleration = rate.v.d[0];
    }
}

// The model with a sensor for the coordinate of each joint, called "JOINT.start", behind its own.
Description with_sensors(Description d, const std::vector<JointStart>& joints) {
  for (const JointStart& start : joints) {
    const auto& entries = d.entries(Section::Joints);
    const auto joint =
        std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.name == start.joint; });
    add_entry(d, Section::Sensors, start.joint + ".start",
              joint->kind->coordinates.angle ? "joint_angle" : "joint_displacement", "of", start.joint);
  }
  return d;
}

// The model with drives that hold the coordinates: value + rate (t - time).
Description with_drives(Description d, const std::vector<JointStart>& joints, double time) {
  for (const JointStart& start : joints) {
    Entry& drive =
        add_entry(d, Section::Joints, start.joint + ".start", "prescribed_motion", "joint", start.joint);
    FieldValue& motion = drive.fields[at(drive.kind->field("motion"))];
    motion.first = static_cast<std::int32_t>(d.numbers.size());
    motion.count = 1;
    motion.given = true;
    d.expressions.push_back({motion.first, 0,
                             fmt::format("({}) + (t - ({}))*(({}) + ({})*(t - ({})))", start.value, time,
                                         start.rate, start.acceleration / 2, time)});
    d.numbers.push_back(start.value);
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

Configuration with_joint_coordinates(const System& system, const std::vector<JointStart>& given,
                                     const Configuration& from, double time, const std::string& file) {
  std::vector<JointStart> joints = given;
  for (JointStart& start : joints) check_start(system.params(), time, file, start);
  Description d = description_as_set(system.params());
  const Configuration near = moved_along_tree(with_sensors(d, joints), joints, from, time);

  // Closes the loops and finds the velocities.
  const System driven = in_absolute_coordinates(
      system_of(with_drives(std::move(d), joints, time), system.model().formulation()));
  Work work(driven);
  State state;
  try {
    state = consistent_state(driven, time, {.policy = InitialPolicy::Project, .given = &near, .movable = {}},
                             work);
  } catch (const InputError& error) {
    // What was asked for stands in no file: drives that hold the coordinates are named as they were typed.
    std::vector<Diagnostic> findings = error.diagnostics();
    for (Diagnostic& finding : findings)
      for (const JointStart& start : joints)
        if (finding.path.starts_with("joints." + start.joint + ".start"))
          finding = mistake(start, file, "other constraints do not allow this: " + finding.message,
                            "leave out joints that follow from others")
                        .diagnostics()
                        .front();
    throw InputError(findings);
  }
  Configuration out = configuration_of(driven, state);
  out.states = from.states;
  for (BodyConfiguration& body : out.bodies) body.gives = {true, true, true, true};
  return out;
}

}  // namespace liedyn
