// Hydraulic cylinder with two chambers and a four-way valve. With the coordinate x, which chamber A makes grow,
//
//   V_a = D_a + A_a (x - x_r)                  V_b = D_b + A_b (x_r + l - x)                 volumes; l the stroke, x_r fully retracted
//   p_a' = beta/V_a (Q_a - A_a x' - q_l)       p_b' = beta/V_b (Q_b + A_b x' + q_l)          q_l = c_l (p_a - p_b) leaks from A to B
//   e = A_a p_a - A_b p_b - d x'
//
// The opening u of the valve joins A to the supply and B to the tank where it is positive, and the other way round where it is negative:
//
//   u > 0:  Q_a = u q(p_s - p_a),  Q_b = u q(p_t - p_b)         u < 0:  Q_a = -u q(p_t - p_a),  Q_b = -u q(p_s - p_b)
//   q(y) = Q_n/sqrt(y_n) y/(y^2 + y_0^2)^(1/4)                  orifice, sqrt|y| with its sign but for drops below y_0
//
// A chamber never counts as less than its dead volume: stops of the stroke are forces of their own.
#pragma once

#include <cmath>

#include "liedyn/model/forces/machine.h"

namespace liedyn {

template <class CoordinateOfCylinder>
struct Hydraulics {
  using Coordinate = CoordinateOfCylinder;
  static constexpr int states = 2;
  // A_a, A_b, D_a, D_b, x_r, l, beta, c_l, u, Q_n/sqrt(y_n), p_s, p_t, y_0, d
  static constexpr int constants = 14;
  static constexpr bool inertia = false, reads_value = true;

  template <class S>
  static void derive(const Inputs<S>& in, S* n);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  static S orifice(const S& drop, const S* n) {
    using std::sqrt;
    return n[9] * drop / sqrt(S(sqrt(S(drop * drop + n[12] * n[12]))));
  }
  // Into the chambers A and B, through the valve.
  template <class S>
  static std::array<S, 2> flows(const S* p, const S* n) {
    const S u = n[8];
    if (u > S(0)) return {u * orifice(S(n[10] - p[0]), n), u * orifice(S(n[11] - p[1]), n)};
    return {-u * orifice(S(n[11] - p[0]), n), -u * orifice(S(n[10] - p[1]), n)};
  }
  template <class S>
  static void law(const S& x, const S& rate, const S* p, const S* n, S& effort, S* f) {
    const S out = x - n[4], in = n[5] - out, leak = n[7] * (p[0] - p[1]);
    const S Va = out > S(0) ? S(n[2] + n[0] * out) : n[2], Vb = in > S(0) ? S(n[3] + n[1] * in) : n[3];
    const std::array<S, 2> Q = flows(p, n);
    effort = n[0] * p[0] - n[1] * p[1] - n[13] * rate;
    f[0] = n[6] / Va * (Q[0] - n[0] * rate - leak);
    f[1] = n[6] / Vb * (Q[1] + n[1] * rate + leak);
  }

  static std::vector<MachineQuantity> quantities() {
    return {{"pressure_a", "Pa"}, {"pressure_b", "Pa"}, {"flow_a", "m^3/s"},
            {"flow_b", "m^3/s"},  {"valve", ""},        {"force", "N or N m"}};
  }
  template <class S>
  static S quantity(int which, const S&, const S& rate, const S* p, const S* n) {
    switch (which) {
      case 0: return p[0];
      case 1: return p[1];
      case 2: return flows(p, n)[0];
      case 3: return flows(p, n)[1];
      case 4: return n[8];
      default: return n[0] * p[0] - n[1] * p[1] - n[13] * rate;
    }
  }
};

ListedKind hydraulic_cylinder();  // between two points
ListedKind joint_hydraulics();    // in a joint

}  // namespace liedyn
