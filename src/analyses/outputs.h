// Numbers that a run gives: what sensors show at a time, their integrals and extrema.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "liedyn/analyses/simulate.h"

namespace liedyn {

// "tip[0]" (at the end), "tip[0]@0.5" (at a time), "tip[0]@integral", "tip[0]@max", "tip[0]@min".
struct Output {
  enum class At { Time, Integral, Maximum, Minimum };
  std::string name;
  int column = 0;  // among the values of the sensors
  At at = At::Time;
  double time = 0;  // of At::Time
};
// A sensor without [i] stands for all its components; without @ at the end. No names: all sensors that have derivatives. Throws InputError.
std::vector<Output> parse_outputs(const System& system, const SimulateOptions& options,
                                  const std::vector<std::string>& names);

// "m", or for an integral "m s"; empty if the sensor has none.
std::string unit_of(const Model& model, const Output& output);

// An output is a sum of what its sensor shows at some places of a run, each with a weight.
struct OutputTerm {
  std::size_t output;
  double weight;
};
// Terms at the part s of a step: 0 where it begins, 1 at its end.
struct OutputPlace {
  double s;
  std::vector<OutputTerm> terms;
};

// The outputs of a run from what sensors show at the ends of its steps and between them, step by step.
//
// Integrals are Simpson's rule with the middle of each step. An extremum is that of the polynomial P(s) of fourth degree through five values of its step, s = 0, 1/4, ... 1. Where P has it
// inside the step, P'(s) = 0, so that moving the place changes nothing: the derivatives of P(s) are those of the five values with their Lagrange weights L_i(s), exactly.
class OutputSums {
 public:
  // `times`: the start, and the end of each step.
  OutputSums(const std::vector<Output>& outputs, const std::vector<double>& times);

  // What all sensors show at the part s of the step that was taken last, 0 < s <= 1.
  using Shown = std::function<const std::vector<double>&(double s)>;
  bool wants_start() const;
  void add_start(const std::vector<double>& sensors);
  void add_step(std::size_t n, const Shown& shown);  // n = 1, 2, ...
  std::vector<double> values() const { return values_; }

  // Where the outputs have terms: known once the step, and for extrema the whole run, has been added. An extremum has those of the step where it was found last.
  std::vector<OutputTerm> terms_at_start() const;
  std::vector<OutputPlace> places(std::size_t n) const;
  bool is_extremum(std::size_t output) const {
    return outputs_[output].at == Output::At::Maximum || outputs_[output].at == Output::At::Minimum;
  }

 private:
  struct Weighted {
    double s, weight;
  };
  struct Extremum {
    std::size_t step = 0;
    std::vector<Weighted> places;  // in that step; none: the start
  };
  void look_for_extremum(std::size_t n, std::size_t output, const Shown& shown);

  const std::vector<Output>& outputs_;
  std::vector<double> times_;
  std::vector<double> values_;
  std::vector<double> last_;  // sensors at the end of the step before
  std::vector<Extremum> extrema_;
  bool every_step_ = false;
};

}  // namespace liedyn
