#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "base/error.h"
#include "base/version.h"
#include "commands.h"

namespace liedyn::cli {

void print_findings(const std::vector<Diagnostic>& findings) {
  for (const Diagnostic& finding : findings) fmt::print(stderr, "error: {}\n", to_string(finding));
}

namespace {

int main(int argc, char** argv) {
  CLI::App program("Liedyn: flexible multibody dynamics on Lie groups", "liedyn");
  program.set_version_flag("--version", "liedyn " + std::string(version()));
  program.require_subcommand(1);
  int exit_code = kDone;
  add_run(program, exit_code);
  add_check(program, exit_code);
  add_list(program, exit_code);
  add_schema(program, exit_code);

  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // Also thrown for --help and --version, with the code 0.
    return program.exit(error) == 0 ? kDone : kWrongInput;
  } catch (const InputError& error) {
    print_findings(error.diagnostics());
    return kWrongInput;
  } catch (const NumericalError& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return kFailedNumerics;
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: the memory of this machine is not enough\n");
    return kFailedNumerics;
  }
  return exit_code;
}

}  // namespace
}  // namespace liedyn::cli

int main(int argc, char** argv) { return liedyn::cli::main(argc, argv); }
