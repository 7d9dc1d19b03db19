#include "liedyn/analyses/operating_point.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "liedyn/analyses/simulation.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/base/suggest.h"

namespace liedyn {

State operating_point(const System& system, const std::string& at, SimulateOptions options) {
  Work work(system, options.solver);
  const auto start = [&] { return initial_state(system, options, work); };
  if (at == "initial") return start();
  if (at == "static") {
    StaticOptions statics;
    statics.time = options.start;
    statics.initial = options.initial;
    statics.from = options.from;
    StaticResult found = find_equilibrium(system, statics);
    if (!found.converged) throw NumericalError(options.start, found.failure);
    return found.state;
  }
  if (at != "end") {
    double time = 0;
    const auto [end, error] = std::from_chars(at.data(), at.data() + at.size(), time);
    if (error != std::errc() || end != at.data() + at.size() || !(time >= options.start) ||
        !std::isfinite(time))
      throw InputError("at", fmt::format("expected initial, static, end or a time from {} s on, got '{}'",
                                         options.start, excerpt(at)));
    if (time == options.start) return start();
    options.end = time;
  }
  options.output_every = 0;
  Result result = simulate(system, options);
  if (!result.summary.completed) throw NumericalError(result.summary.end, result.summary.failure);
  return std::move(result.state);
}

}  // namespace liedyn
