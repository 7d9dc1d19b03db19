#include "liedyn/analyses/assembling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/base/largest.h"
#include "liedyn/base/suggest.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

// Per velocity whether it may move; empty: all.
std::vector<bool> movable(const Model& model, const AssembleOptions& options) {
  const bool only = !options.free.empty();
  const std::vector<std::string>& named = only ? options.free : options.held;
  if (named.empty()) return {};
  std::vector<std::string> names;
  for (const Entry& body : model.description().entries(Section::Bodies)) names.push_back(body.name);
  std::vector<bool> out(static_cast<std::size_t>(model.nv), !only);
  std::vector<Diagnostic> findings;
  for (const std::string& name : named) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      findings.push_back({"", 0, only ? "free" : "hold",
                          fmt::format("the model has no body '{}'", excerpt(name)),
                          did_you_mean(name, names)});
      continue;
    }
    const Node& node = model.nodes[static_cast<std::size_t>(found - names.begin())];
    for (int i = 0; i < node_size(node.type).v; ++i) out[static_cast<std::size_t>(node.v + i)] = only;
  }
  if (!findings.empty()) throw InputError(findings);
  return out;
}

}  // namespace

Assembly assemble(const System& system, const AssembleOptions& options) {
  require_absolute_coordinates(system, "assembly");
  if (!std::isfinite(options.time))
    throw InputError("time", fmt::format("must be finite, got {}", options.time));
  if (!options.held.empty() && !options.free.empty())
    throw InputError("hold", "expected either fixed bodies or free bodies, got both");
  const Model& model = system.model();
  const InitialOptions initial{
      .policy = InitialPolicy::Project, .given = options.from.get(), .movable = movable(model, options)};
  Work work(system);
  Assembly out;
  State start = system.empty_state();
  const Initial described = initial_values(model, system.params().values().data());
  start.t = options.time;
  start.q = described.q;
  start.v = described.v;
  if (options.from != nullptr) set_configuration(model, *options.from, start);
  system.residual(start, work, {true, true, false});
  out.initial_residual_position = largest(work.phi);
  out.initial_residual_velocity = largest(work.rate);
  out.state = consistent_state(system, options.time, initial, work);
  system.residual(out.state, work, {true, true, false});
  out.residual_position = largest(work.phi);
  out.residual_velocity = largest(work.rate);
  return out;
}

}  // namespace liedyn
