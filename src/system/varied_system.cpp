#include "liedyn/system/varied_system.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/index.h"
#include "liedyn/model/nodes/increments.h"
#include "liedyn/model/nodes/varied_stage.h"
#include "liedyn/model/signal_numbers.h"
#include "liedyn/system/evaluation.h"
#include "liedyn/system/layout.h"
#include "liedyn/system/projection.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

std::vector<Varied> independent_numbers(const Params& params, const std::vector<int>& parameters) {
  std::vector<Varied> out;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    out.emplace_back(params.get(parameters[k]), Tape::current().independent(static_cast<int>(k)));
  return out;
}

}  // namespace

VariedSystem::VariedSystem(const System& system, const std::vector<int>& parameters)
    : VariedSystem(system, parameters, independent_numbers(system.params(), parameters)) {}

VariedSystem::VariedSystem(const System& system, const std::vector<int>& parameters,
                           const std::vector<Varied>& seeds)
    : system_(&system),
      parameters_(parameters),
      seeds_(seeds),
      params_(system.params().values().begin(), system.params().values().end()) {
  const Params& params = system.params();
  const auto seed_parameter = [&](int number) {
    for (std::size_t k = 0; k < parameters.size(); ++k)
      if (parameters[k] == number)
        params_[at(number)] = params_[at(number)] - params_[at(number)].v + seeds_[k];
  };
  for (const int number : parameters) {
    refuse_function(params, number);
    seed_parameter(number);
  }
  // Numbers that follow from parameters. One that is varied itself would be set to a constant, so that in its own direction nothing else moves it.
  const auto count = at(params.parameter_count());
  std::vector<Varied> variables(params_.begin(), params_.begin() + params.parameter_count());
  variables.emplace_back(params.description().simulation.start);
  for (const Params::Bound& bound : params.bound()) {
    params_[at(bound.number)] = bound.expression.evaluate<Varied>(variables);
    seed_parameter(bound.number);
    if (at(bound.number) < count) variables[at(bound.number)] = params_[at(bound.number)];
  }
  derive_numbers(model(), params_.data(), numbers_);

  timed_ = timed_elements(model(), params);
  find_moving();
}

bool VariedSystem::varies(const Batch& batch, int e) const {
  const auto any = [&](int first, int count) {
    return std::any_of(numbers_.data.begin() + first, numbers_.data.begin() + first + count,
                       [](const Varied& x) { return x.id != 0; });
  };
  if (any(batch.first_number + e * batch.numbers_per_element(), batch.numbers_per_element())) return true;
  const int frames = batch.coupling().frames;
  for (int i = 0; i < frames; ++i) {
    const Frame& frame = model().frames[at(batch.frames[at(e * frames + i)])];
    if (frame.numbers >= 0 && any(frame.numbers, frame.aligned ? 3 : kFrameNumbers)) return true;
  }
  return false;
}

void VariedSystem::find_moving() {
  const Model& m = model();
  const auto add = [&](std::size_t b, int begin, int end) {
    if (!moving_.empty() && at(moving_.back().batch) == b && moving_.back().end == begin)
      moving_.back().end = end;
    else
      moving_.push_back({static_cast<int>(b), begin, end});
  };
  for (std::size_t b = 0; b < m.batches.size(); ++b) {
    const Batch& batch = *m.batches[b];
    const Coupling c = batch.coupling();
    if (c.rows == 0 || c.velocity_rows > 0 || !batch.divisible()) {
      add(b, 0, batch.size());
      continue;
    }
    for (int e = 0; e < batch.size(); ++e)
      if (varies(batch, e) || std::any_of(timed_.begin(), timed_.end(), [&](const TimedElement& t) {
            return at(t.batch) == b && t.element == e;
          }))
        add(b, e, e + 1);
  }
  // Nodes whose twists are read.
  with_twists_.assign(m.bodies().size(), false);
  VariedEvaluation e;
  e.frames = m.frames.data();
  e.nodes = m.bodies().data();
  std::vector<Varied> none(1);
  e.r = none.data();  // that there is one is all that matters
  for (const MovingElements& moving : moving_) {
    const Batch& batch = *m.batches[at(moving.batch)];
    if (!batch.divisible()) {
      std::fill(with_twists_.begin(), with_twists_.end(), true);
      return;
    }
    const int frames = batch.coupling().frames;
    for (int element = moving.begin; element < moving.end; ++element) {
      if (!batch.reads_twists(e, element)) continue;
      for (int i = 0; i < frames; ++i) {
        const int node = m.frames[at(batch.frames[at(element * frames + i)])].node;
        if (node >= 0) with_twists_[at(node)] = true;
      }
    }
  }
}

