#include "liedyn/model/tree.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

#include "liedyn/base/decompositions.h"
#include "liedyn/base/index.h"
#include "liedyn/lie/se3.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {
namespace {

int freedom(std::span<const LinkKind> motions) {
  int out = 0;
  for (const LinkKind kind : motions) out += kind == LinkKind::Weld ? 0 : kind == LinkKind::Rotation ? 3 : 1;
  return out;
}

// X_1^-1 X_2
template <class S>
Pose<S> relative(const Pose<S>& from, const Pose<S>& to) {
  return {from.R.transpose() * to.R, from.R.transpose() * (to.p - from.p)};
}

template <class S>
void store(const Pose<S>& pose, S* out) {
  Eigen::Map<Mat3T<S>>{out} = pose.R;
  Eigen::Map<Vec3T<S>>{out + 9} = pose.p;
}

// The link's frame relative to its parent's: joint frame, motion, link frame.
template <class S>
Offset<S> relative_pose(LinkKind kind, const S* constants, const S* q) {
  const Eigen::Map<const Mat3T<S>> R_joint(constants), R_link(constants + 12);
  const Eigen::Map<const Vec3T<S>> p_joint(constants + 9), p_link(constants + 21);
  Offset<S> out;
  switch (kind) {
    case LinkKind::Turn: {
      const Mat3T<S> R = turn_in_plane(q[0]);
      out.Q = R_joint * (R * R_link);
      out.rho = p_joint + R_joint * (R * p_link);
      break;
    }
    case LinkKind::Rotation: {
      const Mat3T<S> R = rotation_of(q).R();
      out.Q = R_joint * (R * R_link);
      out.rho = p_joint + R_joint * (R * p_link);
      break;
    }
    case LinkKind::Slide:
      out.Q = R_joint * R_link;
      out.rho = p_joint + R_joint * (p_link + Vec3T<S>(S(0), S(0), q[0]));
      break;
    default:
      out.Q = R_joint * R_link;
      out.rho = p_joint + R_joint * p_link;
      break;
  }
  return out;
}

// The links of a joint, from the parent body outwards.
std::vector<const Link*> chain_to(const Tree& tree, const Link& last) {
  std::vector<const Link*> chain(at(last.step + 1));
  const Link* link = &last;
  for (int step = last.step; step >= 0; --step) {
    chain[at(step)] = link;
    if (link->parent >= 0) link = &tree.links[at(link->parent)];
  }
  return chain;
}

}  // namespace

Tree spanning_tree(int bodies, const std::vector<bool>& roots, int joints,
                   const std::vector<TreeJoint>& candidates) {
  Tree tree;
  tree.of_body.assign(at(bodies), -1);
  tree.of_joint.assign(at(joints), -1);
  std::vector<std::vector<int>> on(at(bodies + 1));  // candidates on ground and on each body
  for (std::size_t i = 0; i < candidates.size(); ++i)
    for (const int body : candidates[i].bodies) on[at(body + 1)].push_back(static_cast<int>(i));

  // Joints that lead out of what is connected so far: many rows, then short paths, then the order of the model.
  using Exit = std::tuple<int, int, int>;  // free directions, depth, candidate
  std::priority_queue<Exit, std::vector<Exit>, std::greater<>> exits;
  std::vector<int> depth(at(bodies + 1), 0);
  const auto connect = [&](int body) {
    for (const int i : on[at(body + 1)])
      exits.emplace(freedom(candidates[at(i)].motions), depth[at(body + 1)], i);
  };
  const auto add_root = [&](int body) {
    tree.of_body[at(body)] = static_cast<int>(tree.links.size());
    tree.links.push_back({.body = body});
    connect(body);
  };
  const auto connected = [&](int body) { return body < 0 || tree.of_body[at(body)] >= 0; };
  const auto grow = [&] {
    while (!exits.empty()) {
      const TreeJoint& joint = candidates[at(std::get<2>(exits.top()))];
      exits.pop();
      const int inner = connected(joint.bodies[0]) ? 0 : 1;
      const int from = joint.bodies[inner], to = joint.bodies[1 - inner];
      if (connected(to)) continue;
      int parent = from < 0 ? -1 : tree.of_body[at(from)];
      const int count = static_cast<int>(joint.motions.size());
      for (int step = 0; step < count; ++step) {
        tree.links.push_back({.kind = joint.motions[at(step)],
                              .parent = parent,
                              .body = step + 1 == count ? to : -1,
                              .joint = joint.entry,
                              .step = step});
        parent = static_cast<int>(tree.links.size()) - 1;
      }
      tree.of_body[at(to)] = tree.of_joint[at(joint.entry)] = parent;
      depth[at(to + 1)] = depth[at(from + 1)] + 1;
      connect(to);
    }
  };
  for (int body = 0; body < bodies; ++body)
    if (roots[at(body)]) add_root(body);
  connect(-1);
  grow();
  for (int body = 0; body < bodies; ++body) {
    if (connected(body)) continue;
    add_root(body);
    grow();
  }

  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    tree.path.push_back(link.parent < 0 ? std::vector<int>() : tree.path[at(link.parent)]);
    if (link.kind != LinkKind::Weld) tree.path.back().push_back(static_cast<int>(i));
  }
  tree.bodies.assign(at(bodies), {NodeType::SE3, 0, 0, 0, -1});
  return tree;
}

