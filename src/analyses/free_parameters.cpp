#include "liedyn/analyses/free_parameters.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <random>

#include "liedyn/analyses/run_start.h"
#include "liedyn/base/largest.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {

// One sweep backwards from a sum of all rows with arbitrary weights: it depends on a parameter exactly if some row does.
std::vector<std::string> notes_on_bound_parameters(const System& given, const SimulateOptions& options,
                                                   const std::vector<int>& parameters) {
  constexpr double kNoticeable = 1e-6;
  if (initial_policy(options.initial) == InitialPolicy::Project) return {};
  std::optional<System> absolute;
  if (given.model().tree) absolute.emplace(in_absolute_coordinates(given));
  const System& system = absolute ? *absolute : given;
  if (system.model().rows == 0) return {};

  Tape tape(Tape::Sweep::Backwards);
  const Tape::Use use(tape);
  const VariedSystem varied(system, parameters);
  tape.end_beginning();
  VariedWork work(varied, options.solver);
  const VariedState state = initial_state(varied, options, work);
  varied.residual(state, work, {true, true, false});
  double length = 1e-3;
  for (const Motion<Varied>& m : work.motions)
    for (int k = 0; k < 3; ++k) length = std::max(length, std::abs(m.p[k].v));
  const double speed = std::max(largest(state.v), length);

  std::minstd_rand random(1);
  std::uniform_real_distribution<double> between(0.5, 1.5);
  std::vector<double> broken(parameters.size(), 0.0);
  for (const auto& [rows, scale] : {std::pair{&work.phi, length}, std::pair{&work.rate, speed}}) {
    Tape::Weights weights;
    for (const Varied& row : *rows) {
      const double weight = between(random);
      if (row.id != 0) weights[row.id] += weight;
    }
    tape.backwards(weights, 0);
    tape.backwards_through_beginning(weights);
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      const double p = varied.seeds()[k].v, change = p != 0 ? std::abs(p) : 1;
      broken[k] = std::max(broken[k], std::abs(weights.of(varied.seeds()[k].id)) * change / scale);
    }
  }
  std::vector<std::string> out;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    if (broken[k] > kNoticeable)
      out.push_back(
          fmt::format("changing only {} makes the initial state inconsistent, and the derivatives ignore "
                      "that; mark dependent values as \"consistent\", or use --initial project",
                      system.params().path(parameters[k])));
  return out;
}

}  // namespace liedyn
