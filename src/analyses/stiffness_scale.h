// What is round-off of a stiffness matrix, and what is the stiffness of a motion that resists little.
//
// The stiffness of a slender beam against bending is a 1e-8th of that against shear, and less, so that the largest entry of K says nothing about it. Row by row
// it does: y^T K y below kResistance times sum scale_i y_i^2 is round-off.
#pragma once

#include "liedyn/analyses/linearization.h"

namespace liedyn {

inline constexpr double kResistance = 1e-13;

// The largest entry of each row of K in natural units, or more: of forces and centrifugal forces what is not in balance counts too, since equilibria and steady motions are not
// found to the last digit. `work` is that of the linearisation.
Eigen::VectorXd stiffness_scale(const System& system, const State& state, const Linearization& l,
                                const Work& work);

// Of motions y = N x: the factors of x that bring their scales to 1.
Eigen::VectorXd equilibration(const Eigen::VectorXd& scale, const Eigen::MatrixXd& N);

}  // namespace liedyn
