#include "system/initial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/nodes/stage.h"

namespace liedyn {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out = std::isfinite(x) ? std::max(out, std::abs(x)) : std::abs(x);
  return out;
}

// Assembles and factorises. The block solver pivots inside blocks only: where that fails, full pivoting has the last word.
bool factorize(const System& system, const State& state, const RowRequest& rows, const MatrixRequest& request,
               const std::vector<bool>* held, Work& work) {
  for (;;) {
    system.jacobian(state, work, rows, request);
    if (held != nullptr) work.solver->hold(*held);
    if (work.solver->factorize()) return true;
    if (work.solver->name() != "block") return false;
    work.use_solver(system, "klu");
  }
}

// One step of a projection: the increment d of least d^T M d with B d = -residual, held unknowns at rest.
bool projection_step(const System& system, const State& state, const RowRequest& rows, RowLevel level,
                     const std::vector<bool>* free, const std::vector<double>& residual, Work& work) {
  MatrixRequest request;
  request.force = {0, 0, 1};
  request.row = level == RowLevel::Position ? Seeding{1, 0, 0} : Seeding{0, 1, 0};
  request.level = level;
  const int nv = system.model().nv;
  std::vector<bool> held;
  // Rows at velocity level say nothing about positions.
  const bool hold_rows = level == RowLevel::Position && system.model().velocity_rows > 0;
  if (free != nullptr || hold_rows) held.assign(at(system.unknowns()), false);
  if (free != nullptr)
    for (int i = 0; i < nv; ++i) held[at(i)] = !(*free)[at(i)];
  if (hold_rows)
    for (int i = 0; i < system.model().rows; ++i) held[at(nv + i)] = system.model().is_velocity_row(i);
  if (!factorize(system, state, rows, request, held.empty() ? nullptr : &held, work)) return false;
  std::fill(work.right.begin(), work.right.begin() + nv, 0.0);
  for (std::size_t i = 0; i < residual.size(); ++i) work.right[at(nv) + i] = -residual[i];
  work.solver->solve(work.right.data());
  return std::isfinite(largest(work.right));
}

constexpr double kPositionTolerance = 1e-8;  // of the model's size
constexpr double kVelocityTolerance = 1e-8;  // of the largest velocity

double size_of(const Work& work) {
  double size = 0;
  for (const Motion<double>& m : work.motions) size = std::max(size, m.p.cwiseAbs().maxCoeff());
  return std::max(size, 1.0);
}

double position_tolerance(const Work& work) { return kPositionTolerance * size_of(work); }
double velocity_tolerance(const System& system, const State& state) {
  double speed = 1;
  for (int i = 0; i < system.model().first_state(); ++i) speed = std::max(speed, std::abs(state.v[at(i)]));
  return kVelocityTolerance * speed;
}

std::vector<Diagnostic> violations(const System& system, const std::vector<double>& residual,
                                   double tolerance, const std::string& what, const std::string& hint) {
  constexpr std::size_t kMost = 20;
  const Model& model = system.model();
  std::vector<Diagnostic> out;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    if (std::abs(residual[i]) <= tolerance) continue;
    if (out.size() == kMost) {
      out.push_back({model.description().file, 0, "", "more rows are violated", ""});
      break;
    }
    out.push_back({model.description().file, model.joint_of(static_cast<int>(i)).line,
                   model.row_name(static_cast<int>(i)),
                   fmt::format("the initial {} violate this constraint by {:.3g}", what, residual[i]),
                   out.empty() ? hint : ""});
  }
  return out;
}

// vdot and lambda, or an InputError that names what is not determined.
void require_accelerations(const System& system, State& state, Work& work) {
  if (solve_accelerations(system, state, work)) return;
  const Model& model = system.model();
  const std::string& file = model.description().file;
  const int suspect = work.solver->singular_unknown();
  if (suspect < 0)
    throw InputError({{file, 0, "", "the equations of motion do not determine the accelerations",
                       "`liedyn check` names redundant constraints"}});
  const std::string name = system.unknown_name(suspect);
  if (suspect < model.nv)
    throw InputError({{file, model.body_of(suspect).line, name,
                       "nothing determines this acceleration: no mass and no joint holds it",
                       "give the body a mass and an inertia, or a joint that holds it"}});
  throw InputError({{file, model.joint_of(suspect - model.nv).line, name,
                     "this constraint is redundant or contradicts others: the multipliers are not unique",
                     "remove the joint or free the direction that is held twice"}});
}

bool any(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

}  // namespace

bool project_positions(const System& system, State& state, const std::vector<bool>* free, Work& work) {
  constexpr int kMaxIterations = 50;
  for (int i = 0; i < kMaxIterations; ++i) {
    system.residual(state, work, {});
    const double before = largest(work.phi);
    if (before <= 1e-3 * position_tolerance(work) * kPositionTolerance || before == 0) return true;
    const std::vector<double> residual = work.phi;
    if (!projection_step(system, state, {}, RowLevel::Position, free, residual, work)) return false;
    for (const Node& node : system.model().nodes)
      increment_position(node.type, work.right.data() + node.v, state.q.data() + node.q);
    system.residual(state, work, {});
    // At round-off it no longer falls.
    const double after = largest(work.phi);
    if (after <= position_tolerance(work) && after > 0.1 * before) return true;
  }
  return largest(work.phi) <= position_tolerance(work);
}

