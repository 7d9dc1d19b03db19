#include "liedyn/io/schema.h"

#include <memory>

#include <fmt/format.h>

#include "commands.h"
#include "machine_reference.h"

namespace liedyn::cli {

void add_schema(CLI::App& program, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("schema", "Print the JSON Schema of model files, for editors and validators");
  const auto all = std::make_shared<bool>(false);
  command.add_flag("--all", *all,
                   "Print all that a program needs to write models: schema, elements, integrators, commands, "
                   "models, error messages");
  command.callback([all, &program, &exit_code] {
    fmt::print("{}\n", *all ? machine_reference(program) : model_schema());
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli
