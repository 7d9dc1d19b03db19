#include "liedyn/analyses/reductions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

#include "liedyn/base/error.h"
#include "liedyn/base/suggest.h"

namespace liedyn {
namespace {

using As = Reduction::Kind;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

std::optional<double> number_in(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out)) return {};
  return out;
}

struct Named {
  std::string_view name;
  As kind;
};
constexpr Named kNamed[] = {{"end", As::End},
                            {"integral", As::Integral},
                            {"mean", As::Mean},
                            {"rms", As::RootMeanSquare},
                            {"max", As::Maximum},
                            {"min", As::Minimum},
                            {"time_of_max", As::TimeOfMaximum},
                            {"time_of_min", As::TimeOfMinimum}};

// The integral from t1 to t2 of the parabola through (t0, y0), (t1, y1), (t2, y2), which may lie in any order of time.
double area(double t0, double y0, double t1, double y1, double t2, double y2) {
  // y = y1 + s (t - t1) + c (t - t1)(t - t2), with the slope s between 1 and 2
  const double h = t2 - t1, s = (y2 - y1) / h;
  const double c = (y0 - y1 - s * (t0 - t1)) / ((t0 - t1) * (t0 - t2));
  return h * (0.5 * (y1 + y2) - c * h * h / 6);
}

bool are_similar(double a, double b) { return a > 0 && b > 0 && a <= 2 * b && b <= 2 * a; }

}  // namespace

Reduction parse_reduction(const System& system, const SimulateOptions& options, const std::string& name,
                          const std::string& text, std::vector<double> frequencies) {
  const Model& model = system.model();
  const auto refuse = [&](const std::string& what, const std::string& hint = {}) {
    throw InputError("outputs." + excerpt(name), what, hint);
  };
  const std::size_t sign = std::min(text.find('@'), text.size()), bracket = std::min(text.find('['), sign);
  const std::string sensor_name = text.substr(0, bracket);
  const auto sensor = std::find_if(model.sensors.begin(), model.sensors.end(),
                                   [&](const Sensor& s) { return s.name == sensor_name; });
  if (sensor == model.sensors.end()) {
    std::vector<std::string> known;
    for (const Sensor& s : model.sensors) known.push_back(s.name);
    refuse(fmt::format("there is no sensor '{}' in {}", excerpt(sensor_name), model.description().name),
           fmt::format("sensors of this model: {}", fmt::join(known, ", ")));
  }
  Reduction out;
  out.name = name;
  out.column = sensor->first;
  out.components = sensor->components;
  if (bracket < sign) {
    const std::string inner = sign - bracket > 2 && text[sign - 1] == ']'
                                  ? text.substr(bracket + 1, sign - bracket - 2)
                                  : std::string();
    const auto index = number_in(inner);
    if (!index || *index != std::floor(*index) || *index < 0 || *index >= sensor->components)
      refuse(fmt::format("expected a component of '{}' from 0 to {} between brackets, got '{}'",
                         excerpt(sensor_name), sensor->components - 1,
                         excerpt(text.substr(bracket, sign - bracket))));
    out.column += static_cast<int>(*index);
    out.components = 1;
  }
  const std::string what = sign < text.size() ? text.substr(sign + 1) : "end";
  const auto named =
      std::find_if(std::begin(kNamed), std::end(kNamed), [&](const Named& n) { return n.name == what; });
  if (named != std::end(kNamed)) {
    out.kind = named->kind;
  } else if (what.starts_with("first>") || what.starts_with("first<")) {
    const auto value = number_in(std::string_view(what).substr(6));
    if (!value)
      refuse(
          fmt::format("expected a number after '{}', got '{}'", what.substr(0, 6), excerpt(what.substr(6))));
    out.kind = what[5] == '>' ? As::FirstAbove : As::FirstBelow;
    out.value = *value;
  } else if (const auto time = number_in(what)) {
    if (!(*time >= options.start && *time <= options.end))
      refuse(fmt::format("expected a time from {} to {}, got {}", options.start, options.end, *time));
    out.kind = As::AtTime;
    out.value = *time;
  } else {
    std::vector<std::string_view> names;
    for (const Named& n : kNamed) names.push_back(n.name);
    const std::string meant = nearest(what, names);
    refuse(fmt::format("expected {} after @, got '{}'", kReductions, excerpt(what)), did_you_mean(meant));
  }
  if (!frequencies.empty()) {
    if (out.components != 1 || sign < text.size())
      refuse("expected one component of a sensor, without @, for a spectrum",
             fmt::format("for example \"{}{}\"", sensor_name, sensor->components > 1 ? "[0]" : ""));
    const double most = 0.5 / options.step;
    for (const double f : frequencies)
      if (f > most)
        refuse(fmt::format("expected frequencies of at most {:.6g} Hz, half the number of recorded values "
                           "per second, got {:.6g}",
                           most, f),
               fmt::format("use a step below {:.3g} s", 0.5 / f));
    out.kind = As::Spectrum;
    out.frequencies = std::move(frequencies);
  }
  const std::string unit = model.unit_of(*sensor);
  switch (out.kind) {
    case As::Integral: out.unit = unit.empty() ? "s" : unit + " s"; break;
    case As::TimeOfMaximum:
    case As::TimeOfMinimum:
    case As::FirstAbove:
    case As::FirstBelow: out.unit = "s"; break;
    default: out.unit = unit;
  }
  return out;
}

Reducer::Reducer(const std::vector<Reduction>& reductions, double start, double end)
    : reductions_(reductions), start_(start), end_(end) {
  std::size_t numbers = 0, frequencies = 0;
  for (const Reduction& r : reductions) {
    numbers += static_cast<std::size_t>(r.width());
    frequencies += r.frequencies.size();
  }
  parts_.resize(numbers);
  fourier_.resize(frequencies);
}

