// A run along given steps, with or without derivatives: what differentiated runs and those that they are compared with share.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "liedyn/analyses/outputs.h"
#include "liedyn/analyses/run_start.h"
#include "liedyn/base/error.h"
#include "liedyn/integrators/driver.h"

namespace liedyn {

// The ends of the steps of a run: equal ones, or those that an adaptive method chooses, which are held fixed while parameters vary.
std::vector<double> step_ends(const System& system, const SimulateOptions& options);
// The start, and these ends.
std::vector<double> times_of(const SimulateOptions& options, const std::vector<double>& ends);

// Where constraints follow from others, reactions are shared by a choice that jumps: throws InputError if forces depend on them.
void refuse_shared_reactions(const Model& model, int redundant_row);
// The same if outputs show them.
void refuse_reactions(const System& system, const SimulateOptions& options,
                      const std::vector<Output>& outputs);
// Takes such outputs from the list, with a note; throws InputError if none is left.
void leave_out_reactions(const System& system, const SimulateOptions& options, std::vector<Output>& outputs,
                         std::vector<std::string>& notes);

namespace fixed_steps_detail {

inline const System& plain_of(const System& system) { return system; }
inline const System& plain_of(const VariedSystem& system) { return system.plain(); }
inline Work& plain_of(Work& work) { return work; }
inline Work& plain_of(VariedWork& work) { return work.plain; }

inline void use_log(Work& work, SolutionLog* log) {
  work.log = log;
  if (log != nullptr) log->clear();
}
inline void use_log(VariedWork& work, SolutionLog* log) {
  work.log = log;
  work.place_in_log = 0;
}

// visit(values of the state, plain work) for angles, redundant rows and multipliers. Where rows are redundant nothing depends on how multipliers are shared
// (refuse_shared_reactions): their values are, their derivatives stay.
template <class Visit>
void with_values(State& state, Work& work, const Visit& visit) {
  visit(state, work);
}
template <class Visit>
void with_values(VariedState& state, VariedWork& work, const Visit& visit) {
  if (state.angles.empty() && state.redundant.empty()) return;
  set_values(state, work.values);
  visit(work.values, work.plain);
  state.angles = work.values.angles;
  if (state.redundant.empty()) return;
  state.redundant = work.values.redundant;
  for (std::size_t i = 0; i < state.lambda.size(); ++i) state.lambda[i].v = work.values.lambda[i];
}

}  // namespace fixed_steps_detail

template <class S>
class FixedSteps {
 public:
  FixedSteps(const SystemOf<S>& system, const SimulateOptions& options, const std::vector<double>& ends)
      : system_(system),
        options_(options),
        ends_(ends),
        integrator_(make_integrator(system, options.integrator)),
        variables_(static_cast<std::size_t>(system.model().sensor_variables)),
        sensors_(static_cast<std::size_t>(system.model().sensor_values)) {}

  std::size_t count() const { return ends_.size(); }
  double time(std::size_t n) const { return n == 0 ? options_.start : ends_[n - 1]; }  // the end of step n

  // Consistent values at the start.
  StateOf<S> initial() {
    RunStart<S> start = start_run<S>(system_, options_, integrator_->form());
    if (!start.state.redundant.empty())
      refuse_shared_reactions(system_.model(), start.state.redundant.front());
    work_ = std::move(start.work);
    return std::move(start.state);
  }
  // What the method adds to them.
  void begin(StateOf<S>& state) {
    using namespace fixed_steps_detail;
    integrator_->start(state, time(1) - time(0), *work_);
    with_values(state, *work_, [&](State& values, Work& work) {
      if (!values.redundant.empty()) watch_.emplace(plain_of(system_), values, work);
    });
  }

  // Step n = 1, 2, ...; throws NumericalError. The log, if any, gets the solutions of a plain step, and gives them to one with derivatives.
  void step(std::size_t n, const StateOf<S>& from, StateOf<S>& to, SolutionLog* log = nullptr) {
    using namespace fixed_steps_detail;
    use_log(*work_, log);
    const double h = has_equal_steps() ? time(1) - time(0) : time(n) - time(n - 1);
    to.angles = from.angles;
    to.redundant = from.redundant;
    const Attempt attempt = attempt_step(*integrator_, plain_of(system_), from, h, to, *work_,
                                         plain_of(*work_), true, [&](const Attempt& tried) {
                                           if (!tried.converged()) use_log(*work_, log);
                                         });
    if (!attempt.converged())
      throw NumericalError(
          from.t, fmt::format("t = {:.9g}, step {:.3g}: {} (derivatives need a run that reaches its end)",
                              from.t, h, integrator_->failure(attempt, plain_of(system_))));
    to.t = time(n);
    with_values(to, *work_, [&](State& values, Work& work) {
      plain_of(system_).follow_angles(values, work);
      if (watch_ && !watch_->after_step(values, h, nullptr))
        throw NumericalError(values.t, watch_->failure());
    });
  }
  // The state at the part s of the step that was taken last.
  void between(const StateOf<S>& from, const StateOf<S>& to, double s, StateOf<S>& out) {
    out.angles = to.angles;
    out.redundant = to.redundant;
    integrator_->interpolate(system_, from, to, s, out, *work_);
    out.t = from.t + s * (to.t - from.t);
  }
  // What all sensors show.
  const std::vector<S>& sense(const StateOf<S>& state) {
    system_.sense(state, *work_, variables_, sensors_.data());
    return sensors_;
  }
  // The same at the part s of the step that was taken last, 0 <= s <= 1.
  const std::vector<S>& sense_at(const StateOf<S>& from, const StateOf<S>& to, double s,
                                 StateOf<S>& between_state) {
    if (s == 0) return sense(from);
    if (s == 1) return sense(to);
    between_state = to;
    between(from, to, s, between_state);
    return sense(between_state);
  }
  WorkOf<S>& work() { return *work_; }

 private:
  bool has_equal_steps() const {
    const double length = time(count()) - time(0), n = static_cast<double>(count());
    return count() > 1 && std::abs(n * (time(1) - time(0)) - length) <= 1e-9 * length;
  }

  const SystemOf<S>& system_;
  const SimulateOptions& options_;
  const std::vector<double>& ends_;
  std::unique_ptr<IntegratorOf<S>> integrator_;
  std::unique_ptr<WorkOf<S>> work_;
  std::optional<ConstraintWatch>
      watch_;  // where constraints are redundant: which of them are imposed changes along the way
  std::vector<S> variables_, sensors_;
};

}  // namespace liedyn
