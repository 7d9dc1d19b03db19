#include "liedyn/analyses/statics/sparse_newton.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "liedyn/analyses/shifted_matrix.h"
#include "liedyn/analyses/statics/leave_unstable.h"
#include "liedyn/analyses/statics/runaway.h"
#include "liedyn/analyses/statics/stability.h"
#include "liedyn/base/largest.h"
#include "liedyn/system/assembly.h"
#include "liedyn/system/initial.h"

namespace liedyn {
namespace {

using Eigen::VectorXd;

struct SparseStep {
  std::vector<double> d;          // of positions and states, then of multipliers
  std::vector<double> predicted;  // forces with the section forces predicted; without states
};

// The step with K + mu M. Empty: the matrix is singular.
std::optional<SparseStep> step_of_bodies(const StaticSearch& search, const State& state, double mu) {
  const System& system = search.system;
  Work& work = search.work;
  MatrixRequest request;
  request.force = {1, 0, mu};
  request.row = {1, 0, 0};
  request.velocity_row = {0, 1, 0};  // what must not slip does not on the way to the equilibrium either
  SparseStep out;
  const bool regular = work.factorize(system, [&] {
    search.section_forces.impose(state, work, [&] { system.jacobian(state, work, {}, request); });
    out.predicted = work.r;
    if (!state.redundant.empty()) work.hold(state.redundant);
    return work.solver->factorize();
  });
  if (!regular) return {};
  system.residual(state, work, {});
  const int nv = system.model().nv;
  for (int i = 0; i < nv; ++i) work.right[at(i)] = -work.r[at(i)];
  for (int i = 0; i < system.model().rows; ++i) work.right[at(nv + i)] = -work.phi[at(i)];
  for (const int row : state.redundant) work.right[at(nv + row)] = 0;
  work.solver->solve(work.right.data());
  out.d = work.right;
  return out;
}

std::optional<SparseStep> step_with_states(StaticSearch& search, const State& state) {
  Work& work = search.work;
  Linearization l = linearize(search.system, state, Vec3::Zero(), work);
  // Rows at velocity level hold displacements: what must not slip does not on the way to the equilibrium either.
  l.velocity_row.assign(l.velocity_row.size(), false);
  l.B_y.setZero();
  search.imbalance.set_rate_scales(l, state);
  ShiftedMatrix matrix(search.system.model(), l, state.redundant);
  search.system.residual(state, work, {});
  const auto nv = l.M.rows();
  if (!matrix.factorize(0)) return {};
  const VectorXd right = -(l.Q.transpose() * Eigen::Map<const VectorXd>(work.r.data(), nv));
  std::vector<double> rows;
  for (const double phi : work.phi) rows.push_back(-phi);
  VectorXd y(nv);
  SparseStep out;
  out.d = work.right;
  matrix.solve(right.data(), rows.data(), y.data(), out.d.data() + nv);
  Eigen::Map<VectorXd>(out.d.data(), nv) = l.Q * y;
  return out;
}

// Leaves the residuals of the state in the workspace.
std::optional<SparseStep> sparse_step(StaticSearch& search, const State& state, double mu = 0) {
  std::optional<SparseStep> out =
      search.has_states() ? step_with_states(search, state) : step_of_bodies(search, state, mu);
  if (out && !std::isfinite(largest(out->d))) return {};
  return out;
}

State stepped(const System& system, const State& state, const std::vector<double>& step, double length) {
  const int nv = system.model().nv;
  State out = incremented(system, state, length * Eigen::Map<const VectorXd>(step.data(), nv));
  for (std::size_t i = 0; i < out.lambda.size(); ++i) out.lambda[i] += length * step[at(nv) + i];
  return out;
}

// The largest displacement, relative to the subsystem, or rotation.
double length_of(const StaticSearch& search, const std::vector<double>& step) {
  double out = 0;
  for (int i = 0; i < search.system.model().nv; ++i)
    out = std::max(out, std::abs(step[at(i)]) / search.scales().units()[i]);
  return out;
}

double work_of_step(const std::vector<double>& step, const std::vector<double>& force, int nv) {
  return std::inner_product(force.begin(), force.begin() + nv, step.begin(), 0.0);
}

// By Newton's method to an equilibrium, stable or not.
bool converge(StaticSearch& search, State& state) {
  constexpr int kIterations = 60;
  constexpr double kShortest = 0.01, kSettled = 1e-14, kFine = 1e-10;
  const System& system = search.system;
  const int nv = system.model().nv;
  double now = search.imbalance.evaluate(state, false), before = INFINITY;
  std::optional<SparseStep> step = sparse_step(search, state);
  if (!step) return false;
  std::vector<double> r = search.work.r;
  for (int i = 0; i < kIterations && std::isfinite(now); ++i) {
    ++search.report.iterations;
    const double way = length_of(search, step->d), extent = search.extent();
    const bool settled = way <= kSettled * extent || (way <= kFine * extent && way > 0.5 * before);
    if (now <= 1 || settled) {
      // One step more squares the error.
      State trial = stepped(system, state, step->d, 1);
      if (search.imbalance.evaluate(trial, false) < now) state = std::move(trial);
      search.section_forces.forget();
      search.imbalance.set_round_off(state);
      return search.imbalance.evaluate(state) <= (settled ? kLeftByRoundOff : 1);
    }
    double length = rotation_limit(system.model(), step->d.data()), then = INFINITY;
    const double slope = work_of_step(step->d, r, nv);
    State trial;
    std::optional<SparseStep> next;
    for (bool good = false; !good; length /= 2) {
      if (length < kShortest) return false;
      trial = stepped(system, state, step->d, length);
      search.section_forces.predict(state, length * Eigen::Map<const VectorXd>(step->d.data(), nv),
                                    search.work);
      then = search.imbalance.evaluate(trial, false);
      if (!std::isfinite(then) || !(next = sparse_step(search, trial))) continue;
      // Work by the trapezoidal rule, as in descend().
      good = then <= 1 || length_of(search, next->d) <= (1 - length / 4) * way ||
             (slope < 0 && work_of_step(step->d, next->predicted, nv) < -0.9 * slope);
    }
    state = std::move(trial);
    step = std::move(next);
    r = search.work.r;
    system.follow_angles(state, search.work);
    before = way;
    now = then;
  }
  return false;
}

}  // namespace

bool go_straight(StaticSearch& search, State& state) {
  return converge(search, state) && !leaving_motion(search.system, state, search.work);
}

bool descend_slowly(StaticSearch& search, State& state) {
  constexpr int kIterations = 400;
  const System& system = search.system;
  Work& work = search.work;
  const double scale = first_shift(search, state), least = 1e-9 * scale, most = 1e12 * scale;
  double mu = scale;
  for (int i = 0; i < kIterations && mu <= most; ++i) {
    search.imbalance.set_round_off(state);
    const double now = search.imbalance.evaluate(state);
    if (runs_away(search, state)) return false;
    const double violation = search.imbalance.violation();
    const bool close = now <= 1;
    ++search.report.iterations;
    const VectorXd r = Eigen::Map<const VectorXd>(work.r.data(), system.model().nv);
    const std::optional<SparseStep> step = sparse_step(search, state, close ? least : mu);
    if (!step) {
      if (close) return true;
      mu *= 10;
      continue;
    }
    if (close) {
      // One step more squares the error.
      State trial = stepped(system, state, step->d, 1);
      if (search.imbalance.evaluate(trial) < now) state = std::move(trial);
      return true;
    }
    // Forces decrease on the way to an unstable equilibrium too: far from balance only the work decides.
    const bool far = violation <= 1 && now > 1e3;
    const Eigen::Map<const VectorXd> y(step->d.data(), r.size());
    const double first = y.dot(r), limit = rotation_limit(system.model(), step->d.data());
    // Back onto the constraints, so that forces of different states are comparable.
    State trial = stepped(system, state, step->d, limit);
    const bool uphill = far && first > 0;
    const bool placed = !uphill && project_positions(system, trial, nullptr, work);
    const double then = placed ? search.imbalance.evaluate(trial) : now;
    // Work done on the way, by the trapezoidal rule: there need not be a potential of all loads.
    const double last = y.dot(Eigen::Map<const VectorXd>(work.r.data(), r.size()));
    const bool down = first + last < 0;
    if (!placed || !std::isfinite(then) || !(down || (!far && then <= now))) {
      mu *= 4;
      continue;
    }
    // What still drives it on at the end would have carried it further.
    const double further = far && last < 0.25 * first ? 0.4 : 1;
    const double ratio = limit < 1 ? 1 : further * std::clamp(then / now, 0.05, 1.5);
    mu = std::max(mu * ratio * (then < 1e6 ? 0.1 : 1), least);
    state = std::move(trial);
    system.follow_angles(state, work);
  }
  return false;
}

bool reduce_residuals(StaticSearch& search, State& state) {
  constexpr int kIterations = 60;
  constexpr double kShortest = 1e-6;
  const System& system = search.system;
  if (search.has_states())
    search.imbalance.set_rate_scales(linearize(system, state, Vec3::Zero(), search.work), state);
  for (int i = 0; i < kIterations; ++i) {
    search.imbalance.set_round_off(state);
    const double now = search.imbalance.evaluate(state);
    const bool close = now <= 1;
    ++search.report.iterations;
    const std::optional<SparseStep> step = sparse_step(search, state);
    if (!step) return close;
    double length = rotation_limit(system.model(), step->d.data());
    State trial = stepped(system, state, step->d, length);
    double then = search.imbalance.evaluate(trial);
    if (close) {
      // One step more squares the error.
      if (then < now) state = std::move(trial);
      return true;
    }
    while (!(then < (1 - 0.1 * length) * now)) {
      length /= 2;
      if (length < kShortest) return false;
      trial = stepped(system, state, step->d, length);
      then = search.imbalance.evaluate(trial);
    }
    state = std::move(trial);
    system.follow_angles(state, search.work);
  }
  return false;
}

void refine(StaticSearch& search, State& state) {
  constexpr double kNear = 0.1;
  if (search.has_states()) return;
  search.section_forces.forget();
  State refined = state;
  if (converge(search, refined) && distance_between(search.system, state, refined) <= kNear &&
      search.imbalance.evaluate(refined, false) < search.imbalance.evaluate(state, false))
    state = std::move(refined);
}

}  // namespace liedyn
