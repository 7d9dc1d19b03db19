#include "liedyn/io/write_scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "liedyn/analyses/linearization.h"
#include "liedyn/analyses/run_start.h"
#include "liedyn/base/version.h"
#include "liedyn/io/scene_content.h"
#include "liedyn/io/scene_json.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_statics.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostSensorValues = 4'000'000;  // of all sensors
constexpr std::size_t kMostChannelTimes = 10000;
constexpr std::size_t kMostLoadValues = 300'000;  // what acts, over all times; thinned in time
constexpr int kMostLoads = 3000;                  // at a time

Json component_names(int components) {
  switch (components) {
    case 1: return Json::array();
    case 2: return {"x", "y"};
    case 3: return {"x", "y", "z"};
    case 4: return {"w", "x", "y", "z"};
    case 6: return {"xx", "yy", "zz", "yz", "xz", "xy"};
    default: break;
  }
  Json out = Json::array();
  for (int i = 0; i < components; ++i) out.push_back(std::to_string(i));
  return out;
}

}  // namespace

// Enough of it for the sections of beams.
Evaluation SceneContent::evaluation_of(const std::vector<Motion<double>>& motions) const {
  Evaluation out;
  out.frames = model->frames.data();
  out.nodes = model->nodes.data();
  out.motions = motions.data();
  out.constants = poses.constants().data.data();
  return out;
}

void SceneContent::add(const State& state, double time) {
  const bool kept = count++ % stride == 0;
  if (!kept) return;
  const std::vector<Motion<double>>& motions = poses.at_state(state);
  if (!is_drawable(motions)) return;
  times.push_back(time);
  for (const int index : body_of_frame) {
    const Motion<double>& m = motions[at(index)];
    for (int i = 0; i < 3; ++i) positions.push_back(static_cast<float>(m.p[i]));
    const Eigen::Quaterniond q = Eigen::Quaterniond(m.R).normalized();
    for (const double x : {q.w(), q.x(), q.y(), q.z()})
      rotations.push_back(static_cast<float>(kQuaternionUnit * x));
  }
  for (SceneFlexible& body : flexible) {
    const Eigen::VectorXd eta = body.coordinates(motions);
    for (const double x : eta) body.history.push_back(static_cast<float>(x));
  }
  const Evaluation evaluation = evaluation_of(motions);
  for (SceneBeam& beam : beams) beam.add(evaluation, beam.history);
  if (loads) loads->add(state, load_history);
  if (times.size() <= limit) return;
  // Every second one from now on.
  const auto halve = [rows = times.size()](auto& values) {
    if (values.empty()) return;
    const std::size_t width = values.size() / rows;
    for (std::size_t row = 2; row < rows; row += 2)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * width), width,
                  values.begin() + static_cast<std::ptrdiff_t>(row / 2 * width));
    values.resize((rows + 1) / 2 * width);
  };
  for (SceneFlexible& body : flexible) halve(body.history);
  for (SceneBeam& beam : beams) halve(beam.history);
  halve(load_history);
  halve(positions);
  halve(rotations);
  halve(times);
  stride *= 2;
}

