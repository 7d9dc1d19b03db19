#include "liedyn/analyses/statics/leave_unstable.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "liedyn/analyses/statics/equilibrium.h"
#include "liedyn/analyses/statics/stability.h"
#include "liedyn/system/assembly.h"
#include "liedyn/system/initial.h"

namespace liedyn {
namespace {

using Eigen::VectorXd;

// The increment along the motion y whose largest part is `by`.
VectorXd push_along(const System& system, const State& state, const Linearization& l, const VectorXd& y,
                    double by, Work& work) {
  const StaticScales scales(system, state, work);
  const VectorXd d = l.Q * y * (by / y.cwiseQuotient(scales.units()).cwiseAbs().maxCoeff());
  return rotation_limit(system.model(), d.data()) * d;
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

double work_along(const System& system, const State& state, const VectorXd& y, Work& work) {
  constexpr double kNothing = 1e-8;
  StaticScales scales(system, state, work);
  scales.update(system, state, work);
  system.residual(state, work, {});
  double sum = 0, most = 0;
  for (int i = 0; i < system.model().first_state(); ++i) {
    sum -= y[i] * work.r[at(i)];
    most += std::abs(y[i]) * scales.force(i);
  }
  return std::abs(sum) > kNothing * most ? sum / most : 0;
}

std::optional<VectorXd> leave_unstable(const System& system, double tolerance, const State& start,
                                       State& state, LoadStep& step) {
  constexpr int kPushes = 8;
  // Newton's method leads back from less than about half of the way to the other equilibrium, and that may be anywhere.
  constexpr double kPush[] = {0.05, 0.1, 0.2, 0.4, 0.8};
  for (int i = 0;; ++i) {
    Work work(system, system.model().nv <= kLargestDense ? kFullPivoting : "auto");
    const Linearization l = linearize(system, state, Vec3::Zero(), work);
    const std::optional<VectorXd> y = leaving_motion(system, state, work);
    if (!y || i == kPushes) return y;
    const double potential = system.energy(state, work).potential,
                 side = work_along(system, start, *y, work) < 0 ? -1 : 1;
    const auto leaves_by = [&](double by, bool slowly) {
      const VectorXd d = push_along(system, state, l, *y, side * by, work);
      State trial = slowly ? incremented(system, state, d) : state;
      Equilibrium equilibrium(system, trial, work, tolerance);
      const bool found =
          slowly ? project_positions(system, trial, nullptr, work) && equilibrium.solve(trial, false)
                 : equilibrium.solve_beside(trial, d);
      step.iterations += equilibrium.report().iterations;
      if (!found) return false;
      // Applied forces have no potential: a stable equilibrium is accepted whatever its energy is.
      if (!(system.energy(trial, work).potential < potential) && leaving_motion(system, trial, work))
        return false;
      state = std::move(trial);
      system.follow_angles(state, work);
      shorten_multipliers(system, state, work);
      return true;
    };
    const bool left = std::any_of(std::begin(kPush), std::end(kPush),
                                  [&](double by) { return leaves_by(by, false) || leaves_by(-by, false); }) ||
                      leaves_by(kPush[0], true) || leaves_by(-kPush[0], true);
    if (!left) return y;
  }
}

}  // namespace liedyn
