#include "liedyn/integrators/range_watch.h"

#include <fmt/format.h>

namespace liedyn {

RangeWatch::RangeWatch(const System& system) : system_(&system) {
  const Params& params = system.params();
  for (const Params::Bound& bound : params.timed()) {
    const Field* field = locate_parameter(params.description(), bound.number).kind_field();
    if (field != nullptr && field->range == Range::Positive) watched_.push_back({bound, field});
  }
  if (watched_.empty()) return;
  variables_.assign(params.values().begin(), params.values().begin() + params.parameter_count());
  variables_.push_back(0);
}

std::optional<RangeWatch::Violation> RangeWatch::at(double t) const {
  if (watched_.empty()) return {};
  variables_.back() = t;
  for (const auto& [bound, field] : watched_) {
    const double value = bound.expression.evaluate<double>(variables_);
    if (const std::string mistake = value_mistake(field, value); !mistake.empty())
      return Violation{t, fmt::format("'{}': {}", system_->params().path(bound.number), mistake)};
  }
  return {};
}

std::optional<RangeWatch::Violation> RangeWatch::between(double begin, double end) const {
  constexpr int kSamples = 256;
  if (watched_.empty()) return {};
  double good = begin;
  for (int i = 1; i <= kSamples; ++i) {
    const double t = i == kSamples ? end : begin + (end - begin) * i / kSamples;
    std::optional<Violation> found = at(t);
    if (!found) {
      good = t;
      continue;
    }
    while (true) {  // halving, until no number is left between
      const double middle = good + (found->t - good) / 2;
      if (middle <= good || middle >= found->t) return found;
      if (std::optional<Violation> earlier = at(middle))
        found = std::move(earlier);
      else
        good = middle;
    }
  }
  return {};
}

}  // namespace liedyn
