#include "liedyn/model/functions_of_time.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/model/states/signal_batch.h"

namespace liedyn {
namespace {

// A number that notes how it compares, with its rate, of which it notes the signs that change at the summit of a bell.
struct Watched {
  double x = 0, rate = 0;
  Watched() = default;
  explicit Watched(double value, double its_rate = 0) : x(value), rate(its_rate) {}
  static thread_local FunctionOfTime::Signs* signs;

  static bool note(bool outcome) {
    signs->branches.push_back(outcome);
    return outcome;
  }
  static void note_turn(double value) { signs->turns.push_back(value < 0); }
  // f with the slope df/dx.
  static Watched of(double f, double slope, Watched a) { return Watched(f, slope * a.rate); }

  friend bool operator<(Watched a, Watched b) { return note(a.x < b.x); }
  friend bool operator>(Watched a, Watched b) { return note(a.x > b.x); }
  friend bool operator<=(Watched a, Watched b) { return note(a.x <= b.x); }
  friend bool operator>=(Watched a, Watched b) { return note(a.x >= b.x); }
  friend bool operator==(Watched a, Watched b) { return note(a.x == b.x); }

  friend Watched operator+(Watched a, Watched b) { return Watched(a.x + b.x, a.rate + b.rate); }
  friend Watched operator-(Watched a, Watched b) { return Watched(a.x - b.x, a.rate - b.rate); }
  friend Watched operator*(Watched a, Watched b) { return Watched(a.x * b.x, a.rate * b.x + a.x * b.rate); }
  // 1/(1 + x^2) and 1/cosh(x); 1/x
  friend Watched operator/(Watched a, Watched b) {
    note_turn(b.rate);
    note_turn(b.x);
    const double quotient = a.x / b.x;
    return Watched(quotient, (a.rate - quotient * b.rate) / b.x);
  }
  friend Watched operator-(Watched a) { return Watched(-a.x, -a.rate); }
  friend Watched abs(Watched a) { return note(a.x < 0) ? -a : a; }
  friend Watched pow(Watched a, Watched b) {
    Watched out = pow(a, b.x);
    if (b.rate != 0) out.rate += out.x * std::log(a.x) * b.rate;
    return out;
  }
  friend Watched pow(Watched a, double b) {
    note_turn(a.x);
    return of(std::pow(a.x, b), b == 0 ? 0 : b * std::pow(a.x, b - 1), a);
  }
  friend Watched atan2(Watched a, Watched b) {
    return Watched(std::atan2(a.x, b.x), (b.x * a.rate - a.x * b.rate) / (a.x * a.x + b.x * b.x));
  }
  friend Watched sin(Watched a) { return of(std::sin(a.x), std::cos(a.x), a); }
  friend Watched cos(Watched a) { return of(std::cos(a.x), -std::sin(a.x), a); }
  friend Watched tan(Watched a) { return of(std::tan(a.x), 1 + std::tan(a.x) * std::tan(a.x), a); }
  friend Watched asin(Watched a) { return of(std::asin(a.x), 1 / std::sqrt((1 - a.x) * (1 + a.x)), a); }
  friend Watched acos(Watched a) { return of(std::acos(a.x), -1 / std::sqrt((1 - a.x) * (1 + a.x)), a); }
  friend Watched atan(Watched a) { return of(std::atan(a.x), 1 / (1 + a.x * a.x), a); }
  friend Watched sinh(Watched a) { return of(std::sinh(a.x), std::cosh(a.x), a); }
  friend Watched cosh(Watched a) { return of(std::cosh(a.x), std::sinh(a.x), a); }
  friend Watched tanh(Watched a) {
    return of(std::tanh(a.x), (1 - std::tanh(a.x)) * (1 + std::tanh(a.x)), a);
  }
  // exp(-x^2)
  friend Watched exp(Watched a) {
    note_turn(a.rate);
    return of(std::exp(a.x), std::exp(a.x), a);
  }
  friend Watched log(Watched a) { return of(std::log(a.x), 1 / a.x, a); }
  // For floor(): the branch changes with every whole number.
  friend double value(Watched a) {
    note(std::fmod(std::floor(a.x), 2) != 0);
    return a.x;
  }
  friend Watched sqrt(Watched a) { return of(std::sqrt(a.x), 0.5 / std::sqrt(a.x), a); }
  // What the function of a program decides is not seen.
  friend Watched call(const CodeFunction& f, const Watched* x) {
    std::array<double, CodeFunction::kMaxArguments> at;
    std::transform(x, x + f.arguments, at.begin(), [](Watched a) { return a.x; });
    return Watched(f.value(at.data()));
  }
};
thread_local FunctionOfTime::Signs* Watched::signs = nullptr;

}  // namespace

FunctionOfTime::Signs FunctionOfTime::signs(double t) const {
  std::vector<Watched> variables;
  for (const double x : variables_) variables.emplace_back(x);
  variables[time_] = Watched(t, 1);
  Signs out;
  Watched::signs = &out;
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
