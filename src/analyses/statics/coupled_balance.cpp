#include "liedyn/analyses/statics/coupled_balance.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "liedyn/analyses/statics/runaway.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/system/assembly.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// The balance of bodies along N and of states:   J (p, dx) = -(N^T Q^T r, r_x),   y = N p,
//
//   J = | N^T K N   N^T C_x |
//       | K_x N     C_xx    |
//
// with rows and columns scaled to the size 1. The rates of bristles and of clutches z vanish at rest, whatever z is: they have
// followed the surfaces on the way. With z' = -r_z, which contains the sliding velocity, a step is one of the pseudo-time T of
// slow motions y/T:
//
//   dz + C_zy y + T (r_z + K_z y + C_zx dx) = 0
//
// States that are held have dx = 0.
class CoupledEquations {
 public:
  CoupledEquations(const TrialPoint& point, const StaticSearch& search) : point_(&point) {
    const MatrixXd& N = point.motions.N;
    const Eigen::Index first = point.l.first_state, states = point.l.states(), n = N.cols();
    const MatrixXd K = point.l.K, C = point.l.C, M = point.l.M;
    J_.resize(n + states, n + states);
    J_ << N.transpose() * K.topLeftCorner(first, first) * N, N.transpose() * C.topRightCorner(first, states),
        K.bottomLeftCorner(states, first) * N, C.bottomRightCorner(states, states);
    inertia_ = MatrixXd::Identity(n + states, n + states);
    inertia_.topLeftCorner(n, n) = N.transpose() * M.topLeftCorner(first, first) * N;
    pull_ = search.imbalance.friction().pull.tail(states);
    held_ = search.held.tail(states);
    for (Eigen::Index i = 0; i < states; ++i) {
      if (held_[i] > 0) {
        J_.col(n + i).setZero();  // least squares would share what is left with it
        J_.row(n + i).setUnit(n + i);
      }
      if (pull_[i] == 0 || held_[i] > 0) continue;
      J_.row(n + i) *= pull_[i];
      J_.row(n + i).head(n) += C.row(first + i).head(first) * N;
      J_(n + i, n + i) += 1;
      inertia_(n + i, n + i) = 0;
    }
    column_ = VectorXd::Ones(n + states);
    column_.tail(states) = search.imbalance.state_sizes(point.l, point.state);
    J_ = J_ * column_.asDiagonal();
    row_ = J_.cwiseAbs().rowwise().maxCoeff();
    for (double& x : row_) x = x > 0 ? 1 / x : 1;
    J_ = row_.asDiagonal() * J_;
  }

  const MatrixXd& J() const { return J_; }
  // J + mu diag(M, 1)
  MatrixXd damped(double mu) const { return J_ + mu * (row_.asDiagonal() * inertia_ * column_.asDiagonal()); }
  // Of forces at this point, or at another with the matrix of this one.
  VectorXd right(const VectorXd& force) const {
    const MatrixXd& N = point_->motions.N;
    const Eigen::Index first = point_->l.first_state, states = point_->l.states();
    VectorXd out(N.cols() + states);
    out << N.transpose() * force.head(first), force.tail(states);
    for (Eigen::Index i = 0; i < states; ++i)
      out[N.cols() + i] *= held_[i] > 0 ? 0 : pull_[i] > 0 ? pull_[i] : 1;
    return row_.asDiagonal() * out;
  }
  // Displacements, rotations and changes of states; Q y is the increment of q (bodies) and v (states).
  VectorXd motion(const VectorXd& solution) const {
    const VectorXd p = column_.asDiagonal() * solution;
    const MatrixXd& N = point_->motions.N;
    VectorXd y(point_->l.M.rows());
    y << N * p.head(N.cols()), p.tail(p.size() - N.cols());
    return y;
  }

 private:
  const TrialPoint* point_;
  MatrixXd J_, inertia_;
  VectorXd row_, column_;  // what J was multiplied with
  VectorXd pull_;          // T, 0: rates that vanish
  VectorXd held_;          // 1: held
};

}  // namespace

bool balance_with_states(StaticSearch& search, State& state) {
  constexpr int kIterations = 100;
  constexpr double kShortest = 1e-5, kSettled = 1e-14, kDependent = 1e-12;
  TrialPoint now = trial_point(search, state);
  for (int i = 0; i < kIterations && std::isfinite(now.excess); ++i) {
    if (runs_away(search, now.state)) return false;
    ++search.report.iterations;
    const CoupledEquations equations(now, search);
    Eigen::CompleteOrthogonalDecomposition<MatrixXd> inverse;
    inverse.setThreshold(kDependent);
    inverse.compute(equations.J());
    const VectorXd solution = -inverse.solve(equations.right(now.force)),
                   d = now.l.Q * equations.motion(solution);
    const bool close = now.excess <= 1;
    if (close && solution.cwiseAbs().maxCoeff() <= kSettled) break;
    const auto is_good = [&](const TrialPoint& then, double length) {
      if (close || then.excess <= 1) return true;
      const VectorXd next = inverse.solve(equations.right(then.force));
      return next.norm() <= (1 - length / 4) * solution.norm();
    };
    std::optional<Trial> trial =
        search_along(search, now, d, rotation_limit(search.system.model(), d.data()), kShortest, is_good);
    if (close) {
      keep_better(std::move(trial), now);
      break;
    }
    if (!trial) {
      search.report.reached = now.state;
      return false;
    }
    go_to(search, std::move(trial->point), now);
  }
  state = std::move(now.state);
  return search.imbalance.evaluate(state) <= 1;
}

bool settle_with_states(StaticSearch& search, State& state) {
  constexpr int kIterations = 400;
  TrialPoint now = trial_point(search, state);
  DrivenWay driven(now);
  double mu = first_shift(search, state);
  const double most = 1e12 * mu;
  for (int i = 0; i < kIterations && std::isfinite(now.excess) && now.excess > 1 && mu <= most; ++i) {
    if (runs_away(search, now.state)) return false;
    ++search.report.iterations;
    const CoupledEquations equations(now, search);
    const MatrixXd damped = equations.damped(mu);
    const VectorXd y = equations.motion(-damped.partialPivLu().solve(equations.right(now.force))),
                   d = now.l.Q * y;
    const double length = rotation_limit(search.system.model(), d.data());
    std::optional<TrialPoint> then;
    if (d.allFinite()) then = point_after(search, now, length * d);
    if (!then || (search.pressing && driven.is_shock(*then))) {
      mu *= 4;
      continue;
    }
    mu *= std::clamp(then->excess / now.excess, 0.1, 1.5) * 0.7;
    go_to(search, std::move(*then), now);
    driven.went(y.head(now.motions.N.rows()), length, search.scales(), now);
    search.report.motion = y;
  }
  if (!(search.imbalance.evaluate(now.state) <= 1)) {
    search.report.reached = now.state;
    driven.report(now, search.report);
    return false;
  }
  state = std::move(now.state);
  State found = state;
  if (balance_with_states(search, found)) state = std::move(found);  // the last digits
  return true;
}

}  // namespace liedyn
