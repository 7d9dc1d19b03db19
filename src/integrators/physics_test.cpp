// Motions with a known answer: closed forms, elliptic functions, published values.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

const std::string kMethod = "generalized-alpha,rho=0.9";

// F(phi, k) = u solved for the amplitude phi.
double amplitude(double u, double k) {
  double phi = u;
  for (int i = 0; i < 100; ++i) {
    const double s = std::sin(phi);
    const double correction = (std::ellint_1(k, phi) - u) * std::sqrt(1 - k * k * s * s);
    phi -= correction;
    if (std::abs(correction) < 1e-15 * std::abs(phi)) break;
  }
  return phi;
}

// Euler's solution with Omega(0) = (a, 0, b): a cn, .. sn, b dn, for J_1 < J_2 < J_3 and |L|^2 > 2 E J_2.
Vec3 free_top(const Vec3& J, double a, double b, double t) {
  const double twice_energy = J[0] * a * a + J[2] * b * b;
  const double momentum2 = std::pow(J[0] * a, 2) + std::pow(J[2] * b, 2);
  const double above = twice_energy * J[2] - momentum2, below = momentum2 - twice_energy * J[0];
  const double k = std::sqrt((J[1] - J[0]) * above / ((J[2] - J[1]) * below));
  const double phi = amplitude(t * std::sqrt((J[2] - J[1]) * below / (J[0] * J[1] * J[2])), k);
  return {a * std::cos(phi), std::sqrt(above / (J[1] * (J[2] - J[1]))) * std::sin(phi),
          b * std::sqrt(1 - std::pow(k * std::sin(phi), 2))};
}

// Errors of order 2, or so small that nothing is left to measure.
void expect_second_order(const std::vector<double>& errors, const std::string& what) {
  if (*std::max_element(errors.begin(), errors.end()) < 1e-11)
    expect_at_most(errors.back(), 1e-11, what + ", exact");
  else
    expect_between(order_of(errors), 1.9, 2.15, fmt::format("{}, from {:.1e}: order", what, errors.front()));
}

TEST(FreeTop, FollowsEllipticFunctionsAndKeepsEnergyAndAngularMomentum) {
  const Vec3 J(1, 1.7, 2.5);
  const double a = 1.5, b = 1, end = 5;
  for (const char* kind : {"rigid", "rotating"})
    for (const std::string& formulation : formulations_in_the_large()) {
      ModelBuilder builder({0, 0, 0});
      builder.body("top", kind)
          .set("mass", {1})
          .set("inertia", J)
          .set("angular_velocity", {a, 0, b})
          .set("orientation", {0.3, 0.2, 0.1});
      builder.sensor("omega", "angular_velocity").set("of", std::string("top"));
      builder.sensor("orientation", "orientation").set("of", std::string("top"));
      builder.sensor("energy", "energy");
      const System system = make_system(builder.finish(), formulation);
      const auto momentum = [&](const std::vector<double>& s) {
        const SO3<double> rotation = SO3<double>::from_quaternion(s[3], {s[4], s[5], s[6]});
        return Vec3(rotation.R() * J.cwiseProduct(as_vector(s).head<3>()));
      };
      std::vector<double> omega_errors, energy_errors, momentum_errors;
      for (double h = 0.02; h > 0.004; h /= 2) {
        double energy_error = 0, momentum_error = 0, first_energy = 0;
        Vec3 first_momentum;
        bool first = true;
        const WholeRun run(system, kMethod, end, h, [&](const State& now, Work& work) {
          const std::vector<double> s = sensed(system, now, work);
          if (first) first_energy = s[7], first_momentum = momentum(s);
          first = false;
          energy_error = std::max(energy_error, std::abs(s[7] - first_energy));
          momentum_error = std::max(momentum_error, (momentum(s) - first_momentum).norm());
        });
        omega_errors.push_back((as_vector(run.sensors).head<3>() - free_top(J, a, b, end)).norm());
        energy_errors.push_back(energy_error);
        momentum_errors.push_back(momentum_error);
      }
      const std::string name = fmt::format("{} {}: ", kind, formulation);
      expect_second_order(omega_errors, name + "Omega - Jacobi's");
      expect_second_order(energy_errors, name + "energy");
      expect_second_order(momentum_errors, name + "angular momentum");
    }
}

