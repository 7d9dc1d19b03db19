#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "analyses/optimize.h"
#include "base/error.h"
#include "commands.h"
#include "io/study_file.h"
#include "io/text_output.h"
#include "progress.h"

namespace liedyn::cli {
namespace {

struct OptimizeArguments {
  std::string study, out, restart;
  bool json = false, quiet = false;
};

void print(const StudyFile& file, const Optimum& r) {
  const Study& study = file.study;
  fmt::print("{}: {} after {} evaluations, {:.3g} s\n", file.name,
             r.converged ? "converged" : "not converged", r.history.size(), r.seconds);
  fmt::print("  because              {}\n", r.reason);
  fmt::print("  optimiser            {}, gradients by the {} method\n", r.method, r.gradient);
  fmt::print("  objective            {:.9g}, at the start {:.9g}\n", r.best.objective, r.first.objective);
  for (std::size_t i = 0; i < study.variables.size(); ++i)
    fmt::print("  {:<20} {:.9g}   (start {:.6g})\n", study.variables[i].name, r.best.variables[i],
               study.variables[i].initial);
  for (std::size_t i = 0; i < study.outputs.size(); ++i)
    fmt::print("  {:<20} {:.9g}   ({})\n", study.outputs[i].name, r.outputs[i], study.outputs[i].output);
  for (std::size_t i = 0; i < study.constraints.size(); ++i)
    fmt::print("  {:<20} {:.9g}   (constraint)\n", study.constraints[i].name, r.constraints[i]);
  if (!study.data.empty()) fmt::print("  misfit               {:.6g}\n", r.misfit);
  if (r.failed > 0) fmt::print("  {} runs did not reach their end\n", r.failed);
}

int optimize_command(const OptimizeArguments& arguments) {
  StudyFile file = read_study(arguments.study);
  const std::filesystem::path out = arguments.out;
  if (!arguments.restart.empty()) restart_from(arguments.restart, file.study);
  if (!arguments.out.empty()) {
    std::error_code error;
    std::filesystem::create_directories(out, error);
    if (error) throw InputError(arguments.out, "cannot be made a directory: " + error.message());
    check_writable((out / "result.json").string());
  }
  Progress progress;
  const auto tell = [&](const StudyPoint& point, bool best) {
    // What an interrupted search can go on from.
    if (best && !arguments.out.empty())
      write_text((out / "result.json").string(), point_json(file.study, point) + "\n");
    if (!arguments.quiet && !arguments.json)
      fmt::print("{:>5}  {:.9g}{}{}\n", point.evaluation, point.objective,
                 file.study.constraints.empty() ? "" : fmt::format("  violation {:.2g}", point.violation),
                 best ? "  *" : "");
    std::fflush(stdout);
    return progress(0);
  };
  const Optimum result = optimize(file.system, file.study, tell);
  if (!arguments.out.empty()) {
    write_text((out / "result.json").string(), optimum_json(file.study, result) + "\n");
    write_text((out / "history.csv").string(), history_csv(file.study, result));
    write_text((out / "report.md").string(), optimum_report(file, result));
  }
  if (arguments.json)
    fmt::print("{}\n", optimum_json(file.study, result));
  else
    print(file, result);
  if (!arguments.out.empty() && !arguments.json)
    fmt::print("wrote {} (result.json, history.csv, report.md)\n", arguments.out);
  if (result.reason == "interrupted") return kInterrupted;
  return result.converged ? kDone : kFailedNumerics;
}

}  // namespace

void add_optimize(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "optimize", "Minimise an expression of what a run gives, or fit a model to measured data");
  const auto arguments = std::make_shared<OptimizeArguments>();
  command.add_option("STUDY", arguments->study, "File of the study, JSON (docs/howto/optimize.md)")
      ->required();
  command
      .add_option("--out", arguments->out, "Write result.json, history.csv and report.md into this directory")
      ->type_name("DIRECTORY");
  command
      .add_option("--restart", arguments->restart, "Begin where an earlier search has been: its result.json")
      ->type_name("FILE");
  command.add_flag("--quiet", arguments->quiet, "No line for each evaluation");
  command.add_flag("--json", arguments->json, "Print one JSON object, and nothing else on standard output");
  command.callback([arguments, &exit_code] { exit_code = optimize_command(*arguments); });
}

}  // namespace liedyn::cli
