// Derivatives with respect to parameters through impacts, against extrapolated differences of whole runs along the same steps.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/analyses/sensitivity.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

void expect_agreement(const System& system, const std::string& integrator, double step, double end,
                      const std::vector<std::string>& parameters, const std::vector<std::string>& outputs,
                      double tolerance) {
  SensitivityOptions options;
  options.simulation.integrator = integrator;
  options.simulation.step = step;
  options.simulation.end = end;
  options.parameters = parameters;
  options.outputs = outputs;
  options.check = true;
  const Sensitivity s = sensitivity(system, options);
  ASSERT_EQ(s.parameters.size(), parameters.size());
  for (std::size_t k = 0; k < s.parameters.size(); ++k) {
    fmt::print("  {:<40} {:<28} {:.1e} (differences {:.1e})\n", integrator, s.parameters[k],
               s.disagreement[k], s.uncertainty[k]);
    EXPECT_LT(s.disagreement[k], tolerance) << integrator << " " << s.parameters[k];
  }
}

// A ball that spins meets the floor at an angle, slides and leaves.
TEST(Sensitivity, AgreesWithDifferencesThroughAnImpactWithFriction) {
  ModelBuilder b;
  b.body("ball", "rigid").set("mass", {1}).set("inertia", {0.004, 0.004, 0.004});
  b.set("position", {0, 0, 0.11}).set("velocity", {0.5, 0.1, -1}).set("angular_velocity", {0, -3, 1});
  b.force("floor", "contact_plane_sphere").set("between", "ground", "ball");
  b.set("points", {0, 0, 0, 0, 0, 0.11}).set("normal", {0, 0, 1}).set("radius", {0.1});
  b.set("stiffness", {1e5}).set("restitution", {0.7}).set("impact_speed", {1});
  b.set("friction", {0.2}).set("static_friction", {0.3}).set("smoothing", {0.05});
  b.sensor("velocity", "velocity").set("of", std::string("ball"));
  b.sensor("spin", "angular_velocity").set("of", std::string("ball"));
  const System system = make_system(b.finish());
  const std::vector<std::string> of_the_law = {"forces.floor.stiffness",       "forces.floor.exponent",
                                               "forces.floor.restitution",     "forces.floor.friction",
                                               "forces.floor.static_friction", "forces.floor.smoothing"},
                                 of_the_touch = {"forces.floor.radius", "bodies.ball.velocity[2]",
                                                 "bodies.ball.position[2]"},
                                 outputs = {"velocity", "spin"};
  for (const std::string integrator :
       {"generalized-alpha,newton_tol=1e-13", "esdirk4-6,newton_tol=1e-13", "dopri5", "rk44"}) {
    expect_agreement(system, integrator, 1e-4, 0.025, of_the_law, outputs, 1e-7);
    // These move the touch: differences cross stages at which the second derivative of d^1.5 has no bound.
    expect_agreement(system, integrator, 1e-4, 0.025, of_the_touch, outputs, 1e-3);
  }
}

// Two capsules and a stop in a joint.
TEST(Sensitivity, AgreesWithDifferencesThroughStopsAndShapes) {
  ModelBuilder b({0, 0, 0});
  b.body("door", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {0.5, 0, 0});
  b.set("velocity", {0, 1, 0}).set("angular_velocity", {0, 0, 2});
  b.body("stick", "rigid")
      .set("mass", {0.5})
      .set("inertia", {0.02, 0.03, 0.01})
      .set("position", {0.6, 0.25, 0.05});
  b.joint("hinge", "revolute").set("between", "ground", "door").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
  b.force("stop", "joint_stop")
      .set("joint", std::string("hinge"))
      .set("upper", {0.22})
      .set("stiffness", {1e4});
  b.set("exponent", {1.5}).set("damping", {0.2});
  b.force("hit", "contact_capsule_capsule").set("between", "door", "stick");
  b.set("points", {0.5, 0, 0, 0.6, 0.25, 0.05}).set("first_axis", {1, 0, 0}).set("second_axis", {0, 0.1, 1});
  b.set("first_length", {1})
      .set("second_length", {0.5})
      .set("first_radius", {0.1})
      .set("second_radius", {0.05});
  b.set("stiffness", {3e4}).set("damping", {0.3}).set("friction", {0.2}).set("smoothing", {0.1});
  b.sensor("velocity", "velocity").set("of", std::string("stick"));
  b.sensor("turn", "joint_angle").set("of", std::string("hinge"));
  const System system = make_system(b.finish());
  const std::string integrator = "generalized-alpha,newton_tol=1e-13";
  const std::vector<std::string> outputs = {"velocity", "turn"};
  expect_agreement(system, integrator, 2e-4, 0.2,
                   {"forces.stop.damping", "forces.hit.stiffness", "forces.hit.damping",
                    "forces.hit.friction", "forces.hit.second_axis[1]", "bodies.stick.mass"},
                   outputs, 1e-7);
  // The touch moves, as above.
  expect_agreement(system, integrator, 2e-4, 0.2,
                   {"forces.stop.stiffness", "forces.stop.upper", "forces.hit.first_radius"}, outputs, 1e-2);
}

}  // namespace
}  // namespace liedyn
