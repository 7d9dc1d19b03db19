// Distance joint (massless rod, winch): two points keep the distance L(t),
//   Phi = (d.d - L^2)/(2 L)   with d = p_1 - p_2
//
// a length, whose multiplier is the force in the rod. With s = d.d,
//   Phi_t = -(s/L^2 + 1) L'/2,   Phi_tq V = -(L'/L) B V,   Phi_tt = s L'^2/L^3 - (s/L^2 + 1) L''/2
#pragma once

#include "liedyn/model/batch_of.h"

namespace liedyn {

struct Distance {
  static constexpr int frames = 2, rows = 1, constants = 3;  // L, L', L''
  static constexpr bool across = true;
  static constexpr Optional optional = {.check = true, .rheonomic = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);
  static std::string row_name(int row);

  template <class S>
  static Eigen::Matrix<S, 1, 1> phi(const std::array<Pose<S>, 2>& f, const S* p) {
    return Eigen::Matrix<S, 1, 1>(((f[0].p - f[1].p).squaredNorm() / p[0] - p[0]) * S(0.5));
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, 1, S>& d);
};

ListedKind distance();

}  // namespace liedyn
