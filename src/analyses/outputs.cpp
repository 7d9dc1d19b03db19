#include "liedyn/analyses/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "liedyn/base/error.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/sensors/work.h"

namespace liedyn {

std::vector<Output> parse_outputs(const System& system, const SimulateOptions& options,
                                  const std::vector<std::string>& names) {
  const Model& model = system.model();
  std::vector<std::string> wanted = names;
  if (wanted.empty())
    for (const Sensor& sensor : model.sensors)
      if (!shows_work(model, sensor)) wanted.push_back(sensor.name);
  std::vector<Output> out;
  for (const std::string& text : wanted) {
    const std::size_t sign = text.find('@'), bracket = std::min(text.find('['), sign);
    const std::string name = text.substr(0, bracket);
    const auto refuse = [&](const std::string& what, const std::string& hint) {
      throw InputError("outputs." + excerpt(text), what, hint);
    };
    const auto sensor = std::find_if(model.sensors.begin(), model.sensors.end(),
                                     [&](const Sensor& s) { return s.name == name; });
    if (sensor == model.sensors.end()) {
      std::vector<std::string> known;
      for (const Sensor& s : model.sensors) known.push_back(s.name);
      refuse(fmt::format("there is no sensor '{}'", excerpt(name)),
             fmt::format("sensors of this model: {}", fmt::join(known, ", ")));
    }
    if (shows_work(model, *sensor))
      refuse("work is a sum over the steps of a run, which has no derivatives",
             "add a sensor of the type power and use its integral, \"NAME@integral\"");
    Output output;
    output.time = options.end;
    if (sign != std::string::npos) {
      const std::string when = text.substr(sign + 1);
      const auto number = [&] {
        double t = 0;
        const auto [end, error] = std::from_chars(when.data(), when.data() + when.size(), t);
        if (error != std::errc() || end != when.data() + when.size() || !(t >= options.start) ||
            !(t <= options.end))
          refuse(fmt::format("expected a time from {} to {}, end, integral, max or min after @, got '{}'",
                             options.start, options.end, excerpt(when)),
                 "");
        return t;
      };
      if (when == "integral")
        output.at = Output::At::Integral;
      else if (when == "max")
        output.at = Output::At::Maximum;
      else if (when == "min")
        output.at = Output::At::Minimum;
      else if (when != "end")
        output.time = number();
    }
    const std::string suffix = sign != std::string::npos ? text.substr(sign) : "";
    int first = 0, last = sensor->components - 1;
    if (bracket < sign) {
      int index = -1;
      const std::size_t close = text.find(']', bracket);
      const bool closed = close != std::string::npos && (close + 1 == text.size() || close + 1 == sign);
      if (closed) std::from_chars(text.data() + bracket + 1, text.data() + close, index);
      if (!closed || index < 0 || index > last)
        refuse(fmt::format("expected a component from 0 to {} between brackets", last), "");
      first = last = index;
    }
    for (int i = first; i <= last; ++i) {
      output.column = sensor->first + i;
      output.name = (sensor->components == 1 ? name : fmt::format("{}[{}]", name, i)) + suffix;
      out.push_back(output);
    }
  }
  return out;
}

std::string unit_of(const Model& model, const Output& output) {
  for (const Sensor& sensor : model.sensors) {
    if (output.column < sensor.first || output.column >= sensor.first + sensor.components) continue;
    const std::string unit = model.unit_of(sensor);
    if (output.at != Output::At::Integral) return unit;
    return unit.empty() ? "s" : unit + " s";
  }
  return {};
}

namespace {

constexpr std::size_t kSamples = 5;
constexpr double kSamplePlaces[kSamples] = {0, 0.25, 0.5, 0.75, 1};

// Lagrange's polynomials of these parts, and their slopes.
void lagrange(double s, double value[kSamples], double slope[kSamples]) {
  for (std::size_t i = 0; i < kSamples; ++i) {
    value[i] = 1, slope[i] = 0;
    for (std::size_t j = 0; j < kSamples; ++j) {
      if (j == i) continue;
      const double factor = 1 / (kSamplePlaces[i] - kSamplePlaces[j]);
      slope[i] = (slope[i] * (s - kSamplePlaces[j]) + value[i]) * factor;
      value[i] *= (s - kSamplePlaces[j]) * factor;
    }
  }
}

// Five values that belong to a smooth curve: their fourth differences are small beside the second ones. Kinks, jumps and what is flat are not.
bool is_smooth(const double y[kSamples]) {
  double second = 0;
  for (std::size_t i = 1; i + 1 < kSamples; ++i)
    second = std::max(second, std::abs(y[i - 1] - 2 * y[i] + y[i + 1]));
  const double fourth = std::abs(y[0] - 4 * y[1] + 6 * y[2] - 4 * y[3] + y[4]);
  return second > 0 && fourth <= 0.5 * second;
}

// Where the slope of the polynomial through the values vanishes between the neighbours of the largest one; that one itself if it does not change its sign there.
double place_of_maximum(const double y[kSamples]) {
  const auto top = static_cast<std::size_t>(std::max_element(y, y + kSamples) - y);
  const auto slope_at = [&](double s) {
    double value[kSamples], slope[kSamples], sum = 0;
    lagrange(s, value, slope);
    for (std::size_t i = 0; i < kSamples; ++i) sum += slope[i] * y[i];
    return sum;
  };
  double below = kSamplePlaces[top > 0 ? top - 1 : 0], above = kSamplePlaces[std::min(top + 1, kSamples - 1)];
  if (!(slope_at(below) > 0 && slope_at(above) < 0)) return kSamplePlaces[top];
  while (true) {  // halving, until no number is left between
    const double middle = 0.5 * (below + above);
    if (middle <= below || middle >= above) return middle;
    (slope_at(middle) > 0 ? below : above) = middle;
  }
}

}  // namespace

OutputSums::OutputSums(const std::vector<Output>& outputs, const std::vector<double>& times)
    : outputs_(outputs), times_(times), values_(outputs.size(), 0.0), extrema_(outputs.size()) {
  for (const Output& output : outputs) every_step_ = every_step_ || output.at != Output::At::Time;
}

bool OutputSums::wants_start() const {
  return every_step_ || std::any_of(outputs_.begin(), outputs_.end(),
                                    [&](const Output& output) { return output.time == times_[0]; });
}

void OutputSums::add_start(const std::vector<double>& sensors) {
  last_ = sensors;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (is_extremum(i)) values_[i] = sensors[static_cast<std::size_t>(outputs_[i].column)];
  for (const OutputTerm& term : terms_at_start())
    if (!is_extremum(term.output))
      values_[term.output] += term.weight * sensors[static_cast<std::size_t>(outputs_[term.output].column)];
}

void OutputSums::add_step(std::size_t n, const Shown& calculated) {
  std::vector<std::pair<double, std::vector<double>>> known;
  known.reserve(outputs_.size() + kSamples);  // references into it stay
  const Shown shown = [&](double s) -> const std::vector<double>& {
    for (const auto& [part, sensors] : known)
      if (part == s) return sensors;
    known.emplace_back(s, calculated(s));
    return known.back().second;
  };
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (is_extremum(i)) look_for_extremum(n, i, shown);
  for (const OutputPlace& place : places(n)) {
    if (std::all_of(place.terms.begin(), place.terms.end(),
                    [&](const OutputTerm& term) { return is_extremum(term.output); }))
      continue;
    const std::vector<double>& sensors = shown(place.s);
    for (const OutputTerm& term : place.terms)
      if (!is_extremum(term.output))
        values_[term.output] += term.weight * sensors[static_cast<std::size_t>(outputs_[term.output].column)];
  }
  if (every_step_) last_ = shown(1);
}

void OutputSums::look_for_extremum(std::size_t n, std::size_t output, const Shown& shown) {
  const auto column = static_cast<std::size_t>(outputs_[output].column);
  const double sign = outputs_[output].at == Output::At::Maximum ? 1 : -1;
  const auto height = [&](double s) { return sign * (s == 0 ? last_ : shown(s))[column]; };
  const double best = sign * values_[output];
  const auto take = [&](double value, std::vector<Weighted> places) {
    if (!(value > best)) return;
    values_[output] = sign * value;
    extrema_[output] = {n, std::move(places)};
  };
  // The parabola through start, middle and end says whether the summit is in this step, or close enough to look for it.
  constexpr double kClose = 0.25;
  double y[kSamples] = {height(0), 0, height(0.5), 0, height(1)};
  const double slope = y[4] - y[0], bend = y[0] - 2 * y[2] + y[4];
  const double vertex = 0.5 - 0.25 * slope / bend;
  const double range = std::max({y[0], y[2], y[4]}) - std::min({y[0], y[2], y[4]});
  if (bend < 0 && vertex > -kClose && vertex < 1 + kClose && std::max({y[0], y[2], y[4]}) + range > best) {
    y[1] = height(kSamplePlaces[1]), y[3] = height(kSamplePlaces[3]);
    if (is_smooth(y)) {
      const double s = place_of_maximum(y);
      double weight[kSamples], unused[kSamples], value = 0;
      lagrange(s, weight, unused);
      std::vector<Weighted> places;
      for (std::size_t i = 0; i < kSamples; ++i) {
        value += weight[i] * y[i];
        if (weight[i] != 0) places.push_back({kSamplePlaces[i], weight[i]});
      }
      return take(value, std::move(places));
    }
    const auto top = static_cast<std::size_t>(std::max_element(y, y + kSamples) - y);
    return take(y[top], {{kSamplePlaces[top], 1}});
  }
  take(y[4], {{1, 1}});
}

std::vector<OutputTerm> OutputSums::terms_at_start() const {
  std::vector<OutputTerm> out;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (is_extremum(i)) {
      if (extrema_[i].places.empty()) out.push_back({i, 1});
    } else if (outputs_[i].at == Output::At::Integral) {
      if (times_.size() > 1) out.push_back({i, (times_[1] - times_[0]) / 6});
    } else if (outputs_[i].time == times_[0]) {
      out.push_back({i, 1});
    }
  }
  return out;
}

std::vector<OutputPlace> OutputSums::places(std::size_t n) const {
  std::vector<OutputPlace> out;
  const auto add = [&](double s, std::size_t output, double weight) {
    const auto found =
        std::find_if(out.begin(), out.end(), [&](const OutputPlace& place) { return place.s == s; });
    if (found == out.end())
      out.push_back({s, {{output, weight}}});
    else
      found->terms.push_back({output, weight});
  };
  const double h = times_[n] - times_[n - 1], after = n + 1 < times_.size() ? times_[n + 1] - times_[n] : 0;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const double time = outputs_[i].time;
    switch (outputs_[i].at) {
      case Output::At::Time:
        if (time == times_[n])
          add(1, i, 1);
        else if (time > times_[n - 1] && time < times_[n])
          add((time - times_[n - 1]) / h, i, 1);
        break;
      case Output::At::Integral:  // the end is also where the next step begins
        add(0.5, i, 4 * h / 6);
        add(1, i, (h + after) / 6);
        break;
      case Output::At::Maximum:
      case Output::At::Minimum:
        if (extrema_[i].step == n)
          for (const Weighted& place : extrema_[i].places) add(place.s, i, place.weight);
        break;
    }
  }
  return out;
}

}  // namespace liedyn
