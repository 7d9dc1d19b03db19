#include "liedyn/analyses/choose_formulation.h"

#include <algorithm>
#include <vector>

#include "liedyn/analyses/simulation.h"
#include "liedyn/model/nodes/formulations.h"

namespace liedyn {

namespace {

constexpr std::string_view kInBodyAxes = formulation_of(NodeType::R3xSO3),
                           kInInertialAxes = formulation_of(NodeType::R3xSO3Spatial);

// Whether the first steps of the run itself go well in a formulation.
bool holds(const System& system, const SimulateOptions& options, std::string_view formulation, long steps) {
  Simulation trial(
      System(Model::compile(system.model().shared_description(), std::string(formulation)), system.params()),
      options, Simulation::End::Fixed);
  return trial.run_to(options.end, [&](const State&, long step) { return step < steps; }) ||
         trial.report().interrupted;
}

}  // namespace

FormulationChoice choose_formulation(const System& system, const SimulateOptions& options, long trial_steps) {
  // Equal steps and no oscillations of its own, whatever the run itself will use.
  SimulateOptions of_trial = options;
  of_trial.integrator = "generalized-alpha,rho=0.8,index=2";
  Simulation trial(System(Model::compile(system.model().shared_description(), std::string(kInInertialAxes)),
                          system.params()),
                   of_trial, Simulation::End::Fixed);
  const std::vector<Node>& nodes = trial.system().model().nodes;

  // Angular velocities of the last two states, body axes and inertial axes.
  struct Past {
    Vec3 body[2], inertial[2];
  };
  std::vector<Past> past(nodes.size());
  FormulationChoice out;
  long seen = 0;
  const auto observe = [&](const State& now, long) {
    for (std::size_t i = 0; i < past.size(); ++i) {
      const Node& node = nodes[i];
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
  observe(trial.state(), 0);
  trial.run_to(options.end, observe);
  const double terms = static_cast<double>(std::max(1L, seen - 2));
  out.body /= terms;
  out.inertial /= terms;
  // Inertial axes, which every method is stable in, unless body axes are clearly smoother and the run itself goes well in them.
  constexpr long kStepsOfTheRun = 1000;
  out.formulation = out.body < 0.5 * out.inertial && holds(system, options, kInBodyAxes, kStepsOfTheRun)
                        ? kInBodyAxes
                        : kInInertialAxes;
  return out;
}

}  // namespace liedyn
