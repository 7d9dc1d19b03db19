#include "liedyn/analyses/kinematics.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "liedyn/analyses/events.h"
#include "liedyn/analyses/linearization.h"
#include "liedyn/analyses/motions.h"
#include "liedyn/analyses/recorder.h"
#include "liedyn/integrators/driver.h"
#include "liedyn/integrators/range_watch.h"
#include "liedyn/integrators/work_sums.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

// An InputError that names the motions the constraints leave free.
void require_no_freedom(const System& system, const State& state) {
  const Model& model = system.model();
  if (model.nv > kLargestDense) {
    // Counting has to do.
    if (model.rows >= model.nv) return;
    throw InputError(
        {{model.description().file, 0, "",
          fmt::format("expected as many constraints as velocities, got {} and {}: degrees of freedom remain",
                      model.rows, model.nv),
          "prescribe them by joints that depend on time, or simulate the model with `run`"}});
  }
  Work work(system, kFullPivoting);
  const Linearization l = linearize(system, state, Vec3::Zero(), work);
  const Eigen::MatrixXd free =
      separated(minimal_equations(l).P);  // rows at velocity level do not say where things are
  if (free.cols() == 0) return;
  std::vector<Diagnostic> findings;
  for (Eigen::Index i = 0; i < std::min<Eigen::Index>(free.cols(), 20); ++i)
    findings.push_back(
        {model.description().file, 0, "",
         "no constraint prescribes this motion: " + describe_motion(model, free.col(i)),
         i > 0 ? ""
         : model.velocity_rows > 0
             ? "prescribe a position, since a joint at velocity level prescribes only a velocity; or "
               "simulate the model with `run`"
             : "prescribe it by a joint that depends on time, or simulate the model with `run`"});
  throw InputError(findings);
}

// The configuration at the time t near that of another state, with velocities, accelerations and multipliers.
struct Placed {
  State state;
  bool has_positions, complete;
};
Placed placed_at(const System& system, const State& from, double t, Work& work) {
  // Predicted along the motion, then on the constraints of the new time.
  State next = from;
  next.t = t;
  const double dt = t - from.t;
  std::vector<double> theta(from.v.size());
  for (std::size_t k = 0; k < theta.size(); ++k) theta[k] = dt * from.v[k] + 0.5 * dt * dt * from.vdot[k];
  for (const Node& node : system.model().nodes)
    increment_position(node.type, theta.data() + node.v, next.q.data() + node.q);
  const bool has_positions = project_positions(system, next, nullptr, work);
  const bool complete = has_positions && project_velocities(system, next, nullptr, work) &&
                        solve_accelerations(system, next, work);
  return {std::move(next), has_positions, complete};
}

}  // namespace

Result kinematics(const System& system, const SimulateOptions& options) {
  refuse_events(system.model(), "a motion without forces");
  require_absolute_coordinates(system, "kinematic analysis");
  require_mechanics_only(system, "kinematic analysis");
  check_times(options);
  const Model& model = system.model();
  Result result;
  Summary& s = result.summary;
  Work work(system, options.solver);
  // The constraints alone say where the start is: what the model says is where to look for it.
  const InitialOptions initial{.policy = InitialPolicy::Project, .given = options.from.get()};
  State state = consistent_positions(system, options.start, initial, work);
  require_no_freedom(system, state);
  state = consistent_state(system, options.start, initial, work);
  s.integrator = "kinematics";
  s.formulation = model.formulation();
  s.start = options.start;
  s.unknowns = system.unknowns();
  s.degrees_of_freedom = 0;
  s.solver = work.solver->name();

  const long steps = step_count(options.start, options.end, options.step);
  const double h = (options.end - options.start) / static_cast<double>(steps);
  const long every = options.output_every;
  Recorder recorder(system, work, result, every == 0 ? 2 : static_cast<std::size_t>(steps / every + 2),
                    options);
  recorder.record(state);
  const WorkSums work_sums(system);
  const RangeWatch ranges(system);
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 1; i <= steps; ++i) {
    const double t = i == steps ? options.end : options.start + static_cast<double>(i) * h;
    if (const auto violation = ranges.at(t)) {
      s.completed = false;
      s.failure =
          fmt::format("at t = {:.6g} s the model becomes undefined: {}", violation->t, violation->what);
      break;
    }
    Placed placed = placed_at(system, state, t, work);
    State& next = placed.state;
    if (placed.complete && !work_sums.empty()) {
      State point;
      work_sums.set(
          state.angles, state.t, next.t,
          [&](double time) -> const State& {
            Placed between = placed_at(system, state, time, work);
            placed.complete = placed.complete && between.complete;
            point = std::move(between.state);
            shorten_multipliers(system, point, work);
            return point;
          },
          work, next.angles);
    }
    if (!placed.complete) {
      system.residual(next, work, {true, true, false});
      const std::vector<double>& left = placed.has_positions ? work.rate : work.phi;
      const auto worst = std::max_element(left.begin(), left.end(),
                                          [](double a, double b) { return std::abs(a) < std::abs(b); });
      s.completed = false;
      s.failure =
          fmt::format("at t = {:.6g} s no {}; the largest residual, {:.3g}, is in '{}'", next.t,
                      placed.has_positions ? "velocity satisfies the constraints (a singular configuration?)"
                                           : "configuration near the previous one satisfies the constraints",
                      *worst, model.row_name(static_cast<int>(worst - left.begin())));
      break;
    }
    system.follow_angles(next, work);
    shorten_multipliers(system, next, work);
    state = std::move(next);
    ++s.steps;
    if ((every > 0 && i % every == 0) || i == steps) recorder.record(state);
    if (options.progress && !options.progress((state.t - options.start) / (options.end - options.start))) {
      s.completed = false;
      s.interrupted = true;
      s.failure = fmt::format("interrupted at t = {:.6g} s", state.t);
      break;
    }
  }
  if (!s.completed && s.steps > 0 && (every == 0 || s.steps % every != 0)) recorder.record(state);
  s.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  s.step = h;
  s.least_step = s.largest_step = h;
  result.state = std::move(state);
  return result;
}

}  // namespace liedyn
