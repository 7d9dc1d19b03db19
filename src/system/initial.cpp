#include "liedyn/system/initial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "liedyn/base/index.h"
#include "liedyn/base/largest.h"
#include "liedyn/model/joints/axis_joint.h"
#include "liedyn/model/nodes/stage.h"
#include "liedyn/model/sensors/events.h"
#include "liedyn/system/assembly.h"
#include "liedyn/system/further_findings.h"
#include "liedyn/system/matrix_parts.h"
#include "liedyn/system/node_components.h"
#include "liedyn/system/projection.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/subsystems.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

// Assembles and factorises without the rows `left_out` and with the unknowns `held` at rest.
bool factorize(const System& system, const State& state, const RowRequest& rows, const MatrixRequest& request,
               const std::vector<int>& left_out, const std::vector<bool>* held, Work& work) {
  return work.factorize(system, [&] {
    system.jacobian(state, work, rows, request);
    work.hold(left_out, held);
    return work.solver->factorize();
  });
}

// Velocities that are not free.
std::vector<bool> at_rest(const std::vector<bool>* free) {
  std::vector<bool> out;
  if (free != nullptr)
    for (const bool f : *free) out.push_back(!f);
  return out;
}

// One step of a projection: the increment d of least d^T M d with B d = -residual, held unknowns at rest. The rows `left_out` follow from the
// others.
bool projection_step(const System& system, const State& state, const RowRequest& rows, RowLevel level,
                     const std::vector<bool>* free, const std::vector<double>& residual,
                     const std::vector<int>& left_out, Work& work) {
  MatrixRequest request;
  request.force = {0, 0, 1};
  request.row = level == RowLevel::Position ? Seeding{1, 0, 0} : Seeding{0, 1, 0};
  request.level = level;
  const int nv = system.model().nv;
  const std::vector<bool> held = at_rest(free);
  // Rows at velocity level say nothing about positions.
  std::vector<int> rows_out = left_out;
  if (level == RowLevel::Position && system.model().velocity_rows > 0)
    for (int i = 0; i < system.model().rows; ++i)
      if (system.model().is_velocity_row(i)) rows_out.push_back(i);
  if (!factorize(system, state, rows, request, rows_out, free != nullptr ? &held : nullptr, work))
    return false;
  std::fill(work.right.begin(), work.right.begin() + nv, 0.0);
  for (std::size_t i = 0; i < residual.size(); ++i) work.right[at(nv) + i] = -residual[i];
  for (const int row : rows_out) work.right[at(nv + row)] = 0;
  work.solver->solve(work.right.data());
  return std::isfinite(largest(work.right));
}

// The d of least d^T M d with B d = y, into work.right.
bool constrained_increment(const System& system, const State& state, const std::vector<double>& y,
                           Work& work) {
  if (!projection_step(system, state, {false, true, false}, RowLevel::Velocity, nullptr, y, state.redundant,
                       work))
    return false;
  for (int i = 0; i < system.model().nv; ++i) work.right[at(i)] = -work.right[at(i)];
  return true;
}

// Rows to leave out because they depend on the others. The analysis costs more than the model is large: large ones need a reason for it.
std::vector<int> rows_to_leave_out(const System& system, const State& state, double tolerance, RowLevel level,
                                   const std::vector<bool>* free, Work& work) {
  constexpr int kAlwaysAnalysed = 200;
  constexpr double kRegular = 1e-11;
  const std::vector<bool> held = at_rest(free);
  const std::vector<bool>* held_pointer = free != nullptr ? &held : nullptr;
  if (system.model().rows > kAlwaysAnalysed) {
    MatrixRequest request;
    request.force = {0, 0, 1};
    request.row = {0, 0, 1};
    request.level = RowLevel::Acceleration;
    if (factorize(system, state, {false, false, true}, request, {}, held_pointer, work) &&
        work.solver->pivot_ratio() > kRegular)
      return {};
  }
  return dependent_rows(system, state, tolerance, level, held_pointer, work);
}

