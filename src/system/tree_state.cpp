#include "liedyn/system/tree_state.h"

#include <fmt/format.h>

#include <algorithm>

namespace liedyn {

System in_absolute_coordinates(const System& system) {
  if (!system.model().tree) return system;
  // Roots of the tree and their bodies then have the same coordinates.
  const Model& own = system.model();
  return {
      Model::compile(own.shared_description(), own.is_minimal() ? formulations().front() : own.formulation(),
                     Model::Riders::HeldByRows),
      system.params()};
}

void require_absolute_coordinates(const System& system, const std::string& what) {
  if (!system.model().tree) return;
  throw InputError(
      "formulation",
      fmt::format("{} works with one node per body, got {}", what,
                  system.model().is_minimal() ? "'minimal'" : "bodies that are attached to others by `on`"),
      "the result is the same in absolute coordinates: use in_absolute_coordinates()");
}

void require_mechanics_only(const System& system, const std::string& what) {
  const auto& states = system.model().description().entries(Section::States);
  if (states.empty()) return;
  throw InputError(
      {{system.model().description().file, states.front().line, "states." + states.front().name,
        fmt::format("{} does not support first-order states", what), "simulate, or leave the states out"}});
}

State state_on_tree(const System& system, const System& absolute, const State& of_bodies, Work& work) {
  const Model& model = system.model();
  const std::vector<Node>& body_nodes = absolute.model().nodes;
  const Initial initial = initial_values(model, system.params().values().data());
  State out = system.empty_state();
  out.t = of_bodies.t;
  out.q = initial.q;
  std::vector<Motion<double>> motions;
  for (std::size_t body = 0; body < model.bodies().size(); ++body) {
    const Node& from = body_nodes[body];
    motions.push_back(node_motion(from.type, of_bodies.q.data() + from.q, of_bodies.v.data() + from.v,
                                  of_bodies.vdot.data() + from.v));
    const int root = model.node_of_body(static_cast<int>(body));
    if (root < 0) continue;
    const Node& to = model.nodes[static_cast<std::size_t>(root)];
    std::copy_n(of_bodies.q.begin() + from.q, node_size(from.type).q, out.q.begin() + to.q);
    std::copy_n(of_bodies.v.begin() + from.v, node_size(from.type).v, out.v.begin() + to.v);
  }
  find_coordinates(*model.tree, model.nodes, work.constants->data.data(), motions, out.q.data(),
                   out.v.data());
  return out;
}

}  // namespace liedyn
