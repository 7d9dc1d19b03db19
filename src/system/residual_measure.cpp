#include "liedyn/system/residual_measure.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "liedyn/base/index.h"
#include "liedyn/model/forces/bristles.h"
#include "liedyn/system/extent.h"
#include "liedyn/system/newton_constants.h"
#include "liedyn/system/node_components.h"

namespace liedyn {
namespace {

using namespace newton;

// 1 / scale; where nothing acts any residual but zero is too large.
double inverse(double scale) { return 1 / std::max(scale, kLeastScale); }

// The largest |value| / scale, and the sum.
Extent weighted_extent(const std::vector<double>& values, const std::vector<double>& weights,
                       std::size_t count) {
  const double *v = values.data(), *w = weights.data();
  return extent_of(v, count, [v, w](std::size_t i) { return std::abs(v[i]) * w[i]; });
}

// out = max(out, factor |now - before|), equation by equation.
void enlarge(std::vector<double>& out, double factor, const std::vector<double>& now,
             const std::vector<double>& before) {
  for (std::size_t i = 0; i < out.size(); ++i)
    if (std::isfinite(now[i])) out[i] = std::max(out[i], factor * std::abs(now[i] - before[i]));
}

}  // namespace

ResidualMeasure::ResidualMeasure(const System& system, const CorrectorOptions& options)
    : system_(&system),
      tolerance_(options.relative),
      holds_positions_(options.holds_positions()),
      holds_velocities_(options.holds_velocities()),
      bristle_vectors_(bristle_vectors(system.model().description())),
      weight_(at(system.model().nv)),
      row_weight_(holds_positions_ ? at(system.model().rows) : 0),
      rate_weight_(holds_velocities_ ? at(system.model().rows) : 0) {}

void ResidualMeasure::reset() {
  scales_.reset();
  rounding_.clear();
  margin_ = 1;
}

void ResidualMeasure::reset(const State& start, Work& work) {
  reset();
  scales_ = std::make_unique<NaturalScales>(*system_, start, work);
  const std::size_t nv = at(system_->model().nv), rows = at(system_->model().rows);
  probe_ = start;
  probe_.redundant.reserve(rows);
  kept_r_.reserve(work.r.size());
  for (std::vector<double>* of : {&rounding_, &inertial_rounding_}) of->reserve(nv);
  for (std::vector<double>* of : {&kept_phi_, &kept_rate_, &row_rounding_, &rate_rounding_})
    of->reserve(rows);
}

void ResidualMeasure::forget_rounding() {
  rounding_.clear();
  weights_stage_ = {};
}

void ResidualMeasure::archive(Archive& a) {
  a(*scales_, scales_age_, weights_stage_, weight_, row_weight_, rate_weight_, rounding_, inertial_rounding_,
    row_rounding_, rate_rounding_, margin_);
}

void ResidualMeasure::begin(const StageProblem& p, bool similar) {
  if (!scales_) scales_ = std::make_unique<NaturalScales>(*system_, p.to, p.work);
  probed_ = false;
  margin_ = std::max(1.0, kMarginKept * margin_);
  renews_ = !similar || ++scales_age_ > kMostScalesAge || !is_same(weights_stage_, p.stage);
  if (renews_) scales_age_ = 0;
}

void ResidualMeasure::update(const StageEquations& equations, const StageProblem& p, int iteration) {
  // A predictor may have other accelerations than the solution. What does not end with old scales may need new ones.
  const bool due = renews_ ? iteration <= 1 : iteration == 2;
  if (!due) return;
  scales_->update(p.work);
  if (rounding_.empty())
    probe(equations, p.stage, p.to, p.work);
  else
    set_weights(p.stage);
}

// Forces are compared with the forces that act; constraints, as the accelerations that would remove them, with the accelerations.
// No equation has to be satisfied to more than its round-off allows.
void ResidualMeasure::set_weights(const Stage& stage) {
  const double per_tolerance = margin_ / tolerance_, rate = stage.rate();
  const int first_state = system_->model().first_state();
  const std::vector<double>&forces = scales_->forces(), &rows = scales_->rows();
  weights_stage_ = stage;
  for (std::size_t i = 0; i < at(first_state); ++i)
    weight_[i] = inverse(std::max(forces[i], per_tolerance * (rounding_[i] + rate * inertial_rounding_[i])));
  if (holds_positions_)
    for (std::size_t i = 0; i < rows.size(); ++i)
      row_weight_[i] = inverse(std::max(rows[i] / rate, per_tolerance * row_rounding_[i]));
  if (holds_velocities_)
    for (std::size_t i = 0; i < rows.size(); ++i)
      rate_weight_[i] = inverse(std::max(rows[i] * stage.c_v, per_tolerance * rate_rounding_[i]));
}

void ResidualMeasure::probe_again(const StageEquations& equations, const StageProblem& p) {
  if (probed_) margin_ = std::min(kMarginGrowth * margin_, kLargestMargin);
  probe(equations, p.stage, p.to, p.work);
  probed_ = true;
}

// The change of the residuals with the last digits of all unknowns: two random changes of these by the relative amount kProbe, scaled to the round-off of a sum.
void ResidualMeasure::probe(const StageEquations& equations, const Stage& stage, const State& to,
                            Work& work) {
  const std::size_t nv = at(system_->model().nv), rows = at(system_->model().rows);
  kept_r_ = work.r;
  kept_phi_ = work.phi;
  if (holds_velocities_) kept_rate_ = work.rate;
  rounding_.assign(nv, 0);
  inertial_rounding_.assign(nv, 0);
  row_rounding_.assign(rows, 0);
  rate_rounding_.assign(holds_velocities_ ? rows : 0, 0);
  random_bits_ = kFirstRandom;
  for (int i = 0; i < kProbes; ++i) {
    probe_all(equations, stage, to, work);
    probe_accelerations(equations, stage, to, work);
  }
  // A row is the difference of two positions, or of two directions, whatever changes it.
  const Subsystems& parts = scales_->parts();
  for (std::size_t i = 0; i < rows; ++i) {
    const int part = parts.of_row[i];
    const double size = scales_->is_angle()[i] || part < 0 ? 1 : scales_->farthest()[at(part)];
    row_rounding_[i] = std::max(row_rounding_[i], kRowRounding * kEpsilon * size);
  }
  work.r = kept_r_;
  work.phi = kept_phi_;
  if (holds_velocities_) work.rate = kept_rate_;
  set_weights(stage);
}

// Copies of the state what residuals depend on.
void ResidualMeasure::begin_probe(const State& to) {
  probe_.t = to.t;
  probe_.q = to.q;
  probe_.v = to.v;
  probe_.vdot = to.vdot;
  probe_.lambda = to.lambda;
  probe_.angles = to.angles;
  probe_.redundant = to.redundant;
}

// Between half the size and the size, either way: of different sizes, so that changes of two bodies do not cancel in the row between them.
double ResidualMeasure::random_change(double size) {
  random_bits_ = 1664525U * random_bits_ + 1013904223U;
  const double part = 0.5 + 0x1p-32 * static_cast<double>(random_bits_ & 0x7fffffffU);
  return (random_bits_ >> 31U) != 0 ? part * size : -part * size;
}

// Positions are rounded to the distance from the origin, rotations to 1, all others to their own size.
void ResidualMeasure::probe_all(const StageEquations& equations, const Stage& stage, const State& to,
                                Work& work) {
  constexpr double kPerProbe = kSumRounding * kEpsilon / kProbe;
  const Model& model = system_->model();
  begin_probe(to);
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const Node& node = model.nodes[n];
    const int part = scales_->parts().of_node[n];
    if (part < 0) continue;
    double d[6] = {};
    for (int k = 0; k < node_size(node.type).v; ++k)
      d[k] = random_change(is_displacement(node.type, k) ? kProbe * scales_->farthest()[at(part)] : kProbe);
    increment_position(node.type, d, probe_.q.data() + node.q);
  }
  for (double& x : probe_.v) x += random_change(kProbe * x);
  for (double& x : probe_.vdot) x += random_change(kProbe * x);
  for (double& x : probe_.lambda) x += random_change(kProbe * x);
  equations.residual(stage, probe_, work);
  enlarge(rounding_, kPerProbe, work.r, kept_r_);
  enlarge(row_rounding_, kPerProbe, work.phi, kept_phi_);
  enlarge(rate_rounding_, kPerProbe, work.rate, kept_rate_);
}

