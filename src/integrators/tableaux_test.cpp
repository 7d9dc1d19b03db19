// The methods as data: order, damping at infinity, A-stability, and the formulas that they are published with.
#include <gtest/gtest.h>

#include "liedyn/base/decompositions.h"
#include "liedyn/integrators/tableaux.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// Tenths, as published, and numbers between them, two of these where abscissae of Table 7 nearly meet.
const std::vector<double> kRhos = {0,   0.1, 0.2,  0.3,   0.4,    0.5,    0.6,   0.7,
                                   0.8, 0.9, 0.05, 0.333, 0.5565, 0.6643, 0.757, 0.9837};

struct Named {
  std::string name;
  double rho;
  Tableau tableau;
};

std::vector<Named> all_tableaux() {
  std::vector<Named> out = {
      {"esdirk3-4", 0, esdirk3_4()}, {"esdirk3-5", 0, esdirk3_5()}, {"esdirk4-6", 0, esdirk4_6()}};
  std::vector<double> rhos = kRhos;
  rhos.push_back(1);
  for (const double rho : rhos) {
    out.push_back({"bathe", rho, bathe(rho)});
    for (const int n : {3, 4, 5}) {
      out.push_back({fmt::format("msstc{}", n), rho, trapezoidal_substeps(n, rho)});
      out.push_back({fmt::format("mssth{}", n), rho, high_order_substeps(n, rho)});
    }
  }
  return out;
}

// What rounding may leave of a condition: its terms are as large as the sums of absolute values.
double term_size(const Tableau& t, const Eigen::VectorXd& b) {
  return 1 + b.cwiseAbs().sum() * (1 + t.A.cwiseAbs().rowwise().sum().maxCoeff());
}

double worst_residual(const Tableau& t, const Eigen::VectorXd& b, int order) {
  double worst = 0;
  for (int p = 1; p <= order; ++p)
    for (const double x : order_residuals(t, b, p)) worst = std::max(worst, std::abs(x));
  return worst / term_size(t, b);
}

TEST(Tableaux, MeetTheirOrderConditionsAndHaveStageOrderTwo) {
  fmt::print("  {:<10} {:>7} {:>6} {:>14} {:>14} {:>14} {:>14}\n", "method", "rho", "order", "residual",
             "next order", "stage order 2", "largest |a_ij|");
  for (const auto& [name, rho, t] : all_tableaux()) {
    const double residual = worst_residual(t, t.b(), t.order);
    const double next = t.order < 5 ? worst_residual(t, t.b(), t.order + 1) : 1;
    const Eigen::VectorXd stage =
        t.A * t.c - t.c.cwiseProduct(t.c) / 2;  // q^(2); q^(1) = 0 by the making of c
    const double stages = stage.cwiseAbs().maxCoeff() / term_size(t, t.b());
    fmt::print("  {:<10} {:>7} {:>6} {:14.1e} {:14.1e} {:14.1e} {:14.3g}\n", name, rho, t.order, residual,
               next, stages, t.A.cwiseAbs().maxCoeff());
    EXPECT_LT(residual, 1e-14) << name << " rho " << rho;
    EXPECT_LT(stages, 1e-14) << name << " rho " << rho;
    EXPECT_GT(next, 1e-7) << name << " is of higher order than it says";
    EXPECT_NEAR(t.c[t.stages() - 1], 1, 1e-14 * term_size(t, t.b())) << name;
    for (int i = 1; i < t.stages(); ++i) EXPECT_EQ(t.A(i, i), t.gamma());
    EXPECT_LT(t.A.cwiseAbs().maxCoeff(), 250) << name << " rho " << rho;
  }
}

TEST(Tableaux, HaveEmbeddedFormulasOfTheOrderThatTheyState) {
  for (const auto& [name, rho, t] : all_tableaux()) {
    if (t.embedded.size() == 0) continue;
    const double residual = worst_residual(t, t.embedded, t.embedded_order);
    const double next = worst_residual(t, t.embedded, t.embedded_order + 1);
    fmt::print("  {}: embedded order {}, residual {:.1e}, of the next order {:.1e}\n", name, t.embedded_order,
               residual, next);
    EXPECT_LT(residual, 1e-14) << name;
    EXPECT_GT(next, 1e-4) << name;
  }
}

