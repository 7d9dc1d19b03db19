// Diagonally implicit Runge-Kutta methods with an explicit first stage: rho_inf-Bathe, MSSTC(n), MSSTH(n) and the pairs of Kennedy and
// Carpenter, Eqs. (5), (6) of Zhang, Zhang, Zanoni, Masarati, in local coordinates of the beginning of the step.
#pragma once

#include "liedyn/integrators/integrator.h"

namespace liedyn {

std::vector<ListedIntegrator> diagonally_implicit_methods();

}  // namespace liedyn
