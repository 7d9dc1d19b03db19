#include "liedyn/system/system.h"

#include <algorithm>
#include <limits>

#include "liedyn/base/index.h"
#include "liedyn/model/sensors/list.h"
#include "liedyn/system/evaluation.h"

namespace liedyn {
namespace {

// Of nodes that only elements with equations of their own act on (model/direct.h).
bool is_zero(const Vec6& W) { return (W.array() == 0).all(); }

}  // namespace

System::System(std::shared_ptr<const Model> model, Params params)
    : model_(std::move(model)), params_(std::move(params)) {
  const Model& m = *model_;
  body_batches_ = static_cast<std::size_t>(std::count_if(m.sections.begin(), m.sections.end(), [](Section s) {
    return s == Section::Bodies || s == Section::Beams || s == Section::Flexible;
  }));
  derive_constants(m, params_.values().data(), constants_);

  for (const auto& batch : m.batches) parts_.push_back(divide(*batch));
  timed_ = timed_elements(m, params_);
}

// An element is timed if one of its entry's numbers is.
std::vector<TimedElement> timed_elements(const Model& model, const Params& params) {
  std::vector<TimedElement> out;
  for (const Params::Bound& timed : params.timed())
    for (std::size_t b = 0; b < model.batches.size(); ++b)
      for (int e = 0; e < model.batches[b]->size(); ++e)
        for (const FieldValue& field : model.entry_of(static_cast<int>(b), e).fields)
          if (field.first >= 0 && timed.number >= field.first && timed.number < field.first + field.count)
            out.push_back({static_cast<int>(b), e});
  return out;
}

void System::set_params(Params params) {
  Constants constants = constants_;
  derive_constants(*model_, params.values().data(), constants);
  constants_ = std::move(constants);
  params_ = std::move(params);
  timed_ = timed_elements(*model_, params_);
  ++revision_;
}

void System::follow_params(Work& work) const {
  work.revision = revision_;
  work.forget_time();
  const std::vector<double>& values = params_.values();
  if (!work.params.empty()) work.params = values;
  std::copy(values.begin(), values.begin() + params_.parameter_count(), work.time_variables.begin());
  if (timed_.empty()) {
    work.constants = &constants_;
  } else {
    *work.own_constants = constants_;
  }
}

System::BatchParts System::divide(const Batch& batch) const {
  constexpr int kParts = 16, kWorthwhile = 2048;
  BatchParts out;
  const int count = batch.size(), frames = batch.coupling().frames;
  if (model_->tree || !batch.divisible() || count < kWorthwhile) return out;
  const auto part_of = [&](int e) { return static_cast<int>(static_cast<long>(e) * kParts / count); };
  const auto for_each_node = [&](int e, auto&& visit) {
    for (int i = 0; i < frames; ++i) {
      const int node = model_->frames[at(batch.frames[at(e * frames + i)])].node;
      if (node >= 0) visit(at(node));
    }
  };
  std::vector<int> owner(model_->nodes.size(), -1);
  for (int e = 0; e < count; ++e)
    for_each_node(e, [&](std::size_t node) {
      if (owner[node] < 0) owner[node] = part_of(e);
    });
  for (int e = 0; e < count; ++e) {
    const int part = part_of(e);
    while (static_cast<int>(out.part.size()) <= part) out.part.push_back(static_cast<int>(out.ranges.size()));
    bool alone = true;
    for_each_node(e, [&](std::size_t node) { alone = alone && owner[node] == part; });
    if (!alone) {
      out.between.push_back(e);
    } else if (static_cast<int>(out.ranges.size()) > out.part.back() && out.ranges.back().second == e) {
      ++out.ranges.back().second;
    } else {
      out.ranges.emplace_back(e, e + 1);
    }
  }
  out.part.push_back(static_cast<int>(out.ranges.size()));
  if (static_cast<int>(out.between.size()) > count / 8) return {};
  return out;
}

template <class Evaluate>
void System::for_each_part(std::size_t batch, const Evaluation& e, const Work& work,
                           const Evaluate& evaluate) const {
  const BatchParts& parts = parts_[batch];
  if (parts.part.empty()) return evaluate(e);
  const auto do_part = [&](int part) {
    Evaluation some = e;
    for (int i = parts.part[at(part)]; i < parts.part[at(part) + 1]; ++i) {
      some.begin = parts.ranges[at(i)].first;
      some.end = parts.ranges[at(i)].second;
      evaluate(some);
    }
  };
  const int count = static_cast<int>(parts.part.size()) - 1;
  if (work.threads)
    work.threads->run(count, do_part);
  else
    for (int part = 0; part < count; ++part) do_part(part);
  Evaluation one = e;
  for (const int element : parts.between) {
    one.begin = element;
    one.end = element + 1;
    evaluate(one);
  }
}

template <class S>
EvaluationWork<S>::EvaluationWork(const Model& model, const std::vector<S>& parameters, int named, bool timed)
    : params(timed ? parameters : std::vector<S>()),
      param_rates(params.size(), S(0)),
      param_second_rates(params.size(), S(0)),
      constants_time(std::numeric_limits<double>::quiet_NaN()),
      motions(model.bodies().size()),
      wrench(model.bodies().size()),
      r(at(model.nv)),
      phi(at(model.rows)),
      rate(at(model.rows)),
      acceleration(at(model.rows)) {
  for (int i = 0; i < named; ++i) time_variables.push_back(constant_in_time(parameters[at(i)]));
  time_variables.emplace_back();
  if (model.tree) links = std::make_unique<TreeMotionOf<S>>(*model.tree, model.nv);
}

template <class S>
void EvaluationWork<S>::clear_residuals(const std::vector<int>& rows) {
  if (rows.empty()) return;
  for (std::vector<S>* values : {&phi, &rate, &acceleration})
    if (!values->empty())
      for (const int row : rows) (*values)[at(row)] = S(0);
}

template struct EvaluationWork<double>;
template struct EvaluationWork<Varied>;

Work::Work(const System& system, std::string_view solver_choice, IndexForm index_form)
    : EvaluationWork<double>(system.model(), system.params_.values(), system.params_.parameter_count(),
                             !system.params_.timed().empty()),
      form(index_form),
      constants(&system.constants_),
      revision(system.revision_),
      tangent(at(system.model().tangents)) {
  right.resize(at(unknown_count(system.model(), index_form)));
  held.resize(right.size());
  if (!system.timed_.empty()) {
    own_constants = std::make_unique<Constants>(system.constants_);
    constants = own_constants.get();
  }
  if (links) tree = std::make_unique<TreeAssembly>(system.model(), *links);
  use_solver(system, solver_choice);
}

void Work::use_solver(const System& system, std::string_view choice) {
  const Model& m = system.model();
  // The order of the block solver does not know the second multipliers of the stabilised form.
  if (form == IndexForm::Stabilized && choice == "auto")
    choice = unknown_count(m, form) > 60 ? kFullPivoting : "dense";
  // Along a tree the matrix is full, and a row of a joint has nodes before it that do not move it: pivots must be sought beyond the blocks
  // of the pattern. Bodies that ride on others are no such tree.
  constexpr int kLargestDenseTree = 120;
  const bool has_paths = m.tree && std::any_of(m.tree->path.begin(), m.tree->path.end(),
                                               [](const std::vector<int>& path) { return path.size() > 1; });
  if (has_paths && (choice == "auto" || choice == "block"))
    choice = unknown_count(m, form) <= kLargestDenseTree ? "dense" : kFullPivoting;
  solver = make_linear_solver(block_pattern(m, form), choice);
  solver->use_threads(threads.get());
  blocks.assign(block_lists(m), {});
  diagonal.clear();
  const int nodes = static_cast<int>(m.nodes.size());
  for_each_listed_block(m, [&](int list, int row, int column) {
    blocks[at(list)].push_back(row >= 0 && column >= 0 ? solver->block(row, column) : BlockRef{});
  });
  for (int i = 0; i < nodes; ++i) diagonal.push_back(solver->block(i, i));
}

bool Work::pivot_fully(const System& system) {
  if (solver->pivots_fully()) return false;
  use_solver(system, kFullPivoting);
  return true;
}

void Work::use_threads(std::shared_ptr<ThreadPool> pool) {
  threads = std::move(pool);
  solver->use_threads(threads.get());
}

void Work::archive(const System& system, Archive& a) {
  std::string name(solver->name());
  a(name);
  if (name != solver->name()) use_solver(system, name);
  a(*solver);
}

void Work::hold(const std::vector<int>& rows, const std::vector<bool>* at_rest) {
  if (rows.empty() && at_rest == nullptr) return;
  std::fill(held.begin(), held.end(), false);
  if (at_rest != nullptr) std::copy(at_rest->begin(), at_rest->end(), held.begin());
  for (const int row : rows)
    for (std::size_t first = r.size(); first < held.size(); first += phi.size()) held[first + at(row)] = true;
  solver->hold(held);
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
    s.y.assign(at(model_->stage_size), 0);
    s.ydot = s.yddot = s.y;
  }
  return s;
}

