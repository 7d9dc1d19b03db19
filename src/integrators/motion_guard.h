// Notices when a run no longer follows the equations, although every step converges. Now and then, when speeds have doubled, and at the end it looks for
//
//   positions:   a constraint that is violated by a part of the model's length;
//   velocities:  kinetic energy of the velocities that the constraints forbid, M^-1 B^T (B M^-1 B^T)^-1 (B v + Phi_t), beside the largest of the run;
//   energy:      in a model without functions of time and signals, kinetic and potential energy that grew beyond all that was there before
//                and beyond the work of the forces, dE/dt as the equations of motion give it.
//
// Energy that changes since the start by a half of that of the motion is worth a warning, if no force could do that work, neither now nor at the start.
// All three grow without bound where a method is unstable, and stay small or pass where it is merely inaccurate. Positions that only drift, slowly, from their
// constraints are worth a warning.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "liedyn/system/system.h"

namespace liedyn {

class MotionGuard {
 public:
  MotionGuard(const System& system, const State& start, Work& work);
  ~MotionGuard();

  // After an accepted step. What went wrong, or nothing. `last`: the run ends here, so that it looks in any case.
  std::string after_step(const State& state, bool last, Work& work);
  // About what is no reason to stop, once; empty until there is something to say, and after it was asked for.
  std::string take_warning() { return std::exchange(warning_, {}); }
  // Parameters have changed: the forces no longer explain the energy.
  void expect_other_energy() { follows_energy_ = false; }
  // What it has seen of the run.
  void archive(Archive& archive);

 private:
  // E = T + V at the times it looked.
  struct Look {
    double t, kinetic, potential;
    double total() const { return kinetic + potential; }
  };
  // The largest kinetic energy and the range of the potential one, up to a time.
  struct Extremes {
    double kinetic, least_potential, most_potential;
    double range() const { return std::max(kinetic, most_potential - least_potential); }
    void include(const Look& look);
  };
  struct Reference : Look {
    Extremes seen;
  };
  Look energy_at(const State& state, Work& work) const;
  std::string violated_positions(const Work& work, double t);
  double forbidden_energy(const State& state, const Work& work);
  double unexplained_energy(const State& state, const Look& now, double range);
  void watch_energy(const State& state, const Look& now);
  double power(State& state, double dt);
  double largest_power(const State& at, double kinetic, double span, int sign);

  const System* system_;
  double start_, length_;
  std::vector<bool> is_angle_;  // per row
  bool follows_energy_;
  bool drifts_ = false;           // said once
  bool watches_energy_ = true;    // until there is something to say
  bool may_lose_energy_ = false;  // unseen between two looks, as contacts do
  Look begin_{};
  State start_state_;  // where forces are asked too for what they can give
  std::string warning_;
  long steps_ = 0;    // since the last look
  double speed_ = 0;  // largest velocity of all at the last look
  Extremes seen_;
  Reference before_;  // what the energy is compared with: at most half of the time since the start ago
  std::unique_ptr<Work> own_;  // made when first needed
};

}  // namespace liedyn
