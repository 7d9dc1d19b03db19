#include "liedyn/analyses/modes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// Angular frequencies of the modes that oscillate, in rising order.
std::vector<double> frequencies(const Modes& found) {
  std::vector<double> out;
  for (const Mode& mode : found.modes)
    if (!mode.rigid && mode.eigenvalue.imag() > 0) out.push_back(mode.eigenvalue.imag());
  std::sort(out.begin(), out.end());
  return out;
}

void expect_frequencies(const Modes& found, std::vector<double> expected, double tolerance,
                        const std::string& what) {
  const std::vector<double> got = frequencies(found);
  std::sort(expected.begin(), expected.end());
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i)
    expect_at_most(std::abs(got[i] - expected[i]) / expected[i], tolerance,
                   fmt::format("{}: frequency {} of {:.12g} rad/s", what, i + 1, expected[i]));
}

// A body of mass m hangs at the distance l below a hinge; J about its centre of mass. Its axes are turned, so that nothing is aligned.
std::shared_ptr<const Description> physical_pendulum(double m, double l, double J, double damping) {
  ModelBuilder builder({0, -kGravity, 0});
  builder.body("bob", "rigid")
      .set("mass", {m})
      .set("inertia", {0.3, 0.2, J})
      .set("position", {0.3, 0.1 - l, 0})
      .set("orientation", {0, 0, 0.7});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "bob")
      .set("at", {0.3, 0.1, 0})
      .set("axis", {0, 0, 1});
  builder.force("friction", "bushing")
      .set("between", "ground", "bob")
      .set("at", {0.3, 0.1, 0})
      .set("rotational_damping", {0, 0, damping});
  return builder.finish();
}

TEST(Modes, PhysicalPendulum) {
  const double m = 2.3, l = 0.8, J = 0.4, damping = 0.5;
  const double about_hinge = J + m * l * l, omega = std::sqrt(m * kGravity * l / about_hinge);
  const double ratio = damping / (2 * about_hinge * omega);
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(physical_pendulum(m, l, J, damping), formulation);
    const Modes undamped = modes(system, start_of(system), {.undamped = true});
    EXPECT_EQ(undamped.degrees_of_freedom, 1);
    EXPECT_TRUE(undamped.warnings.empty());
    expect_frequencies(undamped, {omega}, 1e-12, formulation + ", undamped");
    const Modes damped = modes(system, start_of(system));
    expect_frequencies(damped, {omega * std::sqrt(1 - ratio * ratio)}, 1e-12, formulation + ", damped");
    expect_at_most(std::abs(damped.modes[0].damping_ratio() - ratio) / ratio, 1e-12, "damping ratio");
    EXPECT_DOUBLE_EQ(damped.modes[0].share[0], 1);
  }
}

// The chain of n masses between two walls, springs of equal stiffness and dampers in proportion: along the chain
//   omega_k = 2 sqrt(k/m) sin(k pi/(2 (n + 1))),   ratio = (c/k) omega/2.
std::shared_ptr<const Description> spring_chain(int n, double m, double k, double c) {
  ModelBuilder builder({0, 0, 0});
  const auto name = [](int i) { return fmt::format("mass{}", i); };
  for (int i = 1; i <= n; ++i)
    builder.body(name(i), "point").set("mass", {m}).set("position", {1.0 * i, 0, 0});
  for (int i = 1; i <= n; ++i)
    builder.joint(fmt::format("rail{}", i), "point_on_line")
        .set("between", "ground", name(i))
        .set("at", {1.0 * i, 0, 0})
        .set("axis", {1, 0, 0});
  for (int i = 0; i <= n; ++i)
    builder.force(fmt::format("spring{}", i), "spring_damper")
        .set("between", i == 0 ? "ground" : name(i), i == n ? "ground" : name(i + 1))
        .set("points", {1.0 * i, 0, 0, 1.0 * i + 1, 0, 0})
        .set("stiffness", {k})
        .set("damping", {c});
  return builder.finish();
}

