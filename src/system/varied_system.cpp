#include "liedyn/system/varied_system.h"

#include <algorithm>

#include "liedyn/base/expression_evaluation.h"
#include "liedyn/base/index.h"
#include "liedyn/model/signal_parameters.h"
#include "liedyn/system/evaluation.h"
#include "liedyn/system/layout.h"

namespace liedyn {
namespace {

std::vector<Varied> independent_parameters(const Params& params, const std::vector<int>& parameters) {
  std::vector<Varied> out;
  for (std::size_t k = 0; k < parameters.size(); ++k)
    out.emplace_back(params.get(parameters[k]), Tape::current().independent(static_cast<int>(k)));
  return out;
}

}  // namespace

VariedSystem::VariedSystem(const System& system, const std::vector<int>& parameters)
    : VariedSystem(system, parameters, independent_parameters(system.params(), parameters)) {}

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
  derive_constants(model(), params_.data(), constants_);

  timed_ = timed_elements(model(), params);
  find_moving();
}

bool VariedSystem::varies(const Batch& batch, int e) const {
  const auto any = [&](int first, int count) {
    return std::any_of(constants_.data.begin() + first, constants_.data.begin() + first + count,
                       [](const Varied& x) { return x.id != 0; });
  };
  if (any(batch.first_constant + e * batch.constants_per_element(), batch.constants_per_element()))
    return true;
  const int frames = batch.coupling().frames;
  for (int i = 0; i < frames; ++i) {
    const Frame& frame = model().frames[at(batch.frames[at(e * frames + i)])];
    if (frame.constants >= 0 && any(frame.constants, frame.aligned ? 3 : kFrameConstants)) return true;
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
    : EvaluationWork<Varied>(system.model(), system.params_, system.plain().params().parameter_count(),
                             !system.timed_.empty()),
      plain(system.plain(), solver_choice, form),
      constants(system.constants_),
      values(system.plain().empty_state()) {
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
        throw NumericalError(0, "the matrix of a step is singular: its solution has no derivatives");
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

VariedEvaluation VariedSystem::prepare(const VariedState& state, VariedWork& work, const RowRequest& rows,
                                       const std::vector<bool>* with_twists) const {
  const Model& m = model();
  follow_time(m, system_->params(), timed_, state.t, work, work.constants);
  if (work.links)
    move_links(m, work.constants, state, *work.links, work.motions);
  else
    for (std::size_t i = 0; i < m.nodes.size(); ++i) {
      if (with_twists == nullptr || (*with_twists)[i]) {
        work.motions[i] = motion_of(m.nodes[i], state);
      } else {
        const Motion<double>& at_values = work.plain.motions[i];
        Motion<Varied>& motion = work.motions[i];
        motion.R = at_values.R.cast<Varied>();
        motion.p = at_values.p.cast<Varied>();
        motion.V = at_values.V.cast<Varied>();
        motion.A = at_values.A.cast<Varied>();
      }
    }
  return evaluation_at(m, work.constants, state, rows, work);
}

namespace {

bool always(const Vec6T<Varied>& /*wrench*/) { return true; }

}  // namespace

void VariedSystem::residual_of_moving(const VariedState& state, VariedWork& work,
                                      const RowRequest& rows) const {
  if (work.links || rows.rate || rows.acceleration) return residual(state, work, rows);
  VariedEvaluation e = prepare(state, work, rows, &with_twists_);
  std::fill(work.r.begin(), work.r.end(), Varied(0));
  std::fill(work.phi.begin(), work.phi.end(), Varied(0));
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

void VariedSystem::evaluate_residuals(const VariedEvaluation& e, VariedWork& work) const {
  std::fill(work.r.begin(), work.r.end(), Varied(0));
  for (const auto& batch : model().batches) batch->residual(e);
}

void VariedSystem::residual(const VariedState& state, VariedWork& work, const RowRequest& rows) const {
  evaluate_residuals(prepare(state, work, rows), work);
  finish_residual(model(), work, work.r, always);
}

void VariedSystem::constraint_forces(const VariedState& state, const std::vector<Varied>& y, VariedWork& work,
                                     std::vector<Varied>& out) const {
  VariedEvaluation e = prepare(state, work, {false, false, false});
  e.lambda = y.data();
  out.assign(at(model().nv), Varied(0));
  e.r = nullptr;  // by the wrenches of the bodies alone
  for (const auto& batch : model().batches)
    if (batch->coupling().rows > 0) batch->residual(e);
  finish_residual(model(), work, out, always);
}

void VariedSystem::sense(const VariedState& state, VariedWork& work, std::vector<Varied>& variables,
                         Varied* out) const {
  const VariedEvaluation e = prepare(state, work, {});
  sense_state(model(), e, state.t, params_.data(), system_->params().parameter_count(), work, variables, out,
              [&] {
                evaluate_residuals(e, work);
                finish_residual(model(), work, work.r, always);
              });
}

}  // namespace liedyn
