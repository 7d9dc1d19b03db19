#include "liedyn/analyses/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "liedyn/base/error.h"
#include "liedyn/model/parameter_paths.h"
#include "liedyn/model/sensors/events.h"
#include "liedyn/model/states/signal_batch.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/subsystems.h"

namespace liedyn {
namespace {

// A velocity that violates a constraint may move it by this part of its length in one step; a position by as much.
constexpr double kAllowed = 1e-8;

bool is_initial_value(const ParameterPlace& place) {
  return place.entry != nullptr && place.kind_field()->is_initial;
}

// Whether it says where a body stands at the start.
bool is_initial_place(const Field& field) {
  return field.is_initial && (field.pose == PoseRole::Point || field.pose == PoseRole::Orientation ||
                              field.pose == PoseRole::Angle);
}

// `every`, `delay` and `first` of a sample, whose times are counted from the start.
void refuse_sample_time(const Params& params, int index) {
  const auto refuse_if_time = [&](int number) {
    const ParameterPlace place = locate_parameter(params.description(), number);
    if (place.entry == nullptr || place.section != Section::Sensors || !is_sample(*place.entry->kind)) return;
    throw InputError(params.path(index),
                     fmt::format("expected a parameter that may change during a run, got one that determines "
                                 "the times of the sample '{}'",
                                 place.entry->name),
                     "set it before the simulation starts");
  };
  refuse_if_time(index);
  for (const std::vector<Params::Bound>* list : {&params.bound(), &params.timed()})
    for (const Params::Bound& bound : *list)
      if (bound.expression.uses(index)) refuse_if_time(bound.number);
}

void refuse_initial_value(const Model& model, const Params& params, int index) {
  const Description& d = params.description();
  bool only_initial = is_initial_value(locate_parameter(d, index));
  // A parameter that nothing but initial values depends on. Signals and sensors that are expressions may use any.
  const bool has_expressions = std::any_of(model.batches.begin(), model.batches.end(),
                                           [](const auto& batch) {
                                             return dynamic_cast<const SignalBatch*>(batch.get()) != nullptr;
                                           }) ||
                               std::any_of(model.sensors.begin(), model.sensors.end(),
                                           [](const Sensor& sensor) { return !sensor.expressions.empty(); });
  if (index < params.parameter_count() && !has_expressions) {
    bool any = false, all = true;
    for (const std::vector<Params::Bound>* list : {&params.bound(), &params.timed()})
      for (const Params::Bound& bound : *list)
        if (bound.expression.uses(index)) {
          any = true;
          all = all && is_initial_value(locate_parameter(d, bound.number));
        }
    only_initial = any && all;
  }
  if (only_initial)
    throw InputError(params.path(index),
                     "expected a parameter of the equations of motion, got an initial value: it has no "
                     "effect during a run",
                     "set it before the simulation starts");
}

// The path of an initial position or orientation whose change has moved points in their bodies; empty: there is none.
std::string moved_points(const Model& model, const Params& start, const Params& now) {
  std::vector<double> values = now.values();
  std::string path;
  for (std::size_t i = static_cast<std::size_t>(now.parameter_count()); i < values.size(); ++i) {
    if (values[i] == start.values()[i]) continue;
    const ParameterPlace place = locate_parameter(now.description(), static_cast<int>(i));
    if (place.entry == nullptr || place.section != Section::Bodies || !is_initial_place(*place.kind_field()))
      continue;
    values[i] = start.values()[i];
    if (path.empty()) path = now.path(static_cast<int>(i));
  }
  if (path.empty()) return {};
  Constants as_set, as_at_start;
  derive_constants(model, now.values().data(), as_set);
  derive_constants(model, values.data(), as_at_start);
  return as_set.data == as_at_start.data ? "" : path;
}

}  // namespace

void refuse_fixed_parameter(const Model& model, const Params& params, int index) {
  refuse_initial_value(model, params, index);
  refuse_sample_time(params, index);
}

void refuse_wrong_values(const Model& model, const Params& before, const Params& now,
                         const InputChange& change) {
  for (std::size_t i = 0; i < now.values().size(); ++i) {
    if (now.values()[i] == before.values()[i]) continue;
    const ParameterPlace place = locate_parameter(model.description(), static_cast<int>(i));
    if (place.entry == nullptr ||
        (place.section != Section::Bodies && place.kind_field()->type != FieldType::Matrix6))
      continue;
    const std::vector<Diagnostic> mistakes = check_parameters(model, now.values().data());
    if (mistakes.empty()) return;
    throw InputError(change.path, fmt::format("{} at t = {:.9g}", mistakes.front().message, change.t),
                     mistakes.front().hint);
  }
}

void refuse_moved_points(const Model& model, const Params& start, const Params& now,
                         const InputChange& change) {
  const std::string moved = moved_points(model, start, now);
  if (moved.empty()) return;
  throw InputError(
      change.path,
      fmt::format("expected a parameter that no initial position depends on, got {}: '{}' depends on it, "
                  "which would move points that are given in the initial configuration",
                  change.value, moved),
      "use a separate parameter for the initial position");
}

MotionBefore::MotionBefore(const System& system, const State& state, Work& work) {
  if (system.model().rows > 0) {
    system.residual(state, work, {true, true, false});
    phi_ = work.phi;
    rate_ = work.rate;
  }
  if (system.model().tree) {
    system.residual(state, work, {});
    motions_ = work.motions;
  }
}

void MotionBefore::refuse_jumps(const System& system, const State& state, const std::vector<int>& released,
                                double step, const InputChange& change, Work& work) const {
  if (system.model().tree) refuse_moved_bodies(system, state, step, change, work);
  if (system.model().rows > 0) refuse_violated_rows(system, state, released, step, change, work);
}

void MotionBefore::refuse_moved_bodies(const System& system, const State& state, double step,
                                       const InputChange& change, Work& work) const {
  system.residual(state, work, {});
  const std::vector<Motion<double>> now = work.motions;
  Subsystems parts;
  for (std::size_t b = 0; b < now.size(); ++b) {
    const Motion<double>&was = motions_[b], &is = now[b];
    if (is.p == was.p && is.R == was.R && is.V == was.V) continue;
    if (parts.of_body.empty()) parts = subsystems(system, work);
    const int part = parts.of_body[b];
    const double length = part >= 0 ? parts.length[static_cast<std::size_t>(part)] : 0;
    const double moved = (is.p - was.p).norm(), turned = (is.R - was.R).norm(),
                 speed = (is.velocity() - was.velocity()).norm();
    if (!(length > 0) ||
        (moved <= kAllowed * length && turned <= kAllowed && speed * step <= kAllowed * length))
      continue;
    throw InputError(
        change.path,
        fmt::format("expected a value that does not move bodies at t = {:.9g}, got {}: the joints would "
                    "move a body by {:.3g} m and change its velocity by {:.3g} m/s",
                    change.t, change.value, moved, speed),
        "positions and velocities cannot jump: drive the joint by a force (joint_actuator), or make it a "
        "function "
        "of time");
  }
}

void MotionBefore::refuse_violated_rows(const System& system, const State& state,
                                        const std::vector<int>& released, double step,
                                        const InputChange& change, Work& work) const {
  const Model& model = system.model();
  const ConstraintScales scales = constraint_scales(system, state, work);
  system.residual(state, work, {true, true, false});
  for (int row = 0; row < model.rows; ++row) {
    const auto i = static_cast<std::size_t>(row);
    if (std::binary_search(released.begin(), released.end(), row)) continue;
    const double length = scales.row_length[i] / scales.row[i];
    const double moved = model.is_velocity_row(row) ? 0 : work.phi[i] - phi_[i],
                 speed = work.rate[i] - rate_[i];
    if (std::abs(moved) <= kAllowed * length && std::abs(speed) * step <= kAllowed * length) continue;
    throw InputError(
        change.path,
        fmt::format("expected a value that satisfies the constraints at t = {:.9g}, got {}: '{}' "
                    "would be violated by {:.3g}",
                    change.t, change.value, model.row_name(row),
                    std::abs(moved) > kAllowed * length ? moved : speed),
        "positions and velocities cannot jump: drive the joint by a force (joint_actuator), or make it a "
        "function "
        "of time");
  }
}

}  // namespace liedyn
