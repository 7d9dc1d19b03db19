// The matrix of the linearised equations at an eigenvalue s, in the sparse solver of the mechanism:
//
//   | s^2 M + s C + K   s M + C   L | | y  |
//   |                               | | x  |
//   | B or s B + B_y       0      0 | | mu |
//
// with columns for the motion y of bodies, the first-order states x (whose own y stands in no equation) and the multipliers; rows at velocity
// level hold (s B + B_y) y. Rows that repeat others are left out. A linearisation without the states of the model holds them at rest.
#pragma once

#include <memory>
#include <vector>

#include "liedyn/analyses/linearization.h"
#include "liedyn/system/layout.h"

namespace liedyn {

class ShiftedMatrix {
 public:
  // `repeated`: rows that repeat others; none: they are looked for where the matrix is singular.
  ShiftedMatrix(const Model& model, const Linearization& l, const std::vector<int>& repeated = {});
  // At s, with `mass` times M beside it. False: singular.
  bool factorize(double s, double mass = 0);
  // (y, x), and mu if asked for, with the right sides of the equations of motion and (null: zero) of the constraints.
  void solve(const double* forces, const double* rows, double* out, double* mu = nullptr) const;

 private:
  void hold(const std::vector<int>& rows);
  bool filled_and_factorized(double s, double mass);
  double& entry(int row, int column);
  void equilibrate();

  const Linearization* l_;
  int nv_;
  BlockPattern pattern_;
  std::vector<int> block_of_;
  std::vector<bool> held_;  // multipliers of rows that repeat others
  std::unique_ptr<LinearSolver> solver_;
  std::vector<double> row_unit_, column_unit_;  // what the matrix was multiplied with
  mutable std::vector<double> right_;
};

}  // namespace liedyn
