#include "liedyn/system/tree_dynamics.h"

#include <algorithm>
#include <cmath>

#include "liedyn/model/forces/coordinate_forces.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/evaluation.h"

namespace liedyn {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

// Two masses that agree to so many digits of their largest entry are the same; wrenches are those of a rigid body to as many.
constexpr double kSame = 1e-12;

constexpr double kNoRate = 0;
constexpr RowRequest kNoRows{false, false, false};

using CMat6 = Eigen::Map<const Mat6>;

RigidMass mass_of(const Mat6& M) {
  return {M(0, 0), {M(5, 1), M(3, 2), M(4, 0)}, M.bottomRightCorner<3, 3>()};
}
Mat6 matrix_of(const RigidMass& x) {
  Mat6 M;
  M << x.mass * Mat3::Identity(), -skew(x.moment), skew(x.moment), x.inertia;
  return M;
}
// As in model/bodies/rigid.h.
Vec6 inertial_wrench(const RigidMass& x, const Motion<double>& m, const Vec3& gravity) {
  const Vec3 v = m.V.head<3>(), w = m.V.tail<3>(), a = m.A.head<3>() - m.R.transpose() * gravity,
             alpha = m.A.tail<3>();
  const Vec3 p = x.mass * v + w.cross(x.moment), L = x.moment.cross(v) + x.inertia * w;
  Vec6 W;
  W << x.mass * a + alpha.cross(x.moment) + w.cross(p),
      x.moment.cross(a) + x.inertia * alpha + w.cross(L) + v.cross(p);
  return W;
}

}  // namespace

TreeDynamics::TreeDynamics(const System& system) : system_(&system), recursion_(system.model()) {
  const Model& model = system.model();
  const int bodies = static_cast<int>(model.bodies().size());
  blocks_.resize(model.batches.size());
  for_each_element(model, [&](int b, int e, int) {
    for_each_force_block(model, *model.batches[index(b)], e, [&](int row, int column) {
      const int block = row == column ? row : bodies;
      blocks_[index(b)].push_back(row >= 0 && column >= 0 ? BlockRef{36 * block, 6} : BlockRef{});
    });
  });
  partials_.resize(index(36 * (bodies + 1)));
}

TreeDynamics::Role TreeDynamics::role_of(int b, const Evaluation& e, Work& work,
                                         std::vector<RigidMass>& masses) {
  const Model& model = system_->model();
  const Batch& batch = *model.batches[index(b)];
  if (dynamic_cast<const TreeJoints*>(&batch) != nullptr) return Role::Nothing;
  std::fill(partials_.begin(), partials_.end(), 0.0);
  for (Vec6& wrench : work.wrench) wrench.setZero();
  JacobianTarget to;
  to.values = partials_.data();
  to.blocks = blocks_[index(b)].data();
  to.force = {0, 0, 1};
  batch.jacobian(e, to);
  if (std::any_of(partials_.end() - 36, partials_.end(), [](double x) { return x != 0; })) return Role::Other;
  Role role = Role::Force;
  for (std::size_t body = 0; body < work.wrench.size(); ++body) {
    const Mat6 M = CMat6(partials_.data() + 36 * body);
    if ((M.array() == 0).all()) continue;
    const Link& link = model.tree->links[index(model.tree->of_body[body])];
    if (link.kind == LinkKind::Root && model.nodes[index(link.node)].type == NodeType::State) {
      // x' - f = 0, with mass 1
      if (M != Mat6(Vec6::Unit(0).asDiagonal())) return Role::Other;
      continue;
    }
    const RigidMass mass = mass_of(M);
    const Vec6 W = inertial_wrench(mass, work.motions[body], e.world.gravity);
    if (!((matrix_of(mass) - M).cwiseAbs().maxCoeff() <= kSame * M.cwiseAbs().maxCoeff()) ||
        !((W - work.wrench[body]).cwiseAbs().maxCoeff() <= kSame * W.cwiseAbs().maxCoeff()))
      return Role::Other;
    role = Role::Mass;
    masses[body].mass += mass.mass;
    masses[body].moment += mass.moment;
    masses[body].inertia += mass.inertia;
  }
  return role;
}

