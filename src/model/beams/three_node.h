// Geometrically exact beam element with a middle node M. The section frames are those of M moved by quadratic functions of x in [-1, 1]:
//
//   H(x) = H_M exp(phi(x)),   phi = N_A d_A + N_B d_B,   N_A = x (x - 1)/2,   N_B = x (x + 1)/2,   d_i = log(H_M^-1 H_i)
//   strain (2/L) T(phi) phi' - the same of the relaxed shape,      d_i' = T^-1(d_i) V_i - T^-1(-d_i) V_M
//
// Only motions relative to M are interpolated, so strains do not see rigid motions and do not depend on the path to them. Two Gauss
// points (one less than full integration) keep it from locking. Inertia by Lobatto's rule at the nodes, weights 1/6, 4/6, 1/6: exact for
// rigid motions of a straight element, a block diagonal mass matrix, and with quadratic shape functions no loss of order.
#pragma once

#include "liedyn/lie/se3.h"
#include "liedyn/model/batch_of.h"
#include "liedyn/model/beams/screw.h"

namespace liedyn {

struct ThreeNodeBeam {
  static constexpr int frames = 3, rows = 0;
  static constexpr int points = 2;
  // L, tau, strains of the relaxed shape and K of the Gauss points, M of the nodes times their weights
  static constexpr int kLength = 0, kDelay = 1, kRelaxed = 2, kStiffness = 14, kInertia = 86, constants = 194;
  static constexpr bool stiffness = true, damping = true, inertia = true;
  static constexpr Optional optional = {.check = true, .energy = true};

  static std::vector<Attachment> attachments() { return {}; }
  template <class S>
  static void derive(const Inputs<S>& in, S* p);
  static void check(const Inputs<double>& in, std::string& message, std::string& hint);

  template <class S>
  struct Parts {
    const S* p;
    const S& length() const { return p[kLength]; }
    const S& delay() const { return p[kDelay]; }
    Eigen::Map<const Vec6T<S>> relaxed(int point) const {
      return Eigen::Map<const Vec6T<S>>(p + kRelaxed + 6 * point);
    }
    Eigen::Map<const Mat6T<S>> K(int point) const {
      return Eigen::Map<const Mat6T<S>>(p + kStiffness + 36 * point);
    }
    Eigen::Map<const Mat6T<S>> M(int node) const {
      return Eigen::Map<const Mat6T<S>>(p + kInertia + 36 * node);
    }
  };

  // Shape functions of the two ends at the Gauss points +-1/sqrt(3).
  struct Shape {
    double N[2], slope[2];
  };
  static constexpr Shape kShape[points] = {
      {{0.45534180126147955, -0.12200846792814624}, {-1.0773502691896257, -0.07735026918962576}},
      {{-0.12200846792814624, 0.45534180126147955}, {0.07735026918962576, 1.0773502691896257}}};

  // Strain measure (2/L) T(phi) phi' at a Gauss point, and how it follows d_A and d_B.
  template <class S>
  struct Strain {
    Vec6T<S> value;
    Mat6T<S> slope[2];
    Strain(const Shape& shape, const std::array<Vec6T<S>, 2>& d, const S& length) {
      const Vec6T<S> phi = S(shape.N[0]) * d[0] + S(shape.N[1]) * d[1];
      const Vec6T<S> along = S(shape.slope[0]) * d[0] + S(shape.slope[1]) * d[1];
      const S scale = S(2) / length;
      const Mat6T<S> T = scale * SE3<S>::T(phi), dT = scale * SE3<S>::dT(phi, along);
      value = T * along;
      for (int i = 0; i < 2; ++i) slope[i] = S(shape.N[i]) * dT + S(shape.slope[i]) * T;
    }
  };

  // Forces g_A, g_B that work on d_A and d_B.
  template <class S>
  static std::array<Vec6T<S>, 2> internal(const Parts<S>& parts, const std::array<Vec6T<S>, 2>& d,
                                          const std::array<Vec6T<S>, 2>& rate) {
    std::array<Vec6T<S>, 2> g = {Vec6T<S>::Zero(), Vec6T<S>::Zero()};
    for (int k = 0; k < points; ++k) {
      const Strain<S> strain(kShape[k], d, parts.length());
      const Vec6T<S> n = (S(0.5) * parts.length()) * (parts.K(k) * section_strain(parts, k, strain, rate));
      for (int i = 0; i < 2; ++i) g[static_cast<std::size_t>(i)] += strain.slope[i].transpose() * n;
    }
    return g;
  }

