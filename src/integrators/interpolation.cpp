#include <algorithm>

#include "liedyn/integrators/integrator.h"
#include "liedyn/model/nodes/increments.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {
namespace {

// To elements and in q and v, nodes with rotation parameters are Lie groups.
NodeType group_of(NodeType type) {
  if (!is_conventional(type)) return type;
  return only_turns(type) ? NodeType::SO3 : NodeType::R3xSO3;
}

template <class S>
void linear(const std::vector<S>& from, const std::vector<S>& to, double s, std::vector<S>& out) {
  for (std::size_t i = 0; i < from.size(); ++i) out[i] = (1 - s) * from[i] + s * to[i];
}

}  // namespace

template <class S>
void IntegratorOf<S>::interpolate(const SystemOf<S>& system, const StateOf<S>& from, const StateOf<S>& to,
                                  double s, StateOf<S>& out, WorkOf<S>&) {
  const double h = to.t - from.t;
  // Values and slopes at the ends, and the derivatives of these polynomials.
  const double end = s * s * (3 - 2 * s), slope_begin = s * (1 - s) * (1 - s), slope_end = -s * s * (1 - s);
  const double d_end = 6 * s * (1 - s), d_slope_begin = (1 - s) * (1 - 3 * s), d_slope_end = -s * (2 - 3 * s);
  out.t = from.t + s * h;
  out.q = from.q;
  for (const Node& node : system.model().nodes) {
    const NodeType type = group_of(node.type);
    const int size = node_size(type).v;
    // theta = log(q^-1 q_to), theta' = T^-1 v
    S theta[6], rates[6];
    increment_between(type, from.q.data() + node.q, to.q.data() + node.q, theta);
    increment_rates(type, Chart::Exponential, theta, to.v.data() + node.v, rates);
    for (int i = 0; i < size; ++i) {
      const auto k = static_cast<std::size_t>(node.v + i);
      theta[i] = end * theta[i] + h * (slope_begin * from.v[k] + slope_end * rates[i]);
      const S change = to.v[k] - from.v[k];
      out.v[k] = from.v[k] + end * change + h * (slope_begin * from.vdot[k] + slope_end * to.vdot[k]);
      out.vdot[k] = d_end * change / h + d_slope_begin * from.vdot[k] + d_slope_end * to.vdot[k];
    }
    increment_position(type, theta, out.q.data() + node.q);
  }
  linear(from.lambda, to.lambda, s, out.lambda);
  linear(from.eta, to.eta, s, out.eta);
}
template class IntegratorOf<double>;
template class IntegratorOf<Varied>;

}  // namespace liedyn
