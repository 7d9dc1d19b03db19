// The configuration in which joints have given coordinates: where a run starts, without calculating the positions of the bodies by hand.
#pragma once

#include <string>
#include <vector>

#include "liedyn/system/configuration.h"

namespace liedyn {

struct JointStart {
  std::string joint;
  double value = 0;  // of the coordinate, counted from its zero
  double rate = 0;
  double acceleration = 0;  // of a drive that prescribes the rate
  int line = 0;             // where it was typed, for messages,
  std::string path = {};    // and as what: "joints.hinge" if not given
};

// Joints that are not named keep their coordinates as far as loops allow. Bodies that move start with the velocities that the rates ask for;
// where the joints do not determine them, as near as the masses say to those of `from`. Throws InputError if a joint does not exist, has no
// coordinate, if a drive prescribes it, or if the loops cannot be closed.
Configuration with_joint_coordinates(const System& system, const std::vector<JointStart>& joints,
                                     const Configuration& from, double time, const std::string& file = {});

}  // namespace liedyn
