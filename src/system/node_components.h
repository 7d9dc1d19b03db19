// What the velocities of a node are in words that analyses share: components of a displacement (0, 1, 2) and of a rotation (3, 4, 5).
#pragma once

#include "liedyn/model/nodes/node.h"

namespace liedyn {

inline int component(NodeType type, int i) { return components(type)[i]; }
inline bool is_displacement(NodeType type, int i) { return component(type, i) < 3; }
inline bool translates(NodeType type) { return place_count(type) > 0; }
inline bool rotates(NodeType type) { return type != NodeType::R3; }

}  // namespace liedyn
