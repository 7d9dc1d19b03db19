#include "liedyn/io/live_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <nlohmann/json.hpp>
#include <thread>

#include "liedyn/analyses/simulation.h"
#include "liedyn/base/suggest.h"
#include "liedyn/io/live_feed.h"
#include "liedyn/io/live_server.h"
#include "liedyn/io/scene_page.h"
#include "liedyn/io/scene_stream.h"
#include "liedyn/io/write_results.h"
#include "liedyn/io/write_scene.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/states/signal_batch.h"

namespace liedyn {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kPicture =
    1.0 / 60;  // seconds between rows, if the time of the simulation does not ask for more
constexpr double kShareOfRows = 1.0 / 40;  // of the computing time
constexpr double kRowsOfRun = 2000;        // of a run whose end is known
constexpr double kStatusTime = 0.25;       // seconds
constexpr double kGlance = 2e-4;           // seconds between two looks at the clock, about
constexpr long kMostUnseen = 64;           // steps between them: they may become longer
constexpr double kLate = 0.25;             // seconds behind the clock that are not made up for
constexpr auto kFramePatience = std::chrono::milliseconds(50);
constexpr std::size_t kMostCommands = 256;  // that wait
constexpr std::size_t kMostSliders = 12, kMostOthers = 100;
constexpr int kLargestTrial = 20000;  // unknowns of models whose parameters are tried

struct Command {
  std::string action;
  std::string name;  // of "set"
  double value = 0;  // of "set" and "pace"
};

// From the thread of the server to that of the simulation.
class Commands {
 public:
  // The status of the answer.
  int add(std::string_view action, std::string_view body) {
    Command command{std::string(action), "", 0};
    const Json json = body.empty() ? Json::object() : Json::parse(body, nullptr, false);
    if (!json.is_object()) return kBadRequest;
    const bool sets = action == "set", paces = action == "pace";
    if (sets || paces) {
      if (!json.contains("value") || !json["value"].is_number()) return kBadRequest;
      command.value = json["value"].get<double>();
      if (!std::isfinite(command.value) || (paces && command.value < 0)) return kBadRequest;
    } else if (action != "pause" && action != "resume" && action != "step" && action != "stop") {
      return kNotFound;
    }
    if (sets) {
      if (!json.contains("name") || !json["name"].is_string()) return kBadRequest;
      command.name = json["name"].get<std::string>();
    }
    {
      const std::scoped_lock lock(mutex_);
      // Of a slider that moves only the last value counts.
      const auto same = [&](const Command& other) {
        return sets && other.action == "set" && other.name == command.name;
      };
      if (const auto old = std::find_if(list_.begin(), list_.end(), same); old != list_.end())
        *old = command;
      else if (list_.size() >= kMostCommands)
        return kTooMany;
      else
        list_.push_back(command);
      waiting_.store(true, std::memory_order_release);
    }
    arrived_.notify_one();
    return kAccepted;
  }

  bool waiting() const { return waiting_.load(std::memory_order_acquire); }
  std::vector<Command> take() {
    const std::scoped_lock lock(mutex_);
    waiting_.store(false, std::memory_order_release);
    return std::exchange(list_, {});
  }
  void wait(Clock::duration time) {
    std::unique_lock lock(mutex_);
    arrived_.wait_for(lock, time, [&] { return !list_.empty(); });
  }

