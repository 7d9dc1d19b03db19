// Types of joints in messages.
#pragma once

#include <fmt/format.h>

#include "liedyn/model/description.h"

namespace liedyn {

// "revolute, prismatic and screw": the joints of which something is true.
template <class Condition>
std::string joints_with(const Condition& condition) {
  std::vector<std::string_view> types;
  for (const Kind& kind : kinds(Section::Joints))
    if (condition(kind)) types.push_back(kind.type);
  const std::string_view last = types.back();
  types.pop_back();
  return types.empty() ? std::string(last) : fmt::format("{} and {}", fmt::join(types, ", "), last);
}

}  // namespace liedyn
