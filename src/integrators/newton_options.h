// What every implicit method lets its user say about Newton's method and about the steps.
#pragma once

#include "integrators/integrator.h"

namespace liedyn {

// newton, jacobian, line_search, newton_tol.
std::vector<IntegratorOption> newton_options();
CorrectorOptions corrector_with(const IntegratorOptions& options);
// For a second try: fresh exact matrices, line search where the update allows it, more iterations.
CorrectorOptions careful(CorrectorOptions options);

// adaptive, rtol, atol: for methods that estimate their error.
std::vector<IntegratorOption> step_control_options();
struct Tolerances {
  bool adaptive = false;
  double relative = 0, absolute = 0;
  explicit Tolerances(const IntegratorOptions& options);
  Tolerances() = default;
  // The largest of the errors of places and angles, relative to the tolerances. `increments`: laid out as velocities.
  double worst(const System& system, const std::vector<double>& increments, const Work& work) const;
};

}  // namespace liedyn