TEST(Modes, SpringCoupledChain) {
  const int n = 7;
  const double m = 1.7, k = 230, c = 0.6;
  const System system = make_system(spring_chain(n, m, k, c));
  std::vector<double> omega, damped;
  for (int i = 1; i <= n; ++i) {
    omega.push_back(2 * std::sqrt(k / m) * std::sin(i * std::numbers::pi / (2 * (n + 1))));
    const double ratio = c / k * omega.back() / 2;
    damped.push_back(omega.back() * std::sqrt(1 - ratio * ratio));
  }
  for (const char* solver : {"dense", "sparse"}) {
    const std::string name = solver;
    expect_frequencies(modes(system, start_of(system), {.undamped = true, .count = n, .solver = name}), omega,
                       1e-12, name + ", undamped");
    const Modes found = modes(system, start_of(system), {.count = n, .solver = name});
    expect_frequencies(found, damped, 1e-11, name + ", damped");
    for (std::size_t i = 0; i < found.modes.size(); ++i)
      expect_at_most(std::abs(found.modes[i].damping_ratio() - c / k * omega[i] / 2), 1e-12, "damping ratio");
    // The shape of the first mode is half a wave.
    for (int i = 1; i <= n; ++i) {
      const double wave = std::sin(i * std::numbers::pi / (n + 1)) / std::sin(4 * std::numbers::pi / (n + 1));
      expect_at_most(std::abs(found.modes[0].shape[static_cast<std::size_t>(3 * (i - 1))] - wave), 1e-9,
                     "shape");
    }
  }
}

struct Top {
  double m = 1.3, l = 0.4, transverse = 0.05, axial = 0.08, spin = 30;
  double A() const { return transverse + m * l * l; }  // about the pivot, across the axis
  double weight() const { return m * kGravity * l; }

  // Its axis tilted by `tilt` from the vertical about x, which turns about the vertical at the rate `precession`; `spin` is the whole
  // angular velocity along the axis.
  std::shared_ptr<const Description> model(double tilt = 0, double precession = 0) const {
    ModelBuilder builder;
    const Mat3 R = SO3<double>::exp(Vec3(tilt, 0, 0)).R();
    const Vec3 axis = R.col(2), vertical(0, 0, 1);
    // Angular velocity: precession, and about the axis so much that its axial part is the spin.
    const Vec3 omega = precession * vertical + (spin - precession * std::cos(tilt)) * axis;
    builder.body("top", "rigid")
        .set("mass", {m})
        .set("inertia", {transverse, transverse, axial})
        .set("position", l * axis)
        .set("orientation", {tilt, 0, 0})
        .set("velocity", omega.cross(l * axis))
        .set("angular_velocity_inertial", omega);
    builder.joint("pivot", "spherical").set("between", "ground", "top").set("at", {0, 0, 0});
    return builder.finish();
  }
};

// Sleeping top, in inertial axes: A z'' - i C Omega z' - m g l z = 0 for the tilt z = x + i y.
TEST(Modes, SleepingTopWhirlsAtItsTwoFrequencies) {
  const Top top;
  const double gyro = top.axial * top.spin, root = std::sqrt(gyro * gyro - 4 * top.A() * top.weight());
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(top.model(), formulation);
    const Modes found = modes(system, start_of(system));
    EXPECT_TRUE(found.axes.rate.isZero());
    EXPECT_TRUE(found.warnings.empty()) << testing::PrintToString(found.warnings);
    expect_frequencies(found, {(gyro + root) / (2 * top.A()), (gyro - root) / (2 * top.A())}, 1e-10,
                       formulation);
    EXPECT_EQ(
        std::count_if(found.modes.begin(), found.modes.end(), [](const Mode& mode) { return mode.rigid; }), 1)
        << "turning about its axis";
    for (const Mode& mode : found.modes)
      if (!mode.rigid)
        expect_at_most(std::abs(mode.eigenvalue.real()), 1e-10 * mode.eigenvalue.imag(), "no damping");
  }
}

