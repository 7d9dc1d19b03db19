#include "liedyn/system/accelerations.h"

#include <algorithm>
#include <cmath>

#include <Eigen/Cholesky>

#include "liedyn/base/index.h"
#include "liedyn/model/nodes/stage.h"

namespace liedyn {
namespace {

constexpr int kBlock = 36;

// Two configurations whose mass matrices agree to so many digits of their largest entry have the same one.
constexpr double kSame = 1e-13;

// Multipliers in which Newton's method no longer moves.
constexpr double kConverged = 1e-12;

}  // namespace

Accelerations::Accelerations(const System& system) : system_(&system) {
  const Model& model = system.model();
  if (model.rows > 0 || model.tree) return;  // in minimal coordinates links are coupled
  const int nodes = static_cast<int>(model.nodes.size());
  blocks_.resize(model.batches.size());
  for_each_element(model, [&](int b, int e, int) {
    for_each_force_block(model, *model.batches[at(b)], e, [&](int row, int column) {
      const int block = row == column ? row : nodes;
      blocks_[at(b)].push_back(row >= 0 && column >= 0 ? BlockRef{kBlock * block, 6} : BlockRef{});
    });
  });
  values_.resize(at(kBlock * (nodes + 1)));
  inverse_.resize(at(kBlock * nodes));
}

void Accelerations::evaluate_blocks(const State& state, Work& work) {
  std::fill(values_.begin(), values_.end(), 0.0);
  system_->unconstrained(state, work, {0, 0, 1}, values_.data(), blocks_);
}

bool Accelerations::has_coupling() const {
  return std::any_of(values_.end() - kBlock, values_.end(), [](double x) { return x != 0; });
}

void Accelerations::prepare(const State& state, Work& work) {
  mass_ = Mass::Coupled;
  if (blocks_.empty()) return;
  evaluate_blocks(state, work);
  const std::vector<double> here = values_;
  // Entries of M are analytic functions of the configuration: what is the same at another one, chosen at will, is constant.
  State elsewhere = state;
  for (const Node& node : system_->model().nodes) {
    double d[6];
    for (int i = 0; i < 6; ++i) d[i] = 0.7 * std::sin(1.3 + 2.1 * i + 0.9 * node.v);
    increment_position(node.type, d, elsewhere.q.data() + node.q);
  }
  const bool coupled = has_coupling();
  evaluate_blocks(elsewhere, work);
  if (coupled || has_coupling()) return;
  double largest = 0, change = 0;
  for (std::size_t i = 0; i < here.size(); ++i) {
    largest = std::max(largest, std::abs(here[i]));
    change = std::max(change, std::abs(values_[i] - here[i]));
  }
  mass_ = Mass::NodeByNode;
  if (system_->bodies_follow_time() || change > kSame * largest) return;
  values_ = here;
  CorrectorOutcome ignored;
  if (invert_blocks(ignored)) mass_ = Mass::Constant;
}

bool Accelerations::invert_blocks(CorrectorOutcome& outcome) {
  const Model& model = system_->model();
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const double* M = values_.data() + i * kBlock;
    double* inverse = inverse_.data() + i * kBlock;
    const auto invert = [&]<int n>(std::integral_constant<int, n>) {
      using Block = Eigen::Matrix<double, n, n>;
      const Block full = Eigen::Map<const Block, 0, Eigen::OuterStride<6>>(M);
      const Eigen::LLT<Block> factors(full);
      if (factors.info() != Eigen::Success) return false;
      Eigen::Map<Block, 0, Eigen::OuterStride<6>>{inverse} = factors.solve(Block::Identity());
      return true;
    };
    const int size = node_size(model.nodes[i].type).v;
    const bool regular = size == 6   ? invert(std::integral_constant<int, 6>())
                         : size == 3 ? invert(std::integral_constant<int, 3>())
                                     : invert(std::integral_constant<int, 1>());
    if (!regular) {
      outcome.failure = CorrectorFailure::Singular;
      outcome.worst = model.nodes[i].v;
      return false;
    }
  }
  ++outcome.jacobians;
  return true;
}

