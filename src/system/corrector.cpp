#include "system/corrector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "system/node_components.h"

namespace liedyn {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kWorstContraction = 0.5;
constexpr double kLargestMargin = 64;  // of round-off that was estimated too low
constexpr double kMarginKept = 0.9;    // of it, in the next solve

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// The largest of some numbers (NaN aside), and a sum in which NaN or infinity anywhere shows. In two lanes, which the compiler makes one.
struct Extent {
  double largest = 0, sum = 0;
};
Extent extent_of(const double* values, std::size_t count) {
  double largest[2] = {0, 0}, sum[2] = {0, 0};
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2)
    for (std::size_t k = 0; k < 2; ++k) {
      largest[k] = std::fmax(largest[k], std::abs(values[i + k]));
      sum[k] += values[i + k];
    }
  if (i < count) {
    largest[0] = std::fmax(largest[0], std::abs(values[i]));
    sum[0] += values[i];
  }
  return {std::fmax(largest[0], largest[1]), sum[0] + sum[1]};
}

// The largest |value| / scale, and the sum.
Extent extent_of(const double* values, const double* weights, std::size_t count) {
  double largest[2] = {0, 0}, sum[2] = {0, 0};
  std::size_t i = 0;
  for (; i + 2 <= count; i += 2)
    for (std::size_t k = 0; k < 2; ++k) {
      largest[k] = std::fmax(largest[k], std::abs(values[i + k]) * weights[i + k]);
      sum[k] += values[i + k];
    }
  if (i < count) {
    largest[0] = std::fmax(largest[0], std::abs(values[i]) * weights[i]);
    sum[0] += values[i];
  }
  return {std::fmax(largest[0], largest[1]), sum[0] + sum[1]};
}

// 1 / scale; where nothing is at work anything but zero is too much.
double inverse(double scale) { return 1 / std::max(scale, 1e-290); }

bool has_smooth_elements(const Model& model) {
  for (std::size_t b = 0; b < model.batches.size(); ++b)
    if (!model.entry_of(static_cast<int>(b), 0).kind->is_smooth) return false;
  return true;
}

bool same(const Stage& a, const Stage& b) { return a.c_1 == b.c_1 && a.c_2 == b.c_2 && a.c_v == b.c_v; }

}  // namespace

Corrector::Corrector(const System& system, CorrectorOptions options)
    : Theta(at(system.model().stage_numbers)),
      V(Theta),
      theta(Theta),
      system_(&system),
      options_(options),
      uses_parameters_(options.local || system.model().has_conventional_nodes()) {
  weight_.resize(at(system.model().nv));
  if (holds_positions()) row_weight_.resize(at(system.model().rows));
  if (holds_velocities()) rate_weight_.resize(at(system.model().rows));
  if (options_.form == IndexForm::Stabilized) {
    drift_.resize(at(system.model().nv));
    eta_increment_.resize(at(system.model().rows));
  }
  if (options_.line_search) {
    base_theta_ = theta;
    base_lambda_.resize(at(system.model().rows));
    base_eta_ = base_lambda_;
  }
}

void Corrector::prepare(Work& work) {
  has_matrix_ = false;
  prepared_for_ = work.solver.get();
  scales_.reset();
  rounding_.clear();
  margin_ = 1;
  if (uses_parameters_) work.rate_tangent.resize(work.tangent.size());
  // Initial values have needed these rows; steps do not.
  work.acceleration = {};
  if (!holds_velocities()) work.rate = {};
  if (options_.form == IndexForm::Stabilized)
    stabilized_ = std::make_unique<StabilizedColumns>(*system_, *work.solver);
  const Model& model = system_->model();
  seen_ = {};
  const bool quadratic =
      options_.update == StageUpdate::Exact && !options_.simplified && !options_.line_search;
  is_smooth_ =
      quadratic && !options_.from_first && system_->params().timed().empty() && has_smooth_elements(model);
  // Absolute coordinates have cheap matrices: the second residual that a kept one needs costs nearly as much.
  const double worth_keeping = model.tree && !is_smooth_ ? 1 : 2.5;
  matrix_cost_ = options_.by_cost && quadratic && !stabilized_ ? cost_of_matrix(work) : 0;
  if (matrix_cost_ < worth_keeping) matrix_cost_ = 0;
  held_.clear();
  if (options_.form == IndexForm::Stabilized && model.velocity_rows > 0) {
    held_.assign(at(unknown_count(model, options_.form)), false);
    for (int i = 0; i < model.rows; ++i) held_[at(model.nv + model.rows + i)] = model.is_velocity_row(i);
  }
}

