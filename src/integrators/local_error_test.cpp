// The error of a single step on a free body with a known torque: C_q h^3 vddot + kappa h^3 v^ vdot (Holzinger, Arnold, Gerstmayr,
// Eq. (40)), with the coefficient kappa that each variant really has.
#include <gtest/gtest.h>

#include "liedyn/integrators/generalized_alpha.h"
#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

const Vec3 kSpinInertia(1, 1.7, 2.5);
const Vec3 kOmega(0.9, -1.1, 0.7);
const char* const kSpinTorque[] = {"2*cos(t) - 1", "1 + 3*sin(2*t)", "0.5 - t"};

Vec3 torque(double t) { return {2 * std::cos(t) - 1, 1 + 3 * std::sin(2 * t), 0.5 - t}; }

// Body axes: J Omega' = torque - Omega x J Omega.
Vec3 angular_acceleration(const Vec3& omega, double t) {
  return (torque(t) - omega.cross(kSpinInertia.cwiseProduct(omega))).cwiseQuotient(kSpinInertia);
}

// Orientation after time h from R = 1: the classical Runge-Kutta method in steps so small that only round-off is left.
SO3<double> exact_rotation(double h) {
  using Unknowns = Eigen::Matrix<double, 7, 1>;
  const auto slope = [](const Unknowns& y, double t) {
    const Eigen::Quaterniond q(y[0], y[1], y[2], y[3]),
        rate = q * Eigen::Quaterniond(0, y[4] / 2, y[5] / 2, y[6] / 2);
    Unknowns out;
    out << rate.w(), rate.x(), rate.y(), rate.z(), angular_acceleration(y.tail<3>(), t);
    return out;
  };
  constexpr int kSteps = 400;
  const double dt = h / kSteps;
  Unknowns y;
  y << 1, 0, 0, 0, kOmega;
  for (int n = 0; n < kSteps; ++n) {
    const double t = n * dt;
    const Unknowns k1 = slope(y, t), k2 = slope(y + dt / 2 * k1, t + dt / 2),
                   k3 = slope(y + dt / 2 * k2, t + dt / 2), k4 = slope(y + dt * k3, t + dt);
    y += dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
  }
  return SO3<double>::from_quaternion(y[0], {y[1], y[2], y[3]});
}

// Velocity and its derivatives in the axes in which the formulation has them.
struct Derivatives {
  Vec3 v, vdot, vddot;
};
Derivatives derivatives(const std::string& formulation) {
  const Vec3 J = kSpinInertia, w = kOmega, a = angular_acceleration(w, 0);
  const Vec3 torque_rate(0, 6, -1);
  const Vec3 jerk = (torque_rate - a.cross(J.cwiseProduct(w)) - w.cross(J.cwiseProduct(a))).cwiseQuotient(J);
  if (formulation != "r3so3-spatial") return {w, a, jerk};
  // omega = R Omega at R = 1: omega' = Omega', omega'' = Omega'' + Omega x Omega'
  return {w, a, jerk + w.cross(a)};
}

struct Coefficients {
  double jerk, bracket;
};

// The coefficients of vddot and v^ vdot in (numerical - exact)/h^3, extrapolated to h = 0.
Coefficients measured(const std::string& formulation, const std::string& integrator) {
  ModelBuilder builder({0, 0, 0});
  builder.body("top", "rotating")
      .set("mass", {1})
      .set("inertia", kSpinInertia)
      .set("angular_velocity", kOmega);
  builder.force("motor", "torque").set("on", std::string("top")).set("torque", {0, 0, 0});
  for (int i = 0; i < 3; ++i) builder.expression("torque", i, kSpinTorque[i]);
  builder.set("axes", std::string("body"));
  const System system = make_system(builder.finish(), formulation);
  const Derivatives d = derivatives(formulation);
  const bool spatial = formulation == "r3so3-spatial";
  const auto error_at = [&](double h) -> Vec3 {
    const WholeRun run(system, integrator, h, h);
    const SO3<double> numerical = rotation_of(run.state.q.data()), exact = exact_rotation(h);
    const SO3<double> difference = spatial ? numerical * exact.inverse() : exact.inverse() * numerical;
    return difference.log() / (h * h * h);
  };
  const double h = 0.01;
  const Vec3 limit = (8 * error_at(h / 4) - 6 * error_at(h / 2) + error_at(h)) / 3;
  Eigen::Matrix<double, 3, 2> directions;
  directions << d.vddot, (spatial ? -1 : 1) * d.v.cross(d.vdot);
  const Eigen::Vector2d fit = directions.colPivHouseholderQr().solve(limit);
  EXPECT_LT((directions * fit - limit).norm(), 2e-3 * limit.norm()) << "no third direction";
  return {-fit[0], -fit[1]};
}