Evaluation System::prepare(const State& state, Work& work, const RowRequest& rows) const {
  const Model& m = *model_;
  if (work.revision != revision_) follow_params(work);
  if (work.own_constants) follow_time(m, params_, timed_, state.t, work, *work.own_constants);
  if (work.links)
    move_links(m, *work.constants, state, *work.links, work.motions);
  else
    parallel_for(work.threads.get(), m.nodes.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) work.motions[i] = motion_of(m.nodes[i], state);
    });
  return evaluation_at(m, *work.constants, state, rows, work);
}

void System::note_force_scale(Work& work) {
  double scale = 0;
  for (const Vec6& wrench : work.wrench) scale = std::max(scale, wrench.cwiseAbs().maxCoeff());
  if (!work.r.empty())
    scale = std::max(scale,
                     Eigen::Map<const Eigen::ArrayXd>(work.r.data(), static_cast<Eigen::Index>(work.r.size()))
                         .abs()
                         .maxCoeff());
  work.force_scale = scale;
}

void System::evaluate_residuals(const Evaluation& e, Work& work) const {
  std::fill(work.r.begin(), work.r.end(), 0.0);
  for (std::size_t b = 0; b < model_->batches.size(); ++b) {
    for_each_part(b, e, work, [&](const Evaluation& some) { model_->batches[b]->residual(some); });
    if (b + 1 == body_batches_) note_force_scale(work);
  }
}

