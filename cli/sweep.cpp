#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>

#include "commands.h"
#include "liedyn/base/error.h"
#include "liedyn/io/message_port.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/study_page.h"
#include "liedyn/io/sweep_file.h"
#include "liedyn/io/sweep_ranks.h"
#include "liedyn/io/sweep_store.h"
#include "progress.h"

namespace liedyn::cli {
namespace {

using Json = nlohmann::ordered_json;

struct SweepArguments {
  std::string study, out, html, engine = "threads";
  std::vector<std::string> set;
  std::optional<std::string> integrator;
  std::optional<double> step, end;
  int threads = 0;
  std::uint64_t scenes = 0;  // of cases spread over the first output
  double lost_after = 30;
  bool status = false, retry = false, json = false;
  std::optional<std::uint64_t> show;
};

// "9940 completed, 60 failed"
std::string counted(const std::uint64_t* counts) {
  std::vector<std::string> parts;
  for (std::size_t i = 1; i < std::size(kCaseStatuses); ++i)
    if (counts[i] > 0) parts.push_back(fmt::format("{} {}", counts[i], kCaseStatuses[i]));
  if (counts[0] > 0) parts.push_back(fmt::format("{} missing", counts[0]));
  return fmt::format("{}", fmt::join(parts, ", "));
}

Json counts_json(const std::uint64_t* counts) {
  Json out = Json::object();
  for (std::size_t i = 0; i < std::size(kCaseStatuses); ++i) out[std::string(kCaseStatuses[i])] = counts[i];
  return out;
}

int show_status(const std::string& store, bool json) {
  const SweepState state = sweep_state(store);
  std::uint64_t all = 0;
  for (const std::uint64_t n : state.counts) all += n;
  if (json) {
    Json failures = Json::array();
    for (const auto& [index, message] : state.failures)
      failures.push_back({{"case", index}, {"message", message}});
    fmt::print("{}\n", Json{{"store", store},
                            {"cases", all},
                            {"in_use", state.in_use},
                            {"counts", counts_json(state.counts)},
                            {"seconds", state.seconds},
                            {"failures", failures}}
                           .dump(2));
    return kDone;
  }
  const std::uint64_t done = all - state.counts[0];
  fmt::print("{}: {} of {} cases ({:.1f} %){}\n", store, done, all,
             100.0 * static_cast<double>(done) / static_cast<double>(all),
             state.in_use ? ", in use by a process" : "");
  fmt::print("  {:<20} {}\n", "status", counted(state.counts));
  if (done > 0)
    fmt::print("  {:<20} {:.3g} s, {:.3g} s per case\n", "wall time of all", state.seconds,
               state.seconds / static_cast<double>(done));
  for (const auto& [index, message] : state.failures) fmt::print("  case {:<15} {}\n", index, message);
  return kDone;
}

// A case as `liedyn run` takes it.
int show_case(const SweepFile& file, std::uint64_t index) {
  const SweepPlan& plan = file.plan;
  if (index >= plan.cases())
    throw InputError("--show", fmt::format("expected a case from 0 to {}, got {}", plan.cases() - 1, index));
  fmt::print("{}\n", run_command(plan, index));
  return kDone;
}

// The page of the store: kept cases, and some spread over the first output, can be shown in 3D. They are run again for it. False: stopped by the user.
bool write_page(const SweepArguments& arguments, const std::string& store_file, const SweepFile& file,
                const Progress& progress) {
  const SweepTable table = read_sweep_store(store_file);
  std::vector<StudyScene> scenes;
  for (const std::uint64_t index : cases_to_show(table, file.plan.kept, arguments.scenes)) {
    std::string scene = case_scene(file.plan, index, [&] { return progress.goes_on(); });
    if (!progress.goes_on()) return false;
    if (!scene.empty()) scenes.push_back({index, std::move(scene)});
  }
  write_whole(arguments.html, study_page(table, file.name, run_commands(file.plan), scenes));
  return true;
}

std::string results_folder(const std::string& store_file) {
  return std::filesystem::path(store_file).replace_extension("").string() + "_results";
}

// The study, with what keeps whole results beside the store.
SweepFile read(const SweepArguments& arguments, const std::string& store_file) {
  SweepOverrides overrides{{}, arguments.integrator, arguments.step, arguments.end};
  for (const std::string& text : arguments.set) overrides.set.push_back(parse_assignment(text));
  SweepFile file = read_sweep(arguments.study, overrides);
  if (!arguments.show) keep_results(file.plan, results_folder(store_file));
  return file;
}

int run_study(const SweepArguments& arguments, const std::string& store_file, MessagePort* port) {
  const SweepFile file = read(arguments, store_file);
  if (arguments.show) return show_case(file, *arguments.show);
  if (!arguments.html.empty()) check_study_page(arguments.html, file.plan.cases());
  SweepStore store(store_file, file.layout);
  const std::vector<std::uint64_t> cases =
      cases_to_run(file.plan, store, results_folder(store_file), arguments.retry);
  const std::uint64_t all = file.plan.cases();
  const std::uint64_t before = all - cases.size();
  if (!arguments.json && before > 0 && !cases.empty())
    fmt::print(stderr, "{}: {} of {} cases are complete, {} to be run\n", store_file, before, all,
               cases.size());
  const int processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const int threads = arguments.threads > 0 ? arguments.threads : port != nullptr ? 1 : processors;
  const auto begin = std::chrono::steady_clock::now();
  std::atomic<std::uint64_t> done{0}, failed{0};  // the bar is drawn while others count
  std::map<std::string, std::uint64_t> warnings;
  bool stopped = false;
  double busy = 0;
  Progress progress;
  const auto note = [&](const CaseRecord& record) {
    ++done;
    busy += record.seconds;
    if (record.status != CaseStatus::Completed)
      ++failed;
    else if (!record.message.empty() && (warnings.size() < 5 || warnings.contains(record.message)))
      ++warnings[record.message];
  };
  auto drawn = begin;
  const auto stop = [&] {
    constexpr auto kRedraw = std::chrono::milliseconds(100);
    if (!progress.goes_on()) stopped = true;
    const auto now = std::chrono::steady_clock::now();
    if (stopped || now - drawn < kRedraw) return stopped;
    drawn = now;
    const auto count = static_cast<double>(done);
    const double rate = count / std::chrono::duration<double>(now - begin).count();
    progress(cases.empty() ? 1 : count / static_cast<double>(cases.size()),
             fmt::format("{} of {} cases, {:.4g} cases/s{}", before + done, all, rate,
                         failed > 0 ? fmt::format(", {} not completed", failed.load()) : ""));
    return stopped;
  };
  std::vector<std::string> lost;
  std::string where = fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
  if (port == nullptr) {
    const auto sink = [&](const CaseRecord& record) {
      store.add(record);
      note(record);
    };
    run_cases(file.plan, cases, threads, sink, stop);
  } else {
    const auto sink = [&](std::string_view record) {
      store.add(record);
      note(decode(record));
    };
    lost = lead_ranks(*port, file.plan, columns_of(file.layout).fingerprint, cases,
                      {threads, arguments.lost_after}, sink, stop)
               .lost;
    where = fmt::format("{} MPI rank{} of {}", port->size(), port->size() == 1 ? "" : "s", where);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  store.fold();
  std::uint64_t counts[std::size(kCaseStatuses)];
  for (std::size_t i = 0; i < std::size(counts); ++i) counts[i] = store.count(static_cast<CaseStatus>(i));
  const bool has_page =
      !arguments.html.empty() && !stopped && write_page(arguments, store_file, file, progress);
  stopped = stopped || (!arguments.html.empty() && !has_page);
  if (arguments.json) {
    fmt::print("{}\n", Json{{"store", store_file},
                            {"html", has_page ? Json(arguments.html) : Json()},
                            {"cases", all},
                            {"run", done.load()},
                            {"counts", counts_json(counts)},
                            {"seconds", seconds},
                            {"busy_seconds", busy},
                            {"threads", threads},
                            {"ranks", port == nullptr ? 1 : port->size()},
                            {"lost", lost}}
                           .dump(2));
  } else {
    fmt::print("{}: {} cases, {}\n", file.name, all, counted(counts));
    if (done > 0)
      fmt::print("  {:<20} {} cases in {:.3g} s on {}: {:.4g} cases/s\n", "run", done.load(), seconds, where,
                 static_cast<double>(done) / seconds);
    fmt::print("wrote {}\n", store_file);
    if (has_page)
      fmt::print("The page of the study is in {}\n", arguments.html);
    else if (arguments.html.empty())
      fmt::print("  with --html FILE, the same command draws them without running them again\n");
  }
  for (const std::string& text : lost) fmt::print(stderr, "warning: {}\n", text);
  if (!lost.empty() && counts[0] > 0)
    fmt::print(stderr, "warning: the same command runs the missing cases\n");
  for (const auto& [text, times] : warnings)
    fmt::print(stderr, "warning: {} ({} case{})\n", text, times, times == 1 ? "" : "s");
  if (const std::uint64_t incomplete = all - counts[0] - counts[1]; incomplete > 0)
    fmt::print(stderr, "note: {} case{} did not complete; --status shows why\n", incomplete,
               incomplete == 1 ? "" : "s");
  if (stopped) return kInterrupted;
  if (counts[0] > 0) return kFailedNumerics;
  return kDone;
}

int sweep(const SweepArguments& arguments) {
  const std::string store_file =
      !arguments.out.empty() ? arguments.out
                             : std::filesystem::path(arguments.study).replace_extension(".h5").string();
  if (arguments.scenes > 0 && arguments.html.empty())
    throw InputError("--scenes", "needs --html, the page that shows them");
  if (!arguments.html.empty() && (arguments.status || arguments.show))
    throw InputError("--html", "expected without --status and --show, which only print");
  // The store alone tells how far a study is.
  if (arguments.status) return show_status(store_file, arguments.json);
  if (arguments.threads < 0 || arguments.threads > 1024)
    throw InputError("--threads",
                     fmt::format("expected 0 (as many as processors) to 1024, got {}", arguments.threads));
  if (!(arguments.lost_after > 0))
    throw InputError("--lost-after",
                     fmt::format("expected a positive number of seconds, got {}", arguments.lost_after));
  if (arguments.engine == "threads" || arguments.show) return run_study(arguments, store_file, nullptr);
  const std::unique_ptr<MessagePort> port = open_mpi();
  const RankOptions options{std::max(arguments.threads, 1), arguments.lost_after};
  if (port->rank() > 0) {
    SweepFile file;
    const auto own = [&] {
      file = read(arguments, store_file);
      return std::pair<const SweepPlan*, std::string>(&file.plan, columns_of(file.layout).fingerprint);
    };
    follow_rank_0(*port, own, options);
    return kDone;
  }
  try {
    return run_study(arguments, store_file, port.get());
  } catch (...) {
    release_ranks(*port, options);
    throw;
  }
}

}  // namespace

void add_sweep(CLI::App& program, int& exit_code) {
  CLI::App& command =
      *program.add_subcommand("sweep", "Run a study of many cases: grids, lists and random parameters");
  const auto arguments = std::make_shared<SweepArguments>();
  command.add_option("STUDY", arguments->study, "File of the study, JSON (docs/howto/studies.md)")
      ->required();
  command
      .add_option("--out", arguments->out,
                  "Store of the results, HDF5; the study's name with .h5 if not given. Completed cases are "
                  "not run again")
      ->type_name("FILE");
  command
      .add_option(
          "--html", arguments->html,
          "Write a page with parallel coordinates, scatter plots, histograms and a table of all cases: "
          "one file that any browser opens")
      ->type_name("FILE");
  command
      .add_option("--scenes", arguments->scenes,
                  "Number of additional cases that this page shows in 3D, spread from the least to the "
                  "largest value of the first output")
      ->type_name("N")
      ->check(CLI::Range(0L, 1000L));
  command
      .add_option("--engine", arguments->engine,
                  "threads: of this program; mpi: ranks that mpirun or srun has started")
      ->type_name("threads|mpi")
      ->check(CLI::IsMember({"threads", "mpi"}));
  command
      .add_option("--threads", arguments->threads,
                  "Number of simultaneous cases; 0: the number of processors, with MPI one per rank")
      ->type_name("N");
  command
      .add_option("--lost-after", arguments->lost_after,
                  "With MPI: seconds without a message after which a rank is considered lost")
      ->type_name("T");
  command.add_flag("--status", arguments->status, "Only print the progress of the study, also while it runs");
  command.add_flag("--retry", arguments->retry, "Also rerun cases that did not complete");
  command.add_option("--show", arguments->show, "Only print the command that runs one case")->type_name("N");
  command.add_option("--set", arguments->set, "Set a parameter of the model, overriding the study")
      ->type_name("PATH=VALUE")
      ->allow_extra_args(false);
  command.add_option("--integrator", arguments->integrator, "Integrator, overriding the study")
      ->type_name("NAME[,KEY=VALUE...]");
  command.add_option("--step", arguments->step, "Time step [s], overriding the study")->type_name("H");
  command.add_option("--end", arguments->end, "End time [s], overriding the study")->type_name("T");
  command.add_flag("--json", arguments->json, "Print one JSON object, and nothing else on standard output");
  command.callback([arguments, &exit_code] { exit_code = sweep(*arguments); });
}

}  // namespace liedyn::cli
