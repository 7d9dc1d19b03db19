// What happens before the first step: a large model from JSON, and the start of the command-line program.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "liedyn/base/peak_memory.h"
#include "liedyn/io/read_model.h"
#include "liedyn/system/initial.h"

namespace liedyn::speed {
namespace {

// The chain as a user might have written it: every link and joint an entry of the file.
std::string chain_as_json(int links) {
  std::string bodies, joints;
  for (int i = 1; i <= links; ++i) {
    const char* comma = i == 1 ? "" : ",\n";
    fmt::format_to(
        std::back_inserter(bodies),
        R"({}    "link{}": {{ "type": "rigid", "mass": 1, "inertia": [0.01, 0.1, 0.1], "position": [{}, 0, 0] }})",
        comma, i, i - 0.5);
    fmt::format_to(std::back_inserter(joints),
                   R"({}    "j{}": {{ "type": "spherical", "between": ["{}", "link{}"], "at": [{}, 0, 0] }})",
                   comma, i, i == 1 ? "ground" : fmt::format("link{}", i - 1), i, i - 1);
  }
  return fmt::format(R"({{ "liedyn": 1, "gravity": [0, 0, -9.81],
  "bodies": {{
{}
  }},
  "joints": {{
{}
  }},
  "sensors": {{ "tip": {{ "type": "position", "of": "link{}" }} }} }}
)",
                     bodies, joints, links);
}

std::shared_ptr<const Description> read(const std::string& text) {
  return std::make_shared<const Description>(read_model_text(text, "chain.json"));
}

void finish(benchmark::State& bench) {
  bench.counters["peak_bytes"] = static_cast<double>(peak_memory());
  bench.counters["bodies"] = static_cast<double>(bench.range(0));
}

void read_json(benchmark::State& bench) {
  const std::string text = chain_as_json(static_cast<int>(bench.range(0)));
  for (auto _ : bench) benchmark::DoNotOptimize(read(text));
  finish(bench);
}

void compile(benchmark::State& bench) {
  const auto description = read(chain_as_json(static_cast<int>(bench.range(0))));
  const Params params(description);
  for (auto _ : bench) benchmark::DoNotOptimize(System(Model::compile(description, "r3so3"), params));
  finish(bench);
}

// Read, check, compile, consistent initial values and the matrices of a simulation: all before the first step.
void all(benchmark::State& bench) {
  const std::string text = chain_as_json(static_cast<int>(bench.range(0)));
  for (auto _ : bench) {
    const auto description = read(text);
    const System system(Model::compile(description, "r3so3"), Params(description));
    Work work(system);
    benchmark::DoNotOptimize(consistent_state(system, 0, InitialPolicy::Check, work));
  }
  finish(bench);
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// The program beside this one, with its output thrown away; the CPU time that it took.
void command_line(benchmark::State& bench, const std::vector<std::string>& arguments) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").parent_path() / "bin" / "liedyn";
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& one : arguments) argv.push_back(const_cast<char*>(one.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  posix_spawn_file_actions_addopen(&quiet, 1, "/dev/null", O_WRONLY, 0);
  for (auto _ : bench) {
    pid_t process = 0;
    int status = -1;
    rusage used{};
    if (posix_spawn(&process, program.c_str(), &quiet, nullptr, argv.data(), environ) != 0 ||
        wait4(process, &status, 0, &used) != process || status != 0) {
      bench.SkipWithError("the program liedyn is missing or failed");
      break;
    }
    bench.SetIterationTime(seconds(used.ru_utime) + seconds(used.ru_stime));
  }
  posix_spawn_file_actions_destroy(&quiet);
}

BENCHMARK(read_json)->Name("start_up/read")->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK(compile)->Name("start_up/compile")->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK(all)->Name("start_up/all")->Arg(10000)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(command_line, version, {"--version"})->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(command_line, check, {"check", "heavy_top"})
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace liedyn::speed
