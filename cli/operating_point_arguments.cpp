#include "liedyn/analyses/operating_point.h"

#include <cmath>

#include <fmt/format.h>

#include "commands.h"
#include "progress.h"

namespace liedyn::cli {

void OperatingPointArguments::add_to(CLI::App& command) {
  model.add_to(command);
  command
      .add_option("--at", at,
                  "Operating point: the initial state, the equilibrium found from it, or the simulation at a "
                  "time or its end")
      ->type_name("initial|static|end|T")
      ->capture_default_str();
  model.add_from_to(command);
  command.add_option("--initial", initial, "Treatment of inconsistent initial values, as for run")
      ->type_name("check|project");
  command.add_option("--integrator", integrator, "Integrator of the simulation up to --at, as for run")
      ->type_name("NAME[,KEY=VALUE...]");
  command.add_option("--step", step, "Step of that simulation [s]")->type_name("H");
  command
      .add_option(
          "--time", time,
          "Time of loads and joints that depend on it [s], where --at simulates the time of its start; "
          "the start if not given")
      ->type_name("T");
}

State OperatingPointArguments::state(System& system) const {
  SimulateOptions options = default_options(system.model().description());
  options.initial = initial.value_or(options.initial);
  options.integrator = integrator.value_or(options.integrator);
  options.step = step.value_or(options.step);
  if (time && !std::isfinite(*time))
    throw InputError("--time", fmt::format("expected a finite time, got {}", *time));
  options.start = time.value_or(options.start);
  options.from = model.configuration(system, options.start);
  Progress progress;
  options.progress = std::ref(progress);
  return operating_point(system, at, options);
}

}  // namespace liedyn::cli
