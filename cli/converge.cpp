#include "liedyn/analyses/converge.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/write_convergence.h"
#include "progress.h"
#include "python_program.h"

namespace liedyn::cli {
namespace {

struct ConvergeArguments {
  ModelArguments model;
  std::vector<std::string> integrators, formulations, sensors;
  std::string steps, step_range;
  std::optional<double> start, end, from;
  std::string reference = "fine", norm = "max";
  int jobs = 1;
  std::string out;
  bool json = false, work_precision = false, plot = false, no_plot = false;
};

std::vector<std::string> split_list(const std::string& text, char separator) {
  std::vector<std::string> out(1);
  for (const char c : text)
    if (c == separator)
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

double number(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    throw InputError(option, fmt::format("expected a number, got '{}'", excerpt(text)));
  return value;
}

std::vector<double> steps_of(const ConvergeArguments& arguments, double start, double end,
                             double model_step) {
  if (!arguments.steps.empty() && !arguments.step_range.empty())
    throw InputError("--steps", "expected either --steps or --step-range, got both");
  std::vector<double> out;
  if (!arguments.step_range.empty()) {
    const std::vector<std::string> parts = split_list(arguments.step_range, ':');
    if (parts.size() != 3)
      throw InputError("--step-range",
                       fmt::format("expected FROM:TO:COUNT, got '{}'", excerpt(arguments.step_range)));
    const double count = number("--step-range", parts[2]);
    if (!(count >= 2 && count <= 1000) || count != std::floor(count))
      throw InputError("--step-range", fmt::format("expected a whole number of steps, 2 to 1000, got '{}'",
                                                   excerpt(parts[2])));
    return step_range(start, end, number("--step-range", parts[0]), number("--step-range", parts[1]),
                      static_cast<int>(count));
  }
  if (!arguments.steps.empty()) {
    for (const std::string& text : split_list(arguments.steps, ',')) out.push_back(number("--steps", text));
    return out;
  }
  for (const double factor : {4.0, 2.0, 1.0, 0.5, 0.25}) out.push_back(factor * model_step);
  return out;
}

// "fine", "INTEGRATOR@STEP" or the name of a result file.
ConvergenceReference reference_of(const std::string& text) {
  ConvergenceReference out;
  if (text == "fine") return out;
  if (const auto at = text.rfind('@'); at != std::string::npos) {
    out.integrator = text.substr(0, at);
    out.step = number("--reference", text.substr(at + 1));
    return out;
  }
  if (text.find('.') == std::string::npos)
    throw InputError("--reference",
                     fmt::format("expected fine, INTEGRATOR@STEP or a result file, got '{}'", excerpt(text)));
  out.file = text;
  out.recorded = read_results(text);
  return out;
}

ErrorNorm norm_of(const std::string& text) {
  if (text == "max") return ErrorNorm::Maximum;
  if (text == "end") return ErrorNorm::End;
  throw InputError("--norm", fmt::format("expected max or end, got '{}'", excerpt(text)));
}

std::string error_text(double error, bool doubtful) {
  return std::isnan(error) ? "-" : fmt::format("{}{:.3e}", doubtful ? "~" : "", error);
}
std::string order_text(double order) { return std::isnan(order) ? "" : fmt::format("{:.2f}", order); }

// Titles of the columns of errors.
std::vector<std::string> error_titles(const Convergence& c) {
  std::vector<std::string> out;
  for (const std::string& quantity : c.quantities)
    out.push_back(fmt::format("{:>11}", "error " + excerpt(quantity, 20)));
  return out;
}

void print_table(const Convergence& c) {
  const std::vector<std::string> titles = error_titles(c);
  fmt::print("{}: t = {:.6g} ... {:.6g} s, {}\n", c.model, c.start, c.end,
             c.norm == ErrorNorm::End ? "relative errors at the end"
             : c.samples == 1
                 ? "relative errors at the end, the only time that all runs share"
                 : fmt::format("largest relative errors at {} times{}", c.samples,
                               c.from > c.start ? fmt::format(", from t = {:.6g} s on", c.from) : ""));
  fmt::print("  reference  {}\n", c.reference);
  std::vector<std::string> doubts;
  for (std::size_t k = 0; k < c.quantities.size(); ++k)
    if (!std::isnan(c.reference_difference[k]))
      doubts.push_back(fmt::format("{} {:.1e}", c.quantities[k], c.reference_difference[k]));
  if (!doubts.empty())
    fmt::print(
        "             differences to the run with twice its step: {}; errors of this size are marked ~\n",
        fmt::join(doubts, ", "));
  for (const ConvergenceCase& one : c.cases) {
    fmt::print("\n{}\n  {:>11}", one.label(), "step");
    for (const std::string& title : titles) fmt::print("  {} {:>5}", title, "order");
    fmt::print("  {:>6}  {:>8}\n", "Newton", "us/step");
    for (const ConvergenceRow& row : one.rows) {
      fmt::print("  {:>11.5g}", row.step);
      if (!row.completed) {
        fmt::print("  failed: {}\n", row.failure);
        continue;
      }
      for (std::size_t k = 0; k < c.quantities.size(); ++k)
        fmt::print("  {:>{}} {:>5}", error_text(row.errors[k], row.doubtful[k]), titles[k].size(),
                   order_text(row.orders[k]));
      fmt::print("  {:>6.2f}  {:>8.3g}\n", row.newton_per_step,
                 1e6 * row.cpu_seconds / static_cast<double>(row.steps));
    }
    fmt::print("  {:>11}", "fit");
    for (std::size_t k = 0; k < titles.size(); ++k)
      fmt::print("  {:>{}} {:>5}", "", titles[k].size(), order_text(one.fitted[k]));
    fmt::print("\n");
  }
  if (c.jobs > 1)
    fmt::print(
        "\nCPU times are per thread; {} simultaneous runs affect each other: use --jobs 1 for accurate CPU "
        "times.\n",
        c.jobs);
}

// All runs by CPU time. A star: none of the runs above it, which are cheaper, has a smaller error of the first quantity.
void print_work_precision(const Convergence& c) {
  std::vector<std::pair<const ConvergenceCase*, const ConvergenceRow*>> runs;
  for (const ConvergenceCase& one : c.cases)
    for (const ConvergenceRow& row : one.rows)
      if (row.completed) runs.emplace_back(&one, &row);
  std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.second->cpu_seconds < b.second->cpu_seconds;
  });
  fmt::print("\nwork and precision (* no faster run has a smaller error of {})\n  {:>10}", c.quantities[0],
             "CPU s");
  const std::vector<std::string> titles = error_titles(c);
  for (const std::string& title : titles) fmt::print("  {}", title);
  fmt::print("    {:>11}  case\n", "step");
  double best = std::numeric_limits<double>::infinity();
  for (const auto& [one, row] : runs) {
    fmt::print("  {:>10.4g}", row->cpu_seconds);
    for (std::size_t k = 0; k < c.quantities.size(); ++k)
      fmt::print("  {:>{}}", error_text(row->errors[k], row->doubtful[k]), titles[k].size());
    const bool better = row->errors[0] < best;
    best = std::min(best, row->errors[0]);
    fmt::print("  {} {:>11.5g}  {}\n", better ? "*" : " ", row->step, one->label());
  }
}

int converge_command(const ConvergeArguments& arguments) {
  if (arguments.out.empty() && arguments.plot)
    throw InputError("--plot", "expected --out PREFIX as well, the name of the files to write");
  if (!arguments.out.empty()) check_convergence_output(arguments.out);
  const std::vector<System> systems = arguments.model.load_in(arguments.formulations);
  const SimulateOptions defaults = default_options(systems.front().model().description());
  ConvergeOptions options;
  options.start = arguments.start.value_or(defaults.start);
  options.end = arguments.end.value_or(defaults.end);
  options.initial = defaults.initial;
  options.integrators = arguments.integrators;
  if (options.integrators.empty()) options.integrators = {defaults.integrator};
  options.steps = steps_of(arguments, options.start, options.end, defaults.step);
  options.reference = reference_of(arguments.reference);
  options.norm = norm_of(arguments.norm);
  options.from = arguments.from;
  options.sensors = arguments.sensors;
  options.jobs = arguments.jobs;

  Convergence result;
  {
    Progress progress;
    options.progress = std::ref(progress);
    result = converge(systems, options);
  }
  if (result.interrupted) {
    fmt::print(stderr, "error: interrupted\n");
    return kInterrupted;
  }
  bool plotted = false;
  if (!arguments.out.empty()) {
    write_convergence(result, arguments.out);
    if (!arguments.no_plot)
      plotted =
          plot_study(arguments.out, arguments.work_precision ? std::vector<std::string>{"--work-precision"}
                                                             : std::vector<std::string>{});
  }
  for (const ConvergenceCase& one : result.cases)
    for (const std::string& warning : one.warnings)
      fmt::print(stderr, "warning: {}: {}\n", one.label(), warning);
  if (arguments.json) {
    fmt::print("{}\n", convergence_json(result));
    return kDone;
  }
  print_table(result);
  if (arguments.work_precision) print_work_precision(result);
  if (!arguments.out.empty())
    fmt::print("\nThe figures are in {}.csv and .json{}\n", arguments.out,
               plotted ? ", the plot in .png" : "");
  return kDone;
}

}  // namespace

