// Notices contacts and stops that a run does not resolve. After every step it asks how deep each contact is and how fast it closes, and it reports
//
//   impacts that reach their deepest point within a few equal steps: their speeds and forces are then those of the step, not of the law;
//   bodies that come so near within a step that they must have touched, and are apart at both of its ends.
//
// Adaptive methods resolve impacts by the control of their errors, if a step begins or ends where they begin: see longest().
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
  };
  Approach approach(const Contact& contact, const State& state, const Work& work) const;
  void move(const State& state, Work& work);
  static void end_of_approach(Contact& contact, double h);

  const System* system_;
  bool equal_steps_;
  std::vector<Contact> contacts_;
  std::vector<Motion<double>> motions_;
};

}  // namespace liedyn
