#include "liedyn/io/read_urdf.h"

#include <fmt/format.h>

#include <console_bridge/console.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <numbers>
#include <set>

#include "liedyn/base/suggest.h"
#include "liedyn/lie/so3.h"

namespace liedyn {
namespace {

// What the parser has to say goes into the error, not to the terminal.
class Messages : public console_bridge::OutputHandler {
 public:
  Messages() { console_bridge::useOutputHandler(this); }
  ~Messages() override { console_bridge::restorePreviousOutputHandler(); }
  Messages(const Messages&) = delete;
  Messages& operator=(const Messages&) = delete;
  void log(const std::string& text, console_bridge::LogLevel level, const char*, int) override {
    if (level >= console_bridge::CONSOLE_BRIDGE_LOG_ERROR) errors_.push_back(text);
  }
  const std::vector<std::string>& errors() const { return errors_; }

 private:
  std::vector<std::string> errors_;
};

struct Placement {
  Mat3 R = Mat3::Identity();
  Vec3 p = Vec3::Zero();
  Placement operator*(const Placement& o) const { return {R * o.R, R * o.p + p}; }
};

Vec3 vector(const urdf::Vector3& v) { return {v.x, v.y, v.z}; }
Placement placement(const urdf::Pose& pose) {
  const urdf::Rotation& q = pose.rotation;
  return {SO3<double>::from_coordinates(Eigen::Vector4d(q.w, q.x, q.y, q.z).normalized()).R(),
          vector(pose.position)};
}

// Mass, centre and inertia about the centre, in axes of the link that carries it.
struct Lump {
  double mass = 0;
  Vec3 center = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();

  static Lump of(const urdf::Inertial& from) {
    const Placement at = placement(from.origin);
    Mat3 J;
    J << from.ixx, from.ixy, from.ixz, from.ixy, from.iyy, from.iyz, from.ixz, from.iyz, from.izz;
    return {from.mass, at.p, at.R * J * at.R.transpose()};
  }
  Lump moved(const Placement& by) const {
    return {mass, by.R * center + by.p, by.R * inertia * by.R.transpose()};
  }
  // Steiner's theorem about the common centre.
  void add(const Lump& other) {
    const double sum = mass + other.mass;
    const Vec3 common = sum > 0 ? Vec3((mass * center + other.mass * other.center) / sum) : center;
    const auto about = [&](const Lump& part) {
      const Vec3 d = part.center - common;
      return Mat3(part.inertia + part.mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose()));
    };
    inertia = about(*this) + about(other);
    center = common;
    mass = sum;
  }
};

// Below this speed [rad/s or m/s] the friction of a joint falls smoothly to zero.
constexpr double kFrictionSpeed = 1e-3;

class UrdfReader {
 public:
  UrdfReader(const urdf::ModelInterface& robot, const std::string& file, std::vector<Assignment>& assignments)
      : robot_(robot),
        file_(file),
        builder_(name_of_model(robot, file), file, {}, {0, 0, -9.81}),
        initial_(take_initial(assignments)) {}

  Description read() {
    const urdf::LinkConstSharedPtr root = robot_.getRoot();
    // Bodies first, with the places of all links.
    place(root, {}, floating_ ? "" : "ground");
    for (const std::string& name : body_order_) add_body(name);
    for (const urdf::JointSharedPtr& joint : joints_) add_joint(*joint);
    for (const urdf::JointSharedPtr& joint : joints_) add_mimic(*joint);
    for (const urdf::JointSharedPtr& joint : joints_) add_motor(*joint);
    for (const urdf::JointSharedPtr& joint : joints_) add_sensor(*joint);
    for (const urdf::LinkConstSharedPtr& link : visible_) add_visuals(*link);
    for (const auto& [name, value] : initial_)
      if (!used_.contains(name)) unknown_joint(name);
    return builder_.finish();
  }

 private:
  static std::string name_of_model(const urdf::ModelInterface& robot, const std::string& file) {
    return robot.getName().empty() ? std::filesystem::path(file).stem().string() : robot.getName();
  }