TEST(Modes, SlowTopFalls) {
  Top top;
  top.spin = 5;
  const double gyro = top.axial * top.spin, negative = 4 * top.A() * top.weight() - gyro * gyro;
  ASSERT_GT(negative, 0);
  const System system = make_system(top.model());
  const Modes found = modes(system, start_of(system));
  const auto worst = std::max_element(
      found.modes.begin(), found.modes.end(),
      [](const Mode& a, const Mode& b) { return a.eigenvalue.real() < b.eigenvalue.real(); });
  expect_at_most(
      std::abs(worst->eigenvalue - std::complex<double>(std::sqrt(negative), gyro) / (2 * top.A())), 1e-10,
      "eigenvalue - (sqrt(4 A m g l - C^2 Omega^2) + i C Omega)/(2 A)");
}

// Steady precession p: A p^2 cos(tilt) - C spin p + m g l = 0, about which the tilt oscillates (Routh) with
//   omega^2 = p^2 - 2 (m g l/A) cos(tilt) + (m g l/(A p))^2.
TEST(Modes, NutationAboutSteadyPrecession) {
  const Top top;
  const double tilt = 0.6, gyro = top.axial * top.spin, a = top.A() * std::cos(tilt);
  for (const double sign : {-1.0, 1.0}) {
    const double p = (gyro + sign * std::sqrt(gyro * gyro - 4 * a * top.weight())) / (2 * a);
    const double ratio = top.weight() / (top.A() * p);
    const double omega = std::sqrt(p * p - 2 * top.weight() / top.A() * std::cos(tilt) + ratio * ratio);
    for (const std::string& formulation : absolute_formulations()) {
      const System system = make_system(top.model(tilt, p), formulation);
      const Modes found = modes(system, start_of(system));
      expect_at_most((found.axes.rate - Vec3(0, 0, p)).norm() / p, 1e-9, "axes turn with the precession");
      EXPECT_TRUE(found.warnings.empty()) << testing::PrintToString(found.warnings);
      expect_frequencies(found, {omega}, 1e-10, fmt::format("{}, precession {:.4g} rad/s", formulation, p));
    }
  }
}

// A weight on a spring along an arm that turns at w, released a tenth of a millimetre beside its steady place x: seen from the arm it swings at
//   sqrt(k/m - w^2 + 4 m x^2 w^2/(J + m x^2))
// where J is the moment of inertia of both about their own centres, which keep the moment of momentum. In inertial axes the matrices change as fast as the arm turns.
TEST(Modes, AMotionThatIsNearlySteadyIsLinearisedInTheAxesThatTurnWithIt) {
  const double w = 10, m = 0.5, k = 2 * m * w * w, r = 0.4;
  const double steady = k * r / (k - m * w * w), J = 400 + 0.01;
  const double swing = std::sqrt(k / m - w * w + 4 * m * steady * steady * w * w / (J + m * steady * steady));
  for (const std::string& formulation : absolute_formulations()) {
    ModelBuilder builder({0, 0, 0});
    const double x = steady + 1e-4;
    builder.body("arm", "rigid")
        .set("mass", {1000})
        .set("inertia", {400, 400, 400})
        .set("angular_velocity", {0, 0, w});
    builder.body("weight", "rigid")
        .set("mass", {m})
        .set("inertia", {0.01, 0.01, 0.01})
        .set("position", {x, 0, 0})
        .set("velocity", {0, w * x, 0})
        .set("angular_velocity", {0, 0, w});
    builder.joint("axle", "revolute")
        .set("between", "ground", "arm")
        .set("at", {0, 0, 0})
        .set("axis", {0, 0, 1});
    builder.joint("slide", "prismatic")
        .set("between", "arm", "weight")
        .set("at", {r, 0, 0})
        .set("axis", {1, 0, 0});
    builder.force("spring", "bushing")
        .set("between", "arm", "weight")
        .set("at", {r, 0, 0})
        .set("stiffness", {k, 0, 0});
    const System system = make_system(builder.finish(), formulation);
    const Modes found = modes(system, start_of(system));
    EXPECT_THAT(found.warnings, testing::ElementsAre(testing::HasSubstr("is nearly steady in axes")));
    ASSERT_FALSE(found.modes.empty());
    expect_at_most(std::abs(std::abs(found.modes.back().eigenvalue) - swing) / swing, 1e-5,
                   formulation + ": frequency seen from the arm");
  }
}

