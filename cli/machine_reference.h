// All that a program needs to write models, as one JSON document: `liedyn schema --all`.
#pragma once

#include <string>

#include <CLI/App.hpp>

namespace liedyn::cli {

std::string machine_reference(const CLI::App& program);

}  // namespace liedyn::cli
