// An integrator of one's own: velocity Verlet (leapfrog) on the group,
//   v_1/2 = v_0 + h/2 vdot_0,   q_1 = q_0 exp(h v_1/2),   v_1 = v_1/2 + h/2 vdot_1,
// for bodies without constraints and forces that do not depend on velocities.
#pragma once

#include <liedyn/liedyn.h>
#include <liedyn/model/nodes/increments.h>
#include <liedyn/system/accelerations.h>

#include <array>

namespace verlet {

using namespace liedyn;

template <class S>
class Verlet final : public IntegratorOf<S> {
 public:
  Verlet(const SystemOf<S>& system, const IntegratorOptions& options)
      : system_(&system), text_(options.text()), accelerations_(system) {
    const Model& model = system.model();
    if (model.rows > 0 || model.has_conventional_nodes() || !model.state_frames.empty())
      throw InputError("integrator verlet",
                       "takes bodies on Lie groups without constraints and without states",
                       "choose another integrator, or the formulation r3so3 or minimal");
  }
  void start(StateOf<S>& state, double, WorkOf<S>& work) override { accelerations_.prepare(state, work); }
  void follow_jump(const std::vector<S>&, StateOf<S>& state, WorkOf<S>& work) override {
    accelerations_.prepare(state, work);
  }
  void archive(Archive& a, const StateOf<S>&, WorkOf<S>&) override {
    if constexpr (!is_varied<S>) a(accelerations_);
  }

  Attempt step(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) override {
    Attempt attempt;
    to.t = from.t + h;
    to.q = from.q;
    for (std::size_t i = 0; i < to.v.size(); ++i) to.v[i] = from.v[i] + 0.5 * h * from.vdot[i];
    for (const Node& node : system_->model().nodes) {
      std::array<S, 6> theta;
      const int size = node_size(node.type).v;
      for (int i = 0; i < size; ++i)
        theta[static_cast<std::size_t>(i)] = h * to.v[static_cast<std::size_t>(node.v + i)];
      move_by(node.type, Chart::Exponential, theta.data(), to.q.data() + node.q);
    }
    to.vdot = from.vdot;
    if (!accelerations_.solve(to, work, attempt.corrector)) return attempt;
    for (std::size_t i = 0; i < to.v.size(); ++i) to.v[i] += 0.5 * h * to.vdot[i];
    return attempt;
  }
  Attempt step_carefully(const StateOf<S>& from, double h, StateOf<S>& to, WorkOf<S>& work) override {
    return step(from, h, to, work);
  }
  std::string describe() const override { return text_; }

 private:
  const SystemOf<S>* system_;
  std::string text_;
  AccelerationsOf<S> accelerations_;
};

inline void register_verlet() {
  register_integrator(
      listed_integrator<Verlet>("verlet", "Velocity Verlet, of second order.", "Verlet 1967", {}));
}

}  // namespace verlet