template <class S>
JointFrames<S> joint_frames(const TreeForm& joint, const Pose<S>* ends, const S* p, bool backwards) {
  JointFrames<S> out;
  joint.motion_frames(ends, p, out.motion);
  if (backwards && joint.carried_by_bodies) std::reverse(out.motion, out.motion + joint.motions.size());
  return out;
}
template JointFrames<double> joint_frames(const TreeForm&, const Pose<double>*, const double*, bool);
template JointFrames<Varied> joint_frames(const TreeForm&, const Pose<Varied>*, const Varied*, bool);

template <class S>
void close_joint(const TreeForm& joint, const S* p, int outer, Pose<S>* ends, Pose<S>& body) {
  Pose<S> frame[2];
  joint.body_frames(ends, p, frame);
  // X = F_inner F_outer^-1
  const Pose<S>&from = frame[outer], &to = frame[1 - outer];
  const Mat3T<S> R = to.R * from.R.transpose();
  const auto moved = [&](const Pose<S>& pose) { return Pose<S>{R * pose.R, to.p + R * (pose.p - from.p)}; };
  body = moved(body);
  ends[outer] = moved(ends[outer]);
}
template void close_joint(const TreeForm&, const double*, int, Pose<double>*, Pose<double>&);
template void close_joint(const TreeForm&, const Varied*, int, Pose<Varied>*, Pose<Varied>&);

template <class Scalar>
void derive_link(const Link& link, const Pose<Scalar>& parent, const Pose<Scalar>& own,
                 const JointFrames<Scalar>& joint, Scalar* constants) {
  const Pose<Scalar>& here = joint.motion[link.step];
  const Pose<Scalar> inner = link.step > 0 ? joint.motion[link.step - 1] : parent;
  const Pose<Scalar> frame = relative(here, link.body < 0 ? here : own);
  store(relative(inner, here), constants);
  store(frame, constants + 12);
  // S: the directions of the motion, seen by the link.
  Eigen::Map<Eigen::Matrix<Scalar, 6, 3>> S(constants + 24);
  S.setZero();
  const Offset<Scalar> offset{frame.p, frame.R};
  const auto direction = [&](int column, int component) {
    S.col(column) = offset.twist(Vec6T<Scalar>::Unit(component));
  };
  if (link.kind == LinkKind::Turn) direction(0, 5);
  if (link.kind == LinkKind::Slide) direction(0, 2);
  if (link.kind == LinkKind::Rotation)
    for (int k = 0; k < 3; ++k) direction(k, 3 + k);
}
template void derive_link(const Link&, const Pose<double>&, const Pose<double>&, const JointFrames<double>&,
                          double*);
template void derive_link(const Link&, const Pose<Varied>&, const Pose<Varied>&, const JointFrames<Varied>&,
                          Varied*);

