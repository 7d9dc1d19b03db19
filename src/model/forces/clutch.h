// Clutches and brakes: the torque between two shafts, or between the bodies of a joint, is limited by a capacity C. With the slip v = x',
//
//   smooth   e = -C v/sqrt(v^2 + v_s^2)
//   stick    e = -C (s + T s'),     s' = (v - |v| s)/delta
//
// The second is the model of Dahl with a bristle of the stiffness C/delta: s is the share of the capacity in use, within -1 and 1. While it slips,
// s = sign(v). While it sticks it is a spring C/delta with a damper C T/delta, and nothing creeps under a constant load. With the energy C delta s^2/2 of the
// bristle it loses C |v| s^2 + C T/delta v^2 (1 - s sign(v)) >= 0.
#pragma once

#include <cmath>

#include "liedyn/model/forces/machine.h"

namespace liedyn {

template <class CoordinateOfClutch, bool Sticks>
struct Clutch {
  using Coordinate = CoordinateOfClutch;
  static constexpr int states = Sticks ? 1 : 0;
  static constexpr int constants = 4;  // C, v_s, delta, T
  static constexpr bool inertia = false, reads_value = false;

  template <class S>
  static void derive(const Inputs<S>& in, S* n);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  // Nothing pushes the plates apart.
  template <class S>
  static S capacity(const S* n) {
    return n[0] > S(0) ? n[0] : S(0);
  }
  template <class S>
  static void law(const S&, const S& v, [[maybe_unused]] const S* s, const S* n, S& effort,
                  [[maybe_unused]] S* f) {
    using std::sqrt;
    const S C = capacity(n);
    if constexpr (Sticks) {
      f[0] = (v - (v < S(0) ? S(-v) : v) * s[0]) / n[2];
      effort = -C * (s[0] + n[3] * f[0]);
    } else {
      effort = -C * v / sqrt(v * v + n[1] * n[1]);
    }
  }

  static std::vector<MachineQuantity> quantities() {
    return {{"slip", "rad/s or m/s"}, {"capacity", "N or N m"}, {"loss", "W"}};
  }
  template <class S>
  static S quantity(int which, const S& x, const S& v, const S* s, const S* n) {
    if (which == 0) return v;
    if (which == 1) return capacity(n);
    if constexpr (Sticks) {
      const S speed = v < S(0) ? S(-v) : v;
      return capacity(n) * (speed * s[0] * s[0] + n[3] / n[2] * (v * v - v * speed * s[0]));
    }
    S effort(0);
    law<S>(x, v, s, n, effort, nullptr);
    return -effort * v;
  }
};

ListedKind clutch();        // between two shafts, each with a joint of its own
ListedKind joint_clutch();  // between the bodies of a joint

}  // namespace liedyn
