// A registered force in a model file, with exact derivatives. A sphere falls from rest against the drag c |v| v:
//   z = -(m/c) ln cosh a,  a = t sqrt(g c/m),   dz/dc = (m/c^2) ln cosh a - (m t/(2 c)) sqrt(g/(m c)) tanh a.
#include <exception>

#include "check.h"
#include "drag.h"

int main() try {
  register_drag();
  const double m = 0.5, c = 0.02, g = 9.81, t = 3;
  const liedyn::System sphere = liedyn::load_text(R"({
    "liedyn": 1,
    "gravity": [0, 0, -9.81],
    "bodies":  { "sphere": { "type": "point", "mass": 0.5, "position": [0, 0, 0] } },
    "forces":  { "air": { "type": "drag", "on": "sphere", "coefficient": 0.02 } },
    "sensors": { "place": { "type": "position", "of": "sphere" } },
    "simulation": { "end": 3, "step": 1e-3, "integrator": "dopri5" }
  })");
  const liedyn::Sensitivity s = liedyn::sensitivity(sphere, {.simulation = liedyn::default_options(sphere),
                                                             .parameters = {"forces.air.coefficient"},
                                                             .outputs = {"place[2]"}});

  const double a = t * std::sqrt(g * c / m), fall = std::log(std::cosh(a));
  const bool place = agrees("place [m]", s.values[0], -m / c * fall);
  const bool slope =
      agrees("d place/d coefficient [m^2/kg]", s.derivative("place[2]", "forces.air.coefficient"),
             m / (c * c) * fall - m * t / (2 * c) * std::sqrt(g / (m * c)) * std::tanh(a));
  return place && slope ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
