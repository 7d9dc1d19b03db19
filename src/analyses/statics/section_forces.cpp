#include "liedyn/analyses/statics/section_forces.h"

#include <algorithm>

#include <Eigen/LU>

#include "liedyn/base/index.h"

namespace liedyn {

SectionForces::SectionForces(const System& system) : system_(&system) {
  if (system.model().first_state() < system.model().nv) return;
  for (const auto& batch : system.model().batches)
    if (const auto* sections = dynamic_cast<const BeamSections*>(batch.get());
        sections != nullptr && sections->layout(0).relaxed >= 0)
      beams_.push_back({batch.get(), sections});
}

void SectionForces::predict(const State& from, const Eigen::VectorXd& d, Work& work) {
  if (beams_.empty()) return;
  Constants constants = *work.constants;
  for (const Beams& beams : beams_)
    for (int e = 0; e < beams.batch->size(); ++e)
      constants.data[beams.first_constant(e) + at(beams.sections->layout(0).delay)] = 1;
  State moving = from;
  std::copy_n(d.data(), system_->model().first_state(), moving.v.begin());
  forces_ = evaluate(moving, constants, work);
}

void SectionForces::impose(const State& state, Work& work, const std::function<void()>& visit) const {
  if (forces_.empty()) {
    visit();
    return;
  }
  Constants constants = *work.constants;
  const std::vector<Vec6> now = evaluate(state, constants, work);
  std::size_t i = 0;
  for_each_point([&](const Beams& beams, int e, int point) {
    const BeamSections::Layout layout = beams.sections->layout(point);
    double* const own = constants.data.data() + beams.first_constant(e);
    const Eigen::Map<const Mat6> D(own + layout.stiffness);
    Eigen::Map<Vec6>(own + layout.relaxed) += D.partialPivLu().solve(now[i] - forces_[i]);
    ++i;
  });
  const Constants* const kept = work.constants;
  work.constants = &constants;
  visit();
  work.constants = kept;
}

std::size_t SectionForces::Beams::first_constant(int element) const {
  return at(batch->first_constant + element * batch->constants_per_element());
}

template <class Visit>
void SectionForces::for_each_point(Visit&& visit) const {
  for (const Beams& beams : beams_)
    for (int e = 0; e < beams.batch->size(); ++e)
      for (int point = 0; point < beams.sections->points(); ++point) visit(beams, e, point);
}

std::vector<Vec6> SectionForces::evaluate(const State& state, const Constants& constants, Work& work) const {
  system_->residual(state, work, {});  // motions
  Evaluation evaluation;
  evaluation.frames = system_->model().frames.data();
  evaluation.nodes = system_->model().bodies().data();
  evaluation.motions = work.motions.data();
  evaluation.constants = constants.data.data();
  std::vector<Vec6> out;
  for_each_point([&](const Beams& beams, int e, int point) {
    Vec6 strain, force;
    beams.sections->section(evaluation, e, point, strain, force);
    out.push_back(force);
  });
  return out;
}

}  // namespace liedyn
