// Fields that many elements between two bodies share, and the frames that they describe.
#pragma once

#include "liedyn/model/element.h"

namespace liedyn {

Field between_bodies(std::string summary = "The two bodies.");

// Two points, one on each body.
Field two_points();
std::vector<Attachment> frames_at_two_points(int between, int points);

// One place where both bodies meet.
Field common_place(
    std::string summary = "Position of the joint in the initial configuration, inertial axes.");
std::vector<Attachment> frames_at_common_place(int between, int at);

// The joint whose coordinate an element uses, and which one: about its axis or along it.
Field named_joint(std::string summary);
Field joint_coordinate_choice();
// The two frames of the joint in a Joint field, or of both joints in a Joints field.
std::vector<Attachment> frames_of_joint(int field, int joints = 1);

// Where a joint's coordinates are zero: for the angle or the displacement, and for the displacement of a joint with both.
std::vector<Field> zero_fields(AxisCoordinates coordinates);

// A direction in the initial configuration, inertial axes, or in the axes of the bodies that carry it, of any length but zero.
Field direction(std::string name, std::string summary, BodyAxes carriers);
void check_direction(const Inputs<double>& in, int field, std::string_view name, std::string& message,
                     std::string& hint);

}  // namespace liedyn
