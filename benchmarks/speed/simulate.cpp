// Time per step of whole simulations, initial values and output excluded: `./dev bench --benchmark_filter=chain`.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "integrators/driver.h"
#include "io/read_model.h"
#include "system/initial.h"

namespace liedyn {
namespace {

std::shared_ptr<const Description> shipped(const std::string& name,
                                           std::vector<Assignment> assignments = {}) {
  return std::make_shared<const Description>(read_model(name, assignments));
}

// One iteration is one step; the run starts over when it reaches `end`.
void run_steps(benchmark::State& bench, std::shared_ptr<const Description> description,
               const std::string& formulation, const std::string& method, double step, double end,
               const std::string& solver) {
  const System system(Model::compile(description, formulation), Params(description));
  const std::unique_ptr<Integrator> integrator = make_integrator(system, method);
  Work plain(system, solver);
  const State initial = consistent_state(system, 0, InitialPolicy::Check, plain);
  Work work(system, solver, integrator->form());
  State from = initial;
  integrator->start(from, step, work);
  State to = from;
  long newton = 0, steps = 0;
  for (auto _ : bench) {
    const Attempt attempt = integrator->step(from, step, to, work);
    newton += attempt.corrector.iterations;
    ++steps;
    std::swap(from, to);
    if (!attempt.converged()) return bench.SkipWithError("Newton's method did not converge");
    if (from.t < end) continue;
    bench.PauseTiming();
    from = initial;
    integrator->start(from, step, work);
    to = from;
    bench.ResumeTiming();
  }
  const double bodies = static_cast<double>(system.model().nodes.size());
  bench.counters["newton_per_step"] = static_cast<double>(newton) / static_cast<double>(steps);
  bench.counters["time_per_body"] = benchmark::Counter(
      static_cast<double>(steps) * bodies, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  bench.SetLabel(std::string(work.solver->name()));
}

void heavy_top(benchmark::State& bench, const std::string& formulation, const std::string& options) {
  run_steps(bench, shipped("heavy_top"), formulation, "generalized-alpha,rho=0.9" + options, 1e-3, 1, "auto");
}

void chain(benchmark::State& bench, const std::string& solver) {
  run_steps(bench, shipped("chain", {{"links", static_cast<double>(bench.range(0))}}), "r3so3",
            "generalized-alpha,rho=0.9,sigma=1", 1e-3, 0.2, solver);
}

BENCHMARK_CAPTURE(heavy_top, geom1, "r3so3", "")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(heavy_top, sigma1, "r3so3", ",sigma=1")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(heavy_top, sigma1_paper, "r3so3", ",sigma=1,variant=paper")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(heavy_top, spatial_opt, "r3so3-spatial", ",sigma=opt")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(heavy_top, se3, "se3", "")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(heavy_top, stabilized, "r3so3", ",index=stabilized")->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(chain, block, "auto")
    ->RangeMultiplier(10)
    ->Range(10, 100000)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(chain, klu, "klu")->RangeMultiplier(10)->Range(10, 10000)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace liedyn
