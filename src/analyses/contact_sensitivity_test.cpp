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
  // Differences need solutions far below their tolerance: kept matrices, which converge linearly, end just below it.
  const std::string integrator = "generalized-alpha,newton_tol=1e-13,newton=full";
  const std::vector<std::string> outputs = {"velocity", "turn"};
  expect_agreement(system, integrator, 2e-4, 0.2,
                   {"forces.stop.damping", "forces.hit.stiffness", "forces.hit.damping",
                    "forces.hit.friction", "forces.hit.second_axis[1]", "bodies.stick.mass"},
                   outputs, 1e-7);
  // The touch moves, as above.
  expect_agreement(system, integrator, 2e-4, 0.2,
                   {"forces.stop.stiffness", "forces.stop.upper", "forces.hit.first_radius"}, outputs, 1e-2);
}

// A ball that falls from the height H with the speed v, without gravity, is at e v (t - H/v - T_c) afterwards: the derivative with respect to H is
// -e. The steps have errors of the order h^(n+1) that depend on where in a step the touch falls, which moves with H: their derivative is
// -e + O(h^n).
struct Drop {
  static constexpr double v = 1, e = 0.7, end = 0.08;
  double exponent = 1.5;
  System system(double height) const {
    ModelBuilder b({0, 0, 0});
    b.body("ball", "rigid").set("mass", {1}).set("inertia", {0.004, 0.004, 0.004});
    b.set("position", {0, 0, 0.1 + height}).set("velocity", {0, 0, -v});
    b.force("floor", "contact_plane_sphere").set("between", "ground", "ball");
    b.in_bodies("points", {{"ground", {0, 0, 0}}, {"ball", {0, 0, 0}}}).set("normal", {0, 0, 1});
    b.set("radius", {0.1}).set("exponent", {exponent}).set("restitution", {e}).set("impact_speed", {v});
    b.set("stiffness", {(exponent + 1) / 2 / std::pow(0.01, exponent + 1)});  // 10 mm deep without losses
    b.sensor("z", "position").set("of", std::string("ball"));
    return make_system(b.finish());
  }
  SimulateOptions options(const std::string& integrator, double step) const {
    SimulateOptions out;
    out.integrator = integrator;
    out.step = step;
    out.end = end;
    return out;
  }
  double derivative(double height, const std::string& integrator, double step) const {
    SensitivityOptions options;
    options.simulation = this->options(integrator, step);
    options.parameters = {"bodies.ball.position[2]"};
    options.outputs = {"z"};
    return sensitivity(system(height), options).derivatives[2];
  }
  double difference(double height, const std::string& integrator, double step, double by) const {
    const auto z = [&](double at) {
      SensitivityOptions options;
      options.simulation = this->options(integrator, step);
      options.parameters = {"bodies.ball.mass"};
      options.outputs = {"z"};
      return sensitivity(system(at), options).values[2];
    };
    return (z(height + by) - z(height - by)) / (2 * by);
  }
};

// Where a touch moves, small differences converge to the derivative, which is that of the steps taken; large ones, over which the touch moves through
// many steps, to the closed form.
TEST(Sensitivity, IsThatOfTheStepsWhereATouchMoves) {
  const Drop drop;
  constexpr double H = 0.01237, h = 2e-4;
  for (const std::string integrator :
       {"generalized-alpha,newton_tol=1e-13", "esdirk4-6,newton_tol=1e-13", "dopri5", "rk44"}) {
    const double exact = drop.derivative(H, integrator, h);
    std::string errors;
    double best = 1e300;
    for (const double by : {1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8}) {
      const double error = std::abs(drop.difference(H, integrator, h, by) - exact);
      best = std::min(best, error);
      errors += fmt::format(" {:.1e}", error);
    }
    fmt::print("  {:<36} differences by 1e-3 ... 1e-8 m - derivative:{}; derivative + e: {:.1e}\n",
               integrator, errors, exact + Drop::e);
    expect_at_most(best, 1e-6, integrator + ": best difference - derivative");
    expect_at_most(std::abs(exact + Drop::e), 0.02, integrator + ": derivative - closed form");
  }
}

// Where a stage falls on the touch itself, here after 61.5 steps of a method with a stage in the middle, differences err by the root of their step.
TEST(Sensitivity, DifferencesErrByTheRootOfTheirStepWhereAStageFallsOnATouch) {
  const Drop drop;
  constexpr double h = 2e-4, H = 61.5 * h * Drop::v;
  const double exact = drop.derivative(H, "rk44", h);
  std::vector<double> errors;
  for (const double by : {1e-5, 1e-6, 1e-7})
    errors.push_back(std::abs(drop.difference(H, "rk44", h, by) - exact));
  fmt::print("  errors {:.2e} {:.2e} {:.2e}\n", errors[0], errors[1], errors[2]);
  EXPECT_NEAR(errors[0] / errors[1], std::sqrt(10), 0.2);
  EXPECT_NEAR(errors[1] / errors[2], std::sqrt(10), 0.2);
}

TEST(Sensitivity, ConvergesToTheClosedFormWhereATouchMoves) {
  for (const double exponent : {1.5, 3.0}) {
    Drop drop;
    drop.exponent = exponent;
    std::vector<double> errors;
    for (const double h : {8e-4, 4e-4, 2e-4}) {
      double sum = 0;
      constexpr int kHeights = 12;  // the touch falls anywhere in a step
      for (int i = 0; i < kHeights; ++i)
        sum += std::pow(drop.derivative(0.01 + 0.00037 * i, "dopri5", h) + Drop::e, 2);
      errors.push_back(std::sqrt(sum / kHeights));
    }
    const double order = std::log2(errors.front() / errors.back()) / 2;
    fmt::print("  n = {}: errors {:.1e} {:.1e} {:.1e}, order {:.2f}\n", exponent, errors[0], errors[1],
               errors[2], order);
    EXPECT_GT(order, exponent - 0.35) << exponent;
  }
}

}  // namespace
}  // namespace liedyn
