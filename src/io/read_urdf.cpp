#include "liedyn/io/read_urdf.h"

#include <fmt/format.h>

#include <console_bridge/console.h>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <sstream>

#include <Eigen/Eigenvalues>

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
struct LinkLump {
  double mass = 0;
  Vec3 center = Vec3::Zero();
  Mat3 inertia = Mat3::Zero();

  static LinkLump of(const urdf::Inertial& from) {
    const Placement at = placement(from.origin);
    Mat3 J;
    J << from.ixx, from.ixy, from.ixz, from.ixy, from.iyy, from.iyz, from.ixz, from.iyz, from.izz;
    return {from.mass, at.p, at.R * J * at.R.transpose()};
  }
  LinkLump moved(const Placement& by) const {
    return {mass, by.R * center + by.p, by.R * inertia * by.R.transpose()};
  }
  // Steiner's theorem about the common centre.
  void add(const LinkLump& other) {
    const double sum = mass + other.mass;
    const Vec3 common = sum > 0 ? Vec3((mass * center + other.mass * other.center) / sum) : center;
    const auto about = [&](const LinkLump& part) {
      const Vec3 d = part.center - common;
      return Mat3(part.inertia + part.mass * (d.squaredNorm() * Mat3::Identity() - d * d.transpose()));
    };
    inertia = about(*this) + about(other);
    center = common;
    mass = sum;
  }
};

// The second moments of mass, sigma_i = sum of m x_i^2 along the principal axes, from the moments of inertia: J_1 = sigma_2 + sigma_3. A body has none below zero,
// which is what positive moments with a + b >= c mean.
struct SecondMoments {
  explicit SecondMoments(const Mat3& J) : solver(J) {
    moments = solver.eigenvalues();
    sigma = Vec3::Constant(0.5 * moments.sum()) - moments;
  }
  // The inertia without what is below zero.
  Mat3 physical() const {
    const Vec3 positive = sigma.cwiseMax(0);
    const Mat3& axes = solver.eigenvectors();
    return axes * (Vec3::Constant(positive.sum()) - positive).asDiagonal() * axes.transpose();
  }
  Eigen::SelfAdjointEigenSolver<Mat3> solver;
  Vec3 moments, sigma;
};

// Where a text stands, from 1; 0: nowhere.
int line_at(const std::string& text, std::size_t place) {
  if (place == std::string::npos) return 0;
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(place), '\n'));
}

// The line of the element that has this name.
int line_of_name(const std::string& text, const std::string& name) {
  for (const char quote : {'"', '\''}) {
    const std::size_t place = text.find(fmt::format("name={}{}{}", quote, name, quote));
    if (place != std::string::npos) return line_at(text, place);
  }
  return 0;
}

// The line of what a message of the parser names in brackets or quotes.
int line_of_message(const std::string& text, const std::string& message) {
  for (const auto& [open, close] : {std::pair('[', ']'), std::pair('\'', '\''), std::pair('(', ')')}) {
    const std::size_t first = message.find(open);
    const std::size_t last = first == std::string::npos ? first : message.find(close, first + 1);
    if (last == std::string::npos || last == first + 1) continue;
    const std::string quoted = message.substr(first + 1, last - first - 1);
    if (const int line = line_of_name(text, quoted); line > 0) return line;
    if (const std::size_t place = text.find(fmt::format("\"{}\"", quoted)); place != std::string::npos)
      return line_at(text, place);
  }
  return 0;
}

