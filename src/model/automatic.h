// Forces without derivatives by hand: Automatic<E> adds to an element E what BatchOf wants, by dual numbers, which are exact.
//
//   struct Drag {                                                              F = -c |v| v at the centre of mass
//     static constexpr int frames = 1, numbers = 1;
//     static constexpr Optional optional = {};
//     static std::vector<Attachment> attachments();
//     template <class S> static void derive(const Inputs<S>& in, S* p);
//     template <class S> static void wrench(const World<S>&, const std::array<Motion<S>, 1>& f, const S* p,
//                                           std::array<Vec6T<S>, 1>& W);       what it adds to the residual: -F, in body axes
//   };
//   register_force({{"drag", ...}, &make_batch<Automatic<Drag>>});
//
// A force depends on positions and velocities, not on accelerations: these are not numbers here, and the run says so if it reads them.
// Partials by hand cost less: a small part of a step for most models.
#pragma once

#include <algorithm>
#include <array>
#include <limits>

#include "liedyn/base/dual.h"
#include "liedyn/model/batch_of.h"

namespace liedyn {

template <class E>
struct Automatic : E {
  static constexpr int rows = 0;
  static constexpr bool stiffness = true, damping = true, inertia = false;

  template <class S>
  static void wrench(const World<S>& world, const std::array<Motion<S>, E::frames>& f, const S* p,
                     std::array<Vec6T<S>, E::frames>& W) {
    std::array<Motion<S>, E::frames> moving = f;
    for (Motion<S>& m : moving) m.A.setConstant(S(std::numeric_limits<double>::quiet_NaN()));
    E::wrench(world, moving, p, W);
  }

  // dW_i/dX_j along X_j exp(d), and dW_i/dV_j: one frame j at a time.
  static void partials(const World<double>& world, const std::array<Motion<double>, E::frames>& f,
                       const double* p, ForcePartials<E::frames>& out) {
    using D = Dual<double, 12>;
    World<D> dual_world;
    dual_world.gravity = world.gravity.template cast<D>();
    dual_world.time = D(world.time);
    std::array<D, std::max(E::constants, 1)> constants;
    for (int i = 0; i < E::constants; ++i) constants[static_cast<std::size_t>(i)] = D(p[i]);
    std::array<Motion<D>, E::frames> motions;
    for (std::size_t i = 0; i < motions.size(); ++i) motions[i] = constant<D>(f[i]);

    for (std::size_t j = 0; j < motions.size(); ++j) {
      Vec6T<D> increment = Vec6T<D>::Zero();
      for (int k = 0; k < 6; ++k) {
        increment[k].d[static_cast<std::size_t>(k)] = 1;
        motions[j].V[k].d[static_cast<std::size_t>(6 + k)] = 1;
      }
      static_cast<Pose<D>&>(motions[j]) = perturbed<D>(motions[j], increment);
      std::array<Vec6T<D>, E::frames> W;
      for (Vec6T<D>& w : W) w.setZero();
      wrench(dual_world, motions, constants.data(), W);
      for (std::size_t i = 0; i < motions.size(); ++i)
        for (int r = 0; r < 6; ++r)
          for (int c = 0; c < 6; ++c) {
            out.K[i][j](r, c) = W[i][r].d[static_cast<std::size_t>(c)];
            out.C[i][j](r, c) = W[i][r].d[static_cast<std::size_t>(6 + c)];
          }
      motions[j] = constant<D>(f[j]);
    }
  }

 private:
  template <class D>
  static Motion<D> constant(const Motion<double>& m) {
    Motion<D> out;
    out.R = m.R.template cast<D>();
    out.p = m.p.template cast<D>();
    out.V = m.V.template cast<D>();
    out.A = m.A.template cast<D>();
    return out;
  }
};

}  // namespace liedyn