void Corrector::prepare(const State& start, Work& work) {
  prepare(work);
  scales_ = std::make_unique<NaturalScales>(*system_, start, work);
  probe_ = start;
  probe_.redundant.reserve(at(system_->model().rows));
  kept_r_.reserve(work.r.size());
  kept_phi_.reserve(at(system_->model().rows));
  kept_rate_.reserve(at(system_->model().rows));
  for (std::vector<double>* of : {&rounding_, &inertial_rounding_}) of->reserve(at(system_->model().nv));
  for (std::vector<double>* of : {&row_rounding_, &rate_rounding_}) of->reserve(at(system_->model().rows));
}

void Corrector::archive(Archive& a) {
  a(has_matrix_, matrix_stage_, matrix_redundant_, *scales_, scales_age_, weights_stage_, weight_,
    row_weight_, rate_weight_, rounding_, inertial_rounding_, row_rounding_, rate_rounding_, margin_,
    matrix_cost_, iterations_of_new_, solves_with_matrix_, additional_iterations_, pause_, next_pause_, seen_,
    last_residual_, unchecked_, is_smooth_, expected_iterations_);
}

// Assembling and factorising a matrix over an iteration without: residual, solution, update. By counts, with times that were measured once, so that runs
// are the same everywhere.
double Corrector::cost_of_matrix(const Work& work) const {
  struct Times {
    double residual, matrix;  // of an element, in nanoseconds; `matrix`: in addition
  };
  constexpr Times kBeam{500, 2500}, kOther{100, 200};
  constexpr double kNode = 150;
  // In a tree elements have full blocks, which each link passes on to all before it.
  constexpr Times kLink{700, 1400}, kBeamInTree{600, 8500}, kOtherInTree{600, 2000};
  constexpr double kPairOfLinks = 300;
  const Model& model = system_->model();
  const LinearSolver::Cost solver = work.solver->cost();
  double iteration = solver.solve, matrix = solver.factorize;
  if (model.tree) {
    for (const std::vector<int>& path : model.tree->path) {
      iteration += kLink.residual;
      matrix += kLink.matrix + kPairOfLinks * static_cast<double>(path.size());
    }
  } else {
    iteration += kNode * static_cast<double>(model.nodes.size());
  }
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const bool in_link =
        model.tree && (model.sections[b] == Section::Bodies ||
                       (model.sections[b] == Section::Joints && model.batches[b]->coupling().rows == 0));
    if (in_link) continue;
    const bool beam = model.sections[b] == Section::Beams;
    const Times& times = model.tree ? (beam ? kBeamInTree : kOtherInTree) : beam ? kBeam : kOther;
    iteration += times.residual * model.batches[b]->size();
    matrix += times.matrix * model.batches[b]->size();
  }
  return matrix / iteration;
}

NodeStage Corrector::node_stage(const Node& node, const State& reference, State& to) const {
  return {reference.q.data() + node.q, Theta.data() + node.v,
          V.data() + node.v,           drift_.empty() ? nullptr : drift_.data() + node.v,
          theta.data() + node.v,       to.q.data() + node.q,
          to.v.data() + node.v,        to.vdot.data() + node.v};
}

ParameterStage Corrector::parameter_stage(const Stage& stage, const State& reference, State& to) const {
  ParameterStage p;
  p.stage = stage;
  p.chart = options_.chart;
  p.local_form = options_.local_form;
  p.unit_length = options_.form == IndexForm::Index3   ? UnitLength::Position
                  : options_.form == IndexForm::Index2 ? UnitLength::Velocity
                                                       : UnitLength::Both;
  p.q_ref = reference.q.data();
  p.y_ref = reference.y.data();
  p.Theta = Theta.data();
  p.V = V.data();
  p.theta = theta.data();
  p.drift = drift_.empty() ? nullptr : drift_.data();
  p.q = to.q.data();
  p.v = to.v.data();
  p.vdot = to.vdot.data();
  p.y = to.y.data();
  p.ydot = to.ydot.data();
  p.yddot = to.yddot.data();
  return p;
}

template <class Function>
void Corrector::for_each_node(const Work& scratch, const Function& work) const {
  const std::vector<Node>& nodes = system_->model().nodes;
  parallel_for(scratch.threads.get(), nodes.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) work(nodes[i]);
  });
}

void Corrector::evaluate_stage_of_nodes(const Stage& stage, double h, const State& reference, State& to,
                                        const Work& work) {
  if (stabilized_) stabilized_->drift(*system_, h, to.eta, drift_);
  const bool exact = options_.update == StageUpdate::Exact;
  for_each_node(work, [&](const Node& node) {
    if (uses_parameters_ && in_parameter_space(node))
      evaluate_parameters(node, parameter_stage(stage, reference, to));
    else if (exact)
      evaluate_stage(node.type, stage, node_stage(node, reference, to));
  });
}

