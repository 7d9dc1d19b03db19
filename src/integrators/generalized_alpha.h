// Generalised-alpha on Lie groups, index 3 (Arnold, Cardona, Brüls, Eqs. (37); geom1 of Brüls and Cardona):
//
//   q_{n+1} = q_n exp(theta),   theta = h v_n + h^2 (1/2 - beta) a_n + h^2 beta a_{n+1}                       (37a, b)
//   v_{n+1} = v_n + h (1 - gamma) a_n + h gamma a_{n+1}                                                       (37c)
//   (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) vdot_{n+1} + alpha_f vdot_n                           (37d)
//
// with equilibrium and the constraints at t_{n+1}.
#pragma once

#include "integrators/integrator.h"

namespace liedyn {

struct AlphaParameters {
  double alpha_m, alpha_f, beta, gamma;
  // Chung and Hulbert, Eq. (42): second order, spectral radius rho at infinite frequency.
  static AlphaParameters from_rho(double rho);
};

ListedIntegrator generalized_alpha();

}  // namespace liedyn
