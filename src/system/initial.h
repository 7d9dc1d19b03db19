// Consistent initial values: positions and velocities that meet the constraints, then accelerations and multipliers
// from the equations of motion and the constraints at acceleration level, Eq. (19) of Arnold, Cardona, Brüls:
//
//   | M  B^T | | vdot   |     | g                                |
//   | B   0  | | lambda | = - | Z(v, v) + 2 Phi_tq v + Phi_tt    |
#pragma once

#include "liedyn/system/configuration.h"
#include "liedyn/system/system.h"

namespace liedyn {

enum class InitialPolicy {
  Check,    // given values that violate a constraint are an error; values marked "consistent" are found
  Project,  // all values may move, as little as the mass matrix says
};

struct InitialOptions {
  InitialPolicy policy = InitialPolicy::Check;
  const Configuration* given = nullptr;  // where to start from; null: what the model says
  std::vector<bool> movable = {};        // per velocity: what Project may move; empty: all
};

// Throws InputError with every violated row if the given values are inconsistent, or if nothing determines the
// accelerations (a body without mass that no joint holds).
State consistent_state(const System& system, double t, const InitialOptions& options, Work& work);
State consistent_state(const System& system, double t, InitialPolicy policy, Work& work);

// Only the first step: q that meets the constraints, and v as given.
State consistent_positions(const System& system, double t, const InitialOptions& options, Work& work);

// Only the last step: vdot and lambda of a state whose q, v, t are given. False: the matrix is singular.
bool solve_accelerations(const System& system, State& state, Work& work);

// The entries that add what is not a number, or infinite, to the equations of motion at the state.
std::vector<Diagnostic> findings_not_finite(const System& system, const State& state, Work& work);

// Of all multipliers with the same forces the shortest ones, where rows are redundant.
void shorten_multipliers(const System& system, State& state, Work& work);

// States at t + sh from a consistent one: q and v by their Taylor expansions, with the accelerations there (step 3 of Tables 1
// and 2 of Arnold, Cardona, Brüls). `theta` receives the increments of q. False: a matrix was singular.
bool shifted_state(const System& system, const State& state, double sh, State& shifted,
                   std::vector<double>& theta, Work& work);

// M^-1 B^T (B M^-1 B^T)^-1 B y: the part of a velocity that the constraints forbid. Empty: the matrix is singular.
std::vector<double> constrained_part(const System& system, const State& state, const std::vector<double>& y,
                                     Work& work);

// M^-1 B^T (B M^-1 B^T)^-1 (B v + Phi_t): the velocity that the state would have to give up to meet its constraints, into the
// first numbers of work.right. False: the matrix is singular. Allocates nothing.
bool forbidden_velocity(const System& system, const State& state, Work& work);

// Rows of state.redundant that depend on the others at the state, but not beside it: at a small distance along the velocities that the imposed rows allow,
// back on these rows, they are violated.
std::vector<int> independent_nearby(const System& system, const State& state, Work& work);

// Nearest state (in the norm of M) with Phi = 0, or with B v + Phi_t = 0. `free` null: all may move. False: no convergence. Far from
// the constraints steps are shortened until |Phi| falls, and where that does not help assembly.h takes over.
bool project_positions(const System& system, State& state, const std::vector<bool>* free, Work& work);
bool project_velocities(const System& system, State& state, const std::vector<bool>* free, Work& work);

}  // namespace liedyn
