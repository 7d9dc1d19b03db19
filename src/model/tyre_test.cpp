// The forces of a tyre against the closed forms of the brush model (Pacejka, Tire and Vehicle Dynamics, chapter 3).
#include <gtest/gtest.h>

#include "liedyn/base/dual.h"
#include "liedyn/model/forces/tyre.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

// A wheel about y on the road z = 0, that rolls along x.
struct Case {
  double radius = 0.3, stiffness = 2e5, load = 4000, mu = 0.9, C_x = 6e4, C_y = 6e4, half_patch = 0.06;
  double rolling_radius = 0, resistance = 0, least_speed = 1e-9;
  bool grows = false;

  double depth() const { return load / stiffness; }
  double loaded() const { return radius - depth(); }
  double rolls() const { return rolling_radius > 0 ? rolling_radius : loaded(); }
  double theta() const { return C_y / (3 * mu * load); }
  std::array<double, Tyre::constants> numbers() const {
    std::array<double, Tyre::constants> p{0, 0, 1, 0, 1, 0, radius, stiffness, 1, 0, mu};
    p[Tyre::kLongitudinal] = grows ? C_x / load : C_x;
    p[Tyre::kLateral] = grows ? C_y / load : C_y;
    p[Tyre::kGrows] = grows ? 1 : 0;
    p[Tyre::kHalfPatch] = half_patch;
    p[Tyre::kRolling] = rolling_radius;
    p[Tyre::kResistance] = resistance;
    p[Tyre::kLeastSpeed] = least_speed;
    return p;
  }
  // Force at the centre of the wheel and torque about it.
  Vec6 on_wheel(const Vec3& velocity, const Vec3& spin) const {
    std::array<Motion<double>, 2> f;
    f[1].p = {0.7, -0.2, loaded()};
    f[1].V << velocity, spin;
    std::array<Vec6, 2> W;
    Tyre::wrench(World<double>(), f, numbers().data(), W);
    return -W[1];
  }
  // At the theoretical slips sigma_x, sigma_y: the wheel rolls with 20 m/s.
  Vec6 at_slip(double sigma_x, double sigma_y) const {
    constexpr double rolling = 20;
    return on_wheel({rolling * (1 - sigma_x), -rolling * sigma_y, 0}, {0, rolling / rolls(), 0});
  }
};
double brush(double x) { return x < 1 ? 3 * x - 3 * x * x + x * x * x : 1; }

TEST(Tyre, HasTheCurveOfTheBrushModelInEveryDirectionOfSlip) {
  const Case c;
  double force = 0, direction = 0, curve = 0;
  for (double sigma = 0.002; sigma < 0.4; sigma += 0.0137)
    for (double angle = 0; angle < 6.3; angle += 0.35) {
      const double s_x = sigma * std::cos(angle), s_y = sigma * std::sin(angle);
      const Vec6 W = c.at_slip(s_x, s_y);
      const double F = c.mu * c.load * brush(c.theta() * sigma);
      force = std::max(force, std::abs(W[2] - c.load) / c.load);
      curve = std::max(curve, std::abs(std::hypot(W[0], W[1]) - F) / F);
      direction = std::max(direction, std::abs(W[0] * s_y - W[1] * s_x) / (F * sigma));
      EXPECT_GT(W[0] * s_x + W[1] * s_y, 0);
    }
  expect_at_most(force, 1e-14, "load, relative");
  expect_at_most(curve, 1e-9, "force, relative");
  expect_at_most(direction, 1e-9, "direction");
}

