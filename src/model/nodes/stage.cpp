#include "liedyn/model/nodes/stage.h"

#include <algorithm>

#include "liedyn/model/nodes/stage_relation.h"

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

void evaluate_stage_tangent(NodeType type, const Stage& s, const NodeStage& n, bool simplified, double* E) {
  using C3 = Eigen::Map<const Vec3>;
  using Rotation = SO3<double>;
  const auto rotational = [&](int i, double* out) {
    Eigen::Map<Mat3> Er(out);
    if (simplified)
      Er = s.rate() * Mat3::Identity();
    else if (is_spatial(type))
      Er = stage_tangent<SpatialRotation>(s, C3(n.theta + i), C3(n.Theta + i), C3(n.vdot + i),
                                          n.drift != nullptr);
    else
      Er = stage_tangent<Rotation>(s, C3(n.theta + i), C3(n.Theta + i), C3(n.vdot + i), n.drift != nullptr);
  };
  switch (type) {
    case NodeType::R3xSO3:
    case NodeType::R3xSO3Spatial:
      E[0] = s.rate();
      rotational(3, E + 1);
      break;
    case NodeType::SE3: {
      using C6 = Eigen::Map<const Vec6>;
      Eigen::Map<Mat6> full(E);
      if (simplified)
        full = s.rate() * Mat6::Identity();
      else
        full = stage_tangent<SE3<double>>(s, C6(n.theta), C6(n.Theta), C6(n.vdot), n.drift != nullptr);
      break;
    }
    case NodeType::SE2: {
      Eigen::Map<Mat3> full(E);
      if (simplified)
        full = s.rate() * Mat3::Identity();
      else
        full = stage_tangent<SE2<double>>(s, C3(n.theta), C3(n.Theta), C3(n.vdot), n.drift != nullptr);
      break;
    }
    case NodeType::R3:
    case NodeType::R2xSO2:
    case NodeType::State:
    case NodeType::Turn:
    case NodeType::Slide: E[0] = s.rate(); break;
    case NodeType::SO3:
    case NodeType::SO3Spatial: rotational(0, E); break;
    default: break;  // conventional nodes: parameter_stage.h
  }
}

Vec6 stage_drift_response(NodeType type, const Stage& s, const NodeStage& n, const Vec6& y) {
  using C3 = Eigen::Map<const Vec3>;
  if (type == NodeType::SE3) return StageFactor<SE3<double>>(s, Eigen::Map<const Vec6>(n.theta)).solve(y);
  Vec6 out = s.rate() * y;
  if (is_vector_space(type)) return out;
  if (type == NodeType::SE2) {
    const Vec3 response = StageFactor<SE2<double>>(s, C3(n.theta)).solve(Vec3(y[0], y[1], y[5]));
    for (int i = 0; i < 3; ++i) out[kPlanarComponents[i]] = response[i];
    return out;
  }
  const Vec3 theta = C3(n.theta + rotation_start(type)), right = y.tail<3>();
  out.tail<3>() = is_spatial(type) ? StageFactor<SpatialRotation>(s, theta).solve(right)
                                   : StageFactor<SO3<double>>(s, theta).solve(right);
  return out;
}

template <class S>
void increment_position(NodeType type, const S* d, S* q) {
  using V3 = Eigen::Map<const Vec3T<S>>;
  if (is_scalar(type)) {
    q[0] += d[0];
    return;
  }
  Eigen::Map<Vec3T<S>> place(q);
  switch (type) {
    case NodeType::State:
    case NodeType::Turn:
    case NodeType::Slide: break;  // above
    case NodeType::SE2: move_in_plane(q, SE2<S>::exp(V3(d)), d[2], q); break;
    case NodeType::R3xEuler:
    case NodeType::R3xCardan:
    case NodeType::R3xCardanBody:
    case NodeType::R3xSO3:
    case NodeType::R3xSO3Spatial:
      place += V3(d);
      store_rotation(moved<S>(type, rotation_of(q), V3(d + 3)), q);
      break;
    case NodeType::SE3: {
      const SE3<S> moved = SE3<S>(place, rotation_of(q)) * SE3<S>::exp(Eigen::Map<const Vec6T<S>>(d));
      place = moved.position();
      store_rotation(moved.rotation(), q);
      break;
    }
    case NodeType::R3:
    case NodeType::R2xSO2: place += V3(d); break;
    case NodeType::Euler:
    case NodeType::Cardan:
    case NodeType::CardanBody:
    case NodeType::SO3:
    case NodeType::SO3Spatial: store_rotation(moved<S>(type, rotation_of(q), V3(d)), q); break;
  }
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
