// Advances a state in time: it owns the step size, retries, counters, the watch over constraints and motion, and the calls of the observer.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "liedyn/integrators/contact_watch.h"
#include "liedyn/integrators/integrator.h"
#include "liedyn/integrators/motion_guard.h"
#include "liedyn/integrators/range_watch.h"
#include "liedyn/integrators/step_limit.h"
#include "liedyn/integrators/work_sums.h"
#include "liedyn/system/redundancy.h"

namespace liedyn {

// Where a step has to end, and whether the run stops there.
struct StepEnd {
  double t = 0;
  bool stop = false;
};
// The state at a time within a step, until it is called again.
using StateBetween = std::function<const State&(double t)>;

struct DriveOptions {
  double end = 1;
  double step = 1e-3;  // equal steps: adjusted down so that they meet the end; adaptive: the first one
  // The time goes on behind the end, which then is only as far as functions of time are looked at ahead; equal steps are not adjusted to it.
  bool open = false;
  // Called with the states at multiples of `spacing` after the start, between steps as the method interpolates there; after the observer has
  // seen the step. None if empty.
  double spacing = 0;
  std::function<void(const State&)> output = {};
  // Looks at every step before it counts. A step that has to end at another time is taken again; one that would end where it begins is not taken. None if empty.
  std::function<StepEnd(const State& from, const State& to, const StateBetween& between)> look = {};
};

struct DriveReport {
  double step = 0;                          // used; adaptive: the mean
  double least_step = 0, largest_step = 0;  // accepted
  long steps = 0;
  long rejected = 0;  // attempts whose error was too large, or that did not converge
  long newton_iterations = 0;
  long jacobian_updates = 0;
  long allocations = -1;  // in the loop, observer excluded; -1: not counted
  double seconds = 0;     // in the loop, observer excluded
  bool completed = true;
  bool interrupted = false;                   // by the observer
  std::string failure;                        // with time, step and the worst equation
  std::vector<std::string> warnings;          // singular configurations passed
  std::vector<std::string> contact_warnings;  // about contacts that the steps do not resolve, all of the run
};

// Called after every accepted step with its number; returning false stops the run (the user interrupted it).
using Observer = std::function<bool(const State&, long step)>;

// Equal steps from `start` to `end` that are at most `step` long (up to round-off).
long step_count(double start, double end, double step);

// One attempt at a step, with a second and careful one where the first does not converge. Where a solver without full pivoting finds the
// matrix singular, the second attempt has it. `count` sees both attempts.
template <class S, class Count>
Attempt attempt_step(IntegratorOf<S>& integrator, const System& system, const StateOf<S>& from, double h,
                     StateOf<S>& to, WorkOf<S>& work, Work& plain, bool careful, const Count& count) {
  Attempt out = integrator.step(from, h, to, work);
  count(out);
  if (out.converged()) return out;
  if (out.corrector.failure == CorrectorFailure::Singular && plain.pivot_fully(system)) careful = true;
  if (careful) {
    out = integrator.step_carefully(from, h, to, work);
    count(out);
  }
  return out;
}

class Driver {
 public:
  // The state is consistent, and not yet started. All of these must outlive the driver.
  Driver(Integrator& integrator, const System& system, DriveOptions options, State& state, Work& work);

  // Steps until the time t, or to the last good step before it: false, and the report says why.
  //
  // Equal steps lie on a grid, t_n = t_0 + n h. A time t on the grid is met up to round-off, and nothing else changes: the steps are those of a run that goes on.
  // For any other t a new grid begins, of equal steps from here to t that are at most DriveOptions::step long.
  //
  // Adaptive steps meet t. As before a kink of a function of time, what is left is divided evenly over the last few steps; the step size after t is that which the error
  // of the last step allows.
  //
  // Where DriveOptions::look stops the run it returns true before t, and stopped() says so. Equal steps go on from there to the next time of their grid.
  bool advance_to(double t, const Observer& observer);
  bool stopped() const { return stopped_; }
  // As many steps as this, wherever they lead; at most to the end unless that is open. Adaptive ones end at `limit`, which is a time to be met.
  bool take_steps(long count, double limit, const Observer& observer);
  // The length of the next step: of adaptive ones as it would be tried.
  double next_step() const;
  // Where the next of the equal steps ends.
  double next_grid_time() const { return grid_.at(grid_.taken + 1); }