void System::finish_residual(Work& work) const {
  liedyn::finish_residual(*model_, work, work.r, [](const Vec6& W) { return !is_zero(W); });
}

void System::residual(const State& state, Work& work, const RowRequest& rows) const {
  evaluate_residuals(prepare(state, work, rows), work);
  finish_residual(work);
}

void System::tree_jacobian(const Evaluation& e, Work& work, const MatrixRequest& request) const {
  const double* tangent = request.use_tangent ? work.tangent.data() : nullptr;
  const double* rate_tangent = work.rate_tangent.empty() ? work.tangent.data() : work.rate_tangent.data();
  double* values = work.solver->values();
  work.tree->evaluate(e, request.force, true, body_batches_, [&] { note_force_scale(work); });
  finish_residual(work);
  work.tree->add_forces(request.force, tangent, rate_tangent, values, work.blocks[0].data());
  work.tree->add_rows(request.level, request.row, request.velocity_row, tangent, rate_tangent, values,
                      work.blocks[1].data());
  if (request.rate_blocks != nullptr)
    work.tree->add_rate_rows(request.rate, tangent, rate_tangent, values, (*request.rate_blocks)[1].data());
}

void System::jacobian(const State& state, Work& work, const RowRequest& rows,
                      const MatrixRequest& request) const {
  const Evaluation e = prepare(state, work, rows);
  const Model& m = *model_;
  work.solver->set_zero();
  std::fill(work.r.begin(), work.r.end(), 0.0);
  if (work.tree) return tree_jacobian(e, work, request);
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
    for_each_part(b, e, work, [&](const Evaluation& some) { m.batches[b]->jacobian(some, target); });
    if (b + 1 == body_batches_) note_force_scale(work);
  }
  // As finish_residual(), and the derivative of the nodes' own maps H^T at the summed wrench, in one pass.
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    if (is_zero(work.wrench[i])) continue;
    const NodeType type = m.nodes[i].type;
    add_wrench(type, work.motions[i], work.wrench[i], work.r.data() + m.nodes[i].v);
    if (request.force.q == 0) continue;
    Mat6 D = Mat6::Zero();
    if (!add_map_derivative(type, work.motions[i], work.wrench[i], request.force.q, D)) continue;
    add_block(target.values, work.diagonal[i], D, type, type);
  }
}

void System::inertia_matrix(const State& state, Work& work, const Seeding& seeding, double* values,
                            const std::vector<std::vector<BlockRef>>& blocks) const {
  Evaluation e = prepare(state, work, {false, false, false});
  e.r = nullptr;  // work.r stays as it is
  add_forces(e, work, seeding, values, blocks);
}

void System::add_forces(const Evaluation& e, Work& work, const Seeding& seeding, double* values,
                        const std::vector<std::vector<BlockRef>>& blocks) const {
  if (work.tree) {
    work.tree->evaluate(e, seeding, false, 0, [] {});
    work.tree->add_forces(seeding, nullptr, nullptr, values, blocks[0].data());
    return;
  }
  JacobianTarget target;
  target.values = values;
  target.force = seeding;
  for (std::size_t b = 0; b < model_->batches.size(); ++b) {
    if (model_->batches[b]->coupling().rows > 0) continue;
    target.blocks = blocks[b].data();
    model_->batches[b]->jacobian(e, target);
  }
}

void System::unconstrained(const State& state, Work& work, const Seeding& seeding, double* values,
                           const std::vector<std::vector<BlockRef>>& blocks) const {
  const Evaluation e = prepare(state, work, {false, false, false});
  std::fill(work.r.begin(), work.r.end(), 0.0);
  add_forces(e, work, seeding, values, blocks);
  finish_residual(work);
}

bool System::bodies_follow_time() const {
  return std::any_of(timed_.begin(), timed_.end(), [&](const TimedElement& e) {
    return static_cast<std::size_t>(e.batch) < body_batches_;
  });
}

