// The short way for the elements that most models are made of. On nodes whose velocities are the inertial velocity of a point and the
// angular velocity in body or inertial axes (those of the plane included), rigid bodies and the joints that hold inertial places write their
// equations straight into the node's: no body twist, no chain rule through frames. BatchOf takes this way where it can and the general
// one elsewhere; tests hold the two against each other.
#pragma once

#include "liedyn/base/matrix.h"
#include "liedyn/model/nodes/node.h"

namespace liedyn {

// Nodes in space: (udot, Omega dot), the rotation parameters' formulations, which are R3xSO3 to elements, and (udot, omega dot).
constexpr bool is_direct_in_space(NodeType type) { return turns_translation(type) && !is_planar(type); }
constexpr bool is_direct_in_plane(NodeType type) { return turns_translation(type) && is_planar(type); }

// A node as such elements see it.
template <class S>
struct DirectNodeOf {
  NodeType type;
  const Pose<S>& pose;
  const S* v;
  const S* vdot;
  const double* E;       // see Seeding; null: identity
  const double* E_rate;  // the same
};
using DirectNode = DirectNodeOf<double>;

// Entry (r, c) of a block at values[r + c * stride].
struct DirectBlock {
  double* values;
  int stride;
  double& operator()(int r, int c) const { return values[r + c * stride]; }
  void add(int row, int column, const Mat3& D) const {
    for (int c = 0; c < 3; ++c)
      for (int r = 0; r < 3; ++r) (*this)(row + r, column + c) += D(r, c);
  }
};

// Rows of a joint that depend on the orientations alone: values, derivatives by the body increments of the two, and d(B^T lambda).
template <int N>
struct TurnDerivatives {
  Eigen::Matrix<double, N, 1> phi;
  Eigen::Matrix<double, N, 3> B[2];
  Mat3 G[2][2];
};

}  // namespace liedyn
