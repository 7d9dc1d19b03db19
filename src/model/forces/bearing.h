// Linear bearing: stiffness and damping of a shaft that turns freely, however far. The first body carries the housing with the axes x, y, z; the
// shaft turns about z. All in the body axes of the first frame, with Q = R_1^T R_2, z_2 the axis of the shaft, and the relative angular velocity
// n = Q w_2 - w_1:
//
//   r = R_1^T (p_2 - p_1)                   r' = Q u_2 - u_1 - w_1 x r             z_2' = n x z_2
//   delta = (x.r, y.r, z.r, -y.z_2, x.z_2)                                         displacements, tilts about x and y (their sines)
//   s = K delta + C (delta', z.n)                                                  six components; K is zero in the sixth row and column
//   f = x s_1 + y s_2 + z s_3               m = z_2 x (x s_5 - y s_4) + z s_6
//
// with the potential delta.K delta/2. A bushing with a free axis is no bearing: its rotation vector mixes tilts and turns. The residual has
//   (-f, -r x f - m) on the first body and (Q^T f, Q^T m) on the second.
#pragma once

#include "liedyn/model/batch_of.h"

namespace liedyn {

struct LinearBearing {
  static constexpr int frames = 2, rows = 0, constants = 90;  // axes on both bodies, K, C
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {.check = true, .energy = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  struct Parts {
    using Matrix = Eigen::Matrix<S, 6, 6>;
    Eigen::Map<const Mat3T<S>> first, second;
    Eigen::Map<const Matrix> K, C;
    explicit Parts(const S* p) : first(p), second(p + 9), K(p + 18), C(p + 54) {}
  };
  // delta, with 0 as sixth.
  template <class S>
  static Vec6T<S> deflection(const Parts<S>& parts, const Vec3T<S>& r, const Vec3T<S>& z2) {
    Vec6T<S> out;
    out << parts.first.transpose() * r, -parts.first.col(1).dot(z2), parts.first.col(0).dot(z2), S(0);
    return out;
  }
  template <class S>
  static Vec6T<S> load(const Parts<S>& parts, const std::array<Motion<S>, 2>& f) {
    const Mat3T<S> Q = f[0].R.transpose() * f[1].R;
    const Vec3T<S> u1 = f[0].V.template head<3>(), w1 = f[0].V.template tail<3>();
    const Vec3T<S> u2 = f[1].V.template head<3>(), w2 = f[1].V.template tail<3>();
    const Vec3T<S> r = f[0].R.transpose() * (f[1].p - f[0].p), z2 = Q * parts.second.col(2);
    const Vec3T<S> n = Q * w2 - w1, rate = Q * u2 - u1 - w1.cross(r), tilting = n.cross(z2);
    Vec6T<S> rates = deflection<S>(parts, rate, tilting);
    rates[5] = parts.first.col(2).dot(n);
    return parts.K * deflection<S>(parts, r, z2) + parts.C * rates;
  }

  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    const Parts<S> parts(p);
    const Mat3T<S> Q = f[0].R.transpose() * f[1].R;
    const Vec3T<S> r = f[0].R.transpose() * (f[1].p - f[0].p), z2 = Q * parts.second.col(2);
    const Vec6T<S> s = load<S>(parts, f);
    const Vec3T<S> force = parts.first * s.template head<3>();
    const Vec3T<S> tilted = parts.first.col(0) * s[4] - parts.first.col(1) * s[3];
    const Vec3T<S> torque = z2.cross(tilted) + parts.first.col(2) * s[5];
    W[0] << -force, -r.cross(force) - torque;
    W[1] << Q.transpose() * force, Q.transpose() * torque;
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p) {
    const Parts<S> parts(p);
    const Vec3T<S> r = f[0].R.transpose() * (f[1].p - f[0].p);
    const Vec3T<S> z2 = f[0].R.transpose() * (f[1].R * parts.second.col(2));
    const Vec6T<S> delta = deflection<S>(parts, r, z2);
    return {S(0), S(0.5) * delta.dot(Vec6T<S>(parts.K * delta))};
  }
};

ListedKind bearing();

}  // namespace liedyn