constexpr double kPositionTolerance = 1e-8;  // of the length of the subsystem
constexpr double kVelocityTolerance = 1e-8;  // of the speed of the subsystem
constexpr double kAccelerationTolerance = 1e-6;
constexpr const char* kVelocityHint =
    "correct them, mark a velocity or angular_velocity as \"consistent\", or run with --initial project";

// What is small, per row, in units of the row. Angles count as displacements at the distance of the length of their subsystem.
class Scales {
 public:
  Scales(const System& system, const State& state, Work& work)
      : constraints_(constraint_scales(system, state, work)), parts_(subsystems(system, work)) {
    const Model& model = system.model();
    State still = state;
    std::fill(still.vdot.begin(), still.vdot.end(), 0.0);
    system.residual(still, work, {true, false, true});
    const std::size_t count = parts_.length.size();
    std::vector<double> farthest(count), speed(count), acceleration(count, work.constants->gravity.norm());
    const auto length_of = [&](int part) {
      return parts_.length[at(part)] > 0 ? parts_.length[at(part)] : 1;
    };
    for (std::size_t b = 0; b < parts_.of_body.size(); ++b) {
      const int part = parts_.of_body[b];
      if (part < 0) continue;
      const Motion<double>& m = work.motions[b];
      const double turning = length_of(part) * m.V.tail<3>().norm();
      farthest[at(part)] = std::max(farthest[at(part)], m.p.cwiseAbs().maxCoeff());
      speed[at(part)] = std::max({speed[at(part)], m.V.head<3>().norm(), turning});
      acceleration[at(part)] = std::max(acceleration[at(part)], turning * turning / length_of(part));
    }
    // Drives accelerate what they hold.
    for (int i = 0; i < model.rows; ++i)
      if (const int part = parts_.of_row[at(i)]; part >= 0)
        acceleration[at(part)] =
            std::max(acceleration[at(part)], std::abs(work.acceleration[at(i)]) * constraints_.row[at(i)]);
    // At rest, speeds compare with that which the accelerations give within the length.
    for (std::size_t i = 0; i < count; ++i)
      speed[i] = std::max(speed[i], std::sqrt(acceleration[i] * length_of(static_cast<int>(i))));
    constexpr double kRounding = 64 * std::numeric_limits<double>::epsilon() / kPositionTolerance;
    for (int i = 0; i < model.rows; ++i) {
      const int part = parts_.of_row[at(i)];
      const double scale = constraints_.row[at(i)];
      position_.push_back((part < 0 ? 1 : std::max(length_of(part), kRounding * farthest[at(part)])) / scale);
      velocity_.push_back(part < 0 ? 1 : speed[at(part)] / scale);
      acceleration_.push_back(part < 0 ? 1 : acceleration[at(part)] / scale);
    }
    accelerations_ = std::move(acceleration);
  }

  const std::vector<double>& position() const { return position_; }
  const std::vector<double>& velocity() const { return velocity_; }
  // With accelerations that have been found.
  std::vector<double> acceleration(const Model& model, const State& state) const {
    std::vector<double> of_part = accelerations_;
    for (std::size_t n = 0; n < model.nodes.size(); ++n)
      if (const int part = parts_.of_node[n]; part >= 0)
        for (int k = 0; k < node_size(model.nodes[n].type).v; ++k) {
          const std::size_t i = at(model.nodes[n].v + k);
          of_part[at(part)] = std::max(of_part[at(part)], std::abs(state.vdot[i]) * constraints_.column[i]);
        }
    std::vector<double> out;
    for (std::size_t i = 0; i < acceleration_.size(); ++i)
      out.push_back(parts_.of_row[i] < 0 ? 1 : of_part[at(parts_.of_row[i])] / constraints_.row[i]);
    return out;
  }

 private:
  ConstraintScales constraints_;
  Subsystems parts_;
  std::vector<double> position_, velocity_, acceleration_;  // per row
  std::vector<double> accelerations_;                       // per subsystem
};

