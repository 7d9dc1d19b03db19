// What sensors of the type quantity see of a machine element (model/forces/machine.h).
#pragma once

#include <string>
#include <vector>

#include "liedyn/model/element.h"

namespace liedyn {

// Something inside a machine that sensors may show.
struct MachineQuantity {
  std::string name, unit;
};

class MachineOutput {
 public:
  virtual ~MachineOutput() = default;
  virtual const std::vector<MachineQuantity>& quantities() const = 0;
  virtual double quantity(const Evaluation& at, int which) const = 0;
  virtual Varied quantity(const VariedEvaluation& at, int which) const = 0;
  // d/dt (J x'^2/2): what its rotor stores, which is part of the energy of the model.
  virtual double rotor_power(const Evaluation& at) const = 0;
  virtual Varied rotor_power(const VariedEvaluation& at) const = 0;
};

}  // namespace liedyn
