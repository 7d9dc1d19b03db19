#include "integrators/driver.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "base/allocation_counter.h"

namespace liedyn {

long step_count(double start, double end, double step) {
  // A step typed with a few digits (1e-3, 0.02) divides the interval up to round-off.
  return std::max(1L, static_cast<long>(std::ceil((end - start) / step * (1 - 1e-12) - 1e-9)));
}

DriveReport drive(Integrator& integrator, const System& system, const DriveOptions& options, State& state,
                  Work& work, const Observer& observer) {
  using Clock = std::chrono::steady_clock;
  DriveReport report;
  const double start = state.t;
  const long count = step_count(start, options.end, options.step);
  const double h = (options.end - start) / static_cast<double>(count);
  report.step = h;
  integrator.start(state, h, work);
  State next = state;
  report.allocations = allocation_count() < 0 ? -1 : 0;

  for (long n = 1; n <= count; ++n) {
    const long allocations = allocation_count();
    const auto before = Clock::now();
    Attempt attempt = integrator.step(state, h, next, work);
    report.newton_iterations += attempt.corrector.iterations;
    report.jacobian_updates += attempt.corrector.jacobians;
    if (!attempt.converged()) {
      // The block solver pivots inside blocks only; the second try has full pivoting.
      if (attempt.corrector.failure == CorrectorFailure::Singular && work.solver->name() == "block")
        work.use_solver(system, "klu");
      attempt = integrator.step_carefully(state, h, next, work);
      report.newton_iterations += attempt.corrector.iterations;
      report.jacobian_updates += attempt.corrector.jacobians;
    }
    report.seconds += std::chrono::duration<double>(Clock::now() - before).count();
    if (allocations >= 0) report.allocations += allocation_count() - allocations;
    if (!attempt.converged()) {
      report.completed = false;
      report.failure =
          fmt::format("t = {:.9g}, step {:.3g}: {}", state.t, h, describe(attempt.corrector, system));
      break;
    }
    // Times are multiples of h, not sums of it.
    next.t = n == count ? options.end : start + static_cast<double>(n) * h;
    std::swap(state, next);
    report.steps = n;
    if (!observer(state, n)) {
      report.completed = false;
      report.interrupted = true;
      report.failure = fmt::format("t = {:.9g}: interrupted", state.t);
      break;
    }
  }
  return report;
}

}  // namespace liedyn