  template <class S>
  static void wrench(const World<S>& world, const std::array<Motion<S>, 3>& f, const S* p,
                     std::array<Vec6T<S>, 3>& W) {
    const Parts<S> parts{p};
    const std::array<Vec6T<S>, 2> d = {relative(f[1], f[0]), relative(f[1], f[2])};
    const Mat6T<S> forth[2] = {SE3<S>::Tinv(d[0]), SE3<S>::Tinv(d[1])};
    const Mat6T<S> back[2] = {SE3<S>::Tinv(-d[0]), SE3<S>::Tinv(-d[1])};
    const std::array<Vec6T<S>, 2> rate = {forth[0] * f[0].V - back[0] * f[1].V,
                                          forth[1] * f[2].V - back[1] * f[1].V};
    const auto g = internal(parts, d, rate);
    for (int i = 0; i < 3; ++i) {
      const auto k = static_cast<std::size_t>(i);
      W[k] = inertial<S>(parts.M(i), f[k].V, falling(f[k], world));
    }
    W[0] += forth[0].transpose() * g[0];
    W[2] += forth[1].transpose() * g[1];
    W[1] -= back[0].transpose() * g[0] + back[1].transpose() * g[1];
  }
  static void partials(const World<double>& world, const std::array<Motion<double>, 3>& f, const double* p,
                       ForcePartials<3>& d);
  template <class S>
  static EnergyOf<S> energy(const World<S>& world, const std::array<Motion<S>, 3>& f, const S* p) {
    const Parts<S> parts{p};
    EnergyOf<S> out;
    for (int i = 0; i < 3; ++i) {
      const Motion<S>& m = f[static_cast<std::size_t>(i)];
      out += inertial_energy<S>(parts.M(i), m.V, m, world.gravity);
    }
    for (int k = 0; k < points; ++k) {
      const Strain<S> strain(kShape[k], {relative(f[1], f[0]), relative(f[1], f[2])}, parts.length());
      const Vec6T<S> e = strain.value - parts.relaxed(k);
      out.potential += S(0.25) * parts.length() * e.dot(parts.K(k) * e);
    }
    return out;
  }
  // Strain and force of the section at a Gauss point.
  template <class S>
  static void section(const std::array<Motion<S>, 3>& f, const S* p, int point, Vec6T<S>& out_strain,
                      Vec6T<S>& force) {
    const Parts<S> parts{p};
    const std::array<Vec6T<S>, 2> d = {relative(f[1], f[0]), relative(f[1], f[2])};
    const std::array<Vec6T<S>, 2> rate = {SE3<S>::Tinv(d[0]) * f[0].V - SE3<S>::Tinv(-d[0]) * f[1].V,
                                          SE3<S>::Tinv(d[1]) * f[2].V - SE3<S>::Tinv(-d[1]) * f[1].V};
    const Strain<S> strain(kShape[point], d, parts.length());
    out_strain = strain.value - parts.relaxed(point);
    force = parts.K(point) * section_strain(parts, point, strain, rate);
  }

  // d = log(H_M^-1 H_i)
  template <class S>
  static Vec6T<S> relative(const Pose<S>& middle, const Pose<S>& end) {
    return SE3<S>(middle.R.transpose() * (end.p - middle.p),
                  SO3<S>::from_matrix(middle.R.transpose() * end.R))
        .log();
  }

 private:
  // Strain plus tau times its rate.
  template <class S>
  static Vec6T<S> section_strain(const Parts<S>& parts, int point, const Strain<S>& strain,
                                 const std::array<Vec6T<S>, 2>& rate) {
    return strain.value - parts.relaxed(point) +
           parts.delay() * (strain.slope[0] * rate[0] + strain.slope[1] * rate[1]);
  }
};

}  // namespace liedyn