void Corrector::evaluate_residual(const Stage& stage, const State& to, Work& work) const {
  system_->residual(to, work, rows(stage));
  work.clear_residuals(to.redundant);
  if (covector.empty()) return;
  for (const Node& node : system_->model().nodes)
    if (!is_conventional(node.type))
      add_covector(node, options_.chart, theta.data(), covector.data(), work.r.data());
}

// Residuals relative to what they are made of: forces to those at work, constraints, as the accelerations that would remove them, to the accelerations.
// Not more is asked of any equation than its round-off allows.
void Corrector::set_weights(const Stage& stage) {
  const double per_tolerance = margin_ / options_.relative, rate = stage.rate();
  const int first_state = system_->model().first_state();
  const std::vector<double>&forces = scales_->forces(), &rows = scales_->rows();
  weights_stage_ = stage;
  for (std::size_t i = 0; i < at(first_state); ++i)
    weight_[i] = inverse(std::max(forces[i], per_tolerance * (rounding_[i] + rate * inertial_rounding_[i])));
  if (holds_positions())
    for (std::size_t i = 0; i < rows.size(); ++i)
      row_weight_[i] = inverse(std::max(rows[i] / rate, per_tolerance * row_rounding_[i]));
  if (holds_velocities())
    for (std::size_t i = 0; i < rows.size(); ++i)
      rate_weight_[i] = inverse(std::max(rows[i] * stage.c_v, per_tolerance * rate_rounding_[i]));
}

// What the last digits of all unknowns make of the residuals: two random changes of them by the relative amount delta, enlarged to what rounding errors add up to.
void Corrector::probe_rounding(const Stage& stage, const State& to, Work& work) {
  constexpr double kDelta = 0x1p-26;
  constexpr double digits = 16 * kEpsilon / kDelta, inertial_digits = 2 * kEpsilon / kDelta;
  const Model& model = system_->model();
  const std::size_t nv = at(model.nv), rows = at(model.rows);
  const Subsystems& parts = scales_->parts();
  kept_r_ = work.r;
  kept_phi_ = work.phi;
  if (holds_velocities()) kept_rate_ = work.rate;
  const std::vector<double>&r = kept_r_, &phi = kept_phi_, &rate = kept_rate_;
  // Of the state what residuals depend on.
  State& other = probe_;
  const auto begin_again = [&] {
    other.t = to.t;
    other.q = to.q;
    other.v = to.v;
    other.vdot = to.vdot;
    other.lambda = to.lambda;
    other.angles = to.angles;
    other.redundant = to.redundant;
  };
  rounding_.assign(nv, 0);
  inertial_rounding_.assign(nv, 0);
  row_rounding_.assign(rows, 0);
  rate_rounding_.assign(holds_velocities() ? rows : 0, 0);

  const std::vector<double>& farthest = scales_->farthest();  // places are rounded to that
  std::uint32_t bits = 12345;
  // Of different sizes, so that changes of two bodies do not cancel in the row between them.
  const auto either_way = [&](double size) {
    bits = 1664525U * bits + 1013904223U;
    const double part = 0.5 + 0x1p-32 * static_cast<double>(bits & 0x7fffffffU);
    return (bits >> 31U) != 0 ? part * size : -part * size;
  };
  const auto add = [](const std::vector<double>& now, const std::vector<double>& before, double factor,
                      std::vector<double>& out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      if (std::isfinite(now[i])) out[i] = std::max(out[i], factor * std::abs(now[i] - before[i]));
  };
  for (int probe = 0; probe < 2; ++probe) {
    begin_again();
    for (std::size_t n = 0; n < model.nodes.size(); ++n) {
      const Node& node = model.nodes[n];
      const int part = parts.of_node[n];
      double d[6] = {};
      for (int k = 0; k < node_size(node.type).v && part >= 0; ++k)
        d[k] = either_way(is_displacement(node.type, k) ? kDelta * farthest[at(part)] : kDelta);
      if (part >= 0) increment_position(node.type, d, other.q.data() + node.q);
    }
    for (double& x : other.v) x += either_way(kDelta * x);
    for (double& x : other.vdot) x += either_way(kDelta * x);
    for (double& x : other.lambda) x += either_way(kDelta * x);
    evaluate_residual(stage, other, work);
    add(work.r, r, digits, rounding_);
    add(work.phi, phi, digits, row_rounding_);
    add(work.rate, rate, digits, rate_rounding_);
    // Accelerations are as uncertain as theta, and as the places where these are constrained, times dvdot/dq.
    begin_again();
    const bool constrained = holds_positions() && model.rows > 0;
    for (std::size_t n = 0; n < model.nodes.size(); ++n) {
      const Node& node = model.nodes[n];
      const int part = parts.of_node[n];
      for (int k = 0; k < node_size(node.type).v && part >= 0; ++k) {
        const double place = !constrained                    ? 0
                             : is_displacement(node.type, k) ? farthest[at(part)]
                             : parts.length[at(part)] > 0    ? farthest[at(part)] / parts.length[at(part)]
                                                             : 1;
        other.vdot[at(node.v + k)] +=
            either_way(kDelta * stage.rate() * std::max(place, std::abs(theta[at(node.v + k)])));
      }
    }
    evaluate_residual(stage, other, work);
    add(work.r, r, inertial_digits / stage.rate(), inertial_rounding_);
  }
  // A row is the difference of two places, or of two directions, whatever changes it.
  for (std::size_t i = 0; i < rows; ++i) {
    const int part = parts.of_row[i];
    const double size = scales_->is_angle()[i] || part < 0 ? 1 : farthest[at(part)];
    row_rounding_[i] = std::max(row_rounding_[i], 4 * kEpsilon * size);
  }
  work.r = r;
  work.phi = phi;
  if (holds_velocities()) work.rate = rate;
  set_weights(stage);
}

