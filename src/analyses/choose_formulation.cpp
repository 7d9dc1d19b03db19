#include "analyses/choose_formulation.h"

#include <algorithm>
#include <vector>

#include "integrators/driver.h"
#include "system/initial.h"

namespace liedyn {

namespace {

// Whether the first steps of the run itself go well in a formulation.
bool holds(const System& system, const SimulateOptions& options, const std::string& formulation, long steps) {
  const System trial(Model::compile(system.model().shared_description(), formulation), system.params());
  const std::unique_ptr<Integrator> integrator = make_integrator(trial, options.integrator);
  Work work(trial, options.solver), stage_work(trial, options.solver, integrator->form());
  State state = consistent_state(
      trial, options.start, {.policy = initial_policy(options.initial), .given = options.from.get()}, work);
  const DriveReport report = drive(*integrator, trial, {options.end, options.step}, state, stage_work,
                                   [&](const State&, long step) { return step < steps; });
  return report.completed || report.interrupted;
}

}  // namespace

FormulationChoice choose_formulation(const System& system, const SimulateOptions& options, long trial_steps) {
  const System trial(Model::compile(system.model().shared_description(), "r3so3-spatial"), system.params());
  // Equal steps and no oscillations of its own, whatever the run itself will use.
  const std::unique_ptr<Integrator> integrator = make_integrator(trial, "generalized-alpha,rho=0.8,index=2");
  Work work(trial, options.solver), stage_work(trial, options.solver, integrator->form());
  State state = consistent_state(
      trial, options.start, {.policy = initial_policy(options.initial), .given = options.from.get()}, work);

  // Angular velocities of the last two states, body axes and inertial axes.
  struct Past {
    Vec3 body[2], inertial[2];
  };
  std::vector<Past> past(trial.model().nodes.size());
  FormulationChoice out;
  long seen = 0;
  const auto observe = [&](const State& now, long) {
    for (std::size_t i = 0; i < past.size(); ++i) {
      const Node& node = trial.model().nodes[i];
      const Motion<double> m =
          node_motion(node.type, now.q.data() + node.q, now.v.data() + node.v, now.vdot.data() + node.v);
      const Vec3 body = m.V.tail<3>(), inertial = m.R * body;
      Past& p = past[i];
      if (seen >= 2) {
        out.body += (body - 2 * p.body[1] + p.body[0]).squaredNorm();
        out.inertial += (inertial - 2 * p.inertial[1] + p.inertial[0]).squaredNorm();
      }
      p = {{p.body[1], body}, {p.inertial[1], inertial}};
    }
    ++seen;
    return seen <= trial_steps;
  };
  observe(state, 0);
  drive(*integrator, trial, {options.end, options.step}, state, stage_work, observe);
  const double terms = static_cast<double>(std::max(1L, seen - 2));
  out.body /= terms;
  out.inertial /= terms;
  // Inertial axes, which every method is stable in, unless body axes are clearly smoother and the run itself goes well in them.
  constexpr long kStepsOfTheRun = 1000;
  out.formulation = out.body < 0.5 * out.inertial && holds(system, options, "r3so3", kStepsOfTheRun)
                        ? "r3so3"
                        : "r3so3-spatial";
  return out;
}

}  // namespace liedyn
