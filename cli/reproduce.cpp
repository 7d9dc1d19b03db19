#include "commands.h"
#include "python_program.h"

namespace liedyn::cli {

// The figures, and the options, are those of the Python module: everything behind the word is handed on.
void add_reproduce(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "reproduce",
      "Reproduce figures and tables of the papers: data, plots, and a verdict on their statements");
  command.set_help_flag();
  command.prefix_command();
  command.callback(
      [&command, &exit_code] { exit_code = run_python_module("liedyn_reproduce", command.remaining()); });
}

}  // namespace liedyn::cli