template <class Scalar>
TreeMotionOf<Scalar>::TreeMotionOf(const Tree& tree, int nv)
    : offset(tree.links.size()),
      motion(tree.links.size()),
      carried_V(tree.links.size(), Vector::Zero()),
      carried_A(tree.links.size(), Vector::Zero()),
      rate(tree.links.size(), Vector::Zero()),
      wrench(tree.links.size(), Vector::Zero()),
      S(at(nv), Vector::Zero()) {}
template struct TreeMotionOf<double>;
template struct TreeMotionOf<Varied>;

template <class S>
void move_links(const Tree& tree, const std::vector<Node>& nodes, const S* constants, const S* q, const S* v,
                const S* vdot, TreeMotionOf<S>& out, Motion<S>* motions) {
  using Vector = Vec6T<S>;
  const Motion<S> ground;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    Motion<S>& m = out.motion[i];
    if (link.kind == LinkKind::Root) {
      const Node& node = nodes[at(link.node)];
      m = node_motion(node.type, q + node.q, v + node.v, vdot + node.v);
      // The columns of H.
      for (int k = 0; k < node_size(node.type).v; ++k) {
        const int component = components(node.type)[k];
        Vector& column = out.S[at(node.v + k)];
        column = Vector::Unit(component);
        if (component < 3 && turns_translation(node.type))
          column.template head<3>() = m.R.row(component).transpose();
        if (component >= 3 && turns_rotation(node.type))
          column.template tail<3>() = m.R.row(component - 3).transpose();
      }
    } else {
      const Motion<S>& parent = link.parent < 0 ? ground : out.motion[at(link.parent)];
      const S* own = constants + link.constants;
      const Node* node = link.node < 0 ? nullptr : &nodes[at(link.node)];
      out.offset[i] = relative_pose<S>(link.kind, own, node != nullptr ? q + node->q : nullptr);
      m = out.offset[i].motion(parent);
      out.carried_V[i] = m.V;
      out.carried_A[i] = m.A;
      if (node != nullptr) {
        Vector rate = Vector::Zero(), second = Vector::Zero();
        for (int k = 0; k < node_size(node->type).v; ++k) {
          const Vector direction = Eigen::Map<const Vector>(own + 24 + 6 * k);
          out.S[at(node->v + k)] = direction;
          rate += v[node->v + k] * direction;
          second += vdot[node->v + k] * direction;
        }
        out.rate[i] = rate;
        m.V += rate;
        m.A += second + bracket<S>(m.V, rate);
      }
    }
    if (link.body >= 0) motions[link.body] = m;
  }
}
template void move_links(const Tree&, const std::vector<Node>&, const double*, const double*, const double*,
                         const double*, TreeMotionOf<double>&, Motion<double>*);
template void move_links(const Tree&, const std::vector<Node>&, const Varied*, const Varied*, const Varied*,
                         const Varied*, TreeMotionOf<Varied>&, Motion<Varied>*);

template <class S>
void gather_wrenches(const Tree& tree, const Vec6T<S>* wrench, TreeMotionOf<S>& out) {
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const int body = tree.links[i].body;
    if (body >= 0)
      out.wrench[i] = wrench[body];
    else
      out.wrench[i].setZero();
  }
  for (std::size_t i = tree.links.size(); i-- > 0;)
    if (tree.links[i].parent >= 0)
      out.wrench[at(tree.links[i].parent)] += out.offset[i].wrench(out.wrench[i]);
}
template void gather_wrenches(const Tree&, const Vec6T<double>*, TreeMotionOf<double>&);
template void gather_wrenches(const Tree&, const Vec6T<Varied>*, TreeMotionOf<Varied>&);

