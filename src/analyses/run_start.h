// Where every run begins: consistent initial values, and the memory of its steps. For plain runs and for those with derivatives.
#pragma once

#include <memory>

#include "liedyn/analyses/simulate.h"
#include "liedyn/system/varied_initial.h"

namespace liedyn {

// Consistent initial values, as the options say: State of a System, VariedState of a VariedSystem.
template <class AnySystem, class AnyWork>
auto initial_state(const AnySystem& system, const SimulateOptions& options, AnyWork& work) {
  return consistent_state(system, options.start,
                          {.policy = initial_policy(options.initial), .given = options.from.get()}, work);
}

template <class S>
struct RunStart {
  std::unique_ptr<WorkOf<S>> work;
  StateOf<S> state;
};

// `form`: that of the method. Initial values need the plain linear system.
template <class S>
RunStart<S> start_run(const SystemOf<S>& system, const SimulateOptions& options, IndexForm form) {
  RunStart<S> out{std::make_unique<WorkOf<S>>(system, options.solver), {}};
  out.state = initial_state(system, options, *out.work);
  if (form == IndexForm::Stabilized) out.work = std::make_unique<WorkOf<S>>(system, options.solver, form);
  return out;
}

}  // namespace liedyn
