#include "model/tree.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <tuple>

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "lie/se3.h"
#include "model/joints/axis_joint.h"
#include "model/nodes/stage.h"

namespace liedyn {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

using LinkKind = Link::Kind;
using C3 = Eigen::Map<const Vec3>;
using CMat3 = Eigen::Map<const Mat3>;

struct TreeJointKind {
  std::string_view type;
  std::vector<LinkKind> motions;
};
const std::vector<TreeJointKind>& tree_joint_kinds() {
  static const std::vector<TreeJointKind> list = {
      {"revolute", {LinkKind::Turn}},
      {"prismatic", {LinkKind::Slide}},
      {"cylindrical", {LinkKind::Slide, LinkKind::Turn}},
      {"universal", {LinkKind::Turn, LinkKind::Turn}},
      {"planar", {LinkKind::Slide, LinkKind::Slide, LinkKind::Turn}},
      {"spherical", {LinkKind::Rotation}},
      {"fixed", {LinkKind::Weld}},
  };
  return list;
}

int freedom(std::span<const LinkKind> motions) {
  int out = 0;
  for (const LinkKind kind : motions) out += kind == LinkKind::Weld ? 0 : kind == LinkKind::Rotation ? 3 : 1;
  return out;
}

// X_1^-1 X_2
Pose<double> relative(const Pose<double>& from, const Pose<double>& to) {
  return {from.R.transpose() * to.R, from.R.transpose() * (to.p - from.p)};
}

void store(const Pose<double>& pose, double* out) {
  Eigen::Map<Mat3>{out} = pose.R;
  Eigen::Map<Vec3>{out + 9} = pose.p;
}

// The link's frame relative to its parent's: joint frame, motion, link frame.
Offset<double> relative_pose(LinkKind kind, const double* numbers, const double* q) {
  const CMat3 R_joint(numbers), R_link(numbers + 12);
  const C3 p_joint(numbers + 9), p_link(numbers + 21);
  Offset<double> out;
  switch (kind) {
    case LinkKind::Turn: {
      const double c = std::cos(q[0]), s = std::sin(q[0]);
      Mat3 R;
      R << c, -s, 0, s, c, 0, 0, 0, 1;
      out.Q = R_joint * (R * R_link);
      out.rho = p_joint + R_joint * (R * p_link);
      break;
    }
    case LinkKind::Rotation: {
      const Mat3 R = rotation_of(q).R();
      out.Q = R_joint * (R * R_link);
      out.rho = p_joint + R_joint * (R * p_link);
      break;
    }
    case LinkKind::Slide:
      out.Q = R_joint * R_link;
      out.rho = p_joint + R_joint * (p_link + Vec3(0, 0, q[0]));
      break;
    default:
      out.Q = R_joint * R_link;
      out.rho = p_joint + R_joint * p_link;
      break;
  }
  return out;
}

}  // namespace

std::span<const LinkKind> tree_motions(std::string_view joint_type) {
  for (const TreeJointKind& kind : tree_joint_kinds())
    if (kind.type == joint_type) return kind.motions;
  return {};
}

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

JointFrames joint_frames(std::string_view type, const Pose<double>* ends, const double* p) {
  JointFrames out;
  const auto set = [&](int step, const Mat3& axes) { out.motion[step] = {axes, ends[0].p}; };
  if (type == "spherical") {
    set(0, Mat3::Identity());
  } else if (type == "universal") {
    set(0, axes_along<double>(ends[0].R * C3(p)));
    set(1, axes_along<double>(ends[1].R * C3(p + 3)));
  } else {
    const Mat3 A = ends[0].R * JointAxes<double>(p).first;
    for (int step = 0; step < 3; ++step) set(step, A);
    if (type == "planar") {
      // The plane is that of x and y.
      set(0, (Mat3() << A.col(1), A.col(2), A.col(0)).finished());
      set(1, (Mat3() << A.col(2), A.col(0), A.col(1)).finished());
    }
  }
  return out;
}

void derive_link(const Link& link, const Pose<double>& parent, const Pose<double>& own,
                 const JointFrames& joint, double* numbers) {
  const Pose<double>& here = joint.motion[link.step];
  const Pose<double> inner = link.step > 0 ? joint.motion[link.step - 1] : parent;
  const Pose<double> frame = relative(here, link.body < 0 ? here : own);
  store(relative(inner, here), numbers);
  store(frame, numbers + 12);
  // S: the directions of the motion, seen by the link.
  Eigen::Map<Eigen::Matrix<double, 6, 3>> S(numbers + 24);
  S.setZero();
  const Offset<double> offset{frame.p, frame.R};
  const auto direction = [&](int column, int component) {
    S.col(column) = offset.twist(Vec6::Unit(component));
  };
  if (link.kind == LinkKind::Turn) direction(0, 5);
  if (link.kind == LinkKind::Slide) direction(0, 2);
  if (link.kind == LinkKind::Rotation)
    for (int k = 0; k < 3; ++k) direction(k, 3 + k);
}

TreeMotion::TreeMotion(const Tree& tree, int nv)
    : offset(tree.links.size()),
      motion(tree.links.size()),
      carried_V(tree.links.size(), Vec6::Zero()),
      carried_A(tree.links.size(), Vec6::Zero()),
      rate(tree.links.size(), Vec6::Zero()),
      wrench(tree.links.size(), Vec6::Zero()),
      S(at(nv), Vec6::Zero()) {}

