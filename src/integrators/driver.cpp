#include "integrators/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

#include "base/allocation_counter.h"
#include "integrators/contact_watch.h"
#include "integrators/motion_guard.h"
#include "integrators/step_limit.h"
#include "model/nodes/parameter_stage.h"
#include "model/nodes/stage.h"
#include "system/redundancy.h"

namespace liedyn {
namespace {

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
        return fmt::format("; '{}' is {} at t = {:.6g}", params.path(timed.number), value, variables.back());
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
    if (const std::string culprit = system.not_finite(probe, work); !culprit.empty())
      return fmt::format("; what '{}' adds is infinite or not a number at t = {:.6g}", culprit, probe.t);
  }
  return {};
}

// One run: the state, the attempts and their counters.
class Run {
 public:
  Run(Integrator& integrator, const System& system, const DriveOptions& options, State& state, Work& work,
      const Observer& observer)
      : integrator_(integrator),
        system_(system),
        options_(options),
        state_(state),
        work_(work),
        observer_(observer) {}

  DriveReport equal_steps(double end, double step);
  DriveReport adaptive_steps(double end, double first_step);

 private:
  void start(double h) {
    integrator_.start(state_, h, work_);
    next_ = state_;
    if (options_.output) between_ = state_;
    begin_ = state_.t;
    report_.allocations = allocation_count() < 0 ? -1 : 0;
    watch_.emplace(system_, state_, work_);
    guard_.emplace(system_, state_, work_);
    contacts_.emplace(system_, state_, work_, !integrator_.control().adaptive);
    const std::vector<Node>& nodes = system_.model().nodes;
    has_angles_ =
        std::any_of(nodes.begin(), nodes.end(), [](const Node& n) { return has_cardan_angles(n.type); });
  }
  class Meter;
  void watch_angles(double h);
  // Looks at the constraints and at the motion of the new state. False: they contradict each other, or it is none.
  bool watch(double h, const Attempt& attempt);
  // One attempt from state_ to next_; `careful`: a second try where the first does not converge.
  Attempt attempt(double h, bool careful);
  // next_ becomes the state, after a step of length h. False: the observer wants to stop, or the constraints contradict each other.
  bool accept(double t, double h, const Attempt& attempt);
  void give_output();
  // The report, with what is known at the end only.
  DriveReport finished() {
    for (std::string& warning : contacts_->warnings()) report_.warnings.push_back(std::move(warning));
    return report_;
  }
  void fail(double h, const Attempt& attempt) {
    report_.completed = false;
    std::string cause;
    if (attempt.corrector.failure == CorrectorFailure::NotFinite) {
      cause = numbers_not_finite(system_, state_.t, h);
      if (cause.empty()) cause = entry_not_finite(system_, state_, h, work_);
    } else {
      cause = watch_->singularity_near(state_, h);
    }
    report_.failure = fmt::format("t = {:.9g}, step {:.3g}: {}{}", state_.t, h,
                                  integrator_.failure(attempt, system_), cause);
  }

  Integrator& integrator_;
  const System& system_;
  const DriveOptions& options_;
  State& state_;
  Work& work_;
  const Observer& observer_;
  State next_;  // the state before state_ once that is accepted
  State between_;
  double begin_ = 0;
  long outputs_ = 0;
  DriveReport report_;
  std::optional<ConstraintWatch> watch_;
  std::optional<MotionGuard> guard_;
  std::optional<ContactWatch> contacts_;
  std::size_t constraint_warnings_ = 0;
  bool has_angles_ = false;  // Cardan angles, about which nothing was said yet
};

