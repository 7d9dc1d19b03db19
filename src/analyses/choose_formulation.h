// formulation=auto: the axes in which the angular velocities change most smoothly. Errors of generalised-alpha grow with the second
// derivatives of its velocities, and those in body axes and in inertial axes differ by Omega x Omega': much for a body that spins
// fast about its own axis, nothing for one that starts to swing. A trial run of the first steps tells which is the case. Inertial axes
// are taken unless body axes are clearly smoother: generalised-alpha may be unstable in body axes on bodies that spin fast. SE3 is not among the choices: whether
// it wins depends on the joints, not on the motion alone.
#pragma once

#include <string>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

// What a trial run found: mean squares of the second differences of all angular velocities.
struct FormulationChoice {
  std::string formulation;  // r3so3 or r3so3-spatial
  double body = 0, inertial = 0;
};

// The system may be in any formulation; its trial is made in r3so3-spatial. At most `trial_steps` steps of the options' own size.
FormulationChoice choose_formulation(const System& system, const SimulateOptions& options,
                                     long trial_steps = 200);

}  // namespace liedyn
