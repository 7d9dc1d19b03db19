// What methods let their users say about Newton's method, local coordinates and steps.
#pragma once

#include "integrators/integrator.h"

namespace liedyn {

// newton, jacobian, line_search, newton_tol.
std::vector<IntegratorOption> newton_options();
CorrectorOptions corrector_with(const IntegratorOptions& options);
// For a second try: fresh exact matrices, line search where the update allows it, more iterations.
CorrectorOptions careful(CorrectorOptions options);

// coordinates: exp, conformal or cayley.
IntegratorOption coordinates_option();
Chart chart_from(const IntegratorOptions& options);

// adaptive, rtol, atol: for methods that estimate their error.
std::vector<IntegratorOption> step_control_options();
struct Tolerances {
  bool adaptive = false;
  double relative = 0, absolute = 0;
  explicit Tolerances(const IntegratorOptions& options);
  Tolerances() = default;
  // The largest of the errors of places and angles, relative to the tolerances. `increments`: laid out as velocities.
  double worst(const System& system, const std::vector<double>& increments, const Work& work) const;
  // The same of velocities, relative to the largest ones at the ends of the step.
  double worst_velocity(const System& system, const std::vector<double>& errors, const State& from,
                        const State& to) const;
};

}  // namespace liedyn
