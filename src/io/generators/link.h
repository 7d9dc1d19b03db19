// What generated models of links share: bars of 1 kg between two places of the plane z = 0, and spherical joints.
#pragma once

#include <array>
#include <string>

#include "liedyn/model/description.h"

namespace liedyn {

using Place = std::array<double, 2>;  // x, y

// Indices of numbers are 32 bits wide, and a link with its joints has about forty of them.
inline constexpr double kMostLinks = 1e7;

// A rigid body of mass 1 and inertia diag(0.01, 0.1, 0.1) midway between the places, its x axis along the line between them.
void add_link(DescriptionBuilder& builder, std::string name, Place from, Place to);
void add_spherical(DescriptionBuilder& builder, std::string name, std::string first, std::string second,
                   Place at);
// Sensor: the inertial place of the point of the body that is at `at` in the beginning.
void add_position(DescriptionBuilder& builder, std::string name, std::string body, Place at);

}  // namespace liedyn
