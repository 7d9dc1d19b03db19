// An elastic belt or chain on two pulleys, whose joints have parallel axes on the same carrier. Each of its two strands leads from a point P_1,
// where it leaves the first pulley along the common tangent n, to P_2 on the second. With x of model/line_of_action.h it is longer by
//
//   e = x_2(P_2, n) - x_1(P_1, n)
//
// than at the start and pulls, where E = e + T_0/k is positive, with
//
//   T = k E + c e',   the second term between -k E and k E
//
// A slack strand, E < 0, carries nothing. With the bounds no strand pushes, and T is continuous where it becomes slack or tight.
// The residual has dE/dX T, so that T acts at P_1 and P_2 along the strand: on the pulleys as torques, and on their bearings.
//
// In the plane of the belt, with x from the first axis to the second at the distance D, y across it, and s = 1 for an open and -1 for a
// crossed belt, the strands sigma = 1, -1 have
//
//   sin(beta) = (r_1 - s r_2)/D,   n = cos(beta) x - sigma sin(beta) y,   P_1 = c_1 + r_1 e,   P_2 = c_2 + s r_2 e,
//   e = sin(beta) x + sigma cos(beta) y
#pragma once

#include "liedyn/model/batch_of.h"
#include "liedyn/model/line_of_action.h"

namespace liedyn {

struct Belt {
  static constexpr int frames = 4, rows = 0, angles = 2;
  // Axes of the two joints; lines on them, of the first strand and of the second; k, c, T_0
  static constexpr int lines = 2 * kCoordinateConstants, laws = lines + 4 * kLineConstants;
  static constexpr int constants = laws + 3 + angles;
  static constexpr bool stiffness = true, damping = true, inertia = false;
  static constexpr Optional optional = {.check = true, .energy = true};

  static std::vector<Attachment> attachments();
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  static const S* axes(const S* p, int pulley) {
    return p + pulley * kCoordinateConstants;
  }
  template <class S>
  static const S* line(const S* p, int strand, int pulley) {
    return p + lines + (2 * strand + pulley) * kLineConstants;
  }
  // E of a strand.
  template <class S>
  static S extension(const std::array<Motion<S>, 4>& f, const S* p, int strand) {
    const auto x = [&](int i) -> S {
      const auto k = static_cast<std::size_t>(2 * i);
      return line_value<S>(f[k], f[k + 1], axes(p, i), line(p, strand, i), p[constants - angles + i]);
    };
    return x(1) - x(0) + p[laws + 2] / p[laws];
  }
  // T as a function of E and e', with k and c.
  template <class S>
  static S tension(const S& E, const S& rate, const S& k, const S& c) {
    if (!(E > S(0))) return S(0);
    const S elastic = k * E, viscous = c * rate;
    if (viscous > elastic) return elastic + elastic;
    return viscous < -elastic ? S(0) : S(elastic + viscous);
  }

  template <class S>
  static void wrench(const World<S>&, const std::array<Motion<S>, 4>& f, const S* p,
                     std::array<Vec6T<S>, 4>& W) {
    for (auto& w : W) w.setZero();
    for (int strand = 0; strand < 2; ++strand) {
      std::array<Vec6T<S>, 4> B;
      S rate(0);
      for (int i = 0; i < 2; ++i) {
        const auto k = static_cast<std::size_t>(2 * i);
        const auto x = line_gradient<S>(f[k], f[k + 1], axes(p, i), line(p, strand, i));
        for (std::size_t j = 0; j < 2; ++j) {
          B[k + j] = S(i == 0 ? -1 : 1) * x[j];
          rate += B[k + j].dot(f[k + j].V);
        }
      }
      const S T = tension<S>(extension(f, p, strand), rate, p[laws], p[laws + 1]);
      for (std::size_t i = 0; i < 4; ++i) W[i] += T * B[i];
    }
  }
  static void partials(const World<double>&, const std::array<Motion<double>, 4>& f, const double* p,
                       ForcePartials<4>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>&, const std::array<Motion<S>, 4>& f, const S* p) {
    S sum(0);
    for (int strand = 0; strand < 2; ++strand) {
      const S E = extension(f, p, strand);
      if (E > S(0)) sum += S(0.5) * p[laws] * E * E;
    }
    return {S(0), sum};
  }
  static void wound_angles(const std::array<Motion<double>, 4>& f, const double* p, double* out);
};

ListedKind belt();

}  // namespace liedyn
