// The stage relation of model/nodes/stage.h on any group. Few files include it, since what it instantiates takes ten seconds of
// compiling: those of this folder, and the loop over all nodes of system/stage_equations.cpp, where calls would cost two per cent.
#pragma once

#include <algorithm>
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

// Calls f with the group of a node, f.operator()<G>(); not at all for a vector space.
template <class S, class F>
void on_group(NodeGroup group, const F& f) {
  switch (group) {
    case NodeGroup::None: return;
    case NodeGroup::SO3: return f.template operator()<SO3<S>>();
    case NodeGroup::SpatialSO3: return f.template operator()<SpatialRotationOf<S>>();
    case NodeGroup::SE2: return f.template operator()<SE2<S>>();
    case NodeGroup::SE3: return f.template operator()<SE3<S>>();
  }
}

// The coordinates q of a node moved by x on the side that its increments act. Of a rotation only the quaternion is written.
template <class G>
void move_on_group(const typename G::Scalar* q, const typename G::Tangent& x, typename G::Scalar* to) {
  using S = typename G::Scalar;
  if constexpr (std::is_same_v<G, SE2<S>>) {
    move_in_plane(q, SE2<S>::exp(x), x[2], to);
  } else if constexpr (std::is_same_v<G, SE3<S>>) {
    const SE3<S> moved = SE3<S>(Eigen::Map<const Vec3T<S>>(q), rotation_of(q)) * SE3<S>::exp(x);
    Eigen::Map<Vec3T<S>>{to} = moved.position();
    store_rotation(moved.rotation(), to);
  } else if constexpr (std::is_same_v<G, SO3<S>>) {
    store_rotation(rotation_of(q) * SO3<S>::exp(x), to);
  } else {
    store_rotation(SO3<S>::exp(x) * rotation_of(q), to);
  }
}

// T^-1(x) d.
template <class G>
typename G::Tangent inverse_tangent_times(const typename G::Tangent& x, const typename G::Tangent& d) {
  using S = typename G::Scalar;
  if constexpr (std::is_same_v<G, SE3<S>>)
    return SE3Operator<S>::Tinv(x) * d;
  else
    return G::Tinv(x) * d;
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
  const NodeTraits& node = traits(type);
  const double rate = s.rate();
  for (int i = 0; i < node.linear; ++i) {
    n.vdot[i] = rate * (n.theta[i] - n.Theta[i] - s.c_2 * n.V[i]);
    if (n.drift != nullptr) n.vdot[i] += rate * n.drift[i];
    n.v[i] = n.V[i] + s.c_v * n.vdot[i];
    n.q[i] = n.q_ref[i] + n.theta[i];
  }
  on_group<S>(node.group, [&]<class G>() {
    using In = Eigen::Map<const typename G::Tangent>;
    using Out = Eigen::Map<typename G::Tangent>;
    const int i = node.linear;
    const typename G::Tangent theta = In(n.theta + i);
    Out(n.vdot + i) = stage_acceleration<G>(s, theta, In(n.Theta + i), In(n.V + i),
                                            n.drift != nullptr ? n.drift + i : nullptr);
    Out(n.v + i) = In(n.V + i) + s.c_v * In(n.vdot + i);
    if (only_turns(type)) std::copy_n(n.q_ref, 3, n.q);
    move_on_group<G>(n.q_ref, theta, n.q);
  });
}

template <class S>
void increment_theta(NodeType type, const S* d, S* theta) {
  const NodeTraits& node = traits(type);
  for (int i = 0; i < node.linear; ++i) theta[i] += d[i];
  on_group<S>(node.group, [&]<class G>() {
    using Tangent = typename G::Tangent;
    const Tangent x = Eigen::Map<const Tangent>(theta + node.linear);
    Eigen::Map<Tangent>(theta + node.linear) =
        x + inverse_tangent_times<G>(x, Eigen::Map<const Tangent>(d + node.linear));
  });
}

}  // namespace liedyn