double find_coordinates(const Tree& tree, const std::vector<Node>& nodes, const double* constants,
                        const std::vector<Motion<double>>& bodies, double* q, double* v) {
  constexpr int kMaxIterations = 50;
  double forbidden = 0;
  for (const Link& last : tree.links) {
    if (last.body < 0 || last.kind == LinkKind::Root) continue;
    const std::vector<const Link*> chain = chain_to(tree, last);
    const int parent = chain[0]->parent;
    const Motion<double> from = parent < 0 ? Motion<double>() : bodies[at(tree.links[at(parent)].body)];
    const Motion<double>& to = bodies[at(last.body)];
    const Pose<double> wanted = relative<double>(from, to);

    // Gauss-Newton: the increment that best removes log(g^-1 g_wanted).
    Eigen::Matrix<double, 6, Eigen::Dynamic> J;
    const auto evaluate = [&] {
      Pose<double> g;
      std::vector<Vec6> columns;
      for (const Link* step : chain) {
        const Node* node = step->node < 0 ? nullptr : &nodes[at(step->node)];
        const Offset<double> offset =
            relative_pose(step->kind, constants + step->constants, node != nullptr ? q + node->q : nullptr);
        g = offset.pose(g);
        for (Vec6& column : columns) column = offset.twist(column);
        for (int k = 0; node != nullptr && k < node_size(node->type).v; ++k)
          columns.emplace_back(Eigen::Map<const Vec6>(constants + step->constants + 24 + 6 * k));
      }
      J.resize(6, static_cast<Eigen::Index>(columns.size()));
      for (std::size_t k = 0; k < columns.size(); ++k) J.col(static_cast<Eigen::Index>(k)) = columns[k];
      const Pose<double> rest = relative(g, wanted);
      return SE3<double>(rest.p, SO3<double>::from_matrix(rest.R)).log();
    };
    Vec6 error = evaluate();
    for (int i = 0; i < kMaxIterations && J.cols() > 0; ++i) {
      const Eigen::VectorXd d = J.colPivHouseholderQr().solve(error);
      if (d.cwiseAbs().maxCoeff() < 1e-15) break;
      int next = 0;
      for (const Link* step : chain) {
        if (step->node < 0) continue;
        const Node& node = nodes[at(step->node)];
        increment_position(node.type, d.data() + next, q + node.q);
        next += node_size(node.type).v;
      }
      error = evaluate();
    }
    forbidden = std::max(forbidden, error.cwiseAbs().maxCoeff());

    const Vec6 twist = to.V - Offset<double>{wanted.p, wanted.R}.twist(from.V);
    Vec6 left = twist;
    if (J.cols() > 0) {
      const Eigen::VectorXd rates = J.colPivHouseholderQr().solve(twist);
      left -= J * rates;
      int next = 0;
      for (const Link* step : chain) {
        if (step->node < 0) continue;
        const Node& node = nodes[at(step->node)];
        for (int k = 0; k < node_size(node.type).v; ++k) v[node.v + k] = rates[next++];
      }
    }
    forbidden = std::max(forbidden, left.cwiseAbs().maxCoeff());
  }
  return forbidden;
}

