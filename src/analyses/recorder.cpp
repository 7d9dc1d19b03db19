#include "liedyn/analyses/recorder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>

#include "liedyn/base/largest.h"
#include "liedyn/model/sensors/events.h"
#include "liedyn/system/constraint_rows.h"

namespace liedyn {

Recorder::Recorder(const System& system, Work& work, Result& result, std::size_t rows,
                   const SimulateOptions& options, const RunOutput& output)
    : system_(&system),
      work_(&work),
      result_(&result),
      record_residuals_(options.record_residuals),
      releases_(!switched_joints(system.model().description()).empty()),
      recorded_(options.recorded),
      sink_(output.sink),
      keep_(output.keep) {
  const Model& model = system.model();
  Summary& s = result.summary;
  s.model = model.description().name;
  s.model_file = model.description().file;
  s.model_text = model.description().text;
  s.set = system.params().assigned();
  s.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  s.states = static_cast<int>(model.state_frames.size());
  Trajectory& out = result.trajectory;
  for (const Sensor& sensor : model.sensors)
    add_channel(sensor.name, model.unit_of(sensor), sensor.components);
  if (record_residuals_) {
    // With a dot no sensor has such a name. Without a unit, since the rows of a model need not share one.
    add_channel("constraint_residual.position", "", 1);
    add_channel("constraint_residual.velocity", "", 1);
  }
  out.data.reserve((keep_ ? rows : 1) * static_cast<std::size_t>(out.columns));
  if (sink_ != nullptr) sink_->begin(system, result);
  variables_.resize(static_cast<std::size_t>(model.sensor_variables));
}

void Recorder::sense(const State& state) {
  last_time_ = state.t;
  Trajectory& out = result_->trajectory;
  if (!keep_) out.data.clear();
  const std::size_t first = out.data.size();
  out.data.resize(first + static_cast<std::size_t>(out.columns));
  out.data[first] = state.t;
  system_->sense(state, *work_, variables_, out.data.data() + first + 1);
  if (record_residuals_) {
    *(out.data.end() - 2) = statistics_.position_residual;
    *(out.data.end() - 1) = statistics_.velocity_residual;
  }
  if (sink_ != nullptr) sink_->add(out.data.data() + first, statistics_, state);
  if (recorded_) recorded_(*system_, state);
}

bool Recorder::shows_change(const State& state) {
  const Trajectory& out = result_->trajectory;
  std::vector<double> now(static_cast<std::size_t>(system_->model().sensor_values));
  system_->sense(state, *work_, variables_, now.data());
  const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
  return !std::equal(now.begin(), now.end(), out.data.end() - out.columns + 1, same);
}

void Recorder::add_channel(const std::string& name, const std::string& unit, int components) {
  Trajectory& out = result_->trajectory;
  out.channels.push_back({name, unit, out.columns, components});
  out.columns += components;
}

void Recorder::watch(const State& state) {
  Summary& s = result_->summary;
  const Energy e = system_->energy(state, *work_);
  s.energy_final = e.kinetic + e.potential;
  if (first_) s.energy_initial = s.energy_final;
  first_ = false;
  s.energy_max_drift = larger(s.energy_max_drift, std::abs(s.energy_final - s.energy_initial));
  evaluate_constraint_rows(system_->model(), state, *work_);
  if (releases_) work_->clear_residuals(state.redundant);
  statistics_.energy = s.energy_final;
  statistics_.position_residual = largest(work_->phi);
  statistics_.velocity_residual = largest(work_->rate);
  s.residual_position = larger(s.residual_position, statistics_.position_residual);
  s.residual_velocity = larger(s.residual_velocity, statistics_.velocity_residual);
  s.end = state.t;
}

void Recorder::archive(Archive& a) {
  Summary& s = result_->summary;
  a(first_, statistics_, last_time_, s.energy_initial, s.energy_final, s.energy_max_drift,
    s.residual_position, s.residual_velocity, s.end);
}

void Recorder::go_on(const std::vector<double>& data) {
  Trajectory& out = result_->trajectory;
  const std::size_t columns = static_cast<std::size_t>(out.columns), rows = data.size() / columns;
  if (rows == 0 || data.size() % columns != 0 || data[(rows - 1) * columns] != last_time_)
    throw InputError("checkpoint",
                     fmt::format("expected rows of {} numbers up to t = {}", columns, last_time_));
  out.data.insert(out.data.end(), data.begin(), data.end());
}

}  // namespace liedyn
