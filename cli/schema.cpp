#include "liedyn/io/schema.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "commands.h"
#include "liedyn/io/sweep_file.h"
#include "machine_reference.h"

namespace liedyn::cli {

void add_schema(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "schema", "Print the JSON Schema of model files or studies, for editors and validators");
  const auto what = std::make_shared<std::string>("model");
  command.add_option("WHAT", *what, "model: files of models; study: files of liedyn sweep")
      ->check(CLI::IsMember({"model", "study"}));
  const auto all = std::make_shared<bool>(false);
  command.add_flag("--all", *all,
                   "Print all information for programs that write models: schema, elements, integrators, "
                   "commands, models, error messages");
  command.callback([what, all, &program, &exit_code] {
    fmt::print("{}\n", *all               ? machine_reference(program)
                       : *what == "study" ? sweep_schema()
                                          : model_schema());
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli
