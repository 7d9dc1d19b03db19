#include "liedyn/analyses/state_space.h"

#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/io/write_state_space.h"

namespace liedyn::cli {
namespace {

struct LinearizeArguments {
  OperatingPointArguments point;
  StateSpaceOptions options;
  std::string out;
  bool json = false;
};

void print_names(const char* title, const std::vector<std::string>& names) {
  fmt::print("  {:<8} {}: {}\n", title, names.size(),
             names.empty() ? "-" : fmt::format("{}", fmt::join(names, ", ")));
}

void print_matrix(char name, const Eigen::MatrixXd& m) {
  constexpr Eigen::Index kMost = 12;
  if (m.size() == 0) return;
  if (m.rows() > kMost || m.cols() > kMost) {
    fmt::print("{} has {} x {} numbers: --out or --json shows them\n", name, m.rows(), m.cols());
    return;
  }
  fmt::print("{}\n", name);
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    for (Eigen::Index c = 0; c < m.cols(); ++c) fmt::print(" {:>13.6g}", m(r, c));
    fmt::print("\n");
  }
}

int linearize_command(const LinearizeArguments& arguments) {
  if (!arguments.out.empty()) check_state_space_output(arguments.out);
  System system = arguments.point.model.load_absolute();
  const State state = arguments.point.state(system);
  const StateSpace space = state_space(system, state, arguments.options);
  std::vector<std::string> files;
  if (!arguments.out.empty()) files = write_state_space(space, arguments.out);
  for (const std::string& warning : space.warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (arguments.json) {
    fmt::print("{}\n", state_space_json(space));
    return kDone;
  }
  fmt::print("{}: x' = A x + B u, y = C x + D u at t = {:.6g} s\n", space.model, space.time);
  print_names("states", space.states);
  print_names("inputs", space.inputs);
  print_names("outputs", space.outputs);
  print_matrix('A', space.A);
  print_matrix('B', space.B);
  print_matrix('C', space.C);
  print_matrix('D', space.D);
  if (!files.empty()) fmt::print("The matrices are in {}\n", fmt::join(files, ", "));
  return kDone;
}

}  // namespace

void add_linearize(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "linearize",
      "State space A, B, C, D in minimal coordinates about a state, from parameters of the model to sensors");
  const auto a = std::make_shared<LinearizeArguments>();
  a->point.add_to(command);
  command
      .add_option("--inputs", a->options.inputs,
                  "Inputs: parameters of the model (forces.motor.torque[2], spin), or a force (forces.motor: "
                  "its components); all applied forces and torques if not given")
      ->type_name("PATH,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--outputs", a->options.outputs, "Sensors; all if not given")
      ->type_name("SENSOR,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option(
          "--out", a->out,
          "NAME.npz: one file; NAME.mtx, NAME.csv: NAME.A.mtx ... NAME.D.mtx (MatrixMarket, CSV); NAME.json")
      ->type_name("FILE");
  command.add_flag("--json", a->json, "Print one JSON object, and nothing else on standard output");
  command.footer(
      "The states are independent displacements and rotations of bodies, and their rates; u and y are "
      "deviations\n"
      "from the values at the state. Exit code 0: done; 2: the input is wrong; 3: there is no such state.");
  command.callback([a, &exit_code] { exit_code = linearize_command(*a); });
}

}  // namespace liedyn::cli
