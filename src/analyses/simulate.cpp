#include "liedyn/analyses/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "liedyn/analyses/checkpoints.h"
#include "liedyn/analyses/companion.h"
#include "liedyn/analyses/inspect.h"
#include "liedyn/analyses/recorder.h"
#include "liedyn/analyses/run_output.h"
#include "liedyn/analyses/simulation.h"
#include "liedyn/analyses/turn_watch.h"
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

// What a checkpoint of a run holds besides the simulation: the figures of the summary up to there, and the settings that decide what is recorded.
class RunArchive {
 public:
  RunArchive(const SimulateOptions& options, const RunOutput& output, const Description& description)
      : output_every_(options.output_every),
        output_times_(output.times),
        output_events_(output.events),
        record_residuals_(options.record_residuals),
        text_(description.text ? *description.text : "") {}

  bool reads() const { return !simulation.empty(); }
  Archive& figures() { return *in_; }  // while it reads
  std::string simulation;              // as read

  template <class List>
  std::string write(std::string bytes, const List& list) {
    Archive out;
    out(output_every_, output_times_, output_events_, record_residuals_, text_, bytes);
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
    double times = 0;
    bool events = false, residuals = false;
    std::string text;
    (*in_)(every, times, events, residuals, text, simulation);
    if (text != text_)
      refuse("it belongs to another model: the model files differ",
             "start the run with the model file of the run that was saved");
    if (every != output_every_)
      refuse(fmt::format("it belongs to a run with another output: every {} steps, got {}", every,
                         output_every_),
             "start the run with the --output-every of the one that was saved");
    if (times != output_times_ || events != output_events_)
      refuse("it belongs to a run with other output times or events",
             "start the run with the --output-times and --output-events of the one that was saved");
    if (residuals != record_residuals_)
      refuse("it belongs to a run with another output: one of them records constraint residuals", "");
  }

 private:
  static constexpr std::string_view kMagic = "liedyn run 3\n";
  long output_every_;
  double output_times_;
  bool output_events_, record_residuals_;
  std::string text_;
  std::optional<Archive> in_;
};

void check_output_times(const SimulateOptions& options, const RunOutput& output) {
  if (!(output.times >= 0) || std::isinf(output.times) ||
      (output.times > 0 && (options.end - options.start) / output.times > 1e12))
    throw InputError("output_times",
                     fmt::format("expected a positive time, not too short for a run of {} s, got {}",
                                 options.end - options.start, output.times));
}

void describe_start(Simulation& simulation, const SimulateOptions& options, Summary& s) {
  const System& system = simulation.system();
  const State& start = simulation.state();
  s.integrator = simulation.integrator().describe();
  s.formulation = system.model().formulation();
  s.formulation_chosen = simulation.formulation_chosen();
  s.start = s.end = start.t;
  s.step = options.step;
  s.unknowns = system.unknowns();
  s.degrees_of_freedom = degrees_of_freedom(system.model(), start);
  s.solver = simulation.work().solver->name();
  for (const int row : start.redundant) s.redundant.push_back(system.model().row_name(row));
  s.warnings = simulation.warnings();
}

void describe_end(const DriveReport& report, bool stopped, Summary& s) {
  s.step = report.step;
  s.least_step = report.least_step;
  s.largest_step = report.largest_step;
  s.rejected = report.rejected;
  s.steps = report.steps;
  s.newton_iterations = report.newton_iterations;
  s.jacobian_updates = report.jacobian_updates;
  s.wall_seconds = report.seconds;
  s.allocations_in_loop = report.allocations;
  s.completed = report.completed || stopped;
  s.interrupted = report.interrupted && !stopped;
  s.failure = report.failure;
}

// What only the whole run shows.
void add_warnings_of_run(const Simulation& simulation, const SimulateOptions& options, const TurnWatch& turns,
                         Summary& s) {
  const State& state = simulation.state();
  const DriveReport& report = simulation.report();
  const std::string last = fmt::format("{:.9g}", state.t), end = fmt::format("{:.9g}", options.end);
  if (!simulation.stopped_by().empty() && last != end)
    s.warnings.push_back(fmt::format("the event '{}' has ended the run at t = {}, before {}",
                                     simulation.stopped_by(), last, end));
  if (!s.adaptive && options.step > (1 + 1e-9) * (options.end - options.start))
    s.warnings.push_back(
        fmt::format("the step ({:.6g} s) is longer than the run ({:.6g} s), which is a single step",
                    options.step, options.end - options.start));
  std::string warning = turns.warning(report.largest_step);
  if (warning.empty() && !s.adaptive && report.completed)
    warning = turns.unresolved(simulation.system(), state, report.largest_step);
  if (!warning.empty()) s.warnings.push_back(std::move(warning));
}

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

