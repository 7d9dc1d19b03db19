#include "analyses/stiffness_scale.h"

#include <algorithm>
#include <cmath>

#include "system/node_components.h"

namespace liedyn {

using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd stiffness_scale(const System& system, const State& state, const Linearization& l, const Work& work) {
  constexpr double kUnbalanced = 1e3;
  const Model& model = system.model();
  double force = work.force_scale, size = 0, rate = l.axes_rate.norm();
  for (const double x : state.lambda) force = std::max(force, std::abs(x));
  for (std::size_t i = 0; i < model.body_types.size(); ++i) {
    size = std::max(size, work.motions[i].p.norm());
    rate = std::max(rate, work.motions[i].V.tail<3>().norm());
  }
  size = std::max(size, 1e-6);
  VectorXd out = VectorXd::Constant(l.M.rows(), 1e-300);
  const auto include = [&](const SparseMatrix& X, double factor) {
    for (int c = 0; c < X.outerSize(); ++c)
      for (SparseMatrix::InnerIterator it(X, c); it; ++it)
        out[it.row()] = std::max(out[it.row()], factor * std::abs(it.value()));
  };
  include(l.K, 1);
  include(l.M, kUnbalanced * rate * rate);
  for (const Node& node : model.nodes)
    for (int k = 0; k < node_size(node.type).v && node.v + k < l.first_state; ++k) {
      double& scale = out[node.v + k];
      scale = std::max(scale, kUnbalanced * (is_displacement(node.type, k) ? force / size : force * size));
    }
  return out;
}

VectorXd equilibration(const VectorXd& scale, const MatrixXd& N) {
  return (N.cwiseAbs2().transpose() * scale).cwiseMax(1e-300).cwiseSqrt().cwiseInverse();
}

}  // namespace liedyn