Json SceneContent::scene(const char* kind) {
  const std::size_t T = times.size(), F = body_of_frame.size();
  // Of the two quaternions of a rotation the one near to that before.
  for (std::size_t row = 1; row < T; ++row)
    for (std::size_t f = 0; f < F; ++f) {
      float* now = rotations.data() + 4 * (row * F + f);
      const float* before = now - 4 * F;
      double product = 0;
      for (int i = 0; i < 4; ++i) product += double(now[i]) * double(before[i]);
      if (product < 0)
        for (int i = 0; i < 4; ++i) now[i] = -now[i];
    }
  SceneBox box;
  for (const Vec3& p : ground_points) box.add(p);
  // Some times are enough to know where everything is.
  constexpr std::size_t kMostRows = 200;
  const std::size_t step = std::max<std::size_t>(1, T / kMostRows);
  for (std::size_t row = 0; row < T; row += step)
    for (std::size_t f = 0; f < F; ++f) {
      const float* p = positions.data() + 3 * (row * F + f);
      const float* q = rotations.data() + 4 * (row * F + f);
      const Vec3 place(p[0], p[1], p[2]);
      const Mat3 R = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
      for (const auto& [center, radius] : balls[f]) box.add(place + R * center, radius);
      if (balls[f].empty()) box.add(place, reach[f]);
    }
  const Description& d = model->description();
  const bool in_plane = !model->body_types.empty() &&
                        std::all_of(model->body_types.begin(), model->body_types.end(), is_planar);
  Json names = Json::array();
  for (const int index : body_of_frame) names.push_back(body(at(index)).name);
  for (SceneFlexible& own : flexible) {
    const std::size_t K = at(own.modes), all = own.coordinate_count();
    std::vector<float> coordinates(T * all);
    for (std::size_t row = 0; row < T; ++row)
      own.write_coordinates(own.history.data() + row * K, coordinates.data() + row * all);
    std::vector<float> modes = own.shapes;
    modes.insert(modes.end(), own.pairs.begin(), own.pairs.end());
    bodies[own.entry]["modes"] = packed_modes(modes, coordinates, all, 3e-6 * box.size());
    if (!own.stress.empty())
      bodies[own.entry]["stress"] = packed_stresses(own.stress, own.history, K, is_growing);
    bodies[own.entry]["coordinates"] = pack_array(coordinates, {T, all}, ArrayCoding::DeltaShuffle);
  }
  for (const SceneBeam& own : beams) {
    // One array for each component: they have different units, and some are zero throughout.
    Json lists[2] = {Json::array(), Json::array()};
    const std::size_t N = own.stations.size();
    for (std::size_t c = 0; c < own.width(); ++c) {
      std::vector<float> one;
      for (std::size_t i = c; i < own.history.size(); i += own.width()) one.push_back(own.history[i]);
      lists[c < 6 ? 0 : 1].push_back(packed_over_time(one, {T, N}));
    }
    bodies[own.entry]["section_forces"] = std::move(lists[0]);
    if (own.has_strains) bodies[own.entry]["section_strains"] = std::move(lists[1]);
  }
  const Vec3 gravity = poses.constants().gravity;
  Json out = {{"format", "liedyn scene 1"},
              {"liedyn", version()},
              {"title", d.name},
              {"kind", kind},
              {"size", tidy(box.size() > 0 && std::isfinite(box.size()) ? box.size() : extent)},
              {"extent", tidy(extent)},
              {"center", json_of(box.center())},
              {"gravity", json_of(gravity)},
              {"planar", in_plane},
              {"times", pack_array(times, {T})},
              {"frames", std::move(names)},
              {"positions", pack_array(positions, {T, F, 3}, ArrayCoding::DeltaShuffle)},
              {"rotations", packed_rotations(rotations, {T, F, 4}, flexible.empty())},
              {"bodies", std::move(bodies)},
              {"joints", std::move(joints)},
              {"forces", std::move(forces)},
              {"channels", Json::array()},
              {"summary", Json::object()},
              {"warnings", missing}};
  if (loads && std::string_view(kind) != "modes") add_loads(out);
  return out;
}

// What a sensor shows, of what, and where: a reaction acts on the second body of its joint.
Json SceneContent::about(const Sensor& sensor) const {
  const Kind& kind = sensor.listed->kind;
  Json out = {{"type", kind.type}, {"components", component_names(sensor.components)}};
  if (const int axes = kind.field("axes"); axes >= 0)
    out["axes"] = kind.fields[at(axes)].choices[at(sensor.choice)];
  int frame = sensor.frame;
  if (sensor.batch >= 0) {
    const Batch& batch = *model->batches[at(sensor.batch)];
    const Section section = model->sections[at(sensor.batch)];
    if (section == Section::Joints || section == Section::Forces) {
      out[section == Section::Joints ? "joint" : "force"] =
          model->entry_of(sensor.batch, sensor.element).name;
      const int last = std::min(batch.coupling().frames, batch.acting_frames()) - 1;
      if (frame < 0 && last >= 0 && batch.parts.empty())
        frame = batch.frames[at(sensor.element * batch.coupling().frames + last)];
    }
  }
  // States of controllers have nodes as well, behind those of the bodies.
  const int body = frame < 0 ? -1 : node(frame);
  const bool is_drawn = body < 0 || (at(body) < frame_of_body.size() && scene_frame(body) >= 0);
  if (frame >= 0 && is_drawn) out.update(place(frame));
  return out;
}

