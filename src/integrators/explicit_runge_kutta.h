// Explicit Runge-Kutta methods, on Lie groups as Munthe-Kaas put them: the tableau is applied to local coordinates of the beginning of the
// step (Algorithm 3 of Holzinger, Arnold, Gerstmayr, "Evaluation and implementation of Lie group integration methods"). Nodes with rotation
// parameters are vector spaces, where it is the classical method (Algorithm 2).
#pragma once

#include "liedyn/integrators/integrator.h"

namespace liedyn {

std::vector<ListedIntegrator> explicit_methods();

}  // namespace liedyn
