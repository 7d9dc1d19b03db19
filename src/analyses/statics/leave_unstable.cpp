#include "liedyn/analyses/statics/leave_unstable.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "liedyn/analyses/statics/equilibrium.h"
#include "liedyn/analyses/statics/stability.h"
#include "liedyn/system/assembly.h"
#include "liedyn/system/initial.h"

namespace liedyn {
namespace {

using Eigen::VectorXd;

// A state a little away from `state` along the motion y, on the constraints; empty if there is none.
std::optional<State> pushed(const System& system, const State& state, const Linearization& l,
                            const VectorXd& y, double by, Work& work) {
  const StaticScales scales(system, state, work);
  const VectorXd d = l.Q * y * (by / y.cwiseQuotient(scales.units()).cwiseAbs().maxCoeff());
  State out = incremented(system, state, rotation_limit(system.model(), d.data()) * d);
  if (!project_positions(system, out, nullptr, work)) return {};
  return out;
}

}  // namespace

double distance_between(const System& system, const State& from, const State& to) {
  Work work(system);
  const StaticScales scales(system, from, work);
  double out = 0;
  for (const Node& node : system.model().nodes)
    for (int i = 0; i < node_size(node.type).q; ++i) {
      const double unit = i < place_count(node.type) ? scales.units()[node.v] : 1;
      out = std::max(out, std::abs(to.q[at(node.q + i)] - from.q[at(node.q + i)]) / unit);
    }
  return out;
}

std::optional<VectorXd> leave_unstable(const System& system, double tolerance, State& state, LoadStep& step) {
  constexpr int kPushes = 8;
  constexpr double kPush = 0.05;
  for (int i = 0;; ++i) {
    Work work(system, system.model().nv <= kLargestDense ? "klu" : "auto");
    const Linearization l = linearize(system, state, Vec3::Zero(), work);
    const std::optional<VectorXd> y = leaving_motion(system, state, work);
    if (!y || i == kPushes) return y;
    const double potential = system.energy(state, work).potential;
    bool left = false;
    for (const double by : {kPush, -kPush}) {
      std::optional<State> trial = pushed(system, state, l, *y, by, work);
      if (!trial) continue;
      Equilibrium equilibrium(system, *trial, work, tolerance);
      const bool found = equilibrium.solve(*trial, false);
      step.iterations += equilibrium.report().iterations;
      if (!found) continue;
      // Applied forces have no potential: a stable equilibrium is accepted whatever its energy is.
      if (!(system.energy(*trial, work).potential < potential) && leaving_motion(system, *trial, work))
        continue;
      state = std::move(*trial);
      system.follow_angles(state, work);
      shorten_multipliers(system, state, work);
      left = true;
      break;
    }
    if (!left) return y;
  }
}

}  // namespace liedyn
