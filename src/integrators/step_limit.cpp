#include "integrators/step_limit.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace liedyn {
namespace {

using Branches = std::vector<bool>;

// Adds the times on both sides of every kink and jump between a and b.
void add_kinks(const FunctionOfTime& function, double a, const Branches& at_a, double b, const Branches& at_b,
               double narrow, std::vector<double>& times) {
  if (at_a == at_b) return;
  const double middle = a + (b - a) / 2;
  if (b - a <= narrow || middle <= a || middle >= b) {
    times.push_back(a);
    times.push_back(b);
    return;
  }
  const Branches between = function.branches(middle);
  add_kinks(function, a, at_a, middle, between, narrow, times);
  add_kinks(function, middle, between, b, at_b, narrow, times);
}

std::vector<double> times_of_interest(const FunctionOfTime& function, double begin, double end, int count) {
  const double narrow = 1e-9 * (end - begin);
  std::vector<double> out;
  Branches before = function.branches(begin);
  for (int i = 0; i < count; ++i) {
    const double a = begin + (end - begin) * i / count, b = begin + (end - begin) * (i + 1) / count;
    Branches after = function.branches(b);
    out.push_back(a);
    add_kinks(function, a, before, b, after, narrow, out);
    std::swap(before, after);
  }
  out.push_back(end);
  // Between them too: the summit of what has a kink at both feet.
  std::sort(out.begin(), out.end());
  const std::size_t some = out.size();
  for (std::size_t i = 1; i < some; ++i) out.push_back((out[i - 1] + out[i]) / 2);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

StepLimit::StepLimit(const System& system, double begin, double end) {
  constexpr double kShown = 0.02;
  std::vector<FunctionOfTime> functions = functions_of_time(system.model(), system.params());
  // Many functions share what may be spent on them.
  const int count = std::clamp(200000 / static_cast<int>(functions.size() + 1), 32, 512);
  for (FunctionOfTime& function : functions) {
    Sampled sampled{std::move(function), {}, 0};
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double t : times_of_interest(sampled.function, begin, end, count)) {
      const double value = sampled.function.at(t);
      if (!std::isfinite(value)) continue;
      sampled.samples.push_back({t, value});
      least = std::min(least, value);
      most = std::max(most, value);
    }
    if (!(most > least)) continue;
    sampled.slack = kShown * (most - least);
    functions_.push_back(std::move(sampled));
  }
}

double StepLimit::longest(double t, double h) {
  for (Sampled& f : functions_) {
    const double first = f.function.at(t);
    if (!std::isfinite(first)) continue;
    double least = first, most = first, before = t;
    const auto hides_something = [&](double last) {
      return least < std::min(first, last) - f.slack || most > std::max(first, last) + f.slack;
    };
    auto sample = std::upper_bound(f.samples.begin(), f.samples.end(), t,
                                   [](double time, const Sample& s) { return time < s.t; });
    bool hidden = false;
    for (; !hidden && sample != f.samples.end() && sample->t < t + h; ++sample) {
      hidden = hides_something(sample->value);
      if (hidden) break;
      least = std::min(least, sample->value);
      most = std::max(most, sample->value);
      before = sample->t;
    }
    if (!hidden) hidden = hides_something(f.function.at(t + h));
    if (hidden && before > t) h = before - t;
  }
  return h;
}

}  // namespace liedyn
