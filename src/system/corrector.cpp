#include "liedyn/system/corrector.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "liedyn/base/index.h"
#include "liedyn/system/newton_constants.h"

namespace liedyn {

Corrector::Corrector(const System& system, const CorrectorOptions& options)
    : StageEquations(system, options), stopping_(system, options), matrices_(options) {
  if (!options.line_search) return;
  base_theta_ = theta;
  base_lambda_.resize(at(system.model().rows));
  base_eta_ = base_lambda_;
}

// With a new matrix in every iteration, near the solution.
bool Corrector::converges_quadratically() const {
  return options_.update == StageUpdate::Exact && !options_.simplified && !options_.line_search;
}

// No element has kinks, and the residuals of one solve say something about those of the next.
bool Corrector::is_smooth() const {
  const Model& model = system().model();
  bool smooth = converges_quadratically() && !options_.from_first && system().params().timed().empty();
  for (std::size_t b = 0; b < model.batches.size() && smooth; ++b)
    smooth = model.entry_of(static_cast<int>(b), 0).kind->is_smooth;
  return smooth;
}

void Corrector::prepare(Work& work) {
  prepare_structure(work);
  stopping_.prepare(is_smooth());
  matrices_.prepare(system(), work, converges_quadratically() && !is_stabilized(), is_smooth());
}

void Corrector::prepare(const State& start, Work& work) {
  prepare(work);
  stopping_.prepare(start, work);
}

void Corrector::forget_past() {
  matrices_.forget();
  stopping_.forget_past();
}

void Corrector::begin(const StageProblem& p) {
  if (!is_structure_of(p.work)) prepare(p.work);
  set_reference(p);
  if (options_.update == StageUpdate::Exact || uses_parameters_) evaluate_nodes(p);
  if (matrices_.is_foreign(p.stage, p.to.redundant)) {
    matrices_.forget();
    stopping_.forget_iterations();
  }
  matrices_.begin();
  stopping_.begin(p, similar_, matrices_.keeps_by_cost());
}

void Corrector::assemble_matrix(const StageProblem& p) {
  assemble(p);
  matrices_.note_assembled(p.stage, p.to.redundant);
}

CorrectorOutcome Corrector::solve(const Stage& stage, double h, const State& reference, State& to,
                                  Work& work) {
  using Verdict = StoppingRule::Verdict;
  const StageProblem p{stage, h, reference, to, work};
  begin(p);
  CorrectorOutcome out;
  for (;;) {
    // Residual and matrix together where the matrix is almost surely needed, the residual alone where it may be the last.
    bool assembled = matrices_.assembles_with_residual(out.iterations);
    if (assembled)
      assemble_matrix(p);
    else
      residual(stage, to, work);
    const Verdict verdict = stopping_.judge(*this, p, out.iterations);
    if (verdict == Verdict::NotFinite) return give_up(CorrectorFailure::NotFinite, p, out);
    if (verdict == Verdict::Converged) {
      out.has_factors = matrices_.has_matrix() && !assembled;
      return finish(p, out);
    }
    if (out.iterations == options_.max_iterations)
      return give_up(CorrectorFailure::TooManyIterations, p, out);

    if (!assembled && matrices_.is_due(out.iterations, stopping_.residual(), stopping_.residual_before())) {
      assemble_matrix(p);
      assembled = true;
    }
    if (assembled) {
      if (!matrices_.factorize(work)) return give_up(CorrectorFailure::Singular, p, out);
      ++out.jacobians;
    }
    set_right_side(stage, work);
    work.solver->solve(work.right.data());
    ++out.iterations;
    const bool last = stopping_.is_last_iteration(*this, p, out.iterations, assembled);
    if (options_.line_search)
      search_line(p);
    else
      apply(p, 1);
    if (last) {
      out.has_factors = true;
      return finish(p, out);
    }
  }
}

// Armijo: halve until the residual falls by at least a ten-thousandth of what a full step promises. Falls, that is, as
// seen from here: with scales that shrink along with it, the residual of a far too large step would never seem to.
void Corrector::search_line(const StageProblem& p) {
  base_theta_ = theta;
  base_lambda_ = p.to.lambda;
  base_eta_ = p.to.eta;
  for (double factor = 1; factor > newton::kShortestStep; factor /= 2) {
    theta = base_theta_;
    p.to.lambda = base_lambda_;
    p.to.eta = base_eta_;
    apply(p, factor);
    residual(p.stage, p.to, p.work);
    const ResidualMeasure::Largest trial = stopping_.measure().largest(p.stage, p.to, p.work);
    if (trial.finite && trial.relative <= (1 - newton::kArmijo * factor) * stopping_.residual()) break;
  }
}

void Corrector::note_regularity(const State& to, CorrectorOutcome& out) const {
  if (!uses_parameters_) return;
  const std::vector<Node>& nodes = system().model().nodes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double least = regularity(nodes[i], to.y.data());
    if (least >= out.regularity) continue;
    out.regularity = least;
    out.least_regular = static_cast<int>(i);
  }
}

CorrectorOutcome Corrector::give_up(CorrectorFailure failure, const StageProblem& p, CorrectorOutcome out) {
  note_regularity(p.to, out);
  out.failure = failure;
  out.worst = failure == CorrectorFailure::Singular
                  ? p.work.solver->singular_unknown()
                  : stopping_.measure().worst_unknown(p.stage, p.to, p.work, &out.residual);
  matrices_.forget();
  return out;
}

CorrectorOutcome Corrector::finish(const StageProblem& p, CorrectorOutcome out) {
  note_regularity(p.to, out);
  if (out.regularity < kLeastRegularity) return give_up(CorrectorFailure::SingularParameters, p, out);
  matrices_.end(out);
  if (p.work.log != nullptr)
    for (const std::vector<double>* part : {&theta, &p.to.lambda, &p.to.eta})
      p.work.log->insert(p.work.log->end(), part->begin(), part->end());
  return out;
}

void Corrector::accept(const Stage& stage, double h, const State& reference, State& to, Work& work,
                       const SolutionLog& log, std::size_t& place) {
  const StageProblem p{stage, h, reference, to, work};
  if (!is_structure_of(work)) prepare(work);
  set_reference(p);
  for (std::vector<double>* part : {&theta, &to.lambda, &to.eta}) {
    std::copy_n(log.begin() + static_cast<std::ptrdiff_t>(place), part->size(), part->begin());
    place += part->size();
  }
  evaluate_nodes(p);
}

void Corrector::assemble_solution(const Stage& stage, const State& reference, State& to, Work& work) {
  const bool simplified = std::exchange(options_.simplified, false);
  assemble_matrix({stage, 0, reference, to, work});
  options_.simplified = simplified;
  matrices_.forget();
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
                 ? std::string("the matrix of Newton's method is singular, or its entries are too large")
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
  if (outcome.least_regular < 0 || outcome.regularity >= newton::kNearlySingular) return {};
  const Node& node = system.model().nodes[at(outcome.least_regular)];
  return fmt::format(
      "; the Cardan angles of 'bodies.{}' are near gimbal lock (|cos phi_2| = {:.2g}): use another "
      "formulation, r3so3 for example",
      system.model().body_of(node.v).name, outcome.regularity);
}

}  // namespace liedyn
