#include "liedyn/model/nodes/explicit_stage.h"

#include <algorithm>

#include "liedyn/base/varied.h"
#include "liedyn/lie/parametrizations.h"
#include "liedyn/model/nodes/parameter_stage.h"

namespace liedyn {
namespace {

template <class S>
using C3 = Eigen::Map<const Vec3T<S>>;
template <class S>
using M3 = Eigen::Map<Vec3T<S>>;
template <class S>
using Vec4 = Eigen::Matrix<S, 4, 1>;

// Where the rotation parameters of a conventional node begin; before them stands the place, if it has one.
int turn(const Node& node) { return node.v + rotation_start(node.type); }

// Euler parameters in an array of a stage: the scalar one stands behind the velocities.
template <class S>
Vec4<S> gather(const Node& node, const S* array) {
  const S* rest = array + turn(node);
  return {array[node.extra], rest[0], rest[1], rest[2]};
}
template <class S, class Vector>
void scatter(const Node& node, const Vector& p, S* array) {
  const Vec4<S> numbers = p;
  array[node.extra] = numbers[0];
  M3<S>{array + turn(node)} = numbers.template tail<3>();
}

}  // namespace

template <class S>
void evaluate_explicit(const Node& node, const ExplicitStage<S>& s) {
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
    const Vec4<S> p = gather(node, s.y_ref) + gather(node, s.theta), rates = gather(node, s.u);
    scatter(node, p, s.y);
    scatter(node, rates, s.ydot);
    store_rotation(EulerParameters<S>::rotation(p), s.q + node.q);
    M3<S>{s.v + i} = EulerParameters<S>::G(p) * rates / p.squaredNorm();
    return;
  }
  const Vec3T<S> angles = C3<S>(s.y_ref + i) + C3<S>(s.theta + i);
  M3<S>{s.y + i} = angles;
  store_rotation(CardanAngles<S>::rotation(angles), s.q + node.q);
  if (has_cardan_rates(node.type)) M3<S>{s.v + i} = CardanAngles<S>::G(angles) * C3<S>(s.u + i);
}

template <class S>
void explicit_slopes(const Node& node, const ExplicitStage<S>& s, S* slope, S* udot) {
  const int count = node_size(node.type).v;
  std::copy_n(s.vdot + node.v, count, udot + node.v);
  increment_rates(node.type, s.chart, s.theta + node.v, s.u + node.v, slope + node.v);
  if (!is_conventional(node.type)) return;
  const int i = turn(node);
  if (has_euler_parameters(node.type)) {
    const Vec4<S> p = gather(node, s.y), rates = gather(node, s.ydot);
    const S square = p.squaredNorm();
    const Vec3T<S> along = C3<S>(s.vdot + i) + 2 * p.dot(rates) / square * C3<S>(s.v + i);
    scatter(node, rates, slope);
    scatter(node, EulerParameters<S>::Ginv(p) * along - rates.squaredNorm() / square * p, udot);
  } else if (has_cardan_rates(node.type)) {
    const Vec3T<S> angles = C3<S>(s.y + i), rates = C3<S>(s.ydot + i);
    M3<S>{udot + i} =
        CardanAngles<S>::Ginv(angles) * (C3<S>(s.vdot + i) - CardanAngles<S>::dG(angles, rates) * rates);
  } else {
    M3<S>{slope + i} = CardanAngles<S>::Ginv(C3<S>(s.y + i)) * C3<S>(s.v + i);
  }
  std::copy_n(udot + node.v, count, s.yddot + node.v);
  if (node.extra >= 0) s.yddot[node.extra] = udot[node.extra];
}

template <class S>
void restore_unit_length(const Node& node, const ExplicitStage<S>& s) {
  if (!has_euler_parameters(node.type)) return;
  const Vec4<S> p = gather(node, s.y), unit = p.normalized();
  const Vec4<S> rates = gather(node, s.ydot) / p.norm(), tangential = rates - unit.dot(rates) * unit;
  scatter(node, unit, s.y);
  scatter(node, tangential, s.ydot);
  scatter(node, unit - gather(node, s.y_ref), s.theta);
  scatter(node, tangential, s.u);
}

template <class S>
void add_pose_increment(const Node& node, const ExplicitStage<S>& s, const S* d) {
  if (!is_conventional(node.type)) {
    add_increment(node.type, s.chart, d + node.v, s.theta + node.v);
    return;
  }
  const int i = turn(node);
  for (int k = node.v; k < i; ++k) s.theta[k] += d[k];
  if (has_euler_parameters(node.type))
    scatter(node, gather(node, s.theta) + EulerParameters<S>::Ginv(gather(node, s.y)) * C3<S>(d + i),
            s.theta);
  else
    M3<S>{s.theta + i} += CardanAngles<S>::Ginv(C3<S>(s.y + i)) * C3<S>(d + i);
}

template <class S>
void add_velocity_increment(const Node& node, const ExplicitStage<S>& s, const S* dv) {
  add_rates_of_velocity(node, s.y, dv, s.u);
}

template void evaluate_explicit(const Node&, const ExplicitStage<double>&);
template void explicit_slopes(const Node&, const ExplicitStage<double>&, double*, double*);
template void restore_unit_length(const Node&, const ExplicitStage<double>&);
template void add_pose_increment(const Node&, const ExplicitStage<double>&, const double*);
template void add_velocity_increment(const Node&, const ExplicitStage<double>&, const double*);
template void evaluate_explicit(const Node&, const ExplicitStage<Varied>&);
template void explicit_slopes(const Node&, const ExplicitStage<Varied>&, Varied*, Varied*);
template void restore_unit_length(const Node&, const ExplicitStage<Varied>&);
template void add_pose_increment(const Node&, const ExplicitStage<Varied>&, const Varied*);
template void add_velocity_increment(const Node&, const ExplicitStage<Varied>&, const Varied*);

}  // namespace liedyn