  // Parameters of the system have changed; the accelerations of the state follow them, `vdot_before` does not.
  void follow_jump(const std::vector<double>& vdot_before);
  // Velocities of the state have changed as well, so that what the method remembers has no sense: it starts anew with the next step.
  void restart();
  // Other constraints from now on (system/released_joints.h), with the state that satisfies them; what the method remembers has no sense either.
  void change_constraints(std::vector<int> released);
  const std::vector<int>& released() const { return released_; }
  // Something else than a step went wrong.
  void fail(std::string failure);
  // The user wants no further step.
  void interrupt();

  const DriveReport& report() const { return report_; }
  // The state, and all that its next steps depend on.
  void archive(Archive& archive);

 private:
  class Meter;
  // The grid of equal steps.
  struct Grid {
    double begin = 0, step = 0;
    long taken = 0;
    double at(long n) const { return begin + static_cast<double>(n) * step; }
  };

  void clear_failure();
  bool equal_steps(double t, const Observer& observer);
  bool adaptive_steps(double t, const Observer& observer);
  bool adaptive_steps_to(double t, const Observer& observer);
  void remember_collapse(double h);
  void leave_collapse();
  // Steps of the grid until t; makes a new grid if t is not on this one.
  long plan(double t);
  void look_ahead();
  // Whether a step of length h is the last before a function of time leaves its range, or one of too many before that.
  bool ends_before(const RangeWatch::Violation& violation, double h) const;
  void start(double h);
  void prepare();
  void watch_angles(double h);
  // Looks at the constraints and at the motion of the new state. False: they contradict each other, or it is none.
  bool watch(double h, const Attempt& attempt);
  // Whether a step is so short that a method which divides by its length would leave nothing but round-off in accelerations; and such a step. False: a matrix is singular.
  bool is_short(double h) const;
  bool take_short_step(double h);
  // One attempt from state_ to next_; `careful`: a second try where the first does not converge.
  Attempt attempt(double h, bool careful);
  // The same to a time, which becomes that where the step has to end. `may_throw`: thrown_ tells whether the step, which then is not to be taken, throws bodies
  // apart.
  Attempt attempt_until(double& end, double h, bool careful, bool may_throw);
  void restart_method(double h);
  // next_ becomes the state, after a step of length h. False: the observer wants to stop, or the constraints contradict each other.
  bool accept(double t, double h, const Attempt& attempt, const Observer& observer);
  // The state at a time within the last step or attempt, and what sensors of work show then, into `angles`, from what they showed at its begin.
  void interpolate(const State& from, const State& to, double t, State& out);
  void add_work(const State& from, const State& to, double t, std::vector<double>& angles);
  void give_output();
  void fail(double h, const Attempt& attempt);
  void fail(const RangeWatch::Violation& violation);

  Integrator& integrator_;
  const System& system_;
  DriveOptions options_;
  State& state_;
  Work& work_;
  State next_;  // the state before state_ once that is accepted
  State between_;
  State work_point_;
  std::vector<double> begin_angles_;  // of the last step or attempt
  bool started_ = false;
  double begin_ = 0;  // of the run
  long outputs_ = 0;
  Grid grid_;
  bool off_grid_ = false;  // an event was between two times of the grid
  bool restarts_ = false;  // the method, with the next step
  double last_step_ = 0;
  bool stopped_ = false;
  bool thrown_ = false;
  std::vector<int> released_;  // rows of joints, ascending
  long steps_left_ = -1;       // of take_steps(), where steps are adaptive; -1: any number
  // Of adaptive steps: the next one, whether the last attempt was rejected, and how far functions of time were looked at.
  double step_ = 0;
  double way_begin_ = 0, way_end_ = std::numeric_limits<double>::quiet_NaN();  // of the times to be met
  bool rejected_ = false;
  std::optional<State>
      before_collapse_;  // the state before they became so short that velocities are round-off
  double window_begin_ = 0, window_end_ = 0;
  std::optional<StepLimit> limit_;
  std::optional<RangeWatch> ranges_;                // null: parameters have changed
  std::optional<RangeWatch::Violation> range_end_;  // of adaptive steps: the first one that was seen ahead
  DriveReport report_;
  std::optional<ConstraintWatch> watch_;
  std::optional<MotionGuard> guard_;
  std::optional<ContactWatch> contacts_;
  std::optional<WorkSums> work_sums_;
  std::size_t constraint_warnings_ = 0;
  bool has_angles_ = false;  // Cardan angles, about which nothing was said yet
};

// Drives `state` (consistent, not yet started) to the end, or to the last good step.
DriveReport drive(Integrator& integrator, const System& system, const DriveOptions& options, State& state,
                  Work& work, const Observer& observer);

}  // namespace liedyn
