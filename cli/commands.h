// The commands of the program. Each parses its arguments, calls one analysis and writes what it gives; no numerics here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "liedyn/system/configuration.h"
#include "liedyn/system/system.h"

namespace liedyn::cli {

enum ExitCode : int {
  kDone = 0,
  kWrongInput = 2,
  kFailedNumerics = 3,
  kInterrupted = 130 /* as shells say */
};

// Each adds its command to the program. When the command is called, its exit code is left in `exit_code`.
void add_run(CLI::App& program, int& exit_code);
void add_check(CLI::App& program, int& exit_code);
void add_list(CLI::App& program, int& exit_code);
void add_schema(CLI::App& program, int& exit_code);
void add_converge(CLI::App& program, int& exit_code);
void add_analyze_integrator(CLI::App& program, int& exit_code);
void add_reproduce(CLI::App& program, int& exit_code);
void add_modes(CLI::App& program, int& exit_code);
void add_linearize(CLI::App& program, int& exit_code);
void add_static(CLI::App& program, int& exit_code);
void add_assemble(CLI::App& program, int& exit_code);
void add_kinematics(CLI::App& program, int& exit_code);
void add_sensitivity(CLI::App& program, int& exit_code);
void add_optimize(CLI::App& program, int& exit_code);

// MODEL, --set and --formulation, as several commands take them.
struct ModelArguments {
  std::string model;
  std::vector<std::string> set;
  std::string formulation;
  std::string record;  // "all": sensors for all that moves (model/record_all.h)

  void add_to(CLI::App& command);
  void add_record_to(CLI::App& command);
  // All but --formulation, for commands that compare several.
  void add_model_to(CLI::App& command);
  // Reads the model, sets its numbers and compiles it. Throws InputError.
  System load() const;
  // The same for analyses whose results do not depend on the formulation, and which know absolute coordinates only.
  System load_absolute() const;
  // The same model in each of these formulations; its own if there are none.
  std::vector<System> load_in(const std::vector<std::string>& formulations) const;
};

// --from FILE, and what stands in it; null if there is none.
void add_from(CLI::App& command, std::string& from);
std::shared_ptr<const Configuration> configuration_from(const std::string& file, const System& system);

// A model and the state of it that a linear analysis looks at.
struct OperatingPointArguments {
  ModelArguments model;
  std::string at = "initial", from;
  std::optional<std::string> initial, integrator;
  std::optional<double> step;

  void add_to(CLI::App& command);
  State state(const System& system) const;
};

// The values of all sensors, one line each.
void print_sensors(const Model& model, const double* values);

// Writes to standard error, one line per finding.
void print_findings(const std::vector<Diagnostic>& findings);

}  // namespace liedyn::cli
