#include "liedyn/analyses/joint_start.h"
#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/index.h"
#include "liedyn/system/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <queue>
#include <tuple>

#include "liedyn/base/suggest.h"
#include "liedyn/model/edit_description.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/model/joints/joint_axes.h"
#include "liedyn/model/nodes/formulations.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/node_components.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

InputError mistake(const JointStart& start, const std::string& file, std::string message, std::string hint) {
  const bool set = !start.path.empty();  // from outside: it stands in no file
  return InputError({{set ? "" : file, start.line, set ? start.path : "joints." + excerpt(start.joint),
                      std::move(message), std::move(hint)}});
}

// One coordinate of a joint: what "hinge", "hinge.angle" or "sleeve.displacement" names.
struct Coordinate {
  int joint = -1;  // index among the entries
  bool is_angle = false;
  const Entry& entry(const Description& d) const { return d.entries(Section::Joints)[at(joint)]; }
  const char* name() const { return is_angle ? "angle" : "displacement"; }
  bool operator==(const Coordinate&) const = default;
};

int index_of_joint(const Description& d, std::string_view name) {
  const auto& joints = d.entries(Section::Joints);
  for (std::size_t i = 0; i < joints.size(); ++i)
    if (joints[i].name == name) return static_cast<int>(i);
  return -1;
}

// A joint alone means its angle, if it has one. Throws InputError if there is no such joint or coordinate.
Coordinate coordinate_named(const Description& d, const JointStart& start, const std::string& file) {
  Coordinate out{.joint = index_of_joint(d, start.joint)};
  std::string_view asked;
  if (const std::size_t dot = start.joint.rfind('.'); out.joint < 0 && dot != std::string::npos) {
    asked = std::string_view(start.joint).substr(dot + 1);
    if (asked == "angle" || asked == "displacement")
      out.joint = index_of_joint(d, std::string_view(start.joint).substr(0, dot));
  }
  if (out.joint < 0) {
    std::vector<std::string> names;
    for (const Entry& joint : d.entries(Section::Joints))
      if (joint.kind->coordinates.angle || joint.kind->coordinates.displacement) names.push_back(joint.name);
    throw mistake(start, file, "the model has no such joint", did_you_mean(start.joint, names));
  }
  const Kind& kind = *out.entry(d).kind;
  const AxisCoordinates has = kind.coordinates;
  if (!has.angle && !has.displacement)
    throw mistake(start, file, fmt::format("a joint of type {} has no coordinate", kind.type),
                  "give the positions of its bodies instead");
  if (!asked.empty() && !(asked == "angle" ? has.angle : has.displacement))
    throw mistake(start, file, fmt::format("a joint of type {} has no {}", kind.type, asked),
                  fmt::format("its coordinate is its {}", has.angle ? "angle" : "displacement"));
  out.is_angle = asked.empty() ? has.angle : asked == "angle";
  return out;
}

// The field of a drive with the function of time that it prescribes.
std::size_t prescribed_field(const Kind& drive) {
  const auto found = std::ranges::find(drive.fields, true, &Field::may_depend_on_time);
  return static_cast<std::size_t>(found - drive.fields.begin());
}

// The drive that prescribes the coordinate or its rate: null if there is none; and its number.
struct Drive {
  const Entry* entry = nullptr;
  int number = -1;
};
Drive drive_of(const Description& d, const Coordinate& coordinate, Drives prescribes) {
  const Entry& joint = coordinate.entry(d);
  for (const Entry& drive : d.entries(Section::Joints)) {
    if (drive.kind->drives != prescribes) continue;
    const int of = drive.kind->field("joint"), which = drive.kind->field("coordinate");
    if (d.words[at(drive.fields[at(of)].word)] != joint.name) continue;
    const int choice = Inputs<double>(d, drive, nullptr, nullptr).choice(which);
    const bool is_angle = choice == 0 ? joint.kind->coordinates.angle : choice == 1;
    if (is_angle == coordinate.is_angle) return {&drive, drive.fields[prescribed_field(*drive.kind)].first};
  }
  return {};
}

