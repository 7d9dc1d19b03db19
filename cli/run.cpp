#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "commands.h"
#include "liedyn/analyses/checkpoints.h"
#include "liedyn/analyses/remedies.h"
#include "liedyn/analyses/run_output.h"
#include "liedyn/base/suggest.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/io/checkpoint_file.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/model_format.h"
#include "liedyn/io/result_file.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_scene.h"
#include "liedyn/io/write_vtk.h"
#include "live_arguments.h"
#include "progress.h"

namespace liedyn::cli {
namespace {

// "500": after so many steps; "30s": after so many seconds of computing.
class Every {
 public:
  explicit Every(const std::string& text) {
    const bool seconds = text.ends_with('s');
    double value = 0;
    const char* const end = text.data() + text.size() - (seconds ? 1 : 0);
    const auto [read_to, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || read_to != end || !(value > 0) || !(value < 1e15) ||
        (!seconds && value != std::floor(value)))
      throw InputError("--every", fmt::format("expected a number of steps, 500, or of seconds, 30s, got '{}'",
                                              excerpt(text)));
    if (seconds)
      seconds_ = value;
    else
      steps_ = static_cast<long>(value);
  }
  bool operator()(long step) {
    if (steps_ > 0) return step % steps_ == 0;
    const auto now = Clock::now();
    if (std::chrono::duration<double>(now - last_).count() < seconds_) return false;
    last_ = now;
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  long steps_ = 0;
  double seconds_ = 0;
  Clock::time_point last_ = Clock::now();
};

struct RunArguments {
  ModelArguments model;
  std::optional<std::string> integrator, initial;
  std::optional<double> start, end, step;
  std::optional<long> output_every;
  std::string solver = "auto";
  int threads = 0;
  std::string out, vtk, resume, save_state, checkpoint, every;
  double output_times = 0;
  bool output_events = false, states = false;
  SceneArguments scene;
  LiveArguments live;
  bool json = false;
};

bool has_newton(const std::string& integrator) {
  const std::string name = integrator.substr(0, integrator.find(','));
  const std::vector<ListedIntegrator>& all = integrators();
  const auto method = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  return method != all.end() && std::any_of(method->options.begin(), method->options.end(),
                                            [](const auto& option) { return option.name == "newton"; });
}

// `integrator` as it was asked for: most options are defaults, and the summary of --json has them all.
void print_summary(const Result& result, const std::string& integrator) {
  const Summary& s = result.summary;
  const Trajectory& t = result.trajectory;
  const std::string sizes =
      s.adaptive ? fmt::format("{:.3g} to {:.3g} s ({} rejected)", s.least_step, s.largest_step, s.rejected)
                 : fmt::format("{:.6g} s", s.step);
  fmt::print("{}: t = {:.6g} ... {:.6g} s in {} steps of {}, {:.3g} s of wall time\n", s.model, s.start,
             s.end, s.steps, sizes, s.wall_seconds);
  fmt::print("  integrator           {}\n", integrator);
  fmt::print("  formulation          {}{}, {} unknown{}, {} solver\n", s.formulation,
             s.formulation_chosen ? " (chosen by a trial run)" : "", s.unknowns, s.unknowns == 1 ? "" : "s",
             s.solver);
  // Explicit methods solve for accelerations only, without iterations: they have no options of Newton's method.
  if (has_newton(integrator))
    fmt::print("  Newton iterations    {}, {} matrices\n", s.newton_iterations, s.jacobian_updates);
  else
    fmt::print("  linear solves        {}\n", s.newton_iterations);
  fmt::print("  energy               {:.9g} J, largest change {:.3g} J\n", s.energy_final,
             s.energy_max_drift);
  fmt::print("  constraint residual  position {:.3g}, velocity {:.3g}\n", s.residual_position,
             s.residual_velocity);
  if (t.channels.empty()) return;
  fmt::print("  sensors at the end\n");
  for (const Channel& channel : t.channels) {
    std::vector<double> values;
    for (int i = 0; i < channel.components; ++i) values.push_back(t.at(t.rows() - 1, channel.first + i));
    fmt::print("    {:<18} {:.12g} {}\n", channel.name, fmt::join(values, "  "), channel.unit);
  }
}

// The system of a run that has chosen its formulation itself.
System in_formulation(const System& system, const std::string& name) {
  if (system.model().formulation() == name) return system;
  return {Model::compile(system.model().shared_description(), name), system.params()};
}

// What a person wants to know, or a program; the exit code. `shapes`: the file of --vtk. `is_shown`: there is more than what sensors record.
int report(const RunArguments& arguments, const System& system, const SimulateOptions& options,
           const Result& result, const std::string& shapes, bool is_shown) {
  if (arguments.json)
    fmt::print("{}\n", summary_json(result));
  else
    print_summary(result, options.integrator);
  for (const std::string& warning : result.summary.warnings) fmt::print(stderr, "warning: {}\n", warning);
  if (result.trajectory.channels.empty() && !is_shown)
    fmt::print(stderr,
               "warning: the model has no sensors, so that only the time is recorded (hint: add some, "
               "\"sensors\": {{\"place\": {{\"type\": \"position\", \"of\": \"BODY\"}}}})\n");
  if (result.summary.completed) {
    if (!arguments.out.empty() && !arguments.json) fmt::print("The results are in {}\n", arguments.out);
    if (!shapes.empty() && !arguments.json) fmt::print("The shapes are in {}\n", shapes);
    return kDone;
  }
  fmt::print(stderr, "error: {}\n", result.summary.failure);
  if (!result.summary.interrupted) {
    const Remedies remedies = find_remedies(system, options, result);
    if (const std::string hint = describe(remedies); !hint.empty()) fmt::print(stderr, "hint: {}\n", hint);
    if (!arguments.out.empty()) {
      const std::string last = arguments.out + ".last.json";
      const System as_run = in_formulation(system, result.summary.formulation);
      write_configuration(as_run, result.state, last);
      fmt::print(stderr, "The last valid state is in {}; {}\n", last,
                 how_to_start(fmt::format("--from {} --start {} --initial project", last, result.state.t),
                              as_run, result.state));
    }
  }
  if (!arguments.out.empty()) fmt::print(stderr, "The results up to there are in {}\n", arguments.out);
  if (!shapes.empty()) fmt::print(stderr, "The shapes up to there are in {}\n", shapes);
  if (!arguments.checkpoint.empty() && result.summary.interrupted)
    fmt::print(stderr, "The same command with --resume {} continues the run\n", arguments.checkpoint);
  return result.summary.interrupted ? kInterrupted : kFailedNumerics;
}

int run(const RunArguments& arguments) {
  if (!arguments.out.empty()) check_output(arguments.out);
  // A checkpoint holds the rows up to it, and the file is written at the end.
  const bool streams =
      arguments.out.ends_with(".h5") && arguments.checkpoint.empty() && arguments.resume.empty();
  if (arguments.states && !arguments.out.ends_with(".h5"))
    throw InputError("--states", "needs a file for the states", "add --out FILE.h5");
  if (arguments.states && !streams)
    throw InputError("--states", "cannot be combined with --checkpoint and --resume", "");
  arguments.scene.check();
  if (!arguments.every.empty() && arguments.checkpoint.empty())
    throw InputError("--every", "it has no effect without --checkpoint", "give --checkpoint FILE as well");
  const System system = arguments.model.load();
  SimulateOptions options = default_options(system.model().description());
  options.integrator = arguments.integrator.value_or(options.integrator);
  options.initial = arguments.initial.value_or(options.initial);
  options.start = arguments.start.value_or(options.start);
  options.end = arguments.end.value_or(options.end);
  options.step = arguments.step.value_or(options.step);
  options.output_every = arguments.output_every.value_or(options.output_every);
  options.solver = arguments.solver;
  options.threads = arguments.threads;
  options.from = arguments.model.configuration(system, options.start);
  Checkpoints checkpoints;
  if (!arguments.resume.empty()) {
    SavedRun saved = read_checkpoint(arguments.resume);
    if (saved.run.empty()) options.resume = std::make_shared<const std::string>(std::move(saved.simulation));
    checkpoints.resume = std::move(saved.run);
    checkpoints.recorded = std::move(saved.recorded);
  }
  if (!arguments.save_state.empty()) {
    check_replaceable(arguments.save_state);
    options.checkpoint = std::make_shared<std::string>();
  }
  std::optional<CheckpointFile> file;
  if (!arguments.checkpoint.empty()) {
    file.emplace(arguments.checkpoint);
    checkpoints.due = Every(arguments.every.empty() ? "60s" : arguments.every);
    checkpoints.keep = [&](const std::string& bytes, const Trajectory& recorded) {
      file->keep(bytes, recorded);
    };
  }

  std::optional<VtkWriter> vtk;
  if (!arguments.vtk.empty()) vtk.emplace(arguments.vtk, system.model().description().name);
  std::optional<SceneWriter> scene;
  if (arguments.scene.wanted()) scene.emplace(arguments.scene.frames);
  if (vtk || scene)
    options.recorded = [&](const System& simulated, const State& state) {
      if (vtk) vtk->add(simulated, state);
      if (scene) scene->add(simulated, state);
    };
  // Rows go to the file while the run goes on; they are kept only where the end needs them.
  std::optional<ResultWriter> writer;
  RunOutput output{
      .times = arguments.output_times, .events = arguments.output_events, .checkpoints = &checkpoints};
  if (streams) {
    output.sink = &writer.emplace(arguments.out, arguments.states);
    output.keep = scene.has_value();
  }
  const std::unique_ptr<LiveView> live = arguments.live.open();
  output.companion = live.get();
  Result result;
  try {
    Progress progress;
    options.progress = std::ref(progress);
    if (live) live->set_go_on([&] { return progress.goes_on(); });
    result = simulate(system, options, output);
  } catch (const InputError& error) {
    if (live) live->finish(error.what());
    throw;
  }
  if (writer)
    writer->finish(result);
  else if (!arguments.out.empty())
    write_results(result, arguments.out);
  if (options.checkpoint) replace_file(arguments.save_state, *options.checkpoint);
  const std::string shapes = vtk ? vtk->finish() : "";
  if (scene) arguments.scene.write(scene->finish(result), !arguments.json);
  const int code = report(arguments, system, options, result, shapes, vtk || scene || live);
  if (live) {
    std::fflush(stdout);  // complete, even if the program is ended now
    live->finish(result);
    arguments.live.wait(*live);
  }
  return code;
}

// "Time step; ... [s]": what the model's settings say about the option of the same name.
std::string help_of(std::string_view setting) {
  for (const Field& field : simulation_fields())
    if (field.name == setting)
      return field.summary + (field.unit.empty() ? "" : fmt::format(" [{}]", field.unit));
  return {};
}

std::string integrator_names() {
  std::vector<std::string> names;
  for (const ListedIntegrator& listed : integrators()) names.push_back(listed.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void add_run(CLI::App& program, int& exit_code) {
  CLI::App& command = *program.add_subcommand("run", "Simulate a model");
  const auto arguments = std::make_shared<RunArguments>();
  arguments->model.add_to(command);
  arguments->model.add_record_to(command);
  command
      .add_option(
          "--integrator", arguments->integrator,
          fmt::format("Integrator with its options: {} (see liedyn list integrators)", integrator_names()))
      ->type_name("NAME[,KEY=VALUE...]");
  command.add_option("--start", arguments->start, help_of("start"))->type_name("T");
  command.add_option("--end", arguments->end, help_of("end"))->type_name("T");
  command.add_option("--step", arguments->step, help_of("step"))->type_name("H");
  command.add_option("--initial", arguments->initial, help_of("initial"))->type_name("check|project");
  arguments->model.add_from_to(command);
  CLI::Option* const every =
      command.add_option("--output-every", arguments->output_every, help_of("output_every"))->type_name("N");
  command.add_option("--solver", arguments->solver, "Linear solver; auto: by size and structure")
      ->type_name(fmt::format("{}", fmt::join(kSolvers, "|")));
  command
      .add_option("--threads", arguments->threads,
                  "Threads for one run; 0: all processors for models of thousands of bodies, otherwise one. "
                  "The results do not depend on it")
      ->type_name("N");
  command
      .add_option("--output-times", arguments->output_times,
                  "Output interval [s] instead, independent of the steps: values between steps are "
                  "interpolated by the method")
      ->type_name("T")
      ->check(CLI::PositiveNumber)
      ->excludes(every);
  command.add_flag("--output-events", arguments->output_events,
                   "Also output at events: one row before their changes and one after them");
  command
      .add_option("--out", arguments->out,
                  "Write the values of the sensors to this file; .csv, or .h5, which is written during the "
                  "run and can be read meanwhile")
      ->type_name("FILE");
  command.add_flag(
      "--states", arguments->states,
      "Also write all coordinates, velocities, accelerations and multipliers to the .h5 file, so that "
      "view, convert and report can show the motion");
  command
      .add_option("--vtk", arguments->vtk,
                  "Write the deformed shapes of all bodies at every recorded time for ParaView into this "
                  "folder: open MODEL.pvd. They have velocities, elastic displacements (of exact beams "
                  "relative to their first node) and stresses")
      ->type_name("FOLDER");
  arguments->scene.add_to(command, "the motion");
  arguments->scene.add_frames_to(command);
  arguments->live.add_to(command);
  command
      .add_option(
          "--save-state", arguments->save_state,
          "Write a checkpoint of the end to this file, from which --resume continues with identical results")
      ->type_name("FILE");
  command
      .add_option(
          "--checkpoint", arguments->checkpoint,
          "Keep a checkpoint in this file during the run, and the recorded values in FILE.csv. After a kill, "
          "the same command with --resume FILE gives results identical to those of the whole run")
      ->type_name("FILE");
  command
      .add_option("--every", arguments->every,
                  "Interval of --checkpoint: N steps (500) or seconds (30s); default 60s")
      ->type_name("N|SECONDSs");
  command
      .add_option("--resume", arguments->resume,
                  "Continue from a checkpoint of the same model, integrator and step: one of --checkpoint "
                  "gives the results of the whole run, one of --save-state those up to a later --end")
      ->type_name("FILE");
  command.add_flag("--json", arguments->json,
                   "Print the summary as one JSON object, and nothing else on standard output");
  command.footer(
      "Defaults are the settings \"simulation\" of the model.\n"
      "Exit code 0: done; 2: the input is wrong; 3: the numerics failed, the results up to there are "
      "written; 130: interrupted, likewise.");
  command.callback([arguments, &exit_code] { exit_code = run(*arguments); });
}

}  // namespace liedyn::cli
