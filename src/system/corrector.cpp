#include "system/corrector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace liedyn {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon();
constexpr double kWorstContraction = 0.5;

NodeStage node_stage(const Node& node, const Corrector& c, const std::vector<double>& q_ref, State& to) {
  return {q_ref.data() + node.q,        c.Theta.data() + node.v, c.V.data() + node.v, c.theta.data() + node.v,
          to.q.data() + node.q, to.v.data() + node.v,    to.vdot.data() + node.v};
}

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out = std::max(out, std::abs(x));
  return out;
}

}  // namespace

Corrector::Corrector(const System& system, CorrectorOptions options)
    : Theta(static_cast<std::size_t>(system.model().nv)), V(Theta), theta(Theta), system_(&system), options_(options) {
  if (options_.line_search) {
    base_theta_ = theta;
    base_lambda_.resize(static_cast<std::size_t>(system.model().rows));
  }
}

void Corrector::evaluate_stage_of_nodes(const Stage& stage, const std::vector<double>& q_ref, State& to) const {
  for (const Node& node : system_->model().nodes) evaluate_stage(node.type, stage, node_stage(node, *this, q_ref, to));
}

// Residuals relative to what they are made of: forces to the largest inertial force, constraints, as the accelerations
// that would remove them, to the largest acceleration.
Corrector::Measure Corrector::measure(const Stage& stage, const State& to, const Work& work) const {
  Measure m;
  double sum = 0;  // NaN or infinity anywhere shows here
  for (const double x : work.r) m.forces = std::max(m.forces, std::abs(x)), sum += x;
  for (const double x : row_residual(work)) m.constraints = std::max(m.constraints, std::abs(x)), sum += x;
  m.finite = std::isfinite(sum);
  const double force_scale = std::max(work.force_scale, options_.absolute / options_.relative);
  const double acceleration_scale = std::max(largest(to.vdot), options_.absolute / options_.relative);
  m.combined = std::max(m.forces / force_scale, m.constraints * row_rate(stage) / acceleration_scale);
  return m;
}

bool Corrector::small(const Stage& stage, const Measure& now, const State& to, const Work& work) const {
  if (now.forces > std::max(options_.relative * work.force_scale, options_.absolute)) return false;
  if (now.constraints == 0) return true;
  // Places and velocities are known to round-off only.
  double size = 0;
  for (const Motion<double>& m : work.motions)
    size = std::max(size, velocity_level() ? m.V.cwiseAbs().maxCoeff() : m.p.cwiseAbs().maxCoeff());
  const double reachable = 16 * kEpsilon * size;
  return now.constraints <= std::max(options_.relative * largest(to.vdot) / row_rate(stage), reachable);
}

bool Corrector::assemble(const Stage& stage, const std::vector<double>& q_ref, State& to, Work& work) {
  const double s = 1 / stage.rate();
  const Model& model = system_->model();
  for (const Node& node : model.nodes)
    evaluate_stage_tangent(node.type, stage, node_stage(node, *this, q_ref, to), options_.simplified, work.tangent.data() + node.tangent);
  MatrixRequest request;
  request.force = {s, s * stage.c_v, s};
  const double k = s / stage.c_v;
  request.row = velocity_level() ? Seeding{k, k * stage.c_v, 0} : Seeding{1, 0, 0};
  request.level = options_.level;
  request.use_tangent = true;
  system_->jacobian(to, work, rows(), request);
  matrix_stage_ = stage;
  return true;
}

// theta and lambda moved by `factor` times the solution of the linear system.
void Corrector::apply(const Stage& stage, const std::vector<double>& q_ref, double factor, State& to, const Work& work) {
  const Model& model = system_->model();
  for (const Node& node : model.nodes) {
    double d[6];
    for (int i = 0; i < node_size(node.type).v; ++i) d[i] = factor * work.right[static_cast<std::size_t>(node.v + i)];
    increment_theta(node.type, d, theta.data() + node.v);
  }
  const double scale = factor * stage.rate();
  for (std::size_t i = 0; i < to.lambda.size(); ++i) to.lambda[i] += scale * work.right[static_cast<std::size_t>(model.nv) + i];
  evaluate_stage_of_nodes(stage, q_ref, to);
}

