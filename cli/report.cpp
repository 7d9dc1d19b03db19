#include "commands.h"
#include "python_program.h"

namespace liedyn::cli {

// The page is drawn by the Python package: everything behind the word is handed on.
void add_report(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "report", "Write a report of a run: animation, curves, drift, statistics, warnings");
  command.set_help_flag();
  command.prefix_command();
  command.callback(
      [&command, &exit_code] { exit_code = run_python_module("liedyn.report", command.remaining()); });
}

}  // namespace liedyn::cli
