// The command line as a whole: which words it takes, and what is wrong with those that it does not.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/App.hpp>
#include <CLI/Error.hpp>

#include "liedyn/base/error.h"

namespace liedyn::cli {

// All commands with their options. The exit code of the one that is called, and the plugins that are named, are left in the arguments, which must outlive the program.
std::unique_ptr<CLI::App> make_program(int& exit_code, std::vector<std::string>& plugins);

// Reads the words and calls the command. Throws CLI::ParseError, also for --help, and what commands throw.
void call_command(CLI::App& program, int argc, char** argv);

// What CLI11 found wrong, in one line as all other errors, with what to do about it.
Diagnostic explain(const CLI::ParseError& error, const CLI::App& program, int argc, char** argv);

// Gives the exit code.
int run_program(int argc, char** argv);

}  // namespace liedyn::cli
