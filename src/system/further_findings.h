// All errors of a model at once, whichever phase finds them: its text, the references between its entries, the equations made of them, the initial values.
//
// A phase can only look at what the phases before it accepted. So what they refused is left out, together with all that depends on it, and the rest goes on: what is
// found there is an error of its own and not the consequence of another one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "liedyn/base/error.h"
#include "liedyn/model/model.h"

namespace liedyn {

// `known`, and what later phases find in the rest of the model; by line. The description need not be complete: that of a builder whose finish() has thrown will do.
std::vector<Diagnostic> with_further_findings(Description description, std::vector<Diagnostic> known);

// The same with the numbers as they are set.
std::vector<Diagnostic> with_later_findings(const Description& description, const Params& params,
                                            std::vector<Diagnostic> known);

// Model::compile for a model as its users wrote it and set its numbers: throws InputError with the findings of later phases too. `formulation` empty: the description's
// own.
std::shared_ptr<const Model> compile_model(const std::shared_ptr<const Description>& description,
                                           const Params& params, const std::string& formulation = {});

}  // namespace liedyn