// Every state has a scale of its own, its rate: r is the error of x'. Where that is small, x is known to round-off only.
double Corrector::state_scale(const Stage& stage, const State& to, int i) const {
  const double rounding = std::max(16 * kEpsilon * std::abs(to.v[at(i)]) / stage.c_v, rounding_[at(i)]);
  return std::max(std::abs(to.vdot[at(i)]), margin_ * rounding / options_.relative);
}

Corrector::Measure Corrector::measure(const Stage& stage, const State& to, const Work& work) const {
  Measure m;
  double sum = 0;  // NaN or infinity anywhere shows here
  const auto scan = [&](const std::vector<double>& values, const std::vector<double>& weights,
                        std::size_t count) {
    const Extent extent = extent_of(values.data(), weights.data(), count);
    m.largest = std::max(m.largest, extent.largest);
    sum += extent.sum;
  };
  const int first_state = system_->model().first_state(), nv = system_->model().nv;
  scan(work.r, weight_, at(first_state));
  for (int i = first_state; i < nv; ++i) {
    m.largest = std::max(m.largest, std::abs(work.r[at(i)]) * inverse(state_scale(stage, to, i)));
    sum += work.r[at(i)];
  }
  if (holds_positions()) scan(work.phi, row_weight_, work.phi.size());
  if (holds_velocities()) scan(work.rate, rate_weight_, work.rate.size());
  m.finite = std::isfinite(sum);
  return m;
}

// sqrt(r^2 + Phi^2 + (B v + Phi_t)^2), as the numbers stand.
double Corrector::residual_norm(const Work& work) const {
  double sum = 0;
  const auto add = [&](const std::vector<double>& values) {
    for (const double x : values) sum += x * x;
  };
  add(work.r);
  if (holds_positions()) add(work.phi);
  if (holds_velocities()) add(work.rate);
  return std::sqrt(sum);
}

// The residual may be round-off that no iteration can remove: forces that cancel in free flight, accelerations that are known
// to eps |theta| / h^2 only. Then the increment that it calls for is below what theta can hold, or far below the tolerance.
bool Corrector::is_settled(const Stage& stage, const State& to, const Work& work) const {
  const Model& model = system_->model();
  const Subsystems& parts = scales_->parts();
  const double tolerance = 1e-3 * options_.relative / stage.rate();
  for (int i = model.first_state(); i < model.nv; ++i)
    if (std::abs(work.right[at(i)]) >
        std::max(16 * kEpsilon * std::abs(theta[at(i)]), tolerance * state_scale(stage, to, i)))
      return false;
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const Node& node = model.nodes[n];
    const int part = parts.of_node[n];
    if (part < 0) continue;
    const double length = parts.length[at(part)];
    const int count = node_size(node.type).v;
    double most[2] = {0, 0};  // |theta| of displacements and rotations
    for (int k = 0; k < count; ++k) {
      double& of_kind = most[is_displacement(node.type, k) ? 0 : 1];
      of_kind = std::max(of_kind, std::abs(theta[at(node.v + k)]));
    }
    // Constraints see places, which are rounded to their own size; Euler parameters are rounded to 1, not to the size of their increment.
    const double place = model.rows > 0 ? scales_->farthest()[at(part)] : 0;
    for (int k = 0; k < count; ++k) {
      const bool displaces = is_displacement(node.type, k);
      double rounding =
          16 * kEpsilon *
          (displaces ? most[0] + length * most[1] : most[1] + (length > 0 ? most[0] / length : 0));
      rounding = std::max(rounding, 2 * kEpsilon * (displaces ? place : length > 0 ? place / length : 1));
      if (uses_parameters_ && !displaces) rounding = std::max(rounding, 8 * kEpsilon);
      const std::size_t i = at(node.v + k);
      if (std::abs(work.right[i]) > std::max(rounding, tolerance * scales_->accelerations()[i])) return false;
    }
  }
  return true;
}