// What acts, thinned in time.
void SceneContent::add_loads(Json& out) const {
  const std::size_t T = times.size(), W = loads->width();
  const std::size_t step = std::max<std::size_t>(1, (T * W + kMostLoadValues - 1) / kMostLoadValues);
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < T; row += step) kept.push_back(row);
  if (!kept.empty() && kept.back() + 1 != T) kept.push_back(T - 1);
  std::vector<double> at_times;
  for (const std::size_t row : kept) at_times.push_back(times[row]);
  std::vector<std::vector<float>> values;
  std::vector<float> largest;
  std::map<std::string, float> largest_of_unit;
  for (const Sensor& sensor : loads->sensors()) {
    std::vector<float>& own = values.emplace_back();
    for (const std::size_t row : kept)
      own.insert(own.end(), &load_history[row * W + at(sensor.first)],
                 &load_history[row * W + at(sensor.first)] + sensor.components);
    largest.push_back(0);
    for (const float x : own) largest.back() = std::max(largest.back(), std::abs(x));
    float& of_unit = largest_of_unit[sensor.listed->unit];
    of_unit = std::max(of_unit, largest.back());
  }
  out["load_times"] = pack_array(at_times, {kept.size()});
  out["loads"] = Json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Sensor& sensor = loads->sensors()[i];
    // Torques that a ball transmits, say: nothing but round-off, and what Newton's method leaves.
    constexpr float kRoundOff = 1e-6F;
    if (!is_growing && largest[i] <= kRoundOff * largest_of_unit[sensor.listed->unit]) continue;
    Json one = {{"name", sensor.name}, {"unit", sensor.listed->unit}};
    one.update(about(sensor));
    one["values"] = packed_over_time(values[i], {kept.size(), at(sensor.components)});
    if (step > 1 && sensor.components == 3) {
      // Of all times, also those that are left out.
      double most = 0;
      for (std::size_t row = 0; row < T; ++row) {
        const float* v = &load_history[row * W + at(sensor.first)];
        most = std::max(most, double(std::hypot(v[0], v[1], v[2])));
      }
      one["largest"] = tidy(most);
    }
    out["loads"].push_back(std::move(one));
  }
}

// Sensors over time, thinned like the poses, with the point that they look at.
void SceneContent::add_channels(const Trajectory& t, Json& out) const {
  const std::size_t rows = t.rows(), width = at(std::max(1, t.columns));
  const std::size_t most = std::clamp(kMostSensorValues / width, std::size_t{2}, kMostChannelTimes);
  const std::size_t step = std::max<std::size_t>(1, (rows + most - 1) / most);
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < rows; row += step) kept.push_back(row);
  if (!kept.empty() && kept.back() + 1 != rows) kept.push_back(rows - 1);
  std::vector<double> at_times;
  for (const std::size_t row : kept) at_times.push_back(t.time(row));
  out["channel_times"] = pack_array(at_times, {kept.size()});
  for (std::size_t c = 0; c < t.channels.size(); ++c) {
    const Channel& channel = t.channels[c];
    Json one = {{"name", channel.name}, {"unit", channel.unit}};
    if (c < model->sensors.size()) {
      one.update(about(model->sensors[c]));
    } else {
      one["type"] = channel.name;
      one["components"] = component_names(channel.components);
    }
    const auto components = at(channel.components);
    std::vector<float> values;
    values.reserve(kept.size() * components);
    for (const std::size_t row : kept)
      for (int i = 0; i < channel.components; ++i)
        values.push_back(static_cast<float>(t.at(row, channel.first + i)));
    one["values"] = pack_array(values, {kept.size(), components}, ArrayCoding::DeltaShuffle);
    out["channels"].push_back(std::move(one));
  }
}

