// The implicit A-stable methods: their orders on a free body, where they are those of the tableaux, and on the heavy top, where the
// constraint leaves what the theory of index 3 allows; steps at random, steps for a tolerance.
#include <gtest/gtest.h>

#include "integrators/testing.h"

namespace liedyn {
namespace {

struct Method {
  std::string name;
  int order;
};
const std::vector<Method> kMethods = {{"lms2", 2},   {"lms3", 2},      {"lms4", 2},      {"ss2", 2},
                                      {"ss3", 2},    {"ss4", 2},       {"bathe", 2},     {"msstc3", 2},
                                      {"msstc4", 2}, {"msstc5", 2},    {"mssth3", 3},    {"mssth4", 4},
                                      {"mssth5", 5}, {"esdirk3-4", 3}, {"esdirk3-5", 3}, {"esdirk4-6", 4}};

bool is_runge_kutta(const Method& method) {
  return !method.name.starts_with("lms") && !method.name.starts_with("ss");
}

// A free body under a torque and a force that are functions of time in its own axes: nonlinear and non-autonomous.
namespace free_body {

const Vec3 kInertia(1, 1.7, 2.5);
const Vec3 kOmega(0.9, -1.1, 0.7);
const Vec3 kVelocity(0.3, -0.2, 0.5);
constexpr double kMass = 2;
const char* const kTorque[] = {"2*cos(3*t) - 1", "1 + 3*sin(2*t)", "0.5 - 4*t"};
const char* const kForce[] = {"3*sin(4*t)", "2 - t", "cos(5*t)"};

Vec3 torque(double t) { return {2 * std::cos(3 * t) - 1, 1 + 3 * std::sin(2 * t), 0.5 - 4 * t}; }
Vec3 force(double t) { return {3 * std::sin(4 * t), 2 - t, std::cos(5 * t)}; }

std::shared_ptr<const Description> description(bool turns_only) {
  ModelBuilder builder({0, 0, 0});
  if (turns_only)
    builder.body("top", "rotating").set("mass", {kMass}).set("inertia", kInertia);
  else
    builder.body("top", "rigid").set("mass", {kMass}).set("inertia", kInertia).set("velocity", kVelocity);
  builder.set("angular_velocity", kOmega);
  builder.force("motor", "torque").set("on", std::string("top")).set("torque", {0, 0, 0});
  for (int i = 0; i < 3; ++i) builder.expression("torque", i, kTorque[i]);
  builder.set("axes", std::string("body"));
  if (!turns_only) {
    builder.force("push", "force").set("on", std::string("top")).set("force", {0, 0, 0});
    for (int i = 0; i < 3; ++i) builder.expression("force", i, kForce[i]);
    builder.set("axes", std::string("body"));
  }
  builder.sensor("angular_velocity", "angular_velocity").set("of", std::string("top"));
  if (!turns_only) builder.sensor("velocity", "velocity").set("of", std::string("top"));
  return builder.finish();
}

struct EndMotion {
  SO3<double> rotation;
  Vec3 omega, place, velocity;
};

// At t = 1, by the classical Runge-Kutta method in steps so small that only round-off is left.
const EndMotion& exact() {
  static const EndMotion end = [] {
    using Unknowns = Eigen::Matrix<double, 13, 1>;  // quaternion, Omega, place, velocity
    const auto slope = [](const Unknowns& y, double t) {
      const Eigen::Quaterniond q(y[0], y[1], y[2], y[3]);
      const Eigen::Quaterniond rate = q * Eigen::Quaterniond(0, y[4] / 2, y[5] / 2, y[6] / 2);
      const Vec3 omega = y.segment<3>(4);
      Unknowns out;
      out << rate.w(), rate.x(), rate.y(), rate.z(),
          (torque(t) - omega.cross(kInertia.cwiseProduct(omega))).cwiseQuotient(kInertia), y.tail<3>(),
          q.normalized() * force(t) / kMass;
      return out;
    };
    Unknowns y;
    y << 1, 0, 0, 0, kOmega, Vec3::Zero(), kVelocity;
    constexpr int kSteps = 4000;
    constexpr double h = 1.0 / kSteps;
    for (int n = 0; n < kSteps; ++n) {
      const double t = n * h;
      const Unknowns k1 = slope(y, t), k2 = slope(y + h / 2 * k1, t + h / 2),
                     k3 = slope(y + h / 2 * k2, t + h / 2), k4 = slope(y + h * k3, t + h);
      y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
    }
    return EndMotion{SO3<double>::from_quaternion(y[0], {y[1], y[2], y[3]}), y.segment<3>(4), y.segment<3>(7),
                     y.tail<3>()};
  }();
  return end;
}

struct EndErrors {
  double q, v;
};
EndErrors errors(const System& system, bool turns_only, const std::string& integrator, double h) {
  const Simulation run(system, integrator, 1, h);
  const auto s = as_vector(run.sensors);
  EndErrors out;
  out.q = (exact().rotation.inverse() * rotation_of(run.state.q.data())).log().norm();
  out.v = (s.head<3>() - exact().omega).norm();
  if (!turns_only) {
    out.q += (Eigen::Map<const Vec3>(run.state.q.data()) - exact().place).norm();
    out.v += (s.tail<3>() - exact().velocity).norm();
  }
  return out;
}

}  // namespace free_body

TEST(AStableMethods, HaveTheirOrderOnAFreeBodyWithForcesOfTime) {
  fmt::print("  {:<10} {:<6} {:<17} {:>6} {:>6} {:>10} {:>10}\n", "method", "node", "formulation", "q", "v",
             "q, finest", "v, finest");
  for (const bool turns_only : {true, false})
    for (const std::string& formulation : formulations_in_the_large()) {
      const System system = make_system(free_body::description(turns_only), formulation);
      for (const Method& method : kMethods) {
        std::vector<double> q, v;
        // High orders reach round-off in small steps.
        for (double h = method.order > 3 ? 0.1 : 0.02, k = 0; k < 3; h /= 2, ++k) {
          const auto e = free_body::errors(system, turns_only, method.name + ",newton_tol=1e-13", h);
          q.push_back(e.q);
          v.push_back(e.v);
        }
        const double of_q = order_of(q), of_v = order_of(v);
        fmt::print("  {:<10} {:<6} {:<17} {:6.2f} {:6.2f} {:10.2e} {:10.2e}\n", method.name,
                   turns_only ? "SO3" : "SE3", formulation, of_q, of_v, q.back(), v.back());
        const std::string name = method.name + " on " + formulation;
        // The unit length of Euler parameters is a constraint: the stage order, 2, is what is left in the limit; in these steps a term of
        // third order is as large and may have the other sign.
        const double designed = formulation == "euler-parameters" && method.order > 2 ? 1.75 : method.order;
        EXPECT_GT(of_q, designed - 0.25) << name;
        EXPECT_GT(of_v, designed - 0.25) << name;
        EXPECT_LT(std::min(of_q, of_v), method.order + 0.5) << name;
      }
    }
}

using heavy_top::errors_with_random_steps;

// Index 3 with stage order 2: errors of q and v of second order, of lambda of first, whatever the order of the tableau. Multistep methods have
// no stages: second order in all of them. On SE(3) the joint's hidden constraint holds by itself and the order is that of the tableau.
TEST(AStableMethods, HaveTheOrdersThatIndexThreeAllowsOnTheHeavyTop) {
  fmt::print("  {:<10} {:<6} {:>6} {:>6} {:>7} {:>12} {:>12}\n", "method", "nodes", "q", "v", "lambda",
             "q at 1e-3", "lambda there");
  for (const std::string formulation : {"r3so3", "se3"}) {
    const System system = make_system(heavy_top::description(), formulation);
    for (const Method& method : kMethods) {
      std::vector<double> q, v, lambda;
      heavy_top::Errors at_1e3;
      // From 1000 steps on where orders are reduced, up to 2000 where they are so high that round-off comes next.
      for (int count = formulation == "se3" ? 500 : 1000, k = 0; k < (formulation == "se3" ? 3 : 4);
           count *= 2, ++k) {
        const auto e = errors_with_random_steps(system, method.name + ",newton_tol=1e-11", count, 0);
        if (count == 1000) at_1e3 = e;
        q.push_back(e.position);
        v.push_back(e.velocity);
        lambda.push_back(e.force);
      }
      const double of_q = order_of(q), of_v = order_of(v), of_lambda = order_of(lambda);
      fmt::print("  {:<10} {:<6} {:6.2f} {:6.2f} {:7.2f} {:12.2e} {:12.2e}\n", method.name, formulation, of_q,
                 of_v, of_lambda, at_1e3.position, at_1e3.force);
      const std::string name = method.name + " on " + formulation;
      const bool reduced = formulation == "r3so3";
      const double least = reduced ? 2 : method.order;
      const double least_lambda = reduced ? (is_runge_kutta(method) ? 1 : 2) : method.order;
      EXPECT_GT(of_q, least - 0.25) << name;
      EXPECT_GT(of_v, least - 0.25) << name;
      EXPECT_GT(of_lambda, least_lambda - 0.25) << name;
      if (reduced) {
        EXPECT_LT(at_1e3.position, 7.27e-3) << name << ": more than generalised-alpha with sigma = 0";
      }
    }
  }
}

// Those that remember what belongs to the last step. (The others begin anew with each.)
TEST(AStableMethods, KeepSecondOrderWithStepsAtRandom) {
  fmt::print("  {:<10} {:<17} {:>6} {:>6} {:>7} {:>10}\n", "method", "formulation", "q", "v", "lambda",
             "q, finest");
  for (const std::string& formulation : formulations_in_the_large()) {
    const System system = make_system(heavy_top::description(), formulation);
    for (const std::string method : {"lms2", "lms3", "lms4", "ss2", "ss3", "ss4"}) {
      std::vector<double> q, v, lambda;
      for (const int count : {2000, 4000, 8000}) {
        const auto e = errors_with_random_steps(system, method, count, 0.5);
        q.push_back(e.position);
        v.push_back(e.velocity);
        lambda.push_back(e.force);
      }
      fmt::print("  {:<10} {:<17} {:6.2f} {:6.2f} {:7.2f} {:10.2e}\n", method, formulation, order_of(q),
                 order_of(v), order_of(lambda), q.back());
      EXPECT_GT(order_of(q), 1.75) << method << " on " << formulation;
      EXPECT_GT(order_of(v), 1.75) << method << " on " << formulation;
    }
  }
}

TEST(AStableMethods, GiveTheAccuracyThatIsAskedFor) {
  fmt::print("  {:<10} {:<16} {:>7} {:>9} {:>10} {:>12}\n", "method", "formulation", "steps", "rejected",
             "tolerance", "error at end");
  for (const std::string method : {"esdirk3-4", "esdirk3-5", "esdirk4-6"})
    for (const std::string formulation : {"r3so3", "se3"}) {
      const System system = make_system(heavy_top::description(), formulation);
      std::vector<double> errors;
      for (const double tolerance : {1e-3, 1e-4, 1e-5}) {
        const Simulation run(
            system, fmt::format("{},adaptive=true,rtol={},atol={}", method, tolerance, 1e-3 * tolerance), 1,
            1e-4);
        const Vec3 place = heavy_top::sample_of(run.sensors).position;
        errors.push_back((place - heavy_top::Reference::at(1).position).norm());
        fmt::print("  {:<10} {:<16} {:>7} {:>9} {:10.0e} {:12.2e}\n", method, formulation, run.report.steps,
                   run.report.rejected, tolerance, errors.back());
        EXPECT_LT(errors.back(), 15 * tolerance);
      }
      // A hundredth of the tolerance, about a hundredth of the error.
      expect_between(std::log10(errors.front() / errors.back()), 1.2, 3.2,
                     fmt::format("{}, {}: decades of error for two of tolerance", method, formulation));
    }
}

// With the constraint on velocities (index 2) stage order 2 leaves more: third order in q and v, second in lambda.
TEST(AStableMethods, LoseLessOfTheirOrderInIndexTwo) {
  const System system = make_system(heavy_top::description(), "r3so3");
  for (const Method& method : kMethods) {
    std::vector<double> q, v, lambda;
    for (const int count : {1000, 2000, 4000}) {
      const auto e = errors_with_random_steps(system, method.name + ",newton_tol=1e-11,index=2", count, 0);
      q.push_back(e.position);
      v.push_back(e.velocity);
      lambda.push_back(e.force);
    }
    fmt::print("  {:<10} {:6.2f} {:6.2f} {:7.2f} {:12.2e} {:12.2e}\n", method.name, order_of(q), order_of(v),
               order_of(lambda), q.front(), lambda.front());
    const double designed = std::min(method.order, 3);
    EXPECT_GT(order_of(q), designed - 0.25) << method.name;
    EXPECT_GT(order_of(v), designed - 0.25) << method.name;
    EXPECT_GT(order_of(lambda), 1.75) << method.name;
  }
}

TEST(AStableMethods, WarnOfRhoOneWhereItIsNotStable) {
  const System constrained = make_system(heavy_top::description(), "r3so3");
  const System unconstrained = make_system(free_body::description(false), "r3so3");
  for (const Method& method : kMethods) {
    if (method.name.starts_with("esdirk")) continue;
    const auto count = [&](const System& system, const char* rho) {
      return make_integrator(system, method.name + ",rho=" + rho)->warnings().size();
    };
    const bool multiple_root = !is_runge_kutta(method) && !method.name.ends_with("2");
    EXPECT_EQ(count(constrained, "0.9"), 0u) << method.name;
    EXPECT_EQ(count(constrained, "1"), multiple_root ? 2u : 1u) << method.name;
    EXPECT_EQ(count(unconstrained, "1"), multiple_root ? 1u : 0u) << method.name;
  }
}

}  // namespace
}  // namespace liedyn
