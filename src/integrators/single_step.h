// The single-step form SS2, SS3, SS4 of the multistep methods, Eqs. (4) of Zhang, Zhang, Zanoni, Masarati: instead of past points it
// remembers auxiliary derivatives.
#pragma once

#include "liedyn/integrators/integrator.h"

namespace liedyn {

std::vector<ListedIntegrator> single_step_methods();

}  // namespace liedyn
