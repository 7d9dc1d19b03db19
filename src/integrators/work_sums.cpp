#include "liedyn/integrators/work_sums.h"

#include "liedyn/model/sensors/list.h"

namespace liedyn {

WorkSums::WorkSums(const System& system) : system_(&system) {
  for (const Sensor& sensor : system.model().sensors)
    if (is_work(sensor)) sensors_.push_back(&sensor);
}

void WorkSums::set(const std::vector<double>& begin, double start, double t, const StateAt& state_at,
                   Work& work, std::vector<double>& angles) const {
  const auto slot = [](const Sensor* sensor) { return static_cast<std::size_t>(sensor->angle); };
  constexpr double kOffset = 0.28867513459481288;  // 1/(2 sqrt(3))
  const Model& model = system_->model();
  const Energy none;
  for (const Sensor* sensor : sensors_) angles[slot(sensor)] = begin[slot(sensor)];
  for (const double point : {0.5 - kOffset, 0.5 + kOffset}) {
    const State& state = state_at(start + point * (t - start));
    system_->residual(state, work, {false, false, false});  // motions, and numbers of this time
    Evaluation at;
    at.frames = model.frames.data();
    at.nodes = model.bodies().data();
    at.motions = work.motions.data();
    at.q = state.q.data();
    at.v = state.v.data();
    at.vdot = state.vdot.data();
    at.constants = work.constants->data.data();
    at.world = {work.constants->gravity, state.t};
    at.lambda = state.lambda.data();
    at.angles = state.angles.data();
    for (const Sensor* sensor : sensors_) {
      const Batch* of = model.batches[static_cast<std::size_t>(sensor->batch)].get();
      angles[slot(sensor)] += 0.5 * (t - start) * power_of(SensorContext{*sensor, at, of, none, {}});
    }
  }
}

}  // namespace liedyn
