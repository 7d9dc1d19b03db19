#include "liedyn/analyses/kinematics.h"

#include <functional>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/io/write_results.h"
#include "progress.h"

namespace liedyn::cli {
namespace {

struct KinematicsArguments {
  ModelArguments model;
  std::optional<double> start, end, step;
  std::optional<long> output_every;
  std::string out;
  bool json = false;
};

int kinematics_command(const KinematicsArguments& arguments) {
  if (!arguments.out.empty()) check_output(arguments.out);
  const System system = arguments.model.load_absolute();
  SimulateOptions options = default_options(system.model().description());
  options.start = arguments.start.value_or(options.start);
  options.end = arguments.end.value_or(options.end);
  options.step = arguments.step.value_or(options.step);
  options.output_every = arguments.output_every.value_or(options.output_every);
  options.from = arguments.model.configuration(system, options.start);
  Result result;
  {
    Progress progress;
    options.progress = std::ref(progress);
    result = kinematics(system, options);
  }
  if (!arguments.out.empty()) write_results(result, arguments.out);
  const Summary& s = result.summary;
  const Trajectory& t = result.trajectory;
  if (arguments.json) {
    fmt::print("{}\n", summary_json(result));
  } else {
    fmt::print("{}: driven motion, t = {:.6g} ... {:.6g} s in {} steps of {:.6g} s, {:.3g} s of wall time\n",
               s.model, s.start, s.end, s.steps, s.step, s.wall_seconds);
    fmt::print("  constraint residual  position {:.3g}, velocity {:.3g}\n", s.residual_position,
               s.residual_velocity);
    if (!t.channels.empty()) fmt::print("  sensors at the end\n");
    print_sensors(system.model(), t.data.data() + (t.rows() - 1) * static_cast<std::size_t>(t.columns) + 1);
    if (s.completed && !arguments.out.empty()) fmt::print("The results are in {}\n", arguments.out);
  }
  if (s.completed) return kDone;
  fmt::print(stderr, "error: {}\n", s.failure);
  if (!arguments.out.empty()) fmt::print(stderr, "The results up to there are in {}\n", arguments.out);
  return s.interrupted ? kInterrupted : kFailedNumerics;
}

}  // namespace

void add_kinematics(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "kinematics",
      "Positions, velocities, accelerations and reactions of a model whose motion is completely prescribed");
  const auto a = std::make_shared<KinematicsArguments>();
  a->model.add_to(command);
  a->model.add_record_to(command);
  command.add_option("--start", a->start, "First time [s]; the model's if not given")->type_name("T");
  command.add_option("--end", a->end, "Last time [s]; the model's if not given")->type_name("T");
  command.add_option("--step", a->step, "Output interval [s]; the step of the model if not given")
      ->type_name("H");
  command
      .add_option("--output-every", a->output_every, "Record every n-th time; 0: only the first and the last")
      ->type_name("N");
  a->model.add_from_to(command);
  command.add_option("--out", a->out, "Write the values of the sensors to this file; .csv or .h5")
      ->type_name("FILE");
  command.add_flag("--json", a->json,
                   "Print the summary as one JSON object, and nothing else on standard output");
  command.footer(
      "No time integration: the constraints are solved at each time, so that the step does not limit the "
      "accuracy.\n"
      "Exit code 0: done; 2: the input is wrong, or degrees of freedom remain (they are named); 3: no "
      "configuration at some time, the results up\nto there are written.");
  command.callback([a, &exit_code] { exit_code = kinematics_command(*a); });
}

}  // namespace liedyn::cli