// Of the linear system just solved; what is not finite counts as infinite.
Corrector::Iteration Corrector::increments(const Work& work) const {
  const std::size_t nv = at(system_->model().nv), count = work.right.size();
  const Extent q = extent_of(work.right.data(), nv), others = extent_of(work.right.data() + nv, count - nv);
  if (!std::isfinite(q.sum + others.sum)) return {std::numeric_limits<double>::infinity(), 0, 0};
  return {q.largest, others.largest, 0};
}

// Whether this iteration, made with a matrix of its own, is the last. With the exact matrix it leaves terms of second order in the increment x of q
// and that y of the multipliers, a x^2 + b x y with a, b >= 0 (the equations are linear in the multipliers), down to round-off: not more than what
// was left last time, times the larger of both ratios. Every eighth solve looks anyway.
bool Corrector::is_surely_small(int number, const Iteration& made) const {
  constexpr int kMostUnchecked = 7;
  constexpr double kMargin = 4;
  if (unchecked_ >= kMostUnchecked) return false;
  const Iteration& seen = seen_[at(number)];
  if (!(seen.increment > 0) || (made.multipliers > 0 && !(seen.multipliers > 0))) return false;
  const double x = made.increment / seen.increment;
  const double y = made.multipliers > 0 ? made.multipliers / seen.multipliers : 0;
  return kMargin * std::max(seen.residual * x * std::max(x, y), last_residual_) <= options_.relative;
}

void Corrector::assemble(const Stage& stage, const State& reference, State& to, Work& work) {
  const double s = 1 / stage.rate();
  const double k = s / stage.c_v;
  const Model& model = system_->model();
  const bool without_tangent = options_.simplified || options_.update == StageUpdate::Incremental;
  for_each_node(work, [&](const Node& node) {
    double* E = work.tangent.data() + node.tangent;
    if (in_parameter_space(node))
      return parameter_tangents(node, parameter_stage(stage, reference, to), E,
                                work.rate_tangent.data() + node.tangent);
    if (options_.update == StageUpdate::Expanded && !without_tangent)
      expanded_tangent(node.type, stage, options_.sigma, theta.data() + node.v, E);
    else
      evaluate_stage_tangent(node.type, stage, node_stage(node, reference, to), without_tangent, E);
    if (uses_parameters_)
      std::copy_n(E, node_size(node.type).tangent, work.rate_tangent.data() + node.tangent);
  });
  const Seeding positions{1, 0, 0}, velocities{k, k * stage.c_v, 0};
  MatrixRequest request;
  request.force = {s, s * stage.c_v, s};
  request.use_tangent = true;
  request.level = holds_positions() ? RowLevel::Position : RowLevel::Velocity;
  request.row = holds_positions() ? positions : velocities;
  request.velocity_row = velocities;
  if (stabilized_) {
    request.rate_blocks = &stabilized_->rate_blocks();
    request.rate = velocities;
  }
  system_->jacobian(to, work, rows(stage), request);
  work.clear_residuals(to.redundant);
  if (!covector.empty())
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      const Node& node = model.nodes[i];
      if (is_conventional(node.type)) continue;
      add_covector(node, options_.chart, theta.data(), covector.data(), work.r.data());
      const Mat6 D = s * covector_derivative(node, options_.chart, theta.data(), covector.data());
      add_block(work.solver->values(), work.diagonal[i], D, node.type, node.type);
    }
  if (stabilized_)
    stabilized_->add(
        *system_, to, stage,
        [&](const Node& node, const Vec6& change) -> DriftResponse {
          if (in_parameter_space(node))
            return parameter_drift_response(node, parameter_stage(stage, reference, to), change);
          const Vec6 both = stage_drift_response(node.type, stage, node_stage(node, reference, to), change);
          return {both, both};
        },
        work);
  work.hold(to.redundant, held_.empty() ? nullptr : &held_);
  matrix_stage_ = stage;
  if (matrix_redundant_ != to.redundant) matrix_redundant_ = to.redundant;
}

