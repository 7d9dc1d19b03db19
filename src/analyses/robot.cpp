#include "liedyn/analyses/robot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "liedyn/base/decompositions.h"
#include "liedyn/base/index.h"
#include "liedyn/base/suggest.h"
#include "liedyn/lie/so3.h"
#include "liedyn/model/nodes/formulations.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/evaluation.h"

namespace liedyn {
namespace {

constexpr RowRequest kNoRows{false, false, false};

System in_minimal_coordinates(const System& system) {
  if (system.model().is_minimal()) return {system.shared_model(), system.params()};
  return {Model::compile(system.model().shared_description(), std::string(kMinimalCoordinates)),
          system.params()};
}

const System& with_tree(const System& system) {
  if (!system.model().tree || system.model().first_state() == 0)
    throw InputError("", "the model has no bodies that move", "functions of robots need joints and bodies");
  return system;
}

State initial_state(const System& system) {
  const Initial initial = initial_values(system.model(), system.params().values().data());
  State state = system.empty_state();
  state.t = system.model().description().simulation.start;
  state.q = initial.q;
  return state;
}

// What the names of a joint's or a body's numbers end with.
std::vector<std::string> suffixes(LinkKind kind, int count, bool rates) {
  if (kind == LinkKind::Rotation)
    return rates ? std::vector<std::string>{".wx", ".wy", ".wz"}
                 : std::vector<std::string>{".qw", ".qx", ".qy", ".qz"};
  if (rates)
    return count == 6 ? std::vector<std::string>{".vx", ".vy", ".vz", ".wx", ".wy", ".wz"}
                      : std::vector<std::string>{".v0", ".v1", ".v2"};
  return count == 7 ? std::vector<std::string>{".x", ".y", ".z", ".qw", ".qx", ".qy", ".qz"}
                    : std::vector<std::string>{".x0", ".x1", ".x2"};
}

}  // namespace

Robot::Robot(const System& system)
    : system_(in_minimal_coordinates(system)),
      work_(with_tree(system_)),
      dynamics_(system_),
      state_(initial_state(system_)) {
  const Model& model = system_.model();
  if (model.rows > 0) {
    std::vector<std::string> joints;
    for (int row = 0; row < model.rows; ++row)
      if (const std::string& name = model.joint_of(row).name; joints.empty() || joints.back() != name)
        joints.push_back(name);
    throw InputError(
        "",
        fmt::format("functions of robots need joints that form a tree; closed by constraints: {}",
                    fmt::join(joints, ", ")),
        "remove these joints (of URDF files: mimic), or simulate the model with run");
  }
  if (!dynamics_.prepare(state_, work_))
    throw InputError(
        "",
        "functions of robots need rigid bodies with at least one joint, and forces that do not depend on "
        "accelerations",
        "remove flexible bodies, beams and rotor inertias, or simulate the model with run");
  name_coordinates();
  find_zeros();
  find_angles();
  initial_q_ = coordinates_of_state();
}

Robot::~Robot() = default;

void Robot::name_coordinates() {
  const Model& model = system_.model();
  const auto& joints = model.description().entries(Section::Joints);
  const auto& bodies = model.description().entries(Section::Bodies);
  for (const Link& link : model.tree->links) {
    if (link.node < 0) continue;
    const Node& node = model.nodes[at(link.node)];
    if (node.type == NodeType::State) continue;
    const NodeSize size = node_size(node.type);
    const std::string& name =
        link.kind == LinkKind::Root ? bodies[at(link.body)].name : joints[at(link.joint)].name;
    if (is_scalar(node.type)) {
      const bool alone = joints[at(link.joint)].kind->tree->motions.size() == 1;
      const std::string own = alone ? name : fmt::format("{}.{}", name, link.step + 1);
      coordinates_.push_back({node.q, node.v});
      coordinate_names_.push_back(own);
      velocity_names_.push_back(own);
      signs_.push_back(1);
      continue;
    }
    // The place of a rotation about a point is that of the joint.
    const int first = link.kind == LinkKind::Rotation ? 3 : 0;
    const std::vector<std::string> own = suffixes(link.kind, size.q, false),
                                   rates = suffixes(link.kind, size.v, true);
    for (int k = first; k < size.q; ++k) {
      coordinates_.push_back({node.q + k});
      coordinate_names_.push_back(name + own[at(k - first)]);
    }
    for (int k = 0; k < size.v; ++k) {
      velocity_names_.push_back(name + rates[at(k)]);
      signs_.push_back(1);
    }
  }
}

int Robot::node_of(int velocity) const {
  const std::vector<Node>& nodes = system_.model().nodes;
  int out = 0;
  while (nodes[at(out)].v != velocity) ++out;
  return out;
}
const Link& Robot::link_of(int velocity) const {
  const Tree& tree = *system_.model().tree;
  return tree.links[at(tree.of_node[at(node_of(velocity))])];
}

// Where joints count from, and which way: as they say themselves, for a rate of 1 of one coordinate after the other.
void Robot::find_zeros() {
  const Model& model = system_.model();
  for (Coordinate& x : coordinates_) {
    if (x.v < 0) continue;
    const Link& link = link_of(x.v);
    std::fill(state_.v.begin(), state_.v.end(), 0.0);
    state_.v[at(x.v)] = 1;
    system_.residual(state_, work_, kNoRows);
    const Evaluation e = evaluation_at(model, *work_.constants, state_, kNoRows, work_);
    const auto [batch, element] = model.element_of_joint(link.joint);
    const AxisMotion motion = model.batches[at(batch)]->axis_motion(e, element);
    const bool turns = link.kind == LinkKind::Turn;
    const double rate = turns ? motion.angle_rate : motion.displacement_rate;
    if (std::abs(std::abs(rate) - 1) > 1e-9)
      continue;  // joints without such a coordinate count from the start
    x.sign = rate > 0 ? 1 : -1;
    x.zero = (turns ? motion.angle : motion.displacement) - x.sign * state_.q[at(x.q)];
    signs_[at(x.v)] = x.sign;
  }
  std::fill(state_.v.begin(), state_.v.end(), 0.0);
}

// Forces and sensors that look at the angle of a joint see the turn that the caller means.
void Robot::find_angles() {
  const Model& model = system_.model();
  const auto follow = [&](int index, int joint) {
    for (std::size_t c = 0; c < coordinates_.size(); ++c) {
      if (coordinates_[c].v < 0) continue;
      const Link& link = link_of(coordinates_[c].v);
      if (link.joint == joint && link.kind == LinkKind::Turn) angles_.push_back({index, static_cast<int>(c)});
    }
  };
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const Batch& batch = *model.batches[b];
    if (batch.angles_per_element() != 1 || batch.named_joints.size() != batch.entries.size()) continue;
    for (int e = 0; e < batch.size(); ++e) follow(batch.first_angle + e, batch.named_joints[at(e)]);
  }
  for (const Sensor& sensor : model.sensors)
    if (sensor.angle >= 0 && sensor.batch >= 0 && model.sections[at(sensor.batch)] == Section::Joints)
      follow(sensor.angle, model.batches[at(sensor.batch)]->entries[at(sensor.element)]);
}