  std::map<std::string, double> take_initial(std::vector<Assignment>& assignments) {
    std::map<std::string, double> out;
    std::erase_if(assignments, [&](const Assignment& a) {
      if (a.path == "floating") floating_ = a.value != 0;
      if (a.path == "stops") set_stops(a.value);
      constexpr std::string_view prefix = "initial.";
      const bool initial = a.path.starts_with(prefix);
      if (initial) out[a.path.substr(prefix.size())] = a.value;
      return initial || a.path == "floating" || a.path == "stops";
    });
    return out;
  }

  void set_stops(double stiffness) {
    if (!(stiffness >= 0) || !std::isfinite(stiffness))
      throw InputError("stops", fmt::format("expected a stiffness that is not negative, got {}", stiffness));
    stops_ = stiffness;
  }

  void unknown_joint(const std::string& name) {
    if (const auto found = robot_.joints_.find(name); found != robot_.joints_.end())
      return builder_.finding(
          "initial." + excerpt(name),
          found->second->mimic ? "this joint follows another one" : "this joint has no coordinate of its own",
          "only revolute, continuous and prismatic joints that mimic none have one");
    Suggestion suggestion(name);
    for (const auto& [joint, pointer] : robot_.joints_) suggestion.consider(joint);
    builder_.finding("initial." + excerpt(name), "the robot has no movable joint of this name",
                     did_you_mean(suggestion.name()));
  }

  // A name that a model may have, and that expressions may use: other characters become underscores, and repeated names get a number.
  std::string clean(const std::string& name) {
    const auto found = clean_names_.find(name);
    if (found != clean_names_.end()) return found->second;
    std::string out = name.empty() ? "_" : name;
    for (char& c : out)
      if (!is_name(std::string("a") + c) || c == '-') c = '_';
    if (!is_name(out) || out == "ground") out.insert(out.begin(), '_');
    const std::string base = out;
    for (int i = 2; !taken_.insert(out).second; ++i) out = fmt::format("{}_{}", base, i);
    return clean_names_[name] = out;
  }

  // Angle or displacement that a joint starts with; one that mimics another follows it. That of the model leaves out the offsets: gears have none.
  double start_of(const urdf::Joint& joint, bool in_model = false, int depth = 0) {
    if (joint.mimic && depth < 100) {
      const auto leader = robot_.joints_.find(joint.mimic->joint_name);
      const double value =
          leader != robot_.joints_.end() ? start_of(*leader->second, in_model, depth + 1) : 0;
      return joint.mimic->multiplier * value + (in_model ? 0 : joint.mimic->offset);
    }
    const auto found = initial_.find(joint.name);
    if (found == initial_.end()) return 0;
    used_.insert(joint.name);
    return found->second;
  }

  static bool turns(const urdf::Joint& joint) {
    return joint.type == urdf::Joint::REVOLUTE || joint.type == urdf::Joint::CONTINUOUS;
  }
  static bool has_coordinate(const urdf::Joint& joint) {
    return turns(joint) || joint.type == urdf::Joint::PRISMATIC;
  }

  // `body`: the one that the link belongs to; empty: one of its own. Not recursive: a robot may be a long chain.
  void place(const urdf::LinkConstSharedPtr& root, const Placement& at, const std::string& root_body) {
    struct Task {
      urdf::LinkConstSharedPtr link;
      Placement at;
      std::string body;
    };
    std::vector<Task> open = {{root, at, root_body}};
    while (!open.empty()) {
      const Task task = open.back();
      open.pop_back();
      std::string body = task.body;
      if (body.empty()) {
        body = clean(task.link->name);
        body_order_.push_back(body);
        bodies_[body] = {task.at, {}};
      }
      body_of_[task.link->name] = body;
      at_[task.link->name] = task.at;
      if (body != "ground" && task.link->inertial) {
        Carrier& carrier = bodies_[body];
        const Placement back{carrier.at.R.transpose(), -(carrier.at.R.transpose() * carrier.at.p)};
        carrier.lump.add(Lump::of(*task.link->inertial).moved(back * task.at));
      }
      visible_.push_back(task.link);
      for (auto joint = task.link->child_joints.rbegin(); joint != task.link->child_joints.rend(); ++joint) {
        const urdf::LinkConstSharedPtr child = robot_.getLink((*joint)->child_link_name);
        if (!child) continue;
        Placement next = task.at * placement((*joint)->parent_to_joint_origin_transform);
        if (has_coordinate(**joint)) {
          const Vec3 axis = vector((*joint)->axis).normalized();
          const double start = start_of(**joint);
          next = next * (turns(**joint) ? Placement{SO3<double>::exp(start * axis).R(), Vec3::Zero()}
                                        : Placement{Mat3::Identity(), start * axis});
        }
        const bool welded = (*joint)->type == urdf::Joint::FIXED;
        open.push_back({child, next, welded ? body : ""});
      }
      // In the order of the file, as pushed in reverse.
      for (const urdf::JointSharedPtr& joint : task.link->child_joints)
        if (joint->type != urdf::Joint::FIXED && joint->type != urdf::Joint::FLOATING)
          joints_.push_back(joint);
    }
  }

