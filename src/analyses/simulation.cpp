#include "liedyn/analyses/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <thread>

#include "liedyn/analyses/advice.h"
#include "liedyn/analyses/choose_formulation.h"
#include "liedyn/analyses/companion.h"
#include "liedyn/analyses/events.h"
#include "liedyn/analyses/inputs.h"
#include "liedyn/analyses/inspect.h"
#include "liedyn/analyses/lost_digits.h"
#include "liedyn/analyses/run_start.h"
#include "liedyn/base/hash.h"
#include "liedyn/base/suggest.h"
#include "liedyn/base/version.h"
#include "liedyn/model/sensors/events.h"
#include "liedyn/system/model_hash.h"
#include "liedyn/system/released_joints.h"

namespace liedyn {
namespace {

int thread_count(const SimulateOptions& options, const Model& model) {
  constexpr std::size_t kWorthwhile = 4096;  // bodies
  if (options.threads > 0) return options.threads;
  return model.nodes.size() < kWorthwhile
             ? 1
             : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

System in_chosen_formulation(System system, const SimulateOptions& options) {
  if (!system.model().is_formulation_open()) return system;
  return {
      Model::compile(system.model().shared_description(), choose_formulation(system, options).formulation),
      system.params()};
}

constexpr std::string_view kAnyMagic = "liedyn checkpoint ";
constexpr int kLayout = 8;
std::string magic() { return fmt::format("{}{}\n", kAnyMagic, kLayout); }

}  // namespace

struct Simulation::Parts {
  // Without a state: for a checkpoint.
  Parts(System given, SimulateOptions with, End end_of, bool is_chosen)
      : options(std::move(with)),
        end(end_of),
        chosen(is_chosen),
        system(std::move(given)),
        start_params(system.params()),
        integrator(make_integrator(system, options.integrator)),
        state(system.empty_state()) {}

  void make_work() {
    work = std::make_unique<Work>(system, options.solver, integrator->form());
    use_threads();
  }
  void use_threads() {
    if (const int threads = thread_count(options, system.model()); threads > 1)
      work->use_threads(std::make_shared<ThreadPool>(threads));
  }
  void find_start() {
    RunStart<double> start = start_run<double>(system, options, integrator->form());
    work = std::move(start.work);
    state = std::move(start.state);
    use_threads();
    warnings = model_warnings(system, state);
    if (std::string warning = lost_digits(system, state, *work); !warning.empty())
      warnings.push_back(std::move(warning));
    for (std::string& warning : work_advice(system, state, integrator->control().adaptive, options.step))
      warnings.push_back(std::move(warning));
    for (std::string& warning : integrator->warnings()) warnings.push_back(std::move(warning));
    if (!state.redundant.empty()) warnings.push_back(redundancy_warning(system, state, "motion"));
  }
  void make_driver() {
    driver = std::make_unique<Driver>(
        *integrator, system,
        DriveOptions{options.end, options.step, end == End::Open, spacing, output, look()}, state, *work);
  }
  decltype(DriveOptions::look) look() {
    if (!events) return {};
    return [this](const State& from, const State& to, const StateBetween& between) {
      return events->look(from, to, between, *work);
    };
  }
  // What the model does at given times and at zero crossings; none: null.
  void make_events() {
    if (has_events(system.model())) events = std::make_unique<Events>(system, options.start, options.step);
  }
  void apply(const std::vector<Events::Change>& changes);
  void set_by_event(int number, double value, const std::string& path);
  bool switch_joint(int joint, double value, const std::string& path);
  bool heed(Simulation& simulation);
  void check_end() const;
  bool set_due();
  bool let_happen();
  bool let_begin();
  bool carry_out(const Events::Occurrence& now);
  bool step_with_events(const Observer& observer);
  bool run_with_events(double t, const Observer& observer);
  void set_inputs(const std::vector<std::pair<int, double>>& given, const std::string& path);
  // The same simulation with its first parameters, to be filled by a checkpoint.
  std::unique_ptr<Parts> fresh() const {
    System other = system;
    other.set_params(start_params);
    auto out = std::make_unique<Parts>(std::move(other), options, end, chosen);
    out->make_work();
    out->make_events();
    out->warnings = warnings;
    out->spacing = spacing;
    out->output = output;
    out->event_output = event_output;
    out->make_driver();
    return out;
  }
  // Equal steps are the same for every end that they meet; how long adaptive ones may be depends on it.
  std::string settings() const {
    const bool adaptive = integrator->control().adaptive, open = end == End::Open;
    const double step = adaptive || open
                            ? options.step
                            : (options.end - options.start) /
                                  static_cast<double>(step_count(options.start, options.end, options.step));
    return fmt::format("integrator {}, solver {}, start {} s, {} {:.12g} s{}", integrator->describe(),
                       options.solver, options.start, adaptive ? "first step" : "steps of", step,
                       adaptive && !open ? fmt::format(", end {} s", options.end) : "");
  }
  Work& plain_work() {
    if (!plain) plain = std::make_unique<Work>(system);
    return *plain;
  }
  void archive(Archive& a);