void Robot::set_tree_coordinates(const double* q) {
  for (std::size_t i = 0; i < coordinates_.size(); ++i) {
    const Coordinate& x = coordinates_[i];
    state_.q[at(x.q)] = x.sign * (q[i] - x.zero);
  }
  for (const Angle& angle : angles_) state_.angles[at(angle.index)] = q[angle.coordinate];
}

void Robot::set(const double* q, const double* v) {
  set_tree_coordinates(q);
  for (std::size_t i = 0; i < signs_.size(); ++i) state_.v[i] = v != nullptr ? signs_[i] * v[i] : 0;
}

std::vector<double> Robot::coordinates_of_state() const {
  std::vector<double> out;
  for (const Coordinate& x : coordinates_) out.push_back(x.sign * state_.q[at(x.q)] + x.zero);
  return out;
}

void Robot::inverse_dynamics(const double* q, const double* v, const double* a, double* tau, bool forces) {
  set(q, v);
  scratch_.assign(signs_.size(), 0);
  if (a != nullptr)
    for (std::size_t i = 0; i < signs_.size(); ++i) scratch_[i] = signs_[i] * a[i];
  dynamics_.forces(state_, work_, scratch_.data(), forces, tau);
  for (std::size_t i = 0; i < signs_.size(); ++i) tau[i] *= signs_[i];
}