VariedWork::VariedWork(const VariedSystem& system, std::string_view solver_choice, IndexForm form)
    : EvaluationWork<Varied>(system.model(), system.timed_.empty() ? std::vector<Varied>() : system.params_),
      plain(system.plain(), solver_choice, form),
      numbers(system.numbers_),
      values(system.plain().empty_state()) {
  if (system.model().tree)
    tree = std::make_unique<TreeMotionOf<Varied>>(*system.model().tree, system.model().nv);
  if (Tape::current().sweep() == Tape::Sweep::Backwards)
    transposed = std::make_shared<TransposedSolver>(block_pattern(system.model(), form));
}

bool VariedWork::take_matrix() {
  if (transposed) {
    matrix = transposed->copy(*plain.solver);
    return true;
  }
  return plain.solver->factorize();
}

namespace {

// out = factor (scale) x, for each of `columns` that stand side by side.
void scale(double factor, const std::vector<double>* by, std::size_t count, std::size_t columns,
           const double* x, double* out) {
  for (std::size_t i = 0; i < count; ++i) {
    const double f = by != nullptr ? factor * (*by)[i] : factor;
    for (std::size_t k = 0; k < columns; ++k) out[i * columns + k] = f * x[i * columns + k];
  }
}

}  // namespace

std::vector<Varied> VariedSystem::solve(VariedWork& work, const std::vector<Varied>& right,
                                        const std::vector<double>& values,
                                        const std::shared_ptr<const Scales>& scales) const {
  std::vector<Tape::Id> inputs;
  inputs.reserve(right.size());
  for (const Varied& x : right) inputs.push_back(x.id);
  const std::size_t n = right.size();
  const auto forwards = [&](const double* in, double* out, std::size_t columns) {
    scale(-1, scales ? &scales->rows : nullptr, n, columns, in, out);
    work.plain.solver->solve_several(out, n, columns);
    if (scales) scale(1, &scales->columns, n, columns, out, out);
  };
  Tape::LinearMap backwards;
  if (work.transposed)
    backwards = [n, scales, solver = work.transposed, matrix = work.matrix](const double* out, double* in) {
      scale(-1, scales ? &scales->columns : nullptr, n, 1, out, in);
      if (!solver->solve(matrix, in))
        throw NumericalError(0,
                             "the matrix of a step is singular: what was solved with it has no derivatives");
      if (scales) scale(1, &scales->rows, n, 1, in, in);
    };
  const Tape::Id first = Tape::current().call(inputs, n, forwards, std::move(backwards));
  std::vector<Varied> out;
  out.reserve(n);
  for (std::size_t i = 0; i < n; ++i) out.emplace_back(values[i], first + static_cast<Tape::Id>(i));
  return out;
}

VariedState VariedSystem::empty_state() const {
  VariedState out;
  set_constants(system_->empty_state(), out);
  return out;
}

void VariedSystem::set_time(double t, VariedWork& work) const {
  if (timed_.empty() || t == work.numbers_time) return;
  work.numbers_time = t;
  const Params& params = system_->params();
  std::vector<TimeJetOf<Varied>> variables;
  for (int i = 0; i < params.parameter_count(); ++i) variables.push_back(constant_in_time(params_[at(i)]));
  variables.push_back(time_itself<Varied>(t));
  derive_timed(model(), params, timed_, variables, work, work.numbers);
}

VariedEvaluation VariedSystem::prepare(const VariedState& state, VariedWork& work, const RowRequest& rows,
                                       const std::vector<bool>* with_twists) const {
  set_time(state.t, work);
  const Model& m = model();
  if (work.tree)
    move_links(*m.tree, m.nodes, work.numbers.data.data(), state.q.data(), state.v.data(), state.vdot.data(),
               *work.tree, work.motions.data());
  else
    for (std::size_t i = 0; i < m.nodes.size(); ++i) {
      const Node& node = m.nodes[i];
      if (with_twists == nullptr || (*with_twists)[i]) {
        work.motions[i] = node_motion(node.type, state.q.data() + node.q, state.v.data() + node.v,
                                      state.vdot.data() + node.v);
      } else {
        const Motion<double>& at_values = work.plain.motions[i];
        Motion<Varied>& motion = work.motions[i];
        motion.R = at_values.R.cast<Varied>();
        motion.p = at_values.p.cast<Varied>();
        motion.V = at_values.V.cast<Varied>();
        motion.A = at_values.A.cast<Varied>();
      }
    }
  return evaluation_at(m, work.numbers, state, rows, work);
}

