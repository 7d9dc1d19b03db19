// The stage relation that every implicit method solves, node by node:
//
//   v = V + c_v vdot,   theta = Theta + c_1 vdot + T^-1(theta) (c_2 v + w),   q = q_ref exp(theta)
//
// with w = -h B(q_n)^T eta in the stabilised index-2 form and 0 otherwise. Generalised-alpha has c_1 = h^2 beta (1 - sigma)
// (1 - alpha_f)/(1 - alpha_m) and c_2 = h sigma beta/gamma; LMS, SS and ESDIRK have c_1 = 0, c_2 = c_v.
//
// theta is the unknown of the corrector: multiplied by T(theta), with T(theta) theta = theta, the relation is linear
// in vdot and is met exactly in every iterate,
//
//   (c_1 T + c_2 c_v) vdot = theta - T Theta - c_2 V - w.                                        (stage)
//
// Arrays called `drift` hold -w, and are null where w = 0.
#pragma once

#include <cstdint>

#include "liedyn/base/varied.h"
#include "liedyn/model/nodes/node.h"

namespace liedyn {

struct Stage {
  double c_1 = 0, c_2 = 0, c_v = 0;
  double rate() const { return 1 / (c_1 + c_2 * c_v); }  // dvdot/dq where T = 1
};

// One node's numbers in a stage: its parts of the arrays of the system.
template <class S>
struct NodeStageOf {
  const S* q_ref;
  const S* Theta;
  const S* V;
  const S* drift;  // may be null
  const S* theta;
  S* q;
  S* v;
  S* vdot;
};
using NodeStage = NodeStageOf<double>;

// q, v and vdot of the node from its theta.
template <class S>
void evaluate_stage(NodeType type, const Stage& s, const NodeStageOf<S>& n);

// The node's map E (node_size().tangent numbers), exact. `simplified` leaves the tangent operator out (the "simplified
// Jacobian" of the sigma paper): a Newton matrix only, never the relation itself.
void evaluate_stage_tangent(NodeType type, const Stage& s, const NodeStage& n, bool simplified, double* E);

// dvdot = (c_1 T + c_2 c_v)^-1 y for a change y of the drift: six padded rows, as in Seeds.
Vec6 stage_drift_response(NodeType type, const Stage& s, const NodeStage& n, const Vec6& y);

// Newton's update: the solution d of the linear system is the increment of q, so theta += T^-1(theta) d.
template <class S>
void increment_theta(NodeType type, const S* d, S* theta);

// The same with the simplified matrix, whose unknown d is the change of vdot divided by rate(): tangent operators are missing
// beside K and B, not beside M. With c_2 = 0 that is the increment of theta itself.
void increment_theta_simplified(NodeType type, const Stage& s, const NodeStage& n, const double* d,
                                double* theta);

// The corrections of Algorithms 1 to 3 of the sigma paper, which do not return to the stage relation:
//   v += gamma' P^-1 (d + w),    vdot += beta' P^-1 (d + w)    with beta' = dvdot/dq, gamma' = c_v beta' at T = 1,
// where d is the increment of q and w = B_n^T (h deta) that of the drift. Algorithms 1 and 3 (sigma = 1, P = 1) move q itself,
// q exp(d); Algorithm 2 moves theta by T^-1(theta) d and takes P^-1 from its expansion (65).
enum class StageUpdate {
  Exact,        // theta is moved; v and vdot follow from (stage)
  Incremental,  // Algorithms 1 and 3
  Expanded,     // Algorithm 2
};

struct NodeUpdate {
  const double* q_ref;
  double* theta;
  double* q;
  double* v;
  double* vdot;
};

// `d` has the increment of q, `drift` (may be null) that of the drift; sigma matters to Expanded only.
void update_stage(NodeType type, const Stage& s, StageUpdate update, double sigma, const double* d,
                  const double* drift, const NodeUpdate& n);

// E of Algorithm 2, beta' P^-1(theta).
void expanded_tangent(NodeType type, const Stage& s, double sigma, const double* theta, double* E);

// [x, y] on the node's own group: what the hat operator of the papers means there.
template <class S>
void add_bracket(NodeType type, const S* x, const S* y, double factor, S* out);

// q = q exp(d) (or exp(d) q), for projections and for differences along the group.
template <class S>
void increment_position(NodeType type, const S* d, S* q);

}  // namespace liedyn
