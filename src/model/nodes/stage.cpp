#include "liedyn/model/nodes/stage.h"

#include <algorithm>

namespace liedyn {
namespace {

using C3 = Eigen::Map<const Vec3>;
using M3 = Eigen::Map<Vec3>;
using C6 = Eigen::Map<const Vec6>;
using M6 = Eigen::Map<Vec6>;

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
  if (type == NodeType::SE3) {
    M6{dq} = s.rate() * Eigen::Map<const Mat6>(E).partialPivLu().solve(C6(d));
  } else if (type == NodeType::SE2) {
    M3{dq} = s.rate() * Eigen::Map<const Mat3>(E).partialPivLu().solve(C3(d));
  } else if (!is_vector_space(type)) {
    const int i = rotation_start(type);
    M3{dq + i} = s.rate() * Eigen::Map<const Mat3>(E + (i == 0 ? 0 : 1)).partialPivLu().solve(C3(d + i));
  }
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
    const int i = rotation_start(type);
    if (type == NodeType::SE3) {
      M6{total} = expanded_step<SE3<double>>(sigma, C6(d), C6(w), n.theta);
    } else if (type == NodeType::SE2) {
      M3{total} = expanded_step<SE2<double>>(sigma, C3(d), C3(w), n.theta);
    } else {
      for (int k = 0; k < (i < 0 ? count : i); ++k) n.theta[k] += d[k];
      if (i >= 0)
        M3{total + i} = is_spatial(type)
                            ? expanded_step<SpatialRotation>(sigma, C3(d + i), C3(w + i), n.theta + i)
                            : expanded_step<SO3<double>>(sigma, C3(d + i), C3(w + i), n.theta + i);
    }
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
  const double beta = s.rate();
  const auto rotational = [&](const double* x, double* out) {
    Eigen::Map<Mat3>{out} = beta * (is_spatial(type) ? expanded_inverse<SpatialRotation>(sigma, C3(x))
                                                     : expanded_inverse<SO3<double>>(sigma, C3(x)));
  };
  switch (type) {
    case NodeType::R3xSO3:
    case NodeType::R3xSO3Spatial:
      E[0] = beta;
      rotational(theta + 3, E + 1);
      break;
    case NodeType::SE3: Eigen::Map<Mat6>{E} = beta * expanded_inverse<SE3<double>>(sigma, C6(theta)); break;
    case NodeType::SE2: Eigen::Map<Mat3>{E} = beta * expanded_inverse<SE2<double>>(sigma, C3(theta)); break;
    case NodeType::R3:
    case NodeType::R2xSO2:
    case NodeType::State:
    case NodeType::Turn:
    case NodeType::Slide: E[0] = beta; break;
    case NodeType::SO3:
    case NodeType::SO3Spatial: rotational(theta, E); break;
    default: break;  // conventional nodes: parameter_stage.h
  }
}

template <class S>
void add_bracket(NodeType type, const S* x, const S* y, double factor, S* out) {
  using V3 = Eigen::Map<const Vec3T<S>>;
  using V6 = Eigen::Map<const Vec6T<S>>;
  if (is_vector_space(type) || is_conventional(type)) return;
  if (type == NodeType::SE3) {
    Eigen::Map<Vec6T<S>>{out} += factor * (SE3<S>::ad(V6(x)) * V6(y));
    return;
  }
  if (type == NodeType::SE2) {
    Eigen::Map<Vec3T<S>>{out} += factor * (SE2<S>::ad(V3(x)) * V3(y));
    return;
  }
  const int i = rotation_start(type);
  Eigen::Map<Vec3T<S>>{out + i} += (is_spatial(type) ? -factor : factor) * V3(x + i).cross(V3(y + i));
}
template void add_bracket(NodeType, const double*, const double*, double, double*);
template void add_bracket(NodeType, const Varied*, const Varied*, double, Varied*);

}  // namespace liedyn
