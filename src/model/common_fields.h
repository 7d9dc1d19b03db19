// Fields that many elements between two bodies share, and the frames that they describe.
#pragma once

#include "model/element.h"

namespace liedyn {

Field between_bodies(std::string summary = "The two bodies.");

// Two points, one on each body.
Field two_points();
std::vector<Attachment> frames_at_two_points(int between, int points);

// One place where both bodies meet.
Field common_place(std::string summary = "Place of the joint in the initial configuration, inertial axes.");
std::vector<Attachment> frames_at_common_place(int between, int at);

// A direction in the initial configuration, inertial axes, of any length but zero.
Field direction(std::string name, std::string summary);
void check_direction(const Inputs<double>& in, int field, std::string_view name, std::string& message,
                     std::string& hint);

}  // namespace liedyn