void Robot::forward_dynamics(const double* q, const double* v, const double* tau, double* a, bool forces) {
  set(q, v);
  scratch_.resize(signs_.size());
  for (std::size_t i = 0; i < signs_.size(); ++i) scratch_[i] = signs_[i] * tau[i];
  const int singular = dynamics_.accelerate(state_, work_, scratch_.data(), forces, a);
  if (singular >= 0)
    throw NumericalError(
        state_.t,
        fmt::format("the acceleration at '{}' is undetermined: the bodies that it moves have no inertia",
                    system_.unknown_name(singular)));
  for (std::size_t i = 0; i < signs_.size(); ++i) a[i] *= signs_[i];
}

void Robot::mass_matrix(const double* q, double* M) {
  set(q, nullptr);
  const int n = nv();
  dynamics_.at(state_, work_).mass_matrix(M, n);
  for (int c = 0; c < n; ++c)
    for (int r = 0; r < n; ++r) M[r + c * n] *= signs_[at(r)] * signs_[at(c)];
}

void Robot::bias(const double* q, const double* v, double* tau, bool forces) {
  inverse_dynamics(q, v, nullptr, tau, forces);
}

void Robot::gravity(const double* q, double* tau) { inverse_dynamics(q, nullptr, nullptr, tau, false); }

Robot::Frame Robot::frame(const std::string& name, const Vec3& point) const {
  const Model& model = system_.model();
  const auto named = [](const std::string& text, const char* section) {
    return text.starts_with(section) ? text.substr(std::string(section).size()) : text;
  };
  const auto& bodies = model.description().entries(Section::Bodies);
  const auto& joints = model.description().entries(Section::Joints);
  if (!name.starts_with("joints."))
    for (std::size_t i = 0; i < bodies.size(); ++i)
      if (bodies[i].name == named(name, "bodies.")) return {static_cast<int>(i), {Mat3::Identity(), point}};
  if (!name.starts_with("bodies."))
    for (std::size_t i = 0; i < joints.size(); ++i) {
      if (joints[i].name != named(name, "joints.")) continue;
      const auto [batch, element] = model.element_of_joint(static_cast<int>(i));
      const liedyn::Frame& on_second =
          model.frames[at(model.batches[at(batch)]->frames[at(2 * element + 1)])];
      const Offset<double> offset = offset_of(on_second, work_.constants->data.data());
      return {on_second.node, {offset.Q, offset.rho + offset.Q * point}};
    }
  Suggestion suggestion(name);
  for (const Entry& body : bodies) suggestion.consider(body.name);
  for (const Entry& joint : joints) suggestion.consider(joint.name);
  throw InputError("frame", fmt::format("the model has no body and no joint '{}'", excerpt(name)),
                   did_you_mean(suggestion.name()));
}

Pose<double> Robot::frame_pose(const Frame& frame, const double* q) {
  set(q, nullptr);
  if (frame.body < 0) return frame.offset;
  Motion<double> body;
  dynamics_.at(state_, work_).body_motion(frame.body, body);
  return {body.R * frame.offset.R, body.p + body.R * frame.offset.p};
}

