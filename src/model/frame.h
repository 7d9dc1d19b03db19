// Frames: where joints, forces and sensors attach. A frame depends on a node (or on none: ground) through a constant
// offset, and carries increments, twists and wrenches between the element's side and the node's.
#pragma once

#include <cstdint>

#include "liedyn/lie/so3.h"
#include "liedyn/model/nodes/node.h"

namespace liedyn {

struct Frame {
  std::int32_t node = -1;  // -1: ground, the offset is then the pose itself
  std::int32_t constants =
      -1;  // index of the offset in Constants: rho (3), and the quaternion of Q (4) unless aligned
  bool aligned = true;  // Q = 1
};
inline constexpr int kFrameConstants = 7;

template <class S>
Offset<S> offset_of(const Frame& frame, const S* constants) {
  Offset<S> out;
  if (frame.constants < 0) return out;
  const S* n = constants + frame.constants;
  out.rho = Eigen::Map<const Vec3T<S>>(n);
  if (!frame.aligned) out.Q = SO3<S>::from_coordinates(Eigen::Map<const Eigen::Matrix<S, 4, 1>>(n + 3)).R();
  return out;
}

// A frame as a batch sees it while it works on one element: its motion, and how to get to the node and back.
template <class S>
class FrameViewOf {
 public:
  FrameViewOf(const Frame& frame, const S* constants, const Node* nodes, const Motion<S>* motions)
      : node_(frame.node), at_node_(frame.constants < 0), aligned_(frame.aligned) {
    if (!at_node_) offset_ = offset_of(frame, constants);
    if (node_ < 0) {
      static_cast<Pose<S>&>(motion_) = {offset_.Q, offset_.rho};
      return;
    }
    type_ = nodes[node_].type;
    node_motion_ = &motions[node_];
    if (!at_node_ && !aligned_) {
      motion_ = offset_.motion(*node_motion_);
      return;
    }
    motion_ = *node_motion_;
    if (at_node_) return;
    motion_.p += motion_.R * offset_.rho;
    motion_.V.template head<3>() += motion_.V.template tail<3>().cross(offset_.rho);
    motion_.A.template head<3>() += motion_.A.template tail<3>().cross(offset_.rho);
  }

  bool on_ground() const { return node_ < 0; }
  int node() const { return node_; }
  NodeType type() const { return type_; }
  const Motion<S>& motion() const { return motion_; }
  const Motion<S>& node_motion() const { return *node_motion_; }

  Vec6T<S> wrench_at_node(const Vec6T<S>& W) const {
    if (at_node_) return W;
    if (!aligned_) return offset_.wrench(W);
    Vec6T<S> out = W;
    out.template tail<3>() += offset_.rho.cross(W.template head<3>());
    return out;
  }

  // L X: columns of a node's seeds as seen by the frame.
  void to_frame(Mat6& X) const {
    if (at_node_) return;
    X.topRows<3>() -= skew(offset_.rho) * X.bottomRows<3>();
    if (aligned_) return;
    X.topRows<3>() = (offset_.Q.transpose() * X.topRows<3>()).eval();
    X.bottomRows<3>() = (offset_.Q.transpose() * X.bottomRows<3>()).eval();
  }
  // H^T L^T D: rows of the frame in the node's equations.
  void to_node_rows(Mat6& D) const {
    if (!at_node_) {
      if (!aligned_) {
        D.topRows<3>() = (offset_.Q * D.topRows<3>()).eval();
        D.bottomRows<3>() = (offset_.Q * D.bottomRows<3>()).eval();
      }
      D.bottomRows<3>() += skew(offset_.rho) * D.topRows<3>();
    }
    project_rows(type_, *node_motion_, D);
  }
  // B L H: a constraint's rows with respect to the node's own increment.
  template <int Rows>
  Eigen::Matrix<double, Rows, 6> to_node_columns(Eigen::Matrix<double, Rows, 6> B) const {
    if (!at_node_) {
      if (!aligned_) {
        B.template leftCols<3>() = (B.template leftCols<3>() * offset_.Q.transpose()).eval();
        B.template rightCols<3>() = (B.template rightCols<3>() * offset_.Q.transpose()).eval();
      }
      B.template rightCols<3>() -= B.template leftCols<3>() * skew(offset_.rho);
    }
    project_columns<Rows>(type_, *node_motion_, B);
    return B;
  }

 private:
  int node_;
  NodeType type_ = NodeType::R3xSO3;
  bool at_node_;
  bool aligned_;
  Offset<S> offset_;
  const Motion<S>* node_motion_ = nullptr;
  Motion<S> motion_;
};
using FrameView = FrameViewOf<double>;

}  // namespace liedyn
