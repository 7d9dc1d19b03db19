// Stages of an explicit method, node by node, in the coordinates (theta, u) that it advances from a reference configuration:
//
//   Lie groups                         q = q_ref exp(theta),  u = v,    theta' = T^-1(theta) v,   u' = vdot
//   Euler parameters, Cardan angles    y = y_ref + theta,     u = y',   theta' = u,               u' = y''
//   Cardan angles, body velocities     y = y_ref + theta,     u = v,    theta' = G^-1(y) v,       u' = vdot
//
// In between Euler parameters p are not of unit length. Their rotation is that of p/|p|, omega = G(p) p'/|p|^2, and
//
//   p'' = G^T (omega' + 2 (p.p')/|p|^2 omega)/4 - (p'.p')/|p|^2 p
//
// is smooth there, keeps p.p = 1, p.p' = 0 where they hold, and does not change when p and p' are scaled alike.
#pragma once

#include "liedyn/model/nodes/increments.h"

namespace liedyn {

// The arrays of a stage, from their first elements. y, y' and y'' are null where no node has parameters.
template <class S>
struct ExplicitStage {
  Chart chart = Chart::Exponential;  // of Lie nodes
  const S *q_ref = nullptr, *y_ref = nullptr;
  S *theta = nullptr, *u = nullptr;
  S *q = nullptr, *v = nullptr, *vdot = nullptr;
  S *y = nullptr, *ydot = nullptr, *yddot = nullptr;
};

// q and v of the node, and y and y' where it has them, from theta and u.
template <class S>
void evaluate_explicit(const Node& node, const ExplicitStage<S>& stage);
// theta' and u', and y'', from what evaluate_explicit left and vdot.
template <class S>
void explicit_slopes(const Node& node, const ExplicitStage<S>& stage, S* slope, S* udot);
// At the end of a step: Euler parameters of unit length and rates along the sphere, in theta, u, y and y'. The rotation and its velocity do not
// change. Other nodes: nothing.
template <class S>
void restore_unit_length(const Node& node, const ExplicitStage<S>& stage);
// theta follows a small increment d of the pose, u a change dv of the velocity, both in the node's own axes.
template <class S>
void add_pose_increment(const Node& node, const ExplicitStage<S>& stage, const S* d);
template <class S>
void add_velocity_increment(const Node& node, const ExplicitStage<S>& stage, const S* dv);

}  // namespace liedyn
