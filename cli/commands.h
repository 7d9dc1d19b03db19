// The commands of the program. Each parses its arguments, calls one analysis and writes what it gives; no numerics here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <CLI/App.hpp>

#include "liedyn/analyses/joint_start.h"
#include "liedyn/system/configuration.h"
#include "liedyn/system/system.h"

namespace liedyn::cli {

enum ExitCode : int {
  kDone = 0,
  kCheckFailed = 1, /* of doctor */
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
void add_sweep(CLI::App& program, int& exit_code);
void add_view(CLI::App& program, int& exit_code);
void add_new(CLI::App& program, int& exit_code);
void add_explain(CLI::App& program, int& exit_code);
void add_doctor(CLI::App& program, int& exit_code);
void add_completion(CLI::App& program, int& exit_code);
void add_report(CLI::App& program, int& exit_code);
void add_info(CLI::App& program, int& exit_code);
void add_convert(CLI::App& program, int& exit_code);

// The words without blanks that `explain` knows, and the names of pages, sorted, for the completion of words.
std::vector<std::string> explained_words(const CLI::App& program);

// MODEL, --set and --formulation, as several commands take them.
struct ModelArguments {
  std::string model;
  std::vector<std::string> set;
  std::string formulation;
  std::string record;          // "all": sensors for all that moves (model/record_all.h)
  bool takes_initial = false;  // the command starts where initial.JOINT of --set says; others refuse it

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

  // --from FILE or JOINT=VALUE.
  void add_from_to(CLI::App& command);
  // What --from and initial.JOINT say about the start at this time, of the system that was loaded last; null if nothing.
  std::shared_ptr<const Configuration> configuration(const System& system, double time) const;

 private:
  std::string from_;
  mutable std::vector<JointStart> initial_;
};

// A model and the state of it that a linear analysis looks at.
struct OperatingPointArguments {
  ModelArguments model;
  std::string at = "initial";
  std::optional<std::string> initial, integrator;
  std::optional<double> step, time;

  void add_to(CLI::App& command);
  State state(System& system) const;
};

// --html, --scene, --gltf and --compare: what an analysis shows in 3D.
struct SceneArguments {
  std::string html, scene, gltf, compare;
  long frames = 0;

  void add_to(CLI::App& command, const std::string& what);
  void add_frames_to(CLI::App& command);
  bool wanted() const { return !html.empty() || !scene.empty() || !gltf.empty(); }
  // Before the analysis, so that none is lost. Throws InputError.
  void check() const;
  // All files; `text` is what SceneWriter gave. With `tell` their names go to standard output.
  void write(const std::string& text, bool tell) const;
};

// Of a configuration that was written: "COMMAND starts there", or why a run refuses it.
std::string how_to_start(const std::string& command, const System& system, const State& state);

// The values of all sensors, one line each.
void print_sensors(const Model& model, const double* values);

// Writes to standard error, one line per finding.
void print_findings(const std::vector<Diagnostic>& findings);

}  // namespace liedyn::cli
