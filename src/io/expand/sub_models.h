// Models within models.
//
//   "models": {"left": {"file": "leg.json", "at": [0, 0.2, 0], "rotation": {"axis": [0, 0, 1], "angle": "pi/2"}, "set": {"length": "0.5*size"}},
//              "right": {"model": {"liedyn": 1, "bodies": ...}}}
//
// The entries and parameters of a sub-model become those of the outer model, with its name before theirs: left.knee. What it gives in inertial axes is moved
// and turned by "at" and "rotation". Its gravity and its simulation settings are those of the outer model.
#pragma once

#include <optional>

#include "liedyn/io/expand/scope.h"
#include "liedyn/model/description.h"

namespace liedyn {

// Repetitions and sub-models of a document, and of its sub-models. `file`: of the document, for messages and for files beside it. Assignments are those of the
// outermost document; arguments are taken out of them. Throws InputError if a file cannot be read.
void expand_models(Item& root, const std::string& file, std::vector<Assignment>& assignments,
                   Origins& origins, Findings& findings);

// What happens to a vector or rotation of an entry when its model is moved.
enum class PoseRole : std::uint8_t {
  Fixed,        // in body axes, or relative
  Point,        // moved and turned
  Direction,    // turned
  Orientation,  // turned
  Load,         // turned if the entry's axes are inertial
  Angle,        // about the inertial z axis
  Unknown,      // of a field that nobody has classified: a moved model with it is refused
};
PoseRole pose_role(Section section, const Field& field);

}  // namespace liedyn