TEST(PhysicalPendulum, PassesTheLowestPointAfterAQuarterPeriod) {
  const double m = 2, d = 0.6, J = 0.5, g = 9.81, start = 2;
  const double period =
      4 * std::sqrt((J + m * d * d) / (m * g * d)) * std::comp_ellint_1(std::sin(start / 2));
  for (const char* kind : {"rigid", "rotating"})
    for (const std::string& formulation : formulations()) {
      ModelBuilder builder({0, 0, -g});
      const Vec3 center(d * std::sin(start), 0, -d * std::cos(start));
      builder.body("bob", kind).set("mass", {m}).set("inertia", {J, J, J}).set("orientation", {0, -start, 0});
      if (std::string_view(kind) == "rigid") {
        builder.set("position", center);
        builder.joint("pivot", "spherical").set("between", "ground", "bob").set("at", {0, 0, 0});
      } else {
        builder.set("reference", {0, 0, d});
      }
      builder.sensor("center", "position").set("of", std::string("bob")).set("at", center);
      const System system = make_system(builder.finish(), formulation);
      std::vector<double> errors;
      for (const double h : {period / 400, period / 800, period / 1600})
        errors.push_back(
            (as_vector(WholeRun(system, kMethod, period / 4, h).sensors) - Vec3(0, 0, -d)).norm());
      expect_second_order(errors, fmt::format("{} {}: place at T/4", kind, formulation));
    }
}

TEST(Oscillator, FollowsTheClosedFormWithDamping) {
  const double m = 2, k = 50, c = 3, length = 1, stretch = 0.3, end = 2;
  ModelBuilder builder({0, 0, 0});
  builder.body("mass", "point").set("mass", {m}).set("position", {length + stretch, 0, 0});
  builder.force("spring", "spring_damper")
      .set("between", "ground", "mass")
      .set("points", {0, 0, 0, length + stretch, 0, 0});
  builder.set("stiffness", {k}).set("damping", {c}).set("free_length", {length});
  const System system = make_system(builder.finish());
  const double decay = c / (2 * m), frequency = std::sqrt(k / m - decay * decay);
  const double x = length + stretch * std::exp(-decay * end) *
                                (std::cos(frequency * end) + decay / frequency * std::sin(frequency * end));
  const double v = -stretch * std::exp(-decay * end) * k / (m * frequency) * std::sin(frequency * end);
  std::vector<double> place, velocity;
  for (const double h : {0.01, 0.005, 0.0025}) {
    const WholeRun run(system, kMethod, end, h);
    place.push_back(std::abs(run.state.q[0] - x));
    velocity.push_back(std::abs(run.state.v[0] - v));
  }
  expect_second_order(place, "place");
  expect_second_order(velocity, "velocity");
}

// Forces and torques that are functions of time: a method that is late or early by a part of the step shows order 1.
TEST(AppliedLoads, OfTimeGiveTheClosedForm) {
  const double m = 2, J = 0.5, w = 3, end = 2;
  for (const std::string& formulation : formulations()) {
    ModelBuilder builder({0, 0, 0});
    builder.body("body", "rigid").set("mass", {m}).set("inertia", {0.4, 0.4, J}).set("velocity", {0, 0, 1});
    builder.force("push", "force")
        .set("on", std::string("body"))
        .set("force", {0, 0, 0})
        .expression("force", 0, "5*cos(3*t)");
    builder.force("twist", "torque")
        .set("on", std::string("body"))
        .set("torque", {0, 0, 0})
        .expression("torque", 2, "2*sin(3*t)");
    builder.set("axes", std::string("body"));
    builder.sensor("place", "position").set("of", std::string("body"));
    builder.sensor("velocity", "velocity").set("of", std::string("body"));
    builder.sensor("angle", "rotation_vector").set("of", std::string("body"));
    builder.sensor("omega", "angular_velocity").set("of", std::string("body"));
    const System system = make_system(builder.finish(), formulation);
    Eigen::VectorXd exact(12);
    exact << 5 / (m * w * w) * (1 - std::cos(w * end)), 0, end, 5 / (m * w) * std::sin(w * end), 0, 1,  //
        0, 0, 2 / (J * w) * (end - std::sin(w * end) / w), 0, 0, 2 / (J * w) * (1 - std::cos(w * end));
    exact[8] = std::remainder(exact[8], 2 * std::numbers::pi);
    std::vector<std::vector<double>> errors(4);
    for (const double h : {0.02, 0.01, 0.005}) {
      const Eigen::VectorXd error = as_vector(WholeRun(system, kMethod, end, h).sensors) - exact;
      for (int part = 0; part < 4; ++part)
        errors[static_cast<std::size_t>(part)].push_back(error.segment<3>(3 * part).norm());
    }
    const char* const parts[] = {"place", "velocity", "angle", "angular velocity"};
    for (std::size_t part = 0; part < 4; ++part)
      expect_second_order(errors[part], fmt::format("{}: {}", formulation, parts[part]));
  }
}