// A start with the coordinate that it names.
struct Start : JointStart {
  Coordinate coordinate;
  bool is_driven = false;  // a drive of the model prescribes the rate
};

// Throws InputError if the joint cannot have the value. The rate of one that is driven is that of its drive.
void check_start(const Params& params, double time, const std::string& file, Start& start) {
  const Description& d = params.description();
  if (start.value && start.coordinate.is_angle && std::abs(*start.value) > std::numbers::pi)
    throw mistake(start, file, fmt::format("expected an angle from -pi to pi, got {}", *start.value),
                  "angles are in rad, and turns are counted from the start of a run");
  const Entry& joint = start.coordinate.entry(d);
  if (const int pitch = joint.kind->field("pitch"); pitch >= 0 && start.value && !start.coordinate.is_angle) {
    const double most = std::abs(params.get(joint.fields[at(pitch)].first)) / 2;
    if (std::abs(*start.value) > most)
      throw mistake(
          start, file,
          fmt::format("expected a displacement from {:.6g} to {:.6g}, half a turn of the screw, got {}",
                      -most, most, *start.value),
          "turns are counted from the start of a run");
  }
  if (const Drive drive = drive_of(d, start.coordinate, Drives::Value); drive.entry != nullptr)
    throw mistake(start, file,
                  fmt::format("the drive '{}' prescribes this coordinate: its initial value cannot be set",
                              drive.entry->name),
                  fmt::format("change joints.{}.motion, or the time of the start", drive.entry->name));
  const Drive drive = drive_of(d, start.coordinate, Drives::Rate);
  if (drive.entry == nullptr) return;
  if (start.rate)
    throw mistake(start, file,
                  fmt::format("the drive '{}' prescribes the rate of this coordinate, got {} for it",
                              drive.entry->name, *start.rate),
                  "give the value only");
  start.is_driven = true;
  start.rate = params.get(drive.number);
  std::vector<double> variables(params.values().begin(), params.values().begin() + params.parameter_count());
  variables.push_back(time);
  for (const Params::Bound& timed : params.timed())
    if (timed.number == drive.number) start.rate = timed.expression.evaluate<double>(variables);
}

// As it was typed: "initial.hinge", or "joints.hinge" with its file.
std::string typed_as(const Start& start, const std::string& file) {
  if (!start.path.empty()) return start.path;
  return fmt::format("joints.{}{}", excerpt(start.joint), file.empty() ? "" : " of " + file);
}

// The starts with their coordinates. Of the same path, set twice, the last one counts.
std::vector<Start> resolved(const Params& params, const std::vector<JointStart>& given, double time,
                            const std::string& file) {
  std::vector<Start> out;
  for (const JointStart& start : given) {
    Start next{start, coordinate_named(params.description(), start, file)};
    const auto same =
        std::find_if(out.begin(), out.end(), [&](const Start& s) { return s.coordinate == next.coordinate; });
    if (same != out.end()) {
      const bool is_set_again = !start.path.empty() && same->path == start.path;
      if (!is_set_again && start.path.empty())
        throw mistake(start, file, fmt::format("the {} of this joint is given twice", next.coordinate.name()),
                      fmt::format("it is that of '{}' too", excerpt(same->joint)));
      if (!is_set_again)
        throw mistake(start, file,
                      fmt::format("the {} of this joint is given twice, by {} too", next.coordinate.name(),
                                  typed_as(*same, file)),
                      "leave one of them out");
      out.erase(same);
    }
    check_start(params, time, file, next);
    out.push_back(std::move(next));
  }
  return out;
}