TEST(Tyre, HasTheSlipStiffnessesThatAreGiven) {
  Case c;
  c.C_x = 9e4;
  for (const bool grows : {false, true}) {
    c.grows = grows;
    constexpr double small = 1e-7;
    // Up to the second term of the curve, theta sigma.
    expect_at_most(std::abs(c.at_slip(small, 0)[0] / small - c.C_x) / c.C_x, 2e-6, "longitudinal stiffness");
    expect_at_most(std::abs(c.at_slip(0, small)[1] / small - c.C_y) / c.C_y, 2e-6, "cornering stiffness");
  }
  // In proportion to the load, if a nominal load is given.
  const std::array<double, Tyre::constants> p = c.numbers();
  for (const double factor : {0.25, 2.0}) {
    Case heavier = c;
    heavier.load *= factor;
    std::array<Motion<double>, 2> f;
    f[1].p = {0, 0, heavier.loaded()};
    f[1].V << 20, -20e-7, 0, 0, 20 / heavier.loaded(), 0;
    std::array<Vec6, 2> W;
    Tyre::wrench(World<double>(), f, p.data(), W);
    EXPECT_NEAR(-W[1][1] / 1e-7, factor * c.C_y, 1e-5 * c.C_y);
  }
}

// t = b/3 (1 - x)^3/(1 - x + x^2/3) with x = theta sigma; the largest torque is 27/256 mu F_z b, at x = 1/4; none once all slides.
TEST(Tyre, AligningTorqueIsThatOfThePneumaticTrail) {
  const Case c;
  double trail = 0, largest = 0;
  for (double x = 0.01; x < 1; x += 0.01) {
    const double sigma = x / c.theta();
    const Vec6 W = c.at_slip(0, sigma);
    const double t = c.half_patch / 3 * std::pow(1 - x, 3) / (1 - x + x * x / 3);
    trail = std::max(trail, std::abs(-W[5] / W[1] - t) / c.half_patch);
    largest = std::max(largest, -W[5]);
    // Combined slip has the trail of its total slip.
    const Vec6 both = c.at_slip(0.6 * sigma, 0.8 * sigma);
    trail = std::max(trail, std::abs(-both[5] / both[1] - t) / c.half_patch);
  }
  expect_at_most(trail, 1e-9, "pneumatic trail, relative to half of the patch");
  expect_at_most(std::abs(largest / (27.0 / 256 * c.mu * c.load * c.half_patch) - 1), 1e-9, "largest torque");
  EXPECT_EQ(c.at_slip(0, 1.01 / c.theta())[5], 0);
  EXPECT_EQ(c.at_slip(0.3, 0.1)[5], 0);
  // Backwards the trail is in front.
  const Vec6 back = c.on_wheel({-20, -0.1, 0}, {0, -20 / c.loaded(), 0}), forth = c.at_slip(0, 0.005);
  EXPECT_NEAR(back[1], forth[1], 1e-6);
  EXPECT_NEAR(back[5], -forth[5], 1e-6);
}

// The tractions of the bristles: c s x at the distance x from the leading edge, up to mu q(x), against the sliding velocity from there on. Simpson's rule is exact for both parts.
TEST(Tyre, WithTwoStiffnessesForceAndTorqueAreThoseOfAllBristles) {
  Case c;
  c.C_x = 1.2e5;
  const double b = c.half_patch, pressure = 0.75 * c.load / (b * b * b);
  double force = 0, torque = 0;
  for (const double s_x : {-0.03, 0.0, 0.01, 0.04})
    for (const double s_y : {0.01, -0.025, 0.05}) {
      const Eigen::Vector2d slip(s_x, s_y), slope = Eigen::Vector2d(c.C_x * s_x, c.C_y * s_y) / (2 * b * b);
      const double slides_from = std::max(0.0, 2 * b - slope.norm() / (c.mu * pressure));
      Vec3 sum = Vec3::Zero();  // F_x, F_y, M_z
      const auto add = [&](double x, double weight, bool adheres) {
        const Eigen::Vector2d traction =
            adheres ? Eigen::Vector2d(slope * x)
                    : Eigen::Vector2d(c.mu * pressure * x * (2 * b - x) * slip.normalized());
        sum += weight * Vec3(traction.x(), traction.y(), (b - x) * traction.y());
      };
      const auto add_part = [&](double from, double to, bool adheres) {
        add(from, (to - from) / 6, adheres);
        add((from + to) / 2, 4 * (to - from) / 6, adheres);
        add(to, (to - from) / 6, adheres);
      };
      add_part(0, slides_from, true);
      add_part(slides_from, 2 * b, false);
      const Vec6 W = c.at_slip(s_x, s_y);
      const double F = sum.head<2>().norm();
      force = std::max(force, (W.head<2>() - sum.head<2>()).norm() / F);
      torque = std::max(torque, std::abs(W[5] - sum[2]) / (F * b));
    }
  expect_at_most(force, 1e-12, "force, relative");
  expect_at_most(torque, 1e-12, "torque, relative to force times half of the patch");
}

