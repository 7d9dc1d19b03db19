// The stage relation of model/nodes/stage.h with derivatives, for Lie nodes, in terms of the increment d of q that is solved for:
//
//   theta = log(q_ref^-1 q),   (c_1 T + c_2 c_v) vdot = theta - T Theta - c_2 V - w,   v = V + c_v vdot
//
// first with q held fast, where W_ref, the increment of q_ref, leaves  theta' = -T^-1(-theta) W_ref  (from
// T(theta) theta' + Ad(exp(-theta)) W_ref = 0, and T(-theta) = Ad(exp(theta)) T(theta)), then with q moved by d = W_{n+1} of the
// sensitivity paper:  theta' += T^-1(theta) d,  vdot' += E d.  Geometry is constant while q is, so that little has to be differentiated.
#pragma once

#include "liedyn/base/varied.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {

// A node's numbers in a stage: their values, and those that carry derivatives.
struct VariedNodeStage {
  NodeStage values;
  const Varied* q_ref;
  const Varied* Theta;
  const Varied* V;
  const Varied* drift;  // may be null
  Varied* theta;        // null: not wanted
  Varied* q;
  Varied* v;
  Varied* vdot;
};

// Derivatives while q stays: q becomes constant, theta, v and vdot follow q_ref, Theta, V and the drift.
void hold_position(NodeType type, const Stage& stage, const VariedNodeStage& node);
// And those that an increment d of q adds; E: the map of evaluate_stage_tangent() at the values.
void move_position(NodeType type, const Stage& stage, const double* E, const Varied* d,
                   const VariedNodeStage& node);

}  // namespace liedyn
