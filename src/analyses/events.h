// What happens during a run: zero crossings of expressions, and samples at given times (model/sensors/events.h). The driver asks look() after each attempt at a step;
// a step over a zero crossing is taken again and ends there, so that the state at an event has the accuracy of the method, not that of its interpolation.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "liedyn/integrators/driver.h"

namespace liedyn {

// Whether the model has events; those who cannot follow them refuse: throws InputError, "derivatives of runs".
bool has_events(const Model& model);
void refuse_events(const Model& model, const std::string& what);

// Velocities jump so that a component of a sensor shows `value`: v += M^-1 (J^T mu - B^T Lambda), J = d(sensor)/dv, by the impulse mu of that quantity and those of the
// constraints, which stay satisfied. Throws InputError, and changes nothing, if no velocity moves the sensor.
void set_by_impulse(const System& system, State& state, int column, double value, const std::string& path,
                    Work& work);

class Events {
 public:
  // `step`: of the run, by which times are judged. Throws InputError.
  Events(const System& system, double start, double step);

  // On which side of zero the expressions are: at the start, and after something has changed the state or parameters. Conditions that begin to hold by such
  // a change happen there. Throws InputError if one is not a number.
  void look_around(const State& state, Work& work);

  // For DriveOptions.
  StepEnd look(const State& from, const State& to, const StateBetween& between, Work& work);

  struct Change {
    int target;  // in targets()
    double value;
    int entry;  // of the sensor that sets it
  };
  struct Target {
    enum class Of { Parameter, StateValue, Velocity, Joint } of;
    int index;  // of the parameter, of the velocity of the state, of the value among those of all sensors, or of the joint
    std::string path;  // as it was written
  };
  const std::vector<Target>& targets() const { return targets_; }
  const std::string& name(int entry) const;

  // What happens at the state that look() stopped at: the names of the events, what they set, and whether the run ends. Several events at one time see the same state.
  struct Occurrence {
    std::vector<int> entries;
    std::vector<Change> changes;
    bool stops = false;
    std::string failure;  // one of them happens again and again, or its expression is not a number
  };
  Occurrence happen(const State& state, Work& work);
  // The same for conditions that hold since something was set.
  bool has_begun() const { return !begun_.empty(); }
  Occurrence begin(const State& state, Work& work);

  // Of samples: the next time at which one is taken or set.
  double next_due() const;
  // What is set now; samples that are due are taken.
  std::vector<Change> due(const State& state, Work& work);

  // A joint has been released or engaged.
  void follow_joint(int joint, bool released);
  // What events and samples remember, except the log.
  void archive(Archive& archive);

  struct Record {
    double t;
    int entry;
  };
  const std::vector<Record>& log() const { return log_; }

 private:
  struct Crossing {
    int entry;
    bool rising, falling, stops;
    std::vector<int> targets;
  };
  struct Sample {
    int entry, target;
    double begin, every, delay;
  };
  // The values of all sensors, and the variables of their expressions.
  void sense(const State& state, Work& work);
  double value(int crossing) const;
  const Sensor& sensor(int crossing) const;
  // Of the last sense(): the sign of the value; of a condition 1 where it holds, otherwise -1.
  double side(int crossing) const;
  // Of the last sense(): what is zero at the crossing: the value, or the difference of the sides of a comparison; 0 if there is none.
  double distance(int crossing, int comparison) const;
  // Whether it counts that the expression goes from one side to the other.
  bool counts(int crossing, double from, double to) const;
  // Why the expression, which is not a number at this time, ends the run.
  std::string not_a_number(int crossing, double t) const;
  double value_at(int crossing, const State& state, Work& work);
  double located(int crossing, const State& from, const State& to, const StateBetween& between, Work& work);
  double located_condition(int crossing, const State& from, const State& to, const StateBetween& between,
                           Work& work);
  // The state a little later, by its velocities and accelerations.
  const State& soon(const State& state, double dt);
  // Of a condition that has just happened: on which side it is afterwards.
  double side_after(int crossing, const State& state, Work& work);
  void add_happened(const State& state, Work& work, Occurrence& out);
  void add_changes(int entry, const std::vector<int>& targets, std::size_t first, std::vector<Change>& out);
  int add_target(const std::string& path);
  double sample_time(std::size_t i) const;

  const System* system_;
  std::vector<Target> targets_;
  std::vector<Crossing> crossings_;
  std::vector<Sample> samples_;
  double step_;
  std::vector<double> variables_, shown_;
  State probe_;

  // Of crossings: the sign of each expression since the last step, 0 as long as it is not known, and when it last was an event.
  std::vector<double> sign_, last_time_;
  std::vector<int> released_;  // joints
  // It only sets joints, and numbers besides, which are so already: what an engaged joint keeps at zero crosses it by round-off in every other step. With the variables of the last
  // sense().
  bool changes_nothing(int crossing) const;
  // Of the crossing that was found last: of conditions the comparison that decided, -1: none; the slope of what is zero there, 0: it jumps; and what was left of it.
  std::vector<int> deciding_;
  std::vector<double> slope_, left_;
  std::vector<int> begun_;  // conditions that hold by a change
  // A crossing that was found: in the step from this time, to be located, with the others at the same time.
  double found_from_ = std::numeric_limits<double>::quiet_NaN();
  std::vector<int> found_;
  std::string failure_;        // an expression is not a number at the end of the step
  std::vector<int> happened_;  // those whose expressions are zero at the state, until look_around()
  double span_ = 0;
  double wanted_ = 0;  // where the step was to end
  int corrections_ = 0;
  // Of samples: how many were taken, and what is to be set.
  std::vector<long> taken_;
  struct Pending {
    double t, value;
    int sample;
  };
  std::vector<Pending> pending_;
  std::vector<Record> log_;
};

}  // namespace liedyn
