#include "liedyn/system/assembly.h"

#include <algorithm>
#include <cmath>

#include <Eigen/SparseCholesky>

#include "liedyn/model/nodes/stage.h"
#include "liedyn/system/matrix_parts.h"
#include "liedyn/system/node_components.h"
#include "liedyn/system/redundancy.h"

namespace liedyn {
namespace {

using Eigen::VectorXd;

// The mass matrix scaled to 1 and a little more, so that bodies without mass have a place too.
SparseMatrix damping_matrix(const System& system, const State& state, const VectorXd& units, Work& work) {
  constexpr double kMassless = 1e-3;
  MatrixRequest request;
  request.force = {0, 0, 1};
  system.jacobian(state, work, {}, request);
  SparseMatrix D = units.asDiagonal() * force_part(system, work) * units.asDiagonal();
  double largest = 0;
  for (Eigen::Index i = 0; i < D.rows(); ++i) largest = std::max(largest, std::abs(D.coeff(i, i)));
  SparseMatrix one(D.rows(), D.cols());
  one.setIdentity();
  if (largest == 0) return one;
  return SparseMatrix(D / largest + kMassless * one);
}

// Rows and columns that are held leave the equations.
void hold(const std::vector<bool>& free, SparseMatrix& X) {
  X.prune([&](Eigen::Index row, Eigen::Index column, double) {
    return row == column || (free[static_cast<std::size_t>(row)] && free[static_cast<std::size_t>(column)]);
  });
}

}  // namespace

double rotation_limit(const Model& model, const double* increment) {
  constexpr double kLargest = 0.5;
  double most = 0;
  for (const Node& node : model.nodes) {
    double square = 0;
    for (int i = 0; i < node_size(node.type).v; ++i)
      if (!is_displacement(node.type, i)) square += increment[node.v + i] * increment[node.v + i];
    most = std::max(most, std::sqrt(square));
  }
  return most > kLargest ? kLargest / most : 1;
}

bool assemble_positions(const System& system, State& state, const std::vector<bool>* free,
                        const std::vector<double>& scales, double tolerance, Work& work) {
  constexpr int kIterations = 300;
  constexpr double kGain = 1e-4, kLeastDamping = 1e-20, kMostDamping = 1e12;
  const Model& model = system.model();
  // Lengths as parts of those of their subsystems, so that metres and radians compare.
  const ConstraintScales constraints = constraint_scales(system, state, work);
  VectorXd units(model.nv), inverse(model.rows);
  for (int i = 0; i < model.nv; ++i)
    units[i] = constraints.column_length[static_cast<std::size_t>(i)] /
               constraints.column[static_cast<std::size_t>(i)];
  for (int i = 0; i < model.rows; ++i) inverse[i] = 1 / scales[static_cast<std::size_t>(i)];
  const auto violation = [&]() -> VectorXd {
    return inverse.asDiagonal() * Eigen::Map<const VectorXd>(work.phi.data(), model.rows);
  };
  SparseMatrix D = damping_matrix(system, state, units, work);
  if (free != nullptr) hold(*free, D);
  MatrixRequest request;
  request.row = {1, 0, 0};
  double damping = 1e-3;
  State trial = state;
  Eigen::SimplicialLDLT<SparseMatrix> solver;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    system.jacobian(state, work, {}, request);
    const VectorXd phi = violation();
    if (phi.size() == 0 || phi.cwiseAbs().maxCoeff() <= tolerance) return true;
    const SparseMatrix B = inverse.asDiagonal() * row_part(system, work) * units.asDiagonal();
    VectorXd gradient = B.transpose() * phi;
    SparseMatrix normal = SparseMatrix(B.transpose()) * B;
    if (free != nullptr) {
      hold(*free, normal);
      for (int i = 0; i < model.nv; ++i)
        if (!(*free)[static_cast<std::size_t>(i)]) gradient[i] = 0;
    }
    const double scale = std::max(normal.diagonal().maxCoeff(), 1e-300);
    if (!(gradient.norm() > 1e-15 * std::sqrt(scale) * phi.norm()))
      return false;  // a valley, but not at zero
    for (;;) {
      solver.compute(normal + damping * scale * D);
      if (solver.info() != Eigen::Success) {
        damping *= 10;
        if (damping > kMostDamping) return false;
        continue;
      }
      VectorXd d = -solver.solve(gradient);
      d *= rotation_limit(model, d.data());  // units of rotations are 1
      const VectorXd step = units.asDiagonal() * d;
      trial.q = state.q;
      for (const Node& node : model.nodes)
        increment_position(node.type, step.data() + node.v, trial.q.data() + node.q);
      system.residual(trial, work, {});
      const double after = violation().squaredNorm();
      const double predicted = phi.squaredNorm() - (phi + B * d).squaredNorm();
      if (phi.squaredNorm() - after > kGain * predicted && predicted > 0) {
        damping =
            std::max(damping * (phi.squaredNorm() - after > 0.5 * predicted ? 0.05 : 0.5), kLeastDamping);
        break;
      }
      damping *= 10;
      if (damping > kMostDamping) return false;
    }
    state.q = trial.q;
  }
  return false;
}

}  // namespace liedyn