// Euler: a free body that spins about its largest principal axis. Seen from the body,
//   omega = spin sqrt((J3 - J1) (J3 - J2)/(J1 J2)).
TEST(Modes, FreeBodyWithoutSymmetryIsSteadyInItsOwnAxes) {
  const double J1 = 0.3, J2 = 0.5, J3 = 0.7, spin = 4;
  for (const std::string& formulation : absolute_formulations()) {
    ModelBuilder builder({0, 0, 0});
    builder.body("brick", "rigid")
        .set("mass", {2})
        .set("inertia", {J1, J2, J3})
        .set("angular_velocity", {0, 0, spin});
    const System system = make_system(builder.finish(), formulation);
    const Modes found = modes(system, start_of(system));
    expect_at_most((found.axes.rate - Vec3(0, 0, spin)).norm(), 1e-12, "axes turn with the body");
    const double wobble = spin * std::sqrt((J3 - J1) * (J3 - J2) / (J1 * J2));
    // Straight lines and tilted axes at rest in space go round at the spin, seen from the body.
    const std::vector<double> got = frequencies(found);
    const auto nearest = *std::min_element(got.begin(), got.end(), [&](double a, double b) {
      return std::abs(a - wobble) < std::abs(b - wobble);
    });
    expect_at_most(std::abs(nearest - wobble) / wobble, 1e-10, formulation + ": wobble");
    const Modes inertial = modes(system, start_of(system), {.axes_given = true});
    EXPECT_THAT(inertial.warnings,
                testing::ElementsAre(testing::HasSubstr("neither an equilibrium nor a steady")));
  }
}

// Displacements and rotations along the same axes: the matrices do not know the formulation.
TEST(Linearization, IsTheSameInEveryFormulation) {
  Random random(5);
  const Vec3 axes_rate(0.3, -0.2, 0.5);
  ModelBuilder builder;
  for (const char* name : {"a", "b"})
    builder.body(name, "rigid")
        .set("mass", {random.between(1, 2)})
        .set("inertia", random.inertia())
        .set("reference", random.vector<3>())
        .set("position", random.vector<3>())
        .set("orientation", random.vector<3>())
        .set("velocity", random.vector<3>())
        .set("angular_velocity_inertial", random.vector<3>());
  builder.joint("ball", "spherical").set("between", "a", "b").set("at", random.vector<3>());
  builder.joint("cardan", "universal")
      .set("between", "ground", "a")
      .set("at", random.vector<3>())
      .set("first_axis", random.vector<3>())
      .set("second_axis", random.vector<3>());
  builder.force("spring", "spring_damper")
      .set("between", "ground", "b")
      .set("points", {1, 2, 3, 0.1, 0.2, 0.3})
      .set("stiffness", {20})
      .set("damping", {3})
      .set("free_length", {1});
  builder.force("bushing", "bushing")
      .set("between", "a", "b")
      .set("at", {0.2, 0, 0})
      .set("stiffness", {10, 20, 30})
      .set("rotational_damping", {1, 2, 3});
  builder.force("push", "force")
      .set("on", std::string("b"))
      .set("force", {3, 4, 5})
      .set("axes", std::string("body"));
  const auto description = builder.finish();
  std::vector<Eigen::MatrixXd> first;
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(description, formulation);
    Work work(system);
    const State state = consistent_state(system, 0, InitialPolicy::Project, work);
    const Linearization l = linearize(system, state, axes_rate, work);
    const std::vector<Eigen::MatrixXd> all = {l.M, l.C, l.K, l.B};
    if (first.empty()) first = all;
    for (std::size_t i = 0; i < all.size(); ++i)
      expect_at_most(relative_difference(all[i], first[i]), 1e-11,
                     fmt::format("{}: {}", formulation, "MCKB"[i]));
  }
}

