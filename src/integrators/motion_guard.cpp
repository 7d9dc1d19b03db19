#include "liedyn/integrators/motion_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "liedyn/model/forces/watched_contact.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/model/states/signal_batch.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/redundancy.h"

namespace liedyn {
namespace {

constexpr long kInterval = 128;     // steps between two looks: less than a percent of the time of a run
constexpr double kGrown = 2;        // times the speed at the last look: worth another one
constexpr double kOpenJoint = 0.1;  // of the model's length, or rad
constexpr double kDrift = 1e-3;     // the same
constexpr double kSuspicious =
    0.02;                         // of the largest speed: worth the factorisation that the exact figure needs
constexpr double kAtRest = 1e-6;  // of the model's length, moved since the start
// Methods of index 3 may have transients that pass. What grows beyond these, or is there at the end, does not.
constexpr double kForbiddenEnergy = 0.05,
                 kEnergyGrowth = 10;  // times what was there before: worth to be followed
constexpr double kExplosion = 1000;   // times that: never passes
constexpr double kInaccurate = 0.5;   // of what there was: worth a warning
constexpr double kWorkMargin =
    100;  // times the work between two looks, which the power at the second gives roughly

constexpr const char* kAdvice =
    "the step is beyond the limit of stability. Use a smaller step, more numerical damping (a smaller rho), "
    "formulation r3so3-spatial or index=stabilized";

}  // namespace

MotionGuard::MotionGuard(const System& system, const State& start, Work& work)
    : system_(&system), start_(start.t), follows_energy_(system.params().timed().empty()) {
  for (const auto& batch : system.model().batches) {
    follows_energy_ &= dynamic_cast<const SignalBatch*>(batch.get()) == nullptr;
    may_lose_energy_ |= dynamic_cast<const WatchedContacts*>(batch.get()) != nullptr;
  }
  const ConstraintScales scales = constraint_scales(system, start, work);
  length_ = scales.length;
  is_angle_.reserve(scales.row.size());
  for (const double scale : scales.row) is_angle_.push_back(scale != 1);
  if (system.model().rows > 0) system.residual(start, work, {true, true, false});  // makes room for the rows
  const Look now = energy_at(start, work);
  begin_ = now;
  start_state_ = start;
  seen_ = {now.kinetic, now.potential, now.potential};
  before_ = {now, seen_};
}

MotionGuard::~MotionGuard() = default;

void MotionGuard::archive(Archive& a) {
  bool has_own = own_ != nullptr;
  a(start_, length_, is_angle_, follows_energy_, drifts_, watches_energy_, begin_.t, begin_.kinetic,
    begin_.potential, steps_, speed_, seen_, before_, has_own);
  for_each_vector(start_state_, [&](std::vector<double>& part) { a(part); });
  a(start_state_.t, start_state_.angles, start_state_.redundant);
  if (has_own && !own_) own_ = std::make_unique<Work>(*system_);
  if (!has_own) own_.reset();
  if (own_) own_->archive(*system_, a);
}

void MotionGuard::Extremes::include(const Look& look) {
  kinetic = std::max(kinetic, look.kinetic);
  least_potential = std::min(least_potential, look.potential);
  most_potential = std::max(most_potential, look.potential);
}

MotionGuard::Look MotionGuard::energy_at(const State& state, Work& work) const {
  const Energy energy = system_->energy(state, work);
  return {state.t, energy.kinetic, energy.potential};
}

std::string MotionGuard::after_step(const State& state, bool last, Work& work) {
  double speed = 0;
  for (const double v : state.v) speed = std::max(speed, std::abs(v));
  if (++steps_ < kInterval && speed <= kGrown * speed_ && !last) return {};
  steps_ = 0;
  speed_ = speed;
  const Look now = energy_at(state, work);
  if (!std::isfinite(now.kinetic)) return fmt::format("the kinetic energy is infinite; {}", kAdvice);
  double forbidden = 0;
  if (system_->model().rows > 0) {
    system_->residual(state, work, {true, true, false});
    work.clear_residuals(state.redundant);
    if (std::string found = violated_positions(work, state.t); !found.empty()) return found;
    forbidden = forbidden_energy(state, work);
  }
  // In the first step also of what is allowed now: a drive that begins to move what is at rest had no energy before. The two parts are orthogonal,
  // T = T_allowed + T_forbidden.
  const bool first = before_.t == start_;
  const double kinetic = first ? std::max(seen_.kinetic, now.kinetic - forbidden) : seen_.kinetic;
  if (forbidden > (last ? kForbiddenEnergy : kExplosion) * kinetic)
    return fmt::format(
        "velocities violate the constraints: the part that violates them has {:.2g} times the kinetic energy "
        "of the motion; {}",
        forbidden / kinetic, kAdvice);
  const double range = before_.seen.range(), gained = unexplained_energy(state, now, range);
  if (gained > (last ? kEnergyGrowth : kExplosion) * range)
    return fmt::format(
        "the energy grew by {:.3g} J since t = {:.6g}, far beyond the previous {:.3g} J and the work of the "
        "forces; {}",
        gained, before_.t, range, kAdvice);
  // What is doubtful is no measure of what comes.
  if (gained > 0 || forbidden > kForbiddenEnergy * kinetic) return {};
  watch_energy(state, now);
  seen_.include(now);
  // Slow exponential growth shows over a time that is as long as all before.
  if (now.t - start_ >= 2 * (before_.t - start_)) before_ = {now, seen_};
  return {};
}

std::string MotionGuard::violated_positions(const Work& work, double t) {
  std::size_t worst = 0;
  double most = 0;  // of the model's length, or rad
  for (std::size_t i = 0; i < work.phi.size(); ++i) {
    const double violation = std::abs(work.phi[i]) / (is_angle_[i] ? 1 : length_);
    if (violation <= most || system_->model().is_velocity_row(static_cast<int>(i))) continue;
    most = violation;
    worst = i;
    if (!(most <= kOpenJoint)) break;
  }
  if (most <= kDrift) return {};
  const std::string name = system_->model().row_name(static_cast<int>(worst));
  const char* unit = is_angle_[worst] ? "rad" : "m";
  if (!(most <= kOpenJoint))
    return fmt::format("constraint '{}' is violated by {:.3g} {} (allowed: {:.3g}); {}", name,
                       work.phi[worst], unit, kOpenJoint * (is_angle_[worst] ? 1 : length_), kAdvice);
  if (!drifts_)
    warning_ = fmt::format(
        "t = {:.6g}: positions drift from the constraints, '{}' by {:.2g} {}: the result is inaccurate from "
        "here on; use index=3 or index=stabilized, or a smaller step",
        t, name, std::abs(work.phi[worst]), unit);
  drifts_ = true;
  return {};
}

// Of the velocities that the constraints forbid; 0 where they are surely small.
double MotionGuard::forbidden_energy(const State& state, const Work& work) {
  double speed = 0, violation = 0;
  for (const Motion<double>& m : work.motions)
    speed =
        std::max({speed, m.V.head<3>().cwiseAbs().maxCoeff(), length_ * m.V.tail<3>().cwiseAbs().maxCoeff()});
  for (std::size_t i = 0; i < work.rate.size(); ++i)
    violation = std::max(violation, std::abs(work.rate[i]) * (is_angle_[i] ? length_ : 1));
  // What has moved by a millionth of the model's length since the start, at this speed, is at rest: only round-off moves it.
  if (violation <= kSuspicious * speed || speed * (state.t - start_) <= kAtRest * length_) return 0;
  if (!own_) own_ = std::make_unique<Work>(*system_);
  if (!forbidden_velocity(*system_, state, *own_)) return 0;
  State forbidden = state;
  std::copy_n(own_->right.begin(), forbidden.v.size(), forbidden.v.begin());
  return energy_at(forbidden, *own_).kinetic;
}

// What the energy gained since the last look beyond `range` and the work of the forces; 0 where that explains it.
double MotionGuard::unexplained_energy(const State& state, const Look& now, double range) {
  if (!follows_energy_) return 0;
  const double gained = now.total() - before_.total(), span = now.t - before_.t;
  // What starts from rest gains energy with the square of time: instability is exponential.
  const double natural = std::pow((now.t - start_) / (before_.t - start_), 2);
  if (!(gained > kEnergyGrowth * range * natural) ||
      gained <= 0.5 * std::max(now.kinetic, std::abs(now.potential - before_.potential)) ||
      gained <= kWorkMargin * largest_power(state, gained, span, 1) * span)
    return 0;
  return gained;
}

// Methods may damp or feed a motion that their steps do not resolve: energy that no force takes or gives. Asked once: forces that explain one change may explain all.
void MotionGuard::watch_energy(const State& state, const Look& now) {
  if (!follows_energy_ || !watches_energy_ || (may_lose_energy_ && now.total() < begin_.total())) return;
  const double change = now.total() - begin_.total(), span = now.t - start_;
  Extremes seen = seen_;
  seen.include(now);
  if (!(std::abs(change) > kInaccurate * seen.range())) return;
  watches_energy_ = false;
  const auto explains = [&](const State& at) {
    const double power = largest_power(at, std::abs(change), span, change < 0 ? -1 : 1);
    return std::abs(change) <= kWorkMargin * power * span;
  };
  if (explains(state) || explains(start_state_)) return;
  const bool lost = change < 0;
  warning_ = fmt::format(
      "t = {:.6g}: the energy has {} by {:.3g} J since the start, which no force explains (the energies of "
      "the "
      "motion vary by {:.3g} J): the steps do not resolve the motion, and the method {} it. Use smaller "
      "steps{}",
      now.t, lost ? "decreased" : "increased", std::abs(change), seen.range(), lost ? "damps" : "excites",
      system_->model().has_conventional_nodes()
          ? ", or a formulation on a Lie group (r3so3, r3so3-spatial) instead of angles or Euler parameters"
          : "");
}

// dE/dt along (q' = v, v' = vdot), where vdot is what the equations of motion give: the power of all that is not in E.
double MotionGuard::power(State& state, double dt) {
  if (!solve_accelerations(*system_, state, *own_)) return INFINITY;
  State probe = state;
  std::vector<double> theta(state.v.size());
  double energy[2];
  for (const int side : {0, 1}) {
    const double part = side == 0 ? -dt : dt;
    probe.q = state.q;
    for (std::size_t i = 0; i < theta.size(); ++i) {
      theta[i] = part * state.v[i];
      probe.v[i] = state.v[i] + part * state.vdot[i];
    }
    for (const Node& node : system_->model().nodes)
      increment_position(node.type, theta.data() + node.v, probe.q.data() + node.q);
    energy[side] = energy_at(probe, *own_).total();
  }
  return (energy[1] - energy[0]) / (2 * dt);
}

// The power of the forces at the state (with sign = -1 what they take), had it the kinetic energy given and moved along its accelerations, either way: forces that can
// supply energy show it there, even where the motion itself turns.
double MotionGuard::largest_power(const State& at, double kinetic, double span, int sign) {
  if (!own_) own_ = std::make_unique<Work>(*system_);
  State state = at;
  state.v = at.vdot;
  if (system_->model().rows > 0 && !project_velocities(*system_, state, nullptr, *own_)) return INFINITY;
  const double unscaled = energy_at(state, *own_).kinetic;
  if (!(unscaled > 0)) return INFINITY;
  double most = 0;
  for (double& v : state.v) v *= std::sqrt(kinetic / unscaled);
  for (int side = 0; side < 2; ++side) {
    const double found = power(state, 1e-6 * span);
    if (!std::isfinite(found)) return INFINITY;
    most = std::max(most, sign * found);
    for (double& v : state.v) v = -v;
  }
  return most;
}

}  // namespace liedyn
