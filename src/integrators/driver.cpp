#include "liedyn/integrators/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "liedyn/base/allocation_counter.h"
#include "liedyn/base/suggest.h"
#include "liedyn/model/nodes/parameter_stage.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {
namespace {

constexpr double kPartOfPulse = 0.2;  // the longest equal step that is recommended for a pulse of a load
constexpr double kMostOfRun = 0.1;    // the longest adaptive step, unless max_step says another

// "; 'forces.push.force[1]' is nan at t = 0.5": functions of time that are not finite somewhere in the step, which the equations of their
// bodies would be blamed for.
std::string numbers_not_finite(const System& system, double t, double h) {
  const Params& params = system.params();
  std::vector<double> variables(params.values().begin(), params.values().begin() + params.parameter_count());
  variables.push_back(t);
  for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    variables.back() = t + part * h;
    for (const Params::Bound& timed : params.timed())
      if (const double value = timed.expression.evaluate<double>(variables); !std::isfinite(value))
        return fmt::format("; '{}' is {} at t = {:.6g}", params.path(timed.number), number_text(value),
                           variables.back());
  }
  return {};
}

// "; 'forces.motor' is not finite at t = 0.5": what the step from the state may have met.
std::string entry_not_finite(const System& system, const State& state, double h, Work& work) {
  State probe = state;
  std::vector<double> theta(state.v.size());
  for (const double part : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    probe.t = state.t + part * h;
    probe.q = state.q;
    for (std::size_t i = 0; i < theta.size(); ++i) {
      theta[i] = part * h * state.v[i];
      probe.v[i] = state.v[i] + part * h * state.vdot[i];
    }
    for (const Node& node : system.model().nodes)
      increment_position(node.type, theta.data() + node.v, probe.q.data() + node.q);
    if (const auto culprits = system.not_finite(probe, work); !culprits.empty())
      return fmt::format("; the contribution of '{}' is infinite or NaN at t = {:.6g}", culprits.front().path,
                         probe.t);
  }
  return {};
}

}  // namespace

Driver::Driver(Integrator& integrator, const System& system, DriveOptions options, State& state, Work& work)
    : integrator_(integrator),
      system_(system),
      options_(std::move(options)),
      state_(state),
      work_(work),
      begin_(state.t) {
  const bool adaptive = integrator_.control().adaptive;
  double h = options_.step;
  if (!adaptive && !options_.open)
    h = (options_.end - begin_) / static_cast<double>(step_count(begin_, options_.end, options_.step));
  grid_ = {begin_, h, 0};
}

void Driver::prepare() {
  next_ = state_;
  work_sums_.emplace(system_);
  if (!work_sums_->empty()) work_point_ = state_;
  if (options_.output || options_.look) between_ = state_;
  watch_.emplace(system_, state_, work_, released_);
  guard_.emplace(system_, state_, work_);
  contacts_.emplace(system_, state_, work_, !integrator_.control().adaptive);
  const std::vector<Node>& nodes = system_.model().nodes;
  has_angles_ =
      std::any_of(nodes.begin(), nodes.end(), [](const Node& n) { return has_cardan_angles(n.type); });
}

void Driver::start(double h) {
  started_ = true;
  integrator_.start(state_, h, work_);
  report_.allocations = allocation_count() < 0 ? -1 : 0;
  prepare();
}

void Driver::fail(double h, const Attempt& attempt) {
  report_.completed = false;
  std::string cause;
  if (attempt.corrector.failure == CorrectorFailure::NotFinite) {
    cause = numbers_not_finite(system_, state_.t, h);
    if (cause.empty()) cause = entry_not_finite(system_, state_, h, work_);
  } else {
    cause = watch_->singularity_near(state_, h);
  }
  report_.failure =
      fmt::format("t = {:.9g}, step {:.3g}: {}{}", state_.t, h, integrator_.failure(attempt, system_), cause);
}

void Driver::fail(const RangeWatch::Violation& violation) {
  report_.completed = false;
  report_.failure = fmt::format(
      "t = {:.9g}: the model is undefined from t = {:.9g} on, where {}; end the run before, or change the "
      "function of time",
      state_.t, violation.t, violation.what);
}

