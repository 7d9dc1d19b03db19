// Bushing: springs and dampers along and about three axes fixed to the first body, relaxed in the initial configuration.
// All in the body axes of the first frame, with Q = R_1^T R_2 and the constant P = R_2(0)^T R_1(0):
//
//   r = R_1^T (p_2 - p_1)        r' = Q u_2 - u_1 - w_1 x r        place of the second frame, as the first one sees it
//   theta = log(Q P)             n  = Q w_2 - w_1                  relative rotation and angular velocity
//   f = K r + C r'               m  = T^-1(theta) K_r theta + C_r n
//
// K, C, K_r, C_r are diagonal in the axes of the bushing. The springs have the potential (r.K r + theta.K_r theta)/2: since
// theta' = T^-1(theta) (Q P)^T n, its torque is Q P T^-T(theta) K_r theta = T^-1(theta) K_r theta. The residual has
//   (-f, -r x f - m) on the first body and (Q^T f, Q^T m) on the second.
#pragma once

#include "liedyn/lie/so3.h"
#include "liedyn/model/batch_of.h"

namespace liedyn {

struct Bushing {
  static constexpr int frames = 2, rows = 0, constants = 45;  // the matrices K, C, K_r, C_r, P
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {.check = true, .energy = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  struct Parts {
    Eigen::Map<const Mat3T<S>> K, C, K_r, C_r, P;
    explicit Parts(const S* p) : K(p), C(p + 9), K_r(p + 18), C_r(p + 27), P(p + 36) {}
  };

  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    const Parts<S> parts(p);
    const Mat3T<S> Q = f[0].R.transpose() * f[1].R;
    const Vec3T<S> u1 = f[0].V.template head<3>(), w1 = f[0].V.template tail<3>();
    const Vec3T<S> u2 = f[1].V.template head<3>(), w2 = f[1].V.template tail<3>();
    const Vec3T<S> r = f[0].R.transpose() * (f[1].p - f[0].p);
    const Vec3T<S> theta = SO3<S>::from_matrix(Q * parts.P).log();
    const Vec3T<S> force = parts.K * r + parts.C * (Q * u2 - u1 - w1.cross(r));
    const Vec3T<S> torque = SO3<S>::Tinv(theta) * (parts.K_r * theta) + parts.C_r * (Q * w2 - w1);
    W[0] << -force, -r.cross(force) - torque;
    W[1] << Q.transpose() * force, Q.transpose() * torque;
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p) {
    const Parts<S> parts(p);
    const Vec3T<S> r = f[0].R.transpose() * (f[1].p - f[0].p);
    const Vec3T<S> theta = SO3<S>::from_matrix(f[0].R.transpose() * f[1].R * parts.P).log();
    return {S(0), S(0.5) * (r.dot(Vec3T<S>(parts.K * r)) + theta.dot(Vec3T<S>(parts.K_r * theta)))};
  }
};

ListedKind bushing();

}  // namespace liedyn
