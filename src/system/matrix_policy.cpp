#include "liedyn/system/matrix_policy.h"

#include <algorithm>
#include <cmath>

#include "liedyn/model/forces/watched_spring.h"
#include "liedyn/system/newton_constants.h"

namespace liedyn {
namespace {

using namespace newton;

ElementTimes times_of(const Model& model, std::size_t batch) {
  const Section section = model.sections[batch];
  if (section == Section::Beams) return model.tree ? kBeamTimesInTree : kBeamTimes;
  if (model.tree) return section == Section::Joints ? kJointTimesInTree : kForceTimesInTree;
  const Batch* elements = model.batches[batch].get();
  const bool contacts = dynamic_cast<const WatchedContacts*>(elements) != nullptr &&
                        dynamic_cast<const MayBePreloaded*>(elements) == nullptr;
  return contacts ? kContactTimes : kElementTimes;
}

// Assembling and factorising a matrix over an iteration without: residual, solution, update. By counts, with times that were measured once, so that runs
// are the same everywhere.
double cost_of_matrix(const Model& model, const Work& work) {
  const LinearSolver::Cost solver = work.solver->cost();
  double iteration = solver.solve, matrix = solver.factorize;
  if (model.tree) {
    for (const std::vector<int>& path : model.tree->path) {
      iteration += kLinkTimes.residual;
      matrix += kLinkTimes.matrix + kPairOfLinksTime * static_cast<double>(path.size());
    }
  } else {
    iteration += kNodeTime * static_cast<double>(model.nodes.size());
  }
  for (std::size_t b = 0; b < model.batches.size(); ++b) {
    const bool in_link =
        model.tree && (model.sections[b] == Section::Bodies ||
                       (model.sections[b] == Section::Joints && model.batches[b]->coupling().rows == 0));
    if (in_link) continue;
    const ElementTimes times = times_of(model, b);
    iteration += times.residual * model.batches[b]->size();
    matrix += times.matrix * model.batches[b]->size();
  }
  return matrix / iteration;
}

}  // namespace

MatrixPolicy::MatrixPolicy(const CorrectorOptions& options)
    : options_(options), expected_iterations_(kFirstExpectation), next_pause_(kShortestPause) {}

void MatrixPolicy::prepare(const System& system, const Work& work, bool quadratic, bool smooth) {
  has_matrix_ = false;
  const Model& model = system.model();
  const double worth_keeping = smooth && !model.tree ? kWorthKeepingIfPredicted : kWorthKeeping;
  const bool may_keep = options_.renewal == MatrixRenewal::ByCost && quadratic;
  matrix_cost_ = may_keep ? cost_of_matrix(model, work) : 0;
  if (matrix_cost_ < worth_keeping) matrix_cost_ = 0;
}

void MatrixPolicy::archive(Archive& a) {
  a(has_matrix_, matrix_stage_, matrix_redundant_, expected_iterations_, matrix_cost_, iterations_of_new_,
    solves_with_matrix_, additional_iterations_, pause_, next_pause_);
}

bool MatrixPolicy::is_foreign(const Stage& stage, const std::vector<int>& redundant) const {
  return !is_same(matrix_stage_, stage) || matrix_redundant_ != redundant;
}

void MatrixPolicy::begin() {
  by_cost_ = matrix_cost_ > 0;
  const bool pauses = by_cost_ && pause_ > 0;
  if (pauses) --pause_;
  renews_ = !keeps() || !has_matrix_ || pauses;
  kept_ = !renews_;
}

// Iterations until the residual is below the tolerance, at the contraction of the last one.
double MatrixPolicy::iterations_left(double now, double before) const {
  return std::log(options_.relative / now) / std::log(now / before);
}

bool MatrixPolicy::is_due(int iterations, double now, double before) const {
  if (renews_) return true;
  if (iterations == 0) return false;
  if (!(now < before)) return true;
  // The first iteration removes the error of the predictor, mostly in other equations than those that the next ones diminish.
  if (iterations == 1) return false;
  if (by_cost_) return iterations_left(now, before) > kIterationsWithNew + matrix_cost_;
  return now > kWorstContraction * before ||
         iterations + iterations_left(now, before) > kMostOfIterations * options_.max_iterations;
}

void MatrixPolicy::note_assembled(const Stage& stage, const std::vector<int>& redundant) {
  matrix_stage_ = stage;
  if (matrix_redundant_ != redundant) matrix_redundant_ = redundant;
}

bool MatrixPolicy::factorize(Work& work) {
  has_matrix_ = work.solver->factorize();
  renews_ = !keeps();
  return has_matrix_;
}

void MatrixPolicy::end(const CorrectorOutcome& outcome) {
  expected_iterations_ = std::max(1, outcome.iterations);
  if (by_cost_ && kept_)
    end_with_kept_matrix(outcome);
  else
    iterations_of_new_ = outcome.iterations;
  if (outcome.jacobians > 0) {
    solves_with_matrix_ = 1;
    additional_iterations_ = 0;
  }
}

void MatrixPolicy::end_with_kept_matrix(const CorrectorOutcome& outcome) {
  const int additional = std::max(0, outcome.iterations - iterations_of_new_);
  ++solves_with_matrix_;
  additional_iterations_ += additional;
  const bool renews =
      outcome.jacobians > 0 || additional * solves_with_matrix_ > matrix_cost_ + additional_iterations_;
  if (!renews) return;
  const bool at_once = solves_with_matrix_ == 2;
  if (at_once) pause_ = next_pause_;
  next_pause_ = at_once ? std::min(2 * next_pause_, kLongestPause) : kShortestPause;
  if (outcome.jacobians == 0) has_matrix_ = false;
}

}  // namespace liedyn
