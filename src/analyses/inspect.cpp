#include "analyses/inspect.h"

#include <algorithm>
#include <cmath>

#include "model/flexible/body.h"
#include "system/redundancy.h"

namespace liedyn {
namespace {

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out = std::max(out, std::abs(x));
  return out;
}

}  // namespace

Inspection inspect(const System& system, double start, InitialPolicy policy) {
  const Model& model = system.model();
  Inspection out;
  out.coordinates = model.nq;
  out.velocities = model.nv;
  out.constraints = model.rows;

  out.warnings = flexible_remarks(model, system.params().values().data());
  Work work(system);
  const Initial initial = initial_values(model, system.params().values().data());
  State state = system.empty_state();
  state.t = start;
  state.q = initial.q;
  state.v = initial.v;
  try {
    state = consistent_state(system, start, policy, work);
  } catch (const InputError& error) {
    out.findings = error.diagnostics();
    state.redundant = dependent_rows(system, state, 1e-7, RowLevel::Velocity, nullptr, work);
  }
  for (const int row : state.redundant) out.redundant.push_back(model.row_name(row));
  out.degrees_of_freedom = model.nv - model.rows + static_cast<int>(state.redundant.size());

  system.residual(state, work, {true, true, false});
  out.residual_position = largest(work.phi);
  out.residual_velocity = largest(work.rate);
  return out;
}

}  // namespace liedyn
