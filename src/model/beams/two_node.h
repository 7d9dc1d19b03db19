// Geometrically exact beam element between two nodes, on SE3 (Sonneville, Cardona, Bruels 2014). The element's section frames are
//
//   H(s) = H_A exp(s/L d),     d = log(H_A^-1 H_B),     d' = T^-1(d) V_B - T^-1(-d) V_A
//
// so its strain d/L - d_0/L is constant along it: circles and helices, stretched, sheared and twisted ones too, are exact, and
// nothing locks. With n = K/L (d - d_0 + tau d') the residual has
//
//   W_A = -T^-T(-d) n,    W_B = T^-T(d) n.
//
// Inertia: Simpson's rule. At the nodes the twists are those of the nodes; in the middle the motion by d/2 has the dual Gibbs vector c
// (rotational part tan(t/4) n), with which
//
//   V_m = Q_A V_A + Q_B V_B,   Q_A = (1 - ad_c)/2,   Q_B = (1 + ad_c)/2,   c' = (1 - c.c)/4 D + (c.D)/2 c + c x S/2,
//   A_m = Q_A A_A + Q_B A_B + c' x D/2                                      D = V_B - V_A,   S = V_A + V_B
//
// exactly: 1/2 +- 1/2 tanh(ad_d/4) is what T and T^-1 make of the interpolation at s = L/2, and tanh(ad_d/4) = ad_c. All of this is
// polynomial in c. Each of the three points adds M A - ad_V^T M V, transposed back by Q^T: exact for every rigid motion, with
// the mass matrix of linear shape functions for a straight element. Uniform translations belong to the interpolation, so weight is
// the inertial force of a falling frame here too.
#pragma once

#include "liedyn/lie/se3.h"
#include "liedyn/model/batch_of.h"
#include "liedyn/model/beams/screw.h"

namespace liedyn {

struct TwoNodeBeam {
  static constexpr int frames = 2, rows = 0;
  // L, tau, d_0, K/L, M of the three points times their weights
  static constexpr int kLength = 0, kDelay = 1, kRelaxed = 2, kStiffness = 8, kInertia = 44, constants = 152;
  static constexpr bool stiffness = true, damping = true, inertia = true;
  static constexpr Optional optional = {.check = true, .energy = true};
  static constexpr int points = 1;  // where strains are evaluated

  static std::vector<Attachment> attachments() { return {}; }
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  struct Parts {
    S length, delay;
    Eigen::Map<const Vec6T<S>> relaxed;
    Eigen::Map<const Mat6T<S>> K, M_A, M_m, M_B;
    explicit Parts(const S* p)
        : length(p[kLength]),
          delay(p[kDelay]),
          relaxed(p + kRelaxed),
          K(p + kStiffness),
          M_A(p + kInertia),
          M_m(p + kInertia + 36),
          M_B(p + kInertia + 72) {}
  };

  template <class S>
  static void wrench(const World<S>& world, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    const Parts<S> parts(p);
    const RelativePose<S> relative(f[0], f[1]);
    const Vec6T<S>&d = relative.twist, &c = relative.half;
    const S half(0.5);

    const Mat6T<S> back = SE3<S>::Tinv(-d), forth = SE3<S>::Tinv(d);
    const Vec6T<S> rate = forth * f[1].V - back * f[0].V;
    const Vec6T<S> n = parts.K * (d - parts.relaxed + parts.delay * rate);
    W[0] = -(back.transpose() * n);
    W[1] = forth.transpose() * n;

    const Vec6T<S> A0 = falling<S>(f[0], world), A1 = falling<S>(f[1], world);
    const Vec6T<S> D = f[1].V - f[0].V, sum = f[0].V + f[1].V;
    const Vec6T<S> V = half * (sum + screw_cross(c, D));
    const Vec6T<S> A =
        half * (A0 + A1 + screw_cross<S>(c, A1 - A0) + screw_cross<S>(half_rate(c, D, sum), D));
    const Vec6T<S> F = inertial<S>(parts.M_m, V, A);
    W[0] += inertial<S>(parts.M_A, f[0].V, A0);
    W[1] += inertial<S>(parts.M_B, f[1].V, A1);
    const Vec6T<S> turned = coadjoint(c, F);
    W[0] += half * (F - turned);
    W[1] += half * (F + turned);
  }
  static void partials(const World<double>& world, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>& world, const std::array<Motion<S>, 2>& f, const S* p) {
    const Parts<S> parts(p);
    const RelativePose<S> relative(f[0], f[1]);
    const Vec6T<S> D = f[1].V - f[0].V;
    const Vec6T<S> V = S(0.5) * (f[0].V + f[1].V + screw_cross(relative.half, D));
    const SE3<S> half = SE3<S>::exp(S(0.5) * relative.twist);
    const Pose<S> middle{f[0].R * half.R(), f[0].p + f[0].R * half.position()};
    const Vec6T<S> e = relative.twist - parts.relaxed;
    EnergyOf<S> out{S(0), S(0.5) * e.dot(parts.K * e)};
    out += inertial_energy<S>(parts.M_A, f[0].V, f[0], world.gravity);
    out += inertial_energy<S>(parts.M_m, V, middle, world.gravity);
    out += inertial_energy<S>(parts.M_B, f[1].V, f[1], world.gravity);
    return out;
  }
  // Strain and force of the section in the middle.
  template <class S>
  static void section(const std::array<Motion<S>, 2>& f, const S* p, int, Vec6T<S>& strain, Vec6T<S>& force) {
    const Parts<S> parts(p);
    const Vec6T<S> d = RelativePose<S>(f[0], f[1]).twist;
    const Vec6T<S> rate = SE3<S>::Tinv(d) * f[1].V - SE3<S>::Tinv(-d) * f[0].V;
    strain = (d - parts.relaxed) / parts.length;
    force = parts.K * (d - parts.relaxed + parts.delay * rate);
  }

 private:
  // c' = (1 - c.c)/4 D + (c.D)/2 c + c x S/2, with dual products
  template <class S>
  static Vec6T<S> half_rate(const Vec6T<S>& c, const Vec6T<S>& D, const Vec6T<S>& sum) {
    const Vec3T<S> cu = c.template head<3>(), cw = c.template tail<3>();
    const Vec3T<S> Du = D.template head<3>(), Dw = D.template tail<3>();
    const S half(0.5), quarter(0.25);
    const S cc = cw.squaredNorm(), cD = cw.dot(Dw), cc_dual = S(2) * cu.dot(cw),
            cD_dual = cu.dot(Dw) + cw.dot(Du);
    Vec6T<S> out = half * screw_cross(c, sum);
    out.template head<3>() += quarter * ((S(1) - cc) * Du - cc_dual * Dw) + half * (cD * cu + cD_dual * cw);
    out.template tail<3>() += quarter * (S(1) - cc) * Dw + half * cD * cw;
    return out;
  }
};

}  // namespace liedyn
