// Partials of forces between two bodies that depend on their relative motion alone, by dual numbers.
#pragma once

#include "liedyn/base/dual.h"
#include "liedyn/model/batch_of.h"

namespace liedyn {

// The twist of the first frame as the second would have it, were both one rigid body: (u, w) -> (Q u + r x Q w, Q w) with Q = R_2^T R_1,
// r = R_2^T (p_1 - p_2).
inline Mat6 to_second(const std::array<Motion<double>, 2>& f) {
  const Mat3 Q = f[1].R.transpose() * f[0].R;
  const Vec3 r = f[1].R.transpose() * (f[0].p - f[1].p);
  Mat6 A;
  A << Q, skew(r) * Q, Mat3::Zero(), Q;
  return A;
}

// The frames as dual numbers: the first twelve directions are increments and twists of the second one.
template <int N>
std::array<Motion<Dual<double, N>>, 2> with_increments(const std::array<Motion<double>, 2>& f) {
  using Moving = Dual<double, N>;
  std::array<Motion<Moving>, 2> m;
  for (std::size_t i = 0; i < 2; ++i) {
    m[i].R = f[i].R.template cast<Moving>();
    m[i].p = f[i].p.template cast<Moving>();
    m[i].V = f[i].V.template cast<Moving>();
  }
  Vec6T<Moving> increment;
  for (int k = 0; k < 6; ++k) {
    increment[k] = seed<N>(0.0, k);
    m[1].V[k].d[static_cast<std::size_t>(6 + k)] = 1;
  }
  static_cast<Pose<Moving>&>(m[1]) = perturbed<Moving>(m[1], increment);
  return m;
}

// Wrenches in body axes do not change if both bodies move together, nor if
// both have the velocities of one rigid body besides: K_i1 = -K_i2 A, C_i1 = -C_i2 A.
template <class E>
void relative_partials(const std::array<Motion<double>, 2>& f, const double* p, ForcePartials<2>& d) {
  using Moving = Dual<double, 12>;
  const std::array<Motion<Moving>, 2> m = with_increments<12>(f);
  std::array<Moving, E::constants> own;
  for (std::size_t i = 0; i < own.size(); ++i) own[i] = Moving(p[i]);
  std::array<Vec6T<Moving>, 2> W;
  E::wrench(World<Moving>(), m, own.data(), W);
  const Mat6 A = to_second(f);
  for (int i = 0; i < 2; ++i) {
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c < 6; ++c) {
        const Moving& w = W[static_cast<std::size_t>(i)][r];
        d.K[i][1](r, c) = w.d[static_cast<std::size_t>(c)];
        d.C[i][1](r, c) = w.d[static_cast<std::size_t>(6 + c)];
      }
    d.K[i][0] = -d.K[i][1] * A;
    d.C[i][0] = -d.C[i][1] * A;
  }
}

}  // namespace liedyn
