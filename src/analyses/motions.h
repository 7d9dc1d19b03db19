// Words for motions: which bodies a direction in the space of displacements and rotations moves, and along or about which axis.
#pragma once

#include <string>
#include <vector>

#include <Eigen/Core>

#include "liedyn/model/model.h"

namespace liedyn {

// "link3 turns about (0, 0, 1); rod moves along (1, 0, 0)": the bodies that move most, at most three. y has displacements and rotations
// along inertial axes, numbered as the velocities; then the changes of first-order states ("state current").
std::string describe_motion(const Model& model, const Eigen::VectorXd& y);

// Another basis of the space that the columns span, in which each column has zeros where another one has its largest number: motions of as
// few bodies as possible.
Eigen::MatrixXd separated(Eigen::MatrixXd basis);

}  // namespace liedyn