// Adds the time and the allocations of its life to the report.
class Run::Meter {
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

Attempt Run::attempt(double h, bool careful) {
  const Meter meter(report_);
  const auto count = [&](const Attempt& attempt) {
    report_.newton_iterations += attempt.corrector.iterations;
    report_.jacobian_updates += attempt.corrector.jacobians;
  };
  next_.angles = state_.angles;
  Attempt out = integrator_.step(state_, h, next_, work_);
  count(out);
  if (!out.converged()) {
    // The block solver pivots inside blocks only; the second try has full pivoting.
    if (out.corrector.failure == CorrectorFailure::Singular && work_.solver->name() == "block")
      work_.use_solver(system_, "klu"), careful = true;
    if (careful) {
      out = integrator_.step_carefully(state_, h, next_, work_);
      count(out);
    }
  }
  return out;
}

// The rates of Cardan angles are those of the body divided by cos(beta): where that is small and a step turns them far, the angles no longer follow.
void Run::watch_angles(double h) {
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
        fmt::format("t = {:.6g}: the Cardan angles of '{}' pass their singularity (|cos phi_2| = {:.2g}) and "
                    "turn by up to {:.2g} rad in a step of {:.3g} s: the result is doubtful "
                    "from here on; take another formulation, or smaller steps",
                    state_.t, system_.model().body_of(node.v).name, cosine, turn, h));
    return;
  }
}

bool Run::watch(double h, const Attempt& attempt) {
  const Meter meter(report_);
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
  const std::string wrong = guard_->after_step(state_, state_.t >= options_.end, work_);
  if (!wrong.empty()) report_.failure = fmt::format("t = {:.9g}, step {:.3g}: {}", state_.t, h, wrong);
  return wrong.empty();
}

bool Run::accept(double t, double h, const Attempt& attempt) {
  next_.t = t;
  system_.follow_angles(next_, work_);
  std::swap(state_, next_);
  ++report_.steps;
  if (has_angles_) watch_angles(h);
  if (!watch(h, attempt)) {
    // The result ends with the last state that was not found wrong.
    std::swap(state_, next_);
    --report_.steps;
    report_.completed = false;
    return false;
  }
  const bool go_on = observer_(state_, report_.steps);
  if (options_.output) give_output();
  if (go_on) return true;
  report_.completed = false;
  report_.interrupted = true;
  report_.failure = fmt::format("t = {:.9g}: interrupted", state_.t);
  return false;
}

void Run::give_output() {
  // Steps may be longer than half a turn: sensors go on from output to output, beginning with the last state, next_.
  // A time that is met up to round-off is not worth an interpolation.
  const double slack = 1e-9 * std::min(options_.spacing, state_.t - next_.t);
  for (;;) {
    const double t = begin_ + static_cast<double>(outputs_ + 1) * options_.spacing;
    if (t > state_.t + slack) break;
    ++outputs_;
    if (t >= state_.t - slack) {
      system_.continue_sensors(next_.angles, state_, work_);
      options_.output(state_);
      return;
    }
    between_.angles = state_.angles;
    between_.redundant = state_.redundant;
    integrator_.interpolate(system_, next_, state_, (t - next_.t) / (state_.t - next_.t), between_, work_);
    between_.t = t;
    watch_->shorten(between_);
    system_.continue_sensors(next_.angles, between_, work_);
    options_.output(between_);
  }
  system_.continue_sensors(next_.angles, state_, work_);
}

DriveReport Run::equal_steps(double end, double step) {
  const double begin = state_.t;
  const long count = step_count(begin, end, step);
  const double h = (end - begin) / static_cast<double>(count);
  report_.step = report_.least_step = report_.largest_step = h;
  if (const double passed = StepLimit(system_, begin, end).passed_over(begin, h); std::isfinite(passed))
    report_.warnings.push_back(fmt::format(
        "steps of {:.3g} s are too long for a function of time of the model, at t = {:.6g} for example: it "
        "changes and changes back within a step; take shorter ones, or adaptive=true",
        h, passed));
  start(h);
  for (long n = 1; n <= count; ++n) {
    const Attempt done = attempt(h, true);
    if (!done.converged()) {
      fail(h, done);
      break;
    }
    // Times are multiples of h, not sums of it.
    if (!accept(n == count ? end : begin + static_cast<double>(n) * h, h, done)) break;
  }
  return finished();
}