  SimulateOptions options;
  End end;
  bool chosen;
  System system;
  Params start_params;
  std::unique_ptr<Integrator> integrator;
  std::unique_ptr<Work> work;
  State state;
  double spacing = 0;
  std::function<void(const State&)> output;
  EventOutput event_output;
  std::unique_ptr<Events> events;
  std::string stopped_by;  // the event that ended the last advance
  double changed_at = std::numeric_limits<double>::quiet_NaN();
  std::unique_ptr<Driver> driver;
  std::unique_ptr<Work> plain;  // of accelerations that follow inputs
  std::map<int, double> inputs;
  std::vector<std::string> warnings;
  std::vector<double> variables;  // of sensors
  Companion* companion = nullptr;
};

void Simulation::Parts::archive(Archive& a) {
  std::vector<std::pair<int, double>> list(inputs.begin(), inputs.end());
  std::vector<int> indices;
  std::vector<double> values;
  for (const auto& [index, value] : list) {
    indices.push_back(index);
    values.push_back(value);
  }
  a(indices, values);
  if (a.reads() && !indices.empty()) {
    Params params = start_params;
    for (std::size_t i = 0; i < indices.size(); ++i) {
      inputs[indices[i]] = values[i];
      params.set(indices[i], values[i]);
    }
    system.set_params(params);
  }
  a(*driver);
  if (events) a(*events, stopped_by);
  bool has_plain = plain != nullptr;
  a(has_plain);
  if (has_plain) plain_work().archive(system, a);
}

Simulation::Simulation(System system, SimulateOptions options, End end) {
  check_times(options);
  const bool chosen = system.model().is_formulation_open();
  parts_ = std::make_unique<Parts>(in_chosen_formulation(std::move(system), options), options, end, chosen);
  parts_->find_start();
  parts_->make_events();
  parts_->make_driver();
  if (!parts_->events) return;
  parts_->apply(parts_->events->due(parts_->state, *parts_->work));
  parts_->events->look_around(parts_->state, *parts_->work);
}
Simulation::Simulation(System system) : Simulation(system, default_options(system)) {}
Simulation::Simulation(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

const State& Simulation::state() const { return parts_->state; }
const System& Simulation::system() const { return parts_->system; }
Work& Simulation::work() { return *parts_->work; }
const Integrator& Simulation::integrator() const { return *parts_->integrator; }
const SimulateOptions& Simulation::options() const { return parts_->options; }
bool Simulation::has_end() const { return parts_->end == End::Fixed; }
const DriveReport& Simulation::report() const { return parts_->driver->report(); }
double Simulation::next_step() const { return parts_->driver->next_step(); }
const std::string& Simulation::stopped_by() const { return parts_->stopped_by; }
std::vector<Occurrence> Simulation::events() const {
  std::vector<Occurrence> out;
  if (parts_->events)
    for (const Events::Record& record : parts_->events->log())
      out.push_back({record.t, parts_->events->name(record.entry)});
  return out;
}
std::vector<std::string> Simulation::released_joints() const {
  const Model& model = system().model();
  std::vector<std::string> out;
  for (const int row : parts_->driver->released())
    if (const std::string& name = model.joint_of(row).name; out.empty() || out.back() != name)
      out.push_back(name);
  return out;
}
double Simulation::changed_at() const { return parts_->changed_at; }
bool Simulation::formulation_chosen() const { return parts_->chosen; }

std::vector<std::string> Simulation::warnings() const {
  std::vector<std::string> out = parts_->warnings;
  out.insert(out.end(), report().warnings.begin(), report().warnings.end());
  out.insert(out.end(), report().contact_warnings.begin(), report().contact_warnings.end());
  return out;
}

void Simulation::advance(double dt) {
  if (!(dt >= 0) || !std::isfinite(dt))
    throw InputError("advance", fmt::format("expected a time of 0 s or more, got {}", dt));
  advance_to(time() + dt);
}

void Simulation::advance_to(double t) {
  if (!run_to(t, {})) throw NumericalError(time(), report().failure);
}

bool Simulation::run_to(double t, const Observer& observer) {
  const SimulateOptions& o = parts_->options;
  if (!std::isfinite(t) || t < time())
    throw InputError("advance", fmt::format("expected a time from {} s on, got {}", time(), t));
  const double slack = 1e-9 * o.step;
  if (parts_->end == End::Fixed && t > o.end + slack)
    throw InputError("advance", fmt::format("expected a time up to the end, {} s, got {}", o.end, t),
                     "start the simulation with a later end, or without one");
  if (parts_->end == End::Fixed && std::abs(t - o.end) <= slack) t = o.end;
  if ((t - time()) / o.step > 1e12)
    throw InputError("advance", fmt::format("{} steps are too many", (t - time()) / o.step));
  const auto run = [&](const Observer& watched) {
    return parts_->events ? parts_->run_with_events(t, watched) : parts_->driver->advance_to(t, watched);
  };
  Companion* const companion = parts_->companion;
  if (companion == nullptr) return run(observer);
  for (;;) {
    if (!parts_->heed(*this)) return false;
    if (time() >= t) return true;
    auto wish = Companion::Wish::GoOn;
    const bool reached = run([&](const State& now, long step) {
      if (observer && !observer(now, step)) return false;
      wish = companion->look(*this);
      return wish == Companion::Wish::GoOn;
    });
    if (wish != Companion::Wish::Act) return reached;
    // To the driver this was an interruption.
    parts_->driver->advance_to(time(), {});
    if (!stopped_by().empty()) return parts_->heed(*this);
  }
}

void Simulation::set_companion(Companion* companion) { parts_->companion = companion; }

void Simulation::step(long count, const Observer& observer) {
  if (count < 0)
    throw InputError("step", fmt::format("expected a number of steps, 0 or more, got {}", count));
  Parts& p = *parts_;
  p.stopped_by.clear();
  const long piece = p.events || p.companion != nullptr ? 1 : count;
  bool done = p.companion == nullptr || p.heed(*this);
  for (; done && count > 0 && p.stopped_by.empty(); count -= piece) {
    p.check_end();
    done = p.events ? p.step_with_events(observer)
                    : p.driver->take_steps(piece, std::numeric_limits<double>::infinity(), observer);
    if (done && p.companion != nullptr) done = p.heed(*this);
  }
  if (!done) throw NumericalError(time(), report().failure);
}

// What the companion wishes between two steps. False: the run ends here.
bool Simulation::Parts::heed(Simulation& simulation) {
  Companion::Wish wish = companion->look(simulation);
  for (; wish == Companion::Wish::Act; wish = companion->look(simulation)) companion->act(simulation);
  if (wish == Companion::Wish::Stop) driver->interrupt();
  return wish != Companion::Wish::Stop;
}

void Simulation::Parts::check_end() const {
  if (end == End::Fixed && state.t >= options.end)
    throw InputError("step", fmt::format("the simulation has reached its end, {} s", options.end),
                     "start the simulation with a later end, or without one");
}

// What is due before the next step. False: as let_begin().
bool Simulation::Parts::set_due() {
  if (const std::vector<Events::Change> changes = events->due(state, *work); !changes.empty()) {
    apply(changes);
    events->look_around(state, *work);
  }
  return let_begin();
}

// Conditions that hold by what samples, other events or the user have set. False: they set off each other without end.
bool Simulation::Parts::let_begin() {
  constexpr int kMostRounds = 100;
  for (int round = 0; events->has_begun(); ++round) {
    const Events::Occurrence now = events->begin(state, *work);
    if (round == kMostRounds) {
      driver->fail(
          fmt::format("t = {:.9g}: events trigger each other without end, among them '{}'; let one of them "
                      "set a value that makes the condition of the other false for good",
                      state.t, events->name(now.entries.front())));
      return false;
    }
    if (!carry_out(now)) return false;
  }
  return true;
}

bool Simulation::Parts::carry_out(const Events::Occurrence& now) {
  if (!now.failure.empty()) {
    driver->fail(now.failure);
    return false;
  }
  if (event_output) event_output(state, now.entries, false);
  apply(now.changes);
  events->look_around(state, *work);
  if (event_output) event_output(state, now.entries, true);
  if (now.stops && stopped_by.empty()) stopped_by = events->name(now.entries.front());
  return true;
}

// What happens where the driver stopped. False: it goes on without end.
bool Simulation::Parts::let_happen() {
  return !driver->stopped() || (carry_out(events->happen(state, *work)) && let_begin());
}

bool Simulation::Parts::step_with_events(const Observer& observer) {
  if (!set_due()) return false;
  if (!stopped_by.empty()) return true;
  const double due = events->next_due(), slack = 1e-9 * options.step;
  const bool adaptive = integrator->control().adaptive;
  const bool good = adaptive || due > driver->next_grid_time() + slack ? driver->take_steps(1, due, observer)
                                                                       : driver->advance_to(due, observer);
  // An event at a step after which the observer ended the run has happened all the same.
  if ((good || driver->report().interrupted) && !let_happen()) return false;
  return good && set_due();
}

// Steps from one sample to the next, and from event to event.
bool Simulation::Parts::run_with_events(double t, const Observer& observer) {
  stopped_by.clear();
  for (;;) {
    if (!set_due()) return false;
    if (state.t >= t - 1e-9 * options.step || !stopped_by.empty()) return true;
    const bool reached = driver->advance_to(std::min(t, events->next_due()), observer);
    // The observer may stop a run at an event, which happens all the same: the next advance goes on behind it.
    if (!reached && !driver->report().interrupted) return false;
    if (!let_happen() || !reached) return false;
  }
}

void Simulation::Parts::apply(const std::vector<Events::Change>& changes) {
  if (!changes.empty()) changed_at = state.t;
  bool jumps = false;
  for (const Events::Change& change : changes) {
    const Events::Target& target = events->targets()[static_cast<std::size_t>(change.target)];
    const std::string path = fmt::format("events.{}: {}", events->name(change.entry), target.path);
    if (!std::isfinite(change.value))
      throw InputError(path,
                       fmt::format("expected a finite value at t = {:.9g}, got {}", state.t, change.value));
    switch (target.of) {
      case Events::Target::Of::Parameter: set_by_event(target.index, change.value, path); break;
      case Events::Target::Of::StateValue:
        state.v[static_cast<std::size_t>(target.index)] = change.value;
        jumps = true;
        break;
      case Events::Target::Of::Velocity:
        set_by_impulse(system, state, target.index, change.value, path, plain_work());
        jumps = true;
        break;
      case Events::Target::Of::Joint: jumps = switch_joint(target.index, change.value, path) || jumps; break;
    }
  }
  if (!jumps) return;
  if (!solve_accelerations(system, state, plain_work()))
    throw NumericalError(state.t, fmt::format("t = {:.9g}: the accelerations are undetermined after '{}'",
                                              state.t, events->name(changes.front().entry)));
  shorten_multipliers(system, state, driver->released(), plain_work());
  driver->restart();
}

// What is wrong with the value alone names only the number: here the event and the time go with it.
void Simulation::Parts::set_by_event(int number, double value, const std::string& path) try {
  set_inputs({{number, value}}, path);
} catch (const InputError& error) {
  const Diagnostic& found = error.diagnostics().front();
  if (found.path == path) throw;
  throw InputError(path, fmt::format("{} at t = {:.9g}", found.message, state.t), found.hint);
}

// 0 releases a joint, 1 engages it. False: it is so already.
bool Simulation::Parts::switch_joint(int joint, double value, const std::string& path) {
  const Model& model = system.model();
  if (value != 0 && value != 1)
    throw InputError(
        path, fmt::format("expected 0, which releases the joint, or 1, which engages it, got {}", value));
  const std::vector<int> rows = rows_of_joint(model, joint);
  std::vector<int> released = driver->released();
  const bool is_released = std::binary_search(released.begin(), released.end(), rows.front());
  if (is_released == (value == 0)) return false;
  if (value == 0) {
    released.insert(released.end(), rows.begin(), rows.end());
    std::sort(released.begin(), released.end());
    release_rows(system, released, state, plain_work());
  } else {
    std::erase_if(released, [&](int row) { return std::binary_search(rows.begin(), rows.end(), row); });
    if (const std::string why = engage_rows(system, rows, released, state, plain_work()); !why.empty())
      throw InputError(
          path, fmt::format("expected a position that satisfies the joint at t = {:.9g}: {}", state.t, why),
          "engage a joint where its constraint is satisfied: velocities may jump there, positions not");
  }
  driver->change_constraints(std::move(released));
  events->follow_joint(joint, value == 0);
  return true;
}

void Simulation::set_output(double spacing, std::function<void(const State&)> output) {
  parts_->spacing = spacing;
  parts_->output = std::move(output);
  parts_->make_driver();
}

void Simulation::set_event_output(EventOutput output) { parts_->event_output = std::move(output); }

void Simulation::set_input(std::string_view path, double value) { set_inputs({{std::string(path), value}}); }

void Simulation::set_inputs(const std::vector<std::pair<std::string, double>>& given) {
  if (given.empty()) return;
  std::vector<std::pair<int, double>> parameters;
  std::string paths;
  for (const auto& [path, value] : given) {
    parameters.emplace_back(parts_->system.params().find(path), value);
    paths += (paths.empty() ? "" : ", ") + path;
  }
  parts_->set_inputs(parameters, paths);
  if (parts_->events) parts_->events->look_around(parts_->state, *parts_->work);
}

void Simulation::Parts::set_inputs(const std::vector<std::pair<int, double>>& given,
                                   const std::string& path) {
  const Params before = system.params();
  Params params = before;
  for (const auto& [index, value] : given) {
    refuse_fixed_parameter(system.model(), before, index);
    params.set(index, value);
  }
  const bool changes = params.values() != before.values() || params.timed().size() != before.timed().size();
  if (!changes) {
    system.set_params(std::move(params));
  } else {
    const InputChange change{path, given.front().second, state.t};
    refuse_wrong_values(system.model(), before, params, change);
    Work& solving = plain_work();
    const State kept = state;
    const MotionBefore motion(system, state, solving);
    system.set_params(std::move(params));
    try {
      motion.refuse_jumps(system, state, driver->released(), options.step, change, solving);
      refuse_moved_points(system.model(), start_params, system.params(), change);
      if (!solve_accelerations(system, state, solving) ||
          !std::all_of(state.vdot.begin(), state.vdot.end(), [](double x) { return std::isfinite(x); }))
        throw InputError(path, fmt::format("with {} the accelerations are undetermined at t = {:.9g}",
                                           change.value, change.t));
    } catch (...) {
      state = kept;
      system.set_params(before);
      throw;
    }
    shorten_multipliers(system, state, driver->released(), solving);
    driver->follow_jump(kept.vdot);
  }
  for (const auto& [index, value] : given) inputs[index] = value;
}

double Simulation::input(std::string_view path) const {
  const Params& params = parts_->system.params();
  return params.get(params.find(path));
}

std::vector<double> Simulation::sensors() {
  Parts& p = *parts_;
  p.variables.resize(static_cast<std::size_t>(p.system.model().sensor_variables));
  std::vector<double> out(static_cast<std::size_t>(p.system.model().sensor_values));
  p.system.sense(p.state, *p.work, p.variables, out.data());
  return out;
}

std::vector<double> Simulation::sensor(std::string_view name) {
  const std::vector<Sensor>& list = parts_->system.model().sensors;
  const auto found = std::find_if(list.begin(), list.end(), [&](const Sensor& s) { return s.name == name; });
  if (found == list.end()) {
    std::vector<std::string> names;
    for (const Sensor& s : list) names.push_back(s.name);
    std::string hint = did_you_mean(name, names);
    if (hint.empty() && !names.empty()) hint = fmt::format("the sensors are {}", fmt::join(names, ", "));
    throw InputError("sensors", fmt::format("expected the name of a sensor, got '{}'", excerpt(name)), hint);
  }
  const std::vector<double> all = sensors();
  return {all.begin() + found->first, all.begin() + found->first + found->components};
}

std::string Simulation::save() const {
  Parts& p = *parts_;
  Archive payload;
  p.archive(payload);
  Archive head;
  std::string program(version()), settings = p.settings();
  std::uint64_t model = hash_of(p.system.model(), p.start_params);
  Hash sum;
  sum.add(payload.bytes());
  std::uint64_t check = sum.value();
  head(program, settings, model, check);
  return magic() + head.bytes() + payload.bytes();
}

void Simulation::restore(std::string_view checkpoint) {
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw InputError("checkpoint", what, hint);
  };
  const std::string magic_now = magic();
  if (checkpoint.starts_with(kAnyMagic) && !checkpoint.starts_with(magic_now)) {
    const std::string_view layout = checkpoint.substr(kAnyMagic.size()).substr(0, 8);
    refuse(fmt::format("expected the layout {}, got the layout {}", kLayout,
                       excerpt(layout.substr(0, layout.find('\n')))),
           "another version of Liedyn wrote it; start the simulation again");
  }
  if (!checkpoint.starts_with(magic_now)) refuse("expected the bytes that save() gave", "");
  Archive a(checkpoint.substr(magic_now.size()));
  std::string program, settings;
  std::uint64_t model = 0, check = 0;
  a(program, settings, model, check);
  const Parts& now = *parts_;
  if (program != version())
    refuse(fmt::format("expected one of version {}, got one of {}", version(), excerpt(program)),
           "the contents of a checkpoint differ from version to version");
  if (model != hash_of(now.system.model(), now.start_params))
    refuse("it belongs to another model, to other parameters or to another formulation",
           "start the simulation as the one that was saved");
  if (settings != now.settings())
    refuse(fmt::format("it belongs to other settings: expected {}, got {}", now.settings(), settings),
           "start the simulation as the one that was saved");
  Hash sum;
  sum.add(a.rest());
  if (sum.value() != check) refuse("it is damaged: its checksum does not match", "");
  std::unique_ptr<Parts> restored = now.fresh();
  restored->archive(a);
  restored->companion = parts_->companion;
  parts_ = std::move(restored);
}

Simulation Simulation::clone() const {
  Archive out;
  parts_->archive(out);
  std::unique_ptr<Parts> copy = parts_->fresh();
  Archive in(out.bytes());
  copy->archive(in);
  return Simulation(std::move(copy));
}

}  // namespace liedyn