void add_converge(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "converge", "Errors and cost of several integrators and formulations over a range of steps");
  const auto a = std::make_shared<ConvergeArguments>();
  a->model.add_model_to(command);
  command.add_option("--integrator", a->integrators, "Integrator with its options; may be repeated")
      ->type_name("NAME[,KEY=VALUE...]")
      ->allow_extra_args(false);
  command
      .add_option(
          "--formulation", a->formulations,
          fmt::format("Coordinates of rigid bodies, may be repeated: {}", fmt::join(formulations(), ", ")))
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      .add_option("--steps", a->steps,
                  "Step sizes [s]; 4, 2, 1, 1/2 and 1/4 times that of the model if not given")
      ->type_name("H,H,...");
  command
      .add_option("--step-range", a->step_range,
                  "Steps in geometric progression instead, adjusted to divide the interval")
      ->type_name("FROM:TO:COUNT");
  command.add_option("--start", a->start, "Start of the simulations [s]")->type_name("T");
  command.add_option("--end", a->end, "End of the simulations [s]")->type_name("T");
  command
      .add_option("--reference", a->reference,
                  "Reference solution: fine (the case with the smallest differences, at an eighth of the "
                  "smallest step), a run, or a .csv or .h5 file that run wrote (errors of its sensors)")
      ->type_name("fine|INTEGRATOR@STEP|FILE");
  command.add_option("--norm", a->norm, "Errors over the run, or at its end")->type_name("max|end");
  command.add_option("--from", a->from, "Ignore errors before this time [s]")->type_name("T");
  command.add_option("--of", a->sensors, "Also the errors of this sensor; may be repeated")
      ->type_name("SENSOR")
      ->allow_extra_args(false);
  command.add_option("--jobs", a->jobs, "Number of simultaneous runs; 1 for accurate CPU times")
      ->type_name("N");
  command.add_flag("--work-precision", a->work_precision, "Also list and plot errors against CPU time");
  command
      .add_option("--out", a->out, "Write PREFIX.csv, PREFIX.json and, with matplotlib, the plot PREFIX.png")
      ->type_name("PREFIX");
  CLI::Option* const plot =
      command.add_flag("--plot", a->plot, "Write a plot: the default, unless --no-plot");
  command.add_flag("--no-plot", a->no_plot, "Do not write a plot")->excludes(plot);
  command.add_flag("--json", a->json, "Print one JSON object, and nothing else on standard output");
  command.footer(
      "Every integrator runs in every formulation with every step. Errors of q, v and lambda are relative to "
      "the largest\nvalue in the reference, see docs/howto/compare_integrators.md. Exit code 0: done, runs "
      "that "
      "failed are shown as such;\n2: the input is wrong; 3: there is no reference solution.");
  command.callback([a, &exit_code] { exit_code = converge_command(*a); });
}

}  // namespace liedyn::cli
