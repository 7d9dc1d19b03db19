// Off an unstable equilibrium of a large model, to which sparse methods may lead.
#pragma once

#include <optional>

#include <Eigen/Core>

#include "liedyn/analyses/statics.h"

namespace liedyn {

// The largest displacement of a body between two states, in lengths of its subsystem, or change of its orientation.
double distance_between(const System& system, const State& from, const State& to);

// The work of the forces at the state along the motion y, relative to what all forces there are could do; 0 if it is round-off. Those that hold it do none.
double work_along(const System& system, const State& state, const Eigen::VectorXd& y, Work& work);

// Pushes the state along the unstable motion, first to the side to which the forces at the start drive it, and follows it down, as often as it takes. The
// iterations are added to those of the load step. The motion along which it still leaves, if it stays unstable.
std::optional<Eigen::VectorXd> leave_unstable(const System& system, double tolerance, const State& start,
                                              State& state, LoadStep& step);

}  // namespace liedyn