// Accelerations are as uncertain as theta, and as the positions where these are constrained, times dvdot/dq.
void ResidualMeasure::probe_accelerations(const StageEquations& equations, const Stage& stage,
                                          const State& to, Work& work) {
  constexpr double kPerProbe = kPairRounding * kEpsilon / kProbe;
  const Model& model = system_->model();
  const Subsystems& parts = scales_->parts();
  const std::vector<double>& farthest = scales_->farthest();
  const bool constrained = holds_positions_ && model.rows > 0;
  begin_probe(to);
  for (std::size_t n = 0; n < model.nodes.size(); ++n) {
    const Node& node = model.nodes[n];
    const int part = parts.of_node[n];
    for (int k = 0; k < node_size(node.type).v && part >= 0; ++k) {
      const double place = !constrained                    ? 0
                           : is_displacement(node.type, k) ? farthest[at(part)]
                           : parts.length[at(part)] > 0    ? farthest[at(part)] / parts.length[at(part)]
                                                           : 1;
      probe_.vdot[at(node.v + k)] +=
          random_change(kProbe * stage.rate() * std::max(place, std::abs(equations.theta[at(node.v + k)])));
    }
  }
  equations.residual(stage, probe_, work);
  enlarge(inertial_rounding_, kPerProbe / stage.rate(), work.r, kept_r_);
}

