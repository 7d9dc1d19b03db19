// Forces and torques on the coordinate x of a joint (model/joint_coordinate.h). A law tau(x, x', t) that opposes the
// motion stands in the residual as W_i = B_i^T tau, with B_i = dx/dX_i:
//
//   joint_spring     tau = k e + k_3 e^3 + c x',   e = x - x_0 outside of a dead band of half the width b, less b
//   joint_stop       tau = N(x - u, x') - N(l - x, -x') beyond the limits l and u, N of model/forces/contact_law.h
//   joint_actuator   tau = -(P (f - x) + D (f' - x') + u), within limits; f(t) the target, u(t) the feed-forward
//   joint_friction   tau = rho N(lambda) mu(x') x'/sqrt(x'^2 + v_s^2)
//
// where N is the load that the joint's own multipliers carry, and mu falls from mu_s to mu_d as the speed grows (Stribeck).
#pragma once

#include "liedyn/model/forces/contact_law.h"
#include "liedyn/model/forces/watched_contact.h"
#include "liedyn/model/joint_coordinate.h"

namespace liedyn {

// tau and its derivatives with respect to x and x'.
struct CoordinateLaw {
  double force, by_value, by_rate;
};
// K, C from d(B_i^T tau) = G_ij tau + B_i^T dtau, with dtau = tau_x dx + tau_v (B V + Z X).
void law_partials(const CoordinateDerivatives& x, const CoordinateLaw& law, ForcePartials<2>& d);

template <class S>
void law_wrench(const std::array<Vec6T<S>, 2>& B, const S& force, std::array<Vec6T<S>, 2>& W) {
  for (std::size_t i = 0; i < 2; ++i) W[i] = B[i] * force;
}

struct JointSpring {
  static constexpr int frames = 2, rows = 0, angles = 1;
  static constexpr int constants = kCoordinateConstants + 5 + angles;  // k, k_3, c, x_0, b
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {.energy = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);

  template <class S>
  static S deflection(const S& x, const S* n) {
    const S e = x - n[3];
    if (e > n[4]) return e - n[4];
    if (e < -n[4]) return e + n[4];
    return n[4] > S(0) ? S(0) : e;
  }
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    const S* n = p + kCoordinateConstants;
    const auto B = coordinate_gradient<S>(f[0], f[1], p);
    const S e = deflection<S>(coordinate_value<S>(f[0], f[1], p, p[constants - 1]), n);
    const S rate = B[0].dot(f[0].V) + B[1].dot(f[1].V);
    law_wrench<S>(B, n[0] * e + n[1] * e * e * e + n[2] * rate, W);
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p) {
    const S* n = p + kCoordinateConstants;
    const S e = deflection<S>(coordinate_value<S>(f[0], f[1], p, p[constants - 1]), n);
    return {S(0), S(0.5) * n[0] * e * e + S(0.25) * n[1] * e * e * e * e};
  }
  static void wound_angles(const std::array<Motion<double>, 2>& f, const double* p, double* out);
  // Backlash: flanks that hit each other.
  static Approach approach(const std::array<Motion<double>, 2>& f, const double* p);
};

