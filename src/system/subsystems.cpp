#include "liedyn/system/subsystems.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <Eigen/Eigenvalues>

#include "liedyn/base/index.h"
#include "liedyn/system/node_components.h"

namespace liedyn {
namespace {

// Sets of bodies that grow together.
class Unions {
 public:
  explicit Unions(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), 0); }
  int root(int i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  }
  void join(int a, int b) { parent_[at(root(a))] = root(b); }
  // Joins the bodies of each element of a batch.
  void join(const Model& model, const Batch& batch) {
    const int frames = batch.coupling().frames;
    for (int e = 0; e < batch.size(); ++e)
      for (int f = 0, first = -1; f < frames; ++f) {
        const int body = node_of_frame(model, batch, e, f);
        if (body < 0) continue;
        if (first >= 0) join(first, body);
        first = body;
      }
  }

 private:
  std::vector<int> parent_;
};

struct PointOfPart {
  int part;
  Vec3 p;
};

// The bodies, and the frames of the elements that count.
template <class Counts>
std::vector<PointOfPart> points_of_parts(const Model& model, const Work& work,
                                         const std::vector<int>& of_body, const Counts& counts) {
  std::vector<PointOfPart> points;
  for (std::size_t i = 0; i < of_body.size(); ++i)
    if (of_body[i] >= 0) points.push_back({of_body[i], work.motions[i].p});
  for (const auto& batch : model.batches) {
    const int frames = batch->coupling().frames;
    if (!counts(*batch)) continue;
    for (int e = 0; e < batch->size(); ++e) {
      int part = -1;
      for (int f = 0; f < frames; ++f)
        if (const int body = node_of_frame(model, *batch, e, f); body >= 0) part = of_body[at(body)];
      for (int f = 0; f < frames && part >= 0; ++f)
        points.push_back(
            {part, FrameView(model.frames[at(batch->frames[at(e * frames + f)])], work.constants->data.data(),
                             model.bodies().data(), work.motions.data())
                       .motion()
                       .p});
    }
  }
  return points;
}

// Twice the largest distance of the points of a part from their mean.
std::vector<double> extents(const std::vector<PointOfPart>& points, std::size_t parts) {
  std::vector<Vec3> mean(parts, Vec3::Zero());
  std::vector<double> count(parts, 0);
  for (const PointOfPart& point : points) count[at(point.part)] += 1;
  for (const PointOfPart& point : points) mean[at(point.part)] += point.p / count[at(point.part)];
  // The round-off of places is no size.
  constexpr double kRoundOff = 1e-12;
  std::vector<double> out(parts, 0);
  for (const PointOfPart& point : points) {
    const double length = 2 * (point.p - mean[at(point.part)]).norm();
    if (length > kRoundOff * point.p.norm()) out[at(point.part)] = std::max(out[at(point.part)], length);
  }
  return out;
}

// The extents of bodies and joints as drawn; of parts that have none there, of forces; otherwise by the inertia of a body.
void set_lengths(const System& system, Work& work, Subsystems& out) {
  const Model& model = system.model();
  State drawn = system.empty_state();
  drawn.q = initial_values(model, system.params().values().data()).q;
  system.residual(drawn, work, {false, false, false});  // poses and numbers
  const auto measure = [&](const auto& counts) {
    return extents(points_of_parts(model, work, out.of_body, counts), out.length.size());
  };
  out.length = measure([](const Batch& batch) {
    return batch.coupling().rows > 0 || dynamic_cast<const TreeJoints*>(&batch) != nullptr;
  });
  if (std::find(out.length.begin(), out.length.end(), 0.0) == out.length.end()) return;
  const std::vector<double> with_forces = measure([](const Batch&) { return true; });
  for (std::size_t i = 0; i < out.length.size(); ++i)
    if (out.length[i] == 0) out.length[i] = with_forces[i];
  if (std::find(out.length.begin(), out.length.end(), 0.0) == out.length.end()) return;
  const std::vector<Mat6> inertias = body_inertias(system, drawn, work);
  const std::vector<double> drawn_lengths = out.length;
  for (std::size_t i = 0; i < out.of_body.size(); ++i) {
    if (out.of_body[i] < 0 || drawn_lengths[at(out.of_body[i])] > 0) continue;
    const double mass = inertias[i].diagonal().head<3>().maxCoeff(),
                 moment = inertias[i].diagonal().tail<3>().maxCoeff();
    double& length = out.length[at(out.of_body[i])];
    if (mass > 0 && moment > 0) length = std::max(length, 2 * std::sqrt(moment / mass));
  }
}

