// A run that the caller advances: everything between a System and its motion. It owns the system, the memory, the integrator and the state, and with them initial
// values, steps with retries, the fallback of linear solvers, redundant constraints and winding angles. Every analysis that steps in time is a loop over it.
//
//   Simulation simulation(system, options);
//   while (simulation.time() < 2) {
//     simulation.set_input("torque", controller(simulation.sensor("angle")[0]));
//     simulation.advance(0.01);
//   }
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/analyses/simulate.h"
#include "liedyn/integrators/driver.h"

namespace liedyn {

class Companion;

// An event that has happened.
struct Occurrence {
  double t;
  std::string name;
};

class Simulation {
 public:
  enum class End {
    Fixed,  // at SimulateOptions::end, which equal steps are adjusted to meet
    Open,  // wherever the caller stops; the interval of the options only says how far ahead functions of time are looked at
  };
  // Of the options start, end, step, integrator, initial, from, solver and threads. Throws InputError.
  Simulation(System system, SimulateOptions options, End end = End::Open);
  explicit Simulation(System system);  // as the model says
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  double time() const { return state().t; }
  const State& state() const;
  const System& system() const;
  Work& work();
  const Integrator& integrator() const;
  const SimulateOptions& options() const;
  bool has_end() const;  // End::Fixed

  // As many steps as the method needs from now to now + dt or to t (Driver::advance_to has the rules). Throws NumericalError; the state is then the last good one.
  void advance(double dt);
  void advance_to(double t);
  // The same with an observer of each step, and what went wrong in the report. False: stopped before t.
  bool run_to(double t, const Observer& observer);
  // The event that ended the last advance, which then did not reach its time; empty: none. The next advance goes on from there.
  const std::string& stopped_by() const;
  // The zero crossings so far, the first 100000 of them.
  std::vector<Occurrence> events() const;
  // When events or samples have last set something; not a number: never.
  double changed_at() const;
  // The joints that events have released.
  std::vector<std::string> released_joints() const;
  // As many steps as this, one after the other; one that ends at an event counts. Throws NumericalError.
  void step(long count = 1, const Observer& observer = {});
  // The length of the next step, as it is planned.
  double next_step() const;
  // Called with states at equal distances in time, see DriveOptions. Before the first step.
  void set_output(double spacing, std::function<void(const State&)> output);
  // Called where zero crossings happen, once with the state before what they change and once with that after it; `sensors` are their indices. Before the first step.
  using EventOutput = std::function<void(const State&, const std::vector<int>& sensors, bool after)>;
  void set_event_output(EventOutput output);

  // Who looks at every step from now on (analyses/companion.h); null: nobody. It has to live as long as the steps last. Copies have none.
  void set_companion(Companion* companion);

  // A number of the model by its path or name, from now on. The motion does not jump: positions and velocities stay, accelerations and multipliers follow.
  // Throws InputError, and changes nothing, if there is no such number, if the value is not allowed, if it is an initial value, or if the state would
  // violate a constraint.
  void set_input(std::string_view path, double value);
  // Several at once: all of them, or none.
  void set_inputs(const std::vector<std::pair<std::string, double>>& given);
  double input(std::string_view path) const;

  // What a sensor shows now: one number per component. Throws InputError.
  std::vector<double> sensor(std::string_view name);
  // What all sensors show, in their order.
  std::vector<double> sensors();

  // The state, all that its next steps depend on, and the inputs, as bytes: a simulation of the same model with the same options that restores them goes on bit by bit as
  // this one. Restoring throws InputError if they belong to another one or are damaged, and changes nothing.
  std::string save() const;
  void restore(std::string_view checkpoint);
  // An independent copy.
  Simulation clone() const;

  // Counters of all steps so far, and what went wrong last.
  const DriveReport& report() const;
  // What there is to say about the model, the method and the steps so far.
  std::vector<std::string> warnings() const;
  bool formulation_chosen() const;  // by a trial run

 private:
  struct Parts;
  explicit Simulation(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace liedyn
