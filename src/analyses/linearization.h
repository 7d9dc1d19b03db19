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

#include "liedyn/system/matrix_parts.h"

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
  // Natural units of y: 1 for displacements, 1/length of the body for rotations. In y/unit all entries of M have the unit of a mass, of K that of a stiffness.
  Eigen::VectorXd unit;
  double size = 1;  // of the model

  Eigen::Index states() const { return M.rows() - first_state; }
  // No states, no rows at velocity level, no forces that depend on multipliers: y = N x with B N = 0 makes N^T M N and so on.
  bool is_plain() const;
};

// At a state that meets the equations of motion.
Linearization linearize(const System& system, const State& state, const Vec3& axes_rate, Work& work);
// In inertial axes, with the change of the constraints along the motion.
Linearization linearize_unsteady(const System& system, const State& state, Work& work);

// The same equations for y/unit, with constraint rows of norm 1: every comparison of entries is then invariant to the unit of length.
Linearization in_natural_units(const Linearization& l);

// The largest force there is, and an upper bound of what rounding and an equilibrium that is not exact leave of it: weights, applied loads and
// multipliers, torques divided by a length. `l` is the linearisation at the state.
double largest_force(const System& system, const State& state, const Linearization& l);

// The equations of the bodies with the states held at their values.
Linearization without_states(const Linearization& l);

// Axes in which a motion is steady, and how far it is from that.
struct SteadyAxes {
  Vec3 rate = Vec3::Zero();
  // Change of the matrices in these axes while the fastest motion goes on by one radian, relative to their size; at rest the part of the forces that is not balanced.
  double change = 0;
  double change_at_rest = 0;  // the same in inertial axes, if it was looked at
  bool at_rest = false;       // nothing moves
};
// At rest or if all turn about their own axes of symmetry: inertial axes. Otherwise those that carry the whole motion along, if there are any.
SteadyAxes steady_axes(const System& system, const State& state, Work& work);
// The same measure for given axes.
double change_of_matrices(const System& system, const State& state, const Vec3& axes_rate, Work& work);
inline constexpr double kSteady = 1e-5;  // a smaller change is that of round-off
// Whether a motion is linearised as if it were steady in the axes found. That goes for one that nearly is, if the axes turn and the matrices change far less in them (0.03)
// than in inertial axes: what is neglected is of that size, while coordinates that do not turn with the motion would change as fast as it turns.
bool as_if_steady(const SteadyAxes& axes);
// "the state is neither an equilibrium nor a steady motion (...)", with how far it is from that.
std::string not_steady(const SteadyAxes& axes);
// "the state at t = 4 s is nearly, but not quite, a steady motion in axes that turn at (0, 0, 15) rad/s (...)"; empty where it is one.
std::string not_quite_steady(const SteadyAxes& axes, double t);

// Up to so many velocities matrices are treated as dense ones.
inline constexpr int kLargestDense = 600;

// Columns that span the motions the constraints allow, orthonormal in natural units (none given: as they are); constraints that repeat others do no harm, and are added to `dependent` if asked for.
Eigen::MatrixXd admissible_motions(const SparseMatrix& B, const Eigen::VectorXd& unit = {},
                                   std::vector<int>* dependent = nullptr);
// Rows that are linear combinations of the others, in their order.
std::vector<int> dependent_rows(const SparseMatrix& B);
// Multiplies N from the right such that as many of its rows as it has columns, which are returned, become those of the identity: the best conditioned ones in the given units.
std::vector<int> name_coordinates(Eigen::MatrixXd& N, const Eigen::VectorXd& unit);

// The equations in minimal coordinates, x = (xi, zeta):
//
//   y = P xi,    y' = V zeta + Y xi,    y'' = V zeta' + Z x,    x' = A x + (0; F) f    with forces f added to the equations of y
//
// The last zeta are the first-order states, which have no xi. Without states and rows at velocity level V = P; about a steady motion Y and Z are zero too. xi and zeta are
// the numbers of y named by `coordinates` and of y' named by `rates`.
struct MinimalEquations {
  Eigen::MatrixXd P, V, Y, Z, A, F;
  std::vector<int> coordinates, rates;
  std::vector<int> dependent;  // rows that repeat others
};
MinimalEquations minimal_equations(const Linearization& l);

}  // namespace liedyn
