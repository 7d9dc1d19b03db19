// The configuration in which joints have given coordinates: where a run starts, without calculating the positions of the bodies by hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "liedyn/system/configuration.h"

namespace liedyn {

struct JointStart {
  std::string
      joint;  // "hinge", its angle if it has one; or which of two: "sleeve.angle", "sleeve.displacement"
  std::optional<double> value = {};  // of the coordinate, counted from its zero; as in `from` if not given
  std::optional<double> rate = {};   // as in `from` if not given
  int line = 0;                      // where it was typed, for messages,
  std::string path = {};             // and as what: "joints.hinge" if not given
};

// Coordinates and rates of joints that are not named are those of `from`, as far as loops allow. Beams and flexible bodies move as rigid bodies with the joint
// that carries them. Throws InputError if a joint does not exist, has no coordinate, if a drive prescribes it, if the loops cannot be closed, or if a loop
// leads through a beam or a flexible body.
Configuration with_joint_coordinates(const System& system, const std::vector<JointStart>& joints,
                                     const Configuration& from, double time, const std::string& file = {});

}  // namespace liedyn
