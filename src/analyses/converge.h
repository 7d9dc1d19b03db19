// Errors of integrators and formulations over a range of step sizes, against a reference: how fast they shrink, and what they
// cost. Errors are those of the mechanics, so that formulations can be compared with each other:
//
//   q        places of all bodies, and the angles between their orientations and those of the reference
//   v        inertial velocities of their points, angular velocities in body axes
//   lambda   multipliers (if there are constraints)
//   sensors  by name, as vectors
//
// Each is a Euclidean norm over the whole model, taken at the times that all runs share, relative to its largest value in the
// reference (where an orientation counts as 1).
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "liedyn/analyses/result.h"
#include "liedyn/system/system.h"

namespace liedyn {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

enum class ErrorNorm { Maximum, End };  // over the run, or at its end

// What errors are measured against. The default: the case that changed least between its two smallest steps, at an eighth of
// the smallest step.
struct ConvergenceReference {
  std::string integrator;  // empty: as above; else this one in the first formulation, with `step`
  double step = 0;
  std::optional<Trajectory> recorded;  // sensors of a result file, instead of a run
  std::string file;                    // its name
};

struct ConvergeOptions {
  double start = 0;
  double end = 1;
  std::string initial = "check";
  std::vector<std::string> integrators;
  std::vector<double> steps;  // in any order; each is made smaller so that it divides the interval
  ConvergenceReference reference;
  ErrorNorm norm = ErrorNorm::Maximum;
  std::optional<double> from;        // leave out errors before this time
  std::vector<std::string> sensors;  // whose errors are wanted besides
  int jobs = 1;                      // runs at the same time
  // Called now and then, by the thread that called converge(), with the fraction done; returning false stops all runs.
  std::function<bool(double fraction)> progress = {};
};

struct ConvergenceRow {
  double step = 0;  // as used
  long steps = 0;
  // Per quantity: error, observed order with respect to the row before, and whether the error is so small that the reference's
  // own error may show in it.
  std::vector<double> errors, orders;
  std::vector<bool> doubtful;
  double newton_per_step = kUnknown;
  double jacobians_per_step = kUnknown;
  double cpu_seconds = kUnknown;  // of the thread, in the steps
  bool completed = false;
  std::string failure;
};

struct ConvergenceCase {
  std::string integrator;  // as given
  std::string resolved;    // with all its options
  std::string formulation;
  std::vector<std::string> warnings;
  std::vector<ConvergenceRow> rows;  // from the largest step to the smallest
  std::vector<double> fitted;        // per quantity: order by least squares over the last rows
  std::string label() const { return integrator + " " + formulation; }
};

struct Convergence {
  std::string model;
  double start = 0, end = 0, from = 0;
  ErrorNorm norm = ErrorNorm::Maximum;
  std::vector<std::string> quantities;  // "q", "v", "lambda", names of sensors
  std::vector<double> scales;           // what the errors are relative to
  long samples = 0;                     // times at which errors were taken
  std::string reference;                // in words
  // Difference between the reference and the same run with twice its step, per quantity; unknown for a file.
  std::vector<double> reference_difference;
  int jobs = 1;
  bool interrupted = false;
  std::vector<ConvergenceCase> cases;
};

// Steps from `largest` to `smallest` in a geometric row, as near to it as numbers of steps with a common divisor permit: the
// runs then share times to compare at. Throws InputError.
std::vector<double> step_range(double start, double end, double largest, double smallest, int count);

// All integrators on all systems, which are one model in different formulations. A run that fails is a row that says why.
// Throws InputError if the input is wrong, NumericalError if the reference cannot be computed.
Convergence converge(const std::vector<System>& systems, const ConvergeOptions& options);

}  // namespace liedyn