  void add_body(const std::string& name) {
    const Carrier& carrier = bodies_.at(name);
    const Lump& lump = carrier.lump;
    const Mat3& J = lump.inertia;
    builder_.begin(Section::Bodies, name, "rigid");
    builder_.numbers("mass", std::array{lump.mass});
    builder_.numbers("inertia", std::array{J(0, 0), J(1, 1), J(2, 2), J(1, 2), J(0, 2), J(0, 1)});
    const Vec3 center = carrier.at.R * lump.center + carrier.at.p;
    builder_.numbers("position", std::array{center.x(), center.y(), center.z()});
    const Eigen::Vector4d q = SO3<double>::from_matrix(carrier.at.R).coordinates();
    builder_.numbers("orientation", std::array{q[0], q[1], q[2], q[3]}, 0, RotationForm::Quaternion);
    builder_.end();
  }

  void add_joint(const urdf::Joint& joint) {
    const char* type = turns(joint)                           ? "revolute"
                       : joint.type == urdf::Joint::PRISMATIC ? "prismatic"
                       : joint.type == urdf::Joint::PLANAR    ? "planar"
                                                              : "";
    const std::string name = clean(joint.name);
    if (*type == '\0') return builder_.finding("joints." + name, "the type of this joint is unknown");
    // The joint's frame is the child's link frame: its axis does not change with its own coordinate.
    const Placement& child = at_.at(joint.child_link_name);
    const Vec3 axis = child.R * vector(joint.axis);
    builder_.begin(Section::Joints, name, type);
    builder_.words("between", body_of_.at(joint.parent_link_name), body_of_.at(joint.child_link_name));
    builder_.numbers("at", std::array{child.p.x(), child.p.y(), child.p.z()});
    builder_.numbers("axis", std::array{axis.x(), axis.y(), axis.z()});
    if (const double start = has_coordinate(joint) ? start_of(joint, true) : 0; start != 0) {
      if (turns(joint) && !(std::abs(start) <= std::numbers::pi))
        builder_.finding(joint.mimic ? "joints." + name : "initial." + excerpt(joint.name),
                         fmt::format("expected an angle from -pi to pi at the start, got {}", start),
                         "turns are counted from the start of a run");
      // Sensors, targets and drives count as the robot does.
      builder_.numbers("zero", std::array{-start});
    }
    builder_.end();
  }

  void add_mimic(const urdf::Joint& joint) {
    if (!joint.mimic) return;
    const auto leader = robot_.joints_.find(joint.mimic->joint_name);
    const std::string name = clean(joint.name);
    const std::string& other = joint.mimic->joint_name;
    if (!has_coordinate(joint))
      return builder_.finding("joints." + name, "mimics another joint, but has no coordinate of its own",
                              "only revolute, continuous and prismatic joints can");
    if (leader == robot_.joints_.end())
      return builder_.finding("joints." + name,
                              fmt::format("mimics '{}', which is no joint of this robot", excerpt(other)));
    if (!has_coordinate(*leader->second))
      return builder_.finding("joints." + name,
                              fmt::format("mimics '{}', which has no coordinate", excerpt(other)),
                              "only revolute, continuous and prismatic joints have one");
    builder_.begin(Section::Joints, clean(joint.name + "_mimic"), "gear");
    builder_.words("joints", name, clean(joint.mimic->joint_name));
    builder_.numbers("ratio", std::array{joint.mimic->multiplier});
    builder_.end();
  }

