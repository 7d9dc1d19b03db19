#include "analyses/inspect.h"

#include <fmt/format.h>

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

int degrees_of_freedom(const Model& model, const State& state) {
  return model.first_state() - model.rows + static_cast<int>(state.redundant.size());
}

std::vector<std::string> model_warnings(const System& system, const State& state) {
  const Model& model = system.model();
  const Description& d = model.description();
  const double* params = system.params().values().data();
  std::vector<std::string> out = flexible_remarks(model, params);
  const std::vector<Entry>& bodies = d.entries(Section::Bodies);
  const auto any_of = [](const std::vector<Entry>& entries, const auto& is) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& entry) { return is(entry.kind->type); });
  };
  const bool driven = any_of(d.entries(Section::Joints), [](const std::string& type) {
    return type == "prescribed_motion" || type == "prescribed_velocity";
  });
  if (!bodies.empty() && !driven && degrees_of_freedom(model, state) == 0)
    out.emplace_back(
        "the model has 0 degrees of freedom: its joints hold all bodies, and nothing drives them");
  const Vec3 g = Eigen::Map<const Vec3>(params + d.gravity());
  if (g.z() != 0 && g.head<2>().norm() == 0 &&
      any_of(bodies, [](const std::string& type) { return type == "planar"; }))
    out.push_back(fmt::format(
        "gravity ({:g} m/s^2 along z) is out of the plane: bodies of type planar do not feel it", g.z()));
  return out;
}

Inspection inspect(const System& system, double start, InitialPolicy policy) {
  const Model& model = system.model();
  Inspection out;
  out.coordinates = model.nq;
  out.velocities = model.nv;
  out.constraints = model.rows;

  out.states = static_cast<int>(model.state_frames.size());
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
  out.degrees_of_freedom = degrees_of_freedom(model, state);
  out.warnings = model_warnings(system, state);

  system.residual(state, work, {true, true, false});
  out.residual_position = largest(work.phi);
  out.residual_velocity = largest(work.rate);
  return out;
}

}  // namespace liedyn
