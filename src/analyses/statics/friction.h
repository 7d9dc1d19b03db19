// Statics of what friction holds: contacts with bristles (model/forces/bristle_contact.h), clutches and brakes that stick (model/forces/clutch.h). Their states have no value of their
// own at rest: they follow the motions that led there.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "liedyn/analyses/linearization.h"
#include "liedyn/model/forces/bristles.h"
#include "liedyn/system/subsystems.h"

namespace liedyn {

// The deflection of the bristles of a contact at one of its points: three states.
struct Bristle {
  const Entry* force;
  std::array<int, kBristleStates> velocities;
  double presliding, relaxation_time;

  double stretch(const State& state) const;  // of what friction allows
};
std::vector<Bristle> bristles_of(const System& system);

// How states of bristles and clutches follow the motions, per velocity; 0 of all others.
struct FrictionStates {
  Eigen::VectorXd pull;   // pseudo-time of a step, in which z' = -r_z lets them follow
  Eigen::VectorXd limit;  // the largest that friction allows
  bool bristles = false;  // whether there are any
};
FrictionStates friction_states(const System& system);

// Contacts whose bristles are at the limit of friction: "'forces.floor', 'forces.wall'"; empty if there are none.
std::string slipping_bristles(const System& system, const State& state);

// The states of clutches and brakes that stick, by their velocities: the shares of the capacity that they carry.
std::vector<int> clutch_states(const System& system);
// Clutches and brakes that would have to carry more than their capacity, with what it is: "'forces.brake' (1.4 of its capacity)"; empty if there are none.
std::string overloaded_clutches(const System& system, const State& state);

// The numbers of the model with bristles that hold whatever is there, before contacts have any pressure (N_0 and the reach of model/forces/bristle_contact.h): what
// only just touches is pressed in without sliding first.
Constants with_gripping_bristles(const System& system, const Subsystems& parts, const State& state,
                                 Work& work);

// Of motions and states that are zero up to round-off, those in which bristles follow their surfaces, z = -C_zy y: the others are bristles that
// could have another deflection, not motions. `found`: columns of displacements, rotations and states.
Eigen::MatrixXd motions_with_bristles(const System& system, const Linearization& l,
                                      const Eigen::MatrixXd& found);

}  // namespace liedyn
