#include "system/system.h"

#include <algorithm>
#include <limits>

namespace liedyn {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

System::System(std::shared_ptr<const Model> model, Params params)
    : model_(std::move(model)), params_(std::move(params)) {
  const Model& m = *model_;
  body_batches_ = static_cast<std::size_t>(std::count(m.sections.begin(), m.sections.end(), Section::Bodies));
  derive_numbers(m, params_.values().data(), numbers_);

  // An element is timed if one of its entry's numbers is.
  for (const Params::Bound& timed : params_.timed()) {
    for (std::size_t b = 0; b < m.batches.size(); ++b)
      for (int e = 0; e < m.batches[b]->size(); ++e)
        for (const FieldValue& field : m.entry_of(static_cast<int>(b), e).fields)
          if (field.first >= 0 && timed.number >= field.first && timed.number < field.first + field.count)
            timed_.push_back({static_cast<int>(b), e});
  }
}

Work::Work(const System& system, std::string_view solver_choice, IndexForm index_form)
    : form(index_form),
      numbers(system.numbers_),
      params(system.params_.timed().empty() ? std::vector<double>() : system.params_.values()),
      param_rates(params.size()),
      param_second_rates(params.size()),
      time_variables(system.params_.values().begin(),
                     system.params_.values().begin() + system.params_.parameter_count()),
      numbers_time(std::numeric_limits<double>::quiet_NaN()),
      motions(system.model().nodes.size()),
      wrench(system.model().nodes.size()),
      r(at(system.model().nv)),
      phi(at(system.model().rows)),
      rate(at(system.model().rows)),
      acceleration(at(system.model().rows)),
      tangent(at(system.model().tangents)),
      right(at(unknown_count(system.model(), index_form))) {
  time_variables.emplace_back(0);
  use_solver(system, solver_choice);
}

void Work::use_solver(const System& system, std::string_view choice) {
  const Model& m = system.model();
  // The order of the block solver does not know the second multipliers of the stabilised form.
  if (form == IndexForm::Stabilized && choice == "auto" && unknown_count(m, form) > 60) choice = "klu";
  solver = make_linear_solver(block_pattern(m, form), choice);
  blocks.assign(m.batches.size(), {});
  diagonal.clear();
  const int nodes = static_cast<int>(m.nodes.size());
  for_each_element(m, [&](int b, int e, int joint) {
    for_each_block(m, *m.batches[at(b)], e, nodes + joint, [&](int row, int column) {
      blocks[at(b)].push_back(row >= 0 && column >= 0 ? solver->block(row, column) : BlockRef{});
    });
  });
  for (int i = 0; i < nodes; ++i) diagonal.push_back(solver->block(i, i));
}

State System::empty_state() const {
  State s;
  s.q.assign(at(model_->nq), 0);
  s.v.assign(at(model_->nv), 0);
  s.vdot.assign(at(model_->nv), 0);
  s.lambda.assign(at(model_->rows), 0);
  s.eta.assign(at(model_->rows), 0);
  s.angles.assign(at(model_->angles), 0);
  if (model_->has_conventional_nodes()) {
    s.y.assign(at(model_->stage_numbers), 0);
    s.ydot = s.yddot = s.y;
  }
  return s;
}

void System::set_time(double t, Work& work) const {
  if (timed_.empty() || t == work.numbers_time) return;
  work.numbers_time = t;
  work.time_variables.back() = time_variable(t);
  for (const Params::Bound& timed : params_.timed()) {
    const TimeJet value = timed.expression.evaluate<TimeJet>(work.time_variables);
    work.params[at(timed.number)] = value_of(value);
    work.param_rates[at(timed.number)] = rate_of(value);
    work.param_second_rates[at(timed.number)] = second_rate_of(value);
  }
  const TimedNumbers timed{work.params.data(), work.param_rates.data(), work.param_second_rates.data()};
  for (const TimedElement& e : timed_) derive_element(*model_, timed, e.batch, e.element, work.numbers);
}

Evaluation System::prepare(const State& state, Work& work, const RowRequest& rows) const {
  set_time(state.t, work);
  const Model& m = *model_;
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    const Node& node = m.nodes[i];
    work.motions[i] =
        node_motion(node.type, state.q.data() + node.q, state.v.data() + node.v, state.vdot.data() + node.v);
    work.wrench[i].setZero();
  }
  Evaluation e;
  e.frames = m.frames.data();
  e.nodes = m.nodes.data();
  e.motions = work.motions.data();
  e.q = state.q.data();
  e.numbers = work.numbers.data.data();
  e.world.gravity = work.numbers.gravity;
  e.world.time = state.t;
  e.lambda = state.lambda.data();
  e.angles = state.angles.data();
  e.velocity_scale = rows.velocity_scale;
  e.wrench = work.wrench.data();
  if (rows.phi) e.phi = work.phi.data();
  if (rows.rate) e.rate = work.rate.data();
  if (rows.acceleration) e.acceleration = work.acceleration.data();
  return e;
}