double jerk_coefficient(const AlphaParameters& p) {
  return (1 - 6 * p.beta - 3 * (p.alpha_m - p.alpha_f)) / 6;
}

TEST(LocalError, HasTheCoefficientsOfTheTheoryForEverySigma) {
  const double tolerance = 0.01 / 12;
  for (const std::string formulation : {"r3so3", "r3so3-spatial"})
    for (const double rho : {0.0, 0.5, 0.9, 1.0}) {
      const AlphaParameters p = AlphaParameters::chung_hulbert(rho);
      for (const std::string sigma : {"0", "0.5", "1", "opt", "2"}) {
        const double value = sigma == "opt" ? p.gamma / (3 * p.beta) : std::stod(sigma);
        const double kappa = 0.25 * (1.0 / 3 - value * p.beta / p.gamma);
        const Coefficients c = measured(
            formulation, fmt::format("generalized-alpha,rho={},sigma={},start=corrected", rho, sigma));
        fmt::print("  {:<14} rho {:<4} sigma {:<4} C_q {:9.5f} ({:9.5f})   kappa {:9.5f} ({:9.5f})\n",
                   formulation, rho, sigma, c.jerk, jerk_coefficient(p), c.bracket, kappa);
        EXPECT_NEAR(c.jerk, jerk_coefficient(p), tolerance);
        EXPECT_NEAR(c.bracket, kappa, tolerance);
      }
    }
}

// With the factor f of the predictor and s = (1 - alpha_f)/(1 - alpha_m), 1/12 - sigma (beta/gamma) [f (1/2 - s (gamma - beta)) + s gamma/2] instead of the value of
// Eq. (40), for Algorithm 1 (sigma = 1) and Algorithm 2: as printed (f = 1) -0.168 and -0.084 at rho = 0.9.
TEST(LocalError, OfTheAlgorithmsAsPrintedIsThatOfTheirPredictors) {
  for (const double rho : {0.5, 0.9}) {
    const auto [alpha_m, alpha_f, beta, gamma] = AlphaParameters::chung_hulbert(rho);
    const double share = (1 - alpha_f) / (1 - alpha_m);
    for (const double factor : {1.0, 0.5})
      for (const auto& [sigma, value] :
           {std::pair{"1", 1.0}, std::pair{"0.5", 0.5}, std::pair{"opt", gamma / (3 * beta)}}) {
        const double bracket = factor * (0.5 - share * (gamma - beta)) + 0.5 * share * gamma;
        const double known = 1.0 / 12 - value * beta / gamma * bracket;
        const Coefficients c = measured(
            "r3so3",
            fmt::format("generalized-alpha,rho={},sigma={},variant=paper,predictor_factor={},start=corrected",
                        rho, sigma, factor));
        fmt::print("  rho {} sigma {:<4} factor {}: kappa {:9.5f} ({:9.5f})\n", rho, sigma, factor, c.bracket,
                   known);
        EXPECT_NEAR(c.bracket, known, 0.01 / 12);
      }
  }
}

// In local coordinates the error is that of a vector space: C_q times the third derivative of the coordinates, Omega'' + Omega x Omega'/2
// for the rotation vector.
TEST(LocalError, OfTheLinearFormIsThatOfAVectorSpace) {
  for (const double rho : {0.5, 0.9}) {
    const double c_q = jerk_coefficient(AlphaParameters::chung_hulbert(rho));
    const Coefficients c =
        measured("r3so3", fmt::format("generalized-alpha,form=linear,rho={},start=corrected", rho));
    fmt::print("  rho {}: C_q {:9.5f} ({:9.5f}), of the bracket {:9.5f} ({:9.5f})\n", rho, c.jerk, c_q,
               c.bracket, c_q / 2);
    EXPECT_NEAR(c.jerk, c_q, 0.01 / 12);
    EXPECT_NEAR(c.bracket, c_q / 2, 0.01 / 12);
  }
}

}  // namespace
}  // namespace liedyn
