// Derivatives of what sensors show with respect to parameters of the model, by differentiating every step of the integrator: forwards, all outputs with respect to a few
// parameters (the direct method), or backwards, a few outputs with respect to all parameters (the adjoint method).
#pragma once

#include <Eigen/Core>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/analyses/outputs.h"
#include "liedyn/analyses/simulate.h"

namespace liedyn {

enum class SensitivityMethod {
  Direct,      // exact, by differentiating each step
  Adjoint,     // the same backwards: its cost does not depend on the number of parameters
  Difference,  // of whole runs, along the same steps: central, extrapolated to step zero
};

SensitivityMethod sensitivity_method(
    const std::string& name);  // "direct", "adjoint", "difference"; throws InputError
std::string_view name_of(SensitivityMethod method);

struct SensitivityOptions {
  SimulateOptions simulation;
  std::vector<std::string> parameters;  // paths of Params; * stands for any characters, as in bodies.*.mass
  std::vector<std::string> outputs;     // empty: all sensors at the end that have derivatives
  SensitivityMethod method = SensitivityMethod::Direct;
  bool check = false;  // compare with differences
};

struct Sensitivity {
  SensitivityMethod method = SensitivityMethod::Direct;
  std::string integrator, formulation;
  double step = 0;
  long steps = 0;
  std::vector<std::string> parameters;
  std::vector<double> parameter_values;
  std::vector<std::string> parameter_units;
  std::vector<std::string> outputs;
  std::vector<std::string> output_units;
  std::vector<double> values;       // of the outputs
  std::vector<double> derivatives;  // output by output: one number per parameter
  std::vector<double>
      differences;  // the same by differences, if checked; NaN where runs beside the parameter are refused
  // For each parameter the largest difference to them, relative to the norm of that parameter's derivatives of all outputs; and how far the
  // differences themselves are from having converged.
  std::vector<double> disagreement, uncertainty;
  // For each derivative whether it is further from the differences than these are good to, judged in its own size.
  std::vector<bool> disagrees;
  std::vector<std::string> notes;  // what was left out, and why
  // Direct: the sensors over time, and row by row their derivatives: (rows) x (parameters) x (values of the sensors).
  Trajectory trajectory;
  std::vector<double> trajectory_derivatives;
  double seconds = 0;        // CPU time of the run with derivatives, or of all runs by differences
  std::size_t bytes = 0;     // adjoint: most memory that states and records took
  double plain_seconds = 0;  // of a run without, if checked

  double derivative(std::size_t output, std::size_t parameter) const {
    return derivatives[output * parameters.size() + parameter];
  }
  // By name; throws InputError if there is none.
  double derivative(std::string_view output, std::string_view parameter) const;
};

// Throws InputError if the input is wrong, NumericalError if the run does not reach its end.
Sensitivity sensitivity(const System& system, const SensitivityOptions& options);

// The direct method alone: outputs, and their derivatives (a row for each output) with respect to numbers of Params. Who calls it has called refuse_reactions().
struct DirectDerivatives {
  std::vector<double> values;
  Eigen::MatrixXd jacobian;
};
DirectDerivatives direct_derivatives(const System& system, const SimulateOptions& simulation,
                                     const std::vector<Output>& outputs, const std::vector<int>& parameters);

}  // namespace liedyn
