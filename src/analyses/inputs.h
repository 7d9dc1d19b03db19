// Which parameters may change while a simulation runs, and to which values: positions and velocities must not jump.
#pragma once

#include <string>
#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

// What messages say of a change: the paths of the parameters, the new value of the first one, the time.
struct InputChange {
  const std::string& path;
  double value;
  double t;
};

// Throws InputError for a parameter that has no effect during a run: an initial value, or the times of a sample, which are counted from the start.
void refuse_fixed_parameter(const Model& model, const Params& params, int index);

// Parameters of a body or a matrix must make sense together, as at the start: those of an inertia, say.
void refuse_wrong_values(const Model& model, const Params& before, const Params& now,
                         const InputChange& change);

// Points on bodies are given in the initial configuration. Throws InputError if an initial position or orientation follows the parameter, so that such points
// would move in their bodies.
void refuse_moved_points(const Model& model, const Params& start, const Params& now,
                         const InputChange& change);

// Positions, velocities and constraints before a change.
class MotionBefore {
 public:
  MotionBefore(const System& system, const State& state, Work& work);
  // Throws InputError if the change has moved a body or violates a constraint that is imposed. `step`: velocities may be off by what moves nothing in it.
  void refuse_jumps(const System& system, const State& state, const std::vector<int>& released, double step,
                    const InputChange& change, Work& work) const;

 private:
  void refuse_moved_bodies(const System& system, const State& state, double step, const InputChange& change,
                           Work& work) const;
  void refuse_violated_rows(const System& system, const State& state, const std::vector<int>& released,
                            double step, const InputChange& change, Work& work) const;

  std::vector<double> phi_, rate_;
  std::vector<Motion<double>> motions_;  // in minimal coordinates, whose joints have no rows
};

}  // namespace liedyn