// Batches of springs and actuators, all on joints of the tree with one motion.
bool TreeDynamics::takes_over(int b, const State& state, Work& work) {
  const Model& model = system_->model();
  const Batch& batch = *model.batches[index(b)];
  const bool spring = dynamic_cast<const BatchOf<JointSpring>*>(&batch) != nullptr;
  if (!spring && dynamic_cast<const BatchOf<JointActuator>*>(&batch) == nullptr) return false;
  std::vector<JointForce> found;
  for (int e = 0; e < batch.size(); ++e) {
    const int joint = batch.named_joints[index(e)], last = model.tree->of_joint[index(joint)];
    if (last < 0) return false;
    const Link& link = model.tree->links[index(last)];
    if (link.step > 0 || link.node < 0) return false;
    const Node& node = model.nodes[index(link.node)];
    const int constants = batch.first_constant + e * batch.constants_per_element();
    const bool angle = is_angle(work.constants->data.data() + constants);
    if (node.type != (angle ? NodeType::Turn : NodeType::Slide)) return false;
    // Which way the joint counts, and from where, as it says itself.
    State moving = state;
    std::fill(moving.v.begin(), moving.v.end(), 0.0);
    moving.v[index(node.v)] = 1;
    system_->residual(moving, work, kNoRows);
    const auto [of, element] = model.element_of_joint(joint);
    const AxisMotion x = model.batches[index(of)]->axis_motion(
        evaluation_at(model, *work.constants, moving, kNoRows, work), element);
    const double sign = (angle ? x.angle_rate : x.displacement_rate) > 0 ? 1 : -1;
    const double value =
        angle ? nearest_turn(x.angle, state.angles[index(batch.first_angle + e)]) : x.displacement;
    found.push_back({spring ? JointForce::Law::Spring : JointForce::Law::Actuator, node.q, node.v,
                     constants + kCoordinateConstants, sign, value - sign * state.q[index(node.q)]});
  }
  joint_forces_.insert(joint_forces_.end(), found.begin(), found.end());
  return true;
}

bool TreeDynamics::prepare(const State& state, Work& work) {
  const Model& model = system_->model();
  const std::vector<Link>& links = model.tree->links;
  const bool has_joints = std::any_of(links.begin(), links.end(), [](const Link& link) {
    return link.kind == LinkKind::Turn || link.kind == LinkKind::Slide || link.kind == LinkKind::Rotation;
  });
  if (!has_joints || model.rows > 0 || system_->bodies_follow_time()) return false;

  std::vector<Role> roles[2];
  std::vector<RigidMass> masses[2];
  for (int probe = 0; probe < 2; ++probe) {
    State there = state;
    const auto number = [&](int i) { return 0.7 * std::sin(1.3 + 0.4 * probe + 2.1 * i); };
    for (const Node& node : model.nodes) {
      double d[6];
      for (int i = 0; i < 6; ++i) d[i] = number(node.v + i);
      increment_position(node.type, d, there.q.data() + node.q);
    }
    for (int i = 0; i < model.nv; ++i) {
      there.v[index(i)] = number(3 * i + 1);
      there.vdot[index(i)] = number(5 * i + 2);
    }
    system_->residual(there, work, kNoRows);
    const Evaluation e = evaluation_at(model, *work.constants, there, kNoRows, work);
    masses[probe].resize(work.wrench.size());
    for (std::size_t b = 0; b < model.batches.size(); ++b)
      roles[probe].push_back(role_of(static_cast<int>(b), e, work, masses[probe]));
  }
  if (roles[0] != roles[1] || std::find(roles[0].begin(), roles[0].end(), Role::Other) != roles[0].end())
    return false;
  for (std::size_t body = 0; body < masses[0].size(); ++body) {
    const Mat6 here = matrix_of(masses[0][body]), there = matrix_of(masses[1][body]);
    if ((here - there).cwiseAbs().maxCoeff() > kSame * here.cwiseAbs().maxCoeff()) return false;
  }

  recursion_.set_geometry(work.constants->data.data());
  for (std::size_t body = 0; body < masses[0].size(); ++body)
    if (masses[0][body].mass != 0 || !masses[0][body].inertia.isZero(0))
      recursion_.add_inertia(static_cast<int>(body), masses[0][body]);
  forces_.clear();
  joint_forces_.clear();
  for (std::size_t b = 0; b < model.batches.size(); ++b)
    if (roles[0][b] == Role::Force && !takes_over(static_cast<int>(b), state, work))
      forces_.push_back(model.batches[b].get());
  tau_.assign(index(model.nv), 0);
  return true;
}

