// Models that are made by a function instead of being written out: { "generator": "chain", "arguments": { "links": 10 } }.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "liedyn/model/description.h"

namespace liedyn {

struct Generator {
  std::string name;
  std::string summary;
  std::vector<Field> arguments;   // numbers
  std::array<double, 3> gravity;  // unless the file says otherwise
  // Adds entries to the model. The arguments are as many and in the ranges that `arguments` says.
  void (*generate)(std::span<const double> arguments, DescriptionBuilder& builder);
};

const std::vector<Generator>& generators();
const Generator* find_generator(std::string_view name);

}  // namespace liedyn