void System::constraint_matrices(const State& state, Work& work, std::vector<double>& out) const {
  const Evaluation e = prepare(state, work, {false, false, false});
  double* next = out.data();
  if (work.tree) return work.tree->constraint_matrices(e, next);
  for (const auto& batch : model_->batches) {
    batch->constraint_matrices(e, next);
    const Coupling c = batch->coupling();
    next += 6 * c.rows * c.frames * batch->size();
  }
}

void System::body_constraint_matrices(const State& state, Work& work, std::vector<double>& out) const {
  const Evaluation e = prepare(state, work, {false, false, false});
  std::size_t size = 0;
  for (const auto& batch : model_->batches) size += 6 * at(batch->coupling().rows) * batch->frames.size();
  out.assign(size, 0);
  double* next = out.data();
  for (const auto& batch : model_->batches) {
    batch->constraint_matrices(e, next);
    next += 6 * at(batch->coupling().rows) * batch->frames.size();
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
  follow_sensors(e, state.angles);
}

void System::follow_sensors(const Evaluation& e, std::vector<double>& angles) const {
  const Energy none;
  for (const Sensor& sensor : model_->sensors) {
    if (sensor.angle < 0) continue;
    const Batch* joint = sensor.batch >= 0 ? model_->batches[at(sensor.batch)].get() : nullptr;
    sensor.listed->evaluate(SensorContext{sensor, e, joint, none, {}}, angles.data() + sensor.angle);
  }
}

void System::continue_sensors(std::vector<double>& memory, State& state, Work& work) const {
  bool any = false;
  for (const Sensor& sensor : model_->sensors)
    for (int i = 0; sensor.angle >= 0 && !is_work(sensor) && i < sensor.components; ++i, any = true)
      state.angles[at(sensor.angle + i)] = memory[at(sensor.angle + i)];
  if (!any) return;
  follow_sensors(prepare(state, work, {}), state.angles);
  memory = state.angles;
}

void System::sense(const State& state, Work& work, std::vector<double>& variables, double* out) const {
  const Evaluation e = prepare(state, work, {});
  sense_state(*model_, e, state.t, params_.values().data(), params_.parameter_count(), work, variables, out,
              [&] {
                evaluate_residuals(e, work);
                finish_residual(work);
              });
}

std::vector<System::EntryPlace> System::not_finite(const State& state, Work& work) const {
  const Evaluation e = prepare(state, work, {true, true, false});
  const auto finite = [&](int node) {
    if (!work.wrench[at(node)].allFinite()) return false;
    if (work.tree) return true;  // r belongs to joints: bodies, whose frames these are, have wrenches only
    const Node& n = model_->nodes[at(node)];
    for (int i = 0; i < node_size(n.type).v; ++i)
      if (!std::isfinite(work.r[at(n.v + i)])) return false;
    return true;
  };
  std::vector<EntryPlace> out;
  for (std::size_t b = 0; b < model_->batches.size(); ++b) {
    const Batch& batch = *model_->batches[b];
    for (Vec6& wrench : work.wrench) wrench.setZero();
    std::fill(work.r.begin(), work.r.end(), 0.0);
    batch.residual(e);
    const Coupling coupling = batch.coupling();
    std::vector<int> suspects,
        culprits;  // elements at a node that is not finite; those whose own part is not
    for (int k = 0; k < batch.size(); ++k) {
      bool good = true, own = true;
      for (int i = 0; i < coupling.frames; ++i) {
        const int node = model_->frames[at(batch.frames[at(k * coupling.frames + i)])].node;
        good = good && (node < 0 || finite(node));
        own = own && (good || i >= batch.acting_frames() || batch.wrench_on(e, k, i).allFinite());
      }
      for (int i = 0; i < coupling.rows; ++i)
        if (!std::isfinite(work.phi[at(batch.first_row + k * coupling.rows + i)]) ||
            !std::isfinite(work.rate[at(batch.first_row + k * coupling.rows + i)]))
          good = own = false;
      if (!good) suspects.push_back(k);
      if (!own) culprits.push_back(k);
    }
    const Section section = model_->sections[b];
    for (const int k : culprits.empty() ? suspects : culprits) {
      const Entry& entry = model_->description().entries(section)[at(batch.entries[at(k)])];
      const std::string path = fmt::format("{}.{}", section_name(section), entry.name);
      if (out.empty() || out.back().path != path) out.push_back({path, entry.line});
    }
  }
  return out;
}

std::string System::unknown_name(int unknown) const {
  if (unknown < model_->nv) return model_->equation_name(unknown);
  const int row = unknown - model_->nv;
  return row < model_->rows ? model_->row_name(row) : model_->row_name(row - model_->rows) + " (rate)";
}

}  // namespace liedyn
