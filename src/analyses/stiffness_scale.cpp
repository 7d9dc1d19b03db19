#include "liedyn/analyses/stiffness_scale.h"

#include <algorithm>
#include <cmath>

namespace liedyn {

using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd stiffness_scale(const System& system, const State& state, const Linearization& l, const Work& work) {
  constexpr double kUnbalanced = 1e3;
  const Model& model = system.model();
  double rate = l.axes_rate.norm();
  for (std::size_t i = 0; i < model.body_types.size(); ++i)
    rate = std::max(rate, work.motions[i].V.tail<3>().norm());
  VectorXd out = VectorXd::Constant(l.M.rows(), 1e-300);
  const auto include = [&](const SparseMatrix& X, double factor) {
    for (int c = 0; c < X.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(X, c); it; ++it)
        out[it.row()] = std::max(out[it.row()], factor * std::abs(it.value()) * l.unit[it.row()] * l.unit[c]);
  };
  include(l.K, 1);
  include(l.M, kUnbalanced * rate * rate);
  const double by_forces = kUnbalanced * largest_force(system, state, l) / l.size;
  for (int i = 0; i < l.first_state; ++i) out[i] = std::max(out[i], by_forces);
  return out.cwiseQuotient(l.unit.cwiseAbs2());
}

VectorXd equilibration(const VectorXd& scale, const MatrixXd& N) {
  return (N.cwiseAbs2().transpose() * scale).cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
}

}  // namespace liedyn