void move_links(const Tree& tree, const std::vector<Node>& nodes, const double* numbers, const double* q,
                const double* v, const double* vdot, TreeMotion& out, Motion<double>* motions) {
  const Motion<double> ground;
  for (std::size_t i = 0; i < tree.links.size(); ++i) {
    const Link& link = tree.links[i];
    Motion<double>& m = out.motion[i];
    if (link.kind == LinkKind::Root) {
      const Node& node = nodes[at(link.node)];
      m = node_motion(node.type, q + node.q, v + node.v, vdot + node.v);
      const Mat6 H = node_seeds(node.type, m, nullptr, nullptr, {1, 0, 0}).X;
      for (int k = 0; k < node_size(node.type).v; ++k)
        out.S[at(node.v + k)] = H.col(components(node.type)[k]);
    } else {
      const Motion<double>& parent = link.parent < 0 ? ground : out.motion[at(link.parent)];
      const double* own = numbers + link.numbers;
      const Node* node = link.node < 0 ? nullptr : &nodes[at(link.node)];
      out.offset[i] = relative_pose(link.kind, own, node != nullptr ? q + node->q : nullptr);
      m = out.offset[i].motion(parent);
      out.carried_V[i] = m.V;
      out.carried_A[i] = m.A;
      if (node != nullptr) {
        Vec6 rate = Vec6::Zero(), second = Vec6::Zero();
        for (int k = 0; k < node_size(node->type).v; ++k) {
          const Vec6 S = Eigen::Map<const Vec6>(own + 24 + 6 * k);
          out.S[at(node->v + k)] = S;
          rate += v[node->v + k] * S;
          second += vdot[node->v + k] * S;
        }
        out.rate[i] = rate;
        m.V += rate;
        m.A += second + bracket(m.V, rate);
      }
    }
    if (link.body >= 0) motions[link.body] = m;
  }
}

void gather_wrenches(const Tree& tree, const Vec6* wrench, TreeMotion& out) {
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

double find_coordinates(const Tree& tree, const std::vector<Node>& nodes, const double* numbers,
                        const std::vector<Motion<double>>& bodies, double* q, double* v) {
  constexpr int kMaxIterations = 50;
  double forbidden = 0;
  for (const Link& last : tree.links) {
    if (last.body < 0 || last.kind == LinkKind::Root) continue;
    // The links of the joint, from the parent body outwards.
    std::vector<const Link*> chain(at(last.step + 1));
    const Link* link = &last;
    for (int step = last.step; step >= 0; --step) {
      chain[at(step)] = link;
      if (link->parent >= 0) link = &tree.links[at(link->parent)];
    }
    const int parent = chain[0]->parent;
    const Motion<double> from = parent < 0 ? Motion<double>() : bodies[at(tree.links[at(parent)].body)];
    const Motion<double>& to = bodies[at(last.body)];
    const Pose<double> wanted = relative(from, to);

    // Gauss-Newton: the increment that best removes log(g^-1 g_wanted).
    Eigen::Matrix<double, 6, Eigen::Dynamic> J;
    const auto evaluate = [&] {
      Pose<double> g;
      std::vector<Vec6> columns;
      for (const Link* step : chain) {
        const Node* node = step->node < 0 ? nullptr : &nodes[at(step->node)];
        const Offset<double> offset =
            relative_pose(step->kind, numbers + step->numbers, node != nullptr ? q + node->q : nullptr);
        g = offset.pose(g);
        for (Vec6& column : columns) column = offset.twist(column);
        for (int k = 0; node != nullptr && k < node_size(node->type).v; ++k)
          columns.emplace_back(Eigen::Map<const Vec6>(numbers + step->numbers + 24 + 6 * k));
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

void TreeJoints::finish(const Tree& tree, const std::vector<Frame>& all_frames) {
  joints_->entries = entries;
  joints_->frames = frames;
  joints_->first_number = first_number;
  joints_->first_angle = first_angle;
  outer_.clear();
  for (std::size_t e = 0; e < entries.size(); ++e) {
    const int behind = tree.links[at(tree.of_joint[at(entries[e])])].body;
    outer_.push_back(all_frames[at(frames[2 * e])].node == behind ? 0 : 1);
  }
}

// -f on the body behind the joint, and the opposite on the other.
Vec6 TreeJoints::wrench_on(const Evaluation& e, int element, int i) const {
  const auto view = [&](int k) {
    return FrameView(e.frames[frames[at(2 * element + k)]], e.numbers, e.nodes, e.motions);
  };
  const int outer = outer_[at(element)];
  const FrameView behind = view(outer);
  const Motion<double>& body = behind.node_motion();
  const Vec6& f = e.wrench[behind.node()];
  const double sign = i == outer ? -1 : 1;
  const Vec3 force = sign * (body.R * f.head<3>()), torque = sign * (body.R * f.tail<3>());
  const Motion<double> frame = view(i).motion();
  Vec6 out;
  out << frame.R.transpose() * force, frame.R.transpose() * (torque + (body.p - frame.p).cross(force));
  return out;
}

}  // namespace liedyn