// Adds the time and the allocations of its life to the report.
class Driver::Meter {
 public:
  explicit Meter(DriveReport& report) : report_(report) {}
  ~Meter() {
    report_.seconds += std::chrono::duration<double>(Clock::now() - before_).count();
    if (allocations_ >= 0) report_.allocations += allocation_count() - allocations_;
  }
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  DriveReport& report_;
  long allocations_ = allocation_count();
  Clock::time_point before_ = Clock::now();
};

// Beside an event, where a run ends, or as the caller wants it once; who takes many such steps has the method.
bool Driver::is_short(double h) const {
  constexpr double kShort = 1e-3;
  return integrator_.divides_by_step() &&
         h < kShort * (integrator_.control().adaptive ? step_ : std::max(grid_.step, last_step_));
}

// By Taylor's expansion, with an error of third order in a length that is at most a thousandth of a step. What a method would make of it are errors of round-off, divided by this
// length or its square.
//
//   v = v_n + h (vdot_n + vdot)/2,   q = q_n exp(h v_n + h^2 (2 vdot_n + vdot)/6)
bool Driver::take_short_step(double h) {
  Work plain(system_);
  std::vector<double> theta;
  if (!shifted_state(system_, state_, h, next_, theta, plain)) return false;
  for (std::size_t i = 0; i < theta.size(); ++i) {
    theta[i] = h * state_.v[i] + h * h / 6 * (2 * state_.vdot[i] + next_.vdot[i]);
    next_.v[i] = state_.v[i] + h / 2 * (state_.vdot[i] + next_.vdot[i]);
  }
  next_.q = state_.q;
  for (const Node& node : system_.model().nodes)
    increment_position(node.type, theta.data() + node.v, next_.q.data() + node.q);
  return solve_accelerations(system_, next_, plain);
}

Attempt Driver::attempt(double h, bool careful) {
  if (is_short(h) && take_short_step(h)) return {};
  const Meter meter(report_);
  next_.angles = state_.angles;
  return attempt_step(integrator_, system_, state_, h, next_, work_, work_, careful,
                      [&](const Attempt& tried) {
                        report_.newton_iterations += tried.corrector.iterations;
                        report_.jacobian_updates += tried.corrector.jacobians;
                      });
}

Attempt Driver::attempt_until(double& end, double h, bool careful, bool may_throw) {
  // What looks at the steps converges like Newton's method; it must not go on for ever.
  constexpr int kMostTries = 12;
  stopped_ = false;
  Attempt out = attempt(h, careful);
  // What looks at a step remembers what it has seen: not at one that is not taken.
  thrown_ = may_throw && out.converged() && out.error <= 1 && !contacts_->empty() &&
            contacts_->throws_apart(state_, next_, h, work_);
  if (!options_.look || thrown_) return out;
  if (!work_sums_->empty()) begin_angles_ = state_.angles;
  const StateBetween between = [this](double t) -> const State& {
    interpolate(state_, next_, t, between_);
    add_work(state_, next_, t, between_.angles);
    return between_;
  };
  for (int i = 0; i < kMostTries && out.converged() && out.error <= 1; ++i) {
    next_.t = end;
    system_.follow_angles(next_, work_);
    add_work(state_, next_, end, next_.angles);
    const StepEnd wanted = options_.look(state_, next_, between);
    stopped_ = wanted.stop;
    if (wanted.t == end || wanted.t <= state_.t) {
      end = wanted.t;
      break;
    }
    end = wanted.t;
    out = attempt(end - state_.t, true);
  }
  return out;
}

