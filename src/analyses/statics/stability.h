// Stability of an equilibrium: motions that leave it, and motions that nothing resists.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "liedyn/system/system.h"

namespace liedyn {

struct Stability {
  int unstable = -1;                      // directions along which it leaves; -1: not known
  std::optional<Eigen::VectorXd> leaves;  // without states: the motion of the most negative stiffness
  Eigen::MatrixXd indifferent;            // columns: displacements and rotations, then changes of states
};
// By the stiffness N^T K N of the motions that the constraints allow; for at most kLargestDense velocities, without states.
Stability stability_by_stiffness(const System& system, const State& state, Work& work);
// With states: by the eigenvalues of the coupled equations. A complex pair of them is two directions.
Stability stability_by_eigenvalues(const System& system, const State& state, Work& work);

// A motion along which the equilibrium leaves; without states, for models of any size. Empty: none was found.
std::optional<Eigen::VectorXd> leaving_motion(const System& system, const State& state, Work& work);

// In words, one for each column (analyses/motions.h).
std::vector<std::string> describe_motions(const Model& model, const Eigen::MatrixXd& columns);

}  // namespace liedyn
