#include "liedyn/analyses/operating_point.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "liedyn/analyses/run_start.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/base/suggest.h"

namespace liedyn {

State operating_point(System& system, const std::string& at, SimulateOptions options) {
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
  Simulation simulation(system, options, Simulation::End::Fixed);
  const auto goes_on = [&](const State& state, long) {
    return !options.progress || options.progress((state.t - options.start) / (options.end - options.start));
  };
  const bool reached = simulation.run_to(options.end, goes_on);
  if (!simulation.stopped_by().empty()) {
    if (at != "end")
      throw NumericalError(simulation.time(),
                           fmt::format("the event '{}' has ended the run at t = {:.9g}, before {}",
                                       simulation.stopped_by(), simulation.time(), at));
  } else if (!reached) {
    throw NumericalError(simulation.time(), simulation.report().failure);
  }
  if (const std::vector<std::string> released = simulation.released_joints(); !released.empty())
    throw InputError(
        "at",
        fmt::format("expected a state with all joints, but an event has released '{}' by t = {:.9g}",
                    released.front(), simulation.time()),
        "choose a time before the event, or a model without this joint");
  system.set_params(simulation.system().params());
  return simulation.state();
}

}  // namespace liedyn