bool any(const std::vector<bool>& flags) {
  return std::find(flags.begin(), flags.end(), true) != flags.end();
}

// The largest residual relative to the scale of its row.
double largest_relative(const std::vector<double>& residual, const std::vector<double>& scales) {
  double out = 0;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    const double part = residual[i] == 0 ? 0 : std::abs(residual[i]) / scales[i];
    out = std::isfinite(part) ? std::max(out, part) : INFINITY;
  }
  return out;
}

std::vector<Diagnostic> violations(const System& system, const State& state,
                                   const std::vector<double>& residual, const std::vector<double>& scales,
                                   double tolerance, const std::string& what, const std::string& hint) {
  constexpr std::size_t kMost = 20;
  const Model& model = system.model();
  const std::vector<std::string> switched = switched_joints(model.description());
  // A rope that is to become taut later: all joints are engaged at the start.
  const auto is_slack_rope = [&](const Entry& joint) {
    return what == "positions" && joint.kind->is_rope &&
           std::find(switched.begin(), switched.end(), joint.name) != switched.end();
  };
  const auto rope_hint = [](const Entry& joint) {
    return fmt::format(
        "joints are engaged at the start: give the initial distance of the points as `length`, and let the "
        "event set it: \"set\": \"joints.{0}.length = ...; joints.{0} = 1\"",
        joint.name);
  };
  std::vector<Diagnostic> out;
  for (std::size_t i = 0; i < residual.size(); ++i) {
    if (std::abs(residual[i]) <= tolerance * scales[i]) continue;
    if (out.size() == kMost) {
      out.push_back({model.description().file, 0, "", "more constraints are violated", ""});
      break;
    }
    const int row = static_cast<int>(i);
    const bool redundant = std::binary_search(state.redundant.begin(), state.redundant.end(), row);
    out.push_back({model.description().file, model.joint_of(row).line, model.row_name(row),
                   fmt::format("the initial {} violate this constraint by {:.3g}{}", what, residual[i],
                               redundant ? ": it contradicts other constraints in the same direction" : ""),
                   is_slack_rope(model.joint_of(row)) ? rope_hint(model.joint_of(row))
                   : out.empty()                      ? hint
                                                      : ""});
  }
  return out;
}

// vdot and lambda, or an InputError that names what is not determined.
void require_accelerations(const System& system, State& state, Work& work) {
  if (solve_accelerations(system, state, work)) return;
  const Model& model = system.model();
  const std::string& file = model.description().file;
  std::fill(state.vdot.begin(), state.vdot.end(), 0.0);  // they may be what is not finite
  std::fill(state.lambda.begin(), state.lambda.end(), 0.0);
  if (const std::vector<Diagnostic> findings = findings_not_finite(system, state, work); !findings.empty())
    throw InputError(findings);
  const int suspect = work.solver->singular_unknown();
  require_derivatives(system, state, work);
  if (suspect < 0)
    throw InputError({{file, 0, "", "the equations of motion do not determine the accelerations",
                       "`liedyn check` names redundant constraints"}});
  const std::string name = system.unknown_name(suspect);
  if (suspect < model.nv)
    throw InputError({{file, model.body_of(suspect).line, name,
                       "this acceleration is undetermined: it has no mass and no constraint",
                       "give the body a mass and an inertia, or a joint that constrains it"}});
  throw InputError({{file, model.joint_of(suspect - model.nv).line, name,
                     "this constraint is redundant or contradicts others: the multipliers are not unique",
                     "remove the joint, or release the direction that is constrained twice"}});
}

