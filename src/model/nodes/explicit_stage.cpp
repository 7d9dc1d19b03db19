#include "model/nodes/explicit_stage.h"

#include <algorithm>

#include "lie/parametrizations.h"
#include "model/nodes/parameter_stage.h"

namespace liedyn {
namespace {

using C3 = Eigen::Map<const Vec3>;
using M3 = Eigen::Map<Vec3>;
using Vec4 = Eigen::Matrix<double, 4, 1>;

// Where the rotation parameters of a conventional node begin; before them stands the place, if it has one.
int turn(const Node& node) { return node.v + rotation_start(node.type); }

// Euler parameters in an array of a stage: the scalar one stands behind the velocities.
Vec4 gather(const Node& node, const double* array) {
  const double* rest = array + turn(node);
  return {array[node.extra], rest[0], rest[1], rest[2]};
}
void scatter(const Node& node, const Vec4& p, double* array) {
  array[node.extra] = p[0];
  M3{array + turn(node)} = p.tail<3>();
}

}  // namespace

void evaluate_explicit(const Node& node, const ExplicitStage& s) {
  const NodeSize size = node_size(node.type);
  std::copy_n(s.q_ref + node.q, size.q, s.q + node.q);
  std::copy_n(s.u + node.v, size.v, s.v + node.v);
  if (!is_conventional(node.type)) {
    move_by(node.type, s.chart, s.theta + node.v, s.q + node.q);
    return;
  }
  const int i = turn(node);
  for (int k = 0; k < i - node.v; ++k) s.q[node.q + k] += s.theta[node.v + k];
  std::copy_n(s.u + node.v, size.v, s.ydot + node.v);
  if (has_euler_parameters(node.type)) {
    const Vec4 p = gather(node, s.y_ref) + gather(node, s.theta), rates = gather(node, s.u);
    scatter(node, p, s.y);
    scatter(node, rates, s.ydot);
    store_rotation(EulerParameters<double>::rotation(p), s.q + node.q);
    M3{s.v + i} = EulerParameters<double>::G(p) * rates / p.squaredNorm();
    return;
  }
  const Vec3 angles = C3(s.y_ref + i) + C3(s.theta + i);
  M3{s.y + i} = angles;
  store_rotation(CardanAngles<double>::rotation(angles), s.q + node.q);
  if (has_cardan_rates(node.type)) M3{s.v + i} = CardanAngles<double>::G(angles) * C3(s.u + i);
}

void explicit_slopes(const Node& node, const ExplicitStage& s, double* slope, double* udot) {
  const int count = node_size(node.type).v;
  std::copy_n(s.vdot + node.v, count, udot + node.v);
  increment_rates(node.type, s.chart, s.theta + node.v, s.u + node.v, slope + node.v);
  if (!is_conventional(node.type)) return;
  const int i = turn(node);
  if (has_euler_parameters(node.type)) {
    const Vec4 p = gather(node, s.y), rates = gather(node, s.ydot);
    const double square = p.squaredNorm();
    const Vec3 along = C3(s.vdot + i) + 2 * p.dot(rates) / square * C3(s.v + i);
    scatter(node, rates, slope);
    scatter(node, EulerParameters<double>::Ginv(p) * along - rates.squaredNorm() / square * p, udot);
  } else if (has_cardan_rates(node.type)) {
    const Vec3 angles = C3(s.y + i), rates = C3(s.ydot + i);
    M3{udot + i} = CardanAngles<double>::Ginv(angles) *
                   (C3(s.vdot + i) - CardanAngles<double>::dG(angles, rates) * rates);
  } else {
    M3{slope + i} = CardanAngles<double>::Ginv(C3(s.y + i)) * C3(s.v + i);
  }
  std::copy_n(udot + node.v, count, s.yddot + node.v);
  if (node.extra >= 0) s.yddot[node.extra] = udot[node.extra];
}

void restore_unit_length(const Node& node, const ExplicitStage& s) {
  if (!has_euler_parameters(node.type)) return;
  const Vec4 p = gather(node, s.y), unit = p.normalized();
  const Vec4 rates = gather(node, s.ydot) / p.norm(), tangential = rates - unit.dot(rates) * unit;
  scatter(node, unit, s.y);
  scatter(node, tangential, s.ydot);
  scatter(node, unit - gather(node, s.y_ref), s.theta);
  scatter(node, tangential, s.u);
}

void add_pose_increment(const Node& node, const ExplicitStage& s, const double* d) {
  if (!is_conventional(node.type)) {
    add_increment(node.type, s.chart, d + node.v, s.theta + node.v);
    return;
  }
  const int i = turn(node);
  for (int k = node.v; k < i; ++k) s.theta[k] += d[k];
  if (has_euler_parameters(node.type))
    scatter(node, gather(node, s.theta) + EulerParameters<double>::Ginv(gather(node, s.y)) * C3(d + i),
            s.theta);
  else
    M3{s.theta + i} += CardanAngles<double>::Ginv(C3(s.y + i)) * C3(d + i);
}

void add_velocity_increment(const Node& node, const ExplicitStage& s, const double* dv) {
  add_rates_of_velocity(node, s.y, dv, s.u);
}

}  // namespace liedyn
