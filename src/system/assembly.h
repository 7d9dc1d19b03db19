// Assembly from a rough configuration: positions that meet the constraints, also where Newton's method alone would fail (far off, at
// singular configurations, with constraints that repeat others).
#pragma once

#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

// Levenberg's and Marquardt's method for |Phi|^2, with damping in the norm of the masses:
//
//   (B^T B + nu D) d = -B^T Phi
//
// with Phi divided by `scales` and displacements by the length of their subsystem. Coordinates that are not `free` stay (null: all are free). True: the largest
// |Phi| is at most `tolerance`. Otherwise the state is where |Phi| is least, nearby.
bool assemble_positions(const System& system, State& state, const std::vector<bool>* free,
                        const std::vector<double>& scales, double tolerance, Work& work);

// The factor that keeps the largest rotation of an increment of all nodes below half a radian, at most 1: beyond that a linearisation says
// little.
double rotation_limit(const Model& model, const double* increment);

}  // namespace liedyn