// What batches read at a state.
Evaluation evaluation_at(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  system.residual(state, work, {});  // poses and numbers
  Evaluation e;
  e.frames = model.frames.data();
  e.nodes = model.bodies().data();
  e.motions = work.motions.data();
  e.q = state.q.data();
  e.v = state.v.data();
  e.vdot = state.vdot.data();
  e.constants = work.constants->data.data();
  e.world.gravity = work.constants->gravity;
  e.world.time = state.t;
  e.lambda = state.lambda.data();
  e.angles = state.angles.data();
  return e;
}

}  // namespace

Subsystems subsystems(const System& system, Work& work) {
  const Model& model = system.model();
  const std::size_t bodies = model.bodies().size();
  Unions unions(bodies);
  for (const auto& batch : model.batches) unions.join(model, *batch);
  if (model.tree)
    for (const Link& link : model.tree->links) {
      int parent = link.parent;
      while (parent >= 0 && model.tree->links[at(parent)].body < 0)
        parent = model.tree->links[at(parent)].parent;
      if (parent >= 0 && link.body >= 0) unions.join(link.body, model.tree->links[at(parent)].body);
    }
  const auto is_state = [&](std::size_t body) { return model.bodies()[body].type == NodeType::State; };
  Subsystems out;
  out.of_body.assign(bodies, -1);
  std::vector<int> of_root(bodies, -1);
  for (std::size_t i = 0; i < bodies; ++i) {
    if (is_state(i)) continue;
    int& part = of_root[at(unions.root(static_cast<int>(i)))];
    if (part < 0) {
      part = out.count();
      out.length.push_back(0);
    }
    out.of_body[i] = part;
  }
  out.of_node = out.of_body;
  if (model.tree) {
    out.of_node.assign(model.nodes.size(), -1);
    // Links without a body belong to the one behind them.
    std::vector<int> part(model.tree->links.size(), -1);
    for (std::size_t i = part.size(); i-- > 0;) {
      const Link& link = model.tree->links[i];
      if (link.body >= 0) part[i] = out.of_body[at(link.body)];
      if (link.parent >= 0) part[at(link.parent)] = part[i];
      if (link.node >= 0) out.of_node[at(link.node)] = part[i];
    }
  }
  out.of_row.assign(at(model.rows), -1);
  for (const auto& batch : model.batches) {
    const Coupling c = batch->coupling();
    for (int e = 0; e < batch->size() && c.rows > 0; ++e)
      for (int f = 0; f < c.frames; ++f)
        if (const int body = node_of_frame(model, *batch, e, f); body >= 0)
          std::fill_n(out.of_row.begin() + batch->first_row + e * c.rows, c.rows, out.of_body[at(body)]);
  }
  set_lengths(system, work, out);
  return out;
}

std::vector<Mat6> body_inertias(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  Evaluation e = evaluation_at(system, state, work);
  const std::vector<Node>& nodes = model.bodies();
  // Blocks on the diagonal, one after the other; all others are thrown together behind them.
  std::vector<double> values(36 * (nodes.size() + 1), 0.0);
  const BlockRef others{static_cast<std::int32_t>(36 * nodes.size()), 6};
  std::vector<Vec6> wrench(nodes.size(), Vec6::Zero());
  std::vector<double> r(at(model.tree ? 0 : model.nv), 0.0);
  e.wrench = wrench.data();
  if (!model.tree) e.r = r.data();
  for (const auto& batch : model.batches) {
    const Coupling c = batch->coupling();
    if (c.rows > 0) continue;
    std::vector<BlockRef> blocks;
    for (int k = 0; k < batch->size(); ++k) {
      for_each_force_block(model, *batch, k, [&](int row, int column) {
        BlockRef ref;
        if (row >= 0 && column >= 0) ref = row == column ? BlockRef{36 * row, 6} : others;
        blocks.push_back(ref);
      });
      if (c.multipliers > 0) blocks.resize(blocks.size() + at(c.frames));  // not asked for
    }
    JacobianTarget target;
    target.values = values.data();
    target.blocks = blocks.data();
    target.force = {0, 0, 1};
    batch->jacobian(e, target);
  }
  std::vector<Mat6> out(nodes.size(), Mat6::Zero());
  for (std::size_t b = 0; b < nodes.size(); ++b) {
    const NodeType type = nodes[b].type;
    for (int i = 0; i < node_size(type).v && type != NodeType::State; ++i)
      for (int k = 0; k < node_size(type).v; ++k)
        out[b](component(type, k), component(type, i)) = values[36 * b + at(k + 6 * i)];
  }
  return out;
}

