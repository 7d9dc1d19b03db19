// How the bodies begin that a beam or a flexible body consists of: as pieces of a rigid body.
#pragma once

#include "liedyn/lie/so3.h"
#include "liedyn/model/description.h"
#include "liedyn/model/motion.h"

namespace liedyn {

template <class S>
struct PartStart {
  Vec3T<S> position = Vec3T<S>::Zero();
  SO3<S> rotation;
  Mat3T<S> R = Mat3T<S>::Identity();                                          // the same
  Vec3T<S> velocity = Vec3T<S>::Zero(), angular_velocity = Vec3T<S>::Zero();  // inertial axes
  bool free_position = false, free_orientation = false, free_velocity = false, free_angular_velocity = false;
};

template <class S>
PartStart<S> part_start(const Description& description, const Entry& body, const S* params);

}  // namespace liedyn