void Reducer::add(double t, const std::vector<double>& sensors) {
  if (count_ == 0) first_time_ = t;
  values_[count_ % kKept] = sensors;
  times_[count_ % kKept] = t;
  ++count_;
  std::size_t part = 0, frequency = 0;
  for (const Reduction& r : reductions_) {
    if (r.kind == As::Spectrum) {
      add_spectrum(r, frequency);
      // The mean is an integral, too.
      add_area(parts_[part], r.column, false);
      part += r.frequencies.size();
      frequency += r.frequencies.size();
      continue;
    }
    for (int i = 0; i < r.components; ++i, ++part) {
      Part& p = parts_[part];
      const int column = r.column + i;
      const double y = shown(0, column);
      switch (r.kind) {
        case As::AtTime:
          if (count_ == 1) p.extreme = t == r.value ? y : kNone;
          if (count_ > 1 && time(1) < r.value && r.value <= t) {
            const double h = t - time(1), s = (y - shown(1, column)) / h, x = r.value - time(1);
            p.extreme = r.value == t ? y : shown(1, column) + s * x;
            if (r.value < t && count_ > 2 && are_similar(h, time(1) - time(2))) {
              const double a = time(2) - time(1);
              p.extreme += (shown(2, column) - shown(1, column) - s * a) / (a * (a - h)) * x * (x - h);
            }
          }
          break;
        case As::Integral:
        case As::Mean: add_area(p, column, false); break;
        case As::RootMeanSquare: add_area(p, column, true); break;
        case As::Maximum:
        case As::TimeOfMaximum:
          if (count_ == 1 || y > p.extreme) p.extreme = y, p.time = t;
          break;
        case As::Minimum:
        case As::TimeOfMinimum:
          if (count_ == 1 || y < p.extreme) p.extreme = y, p.time = t;
          break;
        case As::FirstAbove:
        case As::FirstBelow: {
          if (count_ == 1) p.time = kNone;
          const auto passed = [&](double x) { return r.kind == As::FirstAbove ? x > r.value : x < r.value; };
          if (!std::isnan(p.time) || !passed(y)) break;
          const double before = count_ > 1 ? shown(1, column) : y;
          p.time = count_ == 1 ? t : time(1) + (t - time(1)) * (r.value - before) / (y - before);
          break;
        }
        default: break;
      }
    }
  }
}

void Reducer::add_area(Part& part, int column, bool squared) {
  if (count_ < 2) return;
  const auto y = [&](std::size_t back) {
    const double x = shown(back, column);
    return squared ? x * x : x;
  };
  const double h = time(0) - time(1);
  if (!(h > 0)) return;
  // `last_sum` is the last interval as far as it is known before the next value.
  if (count_ == 2 || !are_similar(h, time(1) - time(2))) {
    part.sum += part.last_sum;
    part.last_sum = 0.5 * h * (y(0) + y(1));
    // The first interval has no value before it: the next parabola counts in full.
    part.is_first = count_ == 2;
    return;
  }
  const double left = area(time(0), y(0), time(2), y(2), time(1), y(1));
  part.sum += part.is_first ? left : 0.5 * (part.last_sum + left);
  part.last_sum = area(time(2), y(2), time(1), y(1), time(0), y(0));
  part.is_first = false;
}

void Reducer::add_spectrum(const Reduction& r, std::size_t first) {
  if (count_ < 2) return;
  const double h = 0.5 * (time(0) - time(1));  // trapezoidal rule
  for (std::size_t back = 0; back < 2; ++back) {
    const double t = time(back), s = (t - start_) / (end_ - start_);
    const double w = h * (0.5 - 0.5 * std::cos(2 * std::numbers::pi * s)), x = shown(back, r.column);
    for (std::size_t k = 0; k < r.frequencies.size(); ++k) {
      const double phase = 2 * std::numbers::pi * r.frequencies[k] * t;
      Fourier& f = fourier_[first + k];
      const double c = w * std::cos(phase), d = w * std::sin(phase);
      f.real += x * c, f.imaginary -= x * d;
      f.window_real += c, f.window_imaginary -= d;
    }
  }
}

std::vector<double> Reducer::finish() const {
  std::vector<double> out;
  out.reserve(parts_.size());
  const double duration = count_ > 0 ? time(0) - first_time_ : 0;
  std::size_t part = 0, frequency = 0;
  for (const Reduction& r : reductions_) {
    if (r.kind == As::Spectrum) {
      const double mean = (parts_[part].sum + parts_[part].last_sum) / duration;
      // The window belongs to a run of full length.
      const double window = duration < (1 - 1e-9) * (end_ - start_) ? kNone : 0.5 * (end_ - start_);
      for (std::size_t k = 0; k < r.frequencies.size(); ++k) {
        const Fourier& f = fourier_[frequency + k];
        out.push_back(2 / window *
                      std::hypot(f.real - mean * f.window_real, f.imaginary - mean * f.window_imaginary));
      }
      part += r.frequencies.size();
      frequency += r.frequencies.size();
      continue;
    }
    for (int i = 0; i < r.components; ++i, ++part) {
      const Part& p = parts_[part];
      const double sum = p.sum + p.last_sum;
      switch (r.kind) {
        case As::End: out.push_back(shown(0, r.column + i)); break;
        case As::Integral: out.push_back(sum); break;
        case As::Mean: out.push_back(sum / duration); break;
        case As::RootMeanSquare: out.push_back(std::sqrt(std::max(sum, 0.0) / duration)); break;
        case As::AtTime:
        case As::Maximum:
        case As::Minimum: out.push_back(p.extreme); break;
        default: out.push_back(p.time); break;
      }
    }
  }
  return out;
}

}  // namespace liedyn
