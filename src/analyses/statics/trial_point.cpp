#include "liedyn/analyses/statics/trial_point.h"

#include <cmath>
#include <utility>

#include "liedyn/analyses/shortest_solution.h"
#include "liedyn/system/initial.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// lambda with the least |Q^T r + L dlambda|, as energies along the units: forces and torques alike.
void reduce_forces(const Linearization& l, const VectorXd& force, const StaticScales& scales, State& state) {
  if (l.L.cols() == 0) return;
  const VectorXd& units = scales.units();
  VectorXd columns(l.L.cols());
  for (int i = 0; i < columns.size(); ++i) columns[i] = 1 / scales.row(i);
  const MatrixXd L = units.asDiagonal() * MatrixXd(l.L) * columns.asDiagonal();
  const VectorXd change = columns.asDiagonal() * shortest_solution(L, units.asDiagonal() * force);
  for (std::size_t i = 0; i < state.lambda.size(); ++i)
    state.lambda[i] -= change[static_cast<Eigen::Index>(i)];
}

// The part of forces along the motions; the rates of states stay as they are.
void project_forces(const MatrixXd& N, const VectorXd& units, VectorXd& force) {
  const Eigen::Index first = N.rows();
  const VectorXd inverse = units.head(first).cwiseInverse();
  const VectorXd along = N.transpose() * VectorXd(force.head(first));
  force.head(first) = inverse.cwiseAbs2().asDiagonal() * VectorXd(N * along);
}

}  // namespace

TrialPoint trial_point(StaticSearch& search, State state) {
  const System& system = search.system;
  Work& work = search.work;
  TrialPoint out;
  out.l = linearize(system, state, Vec3::Zero(), work);
  const auto force = [&]() -> VectorXd {
    return out.l.Q.transpose() * Eigen::Map<const VectorXd>(work.r.data(), system.model().nv);
  };
  reduce_forces(out.l, force(), search.scales(), state);
  // K depends on the multipliers, and on the section forces.
  search.section_forces.impose(state, work, [&] {
    out.l = linearize(system, state, Vec3::Zero(), work);
    out.predicted = force();
  });
  out.motions = allowed_motions(SparseMatrix(out.l.B.leftCols(out.l.first_state)), search.scales());
  if (search.has_states()) search.imbalance.set_rate_scales(out.l, state);
  search.imbalance.set_round_off(state);
  out.excess = search.imbalance.evaluate(state, false);
  out.force = force();
  for (VectorXd* of : {&out.force, &out.predicted})
    project_forces(out.motions.N, search.scales().units(), *of);
  out.state = std::move(state);
  return out;
}

std::optional<TrialPoint> point_after(StaticSearch& search, const TrialPoint& from, const VectorXd& d) {
  State state = incremented(search.system, from.state, d);
  if (!project_positions(search.system, state, nullptr, search.work)) return {};
  search.section_forces.predict(from.state, d, search.work);
  TrialPoint out = trial_point(search, std::move(state));
  if (!std::isfinite(out.excess)) return {};
  return out;
}

std::optional<Trial> search_along(StaticSearch& search, const TrialPoint& from, const VectorXd& d,
                                  double length, double shortest,
                                  const std::function<bool(const TrialPoint& then, double length)>& accept) {
  for (; length >= shortest; length /= 2) {
    const VectorXd step = length * d;
    const auto along = [&](double part) { return incremented(search.system, from.state, part * step); };
    if (search.gaps.are_jumped(along, search.work)) continue;
    std::optional<TrialPoint> then = point_after(search, from, step);
    if (then && accept(*then, length)) return Trial{std::move(*then), length};
  }
  return {};
}

void go_to(StaticSearch& search, TrialPoint&& then, TrialPoint& now) {
  search.system.follow_angles(then.state, search.work);
  now = std::move(then);
}

void keep_better(std::optional<Trial>&& then, TrialPoint& now) {
  if (then && then->point.excess < now.excess) now = std::move(then->point);
}

}  // namespace liedyn
