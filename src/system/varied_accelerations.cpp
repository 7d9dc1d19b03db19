#include "liedyn/system/varied_accelerations.h"

#include <algorithm>

#include "liedyn/base/index.h"
#include "liedyn/system/projection.h"

namespace liedyn {
namespace {

// M of the velocities-like unknowns and B of a level, factorised, without the rows `left_out` and with unknowns at rest (may be null).
bool factorize(const VariedSystem& system, const State& state, RowLevel level,
               const std::vector<int>& left_out, const std::vector<bool>* at_rest, VariedWork& varied) {
  Work& work = varied.plain;
  MatrixRequest request;
  request.force = {0, 0, 1};
  request.row = level == RowLevel::Acceleration ? Seeding{0, 0, 1} : Seeding{0, 1, 0};
  request.level = level;
  return work.factorize(system.plain(), [&] {
    system.plain().jacobian(state, work, {false, true, true}, request);
    work.hold(left_out, at_rest);
    return varied.take_matrix();
  });
}

}  // namespace

bool constrained_increment(const VariedSystem& system, const VariedState& state, const std::vector<Varied>& y,
                           const std::vector<int>& left_out, const std::vector<bool>* at_rest,
                           VariedWork& work, std::vector<Varied>& out) {
  const std::size_t nv = state.v.size();
  set_values(state, work.values);
  if (!factorize(system, work.values, RowLevel::Velocity, left_out, at_rest, work)) return false;
  if (work.transposed && !work.plain.solver->factorize()) return false;
  std::vector<double>& right = work.plain.right;
  std::fill(right.begin(), right.end(), 0.0);
  for (std::size_t i = 0; i < y.size(); ++i) right[nv + i] = y[i].v;
  for (const int row : left_out) right[nv + at(row)] = 0;
  work.plain.solver->solve(right.data());
  const std::vector<double> x(right.begin(), right.begin() + static_cast<std::ptrdiff_t>(nv)),
      mu(right.begin() + static_cast<std::ptrdiff_t>(nv), right.end());

  // r is affine in vdot, B^T mu comes from the joints, B v + Phi_t is affine in v: their differences are M x and B x.
  const RowRequest rows{false, true, false};
  VariedState moved = state;
  for (Varied& a : moved.vdot) a = Varied(0);
  for (Varied& v : moved.v) v = Varied(0);
  system.residual(moved, work, rows);
  const std::vector<Varied> before = work.r, rate_before = work.rate;
  set_constants(x, moved.vdot);
  system.residual(moved, work, rows);
  std::vector<Varied> defect = work.r, forces, multipliers;
  set_constants(mu, multipliers);
  multipliers.resize(y.size());
  system.constraint_forces(moved, multipliers, work, forces);
  for (std::size_t i = 0; i < nv; ++i) defect[i] += forces[i] - before[i];
  set_constants(x, moved.v);
  system.residual(moved, work, rows);
  std::vector<Varied> rest = work.rate;
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= rate_before[i] + y[i];
  if (at_rest != nullptr)
    for (std::size_t i = 0; i < nv; ++i)
      if ((*at_rest)[i]) defect[i] = Varied(0);
  for (const int row : left_out) rest[at(row)] = Varied(0);
  defect.insert(defect.end(), rest.begin(), rest.end());
  std::vector<double> values = x;
  values.resize(defect.size());
  out = system.solve(work, defect, values);
  out.resize(nv);
  return true;
}

namespace {

// The same into work.right, with the rows of the state and all velocities free.
bool constrained_increment(const VariedSystem& system, const VariedState& state, const std::vector<Varied>& y,
                           VariedWork& work) {
  const std::vector<Varied> rows = y;  // which may be those of `work`
  return constrained_increment(system, state, rows, state.redundant, nullptr, work, work.right);
}

// vdot and lambda of the state: their values as work.values has them, which solve the equations, and their derivatives. False: the matrix is singular.
bool vary_accelerations(const VariedSystem& system, VariedState& state, VariedWork& work) {
  if (!factorize(system, work.values, RowLevel::Acceleration, work.values.redundant, nullptr, work))
    return false;
  set_constants(work.values.vdot, state.vdot);
  set_constants(work.values.lambda, state.lambda);
  system.residual(state, work, {false, false, true});
  std::vector<Varied> right = work.r;
  right.insert(right.end(), work.acceleration.begin(), work.acceleration.end());
  for (const int row : state.redundant) right[state.v.size() + at(row)] = Varied(0);
  std::vector<double> values = work.values.vdot;
  values.insert(values.end(), work.values.lambda.begin(), work.values.lambda.end());
  const std::vector<Varied> x = system.solve(work, right, values);
  std::copy_n(x.begin(), state.vdot.size(), state.vdot.begin());
  std::copy(x.begin() + static_cast<std::ptrdiff_t>(state.vdot.size()), x.end(), state.lambda.begin());
  return true;
}

}  // namespace

bool solve_accelerations(const VariedSystem& system, VariedState& state, VariedWork& work) {
  set_values(state, work.values);
  return solve_accelerations(system.plain(), work.values, work.plain) &&
         vary_accelerations(system, state, work);
}

bool shifted_state(const VariedSystem& system, const VariedState& state, double sh, VariedState& shifted,
                   std::vector<Varied>& theta, VariedWork& work) {
  return shifted_state_of<Varied>(system, state, sh, shifted, theta, work);
}

std::vector<Varied> constrained_part(const VariedSystem& system, const VariedState& state,
                                     const std::vector<Varied>& y, VariedWork& work) {
  return constrained_part_of<Varied>(system, state, y, work, [&](const std::vector<Varied>& rate) {
    return constrained_increment(system, state, rate, work);
  });
}

bool forbidden_velocity(const VariedSystem& system, const VariedState& state, VariedWork& work) {
  return forbidden_velocity_of<Varied>(system, state, work, [&](const std::vector<Varied>& rate) {
    return constrained_increment(system, state, rate, work);
  });
}

void VariedAccelerations::prepare(const VariedState& state, VariedWork& work) {
  set_values(state, work.values);
  plain_.prepare(work.values, work.plain);
}

bool VariedAccelerations::solve(VariedState& state, VariedWork& work, CorrectorOutcome& outcome) {
  set_values(state, work.values);
  if (!plain_.solve(work.values, work.plain, outcome)) return false;
  if (!vary_accelerations(*system_, state, work)) {
    outcome.failure = CorrectorFailure::Singular;
    outcome.worst = work.plain.solver->singular_unknown();
    return false;
  }
  last_ = state;
  return true;
}

void VariedAccelerations::constraint_increment(const std::vector<Varied>& residual, VariedWork& work) const {
  constrained_increment(*system_, last_, residual, work);
  for (Varied& x : work.right) x = -x;
}

}  // namespace liedyn
