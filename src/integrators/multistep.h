// Linear multistep methods LMS2, LMS3, LMS4, Eq. (2) of Zhang, Zhang, Zanoni, Masarati. Past points are logarithms relative to the last
// configuration; the trapezoidal rule, Eq. (3), makes the first of them.
#pragma once

#include "liedyn/integrators/integrator.h"

namespace liedyn {

std::vector<ListedIntegrator> multistep_methods();

}  // namespace liedyn
