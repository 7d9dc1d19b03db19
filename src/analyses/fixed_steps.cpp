#include "analyses/fixed_steps.h"

#include "integrators/driver.h"

namespace liedyn {

std::vector<double> step_ends(const System& system, const SimulateOptions& o) {
  const std::unique_ptr<Integrator> integrator = make_integrator(system, o.integrator);
  std::vector<double> out;
  if (!integrator->control().adaptive) {
    const long count = step_count(o.start, o.end, o.step);
    const double h = (o.end - o.start) / static_cast<double>(count);
    for (long n = 1; n <= count; ++n)
      out.push_back(n == count ? o.end : o.start + static_cast<double>(n) * h);
    return out;
  }
  Work work(system, o.solver);
  State state =
      consistent_state(system, o.start, {.policy = initial_policy(o.initial), .given = o.from.get()}, work);
  if (integrator->form() == IndexForm::Stabilized) work = Work(system, o.solver, integrator->form());
  const DriveReport report =
      drive(*integrator, system, {o.end, o.step}, state, work, [&](const State& now, long) {
        out.push_back(now.t);
        return true;
      });
  if (!report.completed) throw NumericalError(state.t, report.failure);
  return out;
}

void refuse_shared_reactions(const Model& model, int redundant_row) {
  for (const auto& batch : model.batches)
    if (batch->coupling().multipliers > 0)
      throw InputError(model.description().file,
                       fmt::format("friction here depends on reactions that are shared, since '{}' follows "
                                   "from other constraints: they have no derivatives",
                                   model.row_name(redundant_row)),
                       "take the formulation 'minimal', or joints that hold fewer directions");
}

void refuse_reactions(const System& system, const SimulateOptions& options,
                      const std::vector<Output>& outputs) {
  Work work(system, options.solver);
  const State state = consistent_state(
      system, options.start, {.policy = initial_policy(options.initial), .given = options.from.get()}, work);
  if (state.redundant.empty()) return;
  for (const Sensor& sensor : system.model().sensors)
    for (const Output& output : outputs) {
      const std::string& type = sensor.listed->kind.type;
      if (output.column < sensor.first || output.column >= sensor.first + sensor.components ||
          (type != "multiplier" && type != "reaction_force" && type != "reaction_torque" &&
           type != "expression"))
        continue;
      throw InputError(
          "outputs." + output.name,
          fmt::format(
              "'{}' follows from other constraints, so that reactions are shared: they have no derivatives",
              system.model().row_name(state.redundant.front())),
          "take other outputs, the formulation 'minimal', or joints that hold fewer directions");
    }
}

std::vector<double> times_of(const SimulateOptions& options, const std::vector<double>& ends) {
  std::vector<double> out{options.start};
  out.insert(out.end(), ends.begin(), ends.end());
  return out;
}

}  // namespace liedyn