// The model with drives that hold the coordinates of these starts: value + rate (t - time).
Description with_drives(Description d, const std::vector<Start>& starts, double time) {
  const Kind& kind = *std::ranges::find(kinds(Section::Joints), Drives::Value, &Kind::drives);
  for (const Start& start : starts) {
    const std::string joint = start.coordinate.entry(d).name;
    Entry& drive = add_entry(d, Section::Joints, start.joint + ".start", kind.type, "joint", joint);
    set_word(d, drive, "coordinate", start.coordinate.name());
    FieldValue& motion = drive.fields[prescribed_field(kind)];
    motion.first = static_cast<std::int32_t>(d.parameters.size());
    motion.count = 1;
    motion.given = true;
    d.expressions.push_back(
        {motion.first, 0, fmt::format("({}) + (t - ({}))*({})", *start.value, time, start.rate.value_or(0))});
    d.parameters.push_back(*start.value);
  }
  return d;
}

System system_of(Description d, const std::string& formulation) {
  const auto shared = std::make_shared<const Description>(std::move(d));
  return {Model::compile(shared, formulation), Params(shared)};
}

// The mechanism as a tree that joints hold together. What moves as one is a vertex: a body, or all bodies of a beam or a flexible body; the ground is the first
// vertex. Joints that the tree does not need close loops.
class Skeleton {
 public:
  struct Joint {
    int entry = -1;
    int frames[2] = {-1, -1};  // of the model
    int constants = -1;        // first of those of the joint, where the kind has a coordinate
    int freedom = 0;
    bool has_form = false;  // the relative motion that it allows is that of coordinates
    int vertices[2] = {0, 0};
  };
  struct Vertex {
    std::vector<int> bodies;  // without modal coordinates
    std::string flexible;     // "beams.w"; empty: rigid
    int parent = -1, depth = 0;
    int joint = -1;  // that holds it, index among joints(); -1: a root
    int outer = 0;   // which of the two frames of this joint is on the vertex
  };

