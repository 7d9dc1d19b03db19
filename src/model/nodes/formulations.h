// The absolute formulations: which nodes bodies have. In minimal coordinates, roots of trees have those of the first one.
#pragma once

#include <algorithm>
#include <string_view>

#include "liedyn/model/nodes/node.h"

namespace liedyn {

struct Formulation {
  std::string_view name;
  NodeType body;     // of a rigid body,
  NodeType turning;  // of one that only turns about a fixed point,
  NodeType planar;   // and in the plane, where an angle is its own rotation parameter
};
inline constexpr Formulation kFormulations[] = {
    {"r3so3", NodeType::R3xSO3, NodeType::SO3, NodeType::R2xSO2},
    {"r3so3-spatial", NodeType::R3xSO3Spatial, NodeType::SO3Spatial, NodeType::R2xSO2},
    {"se3", NodeType::SE3, NodeType::SO3, NodeType::SE2},
    {"euler-parameters", NodeType::R3xEuler, NodeType::Euler, NodeType::R2xSO2},
    {"cardan", NodeType::R3xCardan, NodeType::Cardan, NodeType::R2xSO2},
    {"cardan-body", NodeType::R3xCardanBody, NodeType::CardanBody, NodeType::R2xSO2},
};
// The name of the coordinates of the joints, and of a choice that is left to the program.
inline constexpr std::string_view kMinimalCoordinates = "minimal", kOpenFormulation = "auto";
constexpr const Formulation& absolute_formulation(std::string_view name) {
  const auto* found = std::ranges::find(kFormulations, name, &Formulation::name);
  return found != std::end(kFormulations) ? *found : kFormulations[0];
}
// The one in which rigid bodies have these nodes.
constexpr std::string_view formulation_of(NodeType body) {
  return std::ranges::find(kFormulations, body, &Formulation::body)->name;
}

}  // namespace liedyn
