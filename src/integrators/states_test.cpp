// First-order states: their order with every listed integrator, a DC motor against its closed form, a PID controller against an
// independent integration.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <Eigen/QR>

#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

using Vector = Eigen::VectorXd;

// y' = slope(t, y) from 0 to `end` by the classical Runge-Kutta method, in steps so small that only round-off is left.
template <class Slope>
Vector runge_kutta(const Slope& slope, Vector y, double end, int steps) {
  const double h = end / steps;
  for (int n = 0; n < steps; ++n) {
    const double t = n * h;
    const Vector k1 = slope(t, y), k2 = slope(t + h / 2, Vector(y + h / 2 * k1)),
                 k3 = slope(t + h / 2, Vector(y + h / 2 * k2)), k4 = slope(t + h, Vector(y + h * k3));
    y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return y;
}

// A mass on a spring, and states that follow it: a lag, a linear one, one that is not linear and depends on the time and the others.
std::shared_ptr<const Description> followers() {
  ModelBuilder builder({0, 0, 0});
  builder.body("bob", "point").set("mass", {2}).set("position", {1, 0, 0});
  builder.force("spring", "spring_damper")
      .set("between", "ground", "bob")
      .set("points", {-1, 0, 0, 1, 0, 0})
      .set("stiffness", {18})
      .set("free_length", {1.5});
  builder.sensor("place", "position").set("of", std::string("bob"));
  builder.sensor("speed", "velocity").set("of", std::string("bob"));
  builder.state("lag", "filter").set("input", std::string("place[0]")).set("time_constant", {0.4});
  builder.state("mix", "expression")
      .set("initial", {-0.5})
      .set("rate", std::string("speed[0] - 2*mix + sin(3*t)"));
  builder.state("sum", "integral").set("input", std::string("mix*place[0]"));
  builder.state("curved", "expression")
      .set("initial", {1})
      .set("rate", std::string("lag*cos(t) - curved^2*exp(sum)"));
  for (const char* name : {"lag", "mix", "sum", "curved"})
    builder.sensor(std::string(name) + "_value", "state").set("of", std::string(name));
  return builder.finish();
}

const Vector& exact_followers() {
  static const Vector end = runge_kutta(
      [](double t, const Vector& y) {
        Vector out(6);  // place, speed, lag, mix, sum, curved
        out << y[1], -9 * (y[0] - 0.5), (y[0] - y[2]) / 0.4, y[1] - 2 * y[3] + std::sin(3 * t), y[3] * y[0],
            y[2] * std::cos(t) - y[5] * y[5] * std::exp(y[4]);
        return out;
      },
      (Vector(6) << 1, 0, 0, -0.5, 0, 1).finished(), 1, 4000);
  return end;
}

bool is_implicit(const ListedIntegrator& listed) {
  return std::any_of(listed.options.begin(), listed.options.end(),
                     [](const IntegratorOption& o) { return o.name == "newton_tol"; });
}

TEST(States, HaveTheOrderOfEveryListedIntegrator) {
  const System system = make_system(followers());
  for (const ListedIntegrator& listed : integrators()) {
    const std::vector<double> defects = linear_properties(listed.name).order_defects;
    int order = 0;
    while (order < static_cast<int>(defects.size()) &&
           std::abs(defects[static_cast<std::size_t>(order)]) < 1e-9)
      ++order;
    ASSERT_GE(order, 1) << listed.name;
    std::vector<double> errors;
    for (double h = order > 3 ? 0.05 : 0.01; errors.size() < 3; h /= 2) {
      const WholeRun run(system, listed.name + (is_implicit(listed) ? ",newton_tol=1e-13" : ""), 1, h);
      errors.push_back((as_vector(run.sensors).tail<4>() - exact_followers().tail<4>()).norm());
    }
    fmt::print("  {:<18} order {}: errors {:.2e}\n", listed.name, order, fmt::join(errors, " "));
    // Where only round-off is left, there is no order to see.
    if (errors.back() > 1e-12) {
      EXPECT_GT(std::log2(errors[1] / errors[2]), order - 0.25) << listed.name;
    }
    EXPECT_LT(errors.back(), order > 3 ? 1e-6 : 1e-3) << listed.name;
  }
}

TEST(States, AdaptiveStepsKeepTheirTolerance) {
  const System system = make_system(followers());
  for (const std::string method : {"esdirk4-6", "dopri5", "generalized-alpha"}) {
    const WholeRun run(system, method + ",adaptive=true,rtol=1e-6", 1, 1e-2);
    Vector end(6);
    end << run.sensors[0], run.sensors[3], run.sensors[6], run.sensors[7], run.sensors[8], run.sensors[9];
    // The errors of some hundred steps add up.
    expect_at_most((end - exact_followers()).cwiseAbs().maxCoeff(), 3e-4, method + ": error at the end");
  }
}

// The states do not depend on how the bodies are written down.
TEST(States, AreTheSameInEveryIndexFormAndWithEveryForm) {
  const System system = make_system(followers());
  for (const std::string method :
       {"index=3", "index=2", "index=stabilized", "form=linear", "form=residual", "sigma=1",
        "variant=paper,sigma=1", "newton=modified", "jacobian=simplified"}) {
    const WholeRun run(system, "generalized-alpha,rho=0.8,newton_tol=1e-12," + method, 1, 1e-3);
    expect_at_most((as_vector(run.sensors).tail<4>() - exact_followers().tail<4>()).norm(), 1e-5, method);
  }
}

// A wheel on a motor: L i' = u - R i - k w, J w' = k i - d w. With y = (i, w), y' = A (y - y_end): y_end + exp(A t) (y_0 - y_end).
TEST(States, DcMotorMeetsItsClosedForm) {
  constexpr double L = 0.05, R = 0.4, k = 0.3, u = 6, J = 0.02, d = 0.01, end = 0.3;
  Eigen::Matrix2d A;
  A << -R / L, -k / L, k / J, -d / J;
  const Eigen::Vector2d steady = A.colPivHouseholderQr().solve(Eigen::Vector2d(-u / L, 0));
  const Eigen::EigenSolver<Eigen::Matrix2d> modes(A);
  const Eigen::Vector2cd amplitudes = modes.eigenvectors().inverse() * (-steady).cast<std::complex<double>>();
  const Eigen::Vector2d expected =
      steady +
      (modes.eigenvectors() * (modes.eigenvalues() * end).array().exp().matrix().asDiagonal() * amplitudes)
          .real();
  for (const std::string body : {"planar", "rigid"})
    for (const std::string formulation : {"r3so3", "se3", "euler-parameters"}) {
      ModelBuilder builder({0, 0, 0});
      const std::string joint = body == "planar" ? "planar_revolute" : "revolute";
      builder.body("wheel", body).set("mass", {1});
      if (body == "planar")
        builder.set("inertia", {J});
      else
        builder.set("inertia", {J, J, J});
      builder.joint("axle", joint).set("between", "ground", "wheel");
      if (body == "planar")
        builder.set("at", {0, 0});
      else
        builder.set("at", {0, 0, 0}).set("axis", {0, 0, 1});
      builder.force("motor", "joint_effort")
          .set("joint", std::string("axle"))
          .set("effort", fmt::format("{}*current - {}*speed", k, d));
      builder.state("current", "expression")
          .set("rate", fmt::format("({} - {}*current - {}*speed)/{}", u, R, k, L));
      builder.sensor("speed", "joint_angle_rate").set("of", std::string("axle"));
      builder.sensor("current_now", "state").set("of", std::string("current"));
      const System system = make_system(builder.finish(), formulation);
      std::vector<double> errors;
      for (const double h : {2e-3, 1e-3, 5e-4}) {
        const WholeRun run(system, "generalized-alpha,rho=0.8,newton_tol=1e-11", end, h);
        errors.push_back(std::hypot(run.sensors[1] - expected[0], run.sensors[0] - expected[1]));
      }
      const std::string name = body + ", " + formulation;
      expect_at_most(errors.back() / expected.norm(), 1e-5, name + ": current and speed, relative");
      expect_between(std::log2(errors[1] / errors[2]), 1.9, 2.1, name + ": order");
    }
}

// An arm is turned against its weight to a target by a PID controller whose derivative is filtered.
TEST(States, PidControllerMovesAPendulumAsRungeKuttaDoes) {
  constexpr double m = 1.5, length = 0.4, J = 0.03, P = 30, I = 40, D = 4, T = 0.02, target = 2, end = 1;
  const double J_0 = J + m * length * length;
  const Vector expected = runge_kutta(
      [&](double, const Vector& y) {  // angle, its rate, integral, filtered rate
        const double error = target - y[0], effort = P * error + I * y[2] - D * y[3];
        Vector out(4);
        out << y[1], (effort - m * 9.81 * length * std::cos(y[0])) / J_0, error, (y[1] - y[3]) / T;
        return out;
      },
      Vector::Zero(4), end, 20000);
  for (const std::string index : {"3", "2", "stabilized"}) {
    ModelBuilder builder({0, -9.81, 0});
    builder.body("arm", "planar").set("mass", {m}).set("inertia", {J}).set("position", {length, 0});
    builder.joint("hinge", "planar_revolute").set("between", "ground", "arm").set("at", {0, 0});
    builder.sensor("angle", "joint_angle").set("of", std::string("hinge"));
    builder.sensor("rate", "joint_angle_rate").set("of", std::string("hinge"));
    builder.state("integral", "integral").set("input", fmt::format("{} - angle", target));
    builder.state("smooth_rate", "filter").set("input", std::string("rate")).set("time_constant", {T});
    builder.force("controller", "joint_effort")
        .set("joint", std::string("hinge"))
        .set("effort", fmt::format("{}*({} - angle) + {}*integral - {}*smooth_rate", P, target, I, D));
    builder.sensor("integral_now", "state").set("of", std::string("integral"));
    builder.sensor("smooth_now", "state").set("of", std::string("smooth_rate"));
    const System system = make_system(builder.finish());
    std::vector<double> errors;
    for (const double h : {2e-3, 1e-3, 5e-4}) {
      const WholeRun run(system, "generalized-alpha,rho=0.8,newton_tol=1e-11,index=" + index, end, h);
      errors.push_back((as_vector(run.sensors) - expected).norm());
    }
    expect_at_most(errors.back(), 1e-4, "index " + index + ": angle, rate, integral, filtered rate");
    expect_between(std::log2(errors[1] / errors[2]), 1.85, 2.15, "index " + index + ": order");
  }
}

// Large and small states converge alike, whatever the forces are.
TEST(States, AreSolvedToTheirOwnScale) {
  for (const double scale : {1e-9, 1.0, 1e9}) {
    ModelBuilder builder;
    builder.body("bob", "point").set("mass", {1000});
    builder.state("x", "expression")
        .set("initial", {scale})
        .set("rate", fmt::format("-x^3/{:e}", scale * scale));
    builder.sensor("now", "state").set("of", std::string("x"));
    const System system = make_system(builder.finish());
    const WholeRun coarse(system, "generalized-alpha,rho=0.8", 1, 1e-2),
        fine(system, "generalized-alpha,rho=0.8", 1, 5e-3);
    const double expected = scale / std::sqrt(3);  // x = 1/sqrt(1 + 2 t)
    const double errors[] = {std::abs(coarse.sensors[0] - expected), std::abs(fine.sensors[0] - expected)};
    expect_between(std::log2(errors[0] / errors[1]), 1.9, 2.1, fmt::format("scale {}: order", scale));
  }
}

}  // namespace
}  // namespace liedyn