void Robot::frame_jacobian(const Frame& frame, const double* q, double* J) {
  set(q, nullptr);
  std::fill_n(J, 6 * nv(), 0.0);
  if (frame.body < 0) return;
  const TreeRecursion& recursion = dynamics_.at(state_, work_);
  Motion<double> body;
  recursion.body_motion(frame.body, body);
  recursion.jacobian(frame.body, body.p + body.R * frame.offset.p, J);
  for (int c = 0; c < nv(); ++c)
    for (int r = 0; r < 6; ++r) J[r + 6 * c] *= signs_[at(c)];
}

double Robot::mass() const { return dynamics_.recursion().whole().mass; }

Vec3 Robot::center_of_mass(const double* q) {
  set(q, nullptr);
  return dynamics_.at(state_, work_).whole().center;
}

Vec6 Robot::momentum(const double* q, const double* v) {
  set(q, v);
  const TreeRecursion::Whole whole = dynamics_.at(state_, work_).whole();
  Vec6 out;
  out << whole.linear, whole.angular - whole.center.cross(whole.linear);
  return out;
}

// ---- inverse kinematics

namespace {

// What turns R into the target, inertial axes.
Vec3 rotation_error(const Mat3& R, const Mat3& target) {
  return R * SO3<double>::from_matrix(R.transpose() * target).log();
}

}  // namespace

// e = (p_target - p, rotation vector to the target), weighted with a length of 1 m per rad; returns |e|.
double Robot::residual_of(const std::vector<Target>& targets, Eigen::VectorXd& residual, Solution* errors) {
  const TreeRecursion& recursion = dynamics_.at(state_, work_);
  Eigen::Index row = 0;
  for (const Target& target : targets) row += target.turns ? 6 : 3;
  residual.resize(row);
  row = 0;
  if (errors != nullptr) errors->position_error = errors->rotation_error = 0;
  for (const Target& target : targets) {
    Motion<double> body;
    if (target.frame.body >= 0) recursion.body_motion(target.frame.body, body);
    const Vec3 e = target.position - body.p - body.R * target.frame.offset.p;
    residual.segment<3>(row) = e;
    row += 3;
    if (errors != nullptr) errors->position_error = std::max(errors->position_error, e.norm());
    if (!target.turns) continue;
    const Vec3 turn = rotation_error(body.R * target.frame.offset.R, target.rotation);
    residual.segment<3>(row) = turn;
    row += 3;
    if (errors != nullptr) errors->rotation_error = std::max(errors->rotation_error, turn.norm());
  }
  return residual.norm();
}