void acting_forces(const System& system, const State& state, Work& work, std::vector<Acting>& out) {
  const Model& model = system.model();
  const Evaluation e = evaluation_at(system, state, work);
  out.assign(model.bodies().size(), {});
  for (const auto& batch : model.batches) {
    // Frames behind those that it acts on are only looked at by its expressions.
    const int frames = batch->coupling().frames, acting_frames = std::min(frames, batch->acting_frames());
    for (int k = 0; k < batch->size(); ++k)
      for (int f = 0; f < acting_frames; ++f) {
        const Frame& frame = model.frames[at(batch->frames[at(k * frames + f)])];
        if (frame.node < 0 || model.bodies()[at(frame.node)].type == NodeType::State) continue;
        const Vec6 W = batch->wrench_on(e, k, f);
        const Vec3 p = FrameView(frame, e.constants, e.nodes, e.motions).motion().p;
        const double force = W.head<3>().norm();
        Acting& acting = out[at(frame.node)];
        acting.force += force;
        acting.torque += W.tail<3>().norm() + (p - work.motions[at(frame.node)].p).norm() * force;
      }
  }
}

std::vector<bool> rows_of_angles(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  std::vector<bool> out(at(model.rows), true);
  std::vector<double> blocks;
  system.body_constraint_matrices(state, work, blocks);
  const double* block = blocks.data();
  for (const auto& batch : model.batches) {
    const int rows = batch->coupling().rows;
    for (int i = 0; rows > 0 && i < static_cast<int>(batch->frames.size()); ++i, block += 6 * rows) {
      const int element = i / batch->coupling().frames;
      if (node_of_frame(model, *batch, element, i % batch->coupling().frames) < 0) continue;
      for (int r = 0; r < rows; ++r)
        if (block[r] != 0 || block[rows + r] != 0 || block[2 * rows + r] != 0)
          out[at(batch->first_row + element * rows + r)] = false;
    }
  }
  return out;
}

void NaturalScales::Scale::include(const Scale& other) {
  force = std::max(force, other.force);
  torque = std::max(torque, other.torque);
  acceleration = std::max(acceleration, other.acceleration);
  turning = std::max(turning, other.turning);
}

NaturalScales::NaturalScales(const System& system, const State& state, Work& work)
    : model_(&system.model()),
      parts_(subsystems(system, work)),
      inertia_(model_->bodies().size()),
      of_body_(inertia_.size()),
      a_(inertia_.size()),
      largest_(parts_.length.size()),
      farthest_(parts_.length),
      behind_(model_->tree ? model_->tree->links.size() : 0),
      place_(behind_.size()),
      forces_(at(model_->nv)),
      accelerations_(forces_),
      rows_(at(model_->rows)) {
  set_inertia(system, state, work);
  share_along_beams(work);
  set_joints(system, state, work);
}

void NaturalScales::set_inertia(const System& system, const State& state, Work& work) {
  // Below this part of the largest moment of inertia there is only round-off.
  constexpr double kThin = 1e-6;
  const std::vector<Mat6> inertias = body_inertias(system, state, work);
  const std::vector<Node>& bodies = model_->bodies();
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const NodeType type = bodies[b].type;
    if (type == NodeType::State) continue;
    const Mat6& M = inertias[b];
    Inertia& inertia = inertia_[b];
    inertia.mass = std::sqrt(std::max(M.diagonal().head<3>().maxCoeff(), 0.0));
    const Eigen::SelfAdjointEigenSolver<Mat3> eigen(Mat3(M.bottomRightCorner<3, 3>()),
                                                    Eigen::EigenvaluesOnly);
    inertia.widest = std::sqrt(std::max(eigen.eigenvalues()[2], 0.0));
    for (const double moment : eigen.eigenvalues())
      if (moment > kThin * eigen.eigenvalues()[2])
        inertia.turning =
            inertia.turning > 0 ? std::min(inertia.turning, std::sqrt(moment)) : std::sqrt(moment);
    if (model_->tree) continue;
    roots_.resize(at(model_->nv));
    for (int k = 0; k < node_size(type).v; ++k)
      roots_[at(bodies[b].v + k)] = is_displacement(type, k)
                                        ? std::sqrt(std::max(M(component(type, k), component(type, k)), 0.0))
                                        : inertia.turning;
  }
}

