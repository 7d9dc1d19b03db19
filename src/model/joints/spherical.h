// Spherical joint: the two points coincide,
//   Phi = p_1 - p_2   (inertial axes, so that lambda is the force on the second body and the bodies do not couple)
#pragma once

#include "liedyn/model/batch_of.h"

namespace liedyn {

struct Spherical {
  static constexpr int frames = 2, rows = 3, constants = 0;
  static constexpr Optional optional = {};
  static constexpr bool across = false;
  static constexpr int places = 3;

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>&, S*) {}
  static std::string row_name(int row);

  template <class S>
  static Eigen::Matrix<S, 3, 1> phi(const std::array<Pose<S>, 2>& f, const S*) {
    return f[0].p - f[1].p;
  }
  template <class S>
  static void derivatives(const std::array<Motion<S>, 2>& f, const S* p, const S* lambda,
                          JointDerivatives<2, 3, S>& d);
};

ListedKind spherical();

}  // namespace liedyn
