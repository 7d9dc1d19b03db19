// Direct-current motor in a joint, with a gear. With the coordinate x of the joint, the rotor turns with w = g x':
//
//   L i' = V - R i - k w                 current; without inductance  i = (V - k w)/R
//   e    = g (k i - b w) - g^2 J x''     effort on the joint
//
// The torque constant k is the constant of the back-EMF as well: what the motor takes, V i, is R i^2 + L i i' + k w i.
#pragma once

#include "liedyn/model/forces/machine.h"

namespace liedyn {

template <bool Inductive>
struct DcMotor {
  using Coordinate = CoordinateOfJoint;
  static constexpr int states = Inductive ? 1 : 0;
  static constexpr int constants = 7;  // g^2 J, V, R, L, k, g, b
  static constexpr bool inertia = true, reads_value = false;

  template <class S>
  static void derive(const Inputs<S>& in, S* n);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  static S current(const S& w, const S* s, const S* n) {
    if constexpr (Inductive)
      return s[0];
    else
      return (n[1] - n[4] * w) / n[2];
  }
  template <class S>
  static void law(const S&, const S& rate, const S* s, const S* n, S& effort, [[maybe_unused]] S* f) {
    const S w = n[5] * rate, i = current(w, s, n);
    effort = n[5] * (n[4] * i - n[6] * w);
    if constexpr (Inductive) f[0] = (n[1] - n[2] * i - n[4] * w) / n[3];
  }

  static std::vector<MachineQuantity> quantities() {
    return {{"current", "A"}, {"voltage", "V"}, {"electrical_power", "W"}, {"loss", "W"}};
  }
  template <class S>
  static S quantity(int which, const S&, const S& rate, const S* s, const S* n) {
    const S w = n[5] * rate, i = current(w, s, n);
    switch (which) {
      case 0: return i;
      case 1: return n[1];
      case 2: return n[1] * i;
      default: return n[2] * i * i + n[6] * w * w;
    }
  }
};

ListedKind dc_motor();

}  // namespace liedyn
