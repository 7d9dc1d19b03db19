// Linear analysis against closed forms and against what the methods are made for.
#include "liedyn/analyses/linear_analysis.h"

#include <gtest/gtest.h>

#include <numbers>

#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// Every listed one: damping at infinity, no growth, and a defect of the phase that falls with its order.
TEST(LinearAnalysis, OfEveryIntegratorAgreesWithItsOrderAndItsRho) {
  fmt::print("  {:<18} {:>5} {:>9} {:>10} {:>12} {:>12}\n", "integrator", "order", "solutions", "at infinity",
             "decay 0.02", "elongation");
  for (const ListedIntegrator& listed : integrators()) {
    const LinearAnalysis a = analyze_integrator(listed.name, geometric_range(0.02, 20, 31));
    fmt::print("  {:<18} {:>5} {:>9} {:10.5f} {:12.2e} {:12.2e}\n", listed.name, a.order,
               a.solutions_per_step, a.radius_at_infinity, a.rows[0].amplitude_decay,
               a.rows[0].period_elongation);
    const IntegratorOptions options(listed.name, listed.options);
    const bool has_rho = listed.options.front().name == "rho";
    EXPECT_GE(a.order, 2) << listed.name;
    EXPECT_EQ(std::isfinite(a.real_limit), a.is_explicit) << listed.name;
    if (!a.is_explicit) {
      EXPECT_FALSE(std::isfinite(a.imaginary_limit)) << listed.name;
      // Multiple roots are known to the root of their number of digits only.
      EXPECT_NEAR(a.radius_at_infinity, has_rho ? options.number("rho") : 0, 2e-3) << listed.name;
    }
    for (const LinearAnalysisRow& row : a.rows) {
      if (a.is_explicit) continue;
      EXPECT_LT(row.spectral_radius, 1 + 1e-9) << listed.name << " h/T = " << row.h_over_period;
      EXPECT_GT(row.amplitude_decay, -1e-9) << listed.name;
    }
    const LinearAnalysis fine = analyze_integrator(listed.name, {0.01, 0.02});
    const auto error = [](const LinearAnalysisRow& row) {
      return std::abs(std::complex(row.amplitude_decay, row.period_elongation));
    };
    EXPECT_GT(std::log2(error(fine.rows[1]) / error(fine.rows[0])), a.order - 0.2) << listed.name;
  }
}

// Trapezoidal rule: tan(omega_ h/2) = omega h/2, no damping. Every second-order family has it at rho = 1.
TEST(LinearAnalysis, OfTheTrapezoidalRuleIsTheClosedForm) {
  for (const std::string name :
       {"lms2,rho=1", "lms3,rho=1", "ss2,rho=1", "generalized-alpha,parameters=newmark"}) {
    double worst = 0;
    for (const LinearAnalysisRow& row : analyze_integrator(name, geometric_range(0.01, 1, 11)).rows) {
      const double omega_h = 2 * std::numbers::pi * row.h_over_period;
      const double elongation = omega_h / (2 * std::atan(omega_h / 2)) - 1;
      worst = std::max({worst, std::abs(row.period_elongation - elongation), std::abs(row.amplitude_decay)});
    }
    expect_at_most(worst, 1e-9, name + ": distance from the trapezoidal rule");
  }
}

// The stability functions of explicit methods with as many stages as their order are the exponential series.
TEST(LinearAnalysis, KnowsHowFarExplicitMethodsAreStable) {
  const auto limits = [](const char* name) {
    const LinearAnalysis a = analyze_integrator(name, {0.1}, 41);
    fmt::print("  {}: stable from -{:.6f} and up to {:.6f} i\n", name, a.real_limit, a.imaginary_limit);
    // The grid says the same along its lower edge, the real axis.
    for (std::size_t i = 0; i < a.region.real.size(); ++i) {
      const double x = a.region.real[i];
      if (std::abs(x) < 0.2 || std::abs(x + a.real_limit) < 0.2) continue;
      EXPECT_EQ(a.region.radius[i] <= 1, x < 0 && x > -a.real_limit) << name << " at " << x;
    }
    return a;
  };
  const LinearAnalysis rk44 = limits("rk44"), ode23 = limits("ode23");
  EXPECT_NEAR(rk44.real_limit, 2.785293563405282, 1e-9);
  EXPECT_NEAR(rk44.imaginary_limit, 2 * std::sqrt(2.0), 1e-9);
  EXPECT_NEAR(ode23.real_limit, 2.512745326618329, 1e-9);
  EXPECT_NEAR(ode23.imaginary_limit, std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(limits("dopri5").real_limit, 3.3066, 1e-3);
  limits("rk67");
}

// Sec. 4: more steps or sub-steps dissipate less at equal cost; MSSTH(3) at rho = 0 has the stability function of esdirk3-4.
TEST(LinearAnalysis, ShowsWhatThePaperSays) {
  const auto decay_at = [](const std::string& name, double per_solution) {
    const LinearAnalysis once = analyze_integrator(name, {0.01});
    return analyze_integrator(name, {per_solution * once.solutions_per_step}).rows[0].amplitude_decay;
  };
  for (const char* rho : {"0", "0.6"}) {
    std::vector<double> decays;
    for (const char* name : {"lms2", "lms3", "lms4"})
      decays.push_back(decay_at(fmt::format("{},rho={}", name, rho), 0.05));
    for (const char* name : {"bathe", "msstc3", "msstc4", "msstc5"})
      decays.push_back(decay_at(fmt::format("{},rho={}", name, rho), 0.05));
    fmt::print(
        "  rho {}: amplitude decay at h/(nT) = 0.05, lms2 ... lms4, bathe, msstc3 ... msstc5: {:.2e}\n", rho,
        fmt::join(decays, " "));
    EXPECT_GT(decays[0], decays[1]);
    EXPECT_GT(decays[1], decays[2]);
    for (std::size_t i = 3; i + 1 < decays.size(); ++i) EXPECT_GT(decays[i], decays[i + 1]);
  }
  const auto a = analyze_integrator("mssth3,rho=0", {0.1, 1}), b = analyze_integrator("esdirk3-4", {0.1, 1});
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_NEAR(a.rows[i].amplitude_decay, b.rows[i].amplitude_decay, 1e-12);
  EXPECT_LT(analyze_integrator("mssth4,rho=0", {0.15}).rows[0].period_elongation, 0) << "a shorter period";
}

TEST(LinearAnalysis, RefusesWhatIsNoIntegrator) {
  EXPECT_THROW(analyze_integrator("lms5", {0.1}), InputError);
  EXPECT_THROW(analyze_integrator("lms2,rho=2", {0.1}), InputError);
}

}  // namespace
}  // namespace liedyn
