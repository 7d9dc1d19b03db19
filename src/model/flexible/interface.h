// The rows that tie an interface to the material of a flexible body, as functions of the pose of the floating frame, of the pose of the interface (index I) and of
// the small displacement and rotation y = (u, theta) = Psi eta of the material there:
//
//   Phi_p = p_I - p - R (X + u)             [inertial axes]
//   Phi_r = log(R^T R_I) - theta            [body axes]
#pragma once

#include "liedyn/lie/so3.h"
#include "liedyn/model/motion.h"

namespace liedyn {

template <class S>
Vec6T<S> interface_phi(const Pose<S>& frame, const Vec6T<S>& y, const Pose<S>& own, const Vec3T<S>& place) {
  Vec6T<S> out;
  const Vec3T<S> u = y.template head<3>();
  out.template head<3>() = own.p - frame.p - frame.R * (place + u);
  out.template tail<3>() = SO3<S>::from_matrix(frame.R.transpose() * own.R).log() - y.template tail<3>();
  return out;
}

// Derivatives with respect to the increments of the frame (0), y (1) and the increments of the interface (2), as in JointDerivatives.
template <class S>
struct InterfaceDerivativesOf {
  Vec6T<S> phi, bias;
  Mat6T<S> B[3], Z[3];
  Mat6 G[3][3];  // for matrices only, not with S = Varied
};
using InterfaceDerivatives = InterfaceDerivativesOf<double>;
template <class S>
InterfaceDerivativesOf<S> interface_derivatives(const Motion<S>& frame, const Vec6T<S>& y,
                                                const Vec6T<S>& y_rate, const Motion<S>& own,
                                                const Vec3T<S>& place, const Vec6T<S>& lambda);

}  // namespace liedyn
