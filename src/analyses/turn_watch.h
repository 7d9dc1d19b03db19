// Watches how far bodies turn in one step: integrators distinguish increments of rotations within one turn only.
#pragma once

#include <string>

#include "liedyn/base/archive.h"
#include "liedyn/model/model.h"
#include "liedyn/system/state.h"

namespace liedyn {

class TurnWatch {
 public:
  TurnWatch(const Model& model, double start) : model_(&model), before_(start) {}

  // The state after a step.
  void add(const State& state);
  // Empty: nothing turns too fast. `step`: the longest of the run.
  std::string warning(double step) const;
  void archive(Archive& archive) { archive(before_, largest_); }

 private:
  const Model* model_;
  double before_;
  double largest_ = 0;  // rad per step
};

}  // namespace liedyn