TEST(Modes, SparseAndDenseAgreeOnAHangingChain) {
  ModelBuilder builder({0, 0, -kGravity});
  const int links = 25;
  for (int i = 1; i <= links; ++i) {
    builder.body(fmt::format("link{}", i), "rigid")
        .set("mass", {0.2})
        .set("inertia", {2e-3, 2e-3, 1e-3})
        .set("position", {0, 0, -0.1 * i + 0.05});
    builder.joint(fmt::format("joint{}", i), "spherical")
        .set("between", i == 1 ? "ground" : fmt::format("link{}", i - 1), fmt::format("link{}", i))
        .set("at", {0, 0, -0.1 * (i - 1)});
    builder.force(fmt::format("friction{}", i), "bushing")
        .set("between", i == 1 ? "ground" : fmt::format("link{}", i - 1), fmt::format("link{}", i))
        .set("at", {0, 0, -0.1 * (i - 1)})
        .set("rotational_stiffness", {0, 0, 0.1})
        .set("rotational_damping", {1e-3, 2e-3, 1e-3});
  }
  const System system = make_system(builder.finish());
  const State state = start_of(system);
  for (const bool undamped : {true, false}) {
    const Modes dense = modes(system, state, {.undamped = undamped, .count = 12, .solver = "dense"});
    const Modes sparse = modes(system, state, {.undamped = undamped, .count = 12, .solver = "sparse"});
    ASSERT_EQ(dense.modes.size(), 12u);
    ASSERT_EQ(sparse.modes.size(), 12u);
    for (std::size_t i = 0; i < 12; ++i)
      expect_at_most(std::abs(dense.modes[i].eigenvalue - sparse.modes[i].eigenvalue) /
                         std::abs(dense.modes[i].eigenvalue),
                     1e-9,
                     fmt::format("eigenvalue {:.6g} {:+.6g} i", dense.modes[i].eigenvalue.real(),
                                 dense.modes[i].eigenvalue.imag()));
  }
}

// A disc that rolls upright and straight on, with the moments A across and C about its axis: its lean oscillates with
//   n^2 = (C (C + m r^2) spin^2 - A m g r)/(A (A + m r^2)),   stable for a thin disc if spin^2 > g/(3 r).
TEST(Modes, ARollingDiscIsStableIfItIsFast) {
  const double m = 1.2, r = 0.3, A = m * r * r / 4, C = m * r * r / 2;
  for (const double spin : {2.0, 8.0})
    for (const std::string& formulation : absolute_formulations()) {
      ModelBuilder builder({0, 0, -kGravity});
      builder.body("disc", "rigid")
          .set("mass", {m})
          .set("inertia", {A, C, A})
          .set("position", {0, 0, r})
          .set("velocity", {spin * r, 0, 0})
          .set("angular_velocity", {0, spin, 0});
      builder.joint("contact", "rolling_disc")
          .set("between", "ground", "disc")
          .set("center", {0, 0, r})
          .set("axis", {0, 1, 0})
          .set("normal", {0, 0, 1})
          .set("radius", {r});
      const System system = make_system(builder.finish(), formulation);
      const Modes found = modes(system, start_of(system));
      EXPECT_TRUE(found.warnings.empty()) << testing::PrintToString(found.warnings);
      EXPECT_EQ(found.degrees_of_freedom, 3);
      const double square =
          (C * (C + m * r * r) * spin * spin - A * m * kGravity * r) / (A * (A + m * r * r));
      const std::complex<double> expected = std::sqrt(std::complex<double>(-square));
      double nearest = 1e300;
      for (const Mode& mode : found.modes) nearest = std::min(nearest, std::abs(mode.eigenvalue - expected));
      expect_at_most(nearest / std::abs(expected), 1e-9,
                     fmt::format("{}, spin {}: eigenvalue {:.6g} {:+.6g} i", formulation, spin,
                                 expected.real(), expected.imag()));
      // Nothing else grows or decays.
      int moving = 0;
      for (const Mode& mode : found.modes) moving += mode.rigid ? 0 : 1;
      EXPECT_EQ(moving, square > 0 ? 1 : 2);
    }
}

