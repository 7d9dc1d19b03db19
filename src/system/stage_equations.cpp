#include "liedyn/system/stage_equations.h"

#include <algorithm>

#include "liedyn/base/index.h"
#include "liedyn/model/nodes/stage_relation.h"

namespace liedyn {

StageEquations::StageEquations(const System& system, const CorrectorOptions& options)
    : StageArraysOf<double>(system.model(), options), system_(&system) {
  if (options_.form == IndexForm::Stabilized) {
    drift_.resize(at(system.model().nv));
    eta_increment_.resize(at(system.model().rows));
  }
}

void StageEquations::prepare_structure(Work& work) {
  prepared_for_ = work.solver.get();
  if (uses_parameters_) work.rate_tangent.resize(work.tangent.size());
  // Initial values have needed these rows; steps do not.
  work.acceleration = {};
  if (!holds_velocities()) work.rate = {};
  if (options_.form == IndexForm::Stabilized)
    stabilized_ = std::make_unique<StabilizedColumns>(*system_, *work.solver);
  const Model& model = system_->model();
  held_.clear();
  if (options_.form == IndexForm::Stabilized && model.velocity_rows > 0) {
    held_.assign(at(unknown_count(model, options_.form)), false);
    for (int i = 0; i < model.rows; ++i) held_[at(model.nv + model.rows + i)] = model.is_velocity_row(i);
  }
}

template <class Function>
void StageEquations::for_each_node(const Work& scratch, const Function& work) const {
  const std::vector<Node>& nodes = system_->model().nodes;
  parallel_for(scratch.threads.get(), nodes.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) work(nodes[i]);
  });
}

void StageEquations::set_reference(const StageProblem& p) {
  if (p.to.redundant != p.reference.redundant) p.to.redundant = p.reference.redundant;
  if (stabilized_) stabilized_->set_reference(*system_, p.reference, p.work);
}

void StageEquations::evaluate_nodes(const StageProblem& p) {
  if (stabilized_) stabilized_->drift(*system_, p.h, p.to.eta, drift_);
  const bool exact = options_.update == StageUpdate::Exact;
  for_each_node(p.work, [&](const Node& node) {
    if (uses_parameters_ && options_.in_parameter_space(node))
      evaluate_parameters(node, parameter_stage(p.stage, p.reference, p.to));
    else if (exact)
      evaluate_stage(node.type, p.stage, node_stage(node, p.reference, p.to));
  });
}

void StageEquations::residual(const Stage& stage, const State& to, Work& work) const {
  system_->residual(to, work, rows(stage));
  work.clear_residuals(to.redundant);
  add_covectors(system_->model(), work.r);
}

// E = dvdot/dq of every node.
void StageEquations::set_tangents(const StageProblem& p) const {
  const bool without_tangent = options_.simplified || options_.update == StageUpdate::Incremental;
  for_each_node(p.work, [&](const Node& node) {
    double* E = p.work.tangent.data() + node.tangent;
    if (options_.in_parameter_space(node))
      return parameter_tangents(node, parameter_stage(p.stage, p.reference, p.to), E,
                                p.work.rate_tangent.data() + node.tangent);
    if (options_.update == StageUpdate::Expanded && !without_tangent)
      expanded_tangent(node.type, p.stage, options_.sigma, theta.data() + node.v, E);
    else
      evaluate_stage_tangent(node.type, p.stage, node_stage(node, p.reference, p.to), without_tangent, E);
    if (uses_parameters_)
      std::copy_n(E, node_size(node.type).tangent, p.work.rate_tangent.data() + node.tangent);
  });
}

