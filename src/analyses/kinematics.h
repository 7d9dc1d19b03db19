// Kinematic analysis: where all degrees of freedom are prescribed by joints that follow the time, positions, velocities and accelerations
// come from the constraints alone, time by time; the multipliers (drive forces and reactions) then from the equations of motion.
#pragma once

#include "liedyn/analyses/simulate.h"

namespace liedyn {

// Start, end, step, from, output_every and progress of the options count; the start is assembled from the model's own configuration. Throws InputError if motions remain free (they are named) or
// the options are wrong; that a configuration cannot be assembled on the way is in the summary, as in simulate().
Result kinematics(const System& system, const SimulateOptions& options);

}  // namespace liedyn
