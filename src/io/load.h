// From a model file, or from a model built in code, to the equations that analyses take.
//
//   const System top = load("heavy_top", {{"spin", 100}});
//   const Result result = simulate(top);
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "liedyn/io/read_model.h"
#include "liedyn/model/builder.h"
#include "liedyn/system/system.h"

namespace liedyn {

// A model file (JSON or URDF) or the name of a shipped model; numbers of the model set from outside, by their paths; the formulation, empty: the
// model's own. Throws InputError with all that is wrong.
System load(const std::string& model, std::vector<Assignment> set = {}, const std::string& formulation = {});
// The same of a text in the format of model files, and of a description, as ModelBuilder::finish() gives it.
System load_text(std::string_view text, std::vector<Assignment> set = {},
                 const std::string& formulation = {});
System make_system(std::shared_ptr<const Description> description, const std::vector<Assignment>& set = {},
                   const std::string& formulation = {});
// A builder is used up by this.
System make_system(ModelBuilder& builder, const std::vector<Assignment>& set = {},
                   const std::string& formulation = {});

// One system for each formulation.
std::vector<System> make_systems(std::shared_ptr<const Description> description,
                                 const std::vector<Assignment>& set,
                                 const std::vector<std::string>& formulations);

}  // namespace liedyn
