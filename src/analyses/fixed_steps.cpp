#include "liedyn/analyses/fixed_steps.h"

#include <algorithm>

#include "liedyn/analyses/events.h"
#include "liedyn/analyses/simulation.h"

namespace liedyn {

std::vector<double> step_ends(const System& system, const SimulateOptions& o) {
  refuse_events(system.model(), "the derivative of a run");
  const std::unique_ptr<Integrator> integrator = make_integrator(system, o.integrator);
  std::vector<double> out;
  if (!integrator->control().adaptive) {
    const long count = step_count(o.start, o.end, o.step);
    const double h = (o.end - o.start) / static_cast<double>(count);
    for (long n = 1; n <= count; ++n)
      out.push_back(n == count ? o.end : o.start + static_cast<double>(n) * h);
    return out;
  }
  Simulation simulation(system, o, Simulation::End::Fixed);
  const bool completed = simulation.run_to(o.end, [&](const State& now, long) {
    out.push_back(now.t);
    return true;
  });
  if (!completed) throw NumericalError(simulation.time(), simulation.report().failure);
  return out;
}

void refuse_shared_reactions(const Model& model, int redundant_row) {
  if (!model.forces_use_multipliers) return;
  throw InputError(model.description().file,
                   fmt::format("a force (friction, teeth with both flanks) depends on reactions that are not "
                               "unique, since '{}' is a redundant constraint: they have no derivatives",
                               model.row_name(redundant_row)),
                   "use the formulation 'minimal', or joints with fewer constraints");
}

namespace {

// The name of a constraint that follows from others at the start; empty: there is none.
std::string redundant_row(const System& system, const SimulateOptions& options) {
  Work work(system, options.solver);
  const State state = initial_state(system, options, work);
  return state.redundant.empty() ? "" : system.model().row_name(state.redundant.front());
}

bool shows_reactions(const Model& model, const Output& output) {
  return std::any_of(model.sensors.begin(), model.sensors.end(), [&](const Sensor& sensor) {
    return output.column >= sensor.first && output.column < sensor.first + sensor.components &&
           (sensor.listed->traits.shows_reactions ||
            // The power of a joint is that of its multipliers.
            (sensor.listed->traits.sums_elements &&
             model.batches[static_cast<std::size_t>(sensor.batch)]->coupling().rows > 0));
  });
}

InputError shared_reaction(const System& system, const Output& output, const std::string& row) {
  return InputError(
      "outputs." + output.name,
      fmt::format(
          "'{}' is a redundant constraint, so that reactions are not unique: they have no derivatives", row),
      system.model().is_minimal()
          ? "use other outputs, or joints with fewer constraints"
          : "use other outputs, the formulation 'minimal', or joints with fewer constraints");
}

}  // namespace

void refuse_reactions(const System& system, const SimulateOptions& options,
                      const std::vector<Output>& outputs) {
  const std::string row = redundant_row(system, options);
  if (row.empty()) return;
  for (const Output& output : outputs)
    if (shows_reactions(system.model(), output)) throw shared_reaction(system, output, row);
}

void leave_out_reactions(const System& system, const SimulateOptions& options, std::vector<Output>& outputs,
                         std::vector<std::string>& notes) {
  const std::string row = redundant_row(system, options);
  if (row.empty()) return;
  std::vector<Output> left;
  std::vector<std::string> names;
  for (const Output& output : outputs)
    if (shows_reactions(system.model(), output))
      names.push_back(output.name);
    else
      left.push_back(output);
  if (names.empty()) return;
  if (left.empty()) throw shared_reaction(system, outputs.front(), row);
  notes.push_back(fmt::format("left out {}: '{}' is a redundant constraint, so that reactions are not unique",
                              fmt::join(names, ", "), row));
  outputs = std::move(left);
}

std::vector<double> times_of(const SimulateOptions& options, const std::vector<double>& ends) {
  std::vector<double> out{options.start};
  out.insert(out.end(), ends.begin(), ends.end());
  return out;
}

}  // namespace liedyn
