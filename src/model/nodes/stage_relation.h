// The stage relation of model/nodes/stage.h on any group, for the files of this folder. Few files include it: what it
// instantiates takes ten seconds of compiling.
#pragma once

#include <type_traits>

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

// A^-1 b; with derivatives A dx = db - dA x.
template <class Matrix, class Right>
Right solve_small(const Matrix& A, const Right& b) {
  using S = typename Matrix::Scalar;
  if constexpr (std::is_same_v<S, double>) {
    return A.partialPivLu().solve(b);
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

// P^-1 = 1 + (1 - sigma)/2 (x^ - (2 - 3 (1 - sigma))/6 x^^2), Eq. (65), on any group.
template <class G>
typename G::Matrix expanded_inverse(double sigma, const typename G::Tangent& x) {
  const typename G::Matrix hat = G::ad(x);
  return G::Matrix::Identity() + 0.5 * (1 - sigma) * (hat - (2 - 3 * (1 - sigma)) / 6 * (hat * hat));
}

}  // namespace liedyn
