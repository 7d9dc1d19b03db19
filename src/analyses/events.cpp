#include "liedyn/analyses/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "liedyn/base/index.h"
#include "liedyn/model/compile.h"
#include "liedyn/model/is_given.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/model/sensors/events.h"
#include "liedyn/system/initial.h"

namespace liedyn {
namespace {

constexpr double kSameTime = 1e-9;  // times that differ by this part of a step are the same
// An event that happens again after this part of a step has no end. It is much longer than what look_around() sees, so that what comes to rest is not lost.
constexpr double kSoon = 1e-4;
constexpr std::size_t kLongestLog = 100000;

double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

const Entry& entry_of(const Model& model, int sensor) {
  return model.description().entries(Section::Sensors)[at(sensor)];
}

int choice(const Description& d, const Entry& entry, int field) {
  return Inputs<double>(d, entry, nullptr, nullptr).choice(field);
}

}  // namespace

bool has_events(const Model& model) {
  const auto& sensors = model.description().entries(Section::Sensors);
  return std::any_of(sensors.begin(), sensors.end(), [](const Entry& entry) { return acts(*entry.kind); });
}

void refuse_events(const Model& model, const std::string& what) {
  for (const Entry& entry : model.description().entries(Section::Sensors))
    if (acts(*entry.kind))
      throw InputError(
          model.description().file,
          fmt::format(
              "{} cannot differentiate through the event '{}': velocities or accelerations jump there", what,
              entry.name),
          "remove the events from the model");
}

void set_by_impulse(const System& system, State& state, int column, double value, const std::string& path,
                    Work& work) {
  // One correction suffices where the sensor is linear in the velocities.
  constexpr int kCorrections = 4;
  constexpr double kGood = 1e-13;
  const Model& model = system.model();
  std::vector<double> variables(at(model.sensor_variables)), shown(at(model.sensor_values));
  State moved = state;
  const auto sensed = [&] {
    system.sense(moved, work, variables, shown.data());
    return shown[at(column)];
  };
  const auto refuse = [&] {
    throw InputError(path, "this sensor does not depend on any velocity, so that it cannot be set",
                     "use a sensor of a velocity in a direction that is not constrained");
  };
  const double before = sensed();
  for (int i = 0; i < kCorrections; ++i) {
    const double now = sensed(), missing = value - now;
    if (std::abs(missing) <= kGood * std::max(std::abs(value), std::abs(before))) break;
    double largest = 0;
    for (const double v : moved.v) largest = std::max(largest, std::abs(v));
    // Linear: any step is as good.
    const double d = largest > 0 ? largest : 1;
    std::vector<double> J(moved.v.size());
    for (std::size_t k = 0; k < J.size(); ++k) {
      const double kept = moved.v[k];
      moved.v[k] = kept + d;
      const double above = sensed();
      moved.v[k] = kept - d;
      J[k] = (above - sensed()) / (2 * d);
      moved.v[k] = kept;
    }
    // [M B^T; B 0] [w; Lambda] = [J^T; 0]: the factors are those of the accelerations.
    State scratch = moved;
    const bool regular = solve_accelerations(system, scratch, work);
    double gain = 0;
    std::vector<double>& w = work.right;
    if (regular) {
      std::fill(w.begin(), w.end(), 0.0);
      std::copy(J.begin(), J.end(), w.begin());
      work.solver->solve(w.data());
      for (std::size_t k = 0; k < J.size(); ++k) gain += J[k] * w[k];
    }
    if (!(gain > 0) || !std::isfinite(gain)) refuse();
    for (std::size_t k = 0; k < J.size(); ++k) moved.v[k] += missing / gain * w[k];
  }
  // In a direction that the joints forbid w is round-off, made as large as asked for.
  constexpr double kForbidden = 1e-6;
  double change = 0, forbidden = 0;
  if (model.rows > 0 && forbidden_velocity(system, state, work)) {
    const std::vector<double> then(work.right.begin(), work.right.begin() + model.nv);
    if (!forbidden_velocity(system, moved, work)) refuse();
    for (std::size_t k = 0; k < moved.v.size(); ++k) {
      change = std::max(change, std::abs(moved.v[k] - state.v[k]));
      forbidden = std::max(forbidden, std::abs(work.right[k] - then[k]));
    }
  }
  if (forbidden > kForbidden * change) refuse();
  state.v = moved.v;
}

Events::Events(const System& system, double start, double step)
    : system_(&system), step_(step), probe_(system.empty_state()) {
  const Model& model = system.model();
  const Description& d = model.description();
  for (std::size_t s = 0; s < model.sensors.size(); ++s) {
    const Entry& entry = d.entries(Section::Sensors)[s];
    const int index = static_cast<int>(s);
    if (!acts(*entry.kind)) continue;
    std::vector<int> targets;
    for (const std::string& path : event_targets(d, entry)) targets.push_back(add_target(path));
    if (is_event(*entry.kind)) {
      // A condition counts where it begins to hold, unless another direction is asked for.
      const bool begins = model.sensors[s].is_condition && !is_given(entry, event_field::kDirection);
      const int direction = begins ? 1 : choice(d, entry, event_field::kDirection);
      crossings_.push_back({index, direction != 2, direction != 1,
                            choice(d, entry, event_field::kAction) == 1, std::move(targets)});
    } else {
      const Inputs<double> in(d, entry, system.params().values().data(), nullptr);
      samples_.push_back({index, targets.front(), start + in.number(sample_field::kFirst),
                          in.number(sample_field::kEvery), in.number(sample_field::kDelay)});
    }
  }
  variables_.resize(at(model.sensor_variables));
  shown_.resize(at(model.sensor_values));
  sign_.assign(crossings_.size(), 0);
  last_time_.assign(crossings_.size(), -std::numeric_limits<double>::infinity());
  deciding_.assign(crossings_.size(), -1);
  slope_.assign(crossings_.size(), 0);
  left_.assign(crossings_.size(), 0);
  taken_.assign(samples_.size(), 0);
}

int Events::add_target(const std::string& path) {
  const Model& model = system_->model();
  const EventTarget found = find_target(model.description(), path);
  Target out{Target::Of::Parameter, found.index, path};
  if (found.of == EventTarget::Of::StateValue) {
    out.of = Target::Of::StateValue;
    out.index = model.first_state() + found.index;
  } else if (found.of == EventTarget::Of::Velocity) {
    const Sensor& sensor = model.sensors[at(found.index)];
    if (found.component >= sensor.components)
      throw InputError("set",
                       fmt::format("'{}' has {} components, got '{}'", sensor.name, sensor.components, path));
    out.of = Target::Of::Velocity;
    out.index = sensor.first + found.component;
  } else if (found.of == EventTarget::Of::Joint) {
    out.of = Target::Of::Joint;
  }
  targets_.push_back(std::move(out));
  return static_cast<int>(targets_.size()) - 1;
}

const std::string& Events::name(int entry) const { return entry_of(system_->model(), entry).name; }

void Events::sense(const State& state, Work& work) { system_->sense(state, work, variables_, shown_.data()); }

const Sensor& Events::sensor(int crossing) const {
  return system_->model().sensors[at(crossings_[at(crossing)].entry)];
}

double Events::value(int crossing) const { return shown_[at(sensor(crossing).first)]; }

double Events::side(int crossing) const {
  const double x = value(crossing);
  return sensor(crossing).is_condition ? (x > 0 ? 1 : -1) : sign_of(x);
}

double Events::distance(int crossing, int comparison) const {
  const Sensor& of = sensor(crossing);
  if (!of.is_condition) return value(crossing);
  return comparison < 0 ? 0 : of.comparisons[at(comparison)].evaluate<double>(variables_);
}

bool Events::counts(int crossing, double from, double to) const {
  if (from == 0 || from * to > 0) return false;
  return (from < 0 ? crossings_[at(crossing)].rising : crossings_[at(crossing)].falling) &&
         !changes_nothing(crossing);
}

void Events::follow_joint(int joint, bool released) {
  if (released)
    released_.push_back(joint);
  else
    std::erase(released_, joint);
}

bool Events::changes_nothing(int crossing) const {
  const Crossing& c = crossings_[at(crossing)];
  if (c.stops) return false;
  const std::vector<Expression>& expressions = system_->model().sensors[at(c.entry)].expressions;
  bool sets_joints = false;
  for (std::size_t k = 0; k < c.targets.size(); ++k) {
    const Target& target = targets_[at(c.targets[k])];
    const double value = expressions[1 + k].evaluate<double>(variables_);
    if (target.of == Target::Of::Parameter && value == system_->params().get(target.index)) continue;
    if (target.of != Target::Of::Joint) return false;
    const bool engaged = std::find(released_.begin(), released_.end(), target.index) == released_.end();
    if (value != (engaged ? 1.0 : 0.0)) return false;
    sets_joints = true;
  }
  return sets_joints;
}

std::string Events::not_a_number(int crossing, double t) const {
  const Description& d = system_->model().description();
  const Entry& entry = entry_of(system_->model(), crossings_[at(crossing)].entry);
  return fmt::format(
      "t = {:.9g}: the expression of the event '{}' is not a number: {}; expected one that is defined during "
      "the "
      "whole run, "
      "such as sqrt(max(x, 0)) instead of sqrt(x)",
      t, entry.name, word(d, entry, event_field::kWhen));
}

double Events::value_at(int crossing, const State& state, Work& work) {
  sense(state, work);
  return value(crossing);
}

const State& Events::soon(const State& state, double dt) {
  probe_ = state;
  probe_.t += dt;
  std::vector<double> theta(state.v.size());
  for (std::size_t i = 0; i < theta.size(); ++i) {
    theta[i] = dt * (state.v[i] + 0.5 * dt * state.vdot[i]);
    probe_.v[i] += dt * state.vdot[i];
  }
  for (const Node& node : system_->model().nodes)
    increment_position(node.type, theta.data() + node.v, probe_.q.data() + node.q);
  return probe_;
}

double Events::side_after(int crossing, const State& state, Work& work) {
  constexpr double kLittle = 1e-8, kMuch = 1e-3;  // of the step
  constexpr double kClear = 10;
  constexpr double kMoved = 1e-3;  // of what the difference changes by in a step
  const int comparison = deciding_[at(crossing)];
  const double slope = slope_[at(crossing)];
  sense(state, work);
  const double left = distance(crossing, comparison), here = side(crossing);
  // A condition that jumps, or was made to hold.
  if (comparison < 0 || slope == 0) {
    sense(soon(state, kLittle * step_), work);
    return side(crossing);
  }
  // What was set has moved it away.
  if (std::abs(left - left_[at(crossing)]) > kMoved * std::abs(slope) * step_) return here;
  // The sides are equal but for round-off: later enough their difference is more than that.
  for (double dt = kLittle; dt <= kMuch; dt *= 10) {
    sense(soon(state, dt * step_), work);
    const double change = std::abs(distance(crossing, comparison) - left);
    if (change > 0 && change > kClear * std::abs(left)) return side(crossing);
  }
  return -sign_[at(crossing)];
}

void Events::look_around(const State& state, Work& work) {
  // On which side an expression is that is zero here, or was zero at an event, shows a little later.
  constexpr double kLittle = 1e-8;
  found_from_ = std::numeric_limits<double>::quiet_NaN();
  found_.clear();
  const std::vector<int> happened = std::exchange(happened_, {});
  std::vector<int> unclear;
  sense(state, work);
  for (int i = 0; i < static_cast<int>(crossings_.size()); ++i) {
    if (std::isnan(value(i)))
      throw InputError("events." + name(crossings_[at(i)].entry), not_a_number(i, state.t));
    const Sensor& of = sensor(i);
    const double before = sign_[at(i)], now = side(i);
    // What is zero but for round-off since it happened, here or just before.
    const bool just_happened = !of.is_condition && state.t - last_time_[at(i)] <= kSameTime * step_;
    if (just_happened || std::find(happened.begin(), happened.end(), i) != happened.end()) {
      unclear.push_back(i);
      continue;
    }
    // What a change makes hold another one may end, before anything has happened.
    if (of.is_condition && before != 0 && now != before && std::erase(begun_, i) == 0 &&
        counts(i, before, now))
      begun_.push_back(i);
    // What is equal at the start has not begun there.
    bool equal = now == 0;
    for (int k = 0; before == 0 && k < static_cast<int>(of.comparisons.size()); ++k)
      equal = equal || distance(i, k) == 0;
    sign_[at(i)] = now;
    if (equal) unclear.push_back(i);
  }
  for (const int i : unclear) {
    const bool has_happened = std::find(happened.begin(), happened.end(), i) != happened.end();
    if (has_happened && sensor(i).is_condition) {
      sign_[at(i)] = side_after(i, state, work);
    } else {
      sense(soon(state, kLittle * step_), work);
      sign_[at(i)] = side(i);
    }
  }
}

// The end of the bracket in which the condition changes, and the comparison that does: of several the one that jumps least, as it makes the others jump.
double Events::located_condition(int crossing, const State& from, const State& to,
                                 const StateBetween& between, Work& work) {
  constexpr double kClose = 1e-13;  // of the step
  double a = from.t, b = to.t;
  const auto sense_at = [&](double t) { sense(t <= from.t ? from : t >= to.t ? to : between(t), work); };
  while (b - a > kClose * (to.t - from.t)) {
    const double t = 0.5 * (a + b);
    if (t == a || t == b) break;
    sense_at(t);
    (side(crossing) == sign_[at(crossing)] ? a : b) = t;
  }
  const int count = static_cast<int>(sensor(crossing).comparisons.size());
  const auto distances_at = [&](double t) {
    sense_at(t);
    std::vector<double> out;
    for (int k = 0; k < count; ++k) out.push_back(distance(crossing, k));
    return out;
  };
  const std::vector<double> before = distances_at(a), after = distances_at(b);
  int& deciding = deciding_[at(crossing)];
  deciding = -1;
  double least = std::numeric_limits<double>::infinity();
  for (int k = 0; k < count; ++k) {
    const double change = std::abs(after[at(k)] - before[at(k)]);
    if (sign_of(before[at(k)]) == sign_of(after[at(k)]) || !(change < least)) continue;
    least = change;
    deciding = k;
  }
  return b;
}

// The zero of the interpolated expression, by the Illinois variant of regula falsi.
double Events::located(int crossing, const State& from, const State& to, const StateBetween& between,
                       Work& work) {
  if (sensor(crossing).is_condition) return located_condition(crossing, from, to, between, work);
  constexpr int kMostHalvings = 50, kMostIterations = 100;
  constexpr double kClose = 1e-13;  // of the step
  const double sign = sign_[at(crossing)];
  double a = from.t, b = to.t, f_a = value_at(crossing, from, work), f_b = value_at(crossing, to, work);
  // After an event it begins at zero: a point where it has left zero, and not come back yet.
  for (int i = 0; f_a * sign <= 0; ++i) {
    if (i == kMostHalvings) return from.t;
    const double middle = from.t + 0.5 * (b - from.t), f = value_at(crossing, between(middle), work);
    if (f * sign > 0)
      a = middle, f_a = f;
    else
      b = middle, f_b = f;
  }
  for (int i = 0, side = 0; i < kMostIterations && b - a > kClose * (to.t - from.t) && f_b != 0; ++i) {
    double t = (f_a * b - f_b * a) / (f_a - f_b);
    if (!(t > a && t < b) || i % 8 == 7) t = 0.5 * (a + b);
    if (t == a || t == b) break;
    const double f = value_at(crossing, between(t), work);
    if (f * sign > 0) {
      a = t, f_a = f;
      if (side == 1) f_b /= 2;
      side = 1;
    } else {
      b = t, f_b = f;
      if (side == -1) f_a /= 2;
      side = -1;
    }
  }
  return b;
}

StepEnd Events::look(const State& from, const State& to, const StateBetween& between, Work& work) {
  // The interpolation has shown where: what is left of the expression at the end of the step that was taken there corrects the time.
  constexpr int kMostCorrections = 6;
  constexpr double kGood = 1e-11, kBeside = 1e-3;
  if (from.t == found_from_ && to.t == wanted_) {
    const int first = found_.front();
    const double slope = slope_[at(first)];
    sense(to, work);
    const double correction = slope == 0 ? 0 : -distance(first, deciding_[at(first)]) / slope;
    if (++corrections_ > kMostCorrections || !(std::abs(correction) > kGood * span_)) return {to.t, true};
    wanted_ = std::clamp(to.t + correction, from.t, from.t + span_);
    return {wanted_ - from.t <= kSameTime * step_ ? from.t : wanted_, true};
  }
  sense(to, work);
  std::vector<int> crossed;
  for (int i = 0; i < static_cast<int>(crossings_.size()); ++i) {
    if (std::isnan(value(i))) {  // the step is not taken, and happen() says why
      failure_ = not_a_number(i, to.t);
      return {from.t, true};
    }
    if (counts(i, sign_[at(i)], side(i))) crossed.push_back(i);
  }
  const auto follow = [&] {
    sense(to, work);
    for (int i = 0; i < static_cast<int>(crossings_.size()); ++i)
      if (const double now = side(i); now != 0) sign_[at(i)] = now;
  };
  if (crossed.empty()) {
    found_.clear();  // by an attempt that was not good
    follow();
    return {to.t, false};
  }
  std::vector<double> times;
  for (const int i : crossed) times.push_back(located(i, from, to, between, work));
  const double first = *std::min_element(times.begin(), times.end());
  span_ = to.t - from.t;
  found_.clear();
  for (std::size_t k = 0; k < crossed.size(); ++k)
    if (times[k] <= first + kSameTime * span_) found_.push_back(crossed[k]);
  found_from_ = from.t;
  corrections_ = 0;
  const double before = std::max(from.t, first - kBeside * span_),
               after = std::min(to.t, first + kBeside * span_);
  const auto state_at = [&](double t) -> const State& {
    return t <= from.t ? from : t >= to.t ? to : between(t);
  };
  for (const int i : found_) {
    const auto shown_at = [&](double t) {
      sense(state_at(t), work);
      return distance(i, deciding_[at(i)]);
    };
    const double shown_before = shown_at(before), change = shown_at(after) - shown_before;
    // A jump has its time, but no slope that says how far it is. What is smaller may be round-off.
    constexpr double kJump = 0.1;
    const double just_before = shown_at(std::max(before, first - 1e-9 * span_)),
                 jump = shown_at(first) - just_before;
    slope_[at(i)] = std::abs(jump) > kJump * std::abs(change) ? 0 : change / (after - before);
  }
  if (first - from.t <= kSameTime * step_) return {from.t, true};
  wanted_ = to.t - first <= kGood * span_ ? to.t : first;
  return {wanted_, true};
}

void Events::add_changes(int entry, const std::vector<int>& targets, std::size_t first,
                         std::vector<Change>& out) {
  const Sensor& sensor = system_->model().sensors[at(entry)];
  for (std::size_t k = 0; k < targets.size(); ++k)
    out.push_back({targets[k], sensor.expressions[first + k].evaluate<double>(variables_), entry});
}

Events::Occurrence Events::happen(const State& state, Work& work) {
  Occurrence out;
  out.failure = std::exchange(failure_, {});
  if (!out.failure.empty()) return out;
  happened_ = std::exchange(found_, {});
  // The end of the step was corrected to the zero of one of them: what is zero at nearly the same time may have passed it by now. Conditions begin to hold when
  // look_around() sees it.
  sense(state, work);
  for (int i = 0; i < static_cast<int>(crossings_.size()); ++i)
    if (!sensor(i).is_condition && std::find(happened_.begin(), happened_.end(), i) == happened_.end() &&
        state.t - last_time_[at(i)] > kSoon * step_ && counts(i, sign_[at(i)], side(i))) {
      deciding_[at(i)] = -1;
      happened_.push_back(i);
    }
  for (const int i : happened_) {
    const double pause = state.t - last_time_[at(i)];
    if (pause <= kSoon * step_ && !crossings_[at(i)].stops)
      out.failure = fmt::format(
          "t = {:.9g}: the event '{}' occurs again after {:.3g} s, and would be repeated without end; stop "
          "the run by another event, or let the model come to rest there",
          state.t, name(crossings_[at(i)].entry), pause);
  }
  add_happened(state, work, out);
  return out;
}

Events::Occurrence Events::begin(const State& state, Work& work) {
  Occurrence out;
  happened_ = std::exchange(begun_, {});
  for (const int i : happened_) deciding_[at(i)] = -1;
  add_happened(state, work, out);
  return out;
}

void Events::add_happened(const State& state, Work& work, Occurrence& out) {
  sense(state, work);
  for (const int i : happened_) {
    const Crossing& crossing = crossings_[at(i)];
    if (std::isnan(value(i))) out.failure = not_a_number(i, state.t);
    left_[at(i)] = distance(i, deciding_[at(i)]);
    last_time_[at(i)] = state.t;
    out.entries.push_back(crossing.entry);
    out.stops = out.stops || crossing.stops;
    add_changes(crossing.entry, crossing.targets, 1, out.changes);
    if (log_.size() < kLongestLog) log_.push_back({state.t, crossing.entry});
  }
  found_from_ = std::numeric_limits<double>::quiet_NaN();
}

double Events::sample_time(std::size_t i) const {
  return samples_[i].begin + static_cast<double>(taken_[i]) * samples_[i].every;
}

double Events::next_due() const {
  double out = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < samples_.size(); ++i) out = std::min(out, sample_time(i));
  for (const Pending& pending : pending_) out = std::min(out, pending.t);
  return out;
}

std::vector<Events::Change> Events::due(const State& state, Work& work) {
  const double now = state.t + kSameTime * step_;
  std::vector<Change> out;
  if (next_due() > now) return out;
  sense(state, work);
  for (std::size_t i = 0; i < samples_.size(); ++i)
    while (sample_time(i) <= now) {
      const Sample& sample = samples_[i];
      const double value =
          system_->model().sensors[at(sample.entry)].expressions.front().evaluate<double>(variables_);
      pending_.push_back({sample_time(i) + sample.delay, value, static_cast<int>(i)});
      ++taken_[i];
    }
  for (const Pending& pending : pending_)
    if (pending.t <= now)
      out.push_back({samples_[at(pending.sample)].target, pending.value, samples_[at(pending.sample)].entry});
  std::erase_if(pending_, [&](const Pending& pending) { return pending.t <= now; });
  return out;
}

void Events::archive(Archive& a) {
  a(sign_, last_time_, released_, deciding_, begun_, found_from_, found_, slope_, span_, corrections_, taken_,
    pending_, log_);
}

}  // namespace liedyn