bool Accelerations::solve(State& state, Work& work, CorrectorOutcome& outcome) {
  const Model& model = system_->model();
  const auto finite = [&] {
    const auto bad = [](double x) { return !std::isfinite(x); };
    const auto v = std::find_if(state.vdot.begin(), state.vdot.end(), bad);
    const auto row = std::find_if(state.lambda.begin(), state.lambda.end(), bad);
    if (v == state.vdot.end() && row == state.lambda.end()) return true;
    outcome.failure = CorrectorFailure::NotFinite;
    outcome.worst = static_cast<int>(v != state.vdot.end() ? v - state.vdot.begin()
                                                           : model.nv + (row - state.lambda.begin()));
    return false;
  };

  if (mass_ != Mass::Coupled) {
    if (mass_ == Mass::Constant) {
      system_->residual(state, work, {false, false, false});
    } else {
      evaluate_blocks(state, work);
      if (!invert_blocks(outcome)) return false;
    }
    for (std::size_t i = 0; i < model.nodes.size(); ++i) {
      const Node& node = model.nodes[i];
      const double *inverse = inverse_.data() + i * kBlock, *r = work.r.data() + node.v;
      double* vdot = state.vdot.data() + node.v;
      const int size = node_size(node.type).v;
      for (int c = 0; c < size; ++c, inverse += 6)
        for (int k = 0; k < size; ++k) vdot[k] -= inverse[k] * r[c];
    }
    ++outcome.iterations;
    return finite();
  }

  const RowRequest rows{false, false, true};
  MatrixRequest request;
  request.force = {0, 0, 1};
  request.row = {0, 0, 1};
  request.level = RowLevel::Acceleration;
  // Linear in vdot and lambda; forces that depend on lambda (friction) make it Newton's method.
  const int most = model.forces_use_multipliers ? 8 : 1;
  for (int i = 0; i < most; ++i) {
    system_->jacobian(state, work, rows, request);
    work.clear_residuals(state.redundant);
    work.hold(state.redundant);
    ++outcome.jacobians;
    const auto bad = std::find_if(work.r.begin(), work.r.end(), [](double x) { return !std::isfinite(x); });
    if (bad != work.r.end()) {
      outcome.failure = CorrectorFailure::NotFinite;
      outcome.worst = static_cast<int>(bad - work.r.begin());
      return false;
    }
    if (!work.solver->factorize()) {
      outcome.failure = CorrectorFailure::Singular;
      outcome.worst = work.solver->singular_unknown();
      return false;
    }
    for (int k = 0; k < model.nv; ++k) work.right[at(k)] = -work.r[at(k)];
    for (int k = 0; k < model.rows; ++k) work.right[at(model.nv + k)] = -work.acceleration[at(k)];
    work.solver->solve(work.right.data());
    ++outcome.iterations;
    double change = 0, size = 0;
    for (int k = 0; k < model.nv; ++k) state.vdot[at(k)] += work.right[at(k)];
    for (int k = 0; k < model.rows; ++k) {
      double& lambda = state.lambda[at(k)];
      lambda += work.right[at(model.nv + k)];
      change = std::max(change, std::abs(work.right[at(model.nv + k)]));
      size = std::max(size, std::abs(lambda));
    }
    if (change <= kConverged * size) break;
  }
  return finite();
}

void Accelerations::constraint_increment(const std::vector<double>& residual, Work& work) const {
  const int nv = system_->model().nv;
  std::fill(work.right.begin(), work.right.begin() + nv, 0.0);
  for (std::size_t i = 0; i < residual.size(); ++i) work.right[at(nv) + i] = -residual[i];
  work.solver->solve(work.right.data());
}

}  // namespace liedyn
