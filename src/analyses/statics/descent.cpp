#include "liedyn/analyses/statics/descent.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "liedyn/analyses/statics/runaway.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/system/assembly.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

// Where a subsystem resists all motions, Newton's step, which is downhill there; otherwise the opposite of it along those
// where K is negative:
//
//   d = -N (N^T K N)^-1 N^T Q^T r   or   d = -N |N^T K_s N|^-1 N^T Q^T r,   K_s = (K + K^T)/2
//
// for each subsystem. Motions that nothing resists and nothing drives stay where they are; otherwise no part is longer than
// the subsystem is large.
class Downhill {
 public:
  Downhill(const TrialPoint& from, const StaticScales& scales, double tolerance) : motions_(&from.motions) {
    const MatrixXd& N = from.motions.N;
    const std::vector<int>& part = from.motions.part;
    for (std::size_t first = 0, end = 0; first < part.size(); first = end) {
      while (end < part.size() && part[end] == part[first]) ++end;
      const auto column = static_cast<Eigen::Index>(first), count = static_cast<Eigen::Index>(end - first);
      const MatrixXd own = N.middleCols(column, count), K = own.transpose() * (from.l.K * own);
      parts_.emplace_back(column, K, scales.energy(part[first]) * tolerance);
    }
  }
  // p with y = N p, of forces at this point, or at another with the stiffness of this one.
  VectorXd step(const VectorXd& force) const {
    VectorXd out = VectorXd::Zero(motions_->N.cols());
    const VectorXd along = motions_->N.transpose() * force.head(motions_->N.rows());
    for (const Part& part : parts_)
      out.segment(part.first, part.size()) = part.step(along.segment(part.first, part.size()));
    return out;
  }
  bool convex() const {
    return std::all_of(parts_.begin(), parts_.end(), [](const Part& part) { return part.convex; });
  }

 private:
  // Below this part of the largest there is only the round-off of eigenvalues.
  static constexpr double kNothing = 16 * std::numeric_limits<double>::epsilon();

  struct Part {
    Part(Eigen::Index first_column, const MatrixXd& K, double tolerated_energy)
        : first(first_column), tolerated(tolerated_energy) {
      eigen.compute(MatrixXd(0.5 * (K + K.transpose())));
      const VectorXd& values = eigen.eigenvalues();
      stiffest = values.cwiseAbs().maxCoeff();
      const double least = kNothing * stiffest;
      convex = values[0] > least;
      // Loads without potential, which make K unsymmetric, have no downhill: there the eigenvalues say where it resists.
      if (!convex && (K - K.transpose()).norm() > least)
        convex = (Eigen::EigenSolver<MatrixXd>(K, false).eigenvalues().real().array() > least).all();
      if (convex) newton.compute(K);
    }
    Eigen::Index size() const { return eigen.eigenvalues().size(); }
    VectorXd step(const VectorXd& force) const {
      constexpr double kUndriven = 1e-10;
      if (convex) return -newton.solve(force);
      const VectorXd& values = eigen.eigenvalues();
      const VectorXd c = eigen.eigenvectors().transpose() * force;
      const double nothing = std::max(tolerated, kUndriven * c.norm());
      VectorXd p = VectorXd::Zero(c.size());
      for (Eigen::Index i = 0; i < c.size(); ++i) {
        const double stiffness = std::abs(values[i]);
        if (c[i] == 0 || (stiffness <= kNothing * stiffest && std::abs(c[i]) <= nothing)) continue;
        p[i] = -c[i] / std::max(stiffness, std::abs(c[i]));
      }
      return eigen.eigenvectors() * p;
    }

    Eigen::Index first;
    double tolerated;
    Eigen::SelfAdjointEigenSolver<MatrixXd> eigen;
    Eigen::PartialPivLU<MatrixXd> newton;
    double stiffest = 0;
    bool convex = false;
  };
  const AllowedMotions* motions_;
  std::vector<Part> parts_;
};

VectorXd newton_step(const TrialPoint& point) {
  const MatrixXd& N = point.motions.N;
  const MatrixXd K = N.transpose() * (point.l.K * N);
  return -K.partialPivLu().solve(N.transpose() * point.force.head(N.rows()));
}

// Work along y, that of each subsystem relative to its energy.
double work_along(const VectorXd& y, const VectorXd& force, const StaticScales& scales) {
  double out = 0;
  for (int i = 0; i < y.size(); ++i)
    if (const int part = scales.part_of(i); part >= 0 && scales.energy(part) > 0)
      out += y[i] * force[i] / scales.energy(part);
  return out;
}

}  // namespace

// Where K is positive a step is good, too, if the next one would be shorter, with the same matrix (Deuflhard) or with its
// own: forces and work are no measure where slender beams have been stretched.
bool descend(StaticSearch& search, State& state) {
  constexpr int kIterations = 300;
  constexpr double kShortest = 1e-10, kSettled = 1e-14, kFine = 1e-10;
  const StaticScales& scales = search.scales();
  TrialPoint now = trial_point(search, state);
  DrivenWay driven(now);
  double before = INFINITY;
  for (int i = 0; i < kIterations && std::isfinite(now.excess); ++i) {
    if (runs_away(search, now.state)) return false;
    if (now.motions.N.cols() == 0) break;  // the constraints alone determine the positions
    ++search.report.iterations;
    const Downhill down(now, scales, search.imbalance.tolerance());
    const VectorXd p = down.step(now.force), y = now.motions.N * p, d = now.l.Q * y;
    // No step can be made, or none that is shorter than the last: the forces left are the round-off of positions times the
    // stiffness, or that of forces that cancel.
    const double way = p.cwiseAbs().maxCoeff() / search.extent();
    if (way <= kSettled || (way <= kFine && way > 0.5 * before)) {
      state = std::move(now.state);
      return search.imbalance.evaluate(state) <= kLeftByRoundOff;
    }
    before = way;
    const bool close = now.excess <= 1;
    // Work done on the way, by the trapezoidal rule: there need not be a potential of all loads. What stretches slender
    // beams until the next step does not count.
    const double slope = work_along(y, now.force, scales);
    const auto is_good = [&](const TrialPoint& then, double length) {
      return close || work_along(y, then.force, scales) < -0.9 * slope ||
             work_along(y, then.predicted, scales) < -0.9 * slope ||
             (down.convex() && down.step(then.force).norm() <= (1 - length / 4) * p.norm()) ||
             (down.convex() && newton_step(then).norm() <= (1 - length / 4) * p.norm());
    };
    const double longest = std::min(rotation_limit(search.system.model(), d.data()),
                                    1 / y.cwiseQuotient(scales.units().head(y.size())).cwiseAbs().maxCoeff());
    std::optional<Trial> trial = search_along(search, now, d, longest, kShortest, is_good);
    if (close) {
      keep_better(std::move(trial), now);
      state = std::move(now.state);
      return search.imbalance.evaluate(state, false) <= 1;
    }
    if (!trial) return false;
    go_to(search, std::move(trial->point), now);
    driven.went(y, trial->length, scales, now);
    search.report.motion = y;
  }
  const bool balanced = search.imbalance.evaluate(now.state) <= 1;
  if (!balanced) driven.report(now, search.report);
  state = std::move(now.state);
  return balanced;
}

}  // namespace liedyn