  explicit Skeleton(const Model& absolute) {
    const Description& d = absolute.description();
    const auto& bodies = d.entries(Section::Bodies);
    vertices_.emplace_back();
    std::vector<int> of_body;
    std::map<std::string, int> of_flexible;
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      const int next = static_cast<int>(vertices_.size());
      const std::string flexible = owner_path(d, bodies[i]);
      of_body.push_back(flexible.empty() ? next : of_flexible.try_emplace(flexible, next).first->second);
      if (of_body.back() == next) vertices_.emplace_back().flexible = flexible;
      if (!bodies[i].kind->is_modal) vertices_[at(of_body.back())].bodies.push_back(static_cast<int>(i));
    }
    for (std::size_t b = 0; b < absolute.batches.size(); ++b) {
      const Batch& batch = *absolute.batches[b];
      if (absolute.sections[b] != Section::Joints || batch.coupling().frames != 2) continue;
      for (int e = 0; e < batch.size(); ++e) {
        const Kind& kind = *absolute.entry_of(static_cast<int>(b), e).kind;
        if (kind.field("between") < 0) break;  // it acts on coordinates of other joints
        Joint joint{.entry = batch.entries[at(e)],
                    .constants = batch.first_constant + e * batch.constants_per_element()};
        bool is_planar_joint = false;
        for (int k = 0; k < 2; ++k) {
          joint.frames[k] = batch.frames[at(2 * e + k)];
          const int body = absolute.frames[at(joint.frames[k])].node;
          joint.vertices[k] = body < 0 ? 0 : of_body[at(body)];
          is_planar_joint = is_planar_joint || (body >= 0 && is_planar(absolute.body_types[at(body)]));
        }
        joint.freedom = (is_planar_joint ? 3 : 6) - batch.coupling().rows;
        joint.has_form = kind.tree != nullptr || kind.coordinates.angle || kind.coordinates.displacement ||
                         joint.freedom == 0;
        joints_.push_back(joint);
      }
    }
    grow();
  }

  const std::vector<Vertex>& vertices() const { return vertices_; }
  const Joint& joint(int i) const { return joints_[at(i)]; }
  const std::vector<int>& order() const { return order_; }  // of vertices, parents first, without the ground
  // The vertex that this joint holds, -1: it closes a loop.
  int held_by(int entry) const {
    for (std::size_t v = 1; v < vertices_.size(); ++v)
      if (vertices_[v].joint >= 0 && joints_[at(vertices_[v].joint)].entry == entry)
        return static_cast<int>(v);
    return -1;
  }
  const Joint& joint_of(int entry) const {
    return *std::find_if(joints_.begin(), joints_.end(), [&](const Joint& j) { return j.entry == entry; });
  }
  // Which vertices move with this one: itself, and those that joints hold on it.
  std::vector<bool> carried_by(int vertex) const {
    std::vector<bool> out(vertices_.size(), false);
    out[at(vertex)] = true;
    for (const int v : order_)
      if (const int parent = vertices_[at(v)].parent; parent >= 0 && out[at(parent)]) out[at(v)] = true;
    return out;
  }
  // The beam or flexible body in a loop that this joint is part of; empty if there is none.
  std::string flexible_in_loop(int entry) const {
    const int held = held_by(entry);
    const std::vector<bool> carried =
        held < 0 ? std::vector<bool>(vertices_.size(), false) : carried_by(held);
    for (std::size_t i = 0; i < joints_.size(); ++i) {
      const Joint& closing = joints_[i];
      const bool is_itself = held < 0 && closing.entry == entry;
      const bool crosses =
          closing.entry != entry && carried[at(closing.vertices[0])] != carried[at(closing.vertices[1])];
      if (!is_itself && !crosses) continue;
      // From both ends to where they meet.
      int a = closing.vertices[0], b = closing.vertices[1];
      for (;;) {
        for (const int v : {a, b})
          if (v >= 0 && !vertices_[at(v)].flexible.empty()) return vertices_[at(v)].flexible;
        if (a == b) break;
        int& deeper = vertices_[at(a)].depth >= vertices_[at(b)].depth ? a : b;
        deeper = vertices_[at(deeper)].parent;
        if (deeper < 0) break;
      }
    }
    return {};
  }

 private:
  // "beams.w" of a node of the beam w, "flexible.arm" of what the body arm and its interfaces consist of.
  static std::string owner_path(const Description& d, const Entry& body) {
    if (!body.is_part()) return {};
    const Entry& owner = d.entries(body.owner_section)[at(body.owner)];
    const bool is_interface = body.owner_section == Section::Flexible && liedyn::is_interface(owner);
    return fmt::format("{}.{}", section_name(body.owner_section),
                       is_interface ? interface_owner(d, owner) : owner.name);
  }
  // Joints that hold most first, as in trees of minimal coordinates; those whose motion has no form, such as ropes, only where nothing else leads.
  void grow() {
    std::vector<bool> reached(vertices_.size(), false);
    std::vector<std::vector<int>> joints_at(vertices_.size());
    for (std::size_t i = 0; i < joints_.size(); ++i)
      for (const int v : joints_[i].vertices) joints_at[at(v)].push_back(static_cast<int>(i));
    std::priority_queue<std::tuple<bool, int, int, int>>
        exits;  // has a form; freedom, depth, joint, all negative
    const auto reach = [&](int v) {
      reached[at(v)] = true;
      if (v > 0) order_.push_back(v);
      for (const int i : joints_at[at(v)])
        exits.emplace(joints_[at(i)].has_form, -joints_[at(i)].freedom, -vertices_[at(v)].depth, -i);
    };
    for (std::size_t root = 0; root < vertices_.size(); ++root) {
      if (reached[root]) continue;
      reach(static_cast<int>(root));
      while (!exits.empty()) {
        const int i = -std::get<3>(exits.top());
        exits.pop();
        const Joint& joint = joints_[at(i)];
        const int inner = reached[at(joint.vertices[0])] ? 0 : 1;
        const int from = joint.vertices[inner], to = joint.vertices[1 - inner];
        if (reached[at(to)]) continue;
        Vertex& next = vertices_[at(to)];
        next.parent = from;
        next.depth = vertices_[at(from)].depth + 1;
        next.joint = i;
        next.outer = 1 - inner;
        reach(to);
      }
    }
  }

  std::vector<Vertex> vertices_;
  std::vector<Joint> joints_;
  std::vector<int> order_;
};