  void add_motor(const urdf::Joint& joint) {
    if (!has_coordinate(joint)) return;
    if (joint.dynamics && !(joint.dynamics->friction >= 0 && joint.dynamics->damping >= 0))
      return builder_.finding("joints." + clean(joint.name),
                              fmt::format("expected friction and damping of 0 or more, got {} and {}",
                                          joint.dynamics->friction, joint.dynamics->damping));
    if (joint.dynamics && joint.dynamics->damping > 0) {
      builder_.begin(Section::Forces, clean(joint.name + "_damper"), "joint_spring");
      builder_.word("joint", clean(joint.name));
      builder_.numbers("damping", std::array{joint.dynamics->damping});
      builder_.end();
    }
    if (has_friction(joint)) {
      // Constant torque or force against the motion, smooth about zero.
      const std::string rate = clean(joint.name + "_rate");
      add_effort(joint, "_friction",
                 fmt::format("-({:.17g})*{}/sqrt({}^2 + {:.17g})", joint.dynamics->friction, rate, rate,
                             kFrictionSpeed * kFrictionSpeed));
    }
    if (stops_ > 0 && joint.type != urdf::Joint::CONTINUOUS && joint.limits) {
      if (!(joint.limits->lower <= joint.limits->upper))
        return builder_.finding("joints." + clean(joint.name),
                                fmt::format("expected a lower limit below the upper one, got {} and {}",
                                            joint.limits->lower, joint.limits->upper));
      const std::string x = fmt::format("({} + ({:.17g}))", coordinate_name(joint), offset_of(joint));
      add_effort(joint, "_stops",
                 fmt::format("{:.17g}*(max(0, ({:.17g}) - {}) - max(0, {} - ({:.17g})))", stops_,
                             joint.limits->lower, x, x, joint.limits->upper));
    }
    if (joint.mimic) return;
    builder_.begin(Section::Forces, clean(joint.name + "_motor"), "joint_actuator");
    builder_.word("joint", clean(joint.name));
    if (joint.limits && joint.limits->effort > 0) builder_.numbers("limit", std::array{joint.limits->effort});
    builder_.end();
  }

  void add_effort(const urdf::Joint& joint, const char* suffix, const std::string& effort) {
    builder_.begin(Section::Forces, clean(joint.name + suffix), "joint_effort");
    builder_.word("joint", clean(joint.name));
    builder_.word("effort", effort);
    builder_.end();
  }

  static bool has_friction(const urdf::Joint& joint) {
    return joint.dynamics && joint.dynamics->friction > 0;
  }
  // What the coordinate of the robot is more than that of the model.
  double offset_of(const urdf::Joint& joint) { return start_of(joint) - start_of(joint, true); }
  // The sensor that shows the coordinate of the model.
  std::string coordinate_name(const urdf::Joint& joint) {
    return clean(offset_of(joint) == 0 ? joint.name : joint.name + "_without_offset");
  }

  // Sensors show the coordinate as the robot counts it.
  void add_sensor(const urdf::Joint& joint) {
    if (!has_coordinate(joint)) return;
    const double offset = offset_of(joint);
    const std::string type = turns(joint) ? "joint_angle" : "joint_displacement";
    const std::string name = clean(joint.name), own = coordinate_name(joint);
    builder_.begin(Section::Sensors, own, type);
    builder_.word("of", name);
    builder_.end();
    if (has_friction(joint)) {
      builder_.begin(Section::Sensors, clean(joint.name + "_rate"), type + "_rate");
      builder_.word("of", name);
      builder_.end();
    }
    if (offset == 0) return;
    builder_.begin(Section::Sensors, name, "expression");
    builder_.word("value", fmt::format("{} + ({:.17g})", own, offset));
    builder_.word("unit", turns(joint) ? "rad" : "m");
    builder_.end();
  }