TEST(Tableaux, DampByRhoAtInfinityAndNowhereGrow) {
  for (const auto& [name, rho, t] : all_tableaux()) {
    const double size = term_size(t, t.b());
    const double damping = t.damping_at_infinity();
    double largest = 0;
    for (double y = 1e-3; y < 1e5; y *= 1.1) largest = std::max(largest, std::abs(t.stability({0, y})));
    EXPECT_NEAR(std::abs(damping), rho, 1e-13 * size) << name;
    // MSSTC(n): (-1)^n rho; MSSTH(n): rho, rho, -rho; Bathe: rho
    const bool negative = name == "msstc3" || name == "msstc5" || name == "mssth5";
    EXPECT_NEAR(damping, negative ? -rho : rho, 1e-13 * size) << name;
    EXPECT_LT(largest, 1 + 1e-13 * size) << name << " rho " << rho << " on the imaginary axis";
  }
  fmt::print("  {} tableaux: |R(inf)| = rho, |R| <= 1 on the imaginary axis\n", all_tableaux().size());
}

const std::vector<Named> kExplicit = {
    {"rk44", 0, rk44()}, {"ode23", 0, ode23()}, {"dopri5", 0, dopri5()}, {"rk67", 0, rk67()}};

TEST(ExplicitTableaux, MeetTheirOrderConditions) {
  fmt::print("  {:<8} {:>6} {:>10} {:>12} {:>15} {:>10}\n", "method", "order", "residual", "next order",
             "embedded order", "residual");
  for (const auto& [name, rho, t] : kExplicit) {
    const double residual = worst_residual(t, t.b(), t.order), next = worst_residual(t, t.b(), t.order + 1);
    const bool pair = t.embedded.size() > 0;
    const double embedded = pair ? worst_residual(t, t.embedded, t.embedded_order) : 0;
    fmt::print("  {:<8} {:>6} {:10.1e} {:12.1e} {:>15} {:10.1e}\n", name, t.order, residual, next,
               t.embedded_order, embedded);
    EXPECT_LT(residual, 1e-14) << name;
    EXPECT_GT(next, 1e-6) << name << " is of higher order than it says";
    EXPECT_LT(embedded, 1e-14) << name;
    if (pair) {
      EXPECT_GT(worst_residual(t, t.embedded, t.embedded_order + 1), 1e-5) << name;
    }
    EXPECT_NEAR(t.c[t.stages() - 1], 1, 1e-15) << name;
    for (int i = 0; i < t.stages(); ++i)
      for (int j = i; j < t.stages(); ++j) EXPECT_EQ(t.A(i, j), 0) << name;
  }
}

// The conditions of a step of the part s, at any s.
TEST(ExplicitTableaux, InterpolateWithTheOrderThatTheyState) {
  for (const auto& [name, rho, t] : kExplicit) {
    const int order = t.quartic.size() > 0 ? 4 : 3;
    double worst = 0, next = 0;
    for (const double s : {0.1, 0.25, 0.5, 0.8, 0.95}) {
      const Eigen::VectorXd b = t.weights_at(s);
      for (int p = 1; p <= order + 1; ++p)
        for (const double x : order_residuals(t, b, p, s))
          (p <= order ? worst : next) = std::max(p <= order ? worst : next, std::abs(x) / term_size(t, b));
    }
    fmt::print("  {}: residual of order {} {:.1e}, of the next {:.1e}\n", name, order, worst, next);
    EXPECT_LT(worst, 1e-14) << name;
    EXPECT_GT(next, 1e-6) << name;
    EXPECT_LT((t.weights_at(1) - t.b()).norm(), 1e-15) << name;
    EXPECT_EQ(t.weights_at(0).norm(), 0) << name;
  }
}

// As many conditions as there are rooted trees, and that Butcher's table of densities is met by exact integration: a method of Gauss with three
// stages has order six.
TEST(OrderConditions, AreThoseOfAllRootedTrees) {
  Tableau gauss;
  const double r = std::sqrt(15.0);
  gauss.A.resize(3, 3);
  gauss.A << 5.0 / 36, 2.0 / 9 - r / 15, 5.0 / 36 - r / 30, 5.0 / 36 + r / 24, 2.0 / 9, 5.0 / 36 - r / 24,
      5.0 / 36 + r / 30, 2.0 / 9 + r / 15, 5.0 / 36;
  gauss.c = gauss.A.rowwise().sum();
  const Eigen::Vector3d b(5.0 / 18, 4.0 / 9, 5.0 / 18);
  const std::size_t counts[] = {1, 1, 2, 4, 9, 20, 48};
  for (int p = 1; p <= 7; ++p) {
    const std::vector<double> residuals = order_residuals(gauss, b, p);
    EXPECT_EQ(residuals.size(), counts[p - 1]) << p;
    double worst = 0;
    for (const double x : residuals) worst = std::max(worst, std::abs(x));
    fmt::print("  order {}: {} conditions, largest residual {:.1e}\n", p, residuals.size(), worst);
    EXPECT_EQ(worst < 1e-15, p <= 6) << p;
  }
}