// The rates of Cardan angles are those of the body divided by cos(beta): where that is small and a step turns them far, the angles no longer follow.
void Driver::watch_angles(double h) {
  constexpr double kNear = 0.4, kFar = 0.5;  // rad
  const std::vector<Node>& nodes = system_.model().nodes;
  for (const Node& node : nodes) {
    if (!has_cardan_angles(node.type)) continue;
    const double cosine = regularity(node, state_.y.data());
    if (cosine > kNear) continue;
    const double* omega = state_.v.data() + node.v + rotation_start(node.type);
    const double turn =
        h * std::sqrt(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]) / cosine;
    if (!(turn > kFar)) continue;
    has_angles_ = false;  // said once
    report_.warnings.push_back(
        fmt::format("t = {:.6g}: the Cardan angles of '{}' pass gimbal lock (|cos phi_2| = {:.2g}) and "
                    "change by up to {:.2g} rad in a step of {:.3g} s: the result is unreliable from here "
                    "on. Use another formulation, r3so3 for example, or smaller steps",
                    state_.t, system_.model().body_of(node.v).name, cosine, turn, h));
    return;
  }
}

bool Driver::watch(double h, const Attempt& attempt) {
  const long allocations = report_.allocations;
  std::optional<Meter> meter(std::in_place, report_);
  const bool consistent = watch_->after_step(state_, h, attempt.corrector.has_factors ? &work_ : nullptr);
  if (constraint_warnings_ != watch_->warnings().size()) {
    report_.warnings.insert(report_.warnings.end(),
                            watch_->warnings().begin() + static_cast<std::ptrdiff_t>(constraint_warnings_),
                            watch_->warnings().end());
    constraint_warnings_ = watch_->warnings().size();
  }
  next_.redundant = state_.redundant;
  if (!consistent) {
    report_.failure = watch_->failure();
    return false;
  }
  if (!contacts_->empty()) contacts_->after_step(state_, h, work_);
  const std::string wrong = guard_->after_step(state_, !options_.open && state_.t >= options_.end, work_);
  meter.reset();
  if (std::string warning = guard_->take_warning(); !warning.empty()) {
    report_.warnings.push_back(std::move(warning));
    report_.allocations = allocations;  // its text is no part of the loop
  }
  if (!wrong.empty()) report_.failure = fmt::format("t = {:.9g}, step {:.3g}: {}", state_.t, h, wrong);
  return wrong.empty();
}

bool Driver::accept(double t, double h, const Attempt& attempt, const Observer& observer) {
  next_.t = t;
  system_.follow_angles(next_, work_);
  const bool was_short = is_short(next_.t - state_.t);
  last_step_ = next_.t - state_.t;
  std::swap(state_, next_);
  if (was_short && !integrator_.follow_short_step(next_.vdot, state_, work_)) {
    // Velocities have errors of the steps before, with which no method starts.
    Work plain(system_);
    project_velocities(system_, state_, nullptr, plain);
    solve_accelerations(system_, state_, plain);
    restarts_ = true;
  }
  ++report_.steps;
  if (has_angles_) watch_angles(h);
  if (!watch(h, attempt)) {
    // The result ends with the last state that was not found wrong.
    std::swap(state_, next_);
    --report_.steps;
    report_.completed = false;
    return false;
  }
  // What sensors show belongs to the output: it is not counted among the steps.
  if (!work_sums_->empty()) {
    begin_angles_ = next_.angles;
    add_work(next_, state_, state_.t, state_.angles);
  }
  const bool go_on = !observer || observer(state_, report_.steps);
  if (options_.output) give_output();
  if (!go_on) interrupt();
  return go_on;
}

void Driver::interrupt() {
  report_.completed = false;
  report_.interrupted = true;
  report_.failure = fmt::format("t = {:.9g}: interrupted", state_.t);
}

void Driver::interpolate(const State& from, const State& to, double t, State& out) {
  out.angles = to.angles;
  out.redundant = to.redundant;
  integrator_.interpolate(system_, from, to, (t - from.t) / (to.t - from.t), out, work_);
  out.t = t;
}

void Driver::add_work(const State& from, const State& to, double t, std::vector<double>& angles) {
  if (work_sums_->empty()) return;
  work_sums_->set(
      begin_angles_, from.t, t,
      [&](double now) -> const State& {
        interpolate(from, to, now, work_point_);
        watch_->shorten(work_point_);
        return work_point_;
      },
      work_, angles);
}

