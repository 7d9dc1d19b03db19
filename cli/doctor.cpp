#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

#include "build_information.h"
#include "commands.h"
#include "embedded.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/base/paths.h"
#include "liedyn/base/version.h"
#include "liedyn/io/load.h"
#include "liedyn/io/read_model.h"
#include "python_program.h"

namespace liedyn::cli {
namespace {

namespace fs = std::filesystem;

enum class Verdict { Ok, Note, Failed };

struct Finding {
  Verdict verdict;
  std::string what;
  std::string remedy;  // of all but Ok
};

// models/heavy_top, here as well because an installation without models has to be examined too.
constexpr const char* kHeavyTop = R"json({ "liedyn": 1, "gravity": [0, 0, -9.81],
  "bodies": { "top": { "type": "rigid", "mass": 15, "inertia": [0.234375, 0.46875, 0.234375], "position": [0, 1, 0],
                       "velocity": "consistent", "angular_velocity": [0, 150, -4.61538] } },
  "joints": { "pivot": { "type": "spherical", "between": ["ground", "top"], "at": [0, 0, 0] } },
  "sensors": { "position": { "type": "position", "of": "top" } } })json";
// At t = 0.1 s: Euler's equations about the fixed point, integrated by DOP853 of SciPy with the tolerance 1e-13.
constexpr double kEnd = 0.1, kPosition[3] = {0.4212966589254, 0.8945719743456, -0.1491647005619};
constexpr double kTolerance = 1e-8;  // m; both methods below are a hundred times as accurate

Finding heavy_top(const std::string& integrator, const std::string& formulation, const std::string& solver,
                  double step) {
  const std::string what = fmt::format("heavy top, {}, {}, {} s", integrator, formulation, kEnd);
  const std::string remedy =
      "this build computes wrong results: install the package for this processor, or build from source "
      "(./dev "
      "test)";
  try {
    const System system = load_text(kHeavyTop, {}, formulation);
    SimulateOptions options = default_options(system);
    options.integrator = integrator;
    options.solver = solver;
    options.step = step;
    options.end = kEnd;
    const Result result = simulate(system, options);
    if (!result.summary.completed) return {Verdict::Failed, what + ": " + result.summary.failure, remedy};
    const auto found = result.trajectory.last("position");
    double error = 0;
    for (int i = 0; i < 3; ++i)
      error = std::max(error, std::abs(found[static_cast<std::size_t>(i)] - kPosition[i]));
    return {error < kTolerance ? Verdict::Ok : Verdict::Failed,
            fmt::format("{}: {:.1e} m from the reference solution", what, error), remedy};
  } catch (const std::exception& error) {
    return {Verdict::Failed, what + ": " + error.what(), remedy};
  }
}

Finding shipped_models() {
  const std::vector<std::string> names = model_names();
  if (!names.empty()) {
    for (const std::string& name : names) try {
        read_model(name);
      } catch (const std::exception& error) {
        return {Verdict::Failed, fmt::format("shipped model {} cannot be read: {}", name, error.what()),
                "install the package liedyn again; LIEDYN_MODELS may name directories of another version"};
      }
    return {Verdict::Ok, fmt::format("{} models in {}", names.size(), model_directories().back().string()),
            ""};
  }
  return {Verdict::Failed, "no shipped models",
          "expected share/liedyn/models above the program: install the package liedyn, or set LIEDYN_MODELS"};
}

Finding viewer() {
  const auto page = find_viewer();
  if (!page)
    return {Verdict::Failed, "no page of the 3D view: --html and view do not work",
            "expected share/liedyn/viewer.html above the program: install the package liedyn, or build "
            "liedyn_viewer"};
  std::error_code error;
  const auto size = fs::file_size(*page, error);
  if (error || size == 0)
    return {Verdict::Failed, fmt::format("page of the 3D view: {} cannot be read", page->string()),
            "LIEDYN_VIEWER names the file; unset it to use the shipped one"};
  return {Verdict::Ok, fmt::format("page of the 3D view: {}", page->string()), ""};
}

Finding python() {
  try {
    const PythonPackage found = find_python_package();
    const std::string what = fmt::format("Python package {} for {}", found.version, found.interpreter);
    if (found.version == version()) return {Verdict::Ok, what, ""};
    return {Verdict::Failed, fmt::format("{}, but the program is {}", what, version()),
            "install the packages liedyn and python3-liedyn of the same version"};
  } catch (const InputError& error) {
    return {Verdict::Note, fmt::format("no Python package: {}", error.diagnostics().front().message),
            "only plots, reports and reproduce need it: install python3-liedyn, python3-numpy and "
            "python3-matplotlib"};
  }
}

Finding writable(const fs::path& directory, const std::string& what, const std::string& remedy) {
  std::string name = (directory / "liedyn_doctor_XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file < 0)
    return {Verdict::Failed, fmt::format("{} {} cannot be written", what, directory.string()), remedy};
  const bool full = write(file, "liedyn", 6) != 6;
  close(file);
  unlink(name.c_str());
  if (full) return {Verdict::Failed, fmt::format("{} {} is full", what, directory.string()), remedy};
  return {Verdict::Ok, fmt::format("{} {} can be written", what, directory.string()), ""};
}

Finding directory_of_temporary_files() {
  std::error_code error;
  const fs::path directory = fs::temp_directory_path(error);
  const std::string remedy = "set TMPDIR to a directory that exists and has space";
  if (error) return {Verdict::Failed, "there is no directory of temporary files", remedy};
  return writable(directory, "directory of temporary files", remedy);
}

Finding threads() {
  const unsigned count = std::thread::hardware_concurrency();
  if (count > 0) return {Verdict::Ok, fmt::format("{} processors for --threads and --jobs", count), ""};
  return {Verdict::Note, "the number of processors is unknown", "give --threads N where it matters"};
}

Finding texts() {
  const std::size_t pages = static_cast<std::size_t>(
      std::count_if(embedded_texts().begin(), embedded_texts().end(),
                    [](const EmbeddedText& one) { return one.name.ends_with(".md"); }));
  return {Verdict::Ok, fmt::format("{} pages for liedyn explain", pages), ""};
}

}  // namespace

void add_doctor(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand(
      "doctor",
      "Check this installation: files, Python package, write permission, a simulation with a known solution");
  command.footer("Exit code 0: all that is needed works. 1: something failed; the line says what to do.");
  command.callback([&exit_code] {
    fmt::print("{}\n\n", build_information());
    const std::vector<Finding> findings = {
        shipped_models(),
        viewer(),
        python(),
        texts(),
        threads(),
        writable(fs::current_path(), "current directory",
                 "change to a directory of yours, or give --out another one"),
        directory_of_temporary_files(),
        heavy_top("dopri5", "r3so3", "auto", 2e-4),
        heavy_top("esdirk4-6", "se3", "klu", 1e-4)};
    int failed = 0;
    for (const Finding& finding : findings) {
      const char* const word = finding.verdict == Verdict::Ok     ? "ok    "
                               : finding.verdict == Verdict::Note ? "note  "
                                                                  : "FAILED";
      fmt::print("{}  {}\n", word, finding.what);
      if (finding.verdict != Verdict::Ok) fmt::print("        {}\n", finding.remedy);
      failed += finding.verdict == Verdict::Failed ? 1 : 0;
    }
    fmt::print("\n{}\n", failed == 0 ? "All that is needed works."
                                     : fmt::format("{} of {} checks failed.", failed, findings.size()));
    exit_code = failed == 0 ? kDone : kCheckFailed;
  });
}

}  // namespace liedyn::cli
