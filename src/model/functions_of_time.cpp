#include "liedyn/model/functions_of_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/model/states/signal_batch.h"

namespace liedyn {
namespace {

// A number that notes how it compares.
struct Watched {
  double x = 0;
  Watched() = default;
  explicit Watched(double value) : x(value) {}
  static thread_local std::vector<bool>* outcomes;

  static bool note(bool outcome) {
    outcomes->push_back(outcome);
    return outcome;
  }
  friend bool operator<(Watched a, Watched b) { return note(a.x < b.x); }
  friend bool operator>(Watched a, Watched b) { return note(a.x > b.x); }
  friend bool operator<=(Watched a, Watched b) { return note(a.x <= b.x); }
  friend bool operator>=(Watched a, Watched b) { return note(a.x >= b.x); }
  friend bool operator==(Watched a, Watched b) { return note(a.x == b.x); }

  friend Watched operator+(Watched a, Watched b) { return Watched(a.x + b.x); }
  friend Watched operator-(Watched a, Watched b) { return Watched(a.x - b.x); }
  friend Watched operator*(Watched a, Watched b) { return Watched(a.x * b.x); }
  friend Watched operator/(Watched a, Watched b) { return Watched(a.x / b.x); }
  friend Watched operator-(Watched a) { return Watched(-a.x); }
  friend Watched abs(Watched a) { return Watched(note(a.x < 0) ? -a.x : a.x); }
  friend Watched pow(Watched a, Watched b) { return Watched(std::pow(a.x, b.x)); }
  friend Watched pow(Watched a, double b) { return Watched(std::pow(a.x, b)); }
  friend Watched atan2(Watched a, Watched b) { return Watched(std::atan2(a.x, b.x)); }
  friend Watched sin(Watched a) { return Watched(std::sin(a.x)); }
  friend Watched cos(Watched a) { return Watched(std::cos(a.x)); }
  friend Watched tan(Watched a) { return Watched(std::tan(a.x)); }
  friend Watched asin(Watched a) { return Watched(std::asin(a.x)); }
  friend Watched acos(Watched a) { return Watched(std::acos(a.x)); }
  friend Watched atan(Watched a) { return Watched(std::atan(a.x)); }
  friend Watched sinh(Watched a) { return Watched(std::sinh(a.x)); }
  friend Watched cosh(Watched a) { return Watched(std::cosh(a.x)); }
  friend Watched tanh(Watched a) { return Watched(std::tanh(a.x)); }
  friend Watched exp(Watched a) { return Watched(std::exp(a.x)); }
  friend Watched log(Watched a) { return Watched(std::log(a.x)); }
  // For floor(): the branch changes with every whole number.
  friend double value(Watched a) {
    note(std::fmod(std::floor(a.x), 2) != 0);
    return a.x;
  }
  friend Watched sqrt(Watched a) { return Watched(std::sqrt(a.x)); }
  // What the function of a program decides is not seen.
  friend Watched call(const CodeFunction& f, const Watched* x) {
    std::array<double, CodeFunction::kMaxArguments> at;
    std::transform(x, x + f.arguments, at.begin(), [](Watched a) { return a.x; });
    return Watched(f.value(at.data()));
  }
};
thread_local std::vector<bool>* Watched::outcomes = nullptr;

}  // namespace

std::vector<bool> FunctionOfTime::branches(double t) const {
  std::vector<Watched> variables;
  for (const double x : variables_) variables.emplace_back(x);
  variables[time_] = Watched(t);
  std::vector<bool> out;
  Watched::outcomes = &out;
  expression_->evaluate<Watched>(variables);
  return out;
}

std::vector<FunctionOfTime> functions_of_time(const Model& model, const Params& params) {
  std::vector<FunctionOfTime> out;
  const std::vector<double>& values = params.values();
  const auto count = static_cast<std::size_t>(params.parameter_count());
  for (const Params::Bound& timed : params.timed()) {
    std::vector<double> variables(values.begin(), values.begin() + params.parameter_count());
    variables.push_back(0);
    out.emplace_back(params.path(timed.number), timed.expression, std::move(variables), count);
  }
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const auto* of_signal = dynamic_cast<const SignalBatch*>(model.batches[b].get());
    if (of_signal == nullptr) continue;
    for (const SignalExpression& signal : of_signal->signals()) {
      const std::vector<SignalName::Kind> kinds = signal.variables();
      const auto time = std::find(kinds.begin(), kinds.end(), SignalName::Kind::Time);
      if (time == kinds.end()) continue;
      std::vector<double> variables;
      auto parameter = signal.parameters().begin();
      for (const SignalName::Kind kind : kinds)
        variables.push_back(
            kind == SignalName::Kind::Parameter ? values[static_cast<std::size_t>(*parameter++)] : 1.0);
      const Entry& entry = model.entry_of(static_cast<int>(b), 0);
      out.emplace_back(fmt::format("{}.{}", section_name(model.sections[b]), entry.name), signal.expression(),
                       std::move(variables), static_cast<std::size_t>(time - kinds.begin()));
    }
  }
  return out;
}

}  // namespace liedyn
