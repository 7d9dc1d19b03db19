#include "liedyn/analyses/singular_position.h"

#include <fmt/format.h>

#include "liedyn/base/decompositions.h"

namespace liedyn {

std::string near_singular_position(const Linearization& l) {
  // Redundant constraints leave 1e-15 to 1e-11, as far as positions are known; an equilibrium at a singular position is known to the square root of that.
  constexpr double kRoundOff = 1e-10, kClear = 1e-5;
  const Eigen::Index bodies = l.first_state;
  if (l.B.rows() == 0 || bodies == 0) return {};
  Eigen::MatrixXd rows = l.unit.head(bodies).asDiagonal() * Eigen::MatrixXd(l.B.leftCols(bodies)).transpose();
  for (Eigen::Index i = 0; i < rows.cols(); ++i)
    if (const double length = rows.col(i).norm(); length > 0) rows.col(i) /= length;
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(rows);
  const Eigen::ArrayXd pivots = qr.matrixR().diagonal().array().abs() / qr.maxPivot();
  const auto doubtful = (pivots > kRoundOff && pivots < kClear).eval();
  const Eigen::Index count = doubtful.count();
  if (count == 0) return {};
  const Eigen::Index least = bodies - (pivots >= kClear).count() - count;
  return fmt::format(
      "this is close to a singular position: {} of the {} constraints depend{} on others but for {:.1e}, so "
      "that "
      "there are {} to {} degrees of freedom, and the slowest eigenvalues mean nothing: choose another "
      "position",
      count, l.B.rows(), count == 1 ? "s" : "", doubtful.select(pivots, 0.0).maxCoeff(), least,
      least + count);
}

}  // namespace liedyn
