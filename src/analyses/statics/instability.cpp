#include "liedyn/analyses/statics/instability.h"

#include <cmath>
#include <limits>
#include <random>

#include "liedyn/analyses/shifted_matrix.h"
#include "liedyn/base/decompositions.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The Ritz vector of the lowest Ritz value of (K + mu M)^-1 M, if that is negative.
std::optional<VectorXd> lowest(const ShiftedMatrix& inverse, const SparseMatrix& M) {
  constexpr int kSteps = 60;
  constexpr double kRoundOff = 1e-11, kDone = 1e-13;
  const Eigen::Index n = M.rows();
  const auto apply = [&](const VectorXd& x) {
    VectorXd out(n);
    inverse.solve(x.data(), nullptr, out.data());
    return out;
  };
  const auto length = [&](const VectorXd& x) { return std::sqrt(std::max(x.dot(M * x), 0.0)); };
  std::mt19937 random(1);
  std::uniform_real_distribution<double> anywhere(-1, 1);
  VectorXd start(n);
  for (double& x : start) x = anywhere(random);
  start = apply(M * apply(M * start));
  if (!(length(start) > 0)) return {};
  MatrixXd basis(n, kSteps);
  basis.col(0) = start / length(start);
  MatrixXd T = MatrixXd::Zero(kSteps, kSteps);
  int size = 0;
  double largest = 0;
  for (int k = 0; k < kSteps; ++k) {
    const VectorXd weighted = M * basis.col(k);
    VectorXd next = apply(weighted);
    // Against all vectors before it, twice: rounding must not bring them back.
    VectorXd along = VectorXd::Zero(k + 1);
    for (int pass = 0; pass < 2; ++pass) {
      const VectorXd part = basis.leftCols(k + 1).transpose() * (M * next);
      next -= basis.leftCols(k + 1) * part;
      along += part;
    }
    T(k, k) = along[k];
    size = k + 1;
    const double rest = length(next);
    largest = std::max({largest, std::abs(along[k]), rest});
    if (k + 1 == kSteps || rest <= kDone * largest) break;
    T(k, k + 1) = T(k + 1, k) = rest;
    basis.col(k + 1) = next / rest;
  }
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(MatrixXd(T.topLeftCorner(size, size)));
  if (eigen.eigenvalues()[0] >= -kRoundOff * eigen.eigenvalues().cwiseAbs().maxCoeff()) return {};
  return VectorXd(basis.leftCols(size) * eigen.eigenvectors().col(0));
}

// How well y^T K y is known: each entry to some units of its last digit, independently of the others.
double round_off(const SparseMatrix& K, const VectorXd& floor, const VectorXd& y) {
  constexpr double kDigits = 100 * std::numeric_limits<double>::epsilon();
  double squares = 0;
  for (int c = 0; c < K.outerSize(); ++c)
    for (SparseMatrix::InnerIterator it(K, c); it; ++it) {
      const double part = it.value() * y[it.row()] * y[it.col()];
      squares += part * part;
    }
  return kDigits * std::sqrt(squares) + y.cwiseAbs2().dot(floor);
}

}  // namespace

std::optional<VectorXd> unstable_direction(const Model& model, Linearization l,
                                           const std::vector<int>& redundant, const VectorXd& floor) {
  l.K = SparseMatrix(0.5 * (l.K + SparseMatrix(l.K.transpose())));
  l.L = l.B.transpose();
  l.B_y.setZero();
  l.velocity_row.assign(l.velocity_row.size(), false);
  const double inertia = l.M.norm(), stiffest = l.K.norm() / inertia;
  if (!(stiffest > 0) || !std::isfinite(stiffest)) return {};
  ShiftedMatrix matrix(model, l, redundant);
  for (const double part : {1e-14, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0}) {
    // A shift that meets an eigenvalue is as good as none.
    double shift = part * stiffest;
    for (int attempt = 0; attempt < 3 && !matrix.factorize(0, shift); ++attempt) shift *= 1.37;
    if (!matrix.factorize(0, shift)) continue;
    if (std::optional<VectorXd> y = lowest(matrix, l.M); y && y->dot(l.K * *y) < -round_off(l.K, floor, *y))
      return y;
  }
  return {};
}

}  // namespace liedyn
