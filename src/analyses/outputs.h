// Numbers that a run gives: what sensors show at a time, their integrals and extrema.
#pragma once

#include <string>
#include <vector>

#include "analyses/simulate.h"

namespace liedyn {

// "tip[0]" (at the end), "tip[0]@0.5" (at a time), "tip[0]@integral", "tip[0]@max", "tip[0]@min".
struct Output {
  enum class At { Time, Integral, Maximum, Minimum };
  std::string name;
  int column = 0;  // among the values of the sensors
  At at = At::Time;
  double time = 0;  // of At::Time
};
// A sensor without [i] stands for all its components; without @ at the end. Throws InputError.
std::vector<Output> parse_outputs(const System& system, const SimulateOptions& options,
                                  const std::vector<std::string>& names);

// An output is a sum of what its sensor shows at some places of a run, each with a weight.
struct OutputTerm {
  std::size_t output;
  double weight;
};

// The outputs of a run from what sensors show at the ends of its steps and between them, in order.
class OutputSums {
 public:
  // `times`: the start, and the end of each step.
  OutputSums(const std::vector<Output>& outputs, const std::vector<double>& times);

  // The parts s of step n (0 < s < 1) at which sensors are wanted, besides its end.
  const std::vector<double>& parts(std::size_t n) const { return parts_[n]; }
  bool wants_end(std::size_t n) const;  // of step n, 0: the start

  // The terms at the end of step n, or at the part s of it. Extrema are looked for: `sensors` are the values there.
  void add(std::size_t n, const std::vector<double>& sensors);
  void add_between(std::size_t n, double s, const std::vector<double>& sensors);
  std::vector<double> values() const { return values_; }
  // Once all of a run has been added: where each output has its terms.
  std::vector<OutputTerm> terms(std::size_t n) const;
  std::vector<OutputTerm> terms_between(std::size_t n, double s) const;

 private:
  const std::vector<Output>& outputs_;
  std::vector<double> times_;
  std::vector<std::vector<double>> parts_;
  std::vector<double> values_;
  std::vector<std::size_t> extreme_;  // step of the extremum of each output
  bool every_step_ = false;
};

}  // namespace liedyn
