// Tyre of a wheel on a plane road: the brush model with parabolic pressure (Pacejka, Tire and Vehicle Dynamics, chapter 3).
//
// The second body carries the wheel with the centre c, the unit axis a and the radius R, the first the road with the unit normal n. With
// m = n - a (a.n) the lowest point of the wheel is c - R m/|m|, at the penetration d. The normal force N of model/forces/contact_law.h acts
// at the point P of the road above it. The tyre deflects along n, so that N has a potential for every camber angle.
//
//   t_x = a x n/|m|, t_y = n x t_x                     forwards for positive spin, and across
//   r = R - d |m|                                      lever of a longitudinal force: the loaded radius
//   w = a.(w_2 - w_1),  V = sqrt((r_e w)^2 + v_0^2)    spin and rolling speed; r_e is the effective rolling radius
//   s_x = (u.t_x + (r - r_e) w)/V,  s_y = u.t_y/V      -sigma_x, -sigma_y: u is the velocity of the wheel at P relative to the road
//
// The bristles deflect in proportion to the distance from the leading edge, with the slip stiffness C = 2 c_p a^2 in both directions, and
// adhere over the fraction l of the patch:
//
//   g = |(C_x s_x, C_y s_y)|,   l = 1 - g/(3 mu N), not below 0                          g/(3 mu N) = theta sigma
//   F_i = -l^2 C_i s_i - mu N (1 - l)^2 (1 + 2 l) s_i/|s|,   i = x, y                    adhesion, sliding
//   M_z = b l^2 ((4 l/3 - 1) C_y s_y + 3 mu N (1 - l)^2 s_y/|s|) (r_e w/V)               about n; b is half of the length of the patch
//   M_y = F_x (r - r_e) - f N r_e (r_e w/V)                                              about a; rolling resistance f
//
// With C_x = C_y this is F = mu N (3 theta sigma - 3 (theta sigma)^2 + (theta sigma)^3), mu N where theta sigma >= 1, and M_z = l^3 (b/3) C_y s_y. Once all bristles slide, F is opposite
// to the sliding velocity also with C_x != C_y. The term F_x (r - r_e) makes the power of the slip forces F.s V: they dissipate.
//
// The speed v_0 bounds the slip of wheels that stand: F is then a viscous force C s/v_0 that ends at mu N.
#pragma once

#include "liedyn/model/forces/contact_law.h"
#include "liedyn/model/forces/watched_contact.h"

namespace liedyn {

struct Tyre {
  static constexpr int frames = 2, rows = 0;
  enum Numbers {
    kNormal,      // of the road, in the axes of its body
    kAxis = 3,    // of the wheel, in the axes of its body
    kRadius = 6,  // R
    kLaw,         // of N
    kMu = kLaw + kNormalConstants,
    kLongitudinal,  // C_x; N per unit of slip, or of N and slip if it grows with the load
    kLateral,       // C_y
    kGrows,         // 1: the slip stiffness grows with the load, 0: it does not
    kHalfPatch,     // b
    kRolling,       // r_e; 0: the loaded radius
    kResistance,    // f
    kLeastSpeed,    // v_0
    constants
  };
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {.check = true, .energy = true};
  using Motions = std::array<Motion<double>, 2>;

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  // How the wheel stands on the road.
  template <class S>
  struct Stance {
    Vec3T<S> n, axis, at;  // P
    S upright;             // |m|; 0: it lies flat, and is held at its centre
    S depth;
  };
  template <class S>
  static Stance<S> stance(const std::array<Motion<S>, 2>& f, const S* p) {
    constexpr double kFlat = 1e-24;
    using std::sqrt;
    Stance<S> out;
    out.n = f[0].R * Eigen::Map<const Vec3T<S>>(p + kNormal);
    out.axis = f[1].R * Eigen::Map<const Vec3T<S>>(p + kAxis);
    const Vec3T<S> m = out.n - out.axis * out.axis.dot(out.n);
    const S square = m.squaredNorm();
    out.upright = square > S(kFlat) ? S(sqrt(square)) : S(0);
    Vec3T<S> lowest = f[1].p;
    if (square > S(kFlat)) lowest -= p[kRadius] / out.upright * m;
    out.depth = out.n.dot(f[0].p - lowest);
    out.at = lowest + out.depth * out.n;
    return out;
  }
  template <class S>
  static Vec3T<S> angular_velocity(const Motion<S>& m) {
    return m.R * m.V.template tail<3>();
  }
  // Of the second body relative to the first, at a point.
  template <class S>
  static Vec3T<S> relative_velocity(const std::array<Motion<S>, 2>& f, const Vec3T<S>& at) {
    return f[1].velocity() + angular_velocity(f[1]).cross(at - f[1].p) - f[0].velocity() -
           angular_velocity(f[0]).cross(at - f[0].p);
  }

