// Named frames of bodies: points with axes that entries may name instead of giving a location.
//
//   "bodies": {"arm": {..., "frames": {"tool": {"at": [0.3, 0, 0], "rotation": {"axis": [0, 1, 0], "angle": "tilt"}}}}}
//   "joints": {"wrist": {"type": "revolute", "between": ["arm.tool", "hand.base"]}}
//   "sensors": {"tip": {"type": "position", "of": "arm.tool"}}
//
// A pass over the document writes body axes in their place, {"arm": [0.3, 0, 0], ...}, and takes the frames out. An axis or normal that is not given is the z
// axis of the frame.
#pragma once

#include "liedyn/io/expand/scope.h"

namespace liedyn {

void expand_frames(Item& root, Scope& scope);

}  // namespace liedyn
