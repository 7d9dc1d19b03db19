#include "liedyn/model/nodes/stage.h"

#include <algorithm>

#include "liedyn/model/nodes/stage_relation.h"

namespace liedyn {
namespace {

// theta += T^-1(theta) d; returns P^-1(theta) (d + w).
template <class G>
typename G::Tangent expanded_step(double sigma, const typename G::Tangent& d, const typename G::Tangent& w,
                                  double* theta) {
  using Tangent = typename G::Tangent;
  const Tangent old = Eigen::Map<const Tangent>(theta);
  const Tangent now = old + G::Tinv(old) * d;
  Eigen::Map<Tangent>{theta} = now;
  return expanded_inverse<G>(sigma, now) * (d + w);
}

}  // namespace

void evaluate_stage_tangent(NodeType type, const Stage& s, const NodeStage& n, bool simplified, double* E) {
  const NodeTraits& node = traits(type);
  if (node.linear > 0) *E++ = s.rate();
  on_group<double>(node.group, [&]<class G>() {
    using In = Eigen::Map<const typename G::Tangent>;
    using Matrix = typename G::Matrix;
    const int i = node.linear;
    Eigen::Map<Matrix> out(E);
    if (simplified)
      out = s.rate() * Matrix::Identity();
    else
      out = stage_tangent<G>(s, In(n.theta + i), In(n.Theta + i), In(n.vdot + i), n.drift != nullptr);
  });
}

Vec6 stage_drift_response(NodeType type, const Stage& s, const NodeStage& n, const Vec6& y) {
  const NodeTraits& node = traits(type);
  Vec6 out = s.rate() * y;
  on_group<double>(node.group, [&]<class G>() {
    using Tangent = typename G::Tangent;
    const std::uint8_t* of_group = node.components + node.linear;
    Tangent right;
    for (int k = 0; k < right.size(); ++k) right[k] = y[of_group[k]];
    const Tangent response = StageFactor<G>(s, Eigen::Map<const Tangent>(n.theta + node.linear)).solve(right);
    for (int k = 0; k < right.size(); ++k) out[of_group[k]] = response[k];
  });
  return out;
}

template <class S>
void increment_position(NodeType type, const S* d, S* q) {
  const NodeTraits& node = traits(type);
  for (int i = 0; i < node.linear; ++i) q[i] += d[i];
  on_group<S>(node.group, [&]<class G>() {
    move_on_group<G>(q, Eigen::Map<const typename G::Tangent>(d + node.linear), q);
  });
}

template void increment_theta(NodeType, const double*, double*);
template void increment_theta(NodeType, const Varied*, Varied*);
template void increment_position(NodeType, const double*, double*);
template void increment_position(NodeType, const Varied*, Varied*);
template void evaluate_stage(NodeType, const Stage&, const NodeStageOf<double>&);
template void evaluate_stage(NodeType, const Stage&, const NodeStageOf<Varied>&);

void increment_theta_simplified(NodeType type, const Stage& s, const NodeStage& n, const double* d,
                                double* theta) {
  const int count = node_size(type).v;
  if (s.c_2 == 0 && n.drift == nullptr) {
    for (int i = 0; i < count; ++i) theta[i] += d[i];
    return;
  }
  // dvdot = E dq = rate d
  double E[36] = {}, dq[6] = {};
  evaluate_stage_tangent(type, s, n, false, E);
  std::copy_n(d, count, dq);
  const NodeTraits& node = traits(type);
  on_group<double>(node.group, [&]<class G>() {
    using Tangent = typename G::Tangent;
    const Eigen::Map<const typename G::Matrix> of_group(E + (node.linear > 0 ? 1 : 0));
    Eigen::Map<Tangent>{dq + node.linear} =
        s.rate() * of_group.partialPivLu().solve(Eigen::Map<const Tangent>(d + node.linear));
  });
  increment_theta(type, dq, theta);
}

void update_stage(NodeType type, const Stage& s, StageUpdate update, double sigma, const double* d,
                  const double* drift, const NodeUpdate& n) {
  const double beta = s.rate();
  const int count = node_size(type).v;
  double w[6] = {};
  if (drift != nullptr) std::copy_n(drift, count, w);
  double total[6];  // P^-1 (d + w)
  for (int i = 0; i < count; ++i) total[i] = d[i] + w[i];
  if (update == StageUpdate::Expanded) {
    const NodeTraits& node = traits(type);
    for (int k = 0; k < node.linear; ++k) n.theta[k] += d[k];
    on_group<double>(node.group, [&]<class G>() {
      using Tangent = typename G::Tangent;
      using In = Eigen::Map<const Tangent>;
      const int i = node.linear;
      Eigen::Map<Tangent>{total + i} = expanded_step<G>(sigma, In(d + i), In(w + i), n.theta + i);
    });
    std::copy_n(n.q_ref, node_size(type).q, n.q);
    increment_position<double>(type, n.theta, n.q);
  } else {
    increment_position<double>(type, d, n.q);
  }
  for (int i = 0; i < count; ++i) {
    n.v[i] += s.c_v * beta * total[i];
    n.vdot[i] += beta * total[i];
  }
}

void expanded_tangent(NodeType type, const Stage& s, double sigma, const double* theta, double* E) {
  const NodeTraits& node = traits(type);
  const double beta = s.rate();
  if (node.linear > 0) *E++ = beta;
  on_group<double>(node.group, [&]<class G>() {
    using Tangent = typename G::Tangent;
    Eigen::Map<typename G::Matrix>{E} =
        beta * expanded_inverse<G>(sigma, Eigen::Map<const Tangent>(theta + node.linear));
  });
}

template <class S>
void add_bracket(NodeType type, const S* x, const S* y, double factor, S* out) {
  if (is_conventional(type)) return;
  const int i = traits(type).linear;
  on_group<S>(traits(type).group, [&]<class G>() {
    using In = Eigen::Map<const typename G::Tangent>;
    Eigen::Map<typename G::Tangent>{out + i} += factor * (G::ad(In(x + i)) * In(y + i));
  });
}
template void add_bracket(NodeType, const double*, const double*, double, double*);
template void add_bracket(NodeType, const Varied*, const Varied*, double, Varied*);

}  // namespace liedyn
