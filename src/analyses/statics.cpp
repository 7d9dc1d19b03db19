#include "liedyn/analyses/statics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "liedyn/analyses/inspect.h"
#include "liedyn/analyses/lost_digits.h"
#include "liedyn/analyses/motions.h"
#include "liedyn/analyses/statics/descent.h"
#include "liedyn/analyses/statics/equilibrium.h"
#include "liedyn/analyses/statics/leave_unstable.h"
#include "liedyn/analyses/statics/loads.h"
#include "liedyn/analyses/statics/messages.h"
#include "liedyn/analyses/statics/stability.h"
#include "liedyn/base/index.h"
#include "liedyn/base/largest.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

using Eigen::VectorXd;

void check(const StaticOptions& o) {
  std::vector<Diagnostic> findings;
  if (!std::isfinite(o.time))
    findings.push_back({"", 0, "time", fmt::format("must be a finite time, got {}", o.time), ""});
  if (o.load_steps < 1 || o.load_steps > 100000)
    findings.push_back({"", 0, "load_steps", fmt::format("must be 1 to 100000, got {}", o.load_steps), ""});
  if (!(o.tolerance > 0 && o.tolerance < 1))
    findings.push_back({"", 0, "tolerance", fmt::format("must be between 0 and 1, got {}", o.tolerance), ""});
  if (!findings.empty()) throw InputError(findings);
}

std::vector<double> sensors_at(const System& system, const State& state, Work& work) {
  std::vector<double> out(at(system.model().sensor_values)), variables(at(system.model().sensor_variables));
  system.sense(state, work, variables, out.data());
  return out;
}

// Positions that satisfy the constraints, at rest; multipliers as they are when it is let go.
State state_at_rest(const System& system, const StaticOptions& options, std::vector<std::string>& warnings,
                    Work& work) {
  constexpr double kRegular = 1e-13, kDependent = 1e-7;
  State state = consistent_positions(
      system, options.time, {.policy = initial_policy(options.initial), .given = options.from.get()}, work);
  std::fill(state.v.begin(), state.v.begin() + system.model().first_state(), 0.0);
  if (std::string warning = lost_digits(system, state, work); !warning.empty())
    warnings.push_back(std::move(warning));
  if (const std::vector<Diagnostic> findings = findings_not_finite(system, state, work); !findings.empty())
    throw InputError(findings);
  if (!solve_accelerations(system, state, work) || work.solver->pivot_ratio() < kRegular) {
    // Redundant rows are not imposed.
    state.redundant = dependent_rows(system, state, kDependent, RowLevel::Velocity, nullptr, work);
    if (!solve_accelerations(system, state, work)) std::fill(state.lambda.begin(), state.lambda.end(), 0.0);
  }
  std::fill(state.vdot.begin(), state.vdot.end(), 0.0);
  return state;
}

// The start as it is let go without loads: M v' + B^T lambda = -g contains what springs that are not relaxed exert, and what
// joints transmit of it. Returns the values of the sensors.
std::vector<double> show_start(const System& unloaded, State start, std::string_view solver,
                               const StaticOptions& options) {
  Work work(unloaded, solver);
  if (!solve_accelerations(unloaded, start, work)) {
    std::fill(start.lambda.begin(), start.lambda.end(), 0.0);
    std::fill(start.vdot.begin(), start.vdot.end(), 0.0);
  }
  std::vector<double> sensors = sensors_at(unloaded, start, work);
  options.reached(unloaded, 0, start);
  return sensors;
}

// The equilibrium under these loads, from the state.
bool solve_step(Equilibrium& equilibrium, const System& system, State& state, Work& work) {
  if (!equilibrium.solve(state)) return false;
  if (state.redundant.empty()) return true;
  // Multipliers that add up to nothing must not have hidden forces that are left.
  shorten_multipliers(system, state, work);
  return equilibrium.balances(state);
}

// Whether a load step that failed may succeed with this shorter one. What nothing holds runs away, or slips, with smaller loads too.
bool is_worth_halving(const System& system, const SearchReport& report, double shorter) {
  constexpr double kLeastStep = 1.0 / 4096, kLeastFree = 1.0 / 4;
  if (!report.overloaded.empty() || report.driven_on) return false;
  const bool unheld = report.ran_away || !slipping_bristles(system, report.reached).empty();
  return shorter >= (unheld ? kLeastFree : kLeastStep);
}