// Positions are wrong: what else can be said about the values as typed, for all mistakes to be seen at once. Velocities are judged by joints whose positions
// hold, and neither they nor forces where they are still to be found.
void add_later_findings(const System& system, const State& state, const Initial& initial,
                        std::vector<Diagnostic>& findings, Work& work) {
  if (any(initial.free_position)) return;
  const Model& model = system.model();
  if (!any(initial.free_velocity)) {
    const Scales scales(system, state, work);
    system.residual(state, work, {true, true, false});
    std::set<const Entry*> violated;
    for (int i = 0; i < model.rows; ++i)
      if (!(std::abs(work.phi[at(i)]) <= kPositionTolerance * scales.position()[at(i)]))
        violated.insert(&model.joint_of(i));
    std::vector<double> rate = work.rate;
    for (int i = 0; i < model.rows; ++i)
      if (violated.contains(&model.joint_of(i))) rate[at(i)] = 0;
    for (Diagnostic& finding :
         violations(system, state, rate, scales.velocity(), kVelocityTolerance, "velocities", kVelocityHint))
      findings.push_back(std::move(finding));
  }
  for (Diagnostic& finding : findings_not_finite(system, state, work)) findings.push_back(std::move(finding));
}

// Rows that are not imposed must be met all the same: driven joints may contradict each other in their accelerations only. Where constraints hold everything at rest,
// accelerations are round-off of those that the forces alone would give, and are judged beside these.
void require_consistent_accelerations(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  const Scales scales(system, state, work);
  system.residual(state, work, {false, false, true});
  std::vector<double> residual(work.acceleration.size(), 0.0);
  for (const int row : state.redundant) residual[at(row)] = work.acceleration[at(row)];
  const auto found = [&](const State& of) {
    return violations(system, state, residual, scales.acceleration(model, of), kAccelerationTolerance,
                      "accelerations", "");
  };
  std::vector<Diagnostic> findings = found(state);
  if (findings.empty()) return;
  State unheld = state;
  unheld.redundant.resize(at(model.rows));
  std::iota(unheld.redundant.begin(), unheld.redundant.end(), 0);
  if (solve_accelerations(system, unheld, work)) {
    for (std::size_t i = 0; i < state.vdot.size(); ++i)
      unheld.vdot[i] = std::max(std::abs(unheld.vdot[i]), std::abs(state.vdot[i]));
    findings = found(unheld);
  }
  if (!findings.empty()) throw InputError(findings);
}

// After an assembly that may move all it likes: Phi is small, or there is no such configuration nearby.
void require_assembled(const System& system, const std::vector<double>& scales, const Work& work) {
  std::size_t worst = 0, count = 0;
  for (std::size_t i = 0; i < work.phi.size(); ++i) {
    if (!(std::abs(work.phi[i]) <= kPositionTolerance * scales[i])) ++count;
    if (!(std::abs(work.phi[i]) * scales[worst] <= std::abs(work.phi[worst]) * scales[i])) worst = i;
  }
  if (count == 0) return;
  const Model& model = system.model();
  const int row = static_cast<int>(worst);
  throw InputError({{model.description().file, model.joint_of(row).line, model.row_name(row),
                     fmt::format("assembly found no configuration that satisfies this constraint: its "
                                 "residual is {:.3g}, the largest of {} violated constraints",
                                 work.phi[worst], count),
                     "start closer to the intended configuration, or let more bodies move"}});
}

// Dot products of axes vanish also where an axis points the other way: no constraint is violated there, but it is not the joint that was meant.
void require_directions(const System& system, const Work& work) {
  const Model& model = system.model();
  std::vector<Diagnostic> findings;
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    if (model.sections[b] != Section::Joints) continue;
    const Batch& batch = *model.batches[b];
    for (int e = 0; e < batch.size(); ++e) {
      const Entry& joint = model.entry_of(static_cast<int>(b), e);
      const Held turns = joint.kind->held_turns;
      if (turns == 0) break;  // as of all others of the batch
      const JointAxes<double> axes(work.constants->data.data() + batch.first_constant +
                                   e * batch.constants_per_element());
      const auto rotation = [&](int i) {
        const Frame& frame = model.frames[at(batch.frames[at(2 * e + i)])];
        return FrameView(frame, work.constants->data.data(), model.bodies().data(), work.motions.data())
            .motion()
            .R;
      };
      const Mat3 first = rotation(0) * axes.first, second = rotation(1) * axes.second;
      // Turns about all axes held: none may point the other way. Otherwise that of the free turn.
      bool opposite = false;
      for (int k = 0; k < 3; ++k)
        if (turns == kTurns || (turns & turn_about(k)) == 0)
          opposite = opposite || first.col(k).dot(second.col(k)) < 0;
      if (opposite)
        findings.push_back({model.description().file, joint.line, "joints." + joint.name,
                            "its axes on the two bodies point in opposite directions",
                            "give the bodies orientations, or guesses of them, closer to the intended ones"});
    }
  }
  if (!findings.empty()) throw InputError(findings);
}

