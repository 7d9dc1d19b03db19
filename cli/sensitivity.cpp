#include <memory>

#include <fmt/format.h>

#include "analyses/sensitivity.h"
#include "commands.h"
#include "io/write_results.h"
#include "io/write_sensitivity.h"

namespace liedyn::cli {
namespace {

struct SensitivityArguments {
  ModelArguments model;
  SensitivityOptions options;
  std::optional<std::string> integrator, initial;
  std::optional<double> start, end, step;
  std::string method = "direct";
  std::string out;
  bool json = false;
};

void print(const Sensitivity& r, const std::string& model, bool checked) {
  fmt::print("{}: derivatives along {} steps, {}, {:.3g} s of computing time\n", model, r.steps,
             r.formulation, r.seconds);
  fmt::print("  integrator           {}\n", r.integrator);
  for (std::size_t k = 0; k < r.parameters.size(); ++k) {
    fmt::print("  d/d({}) at {:.9g}\n", r.parameters[k], r.parameter_values[k]);
    for (std::size_t i = 0; i < r.outputs.size(); ++i)
      fmt::print(
          "    {:<28} {:>20.12g}{}\n", r.outputs[i], r.derivative(i, k),
          checked ? fmt::format("    by differences {:>20.12g}", r.differences[i * r.parameters.size() + k])
                  : "");
    if (checked)
      fmt::print("    they agree to {:.2g} of the norm; the differences are good to {:.2g}\n",
                 r.disagreement[k], r.uncertainty[k]);
  }
  if (checked && r.seconds > 0)
    fmt::print("  {:.3g} times the computing time of the plain run ({:.3g} s)\n", r.seconds / r.plain_seconds,
               r.plain_seconds);
}

int sensitivity_command(SensitivityArguments& arguments) {
  SensitivityOptions& o = arguments.options;
  o.method = sensitivity_method(arguments.method);
  if (o.method != SensitivityMethod::Direct && !arguments.out.empty())
    throw InputError("out", "derivatives over time come from the direct method only");
  const System system = arguments.model.load();
  o.simulation = default_options(system.model().description());
  SimulateOptions& run = o.simulation;
  run.integrator = arguments.integrator.value_or(run.integrator);
  run.initial = arguments.initial.value_or(run.initial);
  run.start = arguments.start.value_or(run.start);
  run.end = arguments.end.value_or(run.end);
  run.step = arguments.step.value_or(run.step);
  if (arguments.out.empty()) run.output_every = 0;
  const Sensitivity result = sensitivity(system, o);
  if (!arguments.out.empty()) write_sensitivity_csv(result, arguments.out);
  if (arguments.json)
    fmt::print("{}\n", sensitivity_json(result));
  else
    print(result, system.model().description().name, o.check && o.method != SensitivityMethod::Difference);
  return kDone;
}

}  // namespace

void add_sensitivity(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "sensitivity", "Derivatives of what sensors show with respect to parameters of the model");
  const auto arguments = std::make_shared<SensitivityArguments>();
  arguments->model.add_to(command);
  SensitivityOptions& options = arguments->options;
  command
      .add_option(
          "--parameters", options.parameters,
          "Numbers of the model: bodies.rod.mass, joints.pivot.at[0], gravity[2], parameters.spin, ...")
      ->type_name("PATH...")
      ->delimiter(',')
      ->required();
  command
      .add_option(
          "--outputs", options.outputs,
          "Sensors, with [i] one component: SENSOR at the end, SENSOR@T at a time, SENSOR@integral over the "
          "run, SENSOR@max and SENSOR@min; all sensors at the end if not given")
      ->type_name("OUTPUT...")
      ->delimiter(',');
  command
      .add_option("--method", arguments->method,
                  "Exact, forwards (for few parameters) or backwards (for few outputs); or by differences of "
                  "whole runs "
                  "along the same steps")
      ->type_name("direct|adjoint|difference");
  command.add_flag("--check", options.check, "Compare with extrapolated central differences");
  command.add_option("--integrator", arguments->integrator, "Integrator with its options, as in liedyn run")
      ->type_name("NAME[,KEY=VALUE...]");
  command.add_option("--start", arguments->start, "Time at the start [s]")->type_name("T");
  command.add_option("--end", arguments->end, "Time at the end [s]")->type_name("T");
  command.add_option("--step", arguments->step, "Time step [s]")->type_name("H");
  command.add_option("--initial", arguments->initial, "What to do with inconsistent initial values")
      ->type_name("check|project");
  command
      .add_option("--out", arguments->out,
                  "Write all sensors over time and their derivatives to this CSV file")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "Print one JSON object, and nothing else on standard output");
  command.callback([arguments, &exit_code] { exit_code = sensitivity_command(*arguments); });
}

}  // namespace liedyn::cli