// Visits the tags of a document, <...> outside of comments, in their order: visit(place, text between the brackets) until it returns false. Returns the place of a
// tag without end, npos: none.
template <class Visit>
std::size_t for_each_tag(const std::string& text, const Visit& visit) {
  std::size_t place = text.find('<');
  while (place != std::string::npos) {
    const auto skip = [&](std::string_view begin, std::string_view end) {
      if (text.compare(place, begin.size(), begin) != 0) return false;
      const std::size_t last = text.find(end, place);
      place = last == std::string::npos ? last : text.find('<', last);
      return true;
    };
    if (skip("<!--", "-->") || skip("<?", "?>") || skip("<!", ">")) continue;
    char quote = 0;
    std::size_t last = place + 1;
    for (; last < text.size() && (quote != 0 || text[last] != '>'); ++last)
      if (const char c = text[last]; quote != 0 ? c == quote : c == '"' || c == '\'')
        quote = quote != 0 ? '\0' : c;
    if (last >= text.size()) return place;
    if (!visit(place, std::string_view(text).substr(place + 1, last - place - 1))) break;
    place = text.find('<', last);
  }
  return std::string::npos;
}
std::string_view name_of_tag(std::string_view tag) { return tag.substr(0, tag.find_first_of(" \t\r\n/", 1)); }

// What is wrong with the tags of a document that is no XML.
std::optional<Diagnostic> unbalanced_tag(const std::string& text, const std::string& file) {
  std::vector<std::pair<std::string_view, std::size_t>> open;
  std::optional<Diagnostic> out;
  const std::size_t endless = for_each_tag(text, [&](std::size_t place, std::string_view tag) {
    if (tag.ends_with('/')) return true;
    if (!tag.starts_with('/')) {
      open.emplace_back(name_of_tag(tag), place);
      return true;
    }
    const std::string_view name = name_of_tag(tag).substr(1);
    if (!open.empty() && open.back().first == name) {
      open.pop_back();
      return true;
    }
    out = {file, line_at(text, place), "",
           open.empty()
               ? fmt::format("</{}> has no opening tag", excerpt(name))
               : fmt::format("expected </{}>, which begins at line {}, got </{}>", excerpt(open.back().first),
                             line_at(text, open.back().second), excerpt(name)),
           ""};
    return false;
  });
  if (!out && endless != std::string::npos)
    out = {file, line_at(text, endless), "", "this tag has no end", "a '>' or a quote is missing"};
  if (!out && !open.empty())
    out = {file, line_at(text, open.back().second), "",
           fmt::format("<{}> has no end", excerpt(open.back().first)), ""};
  return out;
}

// The parser wants a name of the robot, which nothing here depends on.
std::string with_robot_name(const std::string& text, const std::string& file) {
  std::string out = text;
  for_each_tag(text, [&](std::size_t place, std::string_view tag) {
    if (name_of_tag(tag) != "robot") return true;
    for (std::size_t at = tag.find("name"); at != std::string_view::npos; at = tag.find("name", at + 1)) {
      const std::size_t next = tag.find_first_not_of(" \t\r\n", at + 4);
      if (at > 0 && std::isspace(static_cast<unsigned char>(tag[at - 1])) != 0 &&
          next != std::string_view::npos && tag[next] == '=')
        return false;
    }
    std::string name;
    for (const char c : std::filesystem::path(file).stem().string())
      name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '_';
    out.insert(place + 1 + 5, fmt::format(" name=\"{}\"", name.empty() ? "robot" : name));
    return false;
  });
  return out;
}

// Below this speed [rad/s or m/s] the friction of a joint falls smoothly to zero.
constexpr double kFrictionSpeed = 1e-3;

class UrdfReader {
 public:
  UrdfReader(const urdf::ModelInterface& robot, const std::string& text, const std::string& file,
             std::vector<Assignment>& assignments, std::vector<std::string>& warnings)
      : robot_(robot),
        text_(text),
        file_(file),
        warnings_(warnings),
        builder_(name_of_model(robot, file), file, {}, {0, 0, -9.81}),
        initial_(take_initial(assignments)) {}