// Displacements of all frames in a mode, from poses on both sides: right to second order in the small step, whatever the coordinates.
Json SceneContent::mode(const System& system, const State& state, const SparseMatrix& Q, const Mode& mode) {
  constexpr double kSmall = 1e-5;
  const std::size_t F = body_of_frame.size();
  const Eigen::Map<const Eigen::VectorXcd> y(mode.shape.data(), static_cast<Eigen::Index>(mode.shape.size()));
  struct Moved {
    std::vector<Vec6> frames;
    std::vector<Eigen::VectorXd> coordinates;
  };
  const auto moved = [&](const Eigen::VectorXd& part) {
    Moved out{std::vector<Vec6>(F, Vec6::Zero()), {}};
    for (const SceneFlexible& body : flexible)
      out.coordinates.emplace_back(Eigen::VectorXd::Zero(body.modes));
    const double largest = part.cwiseAbs().maxCoeff();
    if (!(largest > 0)) return out;
    const double step = kSmall * std::max(1e-6, std::min(1.0, extent)) / largest;
    std::vector<Motion<double>> ahead;
    for (const double sign : {1.0, -1.0}) {
      const Eigen::VectorXd d = sign * step * (Q * part);
      State at_side = state;
      for (const Node& node : system.model().nodes)
        if (node.type != NodeType::State)
          increment_position(node.type, d.data() + node.v, at_side.q.data() + node.q);
      const std::vector<Motion<double>>& now = poses.at_state(at_side);
      for (std::size_t b = 0; b < flexible.size(); ++b)
        out.coordinates[b] += sign / (2 * step) * flexible[b].coordinates(now);
      if (sign > 0) {
        ahead = now;
        continue;
      }
      for (std::size_t f = 0; f < F; ++f) {
        const Motion<double>&a = ahead[at(body_of_frame[f])], &b = now[at(body_of_frame[f])];
        const Mat3 turn = a.R * b.R.transpose();
        out.frames[f] << (a.p - b.p) / (2 * step),
            Vec3(turn(2, 1) - turn(1, 2), turn(0, 2) - turn(2, 0), turn(1, 0) - turn(0, 1)) / (4 * step);
      }
    }
    return out;
  };
  const Moved real = moved(y.real()), imaginary = moved(y.imag());
  double largest = 0;
  for (std::size_t f = 0; f < F; ++f) {
    const auto size = [&](int first) {
      return std::hypot(real.frames[f].segment<3>(first).norm(),
                        imaginary.frames[f].segment<3>(first).norm());
    };
    largest = std::max({largest, size(0), reach[f] * size(3)});
  }
  for (std::size_t b = 0; b < flexible.size(); ++b) {
    const auto modes = static_cast<Eigen::Index>(flexible[b].modes);
    if (modes == 0) continue;
    const auto width = static_cast<Eigen::Index>(flexible[b].shapes.size()) / modes;
    const Eigen::Map<const Eigen::MatrixXf> shapes(flexible[b].shapes.data(), width, modes);
    const Eigen::VectorXf u = shapes * real.coordinates[b].cast<float>(),
                          w = shapes * imaginary.coordinates[b].cast<float>();
    for (Eigen::Index i = 0; i + 2 < width; i += 3)
      largest = std::max(largest, double(std::hypot(u.segment<3>(i).norm(), w.segment<3>(i).norm())));
  }
  const double scale = largest > 0 ? 1 / largest : 1;
  std::vector<float> displacement, coordinates;
  for (std::size_t f = 0; f < F; ++f)
    for (int i = 0; i < 6; ++i)
      for (const Moved* part : {&real, &imaginary})
        displacement.push_back(static_cast<float>(scale * part->frames[f][i]));
  for (std::size_t b = 0; b < flexible.size(); ++b)
    for (Eigen::Index i = 0; i < flexible[b].modes; ++i)
      for (const Moved* part : {&real, &imaginary})
        coordinates.push_back(static_cast<float>(scale * part->coordinates[b][i]));
  const std::size_t K = coordinates.size() / 2;
  return {{"frequency", mode.frequency()},
          {"damping", mode.damping_ratio()},
          {"growth", mode.eigenvalue.real()},
          {"rigid", mode.rigid},
          {"displacement", pack_array(displacement, {F, 6, 2})},
          {"coordinates", pack_array(coordinates, {K, 2})}};
}
SceneWriter::SceneWriter(long frames) : frames_(frames) {}
SceneWriter::~SceneWriter() = default;
SceneWriter::SceneWriter(SceneWriter&&) noexcept = default;
SceneWriter& SceneWriter::operator=(SceneWriter&&) noexcept = default;

