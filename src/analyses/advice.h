// What a model says that can be simulated but is hardly meant, and whether a step suits the fastest motion there is.
#pragma once

#include <complex>
#include <optional>
#include <string>
#include <vector>

#include "liedyn/system/state.h"
#include "liedyn/system/system.h"

namespace liedyn {

// Numbers that look like another unit: densities in g/cm^3, moduli in GPa, inertias in kg mm^2, lengths in mm, angles in degrees. Only where no plausible
// mechanism has such numbers.
std::vector<std::string> unit_advice(const System& system);

// Contacts and stops that are compressed at the start by far more than weight and motion explain: a plane the wrong way round, a limit that is already
// exceeded, a journal outside its bearing.
std::vector<std::string> contact_advice(const System& system, const State& state);

// Sensors of work where equal steps do not resolve the fastest motion at the start: powers are then taken at states that no motion has passed. None in minimal
// coordinates, and beyond the size that fastest_motion() has.
std::vector<std::string> work_advice(const System& system, const State& state, bool adaptive, double step);

// The eigenvalue of largest |s| of the equations linearised about a state, and the body or the first-order state that moves most.
struct FastestMotion {
  std::complex<double> s;
  std::string mostly;
  double slowest_oscillation = 0;  // |s| of the slowest that oscillates; 0: none, or not known
};
// In absolute coordinates. None if nothing moves by itself, or if the model has more than kLargestDense velocities.
std::optional<FastestMotion> fastest_motion(const System& system, const State& state);

// What a step means for the fastest motion.
struct StepAdvice {
  FastestMotion fastest;
  bool is_explicit = false, adaptive = false;
  double step = 0;      // 0: chosen by the integrator
  double angle = 0;     // h |s|
  double factor = 0;    // what the integrator multiplies this motion by in one step: above 1 it grows
  double longest = 0;   // of an explicit method: the longest step with which nothing grows that should not
  std::string warning;  // empty if the step will do
};
// `integrator` as typed; `end - start` is the length of the run.
StepAdvice step_advice(const System& system, const FastestMotion& fastest, const std::string& integrator,
                       double step, double duration);

}  // namespace liedyn