// 15 digits of the table of Zhang, Zhang, Xing, Masarati (2020), and the gammas of MSSTH(n) that solve its equation.
TEST(Tableaux, HaveTheKnownParameters) {
  const auto near = [](double value, double known, const std::string& what) {
    fmt::print("  {:<22} {:.16f} (known: {:.16f})\n", what, value, known);
    EXPECT_NEAR(value, known, 2e-15) << what;
  };
  near(trapezoidal_substeps(3, 0.6).gamma(), 0.1712486185906915078, "msstc3 rho 0.6");
  near(trapezoidal_substeps(3, 0).gamma(), 0.1804253064293985641, "msstc3 rho 0");
  near(trapezoidal_substeps(4, 0.3).gamma(), 0.1290572072573547594, "msstc4 rho 0.3");
  near(trapezoidal_substeps(4, 0).gamma(), 0.1313787367304661325, "msstc4 rho 0");
  near(trapezoidal_substeps(5, 0.9).gamma(), 0.1002792329547424602, "msstc5 rho 0.9");
  near(trapezoidal_substeps(5, 0).gamma(), 0.1035571089202148766, "msstc5 rho 0");
  // Not the 0.1804... and 0.1712... that Table 7 prints.
  near(high_order_substeps(3, 0).gamma(), 0.4358665215084589994, "mssth3 rho 0");
  near(high_order_substeps(3, 0.6).gamma(), 0.3661428101033474269, "mssth3 rho 0.6");
  near(high_order_substeps(3, 1).gamma(), 0.3333333333333333333, "mssth3 rho 1");
  near(high_order_substeps(4, 0.5).gamma(), 0.4704805776216769447, "mssth4 rho 0.5");
  near(high_order_substeps(4, 1).gamma(), 0.3943375672974064411, "mssth4 rho 1");
  near(high_order_substeps(5, 0.6).gamma(), 0.2574960298566752206, "mssth5 rho 0.6");
  near(high_order_substeps(5, 1).gamma(), 0.2465051931428202746, "mssth5 rho 1");
}

// The polynomials in rho that the formulas are published with, divided by D.
TEST(Multistep, HasTheKnownCoefficients) {
  double worst = 0;
  for (const double rho : kRhos) {
    const double r2 = rho * rho, r3 = r2 * rho;
    const auto compare = [&](int r, double D, std::vector<double> alpha, double beta) {
      const MultistepFormula f = damped_multistep(r, rho);
      double binomial = 1;
      for (int j = 0; j <= r; ++j) {
        const auto k = static_cast<std::size_t>(j);
        const double known = j == 0 ? 0 : alpha[k - 1] / D;
        worst = std::max({worst, std::abs(f.alpha[k] - known),
                          std::abs(f.beta[k] - beta * binomial * std::pow(rho, j) / ((1 + rho) * D))});
        binomial = binomial * (r - j) / (j + 1);
      }
    };
    compare(2, 3 - rho, {4 * (1 - rho), 3 * rho - 1}, 2);
    compare(3, r2 - 5 * rho + 10,
            {3 * (2 * r2 - 9 * rho + 5), -3 * (5 * r2 - 9 * rho + 2), 10 * r2 - 5 * rho + 1}, 6);
    compare(4, -r3 + 7 * r2 - 21 * rho + 35,
            {4 * (-2 * r3 + 13 * r2 - 35 * rho + 14), -4 * (1 - rho) * (7 * r2 - 34 * rho + 7),
             -4 * (14 * r3 - 35 * r2 + 13 * rho - 2), 35 * r3 - 21 * r2 + 7 * rho - 1},
            20);
    const MultistepFormula fixed = damped_multistep(2, rho), variable = damped_two_step(rho, 1);
    for (std::size_t j = 0; j <= 2; ++j)
      worst = std::max(
          {worst, std::abs(fixed.alpha[j] - variable.alpha[j]), std::abs(fixed.beta[j] - variable.beta[j])});
  }
  expect_at_most(worst, 1e-14, "LMS2, LMS3, LMS4 and LMS2 with equal steps: difference from the known ones");
}

