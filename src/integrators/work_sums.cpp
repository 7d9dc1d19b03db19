#include "liedyn/integrators/work_sums.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "liedyn/model/sensors/list.h"

namespace liedyn {

WorkSums::WorkSums(const System& system) : system_(&system) {
  for (const Sensor& sensor : system.model().sensors)
    if (is_work(sensor)) sensors_.push_back(&sensor);
}

void WorkSums::set(const std::vector<double>& begin, double start, double t, const StateAt& state_at,
                   Work& work, std::vector<double>& angles) const {
  constexpr double kOffset = 0.28867513459481288;  // 1/(2 sqrt(3))
  constexpr double kPoints[] = {0, 0.5 - kOffset, 0.5 + kOffset, 1};
  const Model& model = system_->model();
  const Energy none;
  std::vector<std::array<double, 4>> powers(sensors_.size());
  for (std::size_t k = 0; k < 4; ++k) {
    const State& state = state_at(start + kPoints[k] * (t - start));
    system_->residual(state, work, {false, false, false});  // motions, and numbers of this time
    Evaluation at;
    at.frames = model.frames.data();
    at.nodes = model.bodies().data();
    at.motions = work.motions.data();
    at.q = state.q.data();
    at.v = state.v.data();
    at.vdot = state.vdot.data();
    at.numbers = work.numbers->data.data();
    at.world = {work.numbers->gravity, state.t};
    at.lambda = state.lambda.data();
    at.angles = state.angles.data();
    for (std::size_t i = 0; i < sensors_.size(); ++i) {
      const Batch* of = model.batches[static_cast<std::size_t>(sensors_[i]->batch)].get();
      powers[i][k] = power_of(SensorContext{*sensors_[i], at, of, none, {}});
    }
  }
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    const double first = powers[i][0], one = powers[i][1], other = powers[i][2], last = powers[i][3];
    // Where a force is so stiff that interpolated positions mean nothing to it, its power between the ends has nothing to do with that at the ends: the trapezoidal rule is
    // left. Jumps at the ends, and steps that see the power at all, stay below this.
    const double most = std::max(std::abs(first), std::abs(last));
    const auto is_seen = [&](double part, double power) {
      return std::abs(power - (1 - part) * first - part * last) <= most;
    };
    const bool resolved = is_seen(kPoints[1], one) && is_seen(kPoints[2], other);
    const auto slot = static_cast<std::size_t>(sensors_[i]->angle);
    angles[slot] = begin[slot] + 0.5 * (t - start) * (resolved ? one + other : first + last);
  }
}

}  // namespace liedyn