void VariedSystem::finish_residual(VariedWork& work, std::vector<Varied>& r) const {
  const Model& m = model();
  if (work.tree) {
    r.assign(at(m.nv), Varied(0));
    project_wrenches(*m.tree, m.nodes, work.wrench.data(), *work.tree, r.data());
    return;
  }
  add_wrenches(m.nodes, work, r.data(), [](const Vec6T<Varied>&) { return true; });
}

void VariedSystem::residual_of_moving(const VariedState& state, VariedWork& work,
                                      const RowRequest& rows) const {
  if (work.tree || rows.rate || rows.acceleration) return residual(state, work, rows);
  VariedEvaluation e = prepare(state, work, rows, &with_twists_);
  work.r.assign(at(model().nv), Varied(0));
  std::fill(work.phi.begin(), work.phi.end(), Varied(0));
  e.r = work.r.data();
  for (const MovingElements& moving : moving_) {
    const Batch& batch = *model().batches[at(moving.batch)];
    e.begin = moving.begin;
    e.end = batch.divisible() ? moving.end : -1;
    batch.residual(e);
  }
  // Wrenches without derivatives do not matter here.
  add_wrenches(model().nodes, work, work.r.data(), [](const Vec6T<Varied>& W) {
    return std::any_of(W.data(), W.data() + 6, [](const Varied& x) { return x.id != 0; });
  });
}

void VariedSystem::residual(const VariedState& state, VariedWork& work, const RowRequest& rows) const {
  VariedEvaluation e = prepare(state, work, rows);
  work.r.assign(at(model().nv), Varied(0));
  if (!work.tree) e.r = work.r.data();
  for (const auto& batch : model().batches) batch->residual(e);
  finish_residual(work, work.r);
}

void VariedSystem::constraint_forces(const VariedState& state, const std::vector<Varied>& y, VariedWork& work,
                                     std::vector<Varied>& out) const {
  VariedEvaluation e = prepare(state, work, {false, false, false});
  e.lambda = y.data();
  out.assign(at(model().nv), Varied(0));
  for (const auto& batch : model().batches)
    if (batch->coupling().rows > 0) batch->residual(e);
  finish_residual(work, out);
}

void VariedSystem::sense(const VariedState& state, VariedWork& work, std::vector<Varied>& variables,
                         Varied* out) const {
  const VariedEvaluation e = prepare(state, work, {});
  const Model& m = model();
  if (work.tree) {
    for (const auto& batch : m.batches) batch->residual(e);
    finish_residual(work, work.r);
    transmitted_wrenches(*m.tree, *work.tree, work.wrench.data());
  }
  evaluate_sensors(m, e, state.t, params_.data(), system_->params().parameter_count(), variables, out);
}

// ---- initial values

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

// The d of least d^T M d with B d = y, with its derivatives: (M d + B^T mu = 0, B d = y), whose values are solved for first.
// Velocities `at_rest` (may be null) do not move, rows `left_out` do not count.
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

// The same into work.right, with the rows of the state and all velocities free.
bool constrained_increment(const VariedSystem& system, const VariedState& state, const std::vector<Varied>& y,
                           VariedWork& work) {
  const std::vector<Varied> rows = y;  // which may be those of `work`
  return constrained_increment(system, state, rows, state.redundant, nullptr, work, work.right);
}

// Onto Phi = 0 or B v + Phi_t = 0, as project_positions and project_velocities of system/initial.h go with full steps.
bool project(const VariedSystem& system, const std::vector<bool>& free, RowLevel level, VariedState& state,
             VariedWork& work) {
  constexpr int kMost = 50;
  constexpr double kDependent = 1e-7, kRoundoff = 1e-14;
  const Model& model = system.model();
  std::vector<bool> at_rest(work.plain.held.size(), false);
  for (std::size_t i = 0; i < free.size(); ++i) at_rest[i] = !free[i];
  std::vector<bool> velocities_at_rest(at_rest.begin(), at_rest.begin() + model.nv);
  std::vector<Varied> d;
  int settled = 0;
  for (int i = 0; i < kMost; ++i) {
    set_values(state, work.values);
    std::vector<int> left_out =
        dependent_rows(system.plain(), work.values, kDependent, level, &velocities_at_rest, work.plain);
    if (level == RowLevel::Position)
      for (int row = 0; row < model.rows; ++row)
        if (model.is_velocity_row(row) && std::find(left_out.begin(), left_out.end(), row) == left_out.end())
          left_out.push_back(row);
    system.residual(state, work, {level == RowLevel::Position, level == RowLevel::Velocity, false});
    std::vector<Varied> y = level == RowLevel::Position ? work.phi : work.rate;
    double largest = 0;
    for (Varied& row : y) largest = std::max(largest, std::abs(row.v)), row = -row;
    if (!constrained_increment(system, state, y, left_out, &at_rest, work, d)) return false;
    if (level == RowLevel::Position)
      for (const Node& node : model.nodes)
        increment_position<Varied>(node.type, d.data() + node.v, state.q.data() + node.q);
    else
      for (std::size_t k = 0; k < d.size(); ++k) state.v[k] += d[k];
    // Derivatives follow one iteration behind; velocities are linear.
    if (largest < kRoundoff || settled > 0 || level == RowLevel::Velocity) ++settled;
    if (settled == 2) return true;
  }
  return false;
}

