#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/analyses/assembling.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/system/node_components.h"

namespace liedyn::cli {
namespace {

struct AssembleArguments {
  ModelArguments model;
  AssembleOptions options;
  std::optional<double> time;
  std::string out;
  bool json = false;
};

void print(const System& system, const Assembly& a) {
  const Model& model = system.model();
  fmt::print(
      "{}: assembled at t = {:.6g} s; largest |Phi| {:.3g} (before: {:.3g}), |B v + Phi_t| {:.3g} (before: "
      "{:.3g})\n",
      model.description().name, a.state.t, a.residual_position, a.initial_residual_position,
      a.residual_velocity, a.initial_residual_velocity);
  const auto vector = [](const Vec3& v) {
    return fmt::format("{:.9g}  {:.9g}  {:.9g}", v.x(), v.y(), v.z());
  };
  const auto& bodies = model.description().entries(Section::Bodies);
  const Configuration configuration = configuration_of(system, a.state);
  constexpr std::size_t kMost = 20;
  for (std::size_t i = 0; i < std::min(kMost, bodies.size()); ++i) {
    const BodyConfiguration& body = configuration[i];
    fmt::print("  {}\n    position           {}\n", bodies[i].name, vector(body.position));
    const NodeType type = model.body_types[i];
    if (rotates(type)) fmt::print("    rotation vector    {}\n", vector(body.orientation.log()));
    if (translates(type)) fmt::print("    velocity           {}\n", vector(body.velocity));
    if (rotates(type)) fmt::print("    angular velocity   {}\n", vector(body.angular_velocity));
  }
  if (bodies.size() > kMost)
    fmt::print("  and {} more bodies: --out or --json shows them\n", bodies.size() - kMost);
}

int assemble_command(AssembleArguments& arguments) {
  if (!arguments.out.empty()) check_configuration_output(arguments.out);
  const System system = arguments.model.load_absolute();
  arguments.options.time = arguments.time.value_or(system.model().description().simulation.start);
  arguments.options.from = arguments.model.configuration(system, arguments.options.time);
  const Assembly found = assemble(system, arguments.options);
  if (!arguments.out.empty()) write_configuration(system, found.state, arguments.out);
  if (arguments.json) {
    fmt::print("{}\n", configuration_json(system, found.state));
    return kDone;
  }
  print(system, found);
  if (!arguments.out.empty())
    fmt::print("The configuration is in {}; {}\n", arguments.out,
               how_to_start("run --from " + arguments.out, system, found.state));
  return kDone;
}

}  // namespace

void add_assemble(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand("assemble",
                                              "Make a rough configuration consistent: positions, velocities "
                                              "and accelerations that satisfy the constraints");
  const auto a = std::make_shared<AssembleArguments>();
  a->model.add_to(command);
  CLI::Option* const hold =
      command.add_option("--hold", a->options.held, "Bodies whose positions and velocities are fixed")
          ->type_name("BODY...")
          ->delimiter(',');
  command.add_option("--free", a->options.free, "The only bodies that may move; all if neither is given")
      ->type_name("BODY...")
      ->delimiter(',')
      ->excludes(hold);
  a->model.add_from_to(command);
  command.add_option("--time", a->time, "Time of joints that depend on it [s]; the start if not given")
      ->type_name("T");
  command.add_option("--out", a->out, "Write the configuration to this .json file, for --from")
      ->type_name("FILE");
  command.add_flag("--json", a->json, "Print one JSON object, and nothing else on standard output");
  command.footer(
      "A file for --from may contain some bodies only, with some of position, orientation, velocity, "
      "angular_velocity.\n"
      "Exit code 0: done; 2: the input is wrong, or there is no such configuration nearby (the worst "
      "constraint is named).");
  command.callback([a, &exit_code] { exit_code = assemble_command(*a); });
}

}  // namespace liedyn::cli
