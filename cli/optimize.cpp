#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "commands.h"
#include "liedyn/analyses/optimize.h"
#include "liedyn/base/error.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/study_file.h"
#include "liedyn/io/text_output.h"
#include "liedyn/model/parameter_paths.h"
#include "progress.h"

namespace liedyn::cli {
namespace {

struct OptimizeArguments {
  std::string study, out, restart;
  std::vector<std::string> set;
  std::optional<std::string> integrator;
  std::optional<double> step, end, tolerance;
  std::optional<int> evaluations;
  bool json = false, quiet = false;
};

void print(const StudyFile& file, const Optimum& r) {
  const Study& study = file.study;
  const Params& params = file.system.params();
  fmt::print("{}: {} after {} evaluations, {:.3g} s\n", file.name,
             r.converged ? "converged" : "not converged", r.history.size(), r.seconds);
  fmt::print("  because              {}\n", r.reason);
  fmt::print("  optimiser            {}, gradients by the {} method\n", r.method, r.gradient);
  fmt::print("  objective            {:.9g}, at the start {:.9g}\n", r.best.objective, r.first.objective);
  for (std::size_t i = 0; i < study.variables.size(); ++i) {
    const Study::Variable& v = study.variables[i];
    const std::string_view unit = parameter_unit(params.description(), params.find(v.parameters.front()));
    const bool has_deviation = !r.deviations.empty() && !std::isnan(r.deviations[i]);
    fmt::print("  {:<20} {:.9g}{}{}{}   (start {:.6g})\n", v.name, r.best.variables[i],
               has_deviation ? fmt::format(" +- {:.2g}", r.deviations[i]) : "", unit.empty() ? "" : " ", unit,
               v.initial);
  }
  for (std::size_t i = 0; i < study.outputs.size(); ++i)
    fmt::print("  {:<20} {:.9g}   ({})\n", study.outputs[i].name, r.outputs[i], study.outputs[i].output);
  for (std::size_t i = 0; i < study.constraints.size(); ++i)
    fmt::print("  {:<20} {:.9g}   (constraint, {})\n", study.constraints[i].name, r.constraints[i],
               constraint_state(study.constraints[i], r.constraints[i]));
  if (!study.data.empty()) fmt::print("  misfit               {:.6g}\n", r.misfit);
  for (std::size_t i = 0; i < study.data.size(); ++i)
    fmt::print("  {:<20} {:.6g}   (root mean square of {} residuals)\n", study.data[i].output, r.residuals[i],
               study.data[i].times.size());
  if (r.failed > 0) fmt::print("  {} evaluations failed\n", r.failed);
}

// The number of evaluations in a history that a search goes on with; it must be of the same variables.
int evaluations_before(const std::string& file, const Study& study) {
  std::ifstream in(file);
  std::string line;
  int count = 0;
  if (!std::getline(in, line)) return 0;
  if (line + '\n' != history_head(study))
    throw InputError(file, "is the history of another study", "use another directory");
  while (std::getline(in, line)) ++count;
  return count;
}

int optimize_command(const OptimizeArguments& arguments) {
  std::vector<Assignment> set;
  for (const std::string& text : arguments.set) set.push_back(parse_assignment(text));
  StudyFile file = read_study(arguments.study, set);
  Study& study = file.study;
  study.simulation.integrator = arguments.integrator.value_or(study.simulation.integrator);
  study.simulation.step = arguments.step.value_or(study.simulation.step);
  study.simulation.end = arguments.end.value_or(study.simulation.end);
  study.tolerance = arguments.tolerance.value_or(study.tolerance);
  study.evaluations = arguments.evaluations.value_or(study.evaluations);
  const std::filesystem::path out = arguments.out;
  if (!arguments.restart.empty()) restart_from(arguments.restart, study);
  std::ofstream history;
  int before = 0;
  if (!arguments.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(out, error);
    if (error) throw InputError(arguments.out, "cannot be made a directory: " + error.message());
    check_writable((out / "result.json").string());
    // A search that goes on where another one has been adds to its history.
    const std::string table = (out / "history.csv").string();
    if (!arguments.restart.empty()) before = evaluations_before(table, study);
    history.open(table, before > 0 ? std::ios::app : std::ios::trunc);
    if (!history) throw InputError(table, "cannot be written");
    if (before == 0) history << history_head(study);
  }
  Progress progress;
  const auto tell = [&](const StudyPoint& point, bool best) {
    // What an interrupted search can go on from.
    if (!arguments.out.empty() && !(history << history_line(point, before) << std::flush))
      cannot_write((out / "history.csv").string(), std::strerror(errno));
    if (best && !arguments.out.empty())
      write_whole((out / "result.json").string(), point_json(study, point) + "\n");
    if (!arguments.quiet && !arguments.json) {
      if (!point.failure.empty())
        fmt::print("{:>5}  failed: {}\n", before + point.evaluation, point.failure);
      else
        fmt::print("{:>5}  {:.9g}{}{}\n", before + point.evaluation, point.objective,
                   point.violation > 1e-6 ? fmt::format("  ({})", point.violated) : "", best ? "  *" : "");
    }
    std::fflush(stdout);
    return progress(0);
  };
  const Optimum result = search(file, tell);
  if (arguments.json)
    fmt::print("{}\n", optimum_json(study, result));
  else
    print(file, result);
  if (!arguments.out.empty()) {
    write_whole((out / "result.json").string(), optimum_json(study, result) + "\n");
    write_text((out / "report.md").string(), optimum_report(file, result));
  }
  for (const std::string& note : result.notes) fmt::print(stderr, "note: {}\n", note);
  if (!arguments.out.empty() && !arguments.json)
    fmt::print("wrote {} (result.json, history.csv, report.md)\n", arguments.out);
  if (result.reason == "interrupted") return kInterrupted;
  return result.converged ? kDone : kFailedNumerics;
}

}  // namespace

void add_optimize(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "optimize", "Minimise an expression of the outputs of a run, or fit a model to measured data");
  const auto arguments = std::make_shared<OptimizeArguments>();
  command.add_option("STUDY", arguments->study, "File of the study, JSON (docs/howto/optimize.md)")
      ->required();
  command
      .add_option("--out", arguments->out, "Write result.json, history.csv and report.md into this directory")
      ->type_name("DIRECTORY");
  command
      .add_option("--restart", arguments->restart,
                  "Start from the solution of an earlier optimisation: its result.json")
      ->type_name("FILE");
  command.add_option("--set", arguments->set, "Set a parameter of the model, overriding the study")
      ->type_name("PATH=VALUE");
  command.add_option("--integrator", arguments->integrator, "Integrator, overriding the study")
      ->type_name("NAME[,KEY=VALUE...]");
  command.add_option("--step", arguments->step, "Time step [s], overriding the study")->type_name("H");
  command.add_option("--end", arguments->end, "End time [s], overriding the study")->type_name("T");
  command.add_option("--tolerance", arguments->tolerance, "Tolerance of the optimiser, overriding the study")
      ->type_name("X");
  command
      .add_option("--evaluations", arguments->evaluations,
                  "Largest number of evaluations, overriding the study")
      ->type_name("N");
  command.add_flag("--quiet", arguments->quiet, "Do not print a line for each evaluation");
  command.add_flag("--json", arguments->json, "Print one JSON object, and nothing else on standard output");
  command.callback([arguments, &exit_code] { exit_code = optimize_command(*arguments); });
}

}  // namespace liedyn::cli
