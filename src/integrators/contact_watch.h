// Notices contacts and stops that a run does not resolve. After every step it asks how deep each contact is and how fast it closes, and it reports
//
//   impacts that reach their deepest point within a few equal steps: their speeds and forces are then those of the step, not of the law;
//   bristles whose surfaces slide by many of their lengths in an equal step: their friction is that of the step as well;
//   bodies that come so near within a step that they must have touched, and are apart at both of its ends.
//
// Adaptive methods resolve impacts by the control of their errors, if a step begins or ends where they begin: see longest(). What happens within a
// step that began before is unknown: see throws_apart().
#pragma once

#include <string>
#include <vector>

#include "liedyn/base/archive.h"
#include "liedyn/model/forces/watched_contact.h"
#include "liedyn/system/system.h"

namespace liedyn {

class ContactWatch {
 public:
  ContactWatch(const System& system, const State& start, Work& work, bool equal_steps);

  bool empty() const { return contacts_.empty(); }
  // After an accepted step of length h.
  void after_step(const State& state, double h, Work& work);
  // Whether an impact within the step of length h makes bodies much faster than they were, beyond what other forces do in that time, or begins and ends within it: a contact has no
  // energy to give. Corners of a box that turns may be faster than the one that touched first.
  bool throws_apart(const State& from, const State& to, double h, Work& work);
  // A step of at most h that ends about where bodies will touch, if that is not too near.
  double longest(double h) const;
  // What was found so far, one warning for each contact.
  std::vector<std::string> warnings() const;
  // What it has seen of the run.
  void archive(Archive& archive);

 private:
  struct Contact {
    const WatchedContacts* batch;
    int element;
    std::string name;
    Approach last = {};
    bool closing = false;  // it touches and has not yet reached its deepest point
    long steps = 0;        // of this
    double touched = 0, deepest = 0;
    double deepest_of_run = 0;
    // The deepest impact that was not resolved, and the first that was passed over.
    double coarse_depth = 0, coarse_time = 0, coarse_step = 0;
    long coarse_steps = 0;
    double passed_time = -1, passed_step = 0;
    // The fastest slip of bristles that was not resolved: in their lengths per step.
    double slipped = 0, slipped_time = 0, slipped_step = 0;
  };
  // A contact that may begin within a step: its rate, and how much of it other forces change.
  struct Near {
    const Contact* contact;
    double rate, change;
  };
  Approach approach(const Contact& contact, const State& state, const std::vector<Motion<double>>& motions,
                    const Work& work) const;
  void move(const State& state, Work& work);
  static void end_of_approach(Contact& contact, double h);

  const System* system_;
  bool equal_steps_;
  std::vector<Contact> contacts_;
  std::vector<Motion<double>> motions_, pulled_;
  std::vector<Near> near_;
};

}  // namespace liedyn
