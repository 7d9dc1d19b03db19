#include "liedyn/analyses/singular_position.h"

#include <fmt/format.h>

#include "liedyn/base/decompositions.h"
#include "liedyn/system/initial.h"

namespace liedyn {

std::string singular_position(const System& system, const State& state, const Linearization& l, Work& work) {
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
  const Eigen::Index independent = (pivots >= kClear).count();
  const auto describe = [&](const std::string& place, Eigen::Index count, const std::string& how) {
    const Eigen::Index least = bodies - independent - count;
    return fmt::format(
        "this is {} position: {} of the {} constraints {} redundant {}, so that there are {} to {} degrees "
        "of freedom, and the slowest eigenvalues are meaningless. Choose another position",
        place, count, l.B.rows(), count == 1 ? "is" : "are", how, least, least + count);
  };
  if (const Eigen::Index count = doubtful.count(); count > 0)
    return describe("close to a singular", count,
                    fmt::format("up to {:.1e}", doubtful.select(pivots, 0.0).maxCoeff()));
  if (state.redundant.empty()) return {};
  if (const auto count = static_cast<Eigen::Index>(independent_nearby(system, state, work).size()); count > 0)
    return describe("a singular", count, "here, but not in nearby positions");
  return {};
}

}  // namespace liedyn
