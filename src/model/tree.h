// Minimal coordinates: the bodies of a model as links of a tree, whose coordinates are those of its joints. A spanning tree of
// the graph of joints is chosen once; what closes a loop keeps its constraint rows.
//
// Each link moves relative to its parent by one elementary motion, exp of at most three directions S that are constant in the link's
// own axes; joints with more coordinates have links without a body between. A body that no joint of the tree holds is a root,
// with a node as in absolute coordinates. With g the pose of a link relative to its parent, Ad = Ad(g^-1), all in the link's axes,
//
//   V = Ad V_parent + S v,    A = Ad A_parent + S vdot + [V, S v],    f = W + sum over children Ad_child^T f_child,    r = S^T f
//
// where f is the wrench that the whole subtree needs, and what the joint does not transmit is the residual r of its coordinates.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "liedyn/model/element.h"
#include "liedyn/model/tree_form.h"

namespace liedyn {

struct Link {
  using Kind = LinkKind;
  Kind kind = Kind::Root;
  int parent = -1;     // -1: ground
  int node = -1;       // its coordinates; a weld has none
  int body = -1;       // -1: between the coordinates of a joint
  int joint = -1;      // index among the entries; a root has none
  int step = 0;        // which of the motions of the joint
  int constants = -1;  // index of its geometry in Constants; a root has none
};

// The geometry of a link as numbers: joint frame in the parent's axes (R, p), link frame in the axes of the joint frame (R, p), S.
inline constexpr int kLinkConstants = 12 + 12 + 18;

struct Tree {
  std::vector<Link> links;             // parents first
  std::vector<int> of_body;            // link of each body
  std::vector<int> of_joint;           // link behind each joint of the tree, -1: the joint keeps its rows
  std::vector<std::vector<int>> path;  // per link: the links with coordinates from the root to itself
  std::vector<int> of_node;            // link of each node
  std::vector<Node> bodies;            // what the frames of each body see, a pose on SE3; q is that of a root
};

// A joint as the tree sees it: its index among the entries, its bodies (-1: ground), its motions.
struct TreeJoint {
  int entry;
  int bodies[2];
  std::span<const Link::Kind> motions;
};
// The spanning tree that leaves the fewest unknowns: joints with many rows first. Bodies of `roots` are never held by a joint.
// Nodes and numbers are not given out yet.
Tree spanning_tree(int bodies, const std::vector<bool>& roots, int joints,
                   const std::vector<TreeJoint>& candidates);

// Frames of a joint's motions in the initial configuration, inertial axes. `ends` are the joint's own frames on its two bodies there, `p` its numbers;
// `backwards`: the tree leads from the second body to the first.
template <class S>
struct JointFrames {
  Pose<S> motion[kMostTreeMotions];
};
template <class S>
JointFrames<S> joint_frames(const TreeForm& joint, const Pose<S>* ends, const S* p, bool backwards);
// Moves the body behind a joint, which has its end `outer` of the two, to where the frames of the joint on both bodies coincide
// (TreeForm::body_frames).
template <class S>
void close_joint(const TreeForm& joint, const S* p, int outer, Pose<S>* ends, Pose<S>& body);
// The geometry of a link, from the initial poses of its body and of the body before it.
template <class S>
void derive_link(const Link& link, const Pose<S>& parent, const Pose<S>& own, const JointFrames<S>& joint,
                 S* constants);

// How all links stand and move, and what they need. Filled by the recursions below; Tree::links.size() of each.
template <class Scalar>
struct TreeMotionOf {
  TreeMotionOf(const Tree& tree, int nv);

  using Vector = Vec6T<Scalar>;
  std::vector<Offset<Scalar>> offset;  // relative to the parent
  std::vector<Motion<Scalar>> motion;
  std::vector<Vector> carried_V, carried_A;  // Ad V_parent, Ad A_parent
  std::vector<Vector> rate;                  // S v
  std::vector<Vector> wrench;                // f
  std::vector<Vector> S;                     // per velocity, in the axes of its link
};
using TreeMotion = TreeMotionOf<double>;

// From the roots outwards: poses, twists and accelerations. `motions` receives those of the bodies.
template <class S>
void move_links(const Tree& tree, const std::vector<Node>& nodes, const S* constants, const S* q, const S* v,
                const S* vdot, TreeMotionOf<S>& at, Motion<S>* motions);
// Back to the roots: f from the wrenches W of the bodies.
template <class S>
void gather_wrenches(const Tree& tree, const Vec6T<S>* wrench, TreeMotionOf<S>& at);

// Coordinates and their rates that give the bodies' poses and twists. Returns the largest part of a relative pose or twist that the
// joints of the tree forbid.
double find_coordinates(const Tree& tree, const std::vector<Node>& nodes, const double* constants,
                        const std::vector<Motion<double>>& bodies, double* q, double* v);
// The derivatives of q and v, whose values are those that find_coordinates has found.
void vary_coordinates(const Tree& tree, const std::vector<Node>& nodes, const Varied* constants,
                      const std::vector<Motion<Varied>>& bodies, Varied* q, Varied* v);

// [X, Y] of twists.
template <class S>
Vec6T<S> bracket(const Vec6T<S>& X, const Vec6T<S>& Y) {
  const Vec3T<S> u = X.template head<3>(), w = X.template tail<3>();
  Vec6T<S> out;
  out << w.cross(Y.template head<3>()) + u.cross(Y.template tail<3>()), w.cross(Y.template tail<3>());
  return out;
}

// Joints of the tree as elements: without rows, for sensors and for forces that look at their coordinates. Their reactions are what
// balances the subtree, -f: Evaluation::wrench holds f of the bodies when they are asked.
class TreeJoints : public ForBothScalars<TreeJoints> {
 public:
  explicit TreeJoints(std::unique_ptr<Batch> of);
  // Once entries, frames and numbers are known.
  void finish(const Tree& tree, const std::vector<Frame>& all_frames);

  template <class S>
  void derive(const Inputs<S>& in, S* out) const {
    joints_->derive_constants(in, out);
  }
  void check(const Inputs<double>& in, std::string& message, std::string& hint) const override {
    joints_->check(in, message, hint);
  }
  template <class S>
  void add_residual(const EvaluationOf<S>&) const {}
  void jacobian(const Evaluation&, const JacobianTarget&) const override {}
  template <class S>
  Vec6T<S> wrench_of(const EvaluationOf<S>& e, int element, int i) const;
  template <class S>
  AxisMotionOf<S> axis_motion_of(const EvaluationOf<S>& at, int e) const {
    return joints_->axis_motion(at, e);
  }
  void wound_angles(const Evaluation& at, int e, double* out) const override {
    joints_->wound_angles(at, e, out);
  }

 private:
  std::unique_ptr<Batch> joints_;
  std::vector<int> outer_;  // per element: which of its frames is on the body behind it
};

}  // namespace liedyn
