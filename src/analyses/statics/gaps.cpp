#include "liedyn/analyses/statics/gaps.h"

namespace liedyn {

Gaps::Gaps(const System& system) : system_(&system) {
  for (const auto& batch : system.model().batches)
    if (const auto* contacts = dynamic_cast<const WatchedContacts*>(batch.get()))
      for (int e = 0; e < batch->size(); ++e) watched_.push_back({contacts, e});
}

std::vector<double> Gaps::depths(const State& state, Work& work) const {
  system_->residual(state, work, {});
  Evaluation at;
  at.frames = system_->model().frames.data();
  at.nodes = system_->model().bodies().data();
  at.motions = work.motions.data();
  at.constants = work.constants->data.data();
  at.angles = state.angles.data();
  std::vector<double> out;
  out.reserve(watched_.size());
  for (const Watched& w : watched_) out.push_back(w.batch->approach(at, w.element).depth);
  return out;
}

bool Gaps::are_jumped(const std::function<State(double)>& along, Work& work) const {
  if (watched_.empty()) return false;
  constexpr int kParts = 8;
  constexpr double kLess = 1 - 1e-9;
  const std::vector<double> first = depths(along(0), work);
  std::vector<double> before = first;
  for (int part = 1; part <= kParts + 1; ++part) {
    const std::vector<double> now = depths(along(static_cast<double>(part) / kParts), work);
    for (std::size_t i = 0; i < watched_.size(); ++i)
      if (first[i] <= 0 && before[i] > 0 && now[i] < kLess * before[i]) return true;
    before = now;
  }
  return false;
}

}  // namespace liedyn
