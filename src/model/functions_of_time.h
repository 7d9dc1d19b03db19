// What a model does at given times: its numbers that are expressions of t, and the expressions of the dynamics that name t.
#pragma once

#include "liedyn/model/model.h"

namespace liedyn {

class FunctionOfTime {
 public:
  // `path`: where it stands in the model, "forces.push.force[0]". `variables` are the values of all others.
  FunctionOfTime(std::string path, const Expression& expression, std::vector<double> variables,
                 std::size_t time)
      : path_(std::move(path)), expression_(&expression), variables_(std::move(variables)), time_(time) {}

  const std::string& path() const { return path_; }

  double at(double t) {
    variables_[time_] = t;
    return expression_->evaluate<double>(variables_);
  }
  struct Signs {
    // The outcome of every comparison that its value depends on, those of abs, sign, min, max, step and of the pieces of splines: between times where they
    // are all the same it is smooth.
    std::vector<bool> branches;
    // Of what is raised to a power, of divisors, and of the rates of exponents and divisors: a bell has its summit, and a spike its top, where one of these
    // changes, however narrow it is.
    std::vector<bool> turns;
  };
  Signs signs(double t) const;

 private:
  std::string path_;
  const Expression* expression_;
  std::vector<double> variables_;
  std::size_t time_;
};

// They live as long as the model and its params. States and sensors in them are held at 1: what a function of time multiplies may be zero at
// the start only.
std::vector<FunctionOfTime> functions_of_time(const Model& model, const Params& params);

}  // namespace liedyn
