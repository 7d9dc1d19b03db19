#include "liedyn/system/varied_corrector.h"

#include <algorithm>
#include <limits>

#include "liedyn/base/index.h"
#include "liedyn/model/nodes/varied_stage.h"
#include "liedyn/system/evaluation.h"

namespace liedyn {

VariedCorrector::VariedCorrector(const VariedSystem& system, const CorrectorOptions& options)
    : StageArraysOf<Varied>(system.model(), options),
      system_(&system),
      plain_(system.plain(), options),
      increments_(at(system.model().nv), Varied(0)),
      to_(system.plain().empty_state()) {
  holds_all_ = std::none_of(system.model().nodes.begin(), system.model().nodes.end(),
                            [&](const Node& node) { return options.in_parameter_space(node); });
  if (options.update != StageUpdate::Exact)
    throw InputError(
        "integrator generalized-alpha",
        "the algorithms as printed (variant=paper) depend on their iterations and have no derivatives",
        "use variant=exact");
}

void VariedCorrector::set_drift(double h, const VariedState& reference, const VariedState& to,
                                VariedWork& work) {
  if (options_.form != IndexForm::Stabilized) return;
  system_->constraint_forces(reference, to.eta, work, drift_);
  for (Varied& x : drift_) x *= h;
}

VariedNodeStage VariedCorrector::held_stage(const Node& node, const VariedState& reference, VariedState& to) {
  return {
      {reference_.q.data() + node.q, plain_.Theta.data() + node.v, plain_.V.data() + node.v, nullptr,
       plain_.theta.data() + node.v, to_.q.data() + node.q, to_.v.data() + node.v, to_.vdot.data() + node.v},
      reference.q.data() + node.q,
      Theta.data() + node.v,
      V.data() + node.v,
      drift_.empty() ? nullptr : drift_.data() + node.v,
      leaves_theta_ ? nullptr : theta.data() + node.v,
      to.q.data() + node.q,
      to.v.data() + node.v,
      to.vdot.data() + node.v};
}

namespace {

// With q held, vdot' is the difference of two numbers of size |W| dvdot/dq: round-off that has to stay below what Newton's method leaves. Otherwise, with short steps or high demands, theta is held, and
// all that depends on q is recorded.
bool can_hold_positions(const Stage& stage, const CorrectorOptions& options) {
  return 8 * std::numeric_limits<double>::epsilon() * stage.rate() <= options.relative;
}

}  // namespace

// The stage without increments: Lie nodes stay where they are, parameters of others keep theirs.
void VariedCorrector::hold_nodes(const Stage& stage, const VariedState& reference, VariedState& to) {
  const bool holds = can_hold_positions(stage, options_);
  for (const Node& node : system_->model().nodes)
    if (options_.in_parameter_space(node))
      evaluate_parameters(node, parameter_stage(stage, reference, to));
    else if (holds)
      hold_position(node.type, stage, held_stage(node, reference, to));
    else
      evaluate_stage(node.type, stage, node_stage(node, reference, to));
}

void VariedCorrector::move_nodes(const Stage& stage, const VariedState& reference, VariedState& to,
                                 const VariedWork& work) {
  const bool holds = can_hold_positions(stage, options_);
  for (const Node& node : system_->model().nodes) {
    const Varied* d = increments_.data() + node.v;
    if (options_.in_parameter_space(node)) {
      increment_parameters(node, options_.chart, d, reference.y.data(), theta.data());
      evaluate_parameters(node, parameter_stage(stage, reference, to));
    } else if (holds) {
      move_position(node.type, stage, work.plain.tangent.data() + node.tangent, d,
                    held_stage(node, reference, to));
    } else {
      increment_theta(node.type, d, theta.data() + node.v);
      evaluate_stage(node.type, stage, node_stage(node, reference, to));
    }
  }
}

void VariedCorrector::set_scales(const Stage& stage, double h) {
  if (scales_ && stage.rate() == scaled_rate_ && stage.c_v == scaled_c_v_ && h == scaled_h_) return;
  scaled_rate_ = stage.rate(), scaled_c_v_ = stage.c_v, scaled_h_ = h;
  const Model& model = system_->model();
  auto made = std::make_shared<VariedSystem::Scales>();
  made->rows.assign(at(model.nv), 1 / stage.rate());
  made->columns.assign(at(model.nv), 1.0);
  const auto add = [&](double row, double column) {
    made->rows.insert(made->rows.end(), at(model.rows), row);
    made->columns.insert(made->columns.end(), at(model.rows), column);
  };
  const double of_rates = 1 / (stage.rate() * stage.c_v);
  if (holds_positions()) add(1, stage.rate());
  if (holds_velocities()) add(of_rates, holds_positions() ? 1 / h : stage.rate());
  zeros_.assign(made->rows.size(), 0.0);
  scales_ = std::move(made);
}

CorrectorOutcome VariedCorrector::solve(const Stage& stage, double h, const VariedState& reference,
                                        VariedState& to, VariedWork& work) {
  const Model& model = system_->model();
  const bool stabilized = options_.form == IndexForm::Stabilized;
  set_values(reference, reference_);
  set_values(to, to_);
  set_values(Theta, plain_.Theta);
  set_values(V, plain_.V);
  set_values(theta, plain_.theta);
  set_values(covector, plain_.covector);
  CorrectorOutcome out;
  if (work.log != nullptr)
    plain_.accept(stage, h, reference_, to_, work.plain, *work.log, work.place_in_log);
  else
    out = plain_.solve(stage, h, reference_, to_, work.plain);
  if (!out.converged()) return out;
  plain_.assemble_solution(stage, reference_, to_, work.plain);
  if (!work.take_matrix()) {
    out.failure = CorrectorFailure::Singular;
    out.worst = work.plain.solver->singular_unknown();
    return out;
  }
  ++out.jacobians;

  // The residual at the values of the solution, at rest with respect to the parameters. Multipliers that the step does not move keep theirs.
  to.redundant = to_.redundant;
  set_constants(plain_.theta, theta);
  for (std::size_t i = 0; i < to.lambda.size(); ++i)
    if (!std::binary_search(to.redundant.begin(), to.redundant.end(), static_cast<int>(i)))
      to.lambda[i] = Varied(to_.lambda[i]);
  set_constants(to_.eta, to.eta);
  set_drift(h, reference, to, work);
  hold_nodes(stage, reference, to);
  if (holds_all_ && to.redundant.empty() && can_hold_positions(stage, options_))
    system_->residual_of_moving(to, work, rows(stage));
  else
    system_->residual(to, work, rows(stage));
  add_covectors(model, work.r);

  const std::size_t nv = at(model.nv), rows = at(model.rows);
  right_ = work.r;
  if (holds_positions()) right_.insert(right_.end(), work.phi.begin(), work.phi.end());
  if (holds_velocities()) right_.insert(right_.end(), work.rate.begin(), work.rate.end());
  for (const int row : to.redundant)
    for (std::size_t first = nv; first < right_.size(); first += rows) right_[first + at(row)] = Varied(0);
  if (stabilized && model.velocity_rows > 0)
    for (int i = 0; i < model.rows; ++i)
      if (model.is_velocity_row(i)) right_[nv + rows + at(i)] = Varied(0);
  set_scales(stage, h);
  const std::vector<Varied> x = system_->solve(work, right_, zeros_, scales_);
  std::copy_n(x.begin(), nv, increments_.begin());
  for (std::size_t i = 0; i < rows; ++i) to.lambda[i] += x[nv + i];
  if (stabilized) {
    for (std::size_t i = 0; i < rows; ++i) to.eta[i] += x[nv + rows + i];
    set_drift(h, reference, to, work);
    hold_nodes(stage, reference, to);
  }
  move_nodes(stage, reference, to, work);
  return out;
}

}  // namespace liedyn