void Corrector::assemble_solution(const Stage& stage, const State& reference, State& to, Work& work) {
  const bool simplified = std::exchange(options_.simplified, false);
  assemble(stage, reference, to, work);
  options_.simplified = simplified;
  has_matrix_ = false;
}

void Corrector::set_right_side(const Stage& stage, Work& work) const {
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

// theta, lambda and eta moved by `factor` times the solution of the linear system.
void Corrector::apply(const Stage& stage, double h, const State& reference, double factor, State& to,
                      const Work& work) {
  const Model& model = system_->model();
  const bool exact = options_.update == StageUpdate::Exact;
  if (stabilized_ && !exact) {
    // The increment of the drift alone moves v and vdot.
    for (int i = 0; i < model.rows; ++i)
      eta_increment_[at(i)] = factor * work.right[at(model.nv + model.rows + i)];
    stabilized_->drift(*system_, 1, eta_increment_, drift_);
  }
  for_each_node(work, [&](const Node& node) {
    double d[6];
    for (int i = 0; i < node_size(node.type).v; ++i) d[i] = factor * work.right[at(node.v + i)];
    if (in_parameter_space(node))
      increment_parameters(node, options_.chart, d, reference.y.data(), theta.data());
    else if (exact && simplified_in_accelerations())
      increment_theta_simplified(node.type, stage, node_stage(node, reference, to), d, theta.data() + node.v);
    else if (exact)
      increment_theta(node.type, d, theta.data() + node.v);
    else
      update_stage(node.type, stage, options_.update, options_.sigma, d,
                   stabilized_ ? drift_.data() + node.v : nullptr,
                   {reference.q.data() + node.q, theta.data() + node.v, to.q.data() + node.q,
                    to.v.data() + node.v, to.vdot.data() + node.v});
  });
  for (int i = 0; i < model.rows; ++i)
    to.lambda[at(i)] += factor * stage.rate() * work.right[at(model.nv + i)];
  if (stabilized_)
    for (int i = 0; i < model.rows; ++i)
      to.eta[at(i)] += factor / h * work.right[at(model.nv + model.rows + i)];
  if (exact || uses_parameters_) evaluate_stage_of_nodes(stage, h, reference, to, work);
}

int Corrector::worst_unknown(const Stage& stage, const State& to, const Work& work, double* residual) const {
  int worst = -1;
  double largest_so_far = -1;
  const auto scan = [&](const std::vector<double>& values, int first, const std::vector<double>& weights) {
    for (int i = 0; i < static_cast<int>(values.size()); ++i) {
      const double weighted = std::isfinite(values[at(i)]) ? weights[at(i)] * std::abs(values[at(i)])
                                                           : std::numeric_limits<double>::infinity();
      if (weighted <= largest_so_far) continue;
      largest_so_far = weighted;
      worst = first + i;
      *residual = values[at(i)];
    }
  };
  const Model& model = system_->model();
  std::vector<double> weights = weight_;
  for (int i = model.first_state(); i < model.nv; ++i) weights[at(i)] = inverse(state_scale(stage, to, i));
  scan(work.r, 0, weights);
  if (holds_positions()) scan(work.phi, model.nv, row_weight_);
  if (holds_velocities()) scan(work.rate, model.nv + (holds_positions() ? model.rows : 0), rate_weight_);
  return worst;
}

CorrectorOutcome Corrector::solve(const Stage& stage, double h, const State& reference, State& to,
                                  Work& work) {
  CorrectorOutcome out;
  // The blocks of a solver that has been exchanged are elsewhere.
  if (stabilized_ && prepared_for_ != work.solver.get()) prepare(work);
  if (to.redundant != reference.redundant) to.redundant = reference.redundant;
  if (stabilized_) stabilized_->set_reference(*system_, reference, work);
  if (options_.update == StageUpdate::Exact || uses_parameters_)
    evaluate_stage_of_nodes(stage, h, reference, to, work);
  if (!scales_) scales_ = std::make_unique<NaturalScales>(*system_, to, work);
  if (!same(matrix_stage_, stage) || matrix_redundant_ != to.redundant) {
    has_matrix_ = false;
    seen_ = {};
    unchecked_ = std::min(unchecked_, 0);
  }

  const auto note_regularity = [&] {
    if (!uses_parameters_) return;
    for (std::size_t i = 0; i < system_->model().nodes.size(); ++i) {
      const double least = regularity(system_->model().nodes[i], to.y.data());
      if (least >= out.regularity) continue;
      out.regularity = least;
      out.least_regular = static_cast<int>(i);
    }
  };
  const auto give_up = [&](CorrectorFailure failure) {
    note_regularity();
    out.failure = failure;
    out.worst = failure == CorrectorFailure::Singular ? work.solver->singular_unknown()
                                                      : worst_unknown(stage, to, work, &out.residual);
    has_matrix_ = false;
    return out;
  };

  double before = std::numeric_limits<double>::infinity(), first = 0;
  const bool by_cost = matrix_cost_ > 0 && unchecked_ >= 0 && pause_ == 0;
  if (pause_ > 0) --pause_;
  bool refresh = !(options_.modified || by_cost) || !has_matrix_;
  const bool kept = !refresh;
  bool settled = false, probed = false;
  margin_ = std::max(1.0, kMarginKept * margin_);
  // Of a motion that goes on smoothly the scales of some steps before will do.
  constexpr int kMostScalesAge = 7;
  const bool renews = unchecked_ < 0 || ++scales_age_ > kMostScalesAge || !same(weights_stage_, stage);
  if (renews) scales_age_ = 0;
  bool predicts = false;  // the last iteration tells what the same of the next solve will leave
  Iteration made;
  for (;;) {
    // Residual and matrix together where the matrix is almost surely needed, the residual alone where it may be the last.
    bool assembled = refresh && out.iterations < expected_iterations_;
    if (assembled)
      assemble(stage, reference, to, work);
    else
      evaluate_residual(stage, to, work);
    // A predictor may have other accelerations than the solution. What does not end with old scales may need new ones.
    if (renews ? out.iterations <= 1 : out.iterations == 2) {
      scales_->update(work);
      if (rounding_.empty())
        probe_rounding(stage, to, work);
      else
        set_weights(stage);
    }
    Measure now = measure(stage, to, work);
    if (!now.finite) return give_up(CorrectorFailure::NotFinite);
    if (predicts) {
      made.residual = now.largest;
      seen_[at(out.iterations - 1)] = made;
    }
    // What iterations no longer diminish may be round-off.
    const bool stagnates = settled || (out.iterations > 1 && !(now.largest < kWorstContraction * before));
    if (now.largest > options_.relative && stagnates) {
      if (probed) margin_ = std::min(2 * margin_, kLargestMargin);
      probe_rounding(stage, to, work);
      probed = true;
      now = measure(stage, to, work);
    }
    double judged = now.largest;
    // A predictor that is nearly good enough would leave its own errors in every step: it must be much better to count.
    if (out.iterations == 0) judged *= 1e3;
    // With a kept matrix residuals shrink by a factor instead of being squared: they must be smaller, while they still shrink, to leave as little.
    if (by_cost && out.iterations > 0 && now.largest < 0.5 * before) judged *= 10;
    if (options_.from_first && !stagnates) {
      const double size = residual_norm(work);
      if (out.iterations == 0) first = size;
      judged = first > 0 ? size / first : 0;
    }
    if (settled || judged <= options_.relative) {
      out.has_factors = has_matrix_ && !assembled;
      last_residual_ = now.largest;
      unchecked_ = std::min(unchecked_, 0);
      break;
    }
    if (out.iterations == options_.max_iterations) return give_up(CorrectorFailure::TooManyIterations);

    // The first iteration removes the error of the predictor, mostly in other equations than those that the next ones diminish.
    bool slow = options_.modified && now.largest > (out.iterations > 1 ? kWorstContraction : 1) * before;
    // Or if with this contraction the iterations would not suffice.
    if (options_.modified && !slow && out.iterations > 1)
      slow = out.iterations + std::log(options_.relative / now.largest) / std::log(now.largest / before) >
             0.75 * options_.max_iterations;
    if (by_cost && out.iterations > 0) {
      // Iterations left with this contraction against those with a new matrix, about one, and its cost.
      const double contraction = now.largest / before;
      slow = !(contraction < 1) ||
             std::log(options_.relative / now.largest) / std::log(contraction) > 1 + matrix_cost_;
    }
    if ((refresh || slow) && !assembled) assemble(stage, reference, to, work), assembled = true;
    if (assembled) {
      has_matrix_ = work.solver->factorize();
      if (!has_matrix_) return give_up(CorrectorFailure::Singular);
      ++out.jacobians;
    }
    before = now.largest;
    refresh = !options_.modified && !by_cost;

    set_right_side(stage, work);
    work.solver->solve(work.right.data());
    ++out.iterations;
    predicts = assembled && is_smooth_ && unchecked_ >= 0 && at(out.iterations) <= seen_.size();
    if (predicts) made = increments(work);
    if (predicts && is_surely_small(out.iterations - 1, made)) {
      apply(stage, h, reference, 1, to, work);
      out.has_factors = true;
      ++unchecked_;
      break;
    }
    // With a kept matrix small increments of q say nothing about the multipliers.
    settled = assembled && is_settled(stage, to, work);

    if (!options_.line_search) {
      apply(stage, h, reference, 1, to, work);
      continue;
    }
    // Armijo: halve until the residual falls by at least a ten-thousandth of what a full step promises. Falls, that is, as
    // seen from here: with scales that shrink along with it, the residual of a far too large step would never seem to.
    base_theta_ = theta;
    base_lambda_ = to.lambda;
    base_eta_ = to.eta;
    for (double factor = 1; factor > 1e-3; factor /= 2) {
      theta = base_theta_;
      to.lambda = base_lambda_;
      to.eta = base_eta_;
      apply(stage, h, reference, factor, to, work);
      evaluate_residual(stage, to, work);
      const Measure trial = measure(stage, to, work);
      if (trial.finite && trial.largest <= (1 - 1e-4 * factor) * now.largest) break;
    }
  }
  note_regularity();
  if (out.regularity < kLeastRegularity) return give_up(CorrectorFailure::SingularParameters);
  expected_iterations_ = std::max(1, out.iterations);
  if (by_cost && kept) {
    // A new matrix where the last solve with this one cost more than a solve on average, the matrix included: then the average would begin to rise.
    constexpr int kShortestPause = 2, kLongestPause = 64;
    const int additional = out.iterations - iterations_of_new_;
    ++solves_with_matrix_;
    additional_iterations_ += additional;
    const bool renews_matrix =
        out.jacobians > 0 || additional * solves_with_matrix_ > matrix_cost_ + additional_iterations_;
    if (renews_matrix) {
      const bool at_once = solves_with_matrix_ == 2;
      if (at_once) pause_ = next_pause_;
      next_pause_ = at_once ? std::min(2 * next_pause_, kLongestPause) : kShortestPause;
      if (out.jacobians == 0) has_matrix_ = false;
    }
  } else {
    iterations_of_new_ = out.iterations;
  }
  if (out.jacobians > 0) {
    solves_with_matrix_ = 1;
    additional_iterations_ = 0;
  }
  if (work.log != nullptr)
    for (const std::vector<double>* part : {&theta, &to.lambda, &to.eta})
      work.log->insert(work.log->end(), part->begin(), part->end());
  return out;
}

void Corrector::accept(const Stage& stage, double h, const State& reference, State& to, Work& work,
                       const SolutionLog& log, std::size_t& place) {
  if (stabilized_ && prepared_for_ != work.solver.get()) prepare(work);
  to.redundant = reference.redundant;
  if (stabilized_) stabilized_->set_reference(*system_, reference, work);
  for (std::vector<double>* part : {&theta, &to.lambda, &to.eta}) {
    std::copy_n(log.begin() + static_cast<std::ptrdiff_t>(place), part->size(), part->begin());
    place += part->size();
  }
  evaluate_stage_of_nodes(stage, h, reference, to, work);
}

namespace {

std::string describe_failure(const CorrectorOutcome& outcome, const System& system) {
  const std::string name = outcome.worst >= 0 ? system.unknown_name(outcome.worst) : "unknown";
  switch (outcome.failure) {
    case CorrectorFailure::None: return "converged";
    case CorrectorFailure::TooManyIterations:
      return fmt::format(
          "Newton's method did not converge in {} iterations; the largest residual, {:.3g}, is in '{}'",
          outcome.iterations, outcome.residual, name);
    case CorrectorFailure::Singular:
      // Where numbers have overflown there is no place that could be named.
      return outcome.worst < 0
                 ? std::string("the matrix of Newton's method is singular, or its numbers are too large")
                 : fmt::format("the matrix of Newton's method is singular at '{}'", name);
    case CorrectorFailure::NotFinite:
      return fmt::format("the residual is not finite after {} iterations, first in '{}'", outcome.iterations,
                         name);
    case CorrectorFailure::SingularParameters: return "the rotation parameters are singular";
  }
  return {};
}

}  // namespace

std::string describe(const CorrectorOutcome& outcome, const System& system) {
  return describe_failure(outcome, system) + regularity_note(outcome, system);
}

std::string regularity_note(const CorrectorOutcome& outcome, const System& system) {
  constexpr double kNearlySingular = 0.5;
  if (outcome.least_regular < 0 || outcome.regularity >= kNearlySingular) return {};
  const Node& node = system.model().nodes[at(outcome.least_regular)];
  return fmt::format(
      "; the Cardan angles of 'bodies.{}' have |cos phi_2| = {:.2g} (0 is their singularity): "
      "another formulation does not have it",
      system.model().body_of(node.v).name, outcome.regularity);
}

}  // namespace liedyn
