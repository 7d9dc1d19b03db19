#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/write_scene.h"
#include "liedyn/io/write_statics.h"
#include "liedyn/io/write_vtk.h"

namespace liedyn::cli {
namespace {

struct StaticArguments {
  ModelArguments model;
  StaticOptions options;
  std::optional<std::string> initial;
  std::optional<double> time;
  std::string out, vtk;
  SceneArguments scene;
  bool json = false;
};

void print(const StaticResult& r, const Model& model) {
  int iterations = 0;
  for (const LoadStep& step : r.steps) iterations += step.iterations;
  fmt::print("{}: equilibrium in {} load step{}, {} iterations\n", r.model, r.steps.size(),
             r.steps.size() == 1 ? "" : "s", iterations);
  fmt::print("  residuals            forces {:.3g} N, positions {:.3g}\n", r.residual_force,
             r.residual_position);
  fmt::print("  potential energy     {:.9g} J\n", r.potential);
  fmt::print("  stability            {}\n",
             r.unstable_directions < 0    ? "not determined (too many bodies); no growing motion was found"
             : r.unstable_directions == 0 ? (r.indifferent.empty() ? "stable" : "stable or indifferent")
                                          : fmt::format("unstable in {} direction{}", r.unstable_directions,
                                                        r.unstable_directions == 1 ? "" : "s"));
  if (model.sensors.empty()) return;
  fmt::print("  sensors\n");
  print_sensors(model, r.steps.back().sensors.data());
}

int static_command(StaticArguments& arguments) {
  if (!arguments.out.empty()) check_configuration_output(arguments.out);
  arguments.scene.check();
  const System system = arguments.model.load_absolute();
  const SimulationSettings& settings = system.model().description().simulation;
  StaticOptions& options = arguments.options;
  options.initial = arguments.initial.value_or(settings.initial);
  options.time = arguments.time.value_or(settings.start);
  options.from = arguments.model.configuration(system, options.time);
  SceneWriter scene;
  if (arguments.scene.wanted())
    options.reached = [&](const System& loaded, double factor, const State& state) {
      scene.add_loaded(system, loaded, factor, state);
    };
  const StaticResult found = find_equilibrium(system, options);
  if (!arguments.out.empty() && found.converged) write_configuration(system, found.state, arguments.out);
  std::string shapes;
  if (!arguments.vtk.empty() && found.converged) {
    VtkWriter writer(arguments.vtk, system.model().description().name);
    writer.add(system, found.state);
    shapes = writer.finish();
  }
  if (arguments.scene.wanted() && found.converged)
    arguments.scene.write(scene.finish(found, system), !arguments.json);
  if (arguments.json)
    fmt::print("{}\n", static_json(found, system));
  else if (found.converged)
    print(found, system.model());
  if (!found.converged) {
    fmt::print(stderr, "error: {}\n", found.failure);
    return kFailedNumerics;
  }
  if (const std::size_t count = found.indifferent.size(); count > 0) {
    constexpr std::size_t kMost = 3;
    const auto first = found.indifferent.begin(),
               last = first + static_cast<std::ptrdiff_t>(std::min(count, kMost));
    fmt::print(stderr, "warning: {} no stiffness, and {} left unchanged: {}{}\n",
               count == 1 ? "this motion has" : fmt::format("these {} motions have", count),
               count == 1 ? "is" : "are", fmt::join(first, last, " | "),
               count > kMost ? fmt::format(" | and {} more (all with --json)", count - kMost) : "");
  }
  for (const std::string& warning : found.warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (!arguments.out.empty() && !arguments.json)
    fmt::print("The equilibrium is in {}; {}\n", arguments.out,
               how_to_start("run --from " + arguments.out, system, found.state));
  if (!shapes.empty() && !arguments.json) fmt::print("The shape is in {}\n", shapes);
  return kDone;
}

}  // namespace

void add_static(CLI::App& program, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("static", "Static equilibrium, with the loads increased in steps");
  const auto a = std::make_shared<StaticArguments>();
  a->model.add_to(command);
  command
      .add_option("--load-steps", a->options.load_steps,
                  "Number of equal load steps for weight and applied forces; a step that fails is halved")
      ->type_name("N")
      ->capture_default_str();
  command
      .add_option("--time", a->time, "Time of loads and joints that depend on it [s]; the start if not given")
      ->type_name("T");
  command
      .add_option("--tolerance", a->options.tolerance,
                  "Tolerance of the residual forces, relative to the forces of the model")
      ->type_name("TOL")
      ->capture_default_str();
  command.add_option("--initial", a->initial, "Treatment of inconsistent initial values, as for run")
      ->type_name("check|project");
  a->model.add_from_to(command);
  command
      .add_option("--vtk", a->vtk, "Write the deformed shape, with stresses, for ParaView into this folder")
      ->type_name("FOLDER");
  a->scene.add_to(command, "the path from the start to the equilibrium");
  command.add_option("--out", a->out, "Write the configuration to this .json file, for --from")
      ->type_name("FILE");
  command.add_flag("--json", a->json, "Print one JSON object, and nothing else on standard output");
  command.footer(
      "Exit code 0: done, motions without stiffness are named in a warning; 2: the input is wrong; 3: no "
      "equilibrium was found, and\nthe motions without stiffness are named.");
  command.callback([a, &exit_code] { exit_code = static_command(*a); });
}

}  // namespace liedyn::cli