void System::note_force_scale(Work& work) {
  double scale = 0;
  for (const Vec6& wrench : work.wrench) scale = std::max(scale, wrench.cwiseAbs().maxCoeff());
  work.force_scale = scale;
}

void System::finish_residual(Work& work) const {
  std::fill(work.r.begin(), work.r.end(), 0.0);
  const Model& m = *model_;
  for (std::size_t i = 0; i < m.nodes.size(); ++i)
    add_wrench(m.nodes[i].type, work.motions[i], work.wrench[i], work.r.data() + m.nodes[i].v);
}

void System::residual(const State& state, Work& work, const RowRequest& rows) const {
  const Evaluation e = prepare(state, work, rows);
  for (std::size_t b = 0; b < model_->batches.size(); ++b) {
    model_->batches[b]->residual(e);
    if (b + 1 == body_batches_) note_force_scale(work);
  }
  finish_residual(work);
}

void System::jacobian(const State& state, Work& work, const RowRequest& rows,
                      const MatrixRequest& request) const {
  const Evaluation e = prepare(state, work, rows);
  const Model& m = *model_;
  work.solver->set_zero();
  JacobianTarget target;
  target.values = work.solver->values();
  if (request.use_tangent) {
    target.tangent = work.tangent.data();
    target.rate_tangent = work.rate_tangent.empty() ? target.tangent : work.rate_tangent.data();
  }
  target.force = request.force;
  target.row = request.row;
  target.level = request.level;
  target.velocity_row = request.velocity_row;
  target.rate = request.rate;
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    target.blocks = work.blocks[b].data();
    if (request.rate_blocks != nullptr) target.rate_blocks = (*request.rate_blocks)[b].data();
    m.batches[b]->jacobian(e, target);
    if (b + 1 == body_batches_) note_force_scale(work);
  }
  finish_residual(work);
  // Derivative of the nodes' own maps H^T at the summed wrench.
  if (request.force.q == 0) return;
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    const NodeType type = m.nodes[i].type;
    Mat6 D = Mat6::Zero();
    if (!add_map_derivative(type, work.motions[i], work.wrench[i], request.force.q, D)) continue;
    add_block(target.values, work.diagonal[i], D, type, type);
  }
}

void System::inertia_matrix(const State& state, Work& work, const Seeding& seeding, double* values,
                            const std::vector<std::vector<BlockRef>>& blocks) const {
  const Evaluation e = prepare(state, work, {false, false, false});
  JacobianTarget target;
  target.values = values;
  target.force = seeding;
  for (std::size_t b = 0; b < model_->batches.size(); ++b) {
    if (model_->batches[b]->coupling().rows > 0) continue;
    target.blocks = blocks[b].data();
    model_->batches[b]->jacobian(e, target);
  }
}

void System::constraint_matrices(const State& state, Work& work, std::vector<double>& out) const {
  const Evaluation e = prepare(state, work, {false, false, false});
  double* next = out.data();
  for (const auto& batch : model_->batches) {
    batch->constraint_matrices(e, next);
    const Coupling c = batch->coupling();
    next += 6 * c.rows * c.frames * batch->size();
  }
}

Energy System::energy(const State& state, Work& work) const {
  const Evaluation e = prepare(state, work, {});
  Energy sum;
  for (const auto& batch : model_->batches) sum += batch->energy(e);
  return sum;
}

void System::follow_angles(State& state, Work& work) const {
  if (state.angles.empty()) return;
  const Evaluation e = prepare(state, work, {});
  for (const auto& batch : model_->batches) {
    const int count = batch->angles_per_element();
    if (count == 0) continue;
    for (int k = 0; k < batch->size(); ++k)
      batch->wound_angles(e, k, state.angles.data() + batch->first_angle + k * count);
  }
  for (const Sensor& sensor : model_->sensors)
    if (sensor.angle >= 0) state.angles[at(sensor.angle)] = sensor.wound_angle(e, *model_->batches[at(sensor.batch)]);
}

void System::sense(const State& state, Work& work, std::vector<double>& variables, double* out) const {
  const Evaluation e = prepare(state, work, {});
  Energy sum;
  for (const auto& batch : model_->batches) sum += batch->energy(e);
  const int parameters = params_.parameter_count();
  variables[0] = state.t;
  std::copy_n(params_.values().begin(), parameters, variables.begin() + 1);
  for (const Sensor& sensor : model_->sensors) {
    const Batch* joint = sensor.batch >= 0 ? model_->batches[at(sensor.batch)].get() : nullptr;
    sensor.listed->evaluate({sensor, e, joint, sum, variables}, out + sensor.first);
    std::copy_n(out + sensor.first, sensor.components, variables.begin() + 1 + parameters + sensor.first);
  }
}

std::string System::unknown_name(int unknown) const {
  if (unknown < model_->nv) return model_->equation_name(unknown);
  const int row = unknown - model_->nv;
  return row < model_->rows ? model_->row_name(row) : model_->row_name(row - model_->rows) + " (rate)";
}

}  // namespace liedyn
