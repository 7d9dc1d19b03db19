// A rope that does not stretch, over pulleys without inertia: from a point x_A of the first body over P_1 and P_2, both fixed on a third body
// or on ground, to a point x_B of the second body,
//
//   Phi = |x_A - P_1| + kappa |x_B - P_2| - L(t)
//
// kappa is the number of strands that carry the second body (block and tackle). The multiplier is the tension of the rope: it pulls x_A
// towards P_1 with lambda and x_B towards P_2 with kappa lambda. The parts between and behind the pulleys are constant and not counted.
//
// A strand that runs out has no direction. It may do so between two steps: the directions at the end of the last step are remembered, and
// where one has turned by more than a quarter since then, or L is not positive, the row is no number, which ends the run.
#pragma once

#include "liedyn/model/batch_of.h"

namespace liedyn {

struct Pulley {
  // L, L', L'', kappa; then the remembered directions, zero at the start
  static constexpr int frames = 4, rows = 1, angles = 6, constants = 4 + angles;
  static constexpr bool across = true;
  static constexpr Optional optional = {.check = true, .rheonomic = true};
  enum Frames { kA, kFirstPulley, kSecondPulley, kB };

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  static std::string row_name(int) { return "length of the rope"; }

  template <class S>
  static Eigen::Matrix<S, 1, 1> phi(const std::array<Pose<S>, 4>& f, const S* p) {
    const Vec3T<S> first = f[kA].p - f[kFirstPulley].p, second = f[kB].p - f[kSecondPulley].p;
    return Eigen::Matrix<S, 1, 1>(first.norm() + p[3] * second.norm() - p[0]);
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 4>& f, const S* p, const S* lambda,
                          JointDerivatives<4, 1, S>& d);
  static void wound_angles(const std::array<Motion<double>, 4>& f, const double* p, double* out);
};

ListedKind pulley();

}  // namespace liedyn
