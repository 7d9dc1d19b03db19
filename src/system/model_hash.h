// A number that differs if the equations of two models do.
#pragma once

#include <cstdint>
#include <string_view>

#include "liedyn/model/model.h"
#include "liedyn/model/params.h"

namespace liedyn {

// Of the structure, the formulation and the values of the parameters.
std::uint64_t hash_of(const Model& model, const Params& params);
std::uint64_t hash_of(const Description& description, std::string_view formulation, const Params& params);

}  // namespace liedyn
