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

  // The same under further generalised forces tau (may be null), with the forces of the elements or without. All but states.
  int accelerate(const State& state, Work& work, const double* tau, bool forces, double* vdot);
  // The generalised forces that give the accelerations vdot (null: none).
  void forces(const State& state, Work& work, const double* vdot, bool with_elements, double* tau);
  // Poses and velocities at the state.
  TreeRecursion& at(const State& state, Work& work);
  const TreeRecursion& recursion() const { return recursion_; }

 private:
  // What a batch is to the recursion.
  enum class Role : std::uint8_t { Nothing, Mass, Force, Other };
  Role role_of(int batch, const Evaluation& e, Work& work, std::vector<RigidMass>& masses);
  // Poses and velocities, and the forces of the elements.
  void move(const State& state, Work& work, bool forces);
  bool takes_over(int batch, const State& state, Work& work);

  const System* system_;
  TreeRecursion recursion_;
  std::vector<const Batch*> forces_;
  // A spring or an actuator on the one coordinate of a joint of the tree: its force is a function of that, x = sign q + zero, and needs no frames.
  struct JointForce {
    enum class Law : std::uint8_t { Spring, Actuator };
    Law law;
    int q, v;
    int constants;  // of the law, among those of the elements
    double sign, zero;
  };
  std::vector<JointForce> joint_forces_;
  std::vector<double> tau_;
  std::vector<std::vector<BlockRef>> blocks_;  // per batch: where its partial derivatives go
  std::vector<double> partials_;               // 6 x 6 per body, and one block for all that couples bodies
  std::vector<double> none_;
};

}  // namespace liedyn
