// Time per step of whole simulations; initial values, the first steps and output excluded.
#include <benchmark/benchmark.h>

#include <map>

#include "cases.h"
#include "liedyn/base/peak_memory.h"

namespace liedyn::speed {
namespace {

// Google Benchmark calls a function several times to find the number of iterations: the model is made once.
Stepper& stepper_of(const std::string& name) {
  static std::map<std::string, std::unique_ptr<Stepper>> made;
  if (!made.contains(name)) {
    made.clear();
    made[name] = make_stepper(name);
  }
  return *made[name];
}

// One iteration is one step.
void run_steps(benchmark::State& bench, const std::string& name) {
  Stepper& stepper = stepper_of(name);
  if (stepper.at_end()) stepper.restart();
  long solves = 0, steps = 0;
  for (auto _ : bench) {
    const int iterations = stepper.advance();
    if (iterations < 0) return bench.SkipWithError("Newton's method did not converge");
    solves += iterations;
    ++steps;
    if (!stepper.at_end()) continue;
    bench.PauseTiming();
    stepper.restart();
    bench.ResumeTiming();
  }
  bench.counters["newton_per_step"] = static_cast<double>(solves) / static_cast<double>(steps);
  bench.counters["time_per_body"] =
      benchmark::Counter(static_cast<double>(steps) * stepper.bodies(),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  // Of the process: meaningful if this benchmark runs alone in it, as ./dev bench does.
  bench.counters["peak_bytes"] = static_cast<double>(peak_memory());
  bench.counters["bodies"] = stepper.bodies();
  bench.SetLabel(std::string(stepper.solver()));
}

[[maybe_unused]] const bool registered = [] {
  for (const std::string& name : stepper_names())
    benchmark::RegisterBenchmark(name.c_str(), [name](benchmark::State& bench) {
      run_steps(bench, name);
    })->Unit(benchmark::kMicrosecond);
  return true;
}();

}  // namespace
}  // namespace liedyn::speed
