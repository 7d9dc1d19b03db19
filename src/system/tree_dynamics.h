// Accelerations of systems in minimal coordinates by the recursion of system/tree_recursion.h, where it applies: no constraints, bodies that are rigid, and no
// force that depends on accelerations. Forces come from the elements.
#pragma once

#include <vector>

#include "liedyn/system/system.h"
#include "liedyn/system/tree_recursion.h"

namespace liedyn {

class TreeDynamics {
 public:
  explicit TreeDynamics(const System& system);

  // Whether the recursion gives the accelerations of this system. What elements add per acceleration is found at two configurations chosen at will: it is an
  // analytic function of these. Takes over masses and geometry; to be called again after a change of parameters.
  bool prepare(const State& state, Work& work);

  // vdot of the state. Returns -1, or the index of the velocity that has no inertia.
  int accelerate(State& state, Work& work);

  // Poses and velocities of the state, with the forces of the elements if asked for; then as TreeRecursion gives it.
  TreeRecursion& at(const State& state, Work& work, bool forces);

 private:
  // What a batch is to the recursion.
  enum class Role : std::uint8_t { Nothing, Mass, Force, Other };
  Role role_of(int batch, const Evaluation& e, Work& work, std::vector<RigidMass>& masses);

  const System* system_;
  TreeRecursion recursion_;
  std::vector<const Batch*> forces_;
  std::vector<std::vector<BlockRef>> blocks_;  // per batch: where its partial derivatives go
  std::vector<double> partials_;               // 6 x 6 per body, and one block for all that couples bodies
  std::vector<double> none_;
};

}  // namespace liedyn
