#include "liedyn/io/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "liedyn/base/error.h"
#include "liedyn/base/index.h"
#include "liedyn/base/suggest.h"
#include "liedyn/base/version.h"
#include "liedyn/io/configuration_file.h"
#include "liedyn/io/load.h"
#include "liedyn/io/read_results.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_scene.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;

// Rows that are compressed together: a few hundred, or fewer where they are long.
std::size_t chunk_rows(std::size_t width) {
  constexpr std::size_t kBytes = 1 << 21, kMost = 512;
  return std::clamp<std::size_t>(kBytes / (width * sizeof(double)), 1, kMost);
}

struct Statistic {
  const char *name, *unit;
};
constexpr std::array<Statistic, 8> kResultStatistics = {{{"energy", "J"},
                                                         {"position_residual", ""},
                                                         {"velocity_residual", ""},
                                                         {"step", "s"},
                                                         {"steps", ""},
                                                         {"newton_iterations", ""},
                                                         {"jacobian_updates", ""},
                                                         {"rejected_steps", ""}}};
std::array<double, kResultStatistics.size()> numbers_of(const RunStatistics& s) {
  return {s.energy,
          s.position_residual,
          s.velocity_residual,
          s.step,
          static_cast<double>(s.steps),
          static_cast<double>(s.newton_iterations),
          static_cast<double>(s.jacobian_updates),
          static_cast<double>(s.rejected)};
}

// The parts of a state that are kept, with names of their numbers.
struct StatePart {
  const char* name;
  std::vector<double> State::*values;
};
constexpr std::array<StatePart, 4> kStateParts = {
    {{"q", &State::q}, {"v", &State::v}, {"vdot", &State::vdot}, {"lambda", &State::lambda}}};

void add_names(std::vector<std::string>& out, const std::string& body, const char* what, int count) {
  for (int i = 0; i < count; ++i)
    out.push_back(count == 1 ? fmt::format("{}.{}", body, what) : fmt::format("{}.{}[{}]", body, what, i));
}

// "top.position[0]", "top.orientation[3]", "crank.angle"; of multipliers "joints.pivot: position x".
std::vector<std::string> names_of(const Model& model, const StatePart& part) {
  std::vector<std::string> out;
  if (part.values == &State::lambda) {
    for (int row = 0; row < model.rows; ++row) out.push_back(model.row_name(row));
    return out;
  }
  const bool place = part.values == &State::q, rate = part.values == &State::v;
  for (const Node& node : model.nodes) {
    const std::string& body = model.body_of(node.v).name;
    const NodeSize size = node_size(node.type);
    if (node.type == NodeType::State) {
      add_names(out, body, place ? "integral" : rate ? "value" : "rate", 1);
    } else if (size.v == 1) {
      add_names(out, body, place ? "coordinate" : rate ? "coordinate_rate" : "coordinate_acceleration", 1);
    } else if (place) {
      add_names(out, body, "position", is_planar(node.type) ? 2 : 3);
      if (is_planar(node.type)) add_names(out, body, "angle", 1);
      if (size.q == 7) add_names(out, body, "orientation", 4);
    } else {
      const int places = place_count(node.type);
      add_names(out, body, rate ? "velocity" : "acceleration", places);
      add_names(out, body, rate ? "angular_velocity" : "angular_acceleration", size.v - places);
    }
  }
  return out;
}

std::string status_of(const Summary& s) {
  return s.completed ? "completed" : s.interrupted ? "stopped" : "failed";
}

std::vector<std::size_t> shape_of(int columns) {
  return columns == 1 ? std::vector<std::size_t>{} : std::vector{at(columns)};
}

// HDF5 is slow with thousands of tables: then several sensors share one.
constexpr std::size_t kMostTables = 200;
constexpr int kSharedColumns = 256;

// Where the columns of a sensor are.
struct Place {
  std::string path;
  int first;  // column
};
std::vector<Place> places_of(const std::vector<Channel>& channels) {
  std::vector<Place> out;
  int block = 0, filled = 0;
  for (const Channel& channel : channels) {
    if (channels.size() <= kMostTables) {
      out.push_back({"/sensors/" + channel.name, 0});
      continue;
    }
    if (filled > 0 && filled + channel.components > kSharedColumns) ++block, filled = 0;
    out.push_back({fmt::format("/sensors/shared_{:04}", block), filled});
    filled += channel.components;
  }
  return out;
}

