#include "liedyn/integrators/step_limit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <queue>

namespace liedyn {
namespace {

constexpr double kNarrow = 1e-10;  // of the run: where a kink is known well enough

struct Kink {
  double before, after;
};

// Times at which to sample: equal ones, both sides of every kink and jump, the summits of bells, and between these.
struct TimesOfInterest {
  std::vector<double> times;
  std::vector<Kink> kinks, summits;
};

// Intervals whose ends differ in a sign are halved, the longest first, as often as the budget allows. `found`: those that became narrow.
template <class SignsAt>
void halve_where_different(const SignsAt& signs_at, const std::vector<double>& grid, double narrow,
                           int budget, std::vector<double>& times, std::vector<Kink>& found) {
  struct Point {
    double t;
    std::vector<bool> signs;
  };
  const auto point = [&](double t) { return std::make_shared<const Point>(Point{t, signs_at(t)}); };
  using Interval = std::pair<std::shared_ptr<const Point>, std::shared_ptr<const Point>>;
  std::queue<Interval> differ;
  for (auto [i, before] = std::pair(std::size_t{1}, point(grid[0])); i < grid.size(); ++i) {
    const auto after = point(grid[i]);
    if (before->signs != after->signs) differ.emplace(before, after);
    before = after;
  }
  for (; !differ.empty(); differ.pop()) {
    const auto [a, b] = differ.front();
    const bool is_narrow = b->t - a->t <= narrow;
    if (is_narrow) found.push_back({a->t, b->t});
    if (is_narrow || budget-- <= 0) {
      times.push_back(a->t);
      times.push_back(b->t);
      continue;
    }
    const auto middle = point(a->t + (b->t - a->t) / 2);
    if (a->signs != middle->signs) differ.emplace(a, middle);
    if (middle->signs != b->signs) differ.emplace(middle, b);
  }
}

TimesOfInterest times_of_interest(const FunctionOfTime& function, double begin, double end, int count,
                                  int budget) {
  std::vector<double> grid;
  for (int i = 0; i <= count; ++i) grid.push_back(i == count ? end : begin + (end - begin) * i / count);
  TimesOfInterest out;
  std::vector<double>& times = out.times;
  times = grid;
  const double narrow = kNarrow * (end - begin);
  halve_where_different([&](double t) { return function.signs(t).branches; }, grid, narrow, budget, times,
                        out.kinks);
  halve_where_different([&](double t) { return function.signs(t).turns; }, grid, narrow, budget / 10, times,
                        out.summits);
  // The summit of what has a kink at both feet.
  std::sort(times.begin(), times.end());
  const std::size_t some = times.size();
  for (std::size_t i = 1; i < some; ++i) times.push_back((times[i - 1] + times[i]) / 2);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return out;
}

// The distance from a summit at which the function has fallen by half of its range, but for a factor of two; infinite if it is wider than
// the samples are apart.
double half_width(FunctionOfTime& function, double summit, double narrow, double apart, double range) {
  const double there = function.at(summit);
  for (double d = narrow; d < apart; d *= 2)
    if (std::abs(function.at(summit + d) - there) > range / 2) return d;
  return std::numeric_limits<double>::infinity();
}

}  // namespace

StepLimit::StepLimit(const System& system, double begin, double end) : same_(0.1 * kNarrow * (end - begin)) {
  constexpr double kShown = 0.02, kJump = 1e-6, kPole = 4, kPieceOfPulse = 1.0 / 3;
  constexpr std::size_t kMostStops = 2000;
  std::vector<double> inside_pulses;
  std::vector<FunctionOfTime> functions = functions_of_time(system.model(), system.params());
  // Many functions share what may be spent on them.
  const int share = 200000 / static_cast<int>(functions.size() + 1), count = std::clamp(share, 32, 512);
  for (FunctionOfTime& function : functions) {
    Sampled sampled{std::move(function), {}, 0};
    const TimesOfInterest interest = times_of_interest(sampled.function, begin, end, count, share);
    double least = std::numeric_limits<double>::infinity(), most = -least;
    for (const double t : interest.times) {
      const double value = sampled.function.at(t);
      if (!std::isfinite(value)) continue;
      sampled.samples.push_back({t, value});
      least = std::min(least, value);
      most = std::max(most, value);
    }
    if (!(most > least)) continue;
    for (const Kink& kink : interest.kinks) {
      stops_.push_back(kink.before);
      if (std::abs(sampled.function.at(kink.after) - sampled.function.at(kink.before)) >
          kJump * (most - least))
        stops_.push_back(kink.after);
    }
    // The tolerance of speeds follows the acceleration, which in a narrow pulse is too large for it to be resolved.
    for (const Kink& summit : interest.summits) {
      const double narrow = kNarrow * (end - begin), apart = (end - begin) / count;
      const double width = half_width(sampled.function, summit.before, narrow, apart, most - least);
      if (width > kPole * narrow && width < apart)
        for (double d = 0; d < apart; d += kPieceOfPulse * std::max(width, d))
          for (const double t : {summit.before - d, summit.before + d}) inside_pulses.push_back(t);
    }
    sampled.slack = kShown * (most - least);
    functions_.push_back(std::move(sampled));
  }
  if (stops_.size() > kMostStops) stops_.clear();
  if (stops_.size() + inside_pulses.size() <= kMostStops)
    stops_.insert(stops_.end(), inside_pulses.begin(), inside_pulses.end());
  std::sort(stops_.begin(), stops_.end());
}

double StepLimit::longest(double t, double h) {
  if (const auto stop = std::upper_bound(stops_.begin(), stops_.end(), t + same_);
      stop != stops_.end() && *stop < t + h)
    h = *stop - t;
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

// What lies in the step from `begin` to begin + h, whose ends do not show it.
StepLimit::PassedOver StepLimit::pulse(FunctionOfTime& function, const std::vector<Sample>& samples,
                                       double begin, double h) {
  constexpr int kHalvings = 40;
  const double first = function.at(begin), last = function.at(begin + h);
  const auto away = [&](double t) {
    const double part = (t - begin) / h;
    return std::abs(function.at(t) - (1 - part) * first - part * last);
  };
  double t = begin, most = 0;
  for (const Sample& sample : samples)
    if (sample.t > begin && sample.t < begin + h)
      if (const double now = away(sample.t); now > most) t = sample.t, most = now;
  const double half = most / 2;
  // At the ends of the step it is away by 0.
  const auto foot = [&](double outside) {
    double inside = t;
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = inside + (outside - inside) / 2;
      (away(middle) > half ? inside : outside) = middle;
    }
    return inside;
  };
  return {function.path(), t, foot(begin + h) - foot(begin)};
}

std::optional<StepLimit::PassedOver> StepLimit::passed_over(double t, double h) {
  constexpr double kHidden = 0.05, kNegligible = 1e-3, kBadly = 0.2;
  constexpr double kMostSamples = 40000, kFewSteps = 4;
  for (Sampled& f : functions_) {
    // Of smooth pulses the samples of a long run know nothing: also the middle of every step, if these are not too many.
    std::vector<Sample> samples = f.samples;
    const double end = samples.back().t, steps = (end - t) / h;
    if (steps < kFewSteps) return {};  // all that is seen may be round-off
    if (steps * static_cast<double>(functions_.size()) < kMostSamples)
      for (int i = 0; i < static_cast<int>(steps + 0.5); ++i) {
        const double middle = t + (i + 0.5) * h;
        samples.push_back({middle, f.function.at(middle)});
      }
    std::erase_if(samples, [](const Sample& s) { return !std::isfinite(s.value); });
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) { return a.t < b.t; });
    double least = samples.front().value, most = least;
    double mean = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      least = std::min(least, samples[i].value);
      most = std::max(most, samples[i].value);
      if (i > 0) mean += (samples[i].value + samples[i - 1].value) / 2 * (samples[i].t - samples[i - 1].t);
    }
    mean /= samples.back().t - samples.front().t;
    const double range = most - least, size = std::max(std::abs(least), std::abs(most));
    if (range < kNegligible * size) continue;
    // What the steps see: a line from end to end.
    double begin = t, ends[2] = {f.function.at(t), f.function.at(t + h)};
    double away = 0, away_from = t, missed = 0, all = 0;  // `missed`, `all`: integrals over time
    double missed_before = 0, all_before = 0;
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const Sample& now = samples[i];
      if (now.t > begin + (1 + 1e-9) * h) {
        begin = t + h * std::floor((now.t - t) / h + 1e-9);
        ends[0] = f.function.at(begin), ends[1] = f.function.at(begin + h);
      }
      if (!std::isfinite(ends[0]) || !std::isfinite(ends[1])) continue;  // where the run will end
      const double part = (now.t - begin) / h;
      const double difference = std::abs(now.value - (1 - part) * ends[0] - part * ends[1]);
      const bool inside = part > 1e-9 && part < 1 - 1e-9;
      if (inside && (now.value < std::min(ends[0], ends[1]) - kHidden * range ||
                     now.value > std::max(ends[0], ends[1]) + kHidden * range))
        return pulse(f.function, samples, begin, h);
      if (difference > away) away = difference, away_from = begin;
      const double spread = std::abs(now.value - mean), dt = i == 0 ? 0 : now.t - samples[i - 1].t;
      missed += dt * (difference + missed_before) / 2;
      all += dt * (spread + all_before) / 2;
      missed_before = difference, all_before = spread;
    }
    if (missed > kBadly * all) return pulse(f.function, samples, away_from, h);
  }
  return {};
}

}  // namespace liedyn
