// Eigenvalues and mode shapes of the linearised, constrained equations about a state:
//
//   (s^2 M + s C + K) y + B^T mu = 0,    B y = 0
//
// with the first-order states of the model, which stand beside y as they are.
// Dense in the space of admissible motions; for large models the eigenvalues nearest to a shift, by Arnoldi's method on the inverse
// of the sparse matrix (Spectra).
#pragma once

#include <complex>
#include <string>
#include <vector>

#include "liedyn/analyses/linearization.h"

namespace liedyn {

inline constexpr std::string_view kModeSolvers[] = {"auto", "dense", "sparse"};

struct ModesOptions {
  // Leave out dissipation: dampers, and the symmetric part of C; states are held at their values. Gyroscopic forces and those of follower loads (circulatory ones) stay.
  bool undamped = false;
  int count = 0;                // the modes of lowest |s|; 0: all if dense, 20 if sparse
  std::string solver = "auto";  // one of kModeSolvers: dense up to kLargestDense velocities
  // Angular velocity of the axes in which the motion is linearised; not given: steady_axes.
  bool axes_given = false;
  Vec3 axes_rate = Vec3::Zero();
};

struct Mode {
  std::complex<double> eigenvalue;  // s; of a conjugate pair the one with positive imaginary part
  std::vector<std::complex<double>>
      shape;  // y: displacements and rotations, numbered as the velocities, the largest is 1; then the states
  std::vector<double> share;  // per body: of the kinetic energy
  bool rigid = false;         // s = 0 up to round-off: a motion that nothing resists

  double frequency() const;      // of the oscillation, |Im s|/2 pi [Hz]
  double damping_ratio() const;  // -Re s/|s|; 0 if rigid
};

struct Modes {
  std::string model, formulation;
  double time = 0;
  int degrees_of_freedom = 0;  // admissible motions
  int states = 0;              // of first order
  // Eigenvalues with their multiplicity, pairs being two, and how many of them are zero: a motion that nothing resists has two zeros where it is not damped. Dense only.
  int dimension = 0, zeros = 0;
  SteadyAxes axes;
  bool undamped = false;
  std::string solver;
  std::vector<Mode> modes;  // by |s|
  std::vector<std::string> warnings;
};

// About a state that meets the equations of motion. Throws InputError if the options are wrong, NumericalError if the eigenvalue solver fails.
Modes modes(const System& system, const State& state, const ModesOptions& options = {});

// "rod: displacement y", and the names of states: the numbers of a shape.
std::vector<std::string> shape_names(const Model& model);

}  // namespace liedyn
