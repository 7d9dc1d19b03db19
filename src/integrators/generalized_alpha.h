// Generalised-alpha on Lie groups with the sigma modification (Holzinger, Arnold, Gerstmayr, Eqs. (11)-(20)):
//
//   q_{n+1} = q_n exp(theta)
//   theta   = h v_n + h^2 (1/2 - beta) a_n + h^2 beta a_{n+1}
//             + h sigma (beta/gamma) (T^-1(theta) v_{n+1} - v_{n+1}) - h T^-1(theta) B(q_n)^T eta
//   v_{n+1} = v_n + h (1 - gamma) a_n + h gamma a_{n+1}
//   (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) vdot_{n+1} + alpha_f vdot_n
//
// with equilibrium and the constraints at t_{n+1}. sigma = 0 is geom1 of Brüls and Cardona.
#pragma once

#include <string>
#include <vector>

#include "liedyn/integrators/integrator.h"

namespace liedyn {

struct AlphaParameters {
  double alpha_m, alpha_f, beta, gamma;

  // Second order, spectral radius rho at infinite frequency, Eq. (42) of Arnold, Cardona, Brüls.
  static AlphaParameters chung_hulbert(double rho);
  // alpha_m = 0; the spectral radius at infinity is rho for rho from 1/2 to 1.
  static AlphaParameters hilber_hughes_taylor(double rho);
  static AlphaParameters newmark();  // the trapezoidal rule

  // What the order condition (41) and the stability conditions (134) of Arnold, Cardona, Brüls have to say.
  std::vector<std::string> warnings() const;
};

ListedIntegrator generalized_alpha();

}  // namespace liedyn
