#include "liedyn/io/scene_loads.h"

#include <algorithm>
#include <cmath>

#include "liedyn/base/index.h"
#include "liedyn/model/sensors/list.h"
#include "liedyn/system/evaluation.h"
#include "liedyn/system/tree_assembly.h"

namespace liedyn {
namespace {

// The kinds of sensors that say something of a joint or a force. Rates come before their angles, which go on with them.
std::vector<std::string> shown_types(Section section, const Entry& entry, const Batch& batch) {
  std::vector<std::string> out;
  if (section == Section::Joints && !entry.rides) {
    if (entry.kind->coordinates.angle) out.insert(out.end(), {"joint_angle_rate", "joint_angle"});
    if (entry.kind->coordinates.displacement)
      out.insert(out.end(), {"joint_displacement_rate", "joint_displacement"});
    if (entry.kind->field("between") >= 0) out.insert(out.end(), {"reaction_force", "reaction_torque"});
  }
  // Forces that are spread over a beam have no point.
  if (section == Section::Forces && batch.parts.empty() && batch.acting_frames() > 0)
    out.insert(out.end(), {"applied_force", "applied_torque"});
  return out;
}

const ListedSensor& sensor_of_type(const std::string& type) {
  return listed_sensor(*find_kind(Section::Sensors, type));
}

}  // namespace

SceneLoads::SceneLoads(const System& system, int most)
    : system_(system), work_(std::make_unique<Work>(system_)) {
  const Model& model = system_.model();
  memory_.assign(at(model.angles), 0);
  struct Element {
    int batch, element;
    std::vector<std::string> types;
  };
  std::vector<Element> elements;
  int numbers = 0;
  for (std::size_t b = 0; b < model.batches.size(); ++b)
    for (int e = 0; e < model.batches[b]->size(); ++e) {
      const auto batch = static_cast<int>(b);
      std::vector<std::string> types =
          shown_types(model.sections[b], model.entry_of(batch, e), *model.batches[b]);
      if (types.empty()) continue;
      for (const std::string& type : types) numbers += sensor_of_type(type).components;
      elements.push_back({batch, e, std::move(types)});
    }
  const std::size_t stride = at((numbers + most - 1) / std::max(most, 1));
  for (std::size_t i = 0; i < elements.size(); i += std::max<std::size_t>(1, stride))
    for (const std::string& type : elements[i].types)
      add_sensor(type, elements[i].batch, elements[i].element);
  values_.assign(width_, 0);
  rates_.assign(sensors_.size(), 0);
}

void SceneLoads::add_sensor(const std::string& type, int batch, int element) {
  Sensor sensor;
  sensor.listed = &sensor_of_type(type);
  sensor.name = system_.model().entry_of(batch, element).name + "." + type;
  sensor.batch = batch;
  sensor.element = element;
  sensor.elements = 1;
  sensor.components = sensor.listed->components;
  if (is_shown(sensor)) return;
  if (sensor.listed->traits.remembers) {
    sensor.angle = static_cast<int>(memory_.size());
    memory_.push_back(0);
  }
  sensor.first = static_cast<int>(width_);
  width_ += at(sensor.components);
  sensors_.push_back(std::move(sensor));
}

bool SceneLoads::is_shown(const Sensor& sensor) const {
  const std::vector<Sensor>& given = system_.model().sensors;
  return std::any_of(given.begin(), given.end(), [&](const Sensor& one) {
    return one.listed == sensor.listed && one.batch == sensor.batch && one.element == sensor.element &&
           one.choice == sensor.choice;
  });
}

void SceneLoads::follow(const System& system) {
  const Params& now = system.params();
  const bool is_timed_alike = now.timed().size() == system_.params().timed().size();
  if (is_timed_alike && now.values() == system_.params().values()) return;
  system_.set_params(now);
  if (!is_timed_alike) work_ = std::make_unique<Work>(system_);
}

void SceneLoads::add(const State& state, std::vector<float>& out) {
  const Model& model = system_.model();
  // The residual leaves the motions of the bodies, and in minimal coordinates what the joints transmit.
  Work& work = *work_;
  system_.residual(state, work, {});
  Evaluation e = evaluation_at(model, *work.constants, state, {false, false, false}, work);
  if (work.links) transmitted_wrenches(*model.tree, *work.links, work.wrench.data());
  std::copy(state.angles.begin(), state.angles.end(), memory_.begin());
  e.angles = memory_.data();
  const Energy none;
  for (std::size_t i = 0; i < sensors_.size(); ++i) {
    const Sensor& sensor = sensors_[i];
    const Batch& batch = *model.batches[at(sensor.batch)];
    double* const now = values_.data() + sensor.first;
    if (sensor.angle >= 0) {
      // An angle is known up to full turns. States may be far apart: the turn nearest to phi + h (phi' + phi'_before)/2 holds.
      const double rate = batch.axis_motion(e, sensor.element).angle_rate;
      memory_[at(sensor.angle)] += 0.5 * (state.t - time_.value_or(state.t)) * (rates_[i] + rate);
      rates_[i] = rate;
    }
    sensor.listed->evaluate(SensorContext{sensor, e, &batch, none, {}}, now);
    if (sensor.angle >= 0) memory_[at(sensor.angle)] = now[0];
    for (int k = 0; k < sensor.components; ++k)
      out.push_back(std::isfinite(now[k]) ? static_cast<float>(now[k]) : 0);
  }
  time_ = state.t;
}

}  // namespace liedyn