// A second-order method is exact on polynomials of second degree.
TEST(Projectile, FliesOnItsParabolaAndSpinsEvenly) {
  const Vec3 gravity(0.5, 0, -9.81), place(1, 2, 3), velocity(4, -2, 10), omega(0, 0, 7);
  const double end = 3;
  ModelBuilder builder({gravity.x(), gravity.y(), gravity.z()});
  builder.body("ball", "rigid")
      .set("mass", {2})
      .set("inertia", {1, 1.5, 2})
      .set("position", place)
      .set("velocity", velocity);
  builder.set("angular_velocity", omega);
  builder.sensor("place", "position").set("of", std::string("ball"));
  builder.sensor("velocity", "velocity").set("of", std::string("ball"));
  builder.sensor("angle", "rotation_vector").set("of", std::string("ball"));
  const auto description = builder.finish();
  for (const std::string formulation : {"r3so3", "r3so3-spatial"}) {
    const WholeRun run(make_system(description, formulation), kMethod, end, 0.01);
    Eigen::VectorXd exact(9);
    // The rotation vector counts the turns.
    exact << place + end * velocity + 0.5 * end * end * gravity, velocity + end * gravity, 0, 0, 7 * end;
    expect_at_most((as_vector(run.sensors) - exact).cwiseAbs().maxCoeff(), 1e-11,
                   formulation + ": place, velocity, angle");
  }
}

// In free flight inertia and weight cancel, and at a tiny step the accelerations are known to eps |theta| / h^2 only: neither may
// keep Newton's method from stopping.
TEST(Projectile, FallsWithTinySteps) {
  ModelBuilder builder({0, 0, -9.81});
  builder.body("stone", "point").set("mass", {1e3}).set("position", {0, 0, 10}).set("velocity", {3, 0, 0});
  builder.sensor("place", "position").set("of", std::string("stone"));
  const double end = 0.1;
  const WholeRun run(make_system(builder.finish(), "r3so3"), kMethod, end, 1e-6);
  expect_at_most(
      (as_vector(run.sensors) - Vec3(3 * end, 0, 10 - 0.5 * 9.81 * end * end)).cwiseAbs().maxCoeff(), 1e-10,
      "place after 1e5 steps");
}

// Energy changes by the power of the applied loads and of the damper, and by nothing else: not by gravity, not by joints.
TEST(Energy, ChangesByThePowerOfAppliedLoads) {
  for (const std::string& formulation : formulations()) {
    ModelBuilder builder;
    builder.body("arm", "rigid")
        .set("mass", {2})
        .set("inertia", {0.4, 0.6, 0.7})
        .set("position", {0.5, 0, 0});
    builder.body("bob", "point").set("mass", {1}).set("position", {1.5, 0, 0});
    builder.joint("shoulder", "spherical").set("between", "ground", "arm").set("at", {0, 0, 0});
    builder.joint("string", "distance").set("between", "arm", "bob").set("points", {1, 0, 0, 1.5, 0, 0});
    builder.force("push", "force")
        .set("on", std::string("arm"))
        .set("at", {1, 0, 0})
        .set("force", {0, 0, 0})
        .expression("force", 1, "5*cos(3*t)");
    builder.force("twist", "torque").set("on", std::string("arm")).set("torque", {0.5, 0, 0});
    builder.force("damper", "spring_damper")
        .set("between", "ground", "bob")
        .set("points", {1, 1, 1, 1.5, 0, 0})
        .set("damping", {0.8})
        .set("stiffness", {20});
    builder.sensor("energy", "energy");
    builder.sensor("end_velocity", "velocity").set("of", std::string("arm")).set("at", {1, 0, 0});
    builder.sensor("omega", "angular_velocity")
        .set("of", std::string("arm"))
        .set("axes", std::string("inertial"));
    builder.sensor("bob_place", "position").set("of", std::string("bob"));
    builder.sensor("bob_velocity", "velocity").set("of", std::string("bob"));
    const System system = make_system(builder.finish(), formulation);
    std::vector<double> defects;
    double change = 0;
    for (const double h : {4e-3, 2e-3, 1e-3}) {
      double work_done = 0, last_power = 0, last_time = 0, first_energy = 0, energy = 0;
      bool first = true;
      WholeRun(system, kMethod, 1, h, [&](const State& now, Work& work) {
        const std::vector<double> sensors = sensed(system, now, work);
        const auto s = as_vector(sensors);
        const Vec3 along = (s.segment<3>(7) - Vec3(1, 1, 1)).normalized();
        const double power =
            5 * std::cos(3 * now.t) * s[2] + 0.5 * s[4] - 0.8 * std::pow(along.dot(s.segment<3>(10)), 2);
        energy = s[0];
        if (first) first_energy = energy;
        if (!first) work_done += 0.5 * (power + last_power) * (now.t - last_time);
        first = false;
        last_power = power;
        last_time = now.t;
      });
      change = energy - first_energy;
      defects.push_back(std::abs(change - work_done));
    }
    EXPECT_GT(std::abs(change), 0.3);
    expect_at_most(defects.back(), 1e-3, formulation + ": change of energy - work done");
    expect_second_order(defects, formulation + ": change of energy - work done");
  }
}

