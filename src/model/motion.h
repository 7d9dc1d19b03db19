// How a frame stands and moves. Everything that elements see of the mechanics is here, in the frame's own body axes:
// twists and accelerations are (translation, rotation), and so are wrenches.
#pragma once

#include "liedyn/base/matrix.h"

namespace liedyn {

// Orientation R (body to inertial) and place p (inertial).
template <class S>
struct Pose {
  Mat3T<S> R = Mat3T<S>::Identity();
  Vec3T<S> p = Vec3T<S>::Zero();
};

// V: body twist, (R^T pdot, Omega). A: time derivative of its components, (d/dt R^T pdot, Omega dot).
template <class S>
struct Motion : Pose<S> {
  Vec6T<S> V = Vec6T<S>::Zero();
  Vec6T<S> A = Vec6T<S>::Zero();

  Vec3T<S> velocity() const { return this->R * V.template head<3>(); }  // inertial
  // pddot = R (d/dt (R^T pdot) + Omega x R^T pdot)
  Vec3T<S> acceleration() const {
    const Vec3T<S> u = V.template head<3>(), w = V.template tail<3>();
    return this->R * (A.template head<3>() + w.cross(u));
  }
};

// Moves a pose by a body increment (u, w), right to first order: what dual numbers need, one level at a time.
template <class S, class Increment>
Pose<S> perturbed(const Pose<S>& pose, const Increment& d) {
  const Vec3T<S> u = d.template head<3>(), w = d.template tail<3>();
  return {pose.R + pose.R * skew(w), pose.p + pose.R * u};
}

// A frame fixed to a node: displaced by `rho` (in the node's axes) and turned by `Q` (frame axes to node axes).
template <class S>
struct Offset {
  Vec3T<S> rho = Vec3T<S>::Zero();
  Mat3T<S> Q = Mat3T<S>::Identity();

  // V_frame = L V_node with the constant L = [Q^T, -Q^T rho~; 0, Q^T]; accelerations and increments alike.
  Vec6T<S> twist(const Vec6T<S>& V) const {
    const Vec3T<S> w = V.template tail<3>();
    Vec6T<S> out;
    out.template head<3>() = Q.transpose() * (V.template head<3>() + w.cross(rho));
    out.template tail<3>() = Q.transpose() * w;
    return out;
  }
  // W_node = L^T W_frame
  Vec6T<S> wrench(const Vec6T<S>& W) const {
    const Vec3T<S> force = Q * W.template head<3>();
    Vec6T<S> out;
    out.template head<3>() = force;
    out.template tail<3>() = Q * W.template tail<3>() + rho.cross(force);
    return out;
  }
  Pose<S> pose(const Pose<S>& node) const { return {node.R * Q, node.p + node.R * rho}; }
  Motion<S> motion(const Motion<S>& node) const {
    Motion<S> out;
    static_cast<Pose<S>&>(out) = pose(node);
    out.V = twist(node.V);
    out.A = twist(node.A);
    return out;
  }
};

}  // namespace liedyn
