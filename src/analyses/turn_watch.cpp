#include "liedyn/analyses/turn_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace liedyn {
namespace {

// The largest angular velocity, of a body or in a joint of a tree.
double largest_spin(const Model& model, const State& state) {
  double square = 0;
  for (const Node& node : model.nodes) {
    if (node.type == NodeType::State) continue;
    double sum = 0;
    for (int i = place_count(node.type); i < node_size(node.type).v; ++i) {
      const double w = state.v[static_cast<std::size_t>(node.v + i)];
      sum += w * w;
    }
    square = std::max(square, sum);
  }
  return std::sqrt(square);
}

}  // namespace

void TurnWatch::add(const State& state) {
  largest_ = std::max(largest_, (state.t - before_) * largest_spin(*model_, state));
  before_ = state.t;
}

std::string TurnWatch::warning(double step) const {
  constexpr double kWholeTurn = 2 * std::numbers::pi;
  if (!(largest_ > kWholeTurn)) return {};
  return fmt::format(
      "something turns by {:.3g} rad in one step: increments of rotations are only distinguished within a "
      "whole "
      "turn, the result is hardly the motion; take steps of {:.2g} s at most",
      largest_, 0.1 * kWholeTurn * step / largest_);
}

}  // namespace liedyn
