#include "liedyn/analyses/result.h"

#include <fmt/format.h>

#include <algorithm>

#include "liedyn/base/error.h"
#include "liedyn/base/suggest.h"

namespace liedyn {

const Channel& Trajectory::channel(std::string_view name) const {
  const auto found = std::ranges::find(channels, name, &Channel::name);
  if (found != channels.end()) return *found;
  std::vector<std::string> names;
  for (const Channel& one : channels) names.push_back(one.name);
  throw InputError("result", fmt::format("there is no sensor '{}'", excerpt(name)),
                   did_you_mean(name, names));
}

std::span<const double> Trajectory::at(std::size_t row, std::string_view name) const {
  const Channel& one = channel(name);
  if (row >= rows())
    throw InputError("result", fmt::format("there is no row {}, the result has {}", row, rows()));
  return {data.data() + row * static_cast<std::size_t>(columns) + one.first,
          static_cast<std::size_t>(one.components)};
}

std::span<const double> Trajectory::last(std::string_view name) const { return at(rows() - 1, name); }

}  // namespace liedyn