bool project_velocities(const System& system, State& state, const std::vector<bool>* free, Work& work) {
  const RowRequest rows{false, true, false};
  // Linear in v: the second step removes the round-off of the first.
  for (int i = 0; i < 2; ++i) {
    system.residual(state, work, rows);
    if (largest(work.rate) == 0) return true;
    const std::vector<double> residual = work.rate;
    if (!projection_step(system, state, rows, RowLevel::Velocity, free, residual, work)) return false;
    for (std::size_t k = 0; k < state.v.size(); ++k) state.v[k] += work.right[k];
  }
  system.residual(state, work, rows);
  return largest(work.rate) <= velocity_tolerance(system, state);
}

bool solve_accelerations(const System& system, State& state, Work& work) {
  const Model& model = system.model();
  std::fill(state.vdot.begin(), state.vdot.end(), 0.0);
  std::fill(state.lambda.begin(), state.lambda.end(), 0.0);
  const RowRequest rows{false, false, true};
  MatrixRequest request;
  request.force = {0, 0, 1};
  request.row = {0, 0, 1};
  request.level = RowLevel::Acceleration;
  if (!factorize(system, state, rows, request, nullptr, work)) return false;
  // Linear in vdot and lambda: the second solve refines. Forces that depend on lambda make it Newton's method.
  const int solves = model.forces_use_multipliers ? 8 : 2;
  for (int i = 0; i < solves; ++i) {
    if (i > 0 && model.forces_use_multipliers) {
      if (!factorize(system, state, rows, request, nullptr, work)) return false;
    } else if (i > 0) {
      system.residual(state, work, rows);
    }
    for (int k = 0; k < model.nv; ++k) work.right[at(k)] = -work.r[at(k)];
    for (int k = 0; k < model.rows; ++k) work.right[at(model.nv + k)] = -work.acceleration[at(k)];
    work.solver->solve(work.right.data());
    for (int k = 0; k < model.nv; ++k) state.vdot[at(k)] += work.right[at(k)];
    for (int k = 0; k < model.rows; ++k) state.lambda[at(k)] += work.right[at(model.nv + k)];
  }
  return std::isfinite(largest(state.vdot)) && std::isfinite(largest(state.lambda));
}

bool shifted_state(const System& system, const State& state, double sh, State& shifted,
                   std::vector<double>& theta, Work& work) {
  shifted = state;
  shifted.t += sh;
  theta.resize(state.v.size());
  for (std::size_t i = 0; i < theta.size(); ++i) {
    theta[i] = sh * state.v[i] + 0.5 * sh * sh * state.vdot[i];
    shifted.v[i] += sh * state.vdot[i];
  }
  for (const Node& node : system.model().nodes)
    increment_position(node.type, theta.data() + node.v, shifted.q.data() + node.q);
  return solve_accelerations(system, shifted, work);
}

std::vector<double> constrained_part(const System& system, const State& state, const std::vector<double>& y,
                                     Work& work) {
  const RowRequest rows{false, true, false};
  State moved = state;
  moved.v = y;
  system.residual(moved, work, rows);
  std::vector<double> rate = work.rate;  // B y + Phi_t
  std::fill(moved.v.begin(), moved.v.end(), 0.0);
  system.residual(moved, work, rows);
  for (std::size_t i = 0; i < rate.size(); ++i) rate[i] = work.rate[i] - rate[i];
  if (!projection_step(system, state, rows, RowLevel::Velocity, nullptr, rate, work)) return {};
  return {work.right.begin(), work.right.begin() + static_cast<std::ptrdiff_t>(y.size())};
}

bool forbidden_velocity(const System& system, const State& state, Work& work) {
  const RowRequest rows{false, true, false};
  system.residual(state, work, rows);
  // The increment d with B d = -(B v + Phi_t), with the opposite sign.
  if (!projection_step(system, state, rows, RowLevel::Velocity, nullptr, work.rate, work)) return false;
  for (int i = 0; i < system.model().nv; ++i) work.right[at(i)] = -work.right[at(i)];
  return true;
}

State consistent_state(const System& system, double t, InitialPolicy policy, Work& work) {
  const Model& model = system.model();
  std::vector<Diagnostic> findings = check_numbers(model, system.params().values().data());
  if (!findings.empty()) throw InputError(findings);

  Initial initial = initial_values(model, system.params().values().data());
  State state = system.empty_state();
  state.t = t;
  state.q = initial.q;
  state.v = initial.v;
  const bool project = policy == InitialPolicy::Project;

  system.residual(state, work, {true, true, false});
  if (largest(work.phi) > position_tolerance(work) && (project || any(initial.free_position)))
    project_positions(system, state, project ? nullptr : &initial.free_position, work);
  system.follow_angles(state, work);
  system.residual(state, work, {true, true, false});
  findings = violations(
      system, work.phi, position_tolerance(work), "positions",
      "correct them, mark a position or orientation as \"consistent\", or run with --initial project");
  if (!findings.empty()) throw InputError(findings);

  if (largest(work.rate) > 0 && (project || any(initial.free_velocity)) &&
      !project_velocities(system, state, project ? nullptr : &initial.free_velocity, work))
    require_accelerations(system, state, work);  // redundant rows have no unique answer here either
  system.residual(state, work, {true, true, false});
  findings = violations(
      system, work.rate, velocity_tolerance(system, state), "velocities",
      "correct them, mark a velocity or angular_velocity as \"consistent\", or run with --initial project");
  if (!findings.empty()) throw InputError(findings);

  require_accelerations(system, state, work);
  return state;
}

}  // namespace liedyn