void NaturalScales::share_along_beams(Work& work) {
  Unions unions(inertia_.size());
  std::vector<bool> shares(inertia_.size());
  for (std::size_t b = 0; b < model_->batches.size(); ++b) {
    const Batch& batch = *model_->batches[b];
    const Section section = model_->sections[b];
    if (section != Section::Beams && section != Section::Flexible) continue;
    unions.join(*model_, batch);
    const int frames = batch.coupling().frames;
    for (int e = 0; e < batch.size(); ++e) {
      for (int f = 0; f < frames; ++f)
        if (const int body = node_of_frame(*model_, batch, e, f); body >= 0) shares[at(body)] = true;
      if (section != Section::Beams) continue;
      // The torques of a beam are made of forces and the length of its elements, which is more than the radius of gyration of its nodes.
      const int first = node_of_frame(*model_, batch, e, 0),
                last = node_of_frame(*model_, batch, e, frames - 1);
      const double length = (work.motions[at(first)].p - work.motions[at(last)].p).norm();
      for (int f = 0; f < frames; ++f) {
        const int body = node_of_frame(*model_, batch, e, f);
        Inertia& inertia = inertia_[at(body)];
        inertia.turning = std::max(inertia.turning, inertia.mass * length);
        const Node& node = model_->bodies()[at(body)];
        for (int k = 0; k < node_size(node.type).v && !model_->tree; ++k)
          if (!is_displacement(node.type, k)) roots_[at(node.v + k)] = inertia.turning;
      }
    }
  }
  std::vector<std::vector<int>> sets(inertia_.size());
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (shares[i]) sets[at(unions.root(static_cast<int>(i)))].push_back(static_cast<int>(i));
  for (std::vector<int>& set : sets)
    if (set.size() > 1) sharing_.push_back(std::move(set));
}

void NaturalScales::set_joints(const System& system, const State& state, Work& work) {
  angle_ = rows_of_angles(system, state, work);
  const Evaluation evaluation = evaluation_at(system, state, work);
  lever_.assign(forces_.size(), 0);
  for (std::size_t b = 0; b < model_->batches.size(); ++b) {
    const Batch& batch = *model_->batches[b];
    const Coupling c = batch.coupling();
    for (int e = 0; e < batch.size() && c.rows > 0; ++e) {
      Joint joint{batch.first_row + e * c.rows, c.rows, static_cast<int>(joint_bodies_.size()), 0};
      const auto rows = angle_.begin() + joint.first_row;
      const bool holds_angles = std::find(rows, rows + joint.rows, true) != rows + joint.rows;
      for (int f = 0; f < c.frames; ++f) {
        // The modal coordinates of a flexible body, between its frame and the interface, are no accelerations.
        if (model_->sections[b] == Section::Flexible && f > 0 && f + 1 < c.frames) continue;
        const int body = node_of_frame(*model_, batch, e, f);
        if (body < 0) continue;
        const Frame& frame = model_->frames[at(batch.frames[at(e * c.frames + f)])];
        const Motion<double>& m = work.motions[at(body)];
        const Vec3 p =
            FrameView(frame, evaluation.constants, evaluation.nodes, evaluation.motions).motion().p;
        const Vec3 arm = m.R.transpose() * (p - m.p);
        set_levers(model_->bodies()[at(body)], arm, holds_angles);
        const Inertia& inertia = inertia_[at(body)];
        const double swing = inertia.widest > 0 ? arm.norm() * inertia.mass / inertia.widest : 0;
        joint_bodies_.push_back({body, std::max(1.0, swing)});
      }
      joint.bodies = static_cast<int>(joint_bodies_.size()) - joint.first_body;
      joints_.push_back(joint);
    }
  }
}

// The force of a joint makes torques about the axes that it does not meet, and one that holds angles about all of them. In inertial axes the arm changes as the body turns: there
// the inertia alone counts.
void NaturalScales::set_levers(const Node& node, const Vec3& arm, bool holds_angles) {
  if (model_->tree || turns_rotation(node.type)) return;
  for (int k = 0; k < node_size(node.type).v; ++k) {
    if (is_displacement(node.type, k)) continue;
    Vec3 across = arm;
    if (!holds_angles) across[component(node.type, k) - 3] = 0;
    lever_[at(node.v + k)] = std::max(lever_[at(node.v + k)], across.norm());
  }
}

void NaturalScales::update(const Work& work) {
  update_bodies(work);
  if (model_->tree)
    update_tree(work);
  else
    update_nodes();
  for (const Joint& joint : joints_) {
    double acceleration = 0, turning = 0;
    for (int i = joint.first_body; i < joint.first_body + joint.bodies; ++i) {
      const auto& [body, swing] = joint_bodies_[at(i)];
      const Scale& scale = of_body_[at(body)];
      acceleration = std::max(acceleration, swing * scale.acceleration);
      turning = std::max(turning, scale.turning);
    }
    for (int row = joint.first_row; row < joint.first_row + joint.rows; ++row)
      rows_[at(row)] = angle_[at(row)] ? turning : acceleration;
  }
}

