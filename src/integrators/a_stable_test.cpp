// The implicit A-stable methods on the heavy top, where the constraint leaves what the theory of index 3 allows; steps at random, steps for
// a tolerance.
#include <gtest/gtest.h>

#include "liedyn/integrators/testing.h"

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
  for (const std::string method : {"lms2", "esdirk3-4", "esdirk3-5", "esdirk4-6"})
    for (const std::string formulation : {"r3so3", "se3"}) {
      const System system = make_system(heavy_top::description(), formulation);
      std::vector<double> errors;
      for (const double tolerance : {1e-3, 1e-4, 1e-5}) {
        const WholeRun run(
            system, fmt::format("{},adaptive=true,rtol={},atol={}", method, tolerance, 1e-3 * tolerance), 1,
            1e-4);
        const Vec3 place = heavy_top::sample_of(run.sensors).position;
        errors.push_back((place - heavy_top::Reference::at(1).position).norm());
        fmt::print("  {:<10} {:<16} {:>7} {:>9} {:10.0e} {:12.2e}\n", method, formulation, run.report.steps,
                   run.report.rejected, tolerance, errors.back());
        // The tolerance is that of the top's own time, 1/sqrt(alpha) = 1/26 s.
        EXPECT_LT(errors.back(), 26 * tolerance);
      }
      // A hundredth of the tolerance, about a hundredth of the error.
      expect_between(std::log10(errors.front() / errors.back()), 1.2, 3.2,
                     fmt::format("{}, {}: decades of error for two of tolerance", method, formulation));
    }
}

// The relation is met exactly in any coordinates, so each has the method's order.
TEST(AStableMethods, KeepTheirOrderInOtherLocalCoordinates) {
  fmt::print("  {:<22} {:<17} {:>6} {:>6} {:>10} {:>14}\n", "method", "formulation", "q", "v", "q, finest",
             "with exp");
  const std::vector<Method> some = {{"lms2", 2},   {"lms4", 2},      {"ss3", 2},  {"bathe", 2},
                                    {"mssth3", 3}, {"esdirk4-6", 4}, {"rk44", 4}, {"rk67", 6}};
  for (const std::string formulation : {"r3so3", "r3so3-spatial", "se3"})
    for (const std::string coordinates : {"cayley", "conformal"})
      for (const Method& method : some) {
        const System system = make_system(free_body::description(false), formulation);
        const std::string options = method.name.starts_with("rk") ? "" : ",newton_tol=1e-13";
        std::vector<double> q, v;
        double h = method.order > 5 ? 0.2 : method.order > 3 ? 0.1 : 0.02;
        for (int k = 0; k < 3; ++k, h /= 2) {
          const auto e =
              free_body::errors(system, false, method.name + options + ",coordinates=" + coordinates, h);
          q.push_back(e.q);
          v.push_back(e.v);
        }
        const auto exp = free_body::errors(system, false, method.name + options, 2 * h);
        fmt::print("  {:<22} {:<17} {:6.2f} {:6.2f} {:10.2e} {:14.2e}\n", method.name + " " + coordinates,
                   formulation, order_of(q), order_of(v), q.back(), exp.q);
        EXPECT_GT(order_of(q), method.order - 0.25) << method.name << " on " << formulation;
        EXPECT_GT(order_of(v), method.order - 0.25) << method.name << " on " << formulation;
        EXPECT_NE(q.back(), exp.q) << "the coordinates make a difference";
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
