#include "liedyn/system/varied_initial.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "liedyn/base/index.h"
#include "liedyn/model/nodes/increments.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/tree_state.h"
#include "liedyn/system/varied_accelerations.h"

namespace liedyn {
namespace {

// Onto Phi = 0 or B v + Phi_t = 0, as project_positions and project_velocities of system/initial.h go with full steps.
bool project(const VariedSystem& system, const std::vector<bool>& free, RowLevel level, VariedState& state,
             VariedWork& work) {
  constexpr int kMost = 50;
  constexpr double kDependent = 1e-7, kRoundoff = 1e-14;
  const Model& model = system.model();
  std::vector<bool> at_rest(work.plain.held.size(), false);
  for (std::size_t i = 0; i < free.size(); ++i) at_rest[i] = !free[i];
  std::vector<bool> velocities_at_rest(at_rest.begin(), at_rest.begin() + model.nv);
  std::vector<Varied> d;
  int settled = 0;
  for (int i = 0; i < kMost; ++i) {
    set_values(state, work.values);
    std::vector<int> left_out =
        dependent_rows(system.plain(), work.values, kDependent, level, &velocities_at_rest, work.plain);
    if (level == RowLevel::Position)
      for (int row = 0; row < model.rows; ++row)
        if (model.is_velocity_row(row) && std::find(left_out.begin(), left_out.end(), row) == left_out.end())
          left_out.push_back(row);
    system.residual(state, work, {level == RowLevel::Position, level == RowLevel::Velocity, false});
    std::vector<Varied> y = level == RowLevel::Position ? work.phi : work.rate;
    double largest = 0;
    for (Varied& row : y) largest = std::max(largest, std::abs(row.v)), row = -row;
    if (!constrained_increment(system, state, y, left_out, &at_rest, work, d)) return false;
    if (level == RowLevel::Position)
      for (const Node& node : model.nodes)
        increment_position<Varied>(node.type, d.data() + node.v, state.q.data() + node.q);
    else
      for (std::size_t k = 0; k < d.size(); ++k) state.v[k] += d[k];
    // Derivatives follow one iteration behind; velocities are linear.
    if (largest < kRoundoff || settled > 0 || level == RowLevel::Velocity) ++settled;
    if (settled == 2) return true;
  }
  return false;
}

double largest_difference(const std::vector<Varied>& a, const std::vector<double>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a[i].v - b[i]));
  return out;
}

// The increment of the node's pose that leads from the values of q to q itself: derivatives only.
void increments_of(const Model& model, const std::vector<double>& q_values, const std::vector<Varied>& q,
                   std::vector<Varied>& out) {
  std::vector<Varied> from;
  set_constants(q_values, from);
  out.assign(at(model.nv), Varied(0));
  for (const Node& node : model.nodes)
    increment_between(node.type, from.data() + node.q, q.data() + node.q, out.data() + node.v);
}

}  // namespace

VariedState consistent_state(const VariedSystem& system, double t, const InitialOptions& options,
                             VariedWork& work) {
  const Model& model = system.model();
  const State values = liedyn::consistent_state(system.plain(), t, options, work.plain);
  VariedState state;
  set_constants(values, state);
  if (model.tree) {
    // As the values: found in absolute coordinates, then those of the tree.
    const System absolute = in_absolute_coordinates(system.plain());
    const VariedSystem varied = system.on(absolute);
    VariedWork absolute_work(varied);
    const VariedState bodies = consistent_state(varied, t, options, absolute_work);
    std::vector<Motion<Varied>> motions;
    for (std::size_t body = 0; body < model.bodies().size(); ++body) {
      const Node& from = absolute.model().nodes[body];
      motions.push_back(node_motion(from.type, bodies.q.data() + from.q, bodies.v.data() + from.v,
                                    bodies.vdot.data() + from.v));
      const int root = model.node_of_body(static_cast<int>(body));
      if (root < 0) continue;
      const Node& to = model.nodes[at(root)];
      std::copy_n(bodies.q.begin() + from.q, node_size(from.type).q, state.q.begin() + to.q);
      std::copy_n(bodies.v.begin() + from.v, node_size(from.type).v, state.v.begin() + to.v);
    }
    vary_coordinates(*model.tree, model.nodes, work.constants.data.data(), motions, state.q.data(),
                     state.v.data());
  } else {
    const InitialOf<Varied> initial = initial_values(model, system.params().data());
    const bool move_all = options.policy == InitialPolicy::Project;
    const std::vector<bool> all(state.v.size(), true);
    const auto any = [](const std::vector<bool>& flags) {
      return std::find(flags.begin(), flags.end(), true) != flags.end();
    };
    // What is marked "consistent" moves first, and all by what is then left.
    const auto assemble = [&](const std::vector<bool>& free, RowLevel level) {
      if (model.rows == 0) return true;
      const bool suffices = !any(free) || project(system, free, level, state, work);
      return move_all ? project(system, all, level, state, work) : suffices;
    };
    state.q = initial.q;
    const bool followed = options.given == nullptr && assemble(initial.free_position, RowLevel::Position);
    if (!followed || largest_difference(state.q, values.q) > 1e-7) {
      // Assembly took another way, or began elsewhere: what was typed, moved along to where it has ended.
      std::vector<Varied> d;
      std::vector<double> typed;
      set_values(initial.q, typed);
      increments_of(model, typed, initial.q, d);
      set_constants(values.q, state.q);
      if (options.given == nullptr)
        for (const Node& node : model.nodes)
          increment_position<Varied>(node.type, d.data() + node.v, state.q.data() + node.q);
      assemble(initial.free_position, RowLevel::Position);
    }
    if (options.given == nullptr) state.v = initial.v;
    assemble(initial.free_velocity, RowLevel::Velocity);
    // The values are those of a plain run.
    for (std::size_t i = 0; i < state.q.size(); ++i) state.q[i].v = values.q[i];
    for (std::size_t i = 0; i < state.v.size(); ++i) state.v[i].v = values.v[i];
  }
  if (!solve_accelerations(system, state, work))
    throw InputError("sensitivity",
                     "the accelerations at the start have no derivatives: a matrix is singular");
  return state;
}

}  // namespace liedyn
