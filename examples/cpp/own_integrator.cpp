// A registered integrator. For a mass on a spring the points of the Verlet method lie on a cosine:
//   x_n = x_0 cos(n theta),  sin(theta/2) = omega h/2.
#include <exception>

#include "check.h"
#include "verlet.h"

using namespace liedyn;

int main() try {
  verlet::register_verlet();
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
