// The stage relation of model/nodes/stage.h on any group. Few files include it, since what it instantiates takes ten seconds of
// compiling: those of this folder, and the loop over all nodes of system/stage_equations.cpp, where calls would cost two per cent.
#pragma once

#include <type_traits>

#include "liedyn/lie/se3_operator.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {

// Rotations with increments in inertial axes: R = exp(theta) R_ref, and T(-theta) takes the place of T(theta).
template <class S>
struct SpatialRotationOf {
  using Scalar = S;
  using Tangent = Vec3T<S>;
  using Matrix = Mat3T<S>;
  static Matrix T(const Tangent& x) { return SO3<S>::T(-x); }
  static Matrix Tinv(const Tangent& x) { return SO3<S>::Tinv(-x); }
  static Matrix dT(const Tangent& x, const Tangent& y) { return -SO3<S>::dT(-x, y); }
  static Matrix ad(const Tangent& x) { return -skew(x); }  // increments on the left reverse the bracket
};
using SpatialRotation = SpatialRotationOf<double>;

constexpr bool is_spatial(NodeType type) { return turns_rotation(type); }

// The rotation moved by x, on the side that the node's increments act.
template <class S>
SO3<S> moved(NodeType type, const SO3<S>& rotation, const Vec3T<S>& x) {
  return is_spatial(type) ? SO3<S>::exp(x) * rotation : rotation * SO3<S>::exp(x);
}

// A^-1 b with A = c_1 T + c_2 c_v: of three rows, or of six as [D C; 0 D], which all operators of SE(3) are. D is near a multiple of the identity, so
// that cofactors lose nothing. With derivatives A dx = db - dA x.
template <class Matrix, class Right>
Right solve_small(const Matrix& A, const Right& b) {
  using S = typename Matrix::Scalar;
  if constexpr (std::is_same_v<S, double> && Matrix::RowsAtCompileTime == 6) {
    const Mat3 inverse = A.template bottomRightCorner<3, 3>().inverse();
    Right x;
    x.template bottomRows<3>().noalias() = inverse * b.template bottomRows<3>();
    x.template topRows<3>() =
        inverse *
        (b.template topRows<3>() - A.template topRightCorner<3, 3>() * x.template bottomRows<3>()).eval();
    return x;
  } else if constexpr (std::is_same_v<S, double>) {
    return A.inverse() * b;
  } else {
    const auto factors = values(A).partialPivLu();
    const auto x = factors.solve(values(b)).eval();
    Right out = x.template cast<S>();
    const Right rest = b - A * x;
    const auto inverse = factors.inverse().transpose().eval();
    for (Eigen::Index c = 0; c < out.cols(); ++c)
      for (Eigen::Index r = 0; r < out.rows(); ++r)
        out(r, c) = linear_combination(x(r, c), inverse.col(r), rest.col(c), A.cols());
    return out;
  }
}

// c_1 T + c_2 c_v, the factor of vdot in (stage), and solutions with it.
template <class G>
struct StageFactor {
  using Matrix = typename G::Matrix;
  const Stage& s;
  Matrix T;
  StageFactor(const Stage& stage, const typename G::Tangent& theta) : s(stage), T(G::T(theta)) {}
  template <class Right>
  Right solve(const Right& right) const {
    if (s.c_1 == 0) return right / (s.c_2 * s.c_v);
    return solve_small(Matrix(s.c_1 * T + s.c_2 * s.c_v * Matrix::Identity()), right);
  }
};

// vdot from theta by (stage), on any group.
template <class G>
typename G::Tangent stage_acceleration(const Stage& s, const typename G::Tangent& theta,
                                       const typename G::Tangent& Theta, const typename G::Tangent& V,
                                       const typename G::Scalar* drift) {
  using Tangent = typename G::Tangent;
  if (s.c_2 == 0) {
    Tangent right = theta - Theta;
    if (drift != nullptr) right += G::Tinv(theta) * Eigen::Map<const Tangent>(drift);
    return right / s.c_1;
  }
  const StageFactor<G> factor(s, theta);
  Tangent right = theta - factor.T * Theta - s.c_2 * V;
  if (drift != nullptr) right += Eigen::Map<const Tangent>(drift);
  return factor.solve(right);
}