// The typed values, and what is free to be found: not what a configuration gives.
Initial typed_values(const System& system, const Configuration* given) {
  const Model& model = system.model();
  Initial out = initial_values(model, system.params().values().data());
  if (given == nullptr) return out;
  for (std::size_t i = 0; i < model.body_types.size(); ++i) {
    const Node& node = model.nodes[i];
    const BodyConfiguration::Gives& gives = given->bodies[i].gives;
    for (int k = 0; k < node_size(node.type).v; ++k) {
      const bool place = is_displacement(node.type, k);
      if (place ? gives.position : gives.orientation) out.free_position[at(node.v + k)] = false;
      if (place ? gives.velocity : gives.angular_velocity) out.free_velocity[at(node.v + k)] = false;
    }
  }
  return out;
}

// Flags that are set in both; the second may be null: all of them.
std::vector<bool> both(std::vector<bool> flags, const std::vector<bool>* others) {
  if (others != nullptr)
    for (std::size_t i = 0; i < flags.size(); ++i) flags[i] = flags[i] && (*others)[i];
  return flags;
}

// One step towards Phi = 0 without the rows `left_out`.
bool position_step(const System& system, State& state, const std::vector<bool>* free,
                   const std::vector<int>& left_out, Work& work) {
  system.residual(state, work, {});
  const std::vector<double> residual = work.phi;
  if (!projection_step(system, state, {}, RowLevel::Position, free, residual, left_out, work)) return false;
  for (const Node& node : system.model().nodes)
    increment_position(node.type, work.right.data() + node.v, state.q.data() + node.q);
  system.residual(state, work, {});
  return true;
}

// The rows that need not be imposed since they follow from the others, here and in the configurations around.
void choose_redundant_rows(const System& system, State& state, Work& work) {
  constexpr double kTolerance = 1e-7;
  state.redundant = rows_to_leave_out(system, state, kTolerance, RowLevel::Velocity, nullptr, work);
  if (state.redundant.empty()) return;
  const Model& model = system.model();
  std::vector<Diagnostic> findings;
  for (const int row : independent_nearby(system, state, work))
    findings.push_back(
        {model.description().file, model.joint_of(row).line, model.row_name(row),
         "the initial configuration is singular: this constraint is redundant here, but not in nearby "
         "configurations",
         findings.empty() ? "start from a configuration nearby: from here the motion is not unique" : ""});
  if (!findings.empty()) throw InputError(findings);
}

}  // namespace

std::vector<int> independent_nearby(const System& system, const State& state, Work& work) {
  constexpr double kDistance = 1e-3;
  constexpr int kIterations = 8;
  const ConstraintScales scales = constraint_scales(system, state, work);
  std::vector<double> d(state.v.size());
  for (std::size_t i = 0; i < d.size(); ++i)
    d[i] = std::sin(1 + 2.3 * static_cast<double>(i)) / scales.column[i];
  const std::vector<double> forbidden = constrained_part(system, state, d, work);
  if (forbidden.empty()) return {};
  // Each subsystem by a part of its own length.
  const Subsystems parts = subsystems(system, work);
  std::vector<double> size(parts.length.size(), 0.0);
  const auto for_each_velocity = [&](auto&& visit) {
    for (std::size_t n = 0; n < system.model().nodes.size(); ++n)
      for (int k = 0; k < node_size(system.model().nodes[n].type).v && parts.of_node[n] >= 0; ++k)
        visit(at(system.model().nodes[n].v + k), size[at(parts.of_node[n])]);
  };
  for_each_velocity([&](std::size_t i, double& most) {
    d[i] -= forbidden[i];
    most = std::max(most, std::abs(d[i]) * scales.column[i]);
  });
  for_each_velocity([&](std::size_t i, const double& most) {
    d[i] *= most < 1e-9 ? 0 : kDistance * scales.column_length[i] / most;  // 0: nothing moves
  });
  State moved = state;
  for (const Node& node : system.model().nodes)
    increment_position(node.type, d.data() + node.v, moved.q.data() + node.q);
  for (int i = 0; i < kIterations; ++i)
    if (!position_step(system, moved, nullptr, state.redundant, work)) return {};
  std::vector<int> out;
  for (const int row : state.redundant)
    if (std::abs(work.phi[at(row)]) * scales.row[at(row)] >
        1e-2 * kDistance * kDistance * scales.row_length[at(row)])
      out.push_back(row);
  return out;
}