// With the columns J of the joint's motions, J dq = d log(g^-1 g_wanted) and J dv = d(twist) - dJ v, both met exactly where the joint holds.
void vary_coordinates(const Tree& tree, const std::vector<Node>& nodes, const Varied* constants,
                      const std::vector<Motion<Varied>>& bodies, Varied* q, Varied* v) {
  using Vector = Vec6T<Varied>;
  for (const Link& last : tree.links) {
    if (last.body < 0 || last.kind == LinkKind::Root) continue;
    const std::vector<const Link*> chain = chain_to(tree, last);
    const int parent = chain[0]->parent;
    const Motion<Varied> from = parent < 0 ? Motion<Varied>() : bodies[at(tree.links[at(parent)].body)];
    const Motion<Varied>& to = bodies[at(last.body)];
    const Pose<Varied> wanted = relative<Varied>(from, to);
    Pose<Varied> g;
    std::vector<Vector> columns;
    const auto evaluate = [&] {
      g = Pose<Varied>();
      columns.clear();
      for (const Link* step : chain) {
        const Node* node = step->node < 0 ? nullptr : &nodes[at(step->node)];
        const Offset<Varied> offset = relative_pose<Varied>(step->kind, constants + step->constants,
                                                            node != nullptr ? q + node->q : nullptr);
        g = offset.pose(g);
        for (Vector& column : columns) column = offset.twist(column);
        for (int k = 0; node != nullptr && k < node_size(node->type).v; ++k)
          columns.emplace_back(Eigen::Map<const Vector>(constants + step->constants + 24 + 6 * k));
      }
    };
    const auto for_each_velocity = [&](const auto& visit) {
      int next = 0;
      for (const Link* step : chain)
        for (int k = 0; step->node >= 0 && k < node_size(nodes[at(step->node)].type).v; ++k)
          visit(nodes[at(step->node)], k, next++);
    };
    evaluate();
    if (columns.empty()) continue;
    Eigen::MatrixXd J(6, static_cast<Eigen::Index>(columns.size()));
    for (std::size_t k = 0; k < columns.size(); ++k)
      for (int row = 0; row < 6; ++row) J(row, static_cast<Eigen::Index>(k)) = columns[k][row].v;
    const Eigen::MatrixXd inverse = J.completeOrthogonalDecomposition().pseudoInverse().transpose();

    const Pose<Varied> rest = relative(g, wanted);
    const Vector error = SE3<Varied>(rest.p, SO3<Varied>::from_matrix(rest.R)).log();
    std::vector<Varied> increment(columns.size());
    for (std::size_t k = 0; k < columns.size(); ++k)
      increment[k] = linear_combination(0, inverse.col(static_cast<Eigen::Index>(k)), error, 6);
    for_each_velocity([&](const Node& node, int k, int next) {
      if (k == 0) increment_position<Varied>(node.type, increment.data() + next, q + node.q);
    });

    evaluate();
    Vector left = to.V - Offset<Varied>{wanted.p, wanted.R}.twist(from.V);
    for_each_velocity([&](const Node& node, int k, int next) {
      v[node.v + k] = Varied(v[node.v + k].v);
      left -= v[node.v + k] * columns[at(next)];
    });
    for_each_velocity([&](const Node& node, int k, int next) {
      v[node.v + k] = linear_combination(v[node.v + k].v, inverse.col(next), left, 6);
    });
  }
}

TreeJoints::TreeJoints(std::unique_ptr<Batch> of) : joints_(std::move(of)) {
  const int frames_of_element = joints_->coupling().frames;
  facts_ = {.coupling = {.frames = frames_of_element, .diagonal = false},
            .acting_frames = frames_of_element,
            .constants = joints_->constants_per_element(),
            .angles = joints_->angles_per_element(),
            .attachments = joints_->attachments(),
            .row_names = {}};
}

void TreeJoints::finish(const Tree& tree, const std::vector<Frame>& all_frames) {
  joints_->entries = entries;
  joints_->frames = frames;
  joints_->first_constant = first_constant;
  joints_->first_angle = first_angle;
  outer_.clear();
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const int behind = tree.links[at(tree.of_joint[at(entries[e])])].body;
    outer_.push_back(all_frames[at(frames[2 * e])].node == behind ? 0 : 1);
  }
}

// -f on the body behind the joint, and the opposite on the other.
template <class S>
Vec6T<S> TreeJoints::wrench_of(const EvaluationOf<S>& e, int element, int i) const {
  const auto view = [&](int k) {
    return FrameViewOf<S>(e.frames[frames[at(2 * element + k)]], e.constants, e.nodes, e.motions);
  };
  const int outer = outer_[at(element)];
  const FrameViewOf<S> behind = view(outer);
  const Motion<S>& body = behind.node_motion();
  const Vec6T<S>& f = e.wrench[behind.node()];
  const double sign = i == outer ? -1 : 1;
  const Vec3T<S> force = sign * (body.R * f.template head<3>()),
                 torque = sign * (body.R * f.template tail<3>());
  const Motion<S> frame = view(i).motion();
  Vec6T<S> out;
  out << frame.R.transpose() * force, frame.R.transpose() * (torque + (body.p - frame.p).cross(force));
  return out;
}
template Vec6 TreeJoints::wrench_of(const Evaluation&, int, int) const;
template Vec6T<Varied> TreeJoints::wrench_of(const VariedEvaluation&, int, int) const;

}  // namespace liedyn
