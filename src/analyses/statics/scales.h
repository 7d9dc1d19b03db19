// Lengths, forces and energies of each subsystem (system/subsystems.h): what is small in a static analysis depends neither
// on units, nor on where the origin is, nor on what else the model contains.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "liedyn/base/index.h"
#include "liedyn/system/redundancy.h"
#include "liedyn/system/subsystems.h"

namespace liedyn {

class StaticScales {
 public:
  StaticScales(const System& system, const State& state, Work& work);

  const Subsystems& parts() const { return parts_; }
  int part_of(int velocity) const { return part_of_[at(velocity)]; }  // -1: a state
  // What makes displacements and rotations dimensionless: the length of the subsystem, and 1.
  const Eigen::VectorXd& units() const { return units_; }
  // Of constraint rows, in their own units.
  double row(int i) const { return constraints_.row_length[at(i)] / constraints_.row[at(i)]; }

  // Forces and torques at work at the state: of each equation, and energies of each subsystem.
  void update(const System& system, const State& state, Work& work);
  double force(int i) const { return force_[at(i)]; }
  double energy(int part) const { return energy_[at(part)]; }

  // At the state that `work` evaluated last. Per subsystem: the largest coordinate of its bodies, to which positions are
  // rounded; at least its length.
  std::vector<double> farthest(const Work& work) const;
  // The same in lengths of the subsystem, of all bodies; at least 1.
  double extent(const Work& work) const;

 private:
  Subsystems parts_;
  ConstraintScales constraints_;
  Eigen::VectorXd units_;
  std::vector<int> part_of_;
  std::vector<Acting> acting_;
  std::vector<double> force_, energy_, largest_energy_;
};

}  // namespace liedyn
