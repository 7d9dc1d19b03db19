#include "liedyn/analyses/step_derivatives.h"

#include <fmt/format.h>

#include "liedyn/analyses/events.h"
#include "liedyn/analyses/fixed_steps.h"
#include "liedyn/base/index.h"
#include "liedyn/base/tape.h"
#include "liedyn/model/nodes/increments.h"
#include "liedyn/system/varied_accelerations.h"

namespace liedyn {
namespace {

struct Part {
  const char* name;
  std::vector<Varied> VariedState::*values;
};
// All of a state but the positions, which are increments on the group.
constexpr Part kStateParts[] = {{"velocity", &VariedState::v},
                                {"acceleration", &VariedState::vdot},
                                {"multiplier", &VariedState::lambda},
                                {"velocity multiplier", &VariedState::eta},
                                {"parameter", &VariedState::y},
                                {"parameter rate", &VariedState::ydot},
                                {"parameter acceleration", &VariedState::yddot},
                                {"memory", &VariedState::memory}};

// First-order states have no positions.
template <class Visit>
void for_each_placed_node(const Model& model, const Visit& visit) {
  for (const Node& node : model.nodes)
    if (node.type != NodeType::State) visit(node);
}

}  // namespace

StepDerivatives step_derivatives(const Simulation& simulation, const std::vector<std::string>& inputs,
                                 bool whole) {
  const System& system = simulation.system();
  const Model& model = system.model();
  const State& now = simulation.state();
  refuse_events(model, "the derivative of a step");
  if (whole && simulation.report().steps == 0)
    throw InputError("whole",
                     "expected a simulation that has taken a step: before, the method has no history",
                     "take a step, or leave whole=true out");
  if (!now.redundant.empty()) refuse_shared_reactions(model, now.redundant.front());
  StepDerivatives out;
  out.t = now.t;
  out.step = simulation.next_step();
  out.inputs = inputs;
  std::vector<int> indices;
  for (const std::string& path : inputs) {
    indices.push_back(system.params().find(path));
    if (std::count(indices.begin(), indices.end(), indices.back()) > 1)
      throw InputError("inputs." + path, "is named twice");
  }
  const int position_count = model.first_state();
  out.parts.emplace_back("position", position_count);
  for (const Part& part : kStateParts) {
    if (!whole && part.values != &VariedState::v) continue;
    VariedState sized;
    set_constants(now, sized);
    if (const auto size = static_cast<int>((sized.*part.values).size()); size > 0)
      out.parts.emplace_back(part.name, size);
  }
  int size = 0;
  for (const auto& [name, count] : out.parts) size += count;

  Tape tape(Tape::Sweep::Forwards, indices.size() + at(size));
  const Tape::Use use(tape);
  const VariedSystem varied(system, indices);
  tape.end_beginning();
  VariedState from;
  set_constants(now, from);
  const std::unique_ptr<VariedIntegrator> integrator =
      make_integrator(varied, simulation.options().integrator);
  VariedWork work(varied, simulation.options().solver, integrator->form());
  VariedWork plain(varied, simulation.options().solver);
  // What the method prepares once; the state is put in its place below.
  if (whole) {
    VariedState scratch = from;
    integrator->start(scratch, out.step, work);
  }
  int direction = static_cast<int>(indices.size());
  const auto vary = [&](Varied& x) { x = Varied(x.v, tape.independent(direction++)); };
  std::vector<Varied> theta(at(model.nv), Varied(0));
  for_each_placed_node(model, [&](const Node& node) {
    for (int i = 0; i < node_size(node.type).v; ++i) vary(theta[at(node.v + i)]);
    move_by(node.type, Chart::Exponential, theta.data() + node.v, from.q.data() + node.q);
  });
  for (Varied& x : from.v) vary(x);
  if (whole) {
    for (const Part& part : kStateParts)
      if (part.values != &VariedState::v)
        for (Varied& x : from.*part.values) vary(x);
  } else {
    if (!solve_accelerations(varied, from, plain))
      throw NumericalError(now.t, fmt::format("t = {:.9g}: the accelerations are undetermined", now.t));
    integrator->start(from, out.step, work);
  }
  VariedState to = from;
  const Attempt done =
      attempt_step(*integrator, system, from, out.step, to, work, work.plain, true, [](const Attempt&) {});
  if (!done.converged())
    throw NumericalError(now.t, fmt::format("t = {:.9g}, step {:.3g}: {}", now.t, out.step,
                                            integrator->failure(done, system)));

  std::vector<Varied> x;
  std::vector<Varied> reference(to.q.size());
  for (std::size_t i = 0; i < reference.size(); ++i) reference[i] = Varied(to.q[i].v);
  for_each_placed_node(model, [&](const Node& node) {
    Varied increment[6];
    increment_between(node.type, reference.data() + node.q, to.q.data() + node.q, increment);
    x.insert(x.end(), increment, increment + node_size(node.type).v);
  });
  x.insert(x.end(), to.v.begin(), to.v.end());
  if (whole)
    for (const Part& part : kStateParts)
      if (part.values != &VariedState::v)
        x.insert(x.end(), (to.*part.values).begin(), (to.*part.values).end());
  const auto rows = static_cast<Eigen::Index>(size), columns = static_cast<Eigen::Index>(indices.size());
  Eigen::VectorXd slopes(columns + rows);
  out.A.resize(rows, rows);
  out.B.resize(rows, columns);
  for (Eigen::Index i = 0; i < rows; ++i) {
    tape.derivatives(x[static_cast<std::size_t>(i)].id, slopes.data());
    out.B.row(i) = slopes.head(columns).transpose();
    out.A.row(i) = slopes.tail(rows).transpose();
  }
  return out;
}

}  // namespace liedyn
