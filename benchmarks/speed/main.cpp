// speed_benchmark [--benchmark_...]     Google Benchmark
// speed_benchmark --count NAME STEPS    only that many steps, in a function of their own, for tools that count instructions
// speed_benchmark --chain-by-hand LINKS STEPS    where the last link is then, to check it
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cases.h"
#include "chain_by_hand.h"

// The name that `callgrind --toggle-collect` is told.
extern "C" [[gnu::noinline]] long liedyn_counted_steps(liedyn::speed::Stepper& stepper, long steps) {
  long solves = 0;
  for (long i = 0; i < steps; ++i) solves += stepper.advance();
  return solves;
}

namespace {

int count_steps(const char* name, long steps) {
  const auto stepper = liedyn::speed::make_stepper(name);
  if (stepper == nullptr) {
    fmt::print(stderr, "no case '{}'; there are {}\n", name, fmt::join(liedyn::speed::stepper_names(), " "));
    return 2;
  }
  const long solves = liedyn_counted_steps(*stepper, steps);
  fmt::print("{{\"bodies\": {}, \"solves\": {}}}\n", stepper->bodies(), solves);
  return 0;
}

int chain_by_hand(int links, long steps) {
  liedyn::speed::ChainByHand chain(links, 1e-3, 0.9);
  for (long i = 0; i < steps; ++i)
    if (chain.advance() < 0) return 3;
  fmt::print("[{:.15g}]\n", fmt::join(chain.last(), ", "));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view mode = argc == 4 ? argv[1] : "";
  const long steps = argc == 4 ? std::strtol(argv[3], nullptr, 10) : 0;
  if (mode == "--count") return count_steps(argv[2], steps);
  if (mode == "--chain-by-hand") return chain_by_hand(std::max(1, std::atoi(argv[2])), steps);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
