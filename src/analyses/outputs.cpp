#include "analyses/outputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/suggest.h"

namespace liedyn {

std::vector<Output> parse_outputs(const System& system, const SimulateOptions& options,
                                  const std::vector<std::string>& names) {
  const Model& model = system.model();
  std::vector<std::string> wanted = names;
  if (wanted.empty())
    for (const Sensor& sensor : model.sensors) wanted.push_back(sensor.name);
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
    Output output;
    output.time = options.end;
    if (sign != std::string::npos) {
      const std::string when = text.substr(sign + 1);
      const auto number = [&] {
        double t = 0;
        const auto [end, error] = std::from_chars(when.data(), when.data() + when.size(), t);
        if (error != std::errc() || end != when.data() + when.size() || !(t >= options.start) ||
            !(t <= options.end))
          refuse(fmt::format("expected a time from {} to {}, end, integral, max or min behind @, got '{}'",
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

OutputSums::OutputSums(const std::vector<Output>& outputs, const std::vector<double>& times)
    : outputs_(outputs),
      times_(times),
      parts_(times.size()),
      values_(outputs.size(), 0.0),
      extreme_(outputs.size(), 0) {
  for (const Output& output : outputs) {
    if (output.at != Output::At::Time) {
      every_step_ = true;
      continue;
    }
    const auto n =
        static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), output.time) - times.begin());
    if (n >= times.size() || times[n] == output.time) continue;
    const double s = (output.time - times[n - 1]) / (times[n] - times[n - 1]);
    if (std::find(parts_[n].begin(), parts_[n].end(), s) == parts_[n].end()) parts_[n].push_back(s);
  }
}

bool OutputSums::wants_end(std::size_t n) const {
  return every_step_ || std::any_of(outputs_.begin(), outputs_.end(), [&](const Output& output) {
           return output.at == Output::At::Time && output.time == times_[n];
         });
}

void OutputSums::add(std::size_t n, const std::vector<double>& sensors) {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Output& output = outputs_[i];
    const double now = sensors[static_cast<std::size_t>(output.column)];
    if (output.at == Output::At::Maximum || output.at == Output::At::Minimum) {
      const bool further = output.at == Output::At::Maximum ? now > values_[i] : now < values_[i];
      if (n == 0 || further) values_[i] = now, extreme_[i] = n;
    }
  }
  for (const OutputTerm& term : terms(n))
    if (outputs_[term.output].at == Output::At::Time || outputs_[term.output].at == Output::At::Integral)
      values_[term.output] += term.weight * sensors[static_cast<std::size_t>(outputs_[term.output].column)];
}

void OutputSums::add_between(std::size_t n, double s, const std::vector<double>& sensors) {
  for (const OutputTerm& term : terms_between(n, s))
    values_[term.output] += term.weight * sensors[static_cast<std::size_t>(outputs_[term.output].column)];
}

std::vector<OutputTerm> OutputSums::terms(std::size_t n) const {
  std::vector<OutputTerm> out;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    switch (outputs_[i].at) {
      case Output::At::Time:
        if (outputs_[i].time == times_[n]) out.push_back({i, 1});
        break;
      case Output::At::Integral: {  // the trapezoidal rule
        const double before = n > 0 ? times_[n] - times_[n - 1] : 0,
                     after = n + 1 < times_.size() ? times_[n + 1] - times_[n] : 0;
        out.push_back({i, 0.5 * (before + after)});
        break;
      }
      case Output::At::Maximum:
      case Output::At::Minimum:
        if (extreme_[i] == n) out.push_back({i, 1});
        break;
    }
  }
  return out;
}

std::vector<OutputTerm> OutputSums::terms_between(std::size_t n, double s) const {
  std::vector<OutputTerm> out;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const double time = outputs_[i].time;
    if (outputs_[i].at == Output::At::Time && time > times_[n - 1] && time < times_[n] &&
        (time - times_[n - 1]) / (times_[n] - times_[n - 1]) == s)
      out.push_back({i, 1});
  }
  return out;
}

}  // namespace liedyn
