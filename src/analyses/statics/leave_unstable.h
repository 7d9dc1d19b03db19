// Off an unstable equilibrium of a large model, to which sparse methods may lead.
#pragma once

#include <optional>

#include <Eigen/Core>

#include "liedyn/analyses/statics.h"

namespace liedyn {

// The largest displacement of a body between two states, in lengths of its subsystem, or change of its orientation.
double distance_between(const System& system, const State& from, const State& to);

// Pushes the state along the unstable motion and follows it down, as often as it takes. The iterations are added to those of
// the load step. The motion along which it still leaves, if it stays unstable.
std::optional<Eigen::VectorXd> leave_unstable(const System& system, double tolerance, State& state,
                                              LoadStep& step);

}  // namespace liedyn
