#include "liedyn/analyses/statics/equilibrium.h"

#include <cmath>
#include <utility>

#include "liedyn/analyses/statics/coupled_balance.h"
#include "liedyn/analyses/statics/descent.h"
#include "liedyn/analyses/statics/runaway.h"
#include "liedyn/analyses/statics/sparse_newton.h"
#include "liedyn/system/initial.h"

namespace liedyn {
namespace {

using SearchWay = bool (*)(StaticSearch&, State&);

// Large models have no dense matrices; without a potential there need not be a way downhill.
std::vector<SearchWay> ways_for(const Model& model, bool straight_first) {
  const bool has_states = model.first_state() < model.nv;
  if (has_states && model.nv > kLargestDense) return {reduce_residuals};
  if (has_states) return {balance_with_states, settle_with_states};
  if (model.nv <= kLargestDescent) return {descend, descend_slowly, reduce_residuals};
  if (straight_first) return {go_straight, descend_slowly, reduce_residuals};
  return {descend_slowly, reduce_residuals};
}

}  // namespace

bool Equilibrium::solve(State& state, bool straight_first) {
  const System& system = search_.system;
  system.residual(state, search_.work, {});
  search_.first_extent = search_.extent();
  State start = state;
  if (!press_in(start)) return false;
  for (const SearchWay way : ways_for(system.model(), straight_first)) {
    State found = start;
    search_.section_forces.forget();
    if (!way(search_, found)) {
      if (search_.report.driven_on) return false;
      continue;
    }
    if (way == descend_slowly || way == reduce_residuals) refine(search_, found);
    system.residual(found, search_.work, {});
    if (runs_away(search_, found)) continue;
    if (!share_among_clutches(found)) return false;
    state = std::move(found);
    return true;
  }
  return false;
}

bool Equilibrium::solve_beside(State& state, const Eigen::VectorXd& d) {
  if (search_.has_states()) return false;
  State found = incremented(search_.system, state, d);
  if (!project_positions(search_.system, found, nullptr, search_.work)) return false;
  search_.system.residual(found, search_.work, {});
  search_.first_extent = search_.extent();
  search_.section_forces.predict(state, d, search_.work);
  if (!go_straight(search_, found)) return false;
  search_.system.residual(found, search_.work, {});
  if (runs_away(search_, found)) return false;
  state = std::move(found);
  return true;
}

// Contacts with bristles that have no pressure yet hold nothing: bodies would slide before they are pressed in. So they come to
// rest with bristles that hold whatever acts, and which follow their surfaces; the true bristles begin there, with the
// deflection of these. The way of a body along a surface is then that of its bristles, as of one that starts pressed in.
// False: it runs away even so.
bool Equilibrium::press_in(State& state) {
  const System& system = search_.system;
  if (!search_.imbalance.friction().bristles || system.model().nv > kLargestDense) return true;
  Work& work = search_.work;
  const Constants gripping = with_gripping_bristles(system, search_.scales().parts(), state, work);
  const Constants* const kept = work.constants;
  work.constants = &gripping;
  search_.pressing = true;
  State found = state;
  bool pressed = balance_with_states(search_, found);
  if (!pressed) pressed = settle_with_states(search_, found = state);
  search_.pressing = false;
  work.constants = kept;
  if (!pressed) return !search_.report.ran_away;
  search_.report.ran_away = search_.report.driven_on = false;
  state = std::move(found);
  return true;
}

// Clutches that stick are springs up to their capacity. Those that would have to carry more carry all of it, and the rest of
// the model holds the remainder. False: nothing does.
bool Equilibrium::share_among_clutches(State& state) {
  const System& system = search_.system;
  std::string& overloaded = search_.report.overloaded;
  const std::vector<int> clutches = clutch_states(system);
  for (std::size_t round = 0; round <= clutches.size(); ++round) {
    const std::string too_much = overloaded_clutches(system, state);
    if (too_much.empty()) break;
    if (overloaded.empty()) overloaded = too_much;
    for (const int i : clutches)
      if (double& share = state.v[at(i)]; std::abs(share) > 1) {
        share = share > 0 ? 1 : -1;
        search_.held[i] = 1;
      }
    if (system.model().nv > kLargestDense || !balance_with_states(search_, state)) return false;
  }
  overloaded.clear();
  return true;
}

}  // namespace liedyn
