#include "liedyn/analyses/statics/stability.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/motions.h"
#include "liedyn/analyses/statics/allowed_motions.h"
#include "liedyn/analyses/statics/friction.h"
#include "liedyn/analyses/statics/instability.h"
#include "liedyn/analyses/stiffness_scale.h"
#include "liedyn/base/decompositions.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

StaticScales scales_at(const System& system, const State& state, Work& work) {
  StaticScales out(system, state, work);
  out.update(system, state, work);
  return out;
}

// What is not stiffness but round-off of forces in balance: equilibria are not exact to the last digit.
VectorXd unbalanced_stiffness(const StaticScales& scales) {
  constexpr double kUnbalanced = 1e-9;
  VectorXd out = VectorXd::Zero(scales.units().size());
  for (int i = 0; i < out.size(); ++i)
    if (const int part = scales.part_of(i); part >= 0)
      out[i] = kUnbalanced * scales.energy(part) / (scales.units()[i] * scales.units()[i]);
  return out;
}

// Of y^T K y: K is known to some units of its last digit, and forces are not quite in balance.
class StiffnessRoundOff {
 public:
  StiffnessRoundOff(const SparseMatrix& K, VectorXd unbalanced)
      : magnitude_(K), unbalanced_(std::move(unbalanced)) {
    for (int c = 0; c < magnitude_.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(magnitude_, c); it; ++it) it.valueRef() = std::abs(it.value());
  }
  double along(const VectorXd& motion) const {
    constexpr double kDigits = 200 * std::numeric_limits<double>::epsilon();
    const VectorXd y = motion.cwiseAbs();
    return kDigits * y.dot(magnitude_ * y) + y.cwiseAbs2().dot(unbalanced_);
  }

 private:
  SparseMatrix magnitude_;
  VectorXd unbalanced_;
};

// The largest entry of each row: stiffnesses of different rows differ by many decades.
VectorXd largest_entries(const SparseMatrix& K) {
  VectorXd out = VectorXd::Constant(K.rows(), 1e-300);
  for (int c = 0; c < K.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(K, c); it; ++it)
      out[it.row()] = std::max(out[it.row()], std::abs(it.value()));
  return out;
}

MatrixXd independent_columns(const MatrixXd& M) {
  constexpr double kDependent = 1e-8;
  if (M.cols() == 0) return M;
  Eigen::ColPivHouseholderQR<MatrixXd> qr(M.rows(), M.cols());
  qr.setThreshold(kDependent);
  qr.compute(M);
  return MatrixXd(M * qr.colsPermutation()).leftCols(qr.rank());
}

}  // namespace

Stability stability_by_stiffness(const System& system, const State& state, Work& work) {
  const Linearization l = linearize(system, state, Vec3::Zero(), work);
  const StaticScales scales = scales_at(system, state, work);
  const MatrixXd N = allowed_motions(l.B, scales).N;
  Stability out;
  out.unstable = 0;
  out.indifferent.resize(N.rows(), 0);
  if (N.cols() == 0) return out;
  const MatrixXd scaled = N * equilibration(largest_entries(l.K), N).asDiagonal(),
                 K = scaled.transpose() * (l.K * scaled);
  const StiffnessRoundOff round_off(l.K, unbalanced_stiffness(scales));
  const auto is_round_off = [&](double stiffness, const VectorXd& x) {
    return stiffness <= round_off.along(scaled * x);
  };

  const Eigen::BDCSVD<MatrixXd> svd(K, Eigen::ComputeFullV);
  std::vector<Eigen::Index> indifferent;
  for (Eigen::Index i = 0; i < K.cols(); ++i)
    if (is_round_off(svd.singularValues()[i], svd.matrixV().col(i))) indifferent.push_back(i);
  if (!indifferent.empty()) out.indifferent = separated(scaled * svd.matrixV()(Eigen::all, indifferent));

  // Loads without potential make K unsymmetric, and its symmetric part indefinite where nothing diverges.
  const Eigen::EigenSolver<MatrixXd> eigen(K, true);
  double most = 0;
  for (Eigen::Index i = 0; i < K.cols(); ++i) {
    const double stiffness = eigen.eigenvalues()[i].real();
    if (stiffness >= 0 || is_round_off(-stiffness, eigen.eigenvectors().col(i).cwiseAbs())) continue;
    ++out.unstable;
    if (stiffness < most) out.leaves = scaled * eigen.eigenvectors().col(i).real();
    most = std::min(most, stiffness);
  }
  return out;
}

Stability stability_by_eigenvalues(const System& system, const State& state, Work& work) {
  // Multiple zeros come out as eigenvalues of the size of round-off, with any sign.
  constexpr double kGrowing = 1e-8, kZero = 1e-10;
  const Modes found = modes(system, state, {.axes_given = true});
  int growing = 0;
  MatrixXd zero(system.model().nv, 0);
  double fastest = 0;
  for (const Mode& mode : found.modes) fastest = std::max(fastest, std::abs(mode.eigenvalue));
  for (const Mode& mode : found.modes) {
    const bool is_zero = mode.rigid || std::abs(mode.eigenvalue) <= kZero * fastest;
    if (!is_zero && mode.eigenvalue.real() > kGrowing * std::abs(mode.eigenvalue))
      growing += mode.eigenvalue.imag() > 0 ? 2 : 1;
    if (!is_zero) continue;
    zero.conservativeResize(zero.rows(), zero.cols() + 1);
    for (int i = 0; i < system.model().nv; ++i) zero(i, zero.cols() - 1) = mode.shape[at(i)].real();
  }
  Stability out;
  out.indifferent = separated(
      motions_with_bristles(system, linearize(system, state, Vec3::Zero(), work), independent_columns(zero)));
  // Sparse: only the slowest modes were computed.
  if (found.solver == "dense" || growing > 0) out.unstable = growing;
  return out;
}

std::optional<VectorXd> leaving_motion(const System& system, const State& state, Work& work) {
  if (system.model().nv <= kLargestDense) return stability_by_stiffness(system, state, work).leaves;
  const Linearization l = linearize(system, state, Vec3::Zero(), work);
  return unstable_direction(system.model(), l, state.redundant,
                            unbalanced_stiffness(scales_at(system, state, work)));
}

std::vector<std::string> describe_motions(const Model& model, const MatrixXd& columns) {
  std::vector<std::string> out;
  for (Eigen::Index i = 0; i < columns.cols(); ++i) out.push_back(describe_motion(model, columns.col(i)));
  return out;
}

}  // namespace liedyn