void NaturalScales::update_bodies(const Work& work) {
  const double gravity = work.constants->gravity.cwiseAbs().maxCoeff();
  for (std::size_t b = 0; b < a_.size(); ++b) {
    const Motion<double>& m = work.motions[b];
    const Vec3 u = m.V.head<3>(), w = m.V.tail<3>();
    const double acceleration = (m.A.head<3>() + w.cross(u)).cwiseAbs().maxCoeff();
    const double turning = m.A.tail<3>().cwiseAbs().maxCoeff();
    a_[b] = std::max(inertia_[b].mass * std::max(acceleration, gravity), inertia_[b].turning * turning);
  }
  for (const std::vector<int>& set : sharing_) {
    double most = 0;
    for (const int body : set) most = std::max(most, a_[at(body)]);
    for (const int body : set) a_[at(body)] = most;
  }
  std::fill(largest_.begin(), largest_.end(), Scale{});
  farthest_ = parts_.length;
  for (std::size_t b = 0; b < a_.size(); ++b) {
    const int part = parts_.of_body[b];
    if (part < 0) continue;
    const double mass = inertia_[b].mass, turning = inertia_[b].turning;
    of_body_[b] = {mass * a_[b], turning * a_[b], mass > 0 ? a_[b] / mass : 0,
                   turning > 0 ? a_[b] / turning : 0};
    largest_[at(part)].include(of_body_[b]);
    farthest_[at(part)] = std::max(farthest_[at(part)], work.motions[b].p.cwiseAbs().maxCoeff());
  }
  for (std::size_t i = 0; i < largest_.size(); ++i) {
    const double length = parts_.length[i];
    Scale& all = largest_[i];
    all.torque = std::max(all.torque, length * all.force);
    if (length > 0) all.turning = std::max(all.turning, all.acceleration / length);
  }
  for (std::size_t b = 0; b < a_.size(); ++b) {
    const int part = parts_.of_body[b];
    if (part < 0) continue;
    const Scale& all = largest_[at(part)];
    if (inertia_[b].mass == 0) of_body_[b].force = all.force, of_body_[b].acceleration = all.acceleration;
    if (inertia_[b].turning == 0) of_body_[b].torque = all.torque, of_body_[b].turning = all.turning;
  }
}

void NaturalScales::update_nodes() {
  const std::vector<Node>& nodes = model_->nodes;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (parts_.of_node[n] < 0) continue;
    const Scale& scale = of_body_[n];
    for (int k = 0; k < node_size(nodes[n].type).v; ++k) {
      const std::size_t i = at(nodes[n].v + k);
      const bool place = is_displacement(nodes[n].type, k);
      const double root = roots_[i];
      forces_[i] = root > 0 ? std::max(root * a_[n], lever_[i] * scale.force)
                   : place  ? scale.force
                            : scale.torque;
      accelerations_[i] = root > 0 ? a_[n] / root : place ? scale.acceleration : scale.turning;
    }
  }
}

// The equation of a joint is the sum of what all bodies behind it need: forces carry over, and make torques with the distance.
void NaturalScales::update_tree(const Work& work) {
  const Tree& tree = *model_->tree;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const int body = tree.links[i].body;
    behind_[i] = body >= 0 ? of_body_[at(body)] : Scale{};
    if (body >= 0) place_[i] = work.motions[at(body)].p;
  }
  for (std::size_t i = tree.links.size(); i-- > 0;) {
    const Link& link = tree.links[i];
    const Scale& own = behind_[i];
    if (link.parent >= 0) {
      // A link between the coordinates of a joint is where the body behind it is.
      if (tree.links[at(link.parent)].body < 0) place_[at(link.parent)] = place_[i];
      const double distance = (place_[i] - place_[at(link.parent)]).norm();
      behind_[at(link.parent)].include(
          {own.force, own.torque + distance * own.force, own.acceleration, own.turning});
    }
    if (link.node < 0) continue;
    const Node& node = model_->nodes[at(link.node)];
    for (int k = 0; k < node_size(node.type).v; ++k) {
      const bool place = is_displacement(node.type, k);
      double lever = 0;  // of the body about the joint
      if (!place && link.constants >= 0)
        lever =
            Eigen::Map<const Vec3>(work.constants->data.data() + link.constants + kLinkConstants - 18 + 6 * k)
                .norm();
      forces_[at(node.v + k)] = place ? own.force : own.torque + lever * own.force;
      accelerations_[at(node.v + k)] = place ? own.acceleration : own.turning;
    }
  }
}

}  // namespace liedyn
