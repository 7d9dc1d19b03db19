// Study files of `liedyn sweep`: what is varied, how, and what is kept of each run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/analyses/sweep.h"
#include "liedyn/io/read_model.h"

namespace liedyn {

struct SweepFile {
  std::string name;  // the file's stem
  std::string description;
  SweepPlan plan;
  // What the store says about its rows, as JSON: the names of the columns, the study, and a fingerprint of all that its numbers depend on.
  std::string layout;
};

// What the command line says instead of the study.
struct SweepOverrides {
  std::vector<Assignment> set;
  std::optional<std::string> integrator;
  std::optional<double> step, end;
};

// Paths in it are relative to its directory. Throws InputError with lines and all mistakes at once.
SweepFile read_sweep(const std::string& file, const SweepOverrides& overrides = {});
SweepFile read_sweep_text(std::string_view text, const std::string& file,
                          const SweepOverrides& overrides = {});

// The JSON Schema of these files.
std::string sweep_schema();

}  // namespace liedyn