void Driver::give_output() {
  // Steps may be longer than half a turn: sensors go on from output to output, beginning with the last state, next_.
  // A time that is met up to round-off is not worth an interpolation.
  const double slack = 1e-9 * std::min(options_.spacing, state_.t - next_.t);
  // A run that goes on from a checkpoint may have another spacing than the one before.
  const double given = std::floor((next_.t + slack - begin_) / options_.spacing);
  if (static_cast<double>(outputs_) < given || static_cast<double>(outputs_) > given + 1)
    outputs_ = static_cast<long>(given);
  for (;;) {
    const double t = begin_ + static_cast<double>(outputs_ + 1) * options_.spacing;
    if (t > state_.t + slack) break;
    ++outputs_;
    before_collapse_.reset();  // what was shown is not undone
    if (t >= state_.t - slack) {
      system_.continue_sensors(next_.angles, state_, work_);
      options_.output(state_);
      return;
    }
    interpolate(next_, state_, t, between_);
    watch_->shorten(between_);
    system_.continue_sensors(next_.angles, between_, work_);
    add_work(next_, state_, t, between_.angles);
    options_.output(between_);
  }
  system_.continue_sensors(next_.angles, state_, work_);
}

// Equal steps on the grid. Round-off of the times must not look like a part of a step.
long Driver::plan(double t) {
  const double slack = 1e-9 * grid_.step + 8 * std::numeric_limits<double>::epsilon() * std::abs(t);
  const long on_grid = std::lround(std::min((t - grid_.begin) / grid_.step, 1e15)) - grid_.taken;
  if (on_grid > 0 && std::abs(grid_.at(grid_.taken + on_grid) - t) <= slack &&
      (grid_.taken == 0 ||
       on_grid <= step_count(0, static_cast<double>(on_grid) * grid_.step, options_.step)))
    return on_grid;
  const double span = t - state_.t;
  const long count = step_count(0, std::max(span - slack, 0.5 * span), options_.step);
  grid_ = {state_.t, span / static_cast<double>(count), 0};
  off_grid_ = false;
  return count;
}

// After an event between two times of the grid the next of equal steps leads back to it.
double Driver::next_step() const {
  if (integrator_.control().adaptive) return started_ ? step_ : options_.step;
  return off_grid_ ? next_grid_time() - state_.t : grid_.step;
}

void Driver::restart_method(double h) {
  if (!restarts_ || is_short(h)) return;
  restarts_ = false;
  integrator_.start(state_, h, work_);
  next_ = state_;
}

bool Driver::equal_steps(double t, const Observer& observer) {
  const long count = plan(t), last = grid_.taken + count;
  const double h = grid_.step;
  if (!started_) {
    report_.step = report_.least_step = report_.largest_step = h;
    if (const auto passed = StepLimit(system_, begin_, options_.end).passed_over(begin_, h)) {
      constexpr double kPole = 1e-6;  // of a step
      report_.warnings.push_back(
          passed->width > kPole * h
              ? fmt::format(
                    "steps of {:.3g} s do not resolve the function of time '{}': it has a pulse of {:.2g} s, "
                    "at t = {:.6g} for example. Use steps of at most {:.2g} s, or adaptive=true",
                    h, passed->function, passed->width, passed->t, kPartOfPulse * passed->width)
              : fmt::format("the function of time '{}' has a spike at t = {:.6g} that no step resolves, as "
                            "by a division by zero",
                            passed->function, passed->t));
    }
    start(h);
  }
  report_.least_step = std::min(report_.least_step, h);
  report_.largest_step = std::max(report_.largest_step, h);
  const bool to_end = !options_.open && t == options_.end;
  if (!ranges_) ranges_.emplace(system_);
  while (grid_.taken < last) {
    const double now = next_step();
    if (const auto violation = ranges_->at(state_.t + now)) {
      fail(ranges_->between(state_.t, state_.t + now).value_or(*violation));
      return false;
    }
    restart_method(now);
    // Times are multiples of h, not sums of it.
    const double grid_end = to_end && grid_.taken + 1 == last ? t : grid_.at(grid_.taken + 1);
    double end = grid_end;
    const Attempt done = attempt_until(end, now, true, false);
    if (!done.converged()) {
      fail(end == grid_end ? now : end - state_.t, done);
      return false;
    }
    if (end <= state_.t) return true;  // something happens here and now
    const bool whole = end >= grid_end;
    if (whole) ++grid_.taken;
    const bool was_off_grid = off_grid_;
    off_grid_ = !whole;
    if (!accept(end, whole && !was_off_grid ? h : end - state_.t, done, observer)) {
      if (!report_.interrupted) {
        off_grid_ = was_off_grid;
        if (whole) --grid_.taken;
      }
      return false;
    }
    if (stopped_) return true;
  }
  return true;
}