// Every state has a scale of its own, its rate: r is the error of x'. Where that is small, x is known to round-off only.
double ResidualMeasure::own_state_scale(const Stage& stage, const State& to, int i) const {
  const double rounding =
      std::max(kSumRounding * kEpsilon * std::abs(to.v[at(i)]) / stage.c_v, rounding_[at(i)]);
  return std::max(std::abs(to.vdot[at(i)]), margin_ * rounding / tolerance_);
}

// The components of a vector share the largest: in axes that turn, one that vanishes has the round-off of the others.
double ResidualMeasure::state_scale(const Stage& stage, const State& to, int i) const {
  const int first_state = system_->model().first_state(), first = bristle_vectors_[at(i - first_state)];
  if (first < 0) return own_state_scale(stage, to, i);
  double scale = 0;
  for (int k = 0; k < kBristleStates; ++k)
    scale = std::max(scale, own_state_scale(stage, to, first_state + first + k));
  return scale;
}

ResidualMeasure::Largest ResidualMeasure::largest(const Stage& stage, const State& to,
                                                  const Work& work) const {
  Largest out;
  double sum = 0;  // NaN or infinity anywhere shows here
  const auto scan = [&](const std::vector<double>& values, const std::vector<double>& weights,
                        std::size_t count) {
    const Extent extent = weighted_extent(values, weights, count);
    out.relative = std::max(out.relative, extent.largest);
    sum += extent.sum;
  };
  const int first_state = system_->model().first_state(), nv = system_->model().nv;
  scan(work.r, weight_, at(first_state));
  for (int i = first_state; i < nv; ++i) {
    out.relative = std::max(out.relative, std::abs(work.r[at(i)]) * inverse(state_scale(stage, to, i)));
    sum += work.r[at(i)];
  }
  if (holds_positions_) scan(work.phi, row_weight_, work.phi.size());
  if (holds_velocities_) scan(work.rate, rate_weight_, work.rate.size());
  out.finite = std::isfinite(sum);
  return out;
}

double ResidualMeasure::norm(const Work& work) const {
  double sum = 0;
  const auto add = [&](const std::vector<double>& values) {
    for (const double x : values) sum += x * x;
  };
  add(work.r);
  if (holds_positions_) add(work.phi);
  if (holds_velocities_) add(work.rate);
  return std::sqrt(sum);
}

int ResidualMeasure::worst_unknown(const Stage& stage, const State& to, const Work& work,
                                   double* residual) const {
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
  if (holds_positions_) scan(work.phi, model.nv, row_weight_);
  if (holds_velocities_) scan(work.rate, model.nv + (holds_positions_ ? model.rows : 0), rate_weight_);
  return worst;
}

// The residual may be round-off that no iteration can remove: forces that cancel in free flight, accelerations that are known
// to eps |theta| / h^2 only. Then the increment that it calls for is below the round-off of theta, or far below the tolerance.
bool ResidualMeasure::increments_are_negligible(const StageEquations& equations,
                                                const StageProblem& p) const {
  const Model& model = system_->model();
  const double tolerance = kNegligible * tolerance_ / p.stage.rate();
  for (int i = model.first_state(); i < model.nv; ++i)
    if (std::abs(p.work.right[at(i)]) > std::max(kSumRounding * kEpsilon * std::abs(equations.theta[at(i)]),
                                                 tolerance * state_scale(p.stage, p.to, i)))
      return false;
  for (std::size_t n = 0; n < model.nodes.size(); ++n)
    if (!node_is_settled(equations, n, tolerance, p.work)) return false;
  return true;
}

bool ResidualMeasure::node_is_settled(const StageEquations& equations, std::size_t n, double tolerance,
                                      const Work& work) const {
  const Model& model = system_->model();
  const Subsystems& parts = scales_->parts();
  const Node& node = model.nodes[n];
  const int part = parts.of_node[n];
  if (part < 0) return true;
  const double length = parts.length[at(part)];
  const int count = node_size(node.type).v;
  double most[2] = {0, 0};  // |theta| of displacements and rotations
  for (int k = 0; k < count; ++k) {
    double& of_kind = most[is_displacement(node.type, k) ? 0 : 1];
    of_kind = std::max(of_kind, std::abs(equations.theta[at(node.v + k)]));
  }
  // Constraints depend on positions, which are rounded to their own size; Euler parameters are rounded to 1, not to the size of their increment.
  const double place = model.rows > 0 ? scales_->farthest()[at(part)] : 0;
  for (int k = 0; k < count; ++k) {
    const bool displaces = is_displacement(node.type, k);
    double rounding =
        kSumRounding * kEpsilon *
        (displaces ? most[0] + length * most[1] : most[1] + (length > 0 ? most[0] / length : 0));
    rounding = std::max(rounding, kPairRounding * kEpsilon *
                                      (displaces    ? place
                                       : length > 0 ? place / length
                                                    : 1));
    if (equations.uses_parameters() && !displaces) rounding = std::max(rounding, kEulerRounding * kEpsilon);
    const std::size_t i = at(node.v + k);
    if (std::abs(work.right[i]) > std::max(rounding, tolerance * scales_->accelerations()[i])) return false;
  }
  return true;
}

}  // namespace liedyn
