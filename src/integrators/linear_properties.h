// The linear properties of families of methods, for the list.
#pragma once

#include "liedyn/integrators/integrator.h"
#include "liedyn/integrators/tableaux.h"

namespace liedyn {

LinearProperties multistep_properties(int steps, double rho);  // those of the single-step form too
LinearProperties runge_kutta_properties(const Tableau& tableau);

}  // namespace liedyn