// Example 3.2 of Arnold, Cardona, Brüls: the start excites an oscillation of lambda of first order in h.
TEST(MathematicalPendulum, HasTheMultiplierErrorsOfTheReport) {
  const double g = 9.81;
  const auto largest_error = [&](double x0, double h) {
    const double y0 = -std::sqrt(1 - x0 * x0), speed = std::sqrt(1 - 2 * g * (1 + y0));
    ModelBuilder builder({0, -g, 0});
    builder.body("mass", "point")
        .set("mass", {1})
        .set("position", {x0, y0, 0})
        .set("velocity", {-speed * y0, speed * x0, 0});
    builder.joint("rod", "distance").set("between", "ground", "mass").set("points", {0, 0, 0, x0, y0, 0});
    const System system = make_system(builder.finish());
    // phi'' = -g sin(phi), phi from the lowest point, by the classical Runge-Kutta method in small steps.
    double phi = std::asin(x0), rate = speed, time = 0, worst = 0;
    WholeRun(system, kMethod, 2, h, [&](const State& now, Work&) {
      const int substeps = now.t > 0 ? 20 : 0;
      const double dt = substeps > 0 ? (now.t - time) / substeps : 0;
      for (int i = 0; i < substeps; ++i) {
        const double a1 = -g * std::sin(phi), v2 = rate + dt / 2 * a1,
                     a2 = -g * std::sin(phi + dt / 2 * rate);
        const double v3 = rate + dt / 2 * a2, a3 = -g * std::sin(phi + dt / 2 * v2), v4 = rate + dt * a3,
                     a4 = -g * std::sin(phi + dt * v3);
        phi += dt / 6 * (rate + 2 * v2 + 2 * v3 + v4);
        rate += dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
      }
      time = now.t;
      // The rod pulls with v^2 + g cos(phi); lambda pulls with its sign.
      worst = std::max(worst, std::abs(now.lambda[0] - (rate * rate + g * std::cos(phi))));
    });
    return worst;
  };
  expect_between(largest_error(0.2, 0.02), 0.2475, 0.2485,
                 "x0 = 0.2, h = 0.02: largest error of lambda (0.248)");
  expect_between(largest_error(0.2, 0.01), 0.1225, 0.1235, "x0 = 0.2, h = 0.01 (0.123)");
  expect_at_most(largest_error(0, 0.01), 0.01, "x0 = 0, h = 0.01: no oscillation");
}

TEST(Chain, MeetsTheReferenceValues) {
  // Centre of mass of the last link at t = 0.2, from an index-reduced integration at tolerance 1e-12.
  struct Known {
    int links;
    double x, tolerance;
  };
  for (const auto& [links, x, tolerance] :
       {Known{10, 9.477529961985, 1e-8}, Known{100, 99.487898029273, 1e-7},
        Known{1000, 999.494161176, 1e-6}}) {
    ModelBuilder builder;
    add_chain(builder, links);
    builder.sensor("last", "position").set("of", fmt::format("link{}", links - 1));
    const System system = make_system(builder.finish());
    const double h = links == 1000 ? 4e-3 : 2e-3;
    const Eigen::VectorXd last = extrapolated(WholeRun(system, kMethod, 0.2, h).sensors,
                                              WholeRun(system, kMethod, 0.2, h / 2).sensors);
    expect_at_most(std::abs(last[0] - x), tolerance, fmt::format("{} links: x of the last", links));
    expect_at_most(std::abs(last[1]), 1e-14, fmt::format("{} links: y", links));
    if (links == 10) expect_at_most(std::abs(last[2] + 0.196199924453), tolerance, "10 links: z");
  }
}

}  // namespace
}  // namespace liedyn