DriveReport Run::adaptive_steps(double end, double first_step) {
  // An error of h^order: the step that would just meet the tolerance, with a margin, and within limits to
  // how fast it may change. Small changes are not worth the work that they cost.
  constexpr double kMargin = 0.9, kLeastFactor = 0.2, kMostFactor = 2, kWorthwhile = 1.1,
                   kAfterFailure = 0.25;
  constexpr double kMostOfRun = 0.1, kSlack = 1e-6;
  constexpr int kPieces = 8;
  const StepControl control = integrator_.control();
  const double begin = state_.t, span = end - begin;
  const double exponent = -1.0 / control.order;
  const double longest = control.max_step > 0 ? control.max_step : kMostOfRun * span;
  double h = std::min(first_step, longest);
  StepLimit limit(system_, begin, end);
  start(h);
  bool rejected = false;
  while (state_.t < end) {
    // The way to a time that must be met is divided evenly: a step that is cut short would leave errors of the steps before it, divided by
    // its own length, in accelerations and multipliers.
    const double left = end - state_.t, ahead = std::min(2 * h, left);
    double stop = limit.longest(state_.t, ahead);
    if (stop == ahead) stop = left <= kPieces * h ? left : 0;
    const double planned = stop > 0 ? stop / std::max(1.0, std::ceil(stop / h - kSlack)) : h,
                 now = contacts_->longest(planned);
    const bool last = now >= (1 - 1e-9) * left;
    // Time has no smaller steps.
    const double smallest =
        std::max(16 * std::numeric_limits<double>::epsilon() * std::abs(state_.t), 1e-18 * span);
    const Attempt done = attempt(now, now <= smallest);
    const bool good = done.converged() && done.error <= 1;
    double factor = kAfterFailure;
    if (done.converged())
      factor = done.error == 0 ? kMostFactor
               : done.error > 0
                   ? std::clamp(kMargin * std::pow(done.error, exponent), kLeastFactor, kMostFactor)
                   : kLeastFactor;  // not a number
    if (!good) {
      ++report_.rejected;
      rejected = true;
      if (now <= smallest) {
        fail(now, done);
        if (done.converged())
          report_.failure = fmt::format(
              "t = {:.9g}: the step fell below {:.3g} and its error is still {:.3g} times the tolerance",
              state_.t, smallest, done.error);
        break;
      }
      h = std::max(smallest, now * std::min(factor, 0.9));
      continue;
    }
    report_.least_step = report_.steps == 0 ? now : std::min(report_.least_step, now);
    report_.largest_step = std::max(report_.largest_step, now);
    if (!accept(last ? end : state_.t + now, now, done)) break;
    // What has just been refused is not tried again at once.
    if (rejected) factor = std::min(factor, 1.0);
    rejected = false;
    // A step that was cut to end at a touch says little about the next one.
    const double proposed = factor < 1 || factor > kWorthwhile ? now * factor : now;
    h = std::min(longest, now < planned ? std::max(h, proposed) : proposed);
  }
  report_.step = report_.steps > 0 ? (state_.t - begin) / static_cast<double>(report_.steps) : h;
  return finished();
}

}  // namespace

long step_count(double start, double end, double step) {
  // A step typed with a few digits (1e-3, 0.02) divides the interval up to round-off.
  return std::max(1L, static_cast<long>(std::ceil((end - start) / step * (1 - 1e-12) - 1e-9)));
}

DriveReport drive(Integrator& integrator, const System& system, const DriveOptions& options, State& state,
                  Work& work, const Observer& observer) {
  Run run(integrator, system, options, state, work, observer);
  return integrator.control().adaptive ? run.adaptive_steps(options.end, options.step)
                                       : run.equal_steps(options.end, options.step);
}

}  // namespace liedyn
