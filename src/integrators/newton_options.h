// What methods let their users say about Newton's method and local coordinates.
#pragma once

#include "liedyn/integrators/integrator.h"

namespace liedyn {

// newton, jacobian, line_search, newton_tol.
std::vector<IntegratorOption> newton_options();
CorrectorOptions corrector_with(const IntegratorOptions& options);
// For a second try: fresh exact matrices, line search where the update allows it, more iterations.
CorrectorOptions careful(CorrectorOptions options);

// coordinates: exp, conformal or cayley.
IntegratorOption coordinates_option();
Chart chart_from(const IntegratorOptions& options);

}  // namespace liedyn
