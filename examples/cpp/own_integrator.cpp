// An integrator of one's own: velocity Verlet (leapfrog) on the group,
//   v_1/2 = v_0 + h/2 vdot_0,   q_1 = q_0 exp(h v_1/2),   v_1 = v_1/2 + h/2 vdot_1,
// for bodies without constraints and forces that do not depend on velocities. For a mass on a spring its points lie on a cosine:
//   x_n = x_0 cos(n theta),  sin(theta/2) = omega h/2.
#include <liedyn/liedyn.h>
#include <liedyn/model/nodes/increments.h>

#include <exception>

#include "check.h"

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

int main() try {
  register_integrator(
      listed_integrator<Verlet>("verlet", "Velocity Verlet, of second order.", "Verlet 1967", {}));
  const double k = 90, m = 2, x0 = 0.1, h = 0.01;
  ModelBuilder b({0, 0, 0});
  b.body("mass", "rigid").set("mass", m).set("inertia", {1, 1, 1}).set("position", {x0, 0, 0});
  b.force("spring", "spring_damper")
      .set("between", {"ground", "mass"})
      .set("points", {-2, 0, 0, x0, 0, 0})
      .set("stiffness", k)
      .set("free_length", 2);
  b.sensor("x", "position").set("of", "mass");
  const System system = make_system(b);

  SimulateOptions options = default_options(system);
  options.integrator = "verlet";
  options.step = h;
  options.end = 1;
  const double theta = 2 * std::asin(std::sqrt(k / m) * h / 2);
  const double n = options.end / h;
  const Sensitivity s = sensitivity(
      system, {.simulation = options, .parameters = {"forces.spring.stiffness"}, .outputs = {"x[0]"}});
  const bool place = agrees("x after 100 steps [m]", s.values[0], x0 * std::cos(n * theta));
  // dx_n/dk = -n x_0 sin(n theta) dtheta/dk with cos(theta/2) dtheta = h domega = h/(2 sqrt(k m)) dk.
  const bool slope = agrees("dx/dk [m^2/N]", s.derivative("x[0]", "forces.spring.stiffness"),
                            -n * x0 * std::sin(n * theta) * h / (2 * std::sqrt(k * m) * std::cos(theta / 2)));
  return place && slope ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