  void add_visuals(const urdf::Link& link) {
    const std::string& body = body_of_.at(link.name);
    Placement carrier;  // of the body's reference point, its centre of mass
    if (body != "ground") {
      const Carrier& of = bodies_.at(body);
      carrier = {of.at.R, of.at.R * of.lump.center + of.at.p};
    }
    const Placement back{carrier.R.transpose(), -(carrier.R.transpose() * carrier.p)};
    const auto add = [&](const urdf::GeometrySharedPtr& geometry, const urdf::Pose& origin,
                         const std::array<double, 4>& color) {
      if (!geometry) return;
      const Placement at = back * at_.at(link.name) * placement(origin);
      const Eigen::Vector4d q = SO3<double>::from_matrix(at.R).coordinates();
      Visual out{.body = body, .shape = {}, .mesh = {}};
      out.position = {at.p.x(), at.p.y(), at.p.z()};
      out.orientation = {q[0], q[1], q[2], q[3]};
      out.color = color;
      if (const auto* box = dynamic_cast<const urdf::Box*>(geometry.get()))
        out.shape = "box", out.size = {box->dim.x, box->dim.y, box->dim.z};
      else if (const auto* sphere = dynamic_cast<const urdf::Sphere*>(geometry.get()))
        out.shape = "sphere", out.size = {sphere->radius, sphere->radius, sphere->radius};
      else if (const auto* cylinder = dynamic_cast<const urdf::Cylinder*>(geometry.get()))
        out.shape = "cylinder", out.size = {cylinder->radius, cylinder->radius, cylinder->length};
      else if (const auto* mesh = dynamic_cast<const urdf::Mesh*>(geometry.get()))
        out.shape = "mesh", out.mesh = mesh->filename,
        out.size = {mesh->scale.x, mesh->scale.y, mesh->scale.z};
      builder_.description().visuals.push_back(std::move(out));
    };
    constexpr std::array<double, 4> kGrey = {0.7, 0.7, 0.7, 1}, kHidden = {0.7, 0.7, 0.7, 0};
    for (const urdf::VisualSharedPtr& visual : link.visual_array) {
      std::array<double, 4> color = kGrey;
      if (visual->material) {
        const urdf::Color& c = visual->material->color;
        color = {c.r, c.g, c.b, c.a};
      }
      add(visual->geometry, visual->origin, color);
    }
    // What collides is kept with the opacity 0; a link that has nothing else shows it.
    for (const urdf::CollisionSharedPtr& collision : link.collision_array)
      add(collision->geometry, collision->origin, link.visual_array.empty() ? kGrey : kHidden);
  }

  struct Carrier {
    Placement at;  // of the link that gives the body its axes
    Lump lump;
  };
  const urdf::ModelInterface& robot_;
  std::string file_;
  DescriptionBuilder builder_;
  bool floating_ = false;
  double stops_ = 0;  // stiffness of the ends of joints; 0: none
  std::map<std::string, double> initial_;
  std::set<std::string> used_;
  std::map<std::string, std::string> clean_names_;
  std::set<std::string> taken_;
  std::map<std::string, Carrier> bodies_;
  std::vector<std::string> body_order_;
  std::map<std::string, std::string> body_of_;  // by link
  std::map<std::string, Placement> at_;         // by link
  std::vector<urdf::JointSharedPtr> joints_;    // that move
  std::vector<urdf::LinkConstSharedPtr> visible_;
};

}  // namespace

Description read_urdf(const std::string& text, const std::string& file,
                      std::vector<Assignment>& assignments) {
  const Messages messages;
  urdf::ModelInterfaceSharedPtr robot;
  std::string failure;
  try {
    robot = urdf::parseURDF(text);
  } catch (const std::exception& error) {
    failure = error.what();
  }
  // The parser leaves out what it cannot read and goes on; we do not.
  if (!robot || !robot->getRoot() || !messages.errors().empty()) {
    std::vector<Diagnostic> findings;
    for (const std::string& message : messages.errors()) findings.push_back({file, 0, "", message, ""});
    if (!failure.empty() || findings.empty())
      findings.push_back({file, 0, "", failure.empty() ? "is no robot description" : failure, ""});
    throw InputError(findings);
  }
  return UrdfReader(*robot, file, assignments).read();
}

}  // namespace liedyn
