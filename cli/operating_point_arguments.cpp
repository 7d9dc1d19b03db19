#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/analyses/operating_point.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/read_model.h"
#include "progress.h"

namespace liedyn::cli {

void add_from(CLI::App& command, std::string& from) {
  command
      .add_option("--from", from,
                  "Start from this configuration instead of the model's own: a .json file that static or "
                  "assemble wrote, or coordinates of joints")
      ->type_name("FILE|JOINT=VALUE,...");
}

std::shared_ptr<const Configuration> configuration_from(const std::string& file, const System& system) {
  if (file.empty()) return nullptr;
  std::error_code ignored;
  if (file.find('=') != std::string::npos && !std::filesystem::exists(file, ignored)) {
    // hinge=0.5,slider=0.1 is short for {"joints": {"hinge": 0.5, "slider": 0.1}}
    std::string text;
    for (std::size_t start = 0; start <= file.size();) {
      const std::size_t end = std::min(file.find(',', start), file.size());
      const Assignment a = parse_assignment(file.substr(start, end - start), "--from");
      text += fmt::format("{}\"{}\": {}", text.empty() ? "" : ", ", a.path, a.value);
      start = end + 1;
    }
    return std::make_shared<const Configuration>(
        read_configuration_text(fmt::format("{{\"joints\": {{{}}}}}", text), "--from", system));
  }
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