TEST(Multistep, IsOfSecondOrderDampsByRhoAndIsAStable) {
  double order = 0, least_next = 1, damping = 0, growth = 0;
  for (const double rho : kRhos)
    for (const int r : {2, 3, 4}) {
      const MultistepFormula f = damped_multistep(r, rho);
      const auto defect = [&](int p) { return std::abs(f.defect(p)) / (1 + r * r); };
      order = std::max({order, defect(0), defect(1), defect(2)});
      least_next = std::min(least_next, defect(3));
      // sum beta_j z^(r-j) = beta_0 (z + rho)^r: a root of multiplicity r, so compare the polynomials.
      double binomial = 1;
      for (int j = 0; j <= r; ++j) {
        damping = std::max(
            damping, std::abs(f.beta[static_cast<std::size_t>(j)] / f.beta[0] - binomial * std::pow(rho, j)));
        binomial = binomial * (r - j) / (j + 1);
      }
      for (double y = 1e-3; y < 1e5; y *= 1.3)
        growth = std::max(growth, Eigen::ComplexEigenSolver<Eigen::MatrixXcd>(f.amplification({0, y}), false)
                                          .eigenvalues()
                                          .cwiseAbs()
                                          .maxCoeff() -
                                      1);
    }
  expect_at_most(order, 1e-14, "defect on 1, t, t^2");
  EXPECT_GT(least_next, 0.002) << "defect on t^3";
  expect_at_most(damping, 1e-13, "distance of sum beta_j z^(r-j) from (z + rho)^r");
  expect_at_most(growth, 1e-9, "growth of the largest root on the imaginary axis");
}

TEST(Multistep, WithStepsThatChangeIsOfSecondOrderAndDampsByRho) {
  double order = 0, damping = 0;
  for (const double rho : kRhos)
    for (const double ratio : {0.2, 0.5, 0.9, 1.3, 2.0, 5.0}) {
      const MultistepFormula f = damped_two_step(rho, ratio);
      // In units of the new step: points at 0, -1, -1 - 1/ratio.
      const double t[] = {0, -1, -1 - 1 / ratio};
      for (int p = 0; p <= 2; ++p) {
        double sum = p == 0 ? 1 : 0;
        for (std::size_t j = 0; j <= 2; ++j)
          sum -= f.alpha[j] * std::pow(t[j], p) + (p > 0 ? f.beta[j] * p * std::pow(t[j], p - 1) : 0);
        order = std::max(order, std::abs(sum) / (1 + t[2] * t[2]));
      }
      damping = std::max(
          {damping, std::abs(f.beta[1] / f.beta[0] - 2 * rho), std::abs(f.beta[2] / f.beta[0] - rho * rho)});
    }
  expect_at_most(order, 1e-14, "defect on 1, t, t^2");
  expect_at_most(damping, 1e-13, "distance of the roots at infinity from -rho");
}

// On y' = x y both forms give the same sequence once the first steps are given.
TEST(SingleStep, FollowsTheMultistepFormula) {
  using Complex = std::complex<double>;
  double worst = 0;
  for (const double rho : kRhos)
    for (const int r : {2, 3, 4}) {
      const Complex x(-0.1, 0.7);
      const SingleStepFormula s = damped_single_step(r, rho);
      const MultistepFormula f = damped_multistep(r, rho);
      std::vector<Complex> y = {1}, w(static_cast<std::size_t>(r), x);  // w[0] = y', then the auxiliary ones
      for (int k = 1; k <= 30; ++k) {
        // Every new w is linear in the new y' = x y: gain times it plus what is known.
        std::vector<Complex> gain = {1}, known = {0};
        for (std::size_t j = 1; j < w.size(); ++j) {
          const Complex odd = s.odd[j - 1];
          gain.push_back(s.even * gain.back() / odd);
          known.push_back(((1 - s.even) * w[j - 1] + s.even * known.back() - (1.0 - odd) * w[j]) / odd);
        }
        const Complex now =
            (y.back() + (1 - s.even) * w.back() + s.even * known.back()) / (1.0 - s.even * gain.back() * x);
        for (std::size_t j = 0; j < w.size(); ++j) w[j] = gain[j] * x * now + known[j];
        y.push_back(now);
        if (k < r) continue;
        Complex multistep = 0;
        for (int j = 1; j <= r; ++j)
          multistep += (f.alpha[static_cast<std::size_t>(j)] + x * f.beta[static_cast<std::size_t>(j)]) *
                       y[static_cast<std::size_t>(k - j)];
        multistep /= 1.0 - x * f.beta[0];
        worst = std::max(worst, std::abs(multistep - now));
      }
    }
  expect_at_most(worst, 1e-13, "difference of the two forms");
}

}  // namespace
}  // namespace liedyn