void Driver::look_ahead() {
  window_begin_ = state_.t;
  window_end_ = options_.open ? window_begin_ + (options_.end - begin_) : options_.end;
  limit_.emplace(system_, window_begin_, window_end_);
  ranges_.emplace(system_);
  range_end_ = ranges_->between(window_begin_, window_end_);
}

// Close before the end of a range the motion may become ever faster, and the steps ever shorter: the last hundredth of the time is not worth more than ten times as
// many steps as all before.
bool Driver::ends_before(const RangeWatch::Violation& violation, double h) const {
  constexpr double kClose = 1e-2, kShort = 1e-3;
  const double left = violation.t - state_.t, all = violation.t - begin_;
  return h >= left ||
         (left < kClose * all && h < kShort * (state_.t - begin_) / static_cast<double>(report_.steps));
}

bool Driver::adaptive_steps(double t, const Observer& observer) {
  if (!started_) {
    const double longest = integrator_.control().max_step;
    step_ = std::min(options_.step, longest > 0 ? longest : kMostOfRun * (options_.end - begin_));
    look_ahead();
    start(step_);
  }
  for (;;) {
    if (!limit_ || state_.t >= window_end_) look_ahead();
    const double stop = std::min(t, window_end_);
    if (!adaptive_steps_to(stop, observer)) return false;
    if (stop == t || stopped_ || steps_left_ == 0) return true;
  }
}

// Velocities of index 3 have errors of round-off divided by h, and multipliers by h^2. On the way to a step that is too small there are accepted ones whose
// velocities are nothing else; the last good state is the one before them.
void Driver::remember_collapse(double h) {
  constexpr double kCollapsed = 1e-4, kRecovered = 1e-2;  // of the mean step
  const double mean = report_.steps > 0 ? (state_.t - begin_) / static_cast<double>(report_.steps) : 0;
  if (h > kRecovered * mean)
    before_collapse_.reset();
  else if (h < kCollapsed * mean && !before_collapse_)
    before_collapse_ = state_;
}

void Driver::leave_collapse() {
  if (!before_collapse_) return;
  state_ = *before_collapse_;
  before_collapse_.reset();
  State consistent = state_;  // multipliers suffer first
  Work plain(system_);
  if (solve_accelerations(system_, consistent, plain)) state_ = std::move(consistent);
  watch_->shorten(state_);
  restart();
}

