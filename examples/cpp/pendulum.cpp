// A model in code, a run, and what its sensors show. A uniform rod is released from the horizontal. Its quarter period is K(k)/omega with
// omega^2 = 3 g/(2 l) and k = sin(90 deg/2); at the lowest point its rate is sqrt(3 g/l).
#include <liedyn/liedyn.h>

#include <exception>
#include <numbers>

#include "check.h"

int main() try {
  const double g = 9.81, l = 0.8, m = 2;
  liedyn::ModelBuilder b({0, 0, -g}, "pendulum");
  b.parameter("l", l).parameter("m", m);
  b.body("rod", "rigid")
      .set("mass", "m")
      .set("inertia", {1e-4, "m*l^2/12", "m*l^2/12"})
      .set("position", {"l/2", 0, 0});
  b.joint("pivot", "revolute").set("between", {"ground", "rod"}).set("at", {0, 0, 0}).set("axis", {0, 1, 0});
  b.sensor("angle", "joint_angle").set("of", "pivot");
  b.sensor("rate", "joint_angle_rate").set("of", "pivot");
  const liedyn::System rod = liedyn::make_system(b, {}, "minimal");

  liedyn::SimulateOptions options = liedyn::default_options(rod);
  options.integrator = "dopri5";
  options.step = 1e-3;
  options.end = std::comp_ellint_1(std::sqrt(0.5)) / std::sqrt(1.5 * g / l);
  const liedyn::Result result = liedyn::simulate(rod, options);
  if (!result.summary.completed) {
    std::fprintf(stderr, "%s\n", result.summary.failure.c_str());
    return 1;
  }
  const bool angle =
      agrees("angle after a quarter period [rad]", result.trajectory.last("angle")[0], std::numbers::pi / 2);
  const bool rate = agrees("rate there [rad/s]", result.trajectory.last("rate")[0], std::sqrt(3 * g / l));
  return angle && rate ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