  // Force and torque on the wheel, in inertial axes, of a tyre that is pressed by N.
  template <class S>
  static void slip_forces(const std::array<Motion<S>, 2>& f, const Stance<S>& x, const Vec3T<S>& u,
                          const S& N, const S* p, Vec3T<S>& F, Vec3T<S>& T) {
    using std::sqrt;
    const Vec3T<S> t_x = x.axis.cross(x.n) / x.upright, t_y = x.n.cross(t_x);
    const S loaded = p[kRadius] - x.depth * x.upright, rolling = p[kRolling] > S(0) ? p[kRolling] : loaded;
    const S w = x.axis.dot(Vec3T<S>(angular_velocity(f[1]) - angular_velocity(f[0])));
    const S speed = sqrt(rolling * rolling * w * w + p[kLeastSpeed] * p[kLeastSpeed]),
            forwards = rolling * w / speed;
    const S s_x = (u.dot(t_x) + (loaded - rolling) * w) / speed, s_y = u.dot(t_y) / speed;

    const S load = p[kGrows] > S(0) ? N : S(1), limit = p[kMu] * N;
    const S g_x = p[kLongitudinal] * load * s_x, g_y = p[kLateral] * load * s_y;
    const S square = g_x * g_x + g_y * g_y, slip_square = s_x * s_x + s_y * s_y;
    S F_x(0), F_y(0), M_z = g_y / 3;  // M_z in units of b, for rolling forwards
    if (square > S(0) && slip_square > S(0)) {
      const S sliding = sqrt(square) / (3 * limit);
      const S adhering = sliding < S(1) ? S(1 - sliding) : S(0), lost = 1 - adhering;
      const S pushed = limit * lost * lost / sqrt(slip_square), slides = pushed * (1 + 2 * adhering);
      F_x = -adhering * adhering * g_x - slides * s_x;
      F_y = -adhering * adhering * g_y - slides * s_y;
      M_z = adhering * adhering * ((4.0 / 3 * adhering - 1) * g_y + 3 * pushed * s_y);
    } else {
      F_x = -g_x;  // 0, with its derivatives
      F_y = -g_y;
    }
    F += F_x * t_x + F_y * t_y;
    T += p[kHalfPatch] * M_z * forwards * x.n +
         (F_x * (loaded - rolling) - p[kResistance] * N * rolling * forwards) * x.axis;
  }

  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    for (Vec6T<S>& w : W) w.setZero();
    const Stance<S> x = stance(f, p);
    if (!(x.depth > S(0))) return;
    const Vec3T<S> u = relative_velocity(f, x.at);
    const S N = normal_force<S>(x.depth, S(-x.n.dot(u)), p + kLaw);
    if (!(N > S(0))) return;
    Vec3T<S> F = N * x.n, T = Vec3T<S>::Zero();
    if (x.upright > S(0)) slip_forces(f, x, u, N, p, F, T);
    for (std::size_t i = 0; i < 2; ++i) {
      const Vec3T<S> own = f[i].R.transpose() * F, arm = f[i].R.transpose() * (x.at - f[i].p);
      W[i] << own, arm.cross(own) + f[i].R.transpose() * T;
    }
    W[1] = -W[1];
  }
  static void partials(const World<double>&, const Motions& f, const double* p, ForcePartials<2>& d);

  template <class S>
  static EnergyOf<S> energy(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p) {
    EnergyOf<S> out;
    out.potential = normal_energy<S>(stance(f, p).depth, p + kLaw);
    return out;
  }
  static Approach approach(const Motions& f, const double* p) {
    const Stance<double> x = stance(f, p);
    return {x.depth, -x.n.dot(relative_velocity(f, x.at))};
  }
};

ListedKind tyre();

}  // namespace liedyn
