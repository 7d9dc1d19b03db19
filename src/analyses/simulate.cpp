#include "liedyn/analyses/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "liedyn/analyses/checkpoints.h"
#include "liedyn/analyses/inspect.h"
#include "liedyn/analyses/recorder.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/base/suggest.h"

namespace liedyn {

constexpr int kMostThreads = 1024;

void check_times(const SimulateOptions& o) {
  std::vector<Diagnostic> findings;
  const auto add = [&](const char* path, std::string message) {
    findings.push_back({"", 0, path, std::move(message), ""});
  };
  if (!std::isfinite(o.start)) add("simulation.start", fmt::format("must be a finite time, got {}", o.start));
  if (!std::isfinite(o.end) || o.end <= o.start)
    add("simulation.end", fmt::format("must be a time after the start ({}), got {}", o.start, o.end));
  if (!std::isfinite(o.step) || o.step <= 0)
    add("simulation.step", fmt::format("must be positive, got {}", o.step));
  if (o.output_every < 0) add("output_every", fmt::format("must not be negative, got {}", o.output_every));
  if (std::find(std::begin(kSolvers), std::end(kSolvers), o.solver) == std::end(kSolvers))
    add("solver", fmt::format("must be one of {}, got '{}'", fmt::join(kSolvers, ", "), excerpt(o.solver)));
  if (o.threads < 0 || o.threads > kMostThreads)
    add("threads", fmt::format("must be 0 (chosen by size) to {}, got {}", kMostThreads, o.threads));
  if (findings.empty() && (o.end - o.start) / o.step > 1e12)
    add("simulation.step", fmt::format("{} steps are too many; the step is too small for the interval",
                                       (o.end - o.start) / o.step));
  if (!findings.empty()) throw InputError(findings);
}

namespace {

// The largest angular velocity, of a body or in a joint of a tree.
double largest_spin(const Model& model, const State& state) {
  double square = 0;
  for (const Node& node : model.nodes) {
    if (node.type == NodeType::State) continue;
    double sum = 0;
    for (int i = place_count(node.type); i < node_size(node.type).v; ++i) {
      const double w = state.v[static_cast<std::size_t>(node.v + i)];
      sum += w * w;
    }
    square = std::max(square, sum);
  }
  return std::sqrt(square);
}

// What a checkpoint of a run holds besides the simulation: the figures of the summary up to there, and the settings that decide what is recorded.
class RunArchive {
 public:
  RunArchive(const SimulateOptions& options, const Description& description)
      : output_every_(options.output_every),
        record_residuals_(options.record_residuals),
        text_(description.text ? *description.text : "") {}

  bool reads() const { return !simulation.empty(); }
  Archive& figures() { return *in_; }  // while it reads
  std::string simulation;              // as read

  template <class List>
  std::string write(std::string bytes, const List& list) {
    Archive out;
    out(output_every_, record_residuals_, text_, bytes);
    list(out);
    return std::string(kMagic) + out.bytes();
  }
  void read(const std::string& bytes) {
    const auto refuse = [](const std::string& what, const std::string& hint) {
      throw InputError("checkpoint", what, hint);
    };
    if (!bytes.starts_with(kMagic))
      refuse("expected the bytes of a run", "liedyn run --checkpoint FILE writes them");
    in_.emplace(std::string_view(bytes).substr(kMagic.size()));
    long every = 0;
    bool residuals = false;
    std::string text;
    (*in_)(every, residuals, text, simulation);
    if (text != text_)
      refuse("it belongs to another model: the text of the model file differs",
             "start the run with the model file of the run that was saved");
    if (every != output_every_)
      refuse(fmt::format("it belongs to a run with another output: every {} steps, got {}", every,
                         output_every_),
             "start the run with the --output-every of the one that was saved");
    if (residuals != record_residuals_)
      refuse("it belongs to a run with another output: one of them records constraint residuals", "");
  }

