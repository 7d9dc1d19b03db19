// Watches how far bodies turn in one step. Integrators distinguish increments of rotations within one turn only. And a velocity that turns with the body, as in the whirl of an unbalanced rotor,
// or in body axes on SE(3), needs many steps in a turn, while a spin alone does not.
#pragma once

#include <string>
#include <vector>

#include "liedyn/base/archive.h"
#include "liedyn/model/model.h"
#include "liedyn/system/system.h"

namespace liedyn {

class TurnWatch {
 public:
  TurnWatch(const Model& model, double start) : model_(&model), before_(start), whirls_(model.nodes.size()) {}

  // The state after a step.
  void add(const State& state);
  // Empty: nothing turns too fast. `step`: the longest of the run.
  std::string warning(double step) const;
  // The same about velocities that turn with a body too fast for equal steps; at the end of the run.
  std::string unresolved(const System& system, const State& state, double step) const;
  void archive(Archive& archive) { archive(before_, largest_, fastest_, steps_, whirls_); }

 private:
  const Model* model_;
  double before_;
  // Steps in which the velocity of a node turned with it, and the largest radius of such a circle.
  struct Whirl {
    long steps = 0;
    double radius = 0;
  };
  double largest_ = 0;       // rad per step
  std::size_t fastest_ = 0;  // the node that rotates by it
  long steps_ = 0;
  std::vector<Whirl> whirls_;  // per node
};

}  // namespace liedyn
