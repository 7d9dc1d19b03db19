// Directions in which an equilibrium is unstable, for models of any size: y with B y = 0 and y^T K y < 0.
//
// Lanczos's method on (K + mu M)^-1 M over the admissible motions, with the sparse factors of the bordered matrix. Its eigenvalues are
// 1/(lambda + mu) for lambda = y^T K y/y^T M y, so that a negative Ritz value proves a lambda below -mu. Shifts mu over 14 decades find it
// whether it is large or small: the bending of a slender beam is that much softer than its axial stiffness.
#pragma once

#include <optional>
#include <vector>

#include "liedyn/analyses/linearization.h"

namespace liedyn {

// The rows at velocity level held as displacements, as in statics. Empty: none was found. `redundant`: rows that follow from others, if they are known. `floor`:
// y^T floor y is no stiffness but forces that are not quite in balance.
std::optional<Eigen::VectorXd> unstable_direction(const Model& model, Linearization l,
                                                  const std::vector<int>& redundant,
                                                  const Eigen::VectorXd& floor);

}  // namespace liedyn
