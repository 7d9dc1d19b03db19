// Steps that fit what a model does at given times. A method sees functions of time at its stages only: while nothing happens steps grow, and a pulse between two
// stages would be missed; a jump inside of a step spoils the order, and the estimate of the error with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "liedyn/model/functions_of_time.h"
#include "liedyn/system/system.h"

namespace liedyn {

class StepLimit {
 public:
  // For a run from begin to end: functions are sampled there, at equal times, on both sides of their kinks and jumps.
  StepLimit(const System& system, double begin, double end);

  // The longest step from t, at most h, that ends where a function has a kink, if there are not too many; before and behind a jump, which has a step for itself. And one in which no function
  // leaves the interval between its values at the two ends by more than a fiftieth of all that it does in the run: what it does then shows at the end of the step.
  double longest(double t, double h);

  // A function, by its path in the model, and a time at which equal steps from t on see little of it: it does more than that in the middle of one of them, or lies far from the lines between their ends in most of what it does.
  // None if all are seen. `width` is how long it is away from such a line by half of what it is at t.
  struct PassedOver {
    std::string function;
    double t, width;
  };
  std::optional<PassedOver> passed_over(double t, double h);

 private:
  struct Sample {
    double t, value;
  };
  struct Sampled {
    FunctionOfTime function;
    std::vector<Sample> samples;
    double slack;
  };
  static PassedOver pulse(FunctionOfTime& function, const std::vector<Sample>& samples, double begin,
                          double h);
  double same_;                // times that differ by less are
  std::vector<double> stops_;  // ascending
  std::vector<Sampled> functions_;
};

}  // namespace liedyn
