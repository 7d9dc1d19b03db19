// Stages in parameter space: generalised-alpha and its relatives applied to rotation parameters y and their rates, as in a
// vector space,
//
//   y' = V + c_v y'',   y - y_ref = theta = Theta + (c_1 + c_2 c_v) y'' + c_2 V - w,
//   omega = G(y) y',    omega' = G(y) y'' + dG(y, y') y'.
//
// The parameters are
//   - Euler parameters or Cardan angles in the large, of the conventional formulations; or
//   - local coordinates of a Lie group that start at 0 in every step (the linear and the residual form of Brüls and Eberhard,
//     Algorithms 2 and 3), with T in the place of G; or
//   - Cardan angles with body velocities, theta = Theta + G^-1(y) (c_2 v - w): the stage relation of stage.h with c_1 = 0; or
//   - local coordinates with velocities, the same relation with T^-1: that of stage.h on any chart.
//
// To the corrector all of them are nodes whose unknown is an increment d of the pose in the node's own axes, as on the
// group. What differs is how velocities and accelerations follow it: dv = c_v E' d, dvdot = E d. Both come from dual numbers.
//
// The unit length of Euler parameters needs neither an unknown nor a multiplier of its own. Every force enters their equations as
// G^T tau, and G p = 0: the component of the equations along p says that the multiplier is zero, the others that tau = 0. What is
// left, the length of p, follows in closed form from its direction (UnitLength).
#pragma once

#include <cstdint>

#include "liedyn/model/nodes/increments.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {

// What a stage advances beside the local coordinates of a Lie node: their rates, or the velocities.
enum class LocalForm : std::uint8_t { Rates, Velocities };

// Where |p| = 1 is imposed: as p.p = 1, as p.p' = 0, or both with a multiplier that moves p along p_ref.
enum class UnitLength : std::uint8_t { Position, Velocity, Both };

// The arrays of a stage and of the states at both its ends, from their first elements.
template <class S>
struct ParameterStageOf {
  Stage stage;
  Chart chart = Chart::Exponential;
  LocalForm local_form = LocalForm::Rates;
  UnitLength unit_length = UnitLength::Position;
  const S *q_ref = nullptr, *y_ref = nullptr;
  const S *Theta = nullptr, *V = nullptr, *theta = nullptr;
  const S* drift = nullptr;  // -w in the node's own axes; may be null
  S *q = nullptr, *v = nullptr, *vdot = nullptr;
  S *y = nullptr, *ydot = nullptr, *yddot = nullptr;
};
using ParameterStage = ParameterStageOf<double>;

// Parameters and their rates that belong to q, v, vdot of a node. Lie nodes: y = 0, y' = v, y'' = vdot.
template <class S>
void start_parameters(const Node& node, const S* q, const S* v, const S* vdot, S* y, S* ydot, S* yddot);
// The rates of the local coordinates theta of a Lie node that belong to its v and vdot.
template <class S>
void local_rates(const Node& node, Chart chart, const S* theta, const S* v, const S* vdot, S* ydot, S* yddot);
// The velocity G z of parameter rates z, in the node's own axes; and the rates G^-1 dv of a change of velocity, added.
template <class S>
void velocity_of_rates(const Node& node, const S* y, const S* rates, S* out);
template <class S>
void add_rates_of_velocity(const Node& node, const S* y, const S* dv, S* rates);
// The part of the rates that changes the length of Euler parameters, times `factor`, added. Other nodes: nothing.
template <class S>
void add_radial_rates(const Node& node, const S* y, const S* rates, double factor, S* out);

// Cardan angles with body velocities: rates and second derivatives of the angles.
template <class S>
struct AngleRates {
  Vec3T<S> first, second;
};
template <class S>
AngleRates<S> angle_rates(const Node& node, const S* y, const S* v, const S* vdot);

// q, v, vdot and y, y', y'' of the node from its theta.
template <class S>
void evaluate_parameters(const Node& node, const ParameterStageOf<S>& stage);
// E and E' of the node, node_size().tangent numbers each.
void parameter_tangents(const Node& node, const ParameterStage& stage, double* E, double* E_rate);
// Newton's update: the pose moves by d.
template <class S>
void increment_parameters(const Node& node, Chart chart, const S* d, const S* y_ref, S* theta);

// Changes of vdot, and of v / c_v, with the drift: six padded rows each.
struct DriftResponse {
  Vec6 acceleration, velocity;
};
DriftResponse parameter_drift_response(const Node& node, const ParameterStage& stage, const Vec6& change);

// A geometric quantity A = T a + T' y' from its coordinates a (Eq. (94) of Brüls and Eberhard): what the local coordinates
// of the next step start with.
template <class S>
void carry_over(const Node& node, const ParameterStageOf<S>& stage, const S* a, S* out);

// T^-T(theta) g, added to r: a force covector of the reference configuration seen from theta (Eq. (95)); and its derivative
// with respect to an increment of the pose.
template <class S>
void add_covector(const Node& node, Chart chart, const S* theta, const S* g, S* r);
Mat6 covector_derivative(const Node& node, Chart chart, const double* theta, const double* g);

// |cos phi_2| of Cardan angles, 1 for all other nodes.
template <class S>
double regularity(const Node& node, const S* y);
inline constexpr double kLeastRegularity = 1e-6;

}  // namespace liedyn
