#include "liedyn/analyses/statics/imbalance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "liedyn/system/node_components.h"

namespace liedyn {
namespace {

using Eigen::VectorXd;

// Per row of a matrix: the largest change by changes of this size of the unknowns.
std::vector<double> largest_changes(const SparseMatrix& by, const VectorXd& sizes) {
  std::vector<double> out(static_cast<std::size_t>(by.rows()), 0);
  for (int c = 0; c < by.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(by, c); it; ++it) {
      double& change = out[static_cast<std::size_t>(it.row())];
      change = std::max(change, std::abs(it.value()) * sizes[it.col()]);
    }
  return out;
}

}  // namespace

Imbalance::Imbalance(const System& system, const State& state, Work& work, double tolerance)
    : system_(&system),
      work_(&work),
      tolerance_(tolerance),
      scales_(system, state, work),
      friction_(friction_states(system)) {}

double Imbalance::evaluate(const State& state, bool with_round_off) {
  scales_.update(*system_, state, *work_);
  system_->residual(state, *work_, {});
  const int first = system_->model().first_state();
  double out = 0;
  const auto include = [&](double left, double tolerated) {
    if (left == 0) return;
    const double part = std::abs(left) / tolerated;
    out = std::isfinite(part) ? std::max(out, part) : INFINITY;
  };
  const bool rounded = with_round_off && !round_off_.empty();
  for (int i = 0; i < system_->model().rows; ++i) include(work_->phi[at(i)], tolerated_violation(i));
  for (int i = 0; i < first; ++i)
    include(work_->r[at(i)], std::max(tolerance_ * scales_.force(i), rounded ? round_off_[at(i)] : 0));
  for (int i = first; i < system_->model().nv; ++i)
    include(work_->r[at(i)], tolerance_ * rate_scales_[at(i - first)]);
  return out;
}

double Imbalance::violation() const {
  double out = 0;
  for (int i = 0; i < system_->model().rows; ++i)
    out = std::max(out, std::abs(work_->phi[at(i)]) / tolerated_violation(i));
  return out;
}

double Imbalance::tolerated_violation(int row) const {
  constexpr double kPositions = 1e-12;
  return std::max(kPositions * scales_.row(row), row_round_off_.empty() ? 0 : row_round_off_[at(row)]);
}

// Units of the last digit of each displacement and rotation: positions are rounded to their distance from the origin.
VectorXd Imbalance::position_digits() const {
  constexpr double kDigits = 16 * std::numeric_limits<double>::epsilon();
  const std::vector<double> farthest = scales_.farthest(*work_);
  VectorXd out = VectorXd::Zero(system_->model().nv);
  for (const Node& node : system_->model().nodes)
    for (int k = 0; k < node_size(node.type).v; ++k)
      if (const int part = scales_.part_of(node.v + k); part >= 0)
        out[node.v + k] = kDigits * (is_displacement(node.type, k) ? farthest[at(part)] : 1);
  return out;
}

void Imbalance::set_round_off(const State& state) {
  MatrixRequest request;
  request.force = {1, 0, 0};
  request.row = {1, 0, 0};
  system_->jacobian(state, *work_, {}, request);
  const VectorXd digits = position_digits();
  round_off_ = largest_changes(force_part(*system_, *work_), digits);
  row_round_off_ = largest_changes(row_part(*system_, *work_), digits);
  // The axes of a node may be others: its components share the largest.
  for (const Node& node : system_->model().nodes) {
    double most[2] = {0, 0};
    const auto each = [&](auto&& visit) {
      for (int k = 0; k < node_size(node.type).v && scales_.part_of(node.v + k) >= 0; ++k)
        visit(round_off_[at(node.v + k)], most[is_displacement(node.type, k) ? 0 : 1]);
    };
    each([](const double& own, double& all) { all = std::max(all, own); });
    each([](double& own, const double& all) { own = all; });
  }
}

void Imbalance::set_rate_scales(const Linearization& l, const State& state) {
  constexpr double kNothing = 1e-300;
  const int first = l.first_state, states = static_cast<int>(l.states());
  rate_scales_.assign(at(states), kNothing);
  for (int j = 0; j < l.M.cols(); ++j) {
    const double change = j < first ? scales_.units()[j] : typical(l, state, j);
    for (SparseMatrix::InnerIterator it(j < first ? l.K : l.C, j); it; ++it)
      if (it.row() >= first)
        rate_scales_[at(static_cast<int>(it.row()) - first)] += std::abs(it.value()) * change;
  }
  // Rates that neither positions nor states change, such as those of bristles: motions by the size of the model in a second.
  std::vector<double> by_motions(at(states), 0);
  for (int j = 0; j < first; ++j)
    for (SparseMatrix::InnerIterator it(l.C, j); it; ++it)
      if (it.row() >= first)
        by_motions[at(static_cast<int>(it.row()) - first)] += std::abs(it.value()) * scales_.units()[j];
  for (int i = 0; i < states; ++i)
    if (rate_scales_[at(i)] <= kNothing) rate_scales_[at(i)] += by_motions[at(i)];
}

VectorXd Imbalance::state_sizes(const Linearization& l, const State& state) const {
  VectorXd out(l.states());
  for (int i = 0; i < out.size(); ++i) out[i] = typical(l, state, l.first_state + i);
  return out;
}

// The size of a state; of one that is zero the change that balances motions of the size of the model.
double Imbalance::typical(const Linearization& l, const State& state, int i) const {
  if (friction_.limit[i] > 0) return friction_.limit[i];
  if (state.v[at(i)] != 0) return std::abs(state.v[at(i)]);
  double by_motions = 0;
  for (int j = 0; j < l.first_state; ++j)
    by_motions = std::max(by_motions, std::abs(l.K.coeff(i, j)) * scales_.units()[j]);
  const double own = std::abs(l.C.coeff(i, i));
  return by_motions > 0 && own > 0 ? by_motions / own : 1;
}

}  // namespace liedyn
