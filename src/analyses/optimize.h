// Minimises an expression of what a run gives, or fits a model to measured data, with gradients from sensitivities: variables are numbers of the model, with bounds; constraints are
// expressions too.
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "liedyn/analyses/outputs.h"
#include "liedyn/analyses/simulate.h"

namespace liedyn {

struct Study {
  struct Variable {
    std::string name;
    std::vector<std::string> parameters;  // paths of Params, all of which have its value
    double initial = 0;
    double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  };
  struct NamedOutput {
    std::string name, output;  // as parse_outputs() takes it; one component
  };
  struct Constraint {
    std::string name, expression;
    double lower = -std::numeric_limits<double>::infinity(), upper = std::numeric_limits<double>::infinity();
  };
  struct Data {
    std::string output;  // a sensor's component, without @
    double weight = 1;   // of the mean square of the differences
    std::vector<double> times, values;
  };

  SimulateOptions simulation;
  std::vector<Variable> variables;
  std::vector<NamedOutput> outputs;
  // Of variables, outputs and `misfit`, the weighted mean square of all differences to the data; empty: the misfit itself.
  std::string minimize;
  std::vector<Constraint> constraints;
  std::vector<Data> data;
  std::string method = "auto";    // slsqp, mma, lbfgs
  std::string gradient = "auto";  // direct, adjoint
  double tolerance = 1e-6;        // of the objective and of the variables, relative to their scales
  int evaluations = 200;
};

struct StudyPoint {
  int evaluation = 0;
  double objective = 0,
         violation = 0;  // of the constraints: the largest, relative to their bounds; NaN if the run failed
  std::string violated;  // that constraint, what it is and what it must be; empty: all are met
  std::string failure;   // why there are no values here; empty: there are
  std::vector<double> variables;
};

struct Optimum {
  std::string method, gradient;
  bool converged = false;
  std::string reason;
  StudyPoint first, best;
  std::vector<double> outputs, constraints;  // at the best point
  double misfit = 0;
  // At the best point of a fit: the root mean square of the differences to each of the data, and standard deviations of the variables, from the spread of these differences. NaN: a variable at its
  // bound, or one that the data do not determine; empty: it is no fit, or its gradient came from the adjoint method.
  std::vector<double> residuals, deviations;
  std::vector<std::string> notes;
  double seconds = 0;  // elapsed
  int evaluations = 0,
      failed = 0;  // all, and those without values: the model refused them, or the run did not reach its end
  std::vector<StudyPoint> history;  // each evaluation
};

// Throws InputError if the study is wrong, without a run.
void check_study(const System& system, const Study& study);
// `progress` is told of each evaluation and may end the search by returning false. Throws InputError if the study is wrong or the model refuses the values at the
// start, NumericalError if already the first run fails. Later such points count as bad ones.
Optimum optimize(const System& system, const Study& study,
                 const std::function<bool(const StudyPoint&, bool best)>& progress);

}  // namespace liedyn
