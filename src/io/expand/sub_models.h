// Models within models.
//
//   "models": {"left": {"file": "leg.json", "at": [0, 0.2, 0], "rotation": {"axis": [0, 0, 1], "angle": "pi/2"}, "set": {"length": "0.5*size"}},
//              "right": {"model": {"liedyn": 1, "bodies": ...}}}
//
// The entries and parameters of a sub-model become those of the outer model, with its name before theirs: left.knee. What it gives in inertial axes is moved
// and turned by "at" and "rotation"; its expressions see sensors in its own axes and from its own origin (io/expand/pose.h), which expressions of the outer model
// and results do not. Its gravity and its simulation settings are those of the outer model.
#pragma once

#include "liedyn/io/expand/scope.h"

namespace liedyn {

// Repetitions and sub-models of a document, and of its sub-models. `file`: of the document, for messages and for files beside it. Assignments are those of the
// outermost document; arguments are taken out of them. Throws InputError if a file cannot be read.
void expand_models(Item& root, const std::string& file, std::vector<Assignment>& assignments,
                   Origins& origins, Findings& findings);

}  // namespace liedyn