// E = dvdot/dq along the stage, with dq = T dtheta. Differentiating (stage):
//   (c_1 T + c_2 c_v) dvdot = (1 - d(T(theta) y)/dtheta) T^-1 dq - dw   with y = Theta + c_1 vdot.
template <class G>
typename G::Matrix stage_tangent(const Stage& s, const typename G::Tangent& theta,
                                 const typename G::Tangent& Theta, const typename G::Tangent& vdot,
                                 bool drifting) {
  using Matrix = typename G::Matrix;
  if (s.c_2 == 0 && !drifting)
    return G::Tinv(theta) / s.c_1;  // y = theta, and d(T(theta) y) = (1 - T) dtheta at y = theta
  const Matrix right = (Matrix::Identity() - G::dT(theta, Theta + s.c_1 * vdot)) * G::Tinv(theta);
  return StageFactor<G>(s, theta).solve(right);
}

// The same two on SE(3), by the blocks of its operators.
template <>
inline Vec6 stage_acceleration<SE3<double>>(const Stage& s, const Vec6& theta, const Vec6& Theta,
                                            const Vec6& V, const double* drift) {
  using Operator = SE3Operator<double>;
  const Vec6 y = drift != nullptr ? Vec6(Eigen::Map<const Vec6>(drift)) : Vec6(Vec6::Zero());
  if (s.c_2 == 0) return (theta - Theta + (drift != nullptr ? Operator::Tinv(theta) * y : y)) / s.c_1;
  const Operator T = Operator::T(theta);
  const Vec6 right = theta - T * Theta - s.c_2 * V + y;
  if (s.c_1 == 0) return right / (s.c_2 * s.c_v);
  return (s.c_1 * T).add_identity(s.c_2 * s.c_v).inverse() * right;
}
template <>
inline Mat6 stage_tangent<SE3<double>>(const Stage& s, const Vec6& theta, const Vec6& Theta, const Vec6& vdot,
                                       bool drifting) {
  using Operator = SE3Operator<double>;
  const Operator Tinv = Operator::Tinv(theta);
  if (s.c_2 == 0 && !drifting) return (1 / s.c_1 * Tinv).matrix();
  const Operator right = (-1.0 * Operator::dT(theta, Theta + s.c_1 * vdot)).add_identity(1) * Tinv;
  if (s.c_1 == 0) return (1 / (s.c_2 * s.c_v) * right).matrix();
  return ((s.c_1 * Operator::T(theta)).add_identity(s.c_2 * s.c_v).inverse() * right).matrix();
}

// P^-1 = 1 + (1 - sigma)/2 (x^ - (2 - 3 (1 - sigma))/6 x^^2), Eq. (65), on any group.
template <class G>
typename G::Matrix expanded_inverse(double sigma, const typename G::Tangent& x) {
  const typename G::Matrix hat = G::ad(x);
  return G::Matrix::Identity() + 0.5 * (1 - sigma) * (hat - (2 - 3 * (1 - sigma)) / 6 * (hat * hat));
}