std::vector<Hdf5Table> sensor_tables(const Trajectory& t) {
  std::vector<Hdf5Table> out = {{"/time", {}}};
  const std::vector<Place> places = places_of(t.channels);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const int end = places[i].first + t.channels[i].components;
    if (out.back().path == places[i].path)
      out.back().shape = {at(end)};
    else
      out.push_back({places[i].path, shape_of(end)});
  }
  return out;
}

// Of a run that goes on, "/summary" is empty and this dataset has what is known at its start. Neither changes while others may read it.
constexpr const char* kStartSummary = "/summary_at_start";

void write_head(Hdf5File& out, const Result& result, const std::string& status) {
  const Summary& s = result.summary;
  out.attribute("/", "liedyn", std::string(version()));
  out.attribute("/", "date", s.date);
  if (s.model_text != nullptr) out.attribute("/", "model", *s.model_text);
  // As --set takes them.
  std::string set;
  for (const auto& [path, value] : s.set) set += fmt::format("{}{}={}", set.empty() ? "" : " ", path, value);
  out.attribute("/", "set", set);
  const bool goes_on = status == "running";
  if (goes_on) out.text(kStartSummary, summary_json(result));
  out.text("/summary", goes_on ? std::string() : summary_json(result));
  out.word("/status", status);
  out.group("/sensors");
}

void write_units(Hdf5File& out, const Trajectory& t) {
  out.attribute("/time", "unit", "s");
  const std::vector<Place> places = places_of(t.channels);
  Json list = Json::array();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Channel& c = t.channels[i];
    if (places.size() <= kMostTables) out.attribute(places[i].path, "unit", c.unit);
    list.push_back({{"name", c.name},
                    {"unit", c.unit},
                    {"components", c.components},
                    {"table", places[i].path},
                    {"first", places[i].first}});
  }
  out.attribute("/sensors", "channels", list.dump(-1, ' ', false, Json::error_handler_t::replace));
}

constexpr std::size_t kEventsTogether = 64;

int event_tables(Hdf5File& out, const Json& names) {
  out.group("/events");
  const int rows = out.rows({{"/events/time", {}}, {"/events/sensor", {}}}, kEventsTogether);
  out.attribute("/events", "names", names.dump());
  return rows;
}

}  // namespace

void write_result_file(const Result& result, const std::string& file,
                       const std::vector<std::pair<double, std::string>>& events) {
  const Trajectory& t = result.trajectory;
  Hdf5File out(file);
  write_head(out, result, status_of(result.summary));
  const std::size_t width = at(t.columns);
  const int rows = out.rows(sensor_tables(t), chunk_rows(width));
  write_units(out, t);
  for (std::size_t row = 0; row < t.rows(); ++row) out.append(rows, {t.data.data() + row * width, width});
  if (!events.empty()) {
    std::map<std::string, double> index;  // of the name among all of them
    Json names = Json::array();
    for (const auto& [time, name] : events)
      if (index.try_emplace(name, static_cast<double>(names.size())).second) names.push_back(name);
    const int of_events = event_tables(out, names);
    for (const auto& [time, name] : events) out.append(of_events, std::array<double, 2>{time, index[name]});
  }
  out.close();
}

ResultWriter::ResultWriter(std::string file, bool states) : name_(std::move(file)), states_(states) {}

ResultWriter::~ResultWriter() {
  try {
    if (file_ == nullptr) return;
    file_->flush();
    file_->word("/status", "stopped");
  } catch (const InputError&) {  // the error that ended the run is the one to be reported
  }
}

void ResultWriter::begin(const System& system, const Result& result) {
  const Model& model = system.model();
  file_ = std::make_unique<Hdf5File>(name_);
  write_head(*file_, result, "running");
  columns_ = at(result.trajectory.columns);
  std::size_t width = columns_ + kResultStatistics.size();
  std::vector<Hdf5Table> tables = sensor_tables(result.trajectory);
  file_->group("/statistics");
  for (const Statistic& one : kResultStatistics)
    tables.push_back({fmt::format("/statistics/{}", one.name), {}});
  std::vector<std::vector<std::string>> names;
  if (states_) {
    file_->group("/states");
    for (const StatePart& part : kStateParts) {
      names.push_back(names_of(model, part));
      if (names.back().empty()) continue;  // HDF5 has no tables without columns
      tables.push_back({fmt::format("/states/{}", part.name), {names.back().size()}});
      width += names.back().size();
    }
  }
  rows_ = file_->rows(tables, chunk_rows(width));
  write_units(*file_, result.trajectory);
  for (const Statistic& one : kResultStatistics)
    file_->attribute(fmt::format("/statistics/{}", one.name), "unit", one.unit);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!names[i].empty())
      file_->attribute(fmt::format("/states/{}", kStateParts[i].name), "names", Json(names[i]).dump());
  Json sensors = Json::array();
  for (const Sensor& sensor : model.sensors) sensors.push_back(sensor.name);
  events_ = event_tables(*file_, sensors);
  file_->share();
}

