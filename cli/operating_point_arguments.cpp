#include <fmt/format.h>

#include "analyses/operating_point.h"
#include "commands.h"
#include "io/configuration_file.h"
#include "progress.h"

namespace liedyn::cli {

void add_from(CLI::App& command, std::string& from) {
  command
      .add_option("--from", from,
                  "Start from this configuration instead of the model's own: a .json file that static or "
                  "assemble wrote")
      ->type_name("FILE");
}

std::shared_ptr<const Configuration> configuration_from(const std::string& file, const System& system) {
  if (file.empty()) return nullptr;
  return std::make_shared<const Configuration>(read_configuration(file, system));
}

void OperatingPointArguments::add_to(CLI::App& command) {
  model.add_to(command);
  command
      .add_option("--at", at,
                  "The state to look at: the start, the equilibrium found from it, or the simulation at a "
                  "time or its end")
      ->type_name("initial|static|end|T")
      ->capture_default_str();
  add_from(command, from);
  command.add_option("--initial", initial, "How the start is made consistent, as for run")
      ->type_name("check|project");
  command.add_option("--integrator", integrator, "Of the simulation up to --at, as for run")
      ->type_name("NAME[,KEY=VALUE...]");
  command.add_option("--step", step, "Of that simulation [s]")->type_name("H");
}

State OperatingPointArguments::state(const System& system) const {
  SimulateOptions options = default_options(system.model().description());
  options.initial = initial.value_or(options.initial);
  options.integrator = integrator.value_or(options.integrator);
  options.step = step.value_or(options.step);
  options.from = configuration_from(from, system);
  Progress progress;
  options.progress = std::ref(progress);
  return operating_point(system, at, options);
}

}  // namespace liedyn::cli