// The frames of the joint that holds a vertex, and its axis, in a configuration.
struct JointMotion {
  std::array<Motion<double>, 2> frames;
  AxisMotion coordinates;    // of the second frame relative to the first
  Vec3 axis = Vec3::Zero();  // inertial axes
};
JointMotion joint_motion(const Model& absolute, const double* constants, const Skeleton::Joint& joint,
                         const std::vector<Motion<double>>& bodies) {
  JointMotion out;
  for (int k = 0; k < 2; ++k)
    out.frames[at(k)] =
        FrameView(absolute.frames[at(joint.frames[k])], constants, absolute.bodies().data(), bodies.data())
            .motion();
  const Kind& kind = *absolute.description().entries(Section::Joints)[at(joint.entry)].kind;
  if (kind.coordinates.angle || kind.coordinates.displacement) {
    out.coordinates = axis_motion_of(out.frames, constants + joint.constants);
    out.axis = out.frames[0].R * JointAxes<double>(constants + joint.constants).first.col(2);
  }
  return out;
}

std::vector<Motion<double>> motions_of(const System& absolute, const Configuration& c, double time,
                                       Work& work) {
  State state = absolute.empty_state();
  state.t = time;
  set_configuration(absolute.model(), c, state);
  absolute.residual(state, work, {});
  return work.motions;
}

// How far a joint turns and slides for a change of one coordinate: both for a screw.
struct CoordinateChange {
  double turn = 0, slide = 0;
};
CoordinateChange change_of(const Params& params, const Coordinate& coordinate, double change) {
  const Entry& joint = coordinate.entry(params.description());
  CoordinateChange out;
  (coordinate.is_angle ? out.turn : out.slide) = change;
  if (const int pitch = joint.kind->field("pitch"); pitch >= 0) {
    const double per_angle = params.get(joint.fields[at(pitch)].first) / (2 * std::numbers::pi);
    if (coordinate.is_angle)
      out.slide = per_angle * change;
    else
      out.turn = change / per_angle;
  }
  return out;
}

double value_of(const AxisMotion& m, const Coordinate& c) { return c.is_angle ? m.angle : m.displacement; }
double rate_of(const AxisMotion& m, const Coordinate& c) {
  return c.is_angle ? m.angle_rate : m.displacement_rate;
}

// Moves what each of these joints carries as one rigid body: all other joints of the tree keep their coordinates. Loops are open afterwards.
//   x' = p + exp(turn u) (x - p) + slide u,   R' = exp(turn u) R
Configuration moved(const System& absolute, const Skeleton& skeleton, const std::vector<Start>& starts,
                    Configuration c, double time, Work& work) {
  for (const Start& start : starts) {
    const int held = skeleton.held_by(start.coordinate.joint);
    if (held < 0 || !start.value) continue;
    const Skeleton::Vertex& vertex = skeleton.vertices()[at(held)];
    const JointMotion joint = joint_motion(absolute.model(), work.constants->data.data(),
                                           skeleton.joint(vertex.joint), motions_of(absolute, c, time, work));
    const double sign = vertex.outer == 1 ? 1 : -1;
    const CoordinateChange change = change_of(absolute.params(), start.coordinate,
                                              *start.value - value_of(joint.coordinates, start.coordinate));
    const SO3<double> turn = SO3<double>::exp(sign * change.turn * joint.axis);
    const Vec3 p = joint.frames[at(1 - vertex.outer)].p, slide = sign * change.slide * joint.axis;
    const std::vector<bool> carried = skeleton.carried_by(held);
    for (const int v : skeleton.order()) {
      if (!carried[at(v)]) continue;
      for (const int i : skeleton.vertices()[at(v)].bodies) {
        BodyConfiguration& body = c.bodies[at(i)];
        body.position = p + turn.R() * (body.position - p) + slide;
        body.orientation = turn * body.orientation;
      }
    }
  }
  return c;
}

