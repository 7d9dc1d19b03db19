// Spring and damper along the line between two points. With d = p_1 - p_2, l = |d|, n = d/l, the residual has
//   R_1^T F on the first body and -R_2^T F on the second,   F = (k (l - l_0) + c n.d') n.
// One-sided, a rope or a bump stop, it acts only where it is longer (shorter) than l_0, and never pushes (pulls).
#pragma once

#include <cmath>

#include "liedyn/model/forces/watched_contact.h"

namespace liedyn {

struct SpringDamper {
  static constexpr int frames = 2, rows = 0,
                       constants = 4;  // k, c, l_0, side: 0 both, 1 tension, -1 compression
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {.check = true, .energy = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  // Whether it acts with this extension and this force.
  template <class S>
  static bool acts(const S& extension, const S& force, const S* p) {
    return p[3] == S(0) || (p[3] * extension > S(0) && p[3] * force > S(0));
  }
  // At l = 0 the line has no direction; the force is zero there.
  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p,
                     std::array<Vec6T<S>, 2>& W) {
    using std::sqrt;
    const Vec3T<S> span = f[0].p - f[1].p, rate = f[0].velocity() - f[1].velocity();
    const S square = span.squaredNorm();
    Vec3T<S> F = Vec3T<S>::Zero();
    if (square > S(0)) {
      const S length = sqrt(square);
      const Vec3T<S> n = span / length;
      const S extension = length - p[2], force = p[0] * extension + p[1] * n.dot(rate);
      if (acts(extension, force, p)) F = force * n;
    }
    W[0] << f[0].R.transpose() * F, Vec3T<S>::Zero();
    W[1] << -(f[1].R.transpose() * F), Vec3T<S>::Zero();
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 2>& f, const double* p,
                       ForcePartials<2>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>&, const std::array<Motion<S>, 2>& f, const S* p) {
    const S extension = (f[0].p - f[1].p).norm() - p[2];
    if (p[3] * extension < S(0)) return {};
    return {S(0), S(0.5) * p[0] * extension * extension};
  }
  // One-sided, a stop that may be hit.
  static Approach approach(const std::array<Motion<double>, 2>& f, const double* p);
};

ListedKind spring_damper();

}  // namespace liedyn
