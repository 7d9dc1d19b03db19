// A given force along the line between two points: an actuator, a muscle, gravitation, a magnet. With d = p_1 - p_2, n = d/|d|, the residual has
//   R_1^T F on the first body and -R_2^T F on the second,   F = f n.
#pragma once

#include <cmath>

#include "liedyn/model/batch_of.h"

namespace liedyn {

struct TwoPointForce {
  static constexpr int frames = 2, rows = 0, constants = 1;  // f
  static constexpr Optional optional = {};
  static constexpr bool stiffness = true, damping = false, inertia = false;

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);

  // Where the points meet, the line has no direction; the force is zero there.
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    using std::sqrt;
    const Vec3T<S> span = f[0].p - f[1].p;
    const S square = span.squaredNorm();
    const Vec3T<S> F = square > S(0) ? Vec3T<S>(p[0] / sqrt(square) * span) : Vec3T<S>(Vec3T<S>::Zero());
    W[0] << f[0].R.transpose() * F, Vec3T<S>::Zero();
    W[1] << -(f[1].R.transpose() * F), Vec3T<S>::Zero();
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
};

ListedKind two_point_force();

}  // namespace liedyn
