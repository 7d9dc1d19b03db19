// Torque or force u in a joint: a number, a function of time, or an expression of states and sensors (model/forces/signal_force.h): controllers and
// motors. With the joint's coordinate c (model/joint_coordinate.h) and its gradient B_i = dc/dX_i, an effort in the direction of c adds
//
//   W_i = -B_i^T u,     dW_i = -G_ij u dX_j - B_i^T du
#pragma once

#include "liedyn/model/forces/signal_force.h"
#include "liedyn/model/joint_coordinate.h"

namespace liedyn {

struct JointEffort {
  static constexpr int frames = 2, rows = 0;
  static constexpr int constants = kCoordinateConstants + 1;  // u
  static constexpr bool stiffness = true, damping = false, inertia = false;
  static constexpr Optional optional = {};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);

  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    const auto B = coordinate_gradient<S>(f[0], f[1], p);
    for (std::size_t i = 0; i < 2; ++i) W[i] = B[i] * S(-p[kCoordinateConstants]);
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
};

ListedKind joint_effort();

}  // namespace liedyn