bool Driver::adaptive_steps_to(double end, const Observer& observer) {
  // An error of h^order: the step that would just meet the tolerance, with a margin, and within limits to
  // how fast it may change. Small changes are not worth the work that they cost.
  constexpr double kMargin = 0.9, kHalfMargin = 0.95, kLeastFactor = 0.2, kMostFactor = 2, kWorthwhile = 1.1,
                   kAfterFailure = 0.25;
  constexpr double kSlack = 1e-6;
  constexpr int kLeastPieces = 8, kMostThrows = 10;
  const StepControl control = integrator_.control();
  const double span = options_.end - begin_;
  const double exponent = -1.0 / control.order;
  const double longest = control.max_step > 0 ? control.max_step : kMostOfRun * span;
  double& h = step_;
  if (end != way_end_) {
    way_begin_ = state_.t;
    way_end_ = end;
  }
  bool completed = true;
  int throws = 0;  // in a row
  while (state_.t < end) {
    // The end of the way to a time that must be met is divided evenly, and steps do not grow there: one that is cut short would leave errors of the
    // steps before it, divided by its own length, in accelerations and multipliers. Half of the margin is given for one step less. On a way of few
    // steps they may grow all the same: at most half of the way is taken evenly.
    const double left = end - state_.t, ahead = std::min(2 * h, left);
    const double half_way = (end - way_begin_) / (2 * h);
    const double pieces =
        std::max<double>(kLeastPieces, std::min<double>(control.remembered_steps, half_way));
    double stop = limit_->longest(state_.t, ahead);
    if (stop == ahead) stop = left <= pieces * h ? left : 0;
    const double reach = control.remembered_steps > 0 ? std::min(h / kHalfMargin, longest) : h;
    const double planned = stop > 0 ? stop / std::max(1.0, std::ceil(stop / reach - kSlack)) : h,
                 now = contacts_->longest(planned);
    const bool last = now >= (1 - 1e-9) * left;
    if (range_end_ && range_end_->t <= end && ends_before(*range_end_, now)) {
      fail(*range_end_);
      completed = false;
      break;
    }
    // Time has no smaller steps.
    const double smallest =
        std::max(16 * std::numeric_limits<double>::epsilon() * std::abs(state_.t), 1e-18 * span);
    remember_collapse(now);
    restart_method(now);
    double step_end = last ? end : state_.t + now;
    const double whole_end = step_end;
    const Attempt done =
        attempt_until(step_end, now, now <= smallest, now > smallest && throws < kMostThrows);
    if (stopped_ && step_end <= state_.t) break;  // something happens here and now
    const bool good = done.converged() && done.error <= 1 && !thrown_;
    throws = thrown_ ? throws + 1 : 0;
    double factor = kAfterFailure;
    if (done.converged() && !thrown_)
      factor = done.error == 0 ? kMostFactor
               : done.error > 0
                   ? std::clamp(kMargin * std::pow(done.error, exponent), kLeastFactor, kMostFactor)
                   : kLeastFactor;  // not a number
    if (!good) {
      ++report_.rejected;
      rejected_ = true;
      if (now <= smallest) {
        fail(now, done);
        if (done.converged())
          report_.failure = fmt::format(
              "t = {:.9g}: the step fell below {:.3g} and its error is still {:.3g} times the tolerance",
              state_.t, smallest, done.error);
        leave_collapse();
        completed = false;
        break;
      }
      h = std::max(smallest, now * std::min(factor, 0.9));
      continue;
    }
    // A step that ends at an event says nothing about the next one.
    if (step_end != whole_end) {
      completed = accept(step_end, step_end - state_.t, done, observer);
      rejected_ = false;
      break;
    }
    report_.least_step = report_.least_step == 0 ? now : std::min(report_.least_step, now);
    report_.largest_step = std::max(report_.largest_step, now);
    completed = accept(step_end, now, done, observer);
    if (!completed && !report_.interrupted) break;
    // What has just been refused is not tried again at once.
    const bool keeps = stop == left && control.remembered_steps > 0 && half_way > kLeastPieces;
    if (rejected_ || keeps) factor = std::min(factor, 1.0);
    rejected_ = false;
    // A step that was cut to end at a touch says little about the next one.
    const double proposed = factor < 1 || factor > kWorthwhile ? now * factor : now;
    h = std::min(longest, now < planned || is_short(now) ? std::max(h, proposed) : proposed);
    if (!completed || stopped_ || (steps_left_ > 0 && --steps_left_ == 0)) break;
  }
  report_.step = report_.steps > 0 ? (state_.t - begin_) / static_cast<double>(report_.steps) : h;
  return completed;
}

void Driver::clear_failure() {
  report_.completed = true;
  report_.interrupted = false;
  report_.failure.clear();
  stopped_ = false;
}