bool project_positions(const System& system, State& state, const std::vector<bool>* free, Work& work) {
  constexpr int kMaxIterations = 50;
  constexpr double kShortest = 1e-3, kRoundOff = 1e-19;
  if (system.model().rows == 0) return true;
  const std::vector<double> scales = Scales(system, state, work).position();
  const auto assemble = [&] {
    return assemble_positions(system, state, free, scales, kRoundOff, work) ||
           largest_relative(work.phi, scales) <= kPositionTolerance;
  };
  std::vector<double> q;
  for (int i = 0; i < kMaxIterations; ++i) {
    system.residual(state, work, {});
    const double before = largest_relative(work.phi, scales);
    if (before <= kRoundOff) return true;
    // Rows that are dependent where the constraints are met are so up to the distance from there.
    const double tolerance = std::clamp(10 * before, 1e-7, 1e-2);
    std::vector<int> redundant = rows_to_leave_out(system, state, tolerance, RowLevel::Position, free, work);
    // Rows at velocity level take no part in this projection, but they carry forces: they are redundant only if they were before.
    std::erase_if(redundant, [&](int row) {
      return system.model().is_velocity_row(row) &&
             !std::binary_search(state.redundant.begin(), state.redundant.end(), row);
    });
    state.redundant = std::move(redundant);
    system.residual(state, work, {});
    const std::vector<double> residual = work.phi;
    if (!projection_step(system, state, {}, RowLevel::Position, free, residual, state.redundant, work))
      return assemble();
    std::vector<double> step(work.right.begin(), work.right.begin() + system.model().nv);
    double length = rotation_limit(system.model(), step.data());
    for (double& x : step) x *= length;
    q = state.q;
    for (;;) {
      for (const Node& node : system.model().nodes)
        increment_position(node.type, step.data() + node.v, state.q.data() + node.q);
      system.residual(state, work, {});
      // At round-off it no longer falls.
      const double after = largest_relative(work.phi, scales);
      if (after <= kPositionTolerance && after > 0.1 * before) return true;
      if (after < (1 - 0.1 * length) * before) break;
      state.q = q;
      length /= 2;
      if (!(length > kShortest)) return assemble();
      for (double& x : step) x /= 2;
    }
  }
  return largest_relative(work.phi, scales) <= kPositionTolerance;
}