template <class S>
void evaluate_stage(NodeType type, const Stage& s, const NodeStageOf<S>& n) {
  using V3 = Vec3T<S>;
  using C3 = Eigen::Map<const V3>;
  using M3 = Eigen::Map<V3>;
  using Rotation = SO3<S>;
  const auto linear = [&](int count = 3) {
    const double rate = s.rate();
    for (int i = 0; i < count; ++i) {
      n.vdot[i] = rate * (n.theta[i] - n.Theta[i] - s.c_2 * n.V[i]);
      if (n.drift != nullptr) n.vdot[i] += rate * n.drift[i];
      n.v[i] = n.V[i] + s.c_v * n.vdot[i];
      n.q[i] = n.q_ref[i] + n.theta[i];
    }
  };
  const auto rotational = [&](int i) {
    const V3 theta = C3(n.theta + i);
    const S* drift = n.drift != nullptr ? n.drift + i : nullptr;
    M3(n.vdot + i) =
        is_spatial(type)
            ? stage_acceleration<SpatialRotationOf<S>>(s, theta, C3(n.Theta + i), C3(n.V + i), drift)
            : stage_acceleration<Rotation>(s, theta, C3(n.Theta + i), C3(n.V + i), drift);
    M3(n.v + i) = C3(n.V + i) + s.c_v * C3(n.vdot + i);
    store_rotation(moved(type, rotation_of(n.q_ref), theta), n.q);
  };
  switch (type) {
    case NodeType::R3xSO3:
    case NodeType::R3xSO3Spatial:
      linear();
      rotational(3);
      break;
    case NodeType::SE3: {
      using C6 = Eigen::Map<const Vec6T<S>>;
      using M6 = Eigen::Map<Vec6T<S>>;
      const Vec6T<S> theta = C6(n.theta);
      M6(n.vdot) = stage_acceleration<SE3<S>>(s, theta, C6(n.Theta), C6(n.V), n.drift);
      M6(n.v) = C6(n.V) + s.c_v * C6(n.vdot);
      const SE3<S> q = SE3<S>(C3(n.q_ref), rotation_of(n.q_ref)) * SE3<S>::exp(theta);
      M3(n.q) = q.position();
      store_rotation(q.rotation(), n.q);
      break;
    }
    case NodeType::SE2: {
      const V3 theta = C3(n.theta);
      M3(n.vdot) = stage_acceleration<SE2<S>>(s, theta, C3(n.Theta), C3(n.V), n.drift);
      M3(n.v) = C3(n.V) + s.c_v * C3(n.vdot);
      move_in_plane(n.q_ref, SE2<S>::exp(theta), theta[2], n.q);
      break;
    }
    case NodeType::R3:
    case NodeType::R2xSO2: linear(); break;
    case NodeType::State:
    case NodeType::Turn:
    case NodeType::Slide: linear(1); break;
    case NodeType::SO3:
    case NodeType::SO3Spatial:
      rotational(0);
      M3(n.q) = C3(n.q_ref);
      break;
    default: break;  // conventional nodes: parameter_stage.h
  }
}

template <class S>
void increment_theta(NodeType type, const S* d, S* theta) {
  using V3 = Vec3T<S>;
  using C3 = Eigen::Map<const V3>;
  using M3 = Eigen::Map<V3>;
  const auto rotational = [&](int i) {
    const V3 x = C3(theta + i);
    M3(theta + i) = x + (is_spatial(type) ? SpatialRotationOf<S>::Tinv(x) : SO3<S>::Tinv(x)) * C3(d + i);
  };
  switch (type) {
    case NodeType::R3xSO3:
    case NodeType::R3xSO3Spatial:
      M3(theta) += C3(d);
      rotational(3);
      break;
    case NodeType::SE3: {
      const Vec6T<S> x = Eigen::Map<const Vec6T<S>>(theta);
      Eigen::Map<Vec6T<S>>{theta} = x + SE3Operator<S>::Tinv(x) * Vec6T<S>(Eigen::Map<const Vec6T<S>>(d));
      break;
    }
    case NodeType::SE2: {
      const V3 x = C3(theta);
      M3{theta} = x + SE2<S>::Tinv(x) * C3(d);
      break;
    }
    case NodeType::R3:
    case NodeType::R2xSO2: M3(theta) += C3(d); break;
    case NodeType::State:
    case NodeType::Turn:
    case NodeType::Slide: theta[0] += d[0]; break;
    case NodeType::SO3:
    case NodeType::SO3Spatial: rotational(0); break;
    default: break;  // conventional nodes: parameter_stage.h
  }
}

}  // namespace liedyn
