// Orders of convergence of generalised-alpha on the heavy top, in q, v and lambda apart: every form, index and formulation, with equal
// steps, with steps at random, and with steps chosen for a tolerance.
#include <gtest/gtest.h>

#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

using namespace heavy_top;

struct Orders {
  double q, v, lambda;
};

// Corrected starting values, so that the multipliers are of second order from the start; errors over the whole run.
Orders observed(const System& system, const std::string& integrator, double h, int halvings) {
  std::vector<double> q, v, lambda;
  for (int i = 0; i <= halvings; ++i, h /= 2) {
    const Errors e = errors_of(system, integrator, h);
    q.push_back(e.position);
    v.push_back(e.velocity);
    lambda.push_back(e.force);
  }
  return {order_of(q), order_of(v), order_of(lambda)};
}

TEST(Orders, AreTwoForEveryFormIndexAndFormulation) {
  fmt::print("  {:<18} {:<30} {:<11} {:>6} {:>6} {:>6}\n", "formulation", "method", "index", "q", "v",
             "lambda");
  for (const std::string& formulation : formulations_in_the_large()) {
    const System system = make_system(description(), formulation);
    for (const std::string method : {"sigma=0", "sigma=1", "sigma=opt", "form=linear"})
      for (const std::string index : {"3", "2", "stabilized"}) {
        if (formulation == "euler-parameters" && method != "sigma=0")
          continue;  // sigma means nothing on a vector space
        const Orders o = observed(
            system, fmt::format("generalized-alpha,rho=0.8,start=corrected,index={},{}", index, method), 5e-4,
            2);
        fmt::print("  {:<18} {:<30} {:<11} {:6.2f} {:6.2f} {:6.2f}\n", formulation, method, index, o.q, o.v,
                   o.lambda);
        const std::string name = fmt::format("{} {} index {}", formulation, method, index);
        EXPECT_GT(o.q, 1.9) << name;
        EXPECT_LT(o.q, 2.2) << name;
        EXPECT_GT(o.v, 1.9) << name;
        EXPECT_LT(o.v, 2.2) << name;
        EXPECT_GT(o.lambda, 1.9) << name;
        EXPECT_LT(o.lambda, 2.2) << name;
      }
  }
}

// Brüls and Eberhard, Fig. 8. With the conformal rotation vector; the rotation vector has a much smaller term of first order.
TEST(Orders, OfTheResidualFormAreOne) {
  const System system = make_system(description(), "r3so3");
  const Orders o = observed(system, "generalized-alpha,rho=0.8,form=residual,coordinates=conformal", 5e-4, 2);
  expect_between(o.q, 0.9, 1.15, "conformal rotation vector: order of q");
}

TEST(Orders, AreTwoWithStepsAtRandom) {
  fmt::print("  {:<17} {:<25} {:>6} {:>9} {:>9} {:>9}   as much as equal steps give\n", "formulation",
             "method", "steps", "q", "v", "lambda");
  for (const auto& [formulation, method] : {std::pair<std::string, std::string>{"r3so3", "sigma=0"},
                                            {"r3so3", "sigma=1"},
                                            {"r3so3", "sigma=opt,index=2"},
                                            {"r3so3", "sigma=1,index=stabilized"},
                                            {"r3so3", "form=linear"},
                                            {"r3so3-spatial", "sigma=1"},
                                            {"se3", "sigma=0"},
                                            {"euler-parameters", "sigma=0"}}) {
    const System system = make_system(description(), formulation);
    const std::string text = "generalized-alpha,rho=0.6,start=corrected," + method;
    std::vector<double> q, v, lambda;
    for (const int count : {2000, 4000, 8000}) {
      const Errors e = errors_with_random_steps(system, text, count, 0.5);
      const Errors equal = errors_with_random_steps(system, text, count, 0);
      const double ratios[] = {e.position / equal.position, e.velocity / equal.velocity,
                               e.force / equal.force};
      fmt::print("  {:<17} {:<25} {:>6} {:9.2e} {:9.2e} {:9.2e}   {:.2f}\n", formulation, method, count,
                 e.position, e.velocity, e.force, fmt::join(ratios, " "));
      for (const double ratio : ratios) EXPECT_LT(ratio, 1.6) << formulation << " " << method;
      q.push_back(e.position);
      v.push_back(e.velocity);
      lambda.push_back(e.force);
    }
    const std::string name = formulation + " " + method;
    expect_between(order_of(q), 1.85, 2.15, name + ": order of q");
    expect_between(order_of(v), 1.85, 2.2, name + ": order of v");
    expect_between(order_of(lambda), 1.8, 2.2, name + ": order of lambda");
  }
}

TEST(AdaptiveSteps, GiveTheAccuracyThatIsAskedFor) {
  fmt::print("  {:<16} {:<10} {:>7} {:>9} {:>10} {:>12}\n", "formulation", "sigma", "steps", "rejected",
             "tolerance", "error at end");
  for (const std::string& formulation : formulations_in_the_large()) {
    const System system = make_system(description(), formulation);
    for (const std::string sigma : {"0", "opt"}) {
      std::vector<double> errors;
      for (const double tolerance : {1e-2, 1e-3, 1e-4}) {
        const WholeRun run(system,
                           fmt::format("generalized-alpha,rho=0.8,sigma={},adaptive=true,rtol={},atol={}",
                                       sigma, tolerance, 1e-3 * tolerance),
                           1, 1e-4);
        const double error = (sample_of(run.sensors).position - Reference::at(1).position).norm();
        fmt::print("  {:<16} {:<10} {:>7} {:>9} {:10.0e} {:12.2e}\n", formulation, sigma, run.report.steps,
                   run.report.rejected, tolerance, error);
        // The same local errors grow further in the coordinates of the joint.
        EXPECT_LT(error, (formulation == "minimal" ? 30 : 10) * tolerance);
        errors.push_back(error);
      }
      // A hundredth of the tolerance, about a hundredth of the error.
      expect_between(
          std::log10(errors.front() / errors.back()), 1.2, 2.8,
          fmt::format("{}, sigma = {}: decades of error for two of tolerance", formulation, sigma));
    }
  }
}

}  // namespace
}  // namespace liedyn