void TreeDynamics::move(const State& state, Work& work, bool forces) {
  const Model& model = system_->model();
  // Constants that are functions of time follow with what every evaluation prepares.
  if (!system_->params().timed().empty()) system_->constraint_matrices(state, work, none_);
  recursion_.move(state.q.data(), state.v.data());
  if (!forces) return;
  std::fill(tau_.begin(), tau_.end(), 0.0);
  for (const JointForce& force : joint_forces_) {
    const double* n = work.constants->data.data() + force.constants;
    const double x = force.sign * state.q[index(force.q)] + force.zero,
                 rate = force.sign * state.v[index(force.v)];
    double effort;
    if (force.law == JointForce::Law::Spring) {
      const double e = JointSpring::deflection(x, n);
      effort = -(n[0] * e + n[1] * e * e * e + n[2] * rate);
    } else {
      effort = JointActuator::effort(x, rate, n);
      if (n[5] > 0) effort = std::clamp(effort, -n[5], n[5]);
    }
    tau_[index(force.v)] += force.sign * effort;
  }
  if (forces_.empty()) return;
  const std::vector<Link>& links = model.tree->links;
  for (const Link& link : links) {
    if (link.body < 0) continue;
    Motion<double>& motion = work.motions[index(link.body)];
    const Node* node = link.node < 0 ? nullptr : &model.nodes[index(link.node)];
    if (node != nullptr && node->type == NodeType::State)
      motion = node_motion(node->type, &state.q[index(node->q)], &state.v[index(node->v)], &kNoRate);
    else
      recursion_.body_motion(link.body, motion);
  }
  const Evaluation e = evaluation_at(model, *work.constants, state, kNoRows, work);
  for (const Batch* batch : forces_) batch->residual(e);
  for (const Link& link : links)
    if (link.body >= 0 && !(work.wrench[index(link.body)].array() == 0).all())
      recursion_.add_wrench(link.body, work.wrench[index(link.body)]);
}

int TreeDynamics::accelerate(const State& state, Work& work, const double* tau, bool forces, double* vdot) {
  move(state, work, forces);
  const double* all = forces ? tau_.data() : tau;
  if (forces && tau != nullptr)
    for (int i = 0; i < recursion_.velocities(); ++i) tau_[index(i)] += tau[i];
  return recursion_.accelerate(work.constants->gravity, all, vdot);
}

int TreeDynamics::accelerate(State& state, Work& work) {
  const int singular = accelerate(state, work, nullptr, true, state.vdot.data());
  const Model& model = system_->model();
  if (model.first_state() == model.nv) return singular;
  for (const Link& link : model.tree->links) {
    if (link.kind != LinkKind::Root) continue;
    const Node& node = model.nodes[index(link.node)];
    if (node.type == NodeType::State) state.vdot[index(node.v)] = -work.wrench[index(link.body)][0];
  }
  return singular;
}

void TreeDynamics::forces(const State& state, Work& work, const double* vdot, bool with_elements,
                          double* tau) {
  move(state, work, with_elements);
  recursion_.forces(work.constants->gravity, vdot, tau);
  if (with_elements)
    for (int i = 0; i < recursion_.velocities(); ++i) tau[i] -= tau_[index(i)];
}

TreeRecursion& TreeDynamics::at(const State& state, Work& work) {
  move(state, work, false);
  return recursion_;
}

}  // namespace liedyn