  Description read() {
    const urdf::LinkConstSharedPtr root = robot_.getRoot();
    if (repair_) find_massless();
    // Bodies first, with the places of all links.
    place(root, {}, floating_ ? "" : "ground");
    if (!repair_) reject_massless();
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
  struct Carrier {
    Placement at;  // of the link that gives the body its axes
    LinkLump lump;
    std::vector<std::string> links;  // whose inertia it has
  };

  static std::string name_of_model(const urdf::ModelInterface& robot, const std::string& file) {
    return robot.getName().empty() ? std::filesystem::path(file).stem().string() : robot.getName();
  }

  std::map<std::string, double> take_initial(std::vector<Assignment>& assignments) {
    std::map<std::string, double> out;
    std::erase_if(assignments, [&](const Assignment& a) {
      if (a.path == "floating") floating_ = a.value != 0;
      if (a.path == "stops") set_stops(a.value);
      if (a.path == "repair") repair_ = a.value != 0;
      constexpr std::string_view prefix = "initial.";
      const bool initial = a.path.starts_with(prefix);
      if (initial) out[a.path.substr(prefix.size())] = a.value;
      return initial || a.path == "floating" || a.path == "stops" || a.path == "repair";
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
          found->second->mimic ? "this joint mimics another one" : "this joint has no coordinate of its own",
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
        bodies_[body] = {task.at, {}, {}};
      }
      body_of_[task.link->name] = body;
      at_[task.link->name] = task.at;
      if (body != "ground" && task.link->inertial) {
        Carrier& carrier = bodies_[body];
        const Placement back{carrier.at.R.transpose(), -(carrier.at.R.transpose() * carrier.at.p)};
        carrier.lump.add(lump_of(*task.link).moved(back * task.at));
        carrier.links.push_back(task.link->name);
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
        const bool welded = is_fixed(**joint);
        open.push_back({child, next, welded ? body : ""});
      }
      // In the order of the file, as pushed in reverse.
      for (const urdf::JointSharedPtr& joint : task.link->child_joints)
        if (!is_fixed(*joint) && joint->type != urdf::Joint::FLOATING) joints_.push_back(joint);
    }
  }

  int line_of(const std::string& name) const { return line_of_name(text_, name); }

  // The inertia of a link, the nearest physical one where that was asked for. Of what is below zero by round-off nothing needs to be said.
  LinkLump lump_of(const urdf::Link& link) {
    LinkLump out = LinkLump::of(*link.inertial);
    if (!repair_ || !out.inertia.allFinite()) return out;
    const SecondMoments found(out.inertia);
    if (found.sigma.minCoeff() >= -kRoundOff * found.moments.cwiseAbs().maxCoeff()) return out;
    out.inertia = found.physical();
    const Vec3 now = SecondMoments(out.inertia).moments;
    warnings_.push_back(
        fmt::format("{}:{}: link '{}': no rigid body has the principal moments {:.6g}, {:.6g}, {:.6g} kg "
                    "m^2; repair=1 takes "
                    "{:.6g}, {:.6g}, {:.6g} instead",
                    file_, line_of(link.name), excerpt(link.name), found.moments[0], found.moments[1],
                    found.moments[2], now[0], now[1], now[2]));
    return out;
  }

  bool is_fixed(const urdf::Joint& joint) const {
    return joint.type == urdf::Joint::FIXED || made_fixed_.contains(joint.name);
  }

  // Joints that carry links without mass and nothing else: nothing determines their acceleration. Those that follow another joint need none.
  std::vector<const urdf::Joint*> massless_joints() const {
    std::vector<urdf::LinkConstSharedPtr> order = {robot_.getRoot()};  // parents first
    for (std::size_t i = 0; i < order.size(); ++i)
      for (const urdf::LinkSharedPtr& child : order[i]->child_links) order.push_back(child);
    std::map<std::string, bool> has_mass;
    std::vector<const urdf::Joint*> out;
    for (std::size_t i = order.size(); i-- > 0;) {
      const urdf::Link& link = *order[i];
      bool mass = link.inertial && (link.inertial->mass != 0 || link.inertial->ixx != 0 ||
                                    link.inertial->iyy != 0 || link.inertial->izz != 0);
      for (const urdf::LinkSharedPtr& child : link.child_links) mass = mass || has_mass[child->name];
      has_mass[link.name] = mass;
      const urdf::JointSharedPtr& joint = link.parent_joint;
      if (!mass && joint && joint->type != urdf::Joint::FIXED && !joint->mimic) out.push_back(joint.get());
    }
    std::reverse(out.begin(), out.end());
    return out;
  }
  void find_massless() {
    for (const urdf::Joint* joint : massless_joints()) {
      made_fixed_.insert(joint->name);
      warnings_.push_back(
          fmt::format("{}:{}: joint '{}' moves link '{}', which has no mass and carries none; repair=1 makes "
                      "the joint fixed",
                      file_, line_of(joint->name), excerpt(joint->name), excerpt(joint->child_link_name)));
    }
  }
  void reject_massless() {
    for (const urdf::Joint* joint : massless_joints())
      builder_.finding("bodies." + clean(joint->child_link_name),
                       fmt::format("joint '{}' moves this link, but the link has no mass and carries none: "
                                   "its acceleration is undetermined",
                                   excerpt(joint->name)),
                       "give the link an <inertial>, make the joint fixed, or set repair=1, which does so",
                       line_of(joint->child_link_name));
  }

  // Inertias below zero by round-off, of sums and turned axes, are those of the nearest body.
  void settle_inertia(const std::string& name, Carrier& carrier) {
    LinkLump& lump = carrier.lump;
    if (!lump.inertia.allFinite()) return;
    const SecondMoments found(lump.inertia);
    const double least = found.sigma.minCoeff();
    if (least >= 0) return;
    const double scale = found.moments.cwiseAbs().maxCoeff(),
                 size = lump.center.squaredNorm() + kSmallest * kSmallest;
    if (repair_ || least >= -kRoundOff * std::max(scale, lump.mass * size)) {
      lump.inertia = found.physical();
      return;
    }
    std::string links;
    for (const std::string& link : carrier.links)
      links += (links.empty() ? "'" : ", '") + excerpt(link) + "'";
    builder_.finding(
        "bodies." + name + ".inertia",
        fmt::format(
            "no rigid body has the principal moments {:.6g}, {:.6g}, {:.6g} kg m^2 (link {}): they must be "
            "positive, and none larger than the sum of the others",
            found.moments[0], found.moments[1], found.moments[2], links),
        "check units and signs, or set repair=1 to use the nearest possible values",
        line_of(carrier.links.front()));
  }

  void add_body(const std::string& name) {
    settle_inertia(name, bodies_.at(name));
    const Carrier& carrier = bodies_.at(name);
    const LinkLump& lump = carrier.lump;
    const Mat3& J = lump.inertia;
    builder_.begin(Section::Bodies, name, "rigid");
    builder_.values("mass", std::array{lump.mass});
    builder_.values("inertia", std::array{J(0, 0), J(1, 1), J(2, 2), J(1, 2), J(0, 2), J(0, 1)});
    const Vec3 center = carrier.at.R * lump.center + carrier.at.p;
    builder_.values("position", std::array{center.x(), center.y(), center.z()});
    const Eigen::Vector4d q = SO3<double>::from_matrix(carrier.at.R).coordinates();
    builder_.values("orientation", std::array{q[0], q[1], q[2], q[3]}, 0, RotationForm::Quaternion);
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
    builder_.values("at", std::array{child.p.x(), child.p.y(), child.p.z()});
    builder_.values("axis", std::array{axis.x(), axis.y(), axis.z()});
    if (const double start = has_coordinate(joint) ? start_of(joint, true) : 0; start != 0) {
      if (turns(joint) && !(std::abs(start) <= std::numbers::pi))
        builder_.finding(joint.mimic ? "joints." + name : "initial." + excerpt(joint.name),
                         fmt::format("expected an angle from -pi to pi at the start, got {}", start),
                         "angles are in rad, and turns are counted from the start of a run");
      // Sensors, targets and drives count as the robot does.
      builder_.values("zero", std::array{-start});
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
                              fmt::format("mimics '{}', which is not a joint of this robot", excerpt(other)));
    if (!has_coordinate(*leader->second))
      return builder_.finding("joints." + name,
                              fmt::format("mimics '{}', which has no coordinate", excerpt(other)),
                              "only revolute, continuous and prismatic joints have one");
    builder_.begin(Section::Joints, clean(joint.name + "_mimic"), "gear");
    builder_.words("joints", name, clean(joint.mimic->joint_name));
    builder_.values("ratio", std::array{joint.mimic->multiplier});
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
      builder_.values("damping", std::array{joint.dynamics->damping});
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
    if (joint.limits && joint.limits->effort > 0) builder_.values("limit", std::array{joint.limits->effort});
    builder_.end();
  }

  void add_effort(const urdf::Joint& joint, const char* suffix, const std::string& effort) {
    builder_.begin(Section::Forces, clean(joint.name + suffix), "joint_effort");
    builder_.word("joint", clean(joint.name));
    builder_.values("effort", std::array{0.0});
    builder_.expression("effort", 0, effort);
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

  // Names are relative to the file of the robot, file://..., or package://NAME/...: NAME is then a folder around that file, or one in ROS_PACKAGE_PATH. As typed if there is no such file.
  std::string found_mesh(const std::string& name) const {
    namespace fs = std::filesystem;
    const auto without = [&](std::string_view prefix) { return name.substr(prefix.size()); };
    constexpr std::string_view kFile = "file://", kPackage = "package://";
    const fs::path home = fs::absolute(file_.empty() ? "." : file_).parent_path();
    std::error_code ignored;
    if (name.starts_with(kFile)) return without(kFile);
    if (!name.starts_with(kPackage)) return (home / name).lexically_normal().string();
    const fs::path rest = without(kPackage);
    std::vector<fs::path> roots;
    for (fs::path folder = home;; folder = folder.parent_path()) {
      roots.push_back(folder);
      if (folder == folder.parent_path()) break;
    }
    if (const char* const listed = std::getenv("ROS_PACKAGE_PATH")) {
      std::istringstream list(listed);
      for (std::string folder; std::getline(list, folder, ':');) {
        roots.emplace_back(folder);
        roots.push_back(fs::path(folder).parent_path());
      }
    }
    for (const fs::path& root : roots)
      if (fs::exists(root / rest, ignored)) return (root / rest).lexically_normal().string();
    return name;
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
        out.shape = "mesh", out.mesh = found_mesh(mesh->filename),
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

  static constexpr double kRoundOff = 1e-9;  // of inertias, relative
  static constexpr double kSmallest = 1e-3;  // m: no link is smaller than a millimetre
  const urdf::ModelInterface& robot_;
  const std::string& text_;
  std::string file_;
  std::vector<std::string>& warnings_;
  DescriptionBuilder builder_;
  bool floating_ = false;
  double stops_ = 0;  // stiffness of the ends of joints; 0: none
  bool repair_ = false;
  std::set<std::string> made_fixed_;  // joints
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

Description read_urdf(const std::string& text, const std::string& file, std::vector<Assignment>& assignments,
                      std::vector<std::string>& warnings) {
  const Messages messages;
  urdf::ModelInterfaceSharedPtr robot;
  std::string failure;
  try {
    robot = urdf::parseURDF(with_robot_name(text, file));
  } catch (const std::exception& error) {
    failure = error.what();
  }
  // The parser leaves out what it cannot read and goes on; we do not.
  if (!robot || !robot->getRoot() || !messages.errors().empty()) {
    if (const std::optional<Diagnostic> unbalanced = unbalanced_tag(text, file))
      throw InputError(std::vector<Diagnostic>{*unbalanced});
    std::vector<Diagnostic> findings;
    for (const std::string& message : messages.errors())
      findings.push_back({file, line_of_message(text, message), "", message, ""});
    if (!failure.empty() || findings.empty())
      findings.push_back({file, 0, "", failure.empty() ? "is not a robot description" : failure, ""});
    throw InputError(findings);
  }
  return UrdfReader(*robot, text, file, assignments, warnings).read();
}

Description read_urdf(const std::string& text, const std::string& file,
                      std::vector<Assignment>& assignments) {
  std::vector<std::string> ignored;
  return read_urdf(text, file, assignments, ignored);
}

}  // namespace liedyn
