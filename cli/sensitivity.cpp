#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_sensitivity.h"
#include "progress.h"

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

// " m/kg", " 1/kg", " m/(N/m)"; nothing for parameters, whose units nobody knows.
std::string quotient(const std::string& output, const std::string& parameter) {
  if (parameter.empty()) return {};
  const bool is_compound = parameter.find_first_of("/ ") != std::string::npos;
  return fmt::format(" {}/{}", output.empty() ? "1" : output,
                     is_compound ? "(" + parameter + ")" : parameter);
}

// `integrator` as it was asked for: most options are defaults, and --json has them all.
void print(const Sensitivity& r, const std::string& model, const std::string& integrator, bool checked) {
  fmt::print("{}: derivatives along {} steps by the {} method, {}, {:.3g} s of CPU time\n", model, r.steps,
             name_of(r.method), r.formulation, r.seconds);
  fmt::print("  integrator           {}\n", integrator);
  fmt::print("  values\n");
  for (std::size_t i = 0; i < r.outputs.size(); ++i)
    fmt::print("    {:<28} {:>20.12g} {}\n", r.outputs[i], r.values[i], r.output_units[i]);
  const std::size_t count = r.parameters.size();
  for (std::size_t k = 0; k < count; ++k) {
    fmt::print("  d/d({}) at {:.9g}{}{}\n", r.parameters[k], r.parameter_values[k],
               r.parameter_units[k].empty() ? "" : " ", r.parameter_units[k]);
    for (std::size_t i = 0; i < r.outputs.size(); ++i) {
      std::string beside;
      if (checked)
        beside = fmt::format("    finite difference {:>20.12g}{}", r.differences[i * count + k],
                             r.disagrees[i * count + k] ? "  DISAGREE" : "");
      fmt::print("    {:<28} {:>20.12g}{}{}\n", r.outputs[i], r.derivative(i, k),
                 quotient(r.output_units[i], r.parameter_units[k]), beside);
    }
    if (checked)
      fmt::print("    relative difference {:.2g}; finite-difference uncertainty {:.2g}\n", r.disagreement[k],
                 r.uncertainty[k]);
    else if (r.method == SensitivityMethod::Difference)
      fmt::print("    finite-difference uncertainty {:.2g}\n", r.uncertainty[k]);
  }
  if (!checked) return;
  if (r.plain_seconds > 0)
    fmt::print("  {:.3g} times the CPU time of the plain run ({:.3g} s)\n", r.seconds / r.plain_seconds,
               r.plain_seconds);
  const auto wrong = std::count(r.disagrees.begin(), r.disagrees.end(), true);
  const auto compared =
      std::count_if(r.differences.begin(), r.differences.end(), [](double x) { return !std::isnan(x); });
  if (wrong > 0)
    fmt::print("  check: {} of {} derivatives DISAGREE with finite differences\n", wrong, compared);
  else
    fmt::print("  check: all {} derivatives agree with finite differences, each relative to its own size\n",
               compared);
}

// "a, b" is two names. A lone comma would take the next option for one.
void trim_names(std::vector<std::string>& names) {
  for (std::string& name : names) {
    if (name.starts_with("--"))
      throw InputError(excerpt(name), "expected names before this option, got none");
    name.erase(0, std::min(name.find_first_not_of(' '), name.size()));
    name.erase(name.find_last_not_of(' ') + 1);
  }
  std::erase(names, "");
}

int sensitivity_command(SensitivityArguments& arguments) {
  SensitivityOptions& o = arguments.options;
  o.method = sensitivity_method(arguments.method);
  if (o.method != SensitivityMethod::Direct && !arguments.out.empty())
    throw InputError("out", "derivatives over time come from the direct method only");
  if (!arguments.out.empty()) {
    if (!arguments.out.ends_with(".csv"))
      throw InputError(arguments.out, "expected a file that ends with .csv");
    check_output(arguments.out);
  }
  trim_names(o.parameters);
  trim_names(o.outputs);
  const System system = arguments.model.load();
  o.simulation = default_options(system.model().description());
  SimulateOptions& run = o.simulation;
  run.integrator = arguments.integrator.value_or(run.integrator);
  run.initial = arguments.initial.value_or(run.initial);
  run.start = arguments.start.value_or(run.start);
  run.end = arguments.end.value_or(run.end);
  run.step = arguments.step.value_or(run.step);
  run.from = arguments.model.configuration(system, run.start);
  if (arguments.out.empty()) run.output_every = 0;
  Sensitivity result;
  {
    Progress progress;
    run.progress = std::ref(progress);
    try {
      result = sensitivity(system, o);
    } catch (const NumericalError& error) {
      if (progress(0)) throw;
      fmt::print(stderr, "error: {}\n", error.what());
      return kInterrupted;
    }
  }
  if (!arguments.out.empty()) write_sensitivity_csv(result, arguments.out);
  const bool checked = o.check && o.method != SensitivityMethod::Difference;
  if (arguments.json)
    fmt::print("{}\n", sensitivity_json(result));
  else
    print(result, system.model().description().name, run.integrator, checked);
  for (const std::string& note : result.notes) fmt::print(stderr, "note: {}\n", note);
  if (!arguments.out.empty() && !arguments.json) fmt::print("The results are in {}\n", arguments.out);
  const bool wrong =
      checked && std::find(result.disagrees.begin(), result.disagrees.end(), true) != result.disagrees.end();
  return wrong ? kFailedNumerics : kDone;
}

}  // namespace

void add_sensitivity(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "sensitivity", "Derivatives of sensors with respect to parameters of the model");
  const auto arguments = std::make_shared<SensitivityArguments>();
  arguments->model.add_to(command);
  arguments->model.add_from_to(command);
  SensitivityOptions& options = arguments->options;
  command
      .add_option("--parameters", options.parameters,
                  "Parameters of the model: bodies.rod.mass, joints.pivot.at[0], gravity[2], "
                  "parameters.spin, ...; 'bodies.*.mass' are all that match")
      ->type_name("PATH...")
      ->delimiter(',')
      ->required();
  command
      .add_option(
          "--outputs", options.outputs,
          "Sensors, with [i] one component: SENSOR at the end, SENSOR@T at a time, SENSOR@integral over the "
          "run, SENSOR@max and SENSOR@min; all sensors at the end that have derivatives if not given")
      ->type_name("OUTPUT...")
      ->delimiter(',');
  command
      .add_option("--method", arguments->method,
                  "Exact, forwards (for few parameters) or backwards (for few outputs); or finite "
                  "differences of whole runs along the same steps")
      ->type_name("direct|adjoint|difference");
  command.add_flag("--check", options.check,
                   "Compare with extrapolated finite differences; exit code 3 if they disagree");
  command.add_option("--integrator", arguments->integrator, "Integrator with its options, as in liedyn run")
      ->type_name("NAME[,KEY=VALUE...]");
  command.add_option("--start", arguments->start, "Start time [s]")->type_name("T");
  command.add_option("--end", arguments->end, "End time [s]")->type_name("T");
  command.add_option("--step", arguments->step, "Time step [s]")->type_name("H");
  command.add_option("--initial", arguments->initial, "Treatment of inconsistent initial values")
      ->type_name("check|project");
  command
      .add_option("--out", arguments->out,
                  "Write all sensors over time and their derivatives to this CSV file")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json, "Print one JSON object, and nothing else on standard output");
  command.callback([arguments, &exit_code] { exit_code = sensitivity_command(*arguments); });
}

}  // namespace liedyn::cli