// From result.state, at rest without loads, to the equilibrium under all of them. False: it says why not.
bool raise_loads(const System& system, const std::vector<StaticLoad>& loads, std::string_view solver,
                 const StaticOptions& options, StaticResult& result) {
  double factor = 0, step = 1.0 / options.load_steps;
  while (factor < 1) {
    const double next = factor + step > 1 - 1e-9 ? 1 : factor + step;
    // The whole loads are the model's own.
    const System raised = next == 1 ? system : with_loads(system, loads, next);
    Work work(raised, solver);
    Equilibrium equilibrium(raised, result.state, work, options.tolerance);
    State found = result.state;
    if (!solve_step(equilibrium, raised, found, work)) {
      step /= 2;
      if (is_worth_halving(raised, equilibrium.report(), step)) continue;
      result.failure = no_equilibrium(raised, next, result.state, equilibrium.report(), work);
      return false;
    }
    result.state = std::move(found);
    raised.follow_angles(result.state, work);
    factor = next;
    result.steps.push_back({factor, equilibrium.report().iterations, sensors_at(raised, result.state, work)});
    if (options.reached && factor < 1) options.reached(raised, factor, result.state);
  }
  return true;
}

// Sparse methods may lead a large model to an unstable equilibrium. The motion along which it leaves, if it stays there.
std::optional<VectorXd> leave_where_unstable(const System& system, const StaticOptions& options,
                                             const State& start, StaticResult& result) {
  constexpr double kMoved = 1e-6;
  const Model& model = system.model();
  if (model.nv <= kLargestDescent || model.first_state() < model.nv) return {};
  Work work(system);
  std::optional<VectorXd> leaves = leaving_motion(system, result.state, work);
  // In balance as drawn, it is what was asked for.
  if (leaves && (distance_between(system, start, result.state) > kMoved ||
                 work_along(system, start, *leaves, work) != 0))
    leaves = leave_unstable(system, options.tolerance, start, result.state, result.steps.back());
  result.unstable_directions = leaves ? 1 : 0;
  return leaves;
}

void measure_equilibrium(const System& system, StaticResult& result) {
  Work work(system);
  system.residual(result.state, work, {});
  result.residual_force =
      largest(std::vector<double>(work.r.begin(), work.r.begin() + system.model().first_state()));
  result.residual_position = largest(work.phi);
  result.potential = system.energy(result.state, work).potential;
  result.steps.back().sensors = sensors_at(system, result.state, work);
}

// `leaves`: what leave_where_unstable() found.
void examine_stability(const System& system, const std::optional<VectorXd>& leaves, StaticResult& result) {
  const Model& model = system.model();
  const bool has_states = model.first_state() < model.nv;
  if (has_states || model.nv <= kLargestDense) {
    Work work(system, kFullPivoting);
    const Stability stability = has_states ? stability_by_eigenvalues(system, result.state, work)
                                           : stability_by_stiffness(system, result.state, work);
    result.unstable_directions = stability.unstable;
    result.indifferent = describe_motions(model, stability.indifferent);
  }
  if (result.unstable_directions > 0)
    result.warnings.push_back(fmt::format(
        "the equilibrium is unstable{}",
        leaves ? fmt::format(", e.g. along this motion: {}", describe_motion(model, *leaves)) : ""));
}

}  // namespace

StaticResult find_equilibrium(const System& system, const StaticOptions& options) {
  require_absolute_coordinates(system, "static analysis");
  check(options);
  const Model& model = system.model();
  StaticResult out;
  out.model = model.description().name;
  out.formulation = model.formulation();
  out.warnings = flexible_warnings(model, system.params().values().data());

  Work work(system);
  const State start = state_at_rest(system, options, out.warnings, work);
  const std::vector<StaticLoad> loads = static_loads(system, options.time);
  const std::string_view solver = work.solver->name();
  if (options.reached) out.start = show_start(with_loads(system, loads, 0), start, solver, options);
  out.state = start;
  if (!raise_loads(system, loads, model.nv <= kLargestDense ? kFullPivoting : solver, options, out))
    return out;
  out.converged = true;

  const std::optional<VectorXd> leaves = leave_where_unstable(system, options, start, out);
  measure_equilibrium(system, out);
  examine_stability(system, leaves, out);
  if (!out.state.redundant.empty())
    out.warnings.push_back(redundancy_warning(system, out.state, "equilibrium"));
  if (options.reached) options.reached(system, 1, out.state);
  return out;
}

}  // namespace liedyn