 private:
  static constexpr std::string_view kMagic = "liedyn run 1\n";
  long output_every_;
  bool record_residuals_;
  std::string text_;
  std::optional<Archive> in_;
};

}  // namespace

InitialPolicy initial_policy(const std::string& name) {
  if (name == "check") return InitialPolicy::Check;
  if (name == "project") return InitialPolicy::Project;
  throw InputError("initial", fmt::format("expected check or project, got '{}'", excerpt(name)));
}

SimulateOptions default_options(const Description& d) {
  SimulateOptions out;
  out.start = d.simulation.start;
  out.end = d.simulation.end;
  out.step = d.simulation.step;
  out.integrator = d.simulation.integrator;
  out.initial = d.simulation.initial;
  out.output_every = d.simulation.output_every;
  return out;
}

Result simulate(const System& system, const SimulateOptions& options) {
  return simulate(system, options, {});
}

Result simulate(const System& given, const SimulateOptions& options, const Checkpoints& checkpoints) {
  Simulation simulation(given, options, Simulation::End::Fixed);
  // Of adaptive steps, whose output a checkpoint counts: before one is restored.
  std::optional<Recorder> recorder;
  const long every = options.output_every;
  const bool adaptive = simulation.integrator().control().adaptive;
  if (adaptive && every > 0)
    simulation.set_output(static_cast<double>(every) * options.step,
                          [&](const State& now) { recorder->sense(now); });
  RunArchive run(options, given.model().description());
  if (!checkpoints.resume.empty()) run.read(checkpoints.resume);
  if (options.resume || run.reads()) {
    simulation.restore(run.reads() ? run.simulation : *options.resume);
    if (!(options.end > simulation.time()))
      throw InputError("simulation.end",
                       fmt::format("must be a time after that of the checkpoint ({}), got {}",
                                   simulation.time(), options.end));
  }
  const System& system = simulation.system();
  const Model& model = system.model();
  const State& start = simulation.state();
  Result result;
  Summary& s = result.summary;
  s.integrator = simulation.integrator().describe();
  s.formulation = model.formulation();
  s.formulation_chosen = simulation.formulation_chosen();
  s.start = start.t;
  s.unknowns = system.unknowns();
  s.degrees_of_freedom = degrees_of_freedom(model, start);
  s.solver = simulation.work().solver->name();
  for (const int row : start.redundant) s.redundant.push_back(model.row_name(row));

  const long steps = step_count(options.start, options.end, options.step);
  s.adaptive = adaptive;
  const std::size_t rows = every == 0 ? 2 : static_cast<std::size_t>(steps / every + 2);
  recorder.emplace(system, simulation.work(), result, rows, options);
  double before = start.t, largest_turn = 0;
  const auto archive = [&](Archive& a) { a(s.start, before, largest_turn, *recorder); };
  if (run.reads()) {
    archive(run.figures());
    recorder->go_on(checkpoints.recorded);
  } else {
    recorder->record(start);
  }
  // The maxima of the summary do not depend on what is recorded, but to look after every step would cost a fifth of a cheap one.
  constexpr long kWatchedSteps = 32;
  bool pauses = false;
  const auto observe = [&](const State& now, long step) {
    largest_turn = std::max(largest_turn, (now.t - before) * largest_spin(model, now));
    before = now.t;
    if (s.adaptive)
      recorder->watch(now);
    else if ((every > 0 && step % every == 0) || now.t == options.end)
      recorder->record(now);
    else if (step % kWatchedSteps == 0)
      recorder->watch(now);
    if (options.progress && !options.progress((now.t - options.start) / (options.end - options.start)))
      return false;
    pauses = checkpoints.due && now.t < options.end && checkpoints.due(step);
    return !pauses;
  };
  const DriveReport& report = simulation.report();
  // An event may end the run where a checkpoint is due.
  const auto stopped = [&] { return !simulation.stopped_by().empty(); };
  do {
    pauses = false;
    simulation.run_to(options.end, observe);
    if (checkpoints.keep && report.interrupted && !stopped())
      checkpoints.keep(run.write(simulation.save(), archive), result.trajectory);
  } while (pauses && report.interrupted && !stopped());
  const State& state = simulation.state();
  if (recorder->last_time() != state.t) recorder->record(state);  // the end, or where it failed

  s.warnings = simulation.warnings();
  if (!simulation.stopped_by().empty())
    s.warnings.push_back(fmt::format("the event '{}' has ended the run at t = {:.9g}, before {:.9g}",
                                     simulation.stopped_by(), state.t, options.end));
  if (!s.adaptive && options.step > (1 + 1e-9) * (options.end - options.start))
    s.warnings.push_back(
        fmt::format("the step ({:.6g} s) is longer than the run ({:.6g} s), which is one step of that length",
                    options.step, options.end - options.start));
  constexpr double kWholeTurn = 2 * std::numbers::pi;
  if (largest_turn > kWholeTurn)
    s.warnings.push_back(
        fmt::format("something turns by {:.3g} rad in one step: increments of rotations are only "
                    "distinguished within a whole "
                    "turn, the result is hardly the motion; take steps of {:.2g} s at most",
                    largest_turn, 0.1 * kWholeTurn * report.largest_step / largest_turn));
  s.step = report.step;
  s.least_step = report.least_step;
  s.largest_step = report.largest_step;
  s.rejected = report.rejected;
  s.steps = report.steps;
  s.newton_iterations = report.newton_iterations;
  s.jacobian_updates = report.jacobian_updates;
  s.wall_seconds = report.seconds;
  s.allocations_in_loop = report.allocations;
  s.completed = report.completed || stopped();
  s.interrupted = report.interrupted && !stopped();
  s.failure = report.failure;
  result.state = state;
  if (options.checkpoint) *options.checkpoint = simulation.save();
  return result;
}

}  // namespace liedyn