 private:
  static constexpr int kAccepted = 204, kBadRequest = 400, kNotFound = 404, kTooMany = 429;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::vector<Command> list_;
  std::atomic<bool> waiting_ = false;
};

struct Slider {
  std::string name, path, unit;
  double value = 0, low = 0, high = 0;
};

std::string shown_path(const Params& params, int index) {
  std::string out = params.path(index);
  constexpr std::string_view kParameters = "parameters.";
  return index < params.parameter_count() && out.starts_with(kParameters) ? out.substr(kParameters.size())
                                                                          : out;
}

Slider slider_of(const Params& params, int index) {
  Slider out;
  out.name = out.path = shown_path(params, index);
  out.unit = parameter_unit(params.description(), index);
  out.value = params.get(index);
  out.low = out.value == 0 ? -1 : std::min(0.0, 2 * out.value);
  out.high = out.value == 0 ? 1 : std::max(0.0, 2 * out.value);
  if (const Field* field = locate_parameter(params.description(), index).kind_field();
      field != nullptr && field->range != Range::Any)
    out.low = 0;
  return out;
}

// Tries a small change on a copy of the simulation. Throws InputError if it is refused.
void try_change(Simulation& trial, const Slider& slider) {
  constexpr double kSmall = 1e-3;
  trial.set_input(slider.path, slider.value + kSmall * (slider.value == 0 ? 1 : slider.value));
  trial.set_input(slider.path, slider.value);
}
bool may_change(Simulation& trial, const Slider& slider) {
  try {
    try_change(trial, slider);
    return true;
  } catch (const InputError&) {
    return false;
  }
}

// Numbers of a model that are worth a slider: parameters, then loads, then other numbers of forces, gravity and masses. None that expressions determine.
std::vector<int> candidates(const Model& model, const Params& params) {
  const Description& d = params.description();
  std::vector<bool> is_bound(static_cast<std::size_t>(params.size()));
  for (const auto* list : {&params.bound(), &params.timed()})
    for (const Params::Bound& bound : *list) is_bound[static_cast<std::size_t>(bound.number)] = true;
  // Signals are expressions that may use any parameter.
  const bool has_signals = std::any_of(model.batches.begin(), model.batches.end(), [](const auto& batch) {
    return dynamic_cast<const SignalBatch*>(batch.get()) != nullptr;
  });
  // What else than initial values depends on a parameter?
  const auto is_used = [&](int index) {
    bool any = false, equations = false;
    for (const auto* list : {&params.bound(), &params.timed()})
      for (const Params::Bound& bound : *list)
        if (bound.expression.uses(index)) {
          const Field* field = locate_parameter(d, bound.number).kind_field();
          any = true;
          equations = equations || field == nullptr || !field->may_be_consistent;
        }
    return equations || (!any && has_signals);
  };
  std::vector<int> parameters, loads, coefficients, gravity, masses;
  for (int i = 0; i < params.size(); ++i) {
    if (is_bound[static_cast<std::size_t>(i)]) continue;
    const ParameterPlace place = locate_parameter(d, i);
    if (i < params.parameter_count()) {
      if (is_used(i)) parameters.push_back(i);
    } else if (place.entry == nullptr) {
      if (params.get(i) != 0) gravity.push_back(i);
    } else if (place.section == Section::Forces && !is_unused(d, i)) {
      const Field& field = *place.kind_field();
      if (field.load != LoadKind::None)
        loads.push_back(i);
      else if (field.type == FieldType::Number && params.get(i) != 0)
        coefficients.push_back(i);
    } else if (place.section == Section::Bodies && !place.entry->is_part() &&
               place.kind_field()->range == Range::Positive) {
      masses.push_back(i);
    }
  }
  for (const std::vector<int>* more : {&loads, &coefficients, &gravity, &masses})
    parameters.insert(parameters.end(), more->begin(), more->end());
  return parameters;
}

Json json_of(const Slider& s) {
  return {{"name", s.name},   {"path", s.path}, {"unit", s.unit},
          {"value", s.value}, {"min", s.low},   {"max", s.high}};
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

LiveSlider live_slider(const std::string& text) {
  LiveSlider out;
  const std::size_t equals = text.find('=');
  out.name = out.path = text.substr(0, equals);
  if (equals == std::string::npos) return out;
  const char *first = text.data() + equals + 1, *last = text.data() + text.size();
  double low = 0, high = 0;
  const auto [comma, wrong] = std::from_chars(first, last, low);
  const bool has_two = wrong == std::errc() && comma != last && *comma == ',';
  const auto [end, worse] = has_two ? std::from_chars(comma + 1, last, high)
                                    : std::from_chars_result{first, std::errc::invalid_argument};
  if (!has_two || worse != std::errc() || end != last || !std::isfinite(low) || !std::isfinite(high) ||
      !(low < high))
    throw InputError("--slider", fmt::format("expected PATH or PATH=LOW,HIGH, got '{}'", excerpt(text)),
                     "--slider forces.spring.stiffness=0,2000");
  out.low = low;
  out.high = high;
  return out;
}

struct LiveView::Parts {
  explicit Parts(LiveOptions given) : options(std::move(given)), pace(options.pace), paused(options.paused) {}

  void begin(Simulation& simulation);
  void choose_sliders(const Simulation& simulation);
  void add_row(Simulation& simulation, Clock::time_point now);
  void tell(const Simulation& simulation, Clock::time_point now);
  void obey();
  void anchor(const Simulation& simulation) {
    anchor_time = simulation.time();
    anchor_clock = Clock::now();
  }
  const char* state() const { return paused ? "paused" : "running"; }
  // False: the user does not want to wait any longer.
  bool wait(Clock::duration time) {
    commands->wait(time);
    return !go_on || go_on();
  }

  LiveOptions options;
  std::shared_ptr<LiveFeed> feed = std::make_shared<LiveFeed>();
  std::shared_ptr<Commands> commands = std::make_shared<Commands>();
  std::function<bool()> go_on;

  std::shared_ptr<const Model> model;  // of the scene
  std::unique_ptr<SceneStream> stream;
  std::vector<Slider> sliders;
  std::vector<Slider> others;  // that a page may add
  std::vector<float> row;
  double seen_time = 0;  // of the last look
  double row_time = 0, row_cost = 0, row_spacing = 0;
  Clock::time_point row_clock, status_clock, glance_clock;
  long unseen = 0, between = 1;        // steps since the last look at the clock, and from one to the next
  double status_time = 0, factor = 0;  // simulated seconds per second

  double pace;
  bool paused;
  long steps = 0;     // to be taken while paused
  long granted = -1;  // steps before the one that was allowed last, while paused
  bool stops = false, was_stopped = false, finished = false;
  double anchor_time = 0;
  Clock::time_point anchor_clock;
  std::vector<std::pair<std::string, double>> sets;  // to be carried out
  std::string refused;                               // why the last one was not
  struct Change {
    double t;
    std::string path;
    double value;
  };
  std::vector<Change> changes;
  std::size_t change_count = 0;

  std::unique_ptr<LiveServer> server;  // the last: it uses the feed and the commands
};

void LiveView::Parts::choose_sliders(const Simulation& simulation) {
  const Params& params = simulation.system().params();
  sliders.clear();
  others.clear();
  std::optional<Simulation> trial;
  if (simulation.system().unknowns() <= kLargestTrial) trial.emplace(simulation.clone());
  for (const LiveSlider& wanted : options.sliders) {
    Slider one = slider_of(params, params.find(wanted.path));
    if (!wanted.name.empty()) one.name = wanted.name;
    one.low = wanted.low.value_or(one.low);
    one.high = wanted.high.value_or(one.high);
    if (trial) try_change(*trial, one);
    sliders.push_back(std::move(one));
  }
  for (const int index : candidates(simulation.system().model(), params)) {
    if (sliders.size() >= kMostSliders && others.size() >= kMostOthers) break;
    Slider one = slider_of(params, index);
    if (std::any_of(sliders.begin(), sliders.end(), [&](const Slider& s) { return s.path == one.path; }))
      continue;
    const bool is_shown = options.sliders.empty() && sliders.size() < kMostSliders;
    if (!is_shown && others.size() >= kMostOthers) continue;
    if (!trial || may_change(*trial, one)) (is_shown ? sliders : others).push_back(std::move(one));
  }
}

void LiveView::Parts::begin(Simulation& simulation) {
  model = simulation.system().shared_model();
  choose_sliders(simulation);
  const std::vector<double> sensors = simulation.sensors();
  stream = std::make_unique<SceneStream>(simulation.system(), simulation.state(), sensors);
  const SimulateOptions& o = simulation.options();
  Json live = {{"inputs", Json::array()}, {"others", Json::array()}, {"pace", pace}, {"paused", paused}};
  if (simulation.has_end()) live["end"] = o.end;
  for (const Slider& slider : sliders) live["inputs"].push_back(json_of(slider));
  for (const Slider& slider : others) live["others"].push_back(json_of(slider));
  feed->open(stream->scene(text_of(live)), simulation.time(), stream->width());
  granted = -1;
  seen_time = row_time = status_time = simulation.time();
  row_clock = status_clock = glance_clock = Clock::now();
  unseen = 0;
  between = 1;
  row_spacing =
      simulation.has_end() ? (o.end - o.start) / kRowsOfRun : std::numeric_limits<double>::infinity();
  anchor(simulation);
}

void LiveView::Parts::add_row(Simulation& simulation, Clock::time_point now) {
  row.clear();
  const std::vector<double> sensors = simulation.sensors();
  if (stream->add_row(simulation.state(), sensors, row)) feed->add(simulation.time(), row);
  row_time = simulation.time();
  row_clock = now;
  row_cost = Seconds(Clock::now() - now).count();
}

void LiveView::Parts::tell(const Simulation& simulation, Clock::time_point now) {
  const double passed = Seconds(now - status_clock).count();
  if (passed > 0.1 * kStatusTime) {
    factor = (simulation.time() - status_time) / passed;
    status_time = simulation.time();
    status_clock = now;
  }
  Json values = Json::object();
  const Params& params = simulation.system().params();
  for (const Slider& slider : sliders) values[slider.name] = params.get(params.find(slider.path));
  feed->set_status(text_of({{"state", state()},
                            {"t", simulation.time()},
                            {"pace", pace},
                            {"factor", factor},
                            {"steps", simulation.report().steps},
                            {"values", values},
                            {"largest", stream->largest()},
                            {"refused", refused}}));
}

void LiveView::Parts::obey() {
  for (Command& command : commands->take()) {
    if (command.action == "pause") paused = true;
    if (command.action == "resume") paused = false;
    if (command.action == "step") paused = true, ++steps;
    if (command.action == "stop") stops = true;
    if (command.action == "pace") pace = command.value;
    if (command.action == "set") {
      const auto has_name = [&](const Slider& s) { return s.name == command.name; };
      // From the first value on it is one of those that the status shows.
      const auto added = std::find_if(others.begin(), others.end(), has_name);
      if (added != others.end()) {
        sliders.push_back(*added);
        others.erase(added);
      }
      const auto named = std::find_if(sliders.begin(), sliders.end(), has_name);
      sets.emplace_back(named == sliders.end() ? command.name : named->path, command.value);
    }
  }
}

LiveView::LiveView(LiveOptions options) : parts_(std::make_unique<Parts>(std::move(options))) {
  if (!(parts_->pace >= 0) || !std::isfinite(parts_->pace))
    throw InputError("--pace",
                     fmt::format("expected simulated seconds per second, 0 or more, got {}", parts_->pace),
                     "1 is real time, 0 as fast as possible");
  parts_->server = std::make_unique<LiveServer>(LiveServer::Content{
      .page = live_page("/run"),
      .open_events =
          [feed = parts_->feed] {
            return [reader = std::make_shared<LiveFeed::Reader>(feed)]() -> std::optional<std::string> {
              return reader->next();
            };
          },
      .command = [commands = parts_->commands](
                     std::string_view action,
                     std::string_view body) { return commands->add(action, body); }});
}

LiveView::~LiveView() {
  if (!parts_->finished) finish("The program has ended the view.");
  // Pages that are open get a moment to hear it.
  constexpr int kTries = 15;
  for (int i = 0; i < kTries && pages() > 0 && !parts_->feed->end_was_read(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

const std::string& LiveView::address() const { return parts_->server->address(); }
int LiveView::pages() const { return parts_->server->readers(); }
bool LiveView::was_opened() const { return parts_->server->was_read(); }
bool LiveView::was_stopped() const { return parts_->was_stopped; }
void LiveView::open(Simulation& simulation) { parts_->begin(simulation); }
void LiveView::set_go_on(std::function<bool()> go_on) { parts_->go_on = std::move(go_on); }

void LiveView::finish(const std::string& message) {
  parts_->finished = true;
  parts_->feed->end(text_of({{"message", message}}));
}

void LiveView::finish(const Result& result) {
  const Summary& s = result.summary;
  parts_->finished = true;
  parts_->feed->end(text_of({{"message", s.completed     ? fmt::format("finished at {:.6g} s", s.end)
                                         : s.interrupted ? fmt::format("stopped at {:.6g} s", s.end)
                                                         : "failed: " + s.failure},
                             {"completed", s.completed || s.interrupted},
                             {"largest", parts_->stream ? Json(parts_->stream->largest()) : Json::object()},
                             {"summary", Json::parse(summary_json(result))},
                             {"warnings", s.warnings}}));
}

Companion::Wish LiveView::look(Simulation& simulation) {
  Parts& p = *parts_;
  // Another model, or the simulation was set back to an earlier time.
  if (p.model.get() != &simulation.system().model() || simulation.time() < p.seen_time) p.begin(simulation);
  p.seen_time = simulation.time();
  const bool is_free = p.pace == 0 && !p.paused && p.sets.empty();
  const bool fills_row = p.pace == 0 && simulation.time() - p.row_time >= p.row_spacing;
  // To look at the clock costs a good part of a short step.
  if (is_free && !fills_row && ++p.unseen < p.between && !p.commands->waiting()) return Wish::GoOn;
  const Clock::time_point now = Clock::now();
  if (!is_free || Seconds(now - p.glance_clock).count() > kGlance)
    p.between = std::max(1L, p.between / 2);
  else if (p.unseen >= p.between)
    p.between = std::min(kMostUnseen, 2 * p.between);
  p.unseen = 0;
  p.glance_clock = now;
  const double since = Seconds(now - p.row_clock).count();
  const bool is_due = since >= kPicture || fills_row;
  if (is_due && since * kShareOfRows >= p.row_cost && simulation.time() > p.row_time)
    p.add_row(simulation, now);
  if (Seconds(now - p.status_clock).count() >= kStatusTime)
    p.tell(simulation, now);
  else
    p.feed->flush();
  if (is_free && !p.commands->waiting()) return Wish::GoOn;

  bool was_paused = false;
  for (;;) {
    if (p.commands->waiting()) {
      const auto before = std::tuple(p.paused, p.pace, p.steps);
      p.obey();
      if (std::get<1>(before) != p.pace) p.anchor(simulation);
      if (before != std::tuple(p.paused, p.pace, p.steps)) {
        if (simulation.time() > p.row_time) p.add_row(simulation, Clock::now());
        p.tell(simulation, Clock::now());
      }
    }
    if (p.stops) {
      p.stops = p.paused = false;
      p.was_stopped = true;
      return Wish::Stop;
    }
    if (!p.sets.empty()) return Wish::Act;
    const long taken = simulation.report().steps;
    if (p.paused && taken == p.granted) return Wish::GoOn;
    if (p.paused && p.steps == 0) {
      if (!was_paused && simulation.time() > p.row_time) p.add_row(simulation, Clock::now());
      if (!was_paused) p.tell(simulation, Clock::now());
      was_paused = true;
      p.feed->flush();
      if (!p.wait(kFramePatience)) return Wish::Stop;
      continue;
    }
    if (p.paused) {
      --p.steps;
      p.granted = taken;
      return Wish::GoOn;
    }
    if (was_paused) p.anchor(simulation);
    if (p.pace == 0) return Wish::GoOn;
    const double ahead =
        (simulation.time() - p.anchor_time) / p.pace - Seconds(Clock::now() - p.anchor_clock).count();
    if (ahead <= 0) {
      if (ahead < -kLate) p.anchor(simulation);
      return Wish::GoOn;
    }
    p.feed->flush();
    const auto nap = std::chrono::duration_cast<Clock::duration>(Seconds(ahead));
    if (!p.wait(std::min<Clock::duration>(nap, kFramePatience))) return Wish::Stop;
  }
}

void LiveView::act(Simulation& simulation) {
  Parts& p = *parts_;
  constexpr std::size_t kMostChanges = 10000;
  for (const auto& [path, value] : std::exchange(p.sets, {})) {
    try {
      simulation.set_input(path, value);
      p.refused.clear();
      ++p.change_count;
      // A slider that is moved while the simulation rests leaves one change.
      if (!p.changes.empty() && p.changes.back().path == path && p.changes.back().t == simulation.time())
        p.changes.back().value = value, --p.change_count;
      else if (p.changes.size() < kMostChanges)
        p.changes.push_back({simulation.time(), path, value});
    } catch (const InputError& error) {
      p.refused = error.what();
    }
  }
  p.stream->follow(simulation.system());
  p.tell(simulation, Clock::now());
}

void LiveView::end(Simulation& simulation) {
  Parts& p = *parts_;
  if (p.stream && simulation.time() > p.row_time) p.add_row(simulation, Clock::now());
  p.between = 1;  // what the caller does until the next step may take its time
}

std::vector<std::string> LiveView::warnings() const {
  const Parts& p = *parts_;
  if (p.changes.empty()) return {};
  constexpr std::size_t kShown = 20;
  std::vector<std::string> list;
  for (std::size_t i = 0; i < std::min(kShown, p.changes.size()); ++i)
    list.push_back(
        fmt::format("{} = {} at t = {:.9g}", p.changes[i].path, p.changes[i].value, p.changes[i].t));
  if (p.change_count > kShown) list.push_back(fmt::format("and {} further changes", p.change_count - kShown));
  return {fmt::format("parameters were changed during the run, so the model alone does not reproduce it: {}",
                      fmt::join(list, ", "))};
}

}  // namespace liedyn
