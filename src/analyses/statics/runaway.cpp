#include "liedyn/analyses/statics/runaway.h"

#include <cmath>

namespace liedyn {
namespace {

constexpr double kFarWay = 20;  // lengths or radians

double force_along_motions(const TrialPoint& point) {
  return (point.motions.N.transpose() * point.force.head(point.motions.N.rows())).norm();
}

}  // namespace

bool runs_away(StaticSearch& search, const State& state) {
  constexpr double kRunaway = 1e6;
  if (search.extent() < kRunaway * search.first_extent) return false;
  search.report.reached = state;
  return search.report.ran_away = true;
}

DrivenWay::DrivenWay(const TrialPoint& start) : first_(force_along_motions(start)) {}

void DrivenWay::went(const Eigen::VectorXd& y, double length, const StaticScales& scales,
                     const TrialPoint& now) {
  const Eigen::VectorXd own = length * y.cwiseQuotient(scales.units().head(y.size()));
  way_ = way_.size() == 0 ? own : Eigen::VectorXd(way_ + own);
  if (!half_way_ && distance() > kFarWay / 2) half_way_ = force_along_motions(now);
}

bool DrivenWay::is_shock(const TrialPoint& now) const {
  constexpr double kShock = 2;
  return force_along_motions(now) > kShock * first_;
}

void DrivenWay::report(const TrialPoint& now, SearchReport& out) const {
  constexpr double kChange = 1e-4;  // of the force
  if (!half_way_ || !(distance() > kFarWay)) return;
  if (!(std::abs(force_along_motions(now) - *half_way_) < kChange * *half_way_)) return;
  out.reached = now.state;
  out.ran_away = out.driven_on = true;
}

}  // namespace liedyn