void ResultWriter::add(const double* row, const RunStatistics& statistics, const State& state) {
  const auto figures = numbers_of(statistics);
  std::array<std::span<const double>, 2 + kStateParts.size()> pieces = {std::span(row, columns_), figures};
  if (states_)
    for (std::size_t i = 0; i < kStateParts.size(); ++i) pieces[2 + i] = state.*kStateParts[i].values;
  file_->append(rows_, pieces);
}

void ResultWriter::happened(double t, int sensor) {
  const std::array<double, 2> row = {t, static_cast<double>(sensor)};
  file_->append(events_, row);
}

void ResultWriter::finish(const Result& result) {
  file_->flush();
  file_->text("/summary", summary_json(result));
  file_->word("/status", status_of(result.summary));
  file_->close();
  file_.reset();
}

namespace {

[[noreturn]] void wrong(const ResultFile& file, const std::string& message, const std::string& hint = {}) {
  throw InputError({{file.name(), 0, "", message, hint}});
}

std::vector<std::string> read_names(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_array() || !std::ranges::all_of(json, [](const Json& one) { return one.is_string(); }))
    throw InputError({{file, 0, "", "is damaged: expected a list of names", ""}});
  return json.get<std::vector<std::string>>();
}

// Some rows of a sensor.
std::vector<double> picked(const Hdf5Input& in, const Place& place, int components, std::size_t first,
                           std::size_t rows) {
  Hdf5Input::Table table = in.table(place.path, first, rows);
  const std::size_t count = at(components);
  if (table.columns == count) return std::move(table.data);
  std::vector<double> out;
  out.reserve(table.rows * count);
  for (std::size_t row = 0; row < table.rows; ++row) {
    const auto from = table.data.begin() + static_cast<std::ptrdiff_t>(row * table.columns + at(place.first));
    out.insert(out.end(), from, from + static_cast<std::ptrdiff_t>(count));
  }
  return out;
}

}  // namespace

ResultFile::ResultFile(const std::string& file) : in_(file) {
  // First of all, so that every table has as many rows.
  rows_ = in_.shape("/time").front();
  // Files before version 1.1 have an attribute, and no status.
  const bool old = in_.has_attribute("/", "summary");
  // The status before the summary: as soon as it tells of the end, the summary of the end is complete.
  if (!old) status_ = in_.word("/status");
  std::string text = old ? in_.attribute("/", "summary") : status_ == "running" ? "" : in_.text("/summary");
  const bool is_of_start = text.empty() && in_.has(kStartSummary);
  if (is_of_start) text = in_.text(kStartSummary);
  summary_ = read_summary(text, file);
  if (old) status_ = status_of(summary_);
  if (status_ == "running") {
    // The summary is that of the start.
    summary_.completed = false;
    const bool alive = is_being_written(file);
    if (!alive) status_ = "killed";
    summary_.failure = alive ? "the run is in progress"
                             : "the program that wrote the result was killed, or the machine was stopped";
  } else if (is_of_start) {
    summary_.completed = false;
    summary_.failure = "an error ended the run";
  }
  if (is_of_start && rows_ > 0) summarize_rows();
  const auto add = [&](const std::string& name, const std::string& unit, int components) {
    constexpr int kMostComponents = 1 << 16;
    if (components < 1 || components > kMostComponents)
      wrong(*this, fmt::format("is damaged: expected components of '{}', got {}", excerpt(name), components));
    channels_.push_back({name, unit,
                         channels_.empty() ? 1 : channels_.back().first + channels_.back().components,
                         components});
  };
  if (in_.has_attribute("/sensors", "channels")) {
    try {
      for (const Json& one : Json::parse(in_.attribute("/sensors", "channels")))
        add(one.at("name"), one.at("unit"), one.at("components"));
    } catch (const nlohmann::json::exception&) {
      wrong(*this, "is damaged: expected a list of sensors");
    }
  } else {
    // Files before version 1.1: the order of the sensors is that of the summary, since HDF5 has none.
    const Json units = Json::parse(text).value("units", Json::object());
    for (const auto& [name, unit] : units.items()) {
      const std::vector<std::size_t> shape = in_.shape("/sensors/" + name);
      add(name, in_.attribute("/sensors/" + name, "unit"),
          shape.size() == 1 ? 1 : static_cast<int>(shape[1]));
    }
  }
  const bool unfinished = status_ == "running" || status_ == "killed";
  const std::vector<Place> places = places_of(channels_);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::vector<std::size_t> shape = in_.shape(places[i].path);
    const std::size_t width = shape.size() == 1 ? 1 : shape[1];
    if (shape.size() > 2 || channels_[i].components < 1 ||
        at(places[i].first + channels_[i].components) > width)
      wrong(*this, fmt::format("expected {} columns of '{}' in '{}'", channels_[i].components,
                               excerpt(channels_[i].name), places[i].path));
    if (shape[0] < rows_ || (!unfinished && shape[0] != rows_))
      wrong(*this, fmt::format("expected {} rows of '{}', got {}", rows_, places[i].path, shape[0]));
  }
  for (const Statistic& one : kResultStatistics)
    if (in_.has(fmt::format("/statistics/{}", one.name))) statistics_.emplace_back(one.name);
  has_states_ = in_.has("/states/q");
}

