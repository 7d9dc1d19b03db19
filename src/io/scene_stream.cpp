#include "liedyn/io/scene_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "liedyn/io/scene_content.h"
#include "liedyn/io/scene_json.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostLiveLoads = 600;  // at a time

}  // namespace

SceneStream::SceneStream(const System& system, const State& first, std::span<const double> sensors)
    : content_(std::make_unique<SceneContent>(system, first, 2)), sensors_(sensors.begin(), sensors.end()) {
  content_->is_growing = true;
  content_->watch_loads(system, kMostLiveLoads);
  content_->add(first, first.t);
  if (content_->times.empty()) return;
  std::vector<float> values(sensors.begin(), sensors.end());
  values.insert(values.end(), content_->load_history.begin(), content_->load_history.end());
  follow_largest(first.t, content_->positions.data(), values.data());
}
SceneStream::~SceneStream() = default;

std::string SceneStream::scene(const std::string& live) {
  Json out = content_->scene("motion");
  Trajectory start = empty_trajectory(*content_->model);
  if (!content_->times.empty()) {
    start.data.push_back(content_->times.front());
    start.data.insert(start.data.end(), sensors_.begin(), sensors_.end());
  }
  content_->add_channels(start, out);
  out["live"] = Json::parse(live);
  return dumped(out);
}

std::size_t SceneStream::width() const {
  std::size_t out = 7 * content_->body_of_frame.size() + sensors_.size();
  for (const SceneFlexible& own : content_->flexible) out += own.coordinate_count();
  for (const SceneBeam& own : content_->beams) out += own.width() * own.stations.size();
  return out + content_->loads->width();
}

bool SceneStream::add_row(const State& state, std::span<const double> sensors, std::vector<float>& rows) {
  SceneContent& c = *content_;
  const std::size_t first_row = rows.size();
  const std::vector<Motion<double>>& motions = c.poses.at_state(state);
  if (!is_drawable(motions)) return false;
  for (const int index : c.body_of_frame)
    for (const double x : motions[at(index)].p) rows.push_back(static_cast<float>(x));
  for (const int index : c.body_of_frame) {
    const Eigen::Quaterniond q = Eigen::Quaterniond(motions[at(index)].R).normalized();
    for (const double x : {q.w(), q.x(), q.y(), q.z()}) rows.push_back(static_cast<float>(x));
  }
  for (const SceneFlexible& own : c.flexible) {
    const Eigen::VectorXf eta = own.coordinates(motions).cast<float>();
    rows.resize(rows.size() + own.coordinate_count());
    own.write_coordinates(eta.data(), rows.data() + rows.size() - own.coordinate_count());
  }
  const Evaluation evaluation = c.evaluation_of(motions);
  for (const SceneBeam& own : c.beams) {
    std::vector<float> values;
    own.add(evaluation, values);
    for (std::size_t component = 0; component < own.width(); ++component)
      for (std::size_t i = component; i < values.size(); i += own.width()) rows.push_back(values[i]);
  }
  const std::size_t first_sensor = rows.size();
  for (const double x : sensors) rows.push_back(static_cast<float>(x));
  c.loads->add(state, rows);
  follow_largest(state.t, rows.data() + first_row, rows.data() + first_sensor);
  return true;
}

// Vectors of sensors and loads by their type, and speeds |p - p_before|/(t - t_before) of the frames.
void SceneStream::follow_largest(double t, const float* positions, const float* values) {
  const auto raise = [&](const std::string& type, double value) {
    double& most = largest_[type];
    if (std::isfinite(value)) most = std::max(most, value);
  };
  const auto size = [](const float* v) { return std::hypot(v[0], v[1], v[2]); };
  const SceneContent& c = *content_;
  for (const Sensor& sensor : c.model->sensors)
    if (sensor.components == 3) raise(sensor.listed->kind.type, size(values + sensor.first));
  for (const Sensor& sensor : c.loads->sensors())
    if (sensor.components == 3)
      raise(sensor.listed->kind.type, size(values + sensors_.size() + at(sensor.first)));
  double fastest = 0;
  for (std::size_t i = 0; i < before_.size(); i += 3) {
    const float step[3] = {positions[i] - before_[i], positions[i + 1] - before_[i + 1],
                           positions[i + 2] - before_[i + 2]};
    fastest = std::max(fastest, double(size(step)));
  }
  if (t > time_before_) raise("velocity", fastest / (t - time_before_));
  time_before_ = t;
  before_.assign(positions, positions + 3 * c.body_of_frame.size());
}

void SceneStream::follow(const System& system) {
  content_->poses = BodyPoses(system);
  content_->loads->follow(system);
}

}  // namespace liedyn