int Corrector::worst_unknown(const Stage& stage, const Work& work, double* residual) const {
  int worst = -1;
  double largest_so_far = -1;
  const int nv = system_->model().nv;
  const double force_scale = std::max(work.force_scale, options_.absolute / options_.relative);
  for (int i = 0; i < system_->unknowns(); ++i) {
    const bool force = i < nv;
    const double value = force ? work.r[static_cast<std::size_t>(i)] : row_residual(work)[static_cast<std::size_t>(i - nv)];
    const double weighted = std::isfinite(value) ? std::abs(value) * (force ? 1 / force_scale : row_rate(stage)) : std::numeric_limits<double>::infinity();
    if (weighted <= largest_so_far) continue;
    largest_so_far = weighted;
    worst = i;
    *residual = value;
  }
  return worst;
}

CorrectorOutcome Corrector::solve(const Stage& stage, const std::vector<double>& q_ref, State& to, Work& work) {
  CorrectorOutcome out;
  const Model& model = system_->model();
  const double s = 1 / stage.rate();
  evaluate_stage_of_nodes(stage, q_ref, to);
  if (matrix_stage_.c_1 != stage.c_1 || matrix_stage_.c_2 != stage.c_2 || matrix_stage_.c_v != stage.c_v) has_matrix_ = false;

  const auto give_up = [&](CorrectorFailure failure) {
    out.failure = failure;
    out.worst = failure == CorrectorFailure::Singular ? work.solver->singular_unknown() : worst_unknown(stage, work, &out.residual);
    has_matrix_ = false;
    return out;
  };

  double before = std::numeric_limits<double>::infinity();
  bool assembled = false;  // the matrix of this very iterate is in the solver's storage
  bool refresh = !options_.modified || !has_matrix_;
  for (;;) {
    // Residual and matrix together where the matrix is almost surely needed, the residual alone where it may be the last.
    assembled = refresh && out.iterations < expected_iterations_;
    if (assembled)
      assemble(stage, q_ref, to, work);
    else
      system_->residual(to, work, rows());
    const Measure now = measure(stage, to, work);
    if (!now.finite) return give_up(CorrectorFailure::NotFinite);
    if (small(stage, now, to, work)) break;
    if (out.iterations == options_.max_iterations) return give_up(CorrectorFailure::TooManyIterations);

    const bool slow = options_.modified && now.combined > kWorstContraction * before;
    if ((refresh || slow) && !assembled) assemble(stage, q_ref, to, work), assembled = true;
    if (assembled) {
      has_matrix_ = work.solver->factorize();
      if (!has_matrix_) return give_up(CorrectorFailure::Singular);
      ++out.jacobians;
    }
    before = now.combined;
    refresh = !options_.modified;

    for (int i = 0; i < model.nv; ++i) work.right[static_cast<std::size_t>(i)] = -s * work.r[static_cast<std::size_t>(i)];
    const double row_scale = velocity_level() ? s / stage.c_v : 1;
    for (int i = 0; i < model.rows; ++i)
      work.right[static_cast<std::size_t>(model.nv + i)] = -row_scale * row_residual(work)[static_cast<std::size_t>(i)];
    work.solver->solve(work.right.data());
    ++out.iterations;

    if (!options_.line_search) {
      apply(stage, q_ref, 1, to, work);
      continue;
    }
    // Armijo: halve until the residual falls by at least a ten-thousandth of what a full step promises.
    base_theta_ = theta;
    base_lambda_ = to.lambda;
    for (double factor = 1; factor > 1e-3; factor /= 2) {
      theta = base_theta_;
      to.lambda = base_lambda_;
      apply(stage, q_ref, factor, to, work);
      system_->residual(to, work, rows());
      const Measure trial = measure(stage, to, work);
      if (trial.finite && trial.combined <= (1 - 1e-4 * factor) * now.combined) break;
    }
  }
  expected_iterations_ = std::max(1, out.iterations);
  return out;
}

std::string describe(const CorrectorOutcome& outcome, const System& system) {
  const std::string name = outcome.worst >= 0 ? system.unknown_name(outcome.worst) : "unknown";
  switch (outcome.failure) {
    case CorrectorFailure::None:
      return "converged";
    case CorrectorFailure::TooManyIterations:
      return fmt::format("Newton's method did not converge in {} iterations; the largest residual, {:.3g}, is in '{}'",
                         outcome.iterations, outcome.residual, name);
    case CorrectorFailure::Singular:
      return fmt::format("the matrix of Newton's method is singular at '{}'", name);
    case CorrectorFailure::NotFinite:
      return fmt::format("the residual is not finite after {} iterations, first in '{}'", outcome.iterations, name);
  }
  return {};
}

}  // namespace liedyn