double largest_difference(const std::vector<Varied>& a, const std::vector<double>& b) {
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a[i].v - b[i]));
  return out;
}

// The increment of the node's pose that leads from the values of q to q itself: derivatives only.
void increments_of(const Model& model, const std::vector<double>& q_values, const std::vector<Varied>& q,
                   std::vector<Varied>& out) {
  std::vector<Varied> from;
  set_constants(q_values, from);
  out.assign(at(model.nv), Varied(0));
  for (const Node& node : model.nodes)
    increment_between(node.type, from.data() + node.q, q.data() + node.q, out.data() + node.v);
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

VariedState consistent_state(const VariedSystem& system, double t, const InitialOptions& options,
                             VariedWork& work) {
  const Model& model = system.model();
  const State values = liedyn::consistent_state(system.plain(), t, options, work.plain);
  VariedState state;
  set_constants(values, state);
  if (model.tree) {
    // As the values: found in absolute coordinates, then those of the tree.
    const System absolute = in_absolute_coordinates(system.plain());
    const VariedSystem varied = system.on(absolute);
    VariedWork absolute_work(varied);
    const VariedState bodies = consistent_state(varied, t, options, absolute_work);
    std::vector<Motion<Varied>> motions;
    for (std::size_t body = 0; body < model.bodies().size(); ++body) {
      const Node& from = absolute.model().nodes[body];
      motions.push_back(node_motion(from.type, bodies.q.data() + from.q, bodies.v.data() + from.v,
                                    bodies.vdot.data() + from.v));
      const int root = model.node_of_body(static_cast<int>(body));
      if (root < 0) continue;
      const Node& to = model.nodes[at(root)];
      std::copy_n(bodies.q.begin() + from.q, node_size(from.type).q, state.q.begin() + to.q);
      std::copy_n(bodies.v.begin() + from.v, node_size(from.type).v, state.v.begin() + to.v);
    }
    vary_coordinates(*model.tree, model.nodes, work.numbers.data.data(), motions, state.q.data(),
                     state.v.data());
  } else {
    const InitialOf<Varied> initial = initial_values(model, system.params().data());
    const bool move_all = options.policy == InitialPolicy::Project;
    const std::vector<bool> all(state.v.size(), true);
    const auto any = [](const std::vector<bool>& flags) {
      return std::find(flags.begin(), flags.end(), true) != flags.end();
    };
    // What is marked "consistent" moves first, and all by what is then left.
    const auto assemble = [&](const std::vector<bool>& free, RowLevel level) {
      if (model.rows == 0) return true;
      const bool suffices = !any(free) || project(system, free, level, state, work);
      return move_all ? project(system, all, level, state, work) : suffices;
    };
    state.q = initial.q;
    const bool followed = options.given == nullptr && assemble(initial.free_position, RowLevel::Position);
    if (!followed || largest_difference(state.q, values.q) > 1e-7) {
      // Assembly took another way, or began elsewhere: what was typed, moved along to where it has ended.
      std::vector<Varied> d;
      std::vector<double> typed;
      set_values(initial.q, typed);
      increments_of(model, typed, initial.q, d);
      set_constants(values.q, state.q);
      if (options.given == nullptr)
        for (const Node& node : model.nodes)
          increment_position<Varied>(node.type, d.data() + node.v, state.q.data() + node.q);
      assemble(initial.free_position, RowLevel::Position);
    }
    if (options.given == nullptr) state.v = initial.v;
    assemble(initial.free_velocity, RowLevel::Velocity);
    // The values are those of a plain run.
    for (std::size_t i = 0; i < state.q.size(); ++i) state.q[i].v = values.q[i];
    for (std::size_t i = 0; i < state.v.size(); ++i) state.v[i].v = values.v[i];
  }
  if (!solve_accelerations(system, state, work))
    throw InputError("sensitivity",
                     "the accelerations at the start have no derivatives: a matrix is singular");
  return state;
}

// ---- accelerations

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

// ---- corrector

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
        "take variant=exact");
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