// The velocities with which the joints of the tree have the rates that they have in `from`, or those of the starts, in the configuration c. With inner
// and outer frame of a joint, omega of the outer frame's axes and v of the inner one's constant:
//   omega_o = omega_i + omega,   v_o = v_i + omega_i x (p_o - p_i) + v
void set_rates(const System& absolute, const Skeleton& skeleton, const std::vector<Start>& starts,
               const Configuration& from, double time, Configuration& c, Work& work) {
  for (std::size_t i = 0; i < c.bodies.size(); ++i) {
    c.bodies[i].velocity = from.bodies[i].velocity;
    c.bodies[i].angular_velocity = from.bodies[i].angular_velocity;
  }
  const std::vector<Motion<double>> old_motions = motions_of(absolute, from, time, work);
  std::vector<Motion<double>> motions = motions_of(absolute, c, time, work);
  const double* constants = work.constants->data.data();
  for (const int v : skeleton.order()) {
    const Skeleton::Vertex& vertex = skeleton.vertices()[at(v)];
    if (vertex.joint < 0) continue;
    const Skeleton::Joint& joint = skeleton.joint(vertex.joint);
    const JointMotion before = joint_motion(absolute.model(), constants, joint, old_motions),
                      after = joint_motion(absolute.model(), constants, joint, motions);
    const auto outer = at(vertex.outer), inner = at(1 - vertex.outer);
    const auto omega_of = [](const Motion<double>& m) { return Vec3(m.R * m.V.tail<3>()); };
    const Motion<double>&i0 = before.frames[inner], &o0 = before.frames[outer], &i1 = after.frames[inner],
          &o1 = after.frames[outer];
    const Mat3 turned = o1.R * o0.R.transpose();
    Vec3 omega = turned * (omega_of(o0) - omega_of(i0)),
         velocity =
             i1.R * i0.R.transpose() * (o0.velocity() - i0.velocity() - omega_of(i0).cross(o0.p - i0.p));
    for (const Start& start : starts) {
      if (start.coordinate.joint != joint.entry || !start.rate) continue;
      const CoordinateChange change = change_of(absolute.params(), start.coordinate,
                                                *start.rate - rate_of(before.coordinates, start.coordinate));
      const double sign = vertex.outer == 1 ? 1 : -1;
      omega += sign * change.turn * after.axis;
      velocity += sign * change.slide * after.axis;
    }
    omega += omega_of(i1);
    velocity += i1.velocity() + omega_of(i1).cross(o1.p - i1.p);
    // Bodies of beams and flexible bodies keep what they move relative to the outer frame.
    for (const int b : vertex.bodies) {
      const BodyConfiguration& old = from.bodies[at(b)];
      BodyConfiguration& body = c.bodies[at(b)];
      const Vec3 rest = old.velocity - o0.velocity() - omega_of(o0).cross(old.position - o0.p),
                 turning = old.orientation.R() * old.angular_velocity - omega_of(o0);
      body.velocity = velocity + omega.cross(body.position - o1.p) + turned * rest;
      body.angular_velocity = body.orientation.R().transpose() * (omega + turned * turning);
      motions[at(b)].V << motions[at(b)].R.transpose() * body.velocity, body.angular_velocity;
    }
  }
}

// The configuration that the model starts from by itself, with what is marked "consistent". Where that violates constraints, the joints that minimal
// coordinates hold are closed.
Configuration own_start(const System& absolute, const Description& d, const Configuration& from,
                        double time) {
  Configuration out;
  try {
    Work work(absolute);
    out = configuration_of(
        absolute, consistent_state(absolute, time,
                                   {.policy = InitialPolicy::Check, .given = &from, .movable = {}}, work));
  } catch (const InputError&) {
    const System tree = system_of(d, std::string(kMinimalCoordinates));
    const System bodies = in_absolute_coordinates(tree);
    Work work(tree);
    State state = bodies.empty_state();
    state.t = time;
    set_configuration(bodies.model(), from, state);
    out = configuration_of(tree, state_on_tree(tree, bodies, state, work));
  }
  out.states = from.states;
  for (std::size_t i = 0; i < out.bodies.size(); ++i) out.bodies[i].gives = from.bodies[i].gives;
  return out;
}

}  // namespace

