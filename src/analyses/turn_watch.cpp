#include "liedyn/analyses/turn_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "liedyn/system/redundancy.h"

namespace liedyn {
namespace {

constexpr double kResolved = 0.1;  // rad in a step
constexpr double kFast = 0.3;      // rad in a step: 21 steps in a turn, a phase error of 0.3^2/12 in each rad
constexpr double kNoise = 1e-8;    // of the model's length: round-off

}  // namespace

void TurnWatch::add(const State& state) {
  const double h = state.t - before_;
  const auto square = [](const std::vector<double>& values, int first, int last) {
    double sum = 0;
    for (int i = first; i < last; ++i) {
      const double value = values[static_cast<std::size_t>(i)];
      sum += value * value;
    }
    return sum;
  };
  ++steps_;
  before_ = state.t;
  double fastest = 0;
  std::size_t fastest_node = 0;
  for (std::size_t k = 0; k < model_->nodes.size(); ++k) {
    const Node& node = model_->nodes[k];
    if (node.type == NodeType::State) continue;
    const int turns = node.v + place_count(node.type);
    const double spin = square(state.v, turns, node.v + node_size(node.type).v);
    if (spin > fastest) fastest = spin, fastest_node = k;
    if (h * h * spin < kFast * kFast || turns == node.v) continue;
    // A velocity that turns by an angle in a step changes by as much of itself.
    const double speed = square(state.v, node.v, turns), change = h * h * square(state.vdot, node.v, turns);
    if (!(change > kFast * kFast * speed)) continue;
    ++whirls_[k].steps;
    whirls_[k].radius = std::max(whirls_[k].radius, std::sqrt(speed / spin));
  }
  if (const double angle = h * std::sqrt(fastest); angle > largest_)
    largest_ = angle, fastest_ = fastest_node;
}

std::string TurnWatch::warning(double step) const {
  constexpr double kWholeTurn = 2 * std::numbers::pi;
  // At a whole turn the tangent operator is singular, and the methods lose small motions beside such a spin long before.
  if (!(largest_ > kWholeTurn / 2)) return {};
  return fmt::format(
      "body '{}' rotates {:.3g} rad in one step. Rotations of more than one turn per step cannot be "
      "resolved, and the result is unreliable. Use steps of at most {:.2g} s",
      model_->body_of(model_->nodes[fastest_].v).name, largest_, 0.1 * kWholeTurn * step / largest_);
}

std::string TurnWatch::unresolved(const System& system, const State& state, double step) const {
  const auto most = std::max_element(whirls_.begin(), whirls_.end(),
                                     [](const Whirl& a, const Whirl& b) { return a.steps < b.steps; });
  if (most == whirls_.end() || 2 * most->steps <= steps_) return {};
  Work work(system);
  if (most->radius < kNoise * constraint_scales(system, state, work).length) return {};
  const Node& node = model_->nodes[static_cast<std::size_t>(most - whirls_.begin())];
  return fmt::format(
      "the velocity of '{}' rotates with it, by up to {:.2g} rad in one step: steps do not resolve this, and "
      "the motion may be wrong. Use steps of at most {:.2g} s{}",
      model_->body_of(node.v).name, largest_, kResolved * step / largest_,
      model_->formulation() == "se3" ? ", or another formulation than se3" : "");
}

}  // namespace liedyn
