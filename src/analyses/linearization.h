// The equations of motion linearised about a state, in coordinates that do not depend on the formulation: small displacements and
// rotations y of the bodies, in inertial axes or in axes that turn at a constant rate,
//
//   M y'' + C y' + K y + L dlambda = 0,    B y = 0,    L = B^T without friction.
//
// First-order states x come in as y' of nodes of their own, whose y stands in no equation: columns of K and of B that are zero.
//
// docs/theory/12_linearization.md derives them from the derivatives along the group. About a state at rest, or a motion
// that is steady in those axes (a spinning top, a rotor), the matrices are constant and eigenvalues mean what they say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "system/matrix_parts.h"

namespace liedyn {

struct Linearization {
  SparseMatrix M, C, K;  // nv x nv
  SparseMatrix B;        // rows x nv
  SparseMatrix L;        // nv x rows: B^T, and more where forces depend on the multipliers (friction)
  // Rows at velocity level hold B y' + B_y y = 0 instead of B y = 0; B_y is zero elsewhere.
  SparseMatrix B_y;
  std::vector<bool> velocity_row;
  // How the state follows y:   dq = Q y,   dv = V0 y + V1 y',   dvdot = A0 y + A1 y' + A2 y''
  SparseMatrix Q, V0, V1, A0, A1, A2;
  // Of motions that are not steady: all rows hold B y' + B' y = 0 for their rates and B y'' + (B' + B_t) y' + B'_t y = 0 for their accelerations, where _t is the
  // derivative along the motion. Empty otherwise: B' is zero but for B_y, and nothing changes.
  struct Drift {
    SparseMatrix B_rate, B_t, B_rate_t;
  };
  std::optional<Drift> drift;
  Vec3 axes_rate = Vec3::Zero();  // angular velocity of the axes of y
  int first_state = 0;            // the numbers of y from here on belong to states

  Eigen::Index states() const { return M.rows() - first_state; }
  // No states, no rows at velocity level, no forces that depend on multipliers: y = N x with B N = 0 makes N^T M N and so on.
  bool is_plain() const;
};

// At a state that meets the equations of motion.
Linearization linearize(const System& system, const State& state, const Vec3& axes_rate, Work& work);
// In inertial axes, with the change of the constraints along the motion.
Linearization linearize_unsteady(const System& system, const State& state, Work& work);

// The equations of the bodies with the states held at their values.
Linearization without_states(const Linearization& l);

// Axes in which a motion is steady, and how far it is from that.
struct SteadyAxes {
  Vec3 rate = Vec3::Zero();
  // Change of the matrices in these axes while the fastest motion goes on by one radian, relative to their size.
  double change = 0;
  double change_at_rest = 0;  // the same in inertial axes, if it was looked at
};
// At rest or if all turn about their own axes of symmetry: inertial axes. Otherwise those that carry the whole motion along, if there are any.
SteadyAxes steady_axes(const System& system, const State& state, Work& work);
// The same measure for given axes.
double change_of_matrices(const System& system, const State& state, const Vec3& axes_rate, Work& work);
inline constexpr double kSteady = 1e-5;  // a smaller change is that of round-off
// Whether a motion is linearised as if it were steady in the axes found. That goes for one that nearly is, if the axes turn and the matrices change far less in them (0.03)
// than in inertial axes: what is neglected is of that size, while coordinates that do not turn with the motion would change as fast as it turns.
bool as_if_steady(const SteadyAxes& axes);
// "the state at t = 4 s is nearly, but not quite, a steady motion in axes that turn at (0, 0, 15) rad/s (...)"; empty where it is one.
std::string not_quite_steady(const SteadyAxes& axes, double t);

// A = D A_b D^-1 with A_b of rows and columns of about the same size, whatever the units of its states.
struct Balanced {
  Eigen::MatrixXd A;
  Eigen::VectorXd D;
};
Balanced balanced(const Eigen::MatrixXd& A);

// Up to so many velocities matrices are treated as dense ones.
inline constexpr int kLargestDense = 600;

// Columns that span the motions the constraints allow, orthonormal; constraints that repeat others do no harm.
Eigen::MatrixXd admissible_motions(const SparseMatrix& B);
// Rows that are linear combinations of the others, in their order.
std::vector<int> dependent_rows(const SparseMatrix& B);

// The equations in minimal coordinates, x = (xi, zeta):
//
//   y = P xi,    y' = V zeta + Y xi,    y'' = V zeta' + Z x,    x' = A x + (0; F) f    with forces f added to the equations of y
//
// The last zeta are the first-order states, which have no xi. Without states and rows at velocity level V = P; about a steady motion Y and Z are zero too. P and V are orthonormal, or such that the
// numbers of y named by `coordinates` and of y' named by `rates` are xi and zeta themselves.
struct MinimalEquations {
  Eigen::MatrixXd P, V, Y, Z, A, F;
  std::vector<int> coordinates, rates;
};
MinimalEquations minimal_equations(const Linearization& l, bool named);

}  // namespace liedyn