struct JointStop {
  static constexpr int frames = 2, rows = 0, angles = 1;
  static constexpr int constants = kCoordinateConstants + kNormalConstants + 2 + angles;  // k, n, a, l, u
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {.check = true, .energy = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  // The side at which the coordinate is beyond its limits, or nearest to them: 1 above, -1 below.
  template <class S>
  static double side(const S& x, const S* n) {
    return x + x > n[3] + n[4] ? 1 : -1;
  }
  template <class S>
  static S depth(const S& x, double side, const S* n) {
    return side > 0 ? S(x - n[4]) : S(n[3] - x);
  }
  template <class S>
  static S effort(const S& x, const S& rate, const S* n) {
    const double s = side(x, n);
    return s * normal_force<S>(depth(x, s, n), s * rate, n);
  }
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    const auto B = coordinate_gradient<S>(f[0], f[1], p);
    law_wrench<S>(B,
                  effort<S>(coordinate_value<S>(f[0], f[1], p, p[constants - 1]),
                            B[0].dot(f[0].V) + B[1].dot(f[1].V), p + kCoordinateConstants),
                  W);
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p) {
    const S* n = p + kCoordinateConstants;
    const S x = coordinate_value<S>(f[0], f[1], p, p[constants - 1]);
    return {S(0), normal_energy<S>(depth(x, side(x, n), n), n)};
  }
  static void wound_angles(const std::array<Motion<double>, 2>& f, const double* p, double* out);
  static Approach approach(const std::array<Motion<double>, 2>& f, const double* p) {
    const double* n = p + kCoordinateConstants;
    const double x = coordinate_value<double>(f[0], f[1], p, p[constants - 1]), s = side(x, n);
    const auto B = coordinate_gradient<double>(f[0], f[1], p);
    return {depth(x, s, n), s * (B[0].dot(f[0].V) + B[1].dot(f[1].V))};
  }
};

struct JointActuator {
  static constexpr int frames = 2, rows = 0, angles = 1;
  static constexpr int constants = kCoordinateConstants + 6 + angles;  // P, D, f, f', u, limit (0: none)
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);

  // The effort before the limit.
  template <class S>
  static S effort(const S& x, const S& rate, const S* n) {
    return n[0] * (n[2] - x) + n[1] * (n[3] - rate) + n[4];
  }
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    const S* n = p + kCoordinateConstants;
    const auto B = coordinate_gradient<S>(f[0], f[1], p);
    S u = effort(coordinate_value<S>(f[0], f[1], p, p[constants - 1]), S(B[0].dot(f[0].V) + B[1].dot(f[1].V)),
                 n);
    if (n[5] > S(0) && u > n[5]) u = n[5];
    if (n[5] > S(0) && u < -n[5]) u = -n[5];
    law_wrench<S>(B, -u, W);
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
  static void wound_angles(const std::array<Motion<double>, 2>& f, const double* p, double* out);
};

// `Forces` and `Torques`: how many of the joint's rows are which. With the signs of model/joints/held_rows.h their multipliers
// are the components of the force and the torque that the joint transmits, so that N depends on nothing else.
template <int Forces, int Torques>
struct JointFriction {
  static constexpr int frames = 2, rows = 0, multipliers = Forces + Torques;
  static constexpr int constants =
      kCoordinateConstants + 5;  // rho mu_d, rho mu_s, v_s, Stribeck speed, 1/length
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);

  template <class S>
  static S load(const S* lambda, const S& per_length) {
    using std::sqrt;
    S force(0), torque(0);
    for (int i = 0; i < Forces; ++i) force += lambda[i] * lambda[i];
    for (int i = Forces; i < multipliers; ++i) torque += lambda[i] * lambda[i];
    return (force > S(0) ? sqrt(force) : S(0)) + (torque > S(0) ? per_length * sqrt(torque) : S(0));
  }
  // Friction for a load of 1.
  template <class S>
  static S coefficient(const S& rate, const S* n) {
    using std::exp, std::sqrt;
    const S r = rate / n[3];
    return (n[0] + (n[1] - n[0]) * exp(-r * r)) * rate / sqrt(rate * rate + n[2] * n[2]);
  }
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                     std::array<Vec6T<S>, 2>& W) {
    const S* n = p + kCoordinateConstants;
    const auto B = coordinate_gradient<S>(f[0], f[1], p);
    const S rate = B[0].dot(f[0].V) + B[1].dot(f[1].V);
    law_wrench<S>(B, coefficient(rate, n) * load(lambda, n[4]), W);
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       const double* lambda, ForcePartials<2>& d,
                       MultiplierPartials<2, multipliers>& by_lambda);
};

ListedKind joint_spring();
ListedKind joint_stop();
ListedKind joint_actuator();
ListedKind joint_friction();

}  // namespace liedyn