Configuration with_joint_coordinates(const System& system, const std::vector<JointStart>& given,
                                     const Configuration& from, double time, const std::string& file) {
  const std::vector<Start> starts = resolved(system.params(), given, time, file);
  const Description d = description_as_set(system.params());
  const std::string& formulation = system.model().formulation();
  const System absolute = in_absolute_coordinates(system_of(d, formulation));
  const Skeleton skeleton(absolute.model());
  for (const Start& start : starts)
    if (const std::string flexible = skeleton.flexible_in_loop(start.coordinate.joint); !flexible.empty())
      throw mistake(
          start, file,
          fmt::format("this joint is part of a loop through '{}', which would be violated", flexible),
          "give the positions of the bodies under \"bodies\", or determine them by `static` or `assemble`");
  Work work(absolute);
  const Configuration own = own_start(absolute, d, from, time);
  Configuration c = moved(absolute, skeleton, starts, own, time, work);

  // Drives hold what was asked for while the loops are closed: first the values, then the rates, where they have been found.
  const auto driven = [&](const std::vector<Start>& held) {
    return in_absolute_coordinates(system_of(with_drives(d, held, time), formulation));
  };
  try {
    std::vector<Start> held = starts;
    std::erase_if(held, [](const Start& s) { return !s.value; });
    const System at_values = driven(held);
    Work closing(at_values);
    const InitialOptions options{.policy = InitialPolicy::Project, .given = &c, .movable = {}};
    c = configuration_of(at_values, consistent_positions(at_values, time, options, closing));
    for (std::size_t i = 0; i < c.bodies.size(); ++i) c.bodies[i].gives = from.bodies[i].gives;
    set_rates(absolute, skeleton, starts, own, time, c, work);

    // Joints that are named without a rate keep theirs, as far as loops and what is given allow.
    const auto moving = [&](bool keeps) {
      std::vector<Start> kept = starts;
      std::erase_if(kept, [&](const Start& s) { return s.is_driven || (!s.rate && !keeps); });
      for (Start& start : kept) {
        const AxisMotion now =
            joint_motion(absolute.model(), work.constants->data.data(),
                         skeleton.joint_of(start.coordinate.joint), motions_of(absolute, c, time, work))
                .coordinates;
        const AxisMotion before =
            joint_motion(absolute.model(), work.constants->data.data(),
                         skeleton.joint_of(start.coordinate.joint), motions_of(absolute, own, time, work))
                .coordinates;
        start.value = value_of(now, start.coordinate);
        start.rate = start.rate.value_or(rate_of(before, start.coordinate));
      }
      const System at_rates = driven(kept);
      Work at_work(at_rates);
      return configuration_of(at_rates, consistent_state(at_rates, time, options, at_work));
    };
    const auto keeps_all = [&]() -> std::optional<Configuration> {
      try {
        return moving(true);
      } catch (const InputError&) {
        return {};
      }
    };
    const std::optional<Configuration> all = keeps_all();
    c = all ? *all : moving(false);
  } catch (const InputError& error) {
    // What was asked for stands in no file: drives that hold the coordinates are named as they were typed.
    std::vector<Diagnostic> findings = error.diagnostics();
    for (Diagnostic& finding : findings)
      for (const Start& start : starts)
        if (finding.path.starts_with("joints." + start.joint + ".start"))
          finding = mistake(start, file, "other constraints do not allow this: " + finding.message,
                            "leave out joints that depend on others")
                        .diagnostics()
                        .front();
    throw InputError(findings);
  }
  c.states = from.states;
  for (BodyConfiguration& body : c.bodies) body.gives = {true, true, true, true};
  return c;
}

}  // namespace liedyn