Result simulate(const System& given, const SimulateOptions& options, const RunOutput& output) {
  check_output_times(options, output);
  Simulation simulation(given, options, Simulation::End::Fixed);
  Result result;
  Summary& s = result.summary;
  s.adaptive = simulation.integrator().control().adaptive;
  const long every = options.output_every;
  // Between the steps: adaptive ones are where the errors want them.
  const double spacing = output.times > 0 ? output.times
                         : s.adaptive     ? static_cast<double>(every) * options.step
                                          : 0;
  std::optional<Recorder> recorder;
  if (spacing > 0) simulation.set_output(spacing, [&](const State& now) { recorder->sense(now); });
  if (output.events || output.sink != nullptr)
    simulation.set_event_output([&](const State& now, const std::vector<int>& sensors, bool after) {
      if (!after && output.sink != nullptr)
        for (const int sensor : sensors) output.sink->happened(now.t, sensor);
      if (output.events && (after || recorder->last_time() != now.t)) recorder->record(now);
    });
  RunArchive run(options, output, given.model().description());
  const Checkpoints none, &checkpoints = output.checkpoints != nullptr ? *output.checkpoints : none;
  if (!checkpoints.resume.empty()) run.read(checkpoints.resume);
  if (options.resume || run.reads()) {
    simulation.restore(run.reads() ? run.simulation : *options.resume);
    if (!(options.end > simulation.time()))
      throw InputError("simulation.end",
                       fmt::format("must be a time after that of the checkpoint ({}), got {}",
                                   simulation.time(), options.end));
  }
  const System& system = simulation.system();
  const State& start = simulation.state();
  describe_start(simulation, options, s);

  const long steps = step_count(options.start, options.end, options.step);
  const std::size_t rows = spacing > 0  ? static_cast<std::size_t>((options.end - start.t) / spacing) + 3
                           : every == 0 ? 2
                                        : static_cast<std::size_t>(steps / every + 2);
  recorder.emplace(system, simulation.work(), result, rows, options, output);
  // The maxima of the summary include states between those that are recorded; to look at every step would cost a fifth of a cheap one.
  constexpr long kWatchedSteps = 32;
  TurnWatch turns(system.model(), start.t);
  double before = start.t, next_output = start.t;
  const auto archive = [&](Archive& a) { a(s.start, before, next_output, turns, *recorder); };
  if (run.reads()) {
    archive(run.figures());
    recorder->go_on(checkpoints.recorded);
    if (options.recorded) options.recorded(system, start);
  } else {
    recorder->record(start);
  }
  bool pauses = false;
  const DriveReport& report = simulation.report();
  double step_size = 0;
  const auto note_figures = [&](long step) {
    RunStatistics& figures = recorder->statistics();
    figures.step = step_size;
    figures.steps = step;
    figures.newton_iterations = report.newton_iterations;
    figures.jacobian_updates = report.jacobian_updates;
    figures.rejected = report.rejected;
  };
  const auto observe = [&](const State& now, long step) {
    turns.add(now);
    step_size = now.t - before;
    before = now.t;
    const bool gives_rows = spacing > 0 && now.t >= next_output;
    if (gives_rows) next_output = now.t + 0.5 * spacing;
    const bool records = spacing == 0 && ((every > 0 && step % every == 0) || now.t == options.end);
    if (records || gives_rows) note_figures(step);
    if (records)
      recorder->record(now);
    else if (s.adaptive || gives_rows || step % kWatchedSteps == 0)
      recorder->watch(now);
    if (options.progress && !options.progress((now.t - options.start) / (options.end - options.start)))
      return false;
    pauses = checkpoints.due && now.t < options.end && checkpoints.due(step);
    return !pauses;
  };
  // An event may end the run where a checkpoint is due.
  const auto stopped = [&] { return !simulation.stopped_by().empty(); };
  simulation.set_companion(output.companion);
  do {
    pauses = false;
    simulation.run_to(options.end, observe);
    if (checkpoints.keep && report.interrupted && !stopped())
      checkpoints.keep(run.write(simulation.save(), archive), result.trajectory);
  } while (pauses && report.interrupted && !stopped());
  if (output.companion != nullptr) output.companion->end(simulation);
  const State& state = simulation.state();
  // The end, or where it failed; once more if an event there has changed what is seen.
  if (recorder->last_time() != state.t ||
      (simulation.changed_at() == state.t && recorder->shows_change(state))) {
    note_figures(report.steps);
    recorder->record(state);
  }

  s.warnings = simulation.warnings();
  if (output.companion != nullptr)
    for (std::string& warning : output.companion->warnings()) s.warnings.push_back(std::move(warning));
  add_warnings_of_run(simulation, options, turns, s);
  describe_end(report, stopped(), s);
  result.state = state;
  if (output.happened != nullptr) *output.happened = simulation.events();
  if (options.checkpoint) *options.checkpoint = simulation.save();
  return result;
}

}  // namespace liedyn