TEST(Tyre, SlidesAgainstTheSlidingVelocityAlsoWithTwoStiffnesses) {
  Case c;
  c.C_x = 1.5e5;
  const Vec6 W = c.on_wheel({3, 4, 0}, Vec3::Zero());  // locked
  EXPECT_NEAR(W[0], -0.6 * c.mu * c.load, 1e-9);
  EXPECT_NEAR(W[1], -0.8 * c.mu * c.load, 1e-9);
  EXPECT_NEAR(W[4], 0.6 * c.mu * c.load * c.loaded(), 1e-9);
}

TEST(Tyre, StandsStillWithoutForcesAndMovesSlowlyAgainstADamper) {
  Case c;
  c.least_speed = 0.1;
  c.resistance = 0.02;
  const Vec6 W = c.on_wheel(Vec3::Zero(), Vec3::Zero());
  EXPECT_NEAR(W[2], c.load, 1e-11);
  EXPECT_EQ(std::abs(W[0]) + std::abs(W[1]) + W.tail<3>().norm(), 0);
  ForcePartials<2> d;
  std::array<Motion<double>, 2> f;
  f[1].p = {0, 0, c.loaded()};
  Tyre::partials(World<double>(), f, c.numbers().data(), d);
  EXPECT_TRUE(d.K[1][1].allFinite() && d.C[1][1].allFinite());
  expect_at_most(std::abs(d.C[1][1](0, 0) / (c.C_x / 0.1) - 1), 1e-14, "dF_x/dv_x at rest");
  expect_at_most(std::abs(d.C[1][1](1, 1) / (c.C_y / 0.1) - 1), 1e-14, "dF_y/dv_y at rest");
}

TEST(Tyre, RollsFreelyWithItsRollingRadiusAgainstItsResistance) {
  Case c;
  c.rolling_radius = 0.29;
  EXPECT_NEAR(c.on_wheel({20, 0, 0}, {0, 20 / 0.29, 0})[0], 0, 1e-6);
  c.resistance = 0.015;
  const Vec6 W = c.on_wheel({20, 0, 0}, {0, 20 / 0.29, 0});
  EXPECT_NEAR(W[4], -0.015 * c.load * 0.29, 1e-6);
  // Power of the slip forces: F.(sliding velocity).
  c.resistance = 0;
  const Vec3 v(18, 1, 0), w(0, 60, 0);
  const Vec6 slips = c.on_wheel(v, w);
  EXPECT_NEAR(slips.head<3>().dot(v) + slips.tail<3>().dot(w) - slips[0] * (18 - 60 * 0.29) - slips[1] * 1, 0,
              1e-8 * slips.norm());
}

TEST(Tyre, LeavesTheRoad) {
  Case c;
  std::array<Motion<double>, 2> f;
  f[1].p = {0, 0, c.radius + 1e-9};
  f[1].V << 3, 2, 1, 0, 5, 0;
  std::array<Vec6, 2> W;
  Tyre::wrench(World<double>(), f, c.numbers().data(), W);
  EXPECT_EQ(W[0].norm() + W[1].norm(), 0);
  EXPECT_NEAR(Tyre::approach(f, c.numbers().data()).depth, -1e-9, 1e-15);
  EXPECT_NEAR(Tyre::approach(f, c.numbers().data()).rate, -1, 1e-12);
  // Flat on its side: held at its centre, and nothing divides by zero.
  f[1].R << 1, 0, 0, 0, 0, -1, 0, 1, 0;
  f[1].p = {0, 0, -0.01};
  Tyre::wrench(World<double>(), f, c.numbers().data(), W);
  EXPECT_TRUE(W[1].allFinite());
}

}  // namespace
}  // namespace liedyn