bool project_velocities(const System& system, State& state, const std::vector<bool>* free, Work& work) {
  const RowRequest rows{false, true, false};
  // Rows without a velocity that may move are left out too.
  const std::vector<int> left_out =
      free != nullptr ? rows_to_leave_out(system, state, 1e-7, RowLevel::Velocity, free, work)
                      : state.redundant;
  // Linear in v: the second step removes the round-off of the first.
  for (int i = 0; i < 2; ++i) {
    system.residual(state, work, rows);
    if (largest(work.rate) == 0) return true;
    const std::vector<double> residual = work.rate;
    if (!projection_step(system, state, rows, RowLevel::Velocity, free, residual, left_out, work))
      return false;
    for (std::size_t k = 0; k < state.v.size(); ++k) state.v[k] += work.right[k];
  }
  const std::vector<double> scales = Scales(system, state, work).velocity();
  system.residual(state, work, rows);
  return largest_relative(work.rate, scales) <= kVelocityTolerance;
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
  if (!factorize(system, state, rows, request, state.redundant, nullptr, work)) return false;
  // Linear in vdot and lambda: the second solve refines. Forces that depend on lambda make it Newton's method.
  const int solves = model.forces_use_multipliers ? 8 : 2;
  for (int i = 0; i < solves; ++i) {
    if (i > 0 && model.forces_use_multipliers) {
      if (!factorize(system, state, rows, request, state.redundant, nullptr, work)) return false;
    } else if (i > 0) {
      system.residual(state, work, rows);
    }
    work.clear_residuals(state.redundant);
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
  return shifted_state_of<double>(system, state, sh, shifted, theta, work);
}

std::vector<double> constrained_part(const System& system, const State& state, const std::vector<double>& y,
                                     Work& work) {
  return constrained_part_of<double>(system, state, y, work, [&](const std::vector<double>& rate) {
    return constrained_increment(system, state, rate, work);
  });
}

bool forbidden_velocity(const System& system, const State& state, Work& work) {
  return forbidden_velocity_of<double>(system, state, work, [&](const std::vector<double>& rate) {
    return constrained_increment(system, state, rate, work);
  });
}

std::vector<Diagnostic> findings_not_finite(const System& system, const State& state, Work& work) {
  std::vector<Diagnostic> out;
  for (System::EntryPlace& culprit : system.not_finite(state, work))
    out.push_back(
        {system.model().description().file, culprit.line, std::move(culprit.path),
         "its contribution to the equations of motion at the start is infinite or NaN",
         out.empty() ? "look for divisions by zero, and roots and logarithms of negative numbers" : ""});
  return out;
}

State consistent_state(const System& system, double t, InitialPolicy policy, Work& work) {
  return consistent_state(system, t, InitialOptions{.policy = policy}, work);
}

namespace {

// In minimal coordinates: what `find` gives for the same model in absolute ones.
template <class Find>
State found_in_absolute_coordinates(const System& system, Work& work, const Find& find) {
  const System absolute = in_absolute_coordinates(system);
  Work absolute_work(absolute);
  State state = state_on_tree(system, absolute, find(absolute, absolute_work), work);
  system.follow_angles(state, work);
  return state;
}

// Positions that hold, and velocities that go with them.
State consistent_motion(const System& system, double t, const InitialOptions& options, Work& work);

// The numbers are wrong: what they do not concern is looked at all the same, unless the positions and velocities come from elsewhere.
std::vector<Diagnostic> with_findings_at_start(const System& system, double t, const InitialOptions& options,
                                               std::vector<Diagnostic> findings) {
  if (options.given != nullptr) return findings;
  Description start = system.model().description();
  start.simulation.start = t;
  start.simulation.initial = options.policy == InitialPolicy::Project ? "project" : "check";
  start.simulation.formulation = system.model().formulation();
  return with_later_findings(start, system.params(), std::move(findings));
}

// In absolute coordinates: what is violated goes to the findings.
State found_positions(const System& system, double t, const InitialOptions& options, Work& work,
                      std::vector<Diagnostic>& findings) {
  const Model& model = system.model();
  findings = check_parameters(model, system.params().values().data());
  if (!findings.empty()) throw InputError(with_findings_at_start(system, t, options, std::move(findings)));

  const Initial initial = typed_values(system, options.given);
  State state = system.empty_state();
  state.t = t;
  state.q = initial.q;
  state.v = initial.v;
  if (options.given != nullptr) set_configuration(model, *options.given, state);
  const bool project = options.policy == InitialPolicy::Project;
  const std::vector<bool>* const movable = options.movable.empty() ? nullptr : &options.movable;

  const std::vector<double> scales = Scales(system, state, work).position();
  const auto violation = [&] {
    system.residual(state, work, {});
    return largest_relative(work.phi, scales);
  };
  // What is marked "consistent" moves first: given values stay where that suffices, and move by what is left otherwise.
  if (const double before = violation(); before > kPositionTolerance && any(initial.free_position)) {
    const State given = state;
    const std::vector<bool> free = both(initial.free_position, movable);
    if (!project_positions(system, state, &free, work) && project && !(violation() < before)) state = given;
  }
  if (project && violation() > kPositionTolerance) project_positions(system, state, movable, work);
  system.follow_angles(state, work);
  system.residual(state, work, {});
  if (project) {
    require_assembled(system, scales, work);
    require_directions(system, work);
    return state;
  }
  findings = violations(
      system, state, work.phi, scales, kPositionTolerance, "positions",
      any(initial.free_position)
          ? "assembly found no configuration that satisfies all constraints: give other guesses, let more "
            "bodies "
            "move, or run with --initial project"
          : "correct them, run with --initial project, or let assembly move a body from where it is, "
            "\"position\": {\"consistent\": [...]}, and likewise its orientation");
  if (findings.empty()) require_directions(system, work);
  return state;
}

}  // namespace

State consistent_positions(const System& system, double t, const InitialOptions& options, Work& work) {
  if (!options.movable.empty()) require_absolute_coordinates(system, "holding bodies");
  if (system.model().tree)
    return found_in_absolute_coordinates(system, work, [&](const System& absolute, Work& absolute_work) {
      return consistent_positions(absolute, t, {.policy = options.policy, .given = options.given},
                                  absolute_work);
    });
  std::vector<Diagnostic> findings;
  State state = found_positions(system, t, options, work, findings);
  if (!findings.empty()) throw InputError(findings);
  return state;
}

namespace {

State consistent_motion(const System& system, double t, const InitialOptions& options, Work& work) {
  if (system.model().tree) {
    State state =
        found_in_absolute_coordinates(system, work, [&](const System& absolute, Work& absolute_work) {
          return consistent_motion(absolute, t, {.policy = options.policy, .given = options.given},
                                   absolute_work);
        });
    choose_redundant_rows(system, state, work);
    return state;
  }
  std::vector<Diagnostic> findings;
  State state = found_positions(system, t, options, work, findings);
  const Initial initial = typed_values(system, options.given);
  if (!findings.empty()) {
    add_later_findings(system, state, initial, findings, work);
    throw InputError(findings);
  }
  const bool project = options.policy == InitialPolicy::Project;
  const std::vector<bool>* const movable = options.movable.empty() ? nullptr : &options.movable;

  choose_redundant_rows(system, state, work);
  const auto rate = [&] {
    system.residual(state, work, {true, true, false});
    return largest(work.rate);
  };
  if (const double before = rate(); before > 0 && any(initial.free_velocity)) {
    const State given = state;
    const std::vector<bool> free = both(initial.free_velocity, movable);
    if (!project_velocities(system, state, &free, work) && project && !(rate() < before)) state = given;
  }
  if (project && rate() > 0) project_velocities(system, state, movable, work);
  const std::vector<double> scales = Scales(system, state, work).velocity();
  system.residual(state, work, {true, true, false});
  findings = violations(system, state, work.rate, scales, kVelocityTolerance, "velocities",
                        project ? "let more bodies move" : kVelocityHint);
  if (!findings.empty()) {
    if (!project)
      for (Diagnostic& finding : findings_not_finite(system, state, work))
        findings.push_back(std::move(finding));
    throw InputError(findings);
  }
  return state;
}

}  // namespace

State consistent_state(const System& system, double t, const InitialOptions& options, Work& work) {
  State state = consistent_motion(system, t, options, work);
  require_accelerations(system, state, work);
  if (state.redundant.empty()) return state;
  require_consistent_accelerations(system, state, work);
  shorten_multipliers(system, state, work);
  return state;
}

void shorten_multipliers(const System& system, State& state, Work& work) {
  shorten_multipliers(system, state, {}, work);
}

}  // namespace liedyn