void SceneWriter::add(const System& system, const State& state) {
  add_loaded(system, system, state.t, state);
}

void SceneWriter::add_loaded(const System& system, const System& loaded, double factor, const State& state) {
  const bool is_first = content_ == nullptr || content_->model != system.shared_model();
  if (is_first) {
    content_ = std::make_unique<SceneContent>(system, state, frames_);
    content_->watch_loads(loaded, kMostLoads);
  }
  if (content_->loads) content_->loads->follow(loaded);
  content_->add(state, factor);
}

void SceneWriter::add_positions(const System& system, const State& state) {
  if (content_ == nullptr || content_->model != system.shared_model())
    content_ = std::make_unique<SceneContent>(system, state, frames_);
  content_->add(state, state.t);
}

std::string SceneWriter::finish(const Result& result) {
  if (content_ == nullptr) throw std::logic_error("a scene without states");
  SceneContent& c = *content_;
  // The end counts, however many states were left out before it.
  if (!c.times.empty() && result.state.t > c.times.back() && !result.state.q.empty()) {
    c.count = 0, c.limit = std::max(c.limit, c.times.size() + 1);
    c.add(result.state, result.state.t);
  }
  Json out = c.scene("motion");
  c.add_channels(result.trajectory, out);
  out["summary"] = Json::parse(summary_json(result));
  // A page is made to be given away: where the model lay is nobody's business.
  if (!result.summary.model_file.empty())
    out["summary"]["model_file"] = std::filesystem::path(result.summary.model_file).filename().string();
  for (const std::string& warning : result.summary.warnings) out["warnings"].push_back(warning);
  return dumped(out);
}

std::string SceneWriter::finish(const StaticResult& result, const System& system) {
  if (content_ == nullptr) throw std::logic_error("a scene without states");
  Json out = content_->scene("static");
  out["time_label"] = "load factor";
  Trajectory path = empty_trajectory(*content_->model);
  if (!result.start.empty()) {
    path.data.push_back(0);
    path.data.insert(path.data.end(), result.start.begin(), result.start.end());
  }
  for (const LoadStep& step : result.steps) {
    path.data.push_back(step.factor);
    path.data.insert(path.data.end(), step.sensors.begin(), step.sensors.end());
  }
  content_->add_channels(path, out);
  out["summary"] = Json::parse(static_json(result, system));
  for (const std::string& warning : result.warnings) out["warnings"].push_back(warning);
  return dumped(out);
}

std::string SceneWriter::finish(const Modes& modes, const System& system, const State& state) {
  if (content_ == nullptr) add(system, state);
  Json list = Json::array();
  Work work(system);
  const SparseMatrix Q = linearize(system, state, Vec3::Zero(), work).Q;
  for (const Mode& one : modes.modes) list.push_back(content_->mode(system, state, Q, one));
  Json out = content_->scene("modes");
  out["mode_list"] = std::move(list);
  out["summary"] = {{"liedyn", version()},
                    {"model", modes.model},
                    {"formulation", modes.formulation},
                    {"time", modes.time},
                    {"degrees_of_freedom", modes.degrees_of_freedom},
                    {"states", modes.states},
                    {"undamped", modes.undamped}};
  for (const std::string& warning : modes.warnings) out["warnings"].push_back(warning);
  return dumped(out);
}

std::string SceneWriter::finish() {
  if (content_ == nullptr) throw std::logic_error("a scene without states");
  return dumped(content_->scene("motion"));
}
std::string model_scene(const System& system, const SimulateOptions& options,
                        std::vector<Diagnostic>& findings) {
  SceneWriter writer;
  try {
    Work work(system);
    writer.add(system, initial_state(system, options, work));
  } catch (const InputError& error) {
    findings = error.diagnostics();
    State typed = system.empty_state();
    typed.t = options.start;
    typed.q = initial_values(system.model(), system.params().values().data()).q;
    writer.add_positions(system, typed);
  }
  return writer.finish();
}

}  // namespace liedyn
