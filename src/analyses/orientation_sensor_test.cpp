// Quaternions of sensors are continuous in time: at steps, at interpolated outputs and in integrals.
#include <gtest/gtest.h>

#include "liedyn/analyses/outputs.h"
#include "liedyn/analyses/sensitivity.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

constexpr double kSpin = 10;

// Spins about z: q = (cos 5t, 0, 0, sin 5t), through all signs.
System spinning(const std::string& formulation) {
  ModelBuilder builder({0, 0, 0});
  builder.body("b", "rigid")
      .set("mass", {1})
      .set("inertia", {1, 1, 1})
      .set("angular_velocity", {0, 0, kSpin});
  builder.sensor("q", "orientation").set("of", std::string("b"));
  return make_system(builder.finish(), formulation);
}

TEST(OrientationSensor, IsContinuousInTime) {
  for (const std::string formulation : {"r3so3", "se3", "euler-parameters", "minimal"})
    for (const std::string integrator : {"generalized-alpha", "dopri5", "dopri5,adaptive=true,rtol=1e-9"}) {
      SimulateOptions options;
      options.integrator = integrator;
      options.step = 5e-3;
      options.end = 2;
      options.output_every = 3;
      const Result r = simulate(spinning(formulation), options);
      double off = 0;
      for (std::size_t row = 0; row < r.trajectory.rows(); ++row) {
        const double half = 0.5 * kSpin * r.trajectory.at(row, 0);
        const Eigen::Vector4d exact(std::cos(half), 0, 0, std::sin(half));
        for (int k = 0; k < 4; ++k) off = std::max(off, std::abs(r.trajectory.at(row, 1 + k) - exact[k]));
      }
      expect_at_most(off, 1e-3, formulation + ", " + integrator + ": q - (cos 5t, 0, 0, sin 5t)");
    }
}

TEST(OrientationSensor, HasAnIntegral) {
  SensitivityOptions options;
  options.simulation.integrator = "dopri5";
  options.simulation.step = 1e-3;
  options.simulation.end = 1;
  options.parameters = {"bodies.b.angular_velocity[2]"};
  options.outputs = {"q[0]@integral"};
  const Sensitivity s = sensitivity(spinning("r3so3"), options);
  // The integral of cos(w t/2) is 2/w sin(w/2) up to 1, and its derivative by w.
  const double half = 0.5 * kSpin;
  expect_at_most(std::abs(s.values[0] - std::sin(half) / half), 1e-9, "integral of w - sin(5)/5");
  expect_at_most(
      std::abs(s.derivative(0, 0) - 0.5 * (std::cos(half) / half - std::sin(half) / (half * half))), 1e-7,
      "its derivative with respect to the spin");
}

}  // namespace
}  // namespace liedyn