// What the rows so far say; largest values are not known without reading them all.
void ResultFile::summarize_rows() {
  const auto number = [&](const std::string& path, std::size_t row) {
    return in_.has(path) ? in_.table(path, row, 1).data.at(0) : 0.0;
  };
  const std::size_t last = rows_ - 1;
  Summary& s = summary_;
  s.end = number("/time", last);
  s.steps = std::lround(number("/statistics/steps", last));
  s.newton_iterations = std::lround(number("/statistics/newton_iterations", last));
  s.jacobian_updates = std::lround(number("/statistics/jacobian_updates", last));
  s.rejected = std::lround(number("/statistics/rejected_steps", last));
  s.energy_initial = number("/statistics/energy", 0);
  s.energy_final = number("/statistics/energy", last);
  s.energy_max_drift = s.residual_position = s.residual_velocity = s.wall_seconds =
      std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> ResultFile::column(const std::string& path) const {
  Hdf5Input::Table table = in_.table(path, 0, rows_);
  if (table.rows != rows_)
    wrong(*this, fmt::format("expected {} rows of '{}', got {}", rows_, path, table.rows));
  return std::move(table.data);
}

std::vector<double> ResultFile::values(const Channel& channel) const {
  const std::size_t index = static_cast<std::size_t>(&channel - channels_.data());
  return picked(in_, places_of(channels_)[index], channel.components, 0, rows_);
}

Hdf5Input::Table ResultFile::states(const std::string& what) const {
  if (!has_states_)
    wrong(*this, "contains the values of sensors, but no states",
          "liedyn run MODEL --out FILE.h5 --states records them");
  if (!in_.has("/states/" + what)) return {rows_, 0, {}};
  Hdf5Input::Table out = in_.table("/states/" + what, 0, rows_);
  if (out.rows != rows_)
    wrong(*this, fmt::format("expected {} rows of '/states/{}', got {}", rows_, what, out.rows));
  return out;
}

std::vector<std::string> ResultFile::state_names(const std::string& what) const {
  const std::string path = "/states/" + what;
  return in_.has(path) ? read_names(in_.attribute(path, "names"), name()) : std::vector<std::string>();
}

std::vector<std::pair<double, std::string>> ResultFile::events() const {
  std::vector<std::pair<double, std::string>> out;
  if (!in_.has("/events/time")) return out;
  const std::vector<std::string> names = read_names(in_.attribute("/events", "names"), name());
  const Hdf5Input::Table times = in_.table("/events/time"),
                         sensors = in_.table("/events/sensor", 0, times.rows);
  for (std::size_t i = 0; i < std::min(times.data.size(), sensors.data.size()); ++i) {
    if (!(sensors.data[i] >= 0 && sensors.data[i] < static_cast<double>(names.size())))
      wrong(*this, fmt::format("is damaged: there is no event {}", sensors.data[i]));
    out.emplace_back(times.data[i], names[static_cast<std::size_t>(sensors.data[i])]);
  }
  return out;
}

Result ResultFile::load(std::size_t most) const {
  const std::size_t stride = stride_for(most), kept = kept_rows(stride);
  Result out;
  out.summary = summary_;
  Trajectory& t = out.trajectory;
  t.channels = channels_;
  for (const Channel& channel : channels_) t.columns += channel.components;
  const std::size_t width = at(t.columns);
  t.data.resize(kept * width);
  // Sensor by sensor, so that only one of them is in memory as a whole.
  const auto fill = [&](const std::vector<double>& values, std::size_t first, std::size_t components) {
    for (std::size_t i = 0; i < kept; ++i)
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(std::min(i * stride, rows_ - 1) * components),
                  components, t.data.begin() + static_cast<std::ptrdiff_t>(i * width + first));
  };
  fill(time(), 0, 1);
  for (const Channel& channel : channels_) fill(values(channel), at(channel.first), at(channel.components));
  check_trajectory(t, name());
  return out;
}