void StageEquations::assemble(const StageProblem& p) const {
  set_tangents(p);
  const double s = 1 / p.stage.rate();
  const double k = s / p.stage.c_v;
  const Seeding positions{1, 0, 0}, velocities{k, k * p.stage.c_v, 0};
  MatrixRequest request;
  request.force = {s, s * p.stage.c_v, s};
  request.use_tangent = true;
  request.level = holds_positions() ? RowLevel::Position : RowLevel::Velocity;
  request.row = holds_positions() ? positions : velocities;
  request.velocity_row = velocities;
  if (stabilized_) {
    request.rate_blocks = &stabilized_->rate_blocks();
    request.rate = velocities;
  }
  system_->jacobian(p.to, p.work, rows(p.stage), request);
  p.work.clear_residuals(p.to.redundant);
  add_covectors(system_->model(), p.work.r);
  add_covector_blocks(p);
  if (stabilized_) add_stabilized_columns(p);
  p.work.hold(p.to.redundant, held_.empty() ? nullptr : &held_);
}

void StageEquations::add_covector_blocks(const StageProblem& p) const {
  if (covector.empty()) return;
  const double s = 1 / p.stage.rate();
  const std::vector<Node>& nodes = system_->model().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (is_conventional(nodes[i].type)) continue;
    const Mat6 D = s * covector_derivative(nodes[i], options_.chart, theta.data(), covector.data());
    add_block(p.work.solver->values(), p.work.diagonal[i], D, nodes[i].type, nodes[i].type);
  }
}

void StageEquations::add_stabilized_columns(const StageProblem& p) const {
  stabilized_->add(
      *system_, p.to, p.stage,
      [&](const Node& node, const Vec6& change) -> DriftResponse {
        if (options_.in_parameter_space(node))
          return parameter_drift_response(node, parameter_stage(p.stage, p.reference, p.to), change);
        const Vec6 both =
            stage_drift_response(node.type, p.stage, node_stage(node, p.reference, p.to), change);
        return {both, both};
      },
      p.work);
}

void StageEquations::set_right_side(const Stage& stage, Work& work) const {
  const Model& model = system_->model();
  const double s = 1 / stage.rate();
  double* next = work.right.data();
  for (int i = 0; i < model.nv; ++i) *next++ = -s * work.r[at(i)];
  if (holds_positions())
    for (int i = 0; i < model.rows; ++i) *next++ = -work.phi[at(i)];
  if (holds_velocities())
    for (int i = 0; i < model.rows; ++i) *next++ = -(s / stage.c_v) * work.rate[at(i)];
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (held_[i]) work.right[i] = 0;
}

void StageEquations::apply(const StageProblem& p, double factor) {
  const Model& model = system_->model();
  const bool exact = options_.update == StageUpdate::Exact;
  const std::vector<double>& solution = p.work.right;
  if (stabilized_ && !exact) {
    // The increment of the drift alone moves v and vdot.
    for (int i = 0; i < model.rows; ++i)
      eta_increment_[at(i)] = factor * solution[at(model.nv + model.rows + i)];
    stabilized_->drift(*system_, 1, eta_increment_, drift_);
  }
  for_each_node(p.work, [&](const Node& node) {
    double d[6];
    for (int i = 0; i < node_size(node.type).v; ++i) d[i] = factor * solution[at(node.v + i)];
    if (options_.in_parameter_space(node))
      increment_parameters(node, options_.chart, d, p.reference.y.data(), theta.data());
    else if (exact && simplified_in_accelerations())
      increment_theta_simplified(node.type, p.stage, node_stage(node, p.reference, p.to), d,
                                 theta.data() + node.v);
    else if (exact)
      increment_theta(node.type, d, theta.data() + node.v);
    else
      update_stage(node.type, p.stage, options_.update, options_.sigma, d,
                   stabilized_ ? drift_.data() + node.v : nullptr,
                   {p.reference.q.data() + node.q, theta.data() + node.v, p.to.q.data() + node.q,
                    p.to.v.data() + node.v, p.to.vdot.data() + node.v});
  });
  for (int i = 0; i < model.rows; ++i)
    p.to.lambda[at(i)] += factor * p.stage.rate() * solution[at(model.nv + i)];
  if (stabilized_)
    for (int i = 0; i < model.rows; ++i)
      p.to.eta[at(i)] += factor / p.h * solution[at(model.nv + model.rows + i)];
  if (exact || uses_parameters_) evaluate_nodes(p);
}

}  // namespace liedyn
