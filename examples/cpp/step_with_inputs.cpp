// Steps in a loop of one's own, with an input that jumps, and exact derivatives of a run. A mass on a spring, x'' = (u - k x)/m: while u is
// constant (x - u/k, x'/omega) turns by omega t.
#include <liedyn/liedyn.h>

#include <exception>

#include "check.h"

int main() try {
  const double k = 90, m = 2, x0 = 0.1;
  const liedyn::System system = liedyn::load_text(R"({
    "liedyn": 1,
    "parameters": { "k": 90, "u": 0 },
    "bodies":  { "mass": { "type": "point", "mass": 2, "position": [0.1, 0, 0] } },
    "forces":  { "spring": { "type": "spring_damper", "between": ["ground", "mass"], "points": [[-2, 0, 0], [0.1, 0, 0]],
                             "stiffness": "k", "free_length": 2 },
                 "push":   { "type": "force", "on": "mass", "force": ["u", 0, 0] } },
    "sensors": { "x": { "type": "position", "of": "mass" } },
    "simulation": { "end": 1, "step": 1e-3, "integrator": "dopri5" }
  })");

  const double omega = std::sqrt(k / m);
  bool good = true;
  liedyn::Simulation simulation(system);
  double x = x0, w = 0;  // the closed form: position, velocity over omega
  for (int i = 0; i < 10; ++i) {
    const double u = i % 2 == 0 ? 3 : -1;
    simulation.set_input("u", u);
    simulation.advance(0.05);
    const double c = std::cos(omega * 0.05), s = std::sin(omega * 0.05), e = x - u / k;
    x = u / k + c * e + s * w;
    w = c * w - s * e;
  }
  good = agrees("place after ten jumps of the force [m]", simulation.sensor("x")[0], x) && good;

  // x(t) = x0 cos(omega t), so that dx/dk = -x0 t sin(omega t)/(2 sqrt(k m)).
  const double t = 1;
  const liedyn::Sensitivity s = liedyn::sensitivity(
      system, {.simulation = liedyn::default_options(system), .parameters = {"k"}, .outputs = {"x[0]"}});
  good = agrees("x(1) [m]", s.values[0], x0 * std::cos(omega * t)) && good;
  good = agrees("dx(1)/dk [m^2/N]", s.derivative("x[0]", "k"),
                -x0 * t * std::sin(omega * t) / (2 * std::sqrt(k * m))) &&
         good;
  return good ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