// Rows at velocity level (a disc that rolls, a prescribed velocity) and friction, which depends on multipliers; in motion, where both matter.
TEST(Modes, SparseAndDenseAgreeWithVelocityRowsAndFriction) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("disc", "rigid")
      .set("mass", {1.2})
      .set("inertia", {0.027, 0.054, 0.027})
      .set("position", {0, 0, 0.3})
      .set("velocity", {2.4, 0, 0})
      .set("angular_velocity", {0, 8, 0});
  builder.joint("contact", "rolling_disc")
      .set("between", "ground", "disc")
      .set("center", {0, 0, 0.3})
      .set("axis", {0, 1, 0})
      .set("normal", {0, 0, 1})
      .set("radius", {0.3});
  for (int i = 1; i <= 4; ++i) {
    const std::string name = fmt::format("bob{}", i), hinge = fmt::format("hinge{}", i);
    builder.body(name, "rigid")
        .set("mass", {0.5})
        .set("inertia", {0.01, 0.01, 0.01})
        .set("position", {3, 0, -0.4 * i + 0.2})
        .consistent("velocity")
        .set("angular_velocity", {0, 0.3 * i, 0});
    builder.joint(hinge, "revolute")
        .set("between", i == 1 ? "ground" : fmt::format("bob{}", i - 1), name)
        .set("at", {3, 0, -0.4 * (i - 1)})
        .set("axis", {0, 1, 0});
    builder.force(fmt::format("dry{}", i), "joint_friction")
        .set("joint", hinge)
        .set("coefficient", {0.3})
        .set("radius", {0.02})
        .set("smoothing", {0.1});
  }
  const System system = make_system(builder.finish());
  const State state = start_of(system);
  const ModesOptions given{.count = 6, .solver = "dense", .axes_given = true};
  ModesOptions other = given;
  other.solver = "sparse";
  const Modes dense = modes(system, state, {.solver = "dense", .axes_given = true});
  const Modes sparse = modes(system, state, other);
  int compared = 0;
  for (const Mode& mode : sparse.modes) {
    if (mode.rigid) continue;
    double nearest = 1e300;
    for (const Mode& candidate : dense.modes)
      nearest = std::min(nearest, std::abs(candidate.eigenvalue - mode.eigenvalue));
    expect_at_most(
        nearest / std::abs(mode.eigenvalue), 1e-8,
        fmt::format("eigenvalue {:.6g} {:+.6g} i", mode.eigenvalue.real(), mode.eigenvalue.imag()));
    ++compared;
  }
  EXPECT_GE(compared, 2);
}

TEST(Linearization, RowsThatRepeatOthersDoNoHarm) {
  // A planar four-bar in space: 20 rows for 18 velocities, and it moves.
  ModelBuilder builder;
  const Vec3 points[] = {{0, 0, 0}, {0, 0.12, 0}, {0.24, 0.2, 0}, {0.24, 0, 0}};
  for (int i = 0; i < 3; ++i)
    builder.body(fmt::format("bar{}", i), "rigid")
        .set("mass", {1})
        .set("inertia", {0.1, 0.1, 0.1})
        .set("position", Vec3((points[i] + points[i + 1]) / 2));
  for (int i = 0; i < 4; ++i)
    builder.joint(fmt::format("hinge{}", i), "revolute")
        .set("between", i == 0 ? "ground" : fmt::format("bar{}", i - 1),
             i == 3 ? "ground" : fmt::format("bar{}", i))
        .set("at", points[i])
        .set("axis", {0, 0, 1});
  const System system = make_system(builder.finish());
  Work work(system, "klu");
  const Linearization l = linearize(system, described_state(system), Vec3::Zero(), work);
  EXPECT_EQ(dependent_rows(l.B).size(), 3u);
  const Eigen::MatrixXd N = admissible_motions(l.B);
  ASSERT_EQ(N.cols(), 1);
  expect_at_most((l.B * N).norm(), 1e-12, "B N");
}

TEST(Modes, WrongOptionsAreRefused) {
  const System system = make_system(spring_chain(2, 1, 1, 0));
  EXPECT_THROW(modes(system, start_of(system), {.count = -1}), InputError);
  EXPECT_THROW(modes(system, start_of(system), {.solver = "magic"}), InputError);
}

}  // namespace
}  // namespace liedyn
