#include "integrators/step_limit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <queue>

namespace liedyn {
namespace {

constexpr double kNarrow = 1e-9;  // of the run: where a kink is known well enough

// Equal times, and those on both sides of every kink and jump between them: intervals whose ends differ in a branch are halved, the longest first, as
// often as the budget allows.
std::vector<double> times_of_interest(const FunctionOfTime& function, double begin, double end, int count,
                                      int budget) {
  struct Point {
    double t;
    std::vector<bool> branches;
  };
  const auto point = [&](double t) { return std::make_shared<const Point>(Point{t, function.branches(t)}); };
  using Interval = std::pair<std::shared_ptr<const Point>, std::shared_ptr<const Point>>;
  std::queue<Interval> differ;
  std::vector<double> out = {begin};
  for (auto [i, before] = std::pair(1, point(begin)); i <= count; ++i) {
    const auto after = point(begin + (end - begin) * i / count);
    out.push_back(after->t);
    if (before->branches != after->branches) differ.emplace(before, after);
    before = after;
  }
  for (; !differ.empty(); differ.pop()) {
    const auto [a, b] = differ.front();
    if (b->t - a->t <= kNarrow * (end - begin) || budget-- <= 0) {
      out.push_back(a->t);
      out.push_back(b->t);
      continue;
    }
    const auto middle = point(a->t + (b->t - a->t) / 2);
    if (a->branches != middle->branches) differ.emplace(a, middle);
    if (middle->branches != b->branches) differ.emplace(middle, b);
  }
  // Between them too: the summit of what has a kink at both feet.
  std::sort(out.begin(), out.end());
  const std::size_t some = out.size();
  for (std::size_t i = 1; i < some; ++i) out.push_back((out[i - 1] + out[i]) / 2);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace

StepLimit::StepLimit(const System& system, double begin, double end) : same_(0.1 * kNarrow * (end - begin)) {
  constexpr double kShown = 0.02;
  std::vector<FunctionOfTime> functions = functions_of_time(system.model(), system.params());
  // Many functions share what may be spent on them.
  const int share = 200000 / static_cast<int>(functions.size() + 1), count = std::clamp(share, 32, 512);
  for (FunctionOfTime& function : functions) {
    Sampled sampled{std::move(function), {}, 0};
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double t : times_of_interest(sampled.function, begin, end, count, share)) {
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
    auto sample = std::upper_bound(f.samples.begin(), f.samples.end(), t + same_,
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