bool Driver::take_steps(long count, double limit, const Observer& observer) {
  clear_failure();
  bool reached = false;
  if (integrator_.control().adaptive) {
    steps_left_ = count;
    reached = adaptive_steps(options_.open ? limit : std::min(limit, options_.end), observer);
    steps_left_ = -1;
  } else {
    const double t = grid_.at(grid_.taken + count);
    const bool last = !options_.open && t >= options_.end - 1e-9 * grid_.step;
    reached = equal_steps(last ? options_.end : t, observer);
  }
  report_.contact_warnings = contacts_->warnings();
  return reached;
}

bool Driver::advance_to(double t, const Observer& observer) {
  clear_failure();
  if (!(t > state_.t)) return true;
  const bool reached =
      integrator_.control().adaptive ? adaptive_steps(t, observer) : equal_steps(t, observer);
  report_.contact_warnings = contacts_->warnings();
  return reached;
}

void Driver::follow_jump(const std::vector<double>& vdot_before) {
  before_collapse_.reset();
  limit_.reset();  // functions of time may have changed as well
  ranges_.reset();
  if (!started_) return;
  integrator_.follow_jump(vdot_before, state_, work_);
  guard_->expect_other_energy();
}

void Driver::restart() {
  before_collapse_.reset();  // what happened since is not undone
  limit_.reset();
  ranges_.reset();
  if (!started_) return;
  restarts_ = true;
  guard_.emplace(system_, state_, work_);
  guard_->expect_other_energy();
}

void Driver::change_constraints(std::vector<int> released) {
  released_ = std::move(released);
  if (started_) {
    watch_.emplace(system_, state_, work_, released_);
    constraint_warnings_ = 0;
  }
  restart();
}

void Driver::fail(std::string failure) {
  report_.completed = false;
  report_.failure = std::move(failure);
}

void Driver::archive(Archive& a) {
  bool looks_ahead = limit_.has_value();
  a(started_, begin_, outputs_, grid_, off_grid_, restarts_, last_step_, step_, way_begin_, way_end_,
    rejected_, looks_ahead, window_begin_, window_end_);
  a(report_.step, report_.least_step, report_.largest_step, report_.steps, report_.rejected,
    report_.newton_iterations, report_.jacobian_updates, report_.allocations, report_.seconds,
    report_.completed, report_.interrupted, report_.failure, report_.warnings, constraint_warnings_,
    has_angles_);
  a(state_.t, state_.angles, state_.redundant, released_);
  for_each_vector(state_, [&](std::vector<double>& part) { a(part); });
  std::string solver(work_.solver->name());
  a(solver);
  if (solver != work_.solver->name()) work_.use_solver(system_, solver);
  if (a.reads()) limit_.reset();
  if (a.reads()) ranges_.reset();
  if (a.reads() && looks_ahead) {
    limit_.emplace(system_, window_begin_, window_end_);
    ranges_.emplace(system_);
    range_end_ = ranges_->between(window_begin_, window_end_);
  }
  if (!started_) return;
  if (a.reads()) {
    // What is made at the start, with memory for all that follows; then what it has become.
    State start = state_;
    integrator_.start(start, step_ > 0 ? step_ : grid_.step, work_);
    const bool has_angles = has_angles_;
    prepare();
    has_angles_ = has_angles;
  }
  integrator_.archive(a, state_, work_);
  a(*watch_, *guard_, *contacts_);
  work_.archive(system_, a);
}

long step_count(double start, double end, double step) {
  // A step typed with a few digits (1e-3, 0.02) divides the interval up to round-off.
  return std::max(1L, static_cast<long>(std::ceil((end - start) / step * (1 - 1e-12) - 1e-9)));
}

DriveReport drive(Integrator& integrator, const System& system, const DriveOptions& options, State& state,
                  Work& work, const Observer& observer) {
  Driver driver(integrator, system, options, state, work);
  driver.advance_to(options.end, observer);
  DriveReport out = driver.report();
  out.warnings.insert(out.warnings.end(), out.contact_warnings.begin(), out.contact_warnings.end());
  return out;
}

}  // namespace liedyn