// Every how many rows, so that there are at most `most` of them and the last one.
std::size_t ResultFile::stride_for(std::size_t most) const {
  return most == 0 || rows_ <= most ? 1 : (rows_ + most - 1) / most;
}
// The first, every `stride`-th after it, and the last.
std::size_t ResultFile::kept_rows(std::size_t stride) const {
  return rows_ == 0 ? 0 : (rows_ - 1 + stride - 1) / stride + 1;
}

Result ResultFile::ending() const {
  Result out;
  out.summary = summary_;
  Trajectory& t = out.trajectory;
  t.channels = channels_;
  for (const Channel& channel : channels_) t.columns += channel.components;
  if (rows_ == 0) return out;
  t.data = in_.table("/time", rows_ - 1, 1).data;
  const std::vector<Place> places = places_of(channels_);
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const std::vector<double> last = picked(in_, places[i], channels_[i].components, rows_ - 1, 1);
    t.data.insert(t.data.end(), last.begin(), last.end());
  }
  return out;
}

System ResultFile::system() const {
  if (summary_.model_text == nullptr || summary_.model_text->empty())
    wrong(*this, "contains no model file", "a model that was built in a program has none");
  std::vector<Assignment> set;
  for (const auto& [path, value] : summary_.set) set.push_back({path, value});
  Description read = read_model_text(*summary_.model_text, summary_.model_file, set);
  take_initial(set, read);
  return make_system(std::make_shared<const Description>(std::move(read)), set, summary_.formulation);
}

void ResultFile::for_each_state(const System& system, std::size_t most,
                                const std::function<void(const State&)>& visit) const {
  State state = system.empty_state();
  for (const StatePart& part : kStateParts) {
    const std::string path = fmt::format("/states/{}", part.name);
    const std::size_t expected = (state.*part.values).size(),
                      got = in_.has(path) ? in_.shape(path).back() : 0;
    if (got != expected)
      wrong(*this, fmt::format("expected {} numbers of '{}', got {}", expected, path, got),
            "the model in the file is not the one that was simulated");
  }
  const std::size_t stride = stride_for(most);
  // Of rows that are far apart only their own chunks are read.
  constexpr std::size_t kMostTogether = 128;
  const bool alone = stride > kMostTogether;
  const std::size_t together = alone ? 1 : kMostTogether;
  for (std::size_t begin = 0; begin < rows_; begin = !alone              ? begin + together
                                                     : begin + 1 < rows_ ? std::min(begin + stride, rows_ - 1)
                                                                         : rows_) {
    const std::size_t count = std::min(together, rows_ - begin);
    const Hdf5Input::Table time = in_.table("/time", begin, count);
    std::array<Hdf5Input::Table, kStateParts.size()> parts;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!(state.*kStateParts[i].values).empty()) {
        parts[i] = in_.table(fmt::format("/states/{}", kStateParts[i].name), begin, count);
        if (parts[i].rows != count) wrong(*this, "is damaged: states are missing");
      }
    for (std::size_t row = 0; row < count; ++row) {
      if ((begin + row) % stride != 0 && begin + row + 1 != rows_) continue;
      state.t = time.data.at(row);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        std::vector<double>& values = state.*kStateParts[i].values;
        std::copy_n(parts[i].data.begin() + static_cast<std::ptrdiff_t>(row * values.size()), values.size(),
                    values.begin());
      }
      visit(state);
    }
  }
}

std::string result_scene(const ResultFile& file, long frames) {
  if (!file.has_states()) file.states("q");  // which says what to do
  const System system = file.system();
  constexpr std::size_t kMostStates = 2000, kMostSensorRows = 10000;  // as many as a scene keeps
  Result result = file.load(kMostSensorRows);
  SceneWriter writer(frames);
  file.for_each_state(system, frames > 0 ? static_cast<std::size_t>(frames) : kMostStates,
                      [&](const State& state) {
                        writer.add(system, state);
                        result.state = state;
                      });
  return writer.finish(result);
}

}  // namespace liedyn