// Levenberg-Marquardt: (J^T J + mu 1) d = J^T e among the coordinates that are free to move. A coordinate at a limit that the step would violate is held.
Robot::Solution Robot::attempt(const std::vector<Target>& targets, const std::vector<double>& start,
                               const InverseKinematics& options) {
  const Model& model = system_.model();
  const int n = nv();
  const auto limited = [&](std::vector<double>& q) {
    for (std::size_t i = 0; i < q.size(); ++i)
      if (coordinates_[i].v >= 0 && !options.lower.empty())
        q[i] = std::clamp(q[i], options.lower[i], options.upper[i]);
  };
  std::vector<double> q = start;
  limited(q);
  set(q.data(), nullptr);
  Solution out;
  Eigen::VectorXd residual, next_residual;
  double error = residual_of(targets, residual, &out), damping = 1e-3;
  Eigen::MatrixXd J(residual.size(), n), frame_columns(6, n);
  const auto done = [&] {
    return out.position_error <= options.tolerance && out.rotation_error <= options.tolerance;
  };
  while (!done() && out.iterations < options.iterations && damping < 1e12) {
    ++out.iterations;
    // Columns at this configuration; the tree is where residual_of() has left it.
    {
      const TreeRecursion& recursion = dynamics_.at(state_, work_);
      Eigen::Index row = 0;
      for (const Target& target : targets) {
        const Eigen::Index rows = target.turns ? 6 : 3;
        frame_columns.setZero();
        if (target.frame.body >= 0) {
          Motion<double> body;
          recursion.body_motion(target.frame.body, body);
          recursion.jacobian(target.frame.body, body.p + body.R * target.frame.offset.p,
                             frame_columns.data());
        }
        J.middleRows(row, rows) = frame_columns.topRows(rows);
        row += rows;
      }
    }
    bool better = false;
    while (!better && damping < 1e12) {
      std::vector<bool> held(at(n), false);
      Eigen::VectorXd d;
      for (bool again = true; again;) {
        Eigen::MatrixXd free = J;
        for (int c = 0; c < n; ++c)
          if (held[at(c)]) free.col(c).setZero();
        Eigen::MatrixXd normal = free.transpose() * free;
        normal.diagonal().array() += damping;
        d = normal.ldlt().solve(free.transpose() * residual);
        again = false;
        for (std::size_t i = 0; i < coordinates_.size() && !options.lower.empty(); ++i) {
          const Coordinate& x = coordinates_[i];
          if (x.v < 0 || held[at(x.v)]) continue;
          const double step = x.sign * d[x.v];
          if ((step > 0 && q[i] >= options.upper[i]) || (step < 0 && q[i] <= options.lower[i]))
            held[at(x.v)] = again = true;
        }
      }
      const std::vector<double> before = state_.q, q_before = q;
      for (const Node& node : model.nodes)
        if (node.v < n) increment_position(node.type, d.data() + node.v, state_.q.data() + node.q);
      q = coordinates_of_state();
      limited(q);
      set(q.data(), nullptr);
      Solution next = out;
      const double changed = residual_of(targets, next_residual, &next);
      better = changed < error;
      if (better) {
        error = changed;
        residual = next_residual;
        out = next;
        damping = std::max(damping / 10, 1e-15);
      } else {
        state_.q = before;
        q = q_before;
        damping *= 10;
      }
    }
    set(q.data(), nullptr);
  }
  out.q = q;
  out.converged = done();
  return out;
}

Robot::Solution Robot::inverse_kinematics(const std::vector<Target>& targets, const double* start,
                                          const InverseKinematics& options) {
  for (std::size_t i = 0; i < options.lower.size(); ++i)
    if (!(options.lower[i] <= options.upper[i]))
      throw InputError("limits." + coordinate_names_[i],
                       fmt::format("expected a lower limit below the upper one, got {} and {}",
                                   options.lower[i], options.upper[i]));
  std::vector<double> q = start != nullptr ? std::vector<double>(start, start + nq()) : initial_q_;
  Solution best = attempt(targets, q, options);
  int iterations = best.iterations;
  std::mt19937 generator(1);
  for (int i = 0; i < options.attempts && !best.converged; ++i) {
    for (std::size_t c = 0; c < q.size(); ++c) {
      const Coordinate& x = coordinates_[c];
      if (x.v < 0) continue;
      // Within the limits; without, a turn of an angle about the start. A displacement begins where it was.
      const bool turns = system_.model().nodes[at(node_of(x.v))].type == NodeType::Turn;
      double low = q[c] - (turns ? 3.1 : 0), high = q[c] + (turns ? 3.1 : 0);
      if (!options.lower.empty() && std::isfinite(options.lower[c])) low = options.lower[c];
      if (!options.upper.empty() && std::isfinite(options.upper[c])) high = options.upper[c];
      q[c] = low < high ? std::uniform_real_distribution<double>(low, high)(generator) : low;
    }
    Solution next = attempt(targets, q, options);
    iterations += next.iterations;
    if (next.converged ||
        next.position_error + next.rotation_error < best.position_error + best.rotation_error)
      best = next;
  }
  best.iterations = iterations;
  return best;
}

}  // namespace liedyn
