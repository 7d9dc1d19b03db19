#include "liedyn/io/schema.h"

#include <fmt/format.h>

#include "commands.h"

namespace liedyn::cli {

void add_schema(CLI::App& program, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("schema", "Print the JSON Schema of model files, for editors and validators");
  command.callback([&exit_code] {
    fmt::print("{}\n", model_schema());
    exit_code = kDone;
  });
}

}  // namespace liedyn::cli
