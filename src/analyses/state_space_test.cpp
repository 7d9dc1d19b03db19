#include "liedyn/analyses/state_space.h"

#include <cmath>
#include <numbers>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/operating_point.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using testing::HasSubstr;
// A cart on a rail, with a spring and a damper to the wall, carries a pendulum; a force pushes the cart.
struct CartPendulum {
  double cart = 3, bob = 0.5, l = 0.8, J = 0.02, k = 40, c = 1.5;
  std::shared_ptr<const Description> model(double push = 0) const {
    ModelBuilder builder({0, -kGravity, 0});
    builder.body("cart", "rigid").set("mass", {cart}).set("inertia", {1, 1, 1});
    builder.body("bob", "rigid").set("mass", {bob}).set("inertia", {J, J, J}).set("position", {0, -l, 0});
    builder.joint("rail", "prismatic")
        .set("between", "ground", "cart")
        .set("at", {0, 0, 0})
        .set("axis", {1, 0, 0});
    builder.joint("hinge", "revolute")
        .set("between", "cart", "bob")
        .set("at", {0, 0, 0})
        .set("axis", {0, 0, 1});
    builder.force("wall", "spring_damper")
        .set("between", "ground", "cart")
        .set("points", {-5, 0, 0, 0, 0, 0})
        .set("stiffness", {k})
        .set("damping", {c});
    builder.force("push", "force").set("on", std::string("cart")).set("force", {push, 0, 0});
    builder.force("twist", "torque").set("on", std::string("bob")).set("torque", {0, 0, 0});
    builder.sensor("x", "joint_displacement").set("of", std::string("rail"));
    builder.sensor("phi", "joint_angle").set("of", std::string("hinge"));
    builder.sensor("acceleration", "acceleration").set("of", std::string("cart"));
    builder.sensor("reaction", "reaction_force").set("of", std::string("hinge"));
    return builder.finish();
  }
  // [M] (x, phi)'' + [C] (x, phi)' + [K] (x, phi) = (F, T): the transfer matrix to (x, phi).
  Eigen::Matrix2cd transfer(std::complex<double> s) const {
    Eigen::Matrix2d M, C, K;
    M << cart + bob, bob * l, bob * l, bob * l * l + J;
    C << c, 0, 0, 0;
    K << k, 0, 0, bob * kGravity * l;
    return (s * s * M.cast<std::complex<double>>() + s * C.cast<std::complex<double>>() +
            K.cast<std::complex<double>>())
        .inverse();
  }
};

TEST(StateSpace, TransferFunctionOfACartWithPendulumIsTheClosedForm) {
  const CartPendulum model;
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(model.model(), formulation);
    const StateSpace space = state_space(system, start_of(system),
                                         {.inputs = {"forces.push.force[0]", "forces.twist.torque[2]"},
                                          .outputs = {"x", "phi", "acceleration", "reaction"}});
    ASSERT_EQ(space.A.rows(), 4) << testing::PrintToString(space.states);
    EXPECT_TRUE(space.warnings.empty()) << testing::PrintToString(space.warnings);
    for (const double omega : {0.1, 1.0, 3.5, 20.0}) {
      const std::complex<double> s(0.05, omega);
      const Eigen::MatrixXcd G = space.transfer(s);
      const Eigen::Matrix2cd expected = model.transfer(s);
      expect_at_most((G.topRows(2) - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff(), 1e-10,
                     fmt::format("{}: displacement and angle at {} rad/s", formulation, omega));
      // Acceleration of the cart: s^2 x. It has a direct part.
      expect_at_most(
          (G.row(2) - s * s * expected.row(0)).cwiseAbs().maxCoeff() / std::abs(s * s * expected(0, 0)), 1e-9,
          "acceleration");
      // The hinge pulls the bob: horizontally by its mass times its acceleration.
      expect_at_most((G.row(5) - s * s * model.bob * (expected.row(0) + model.l * expected.row(1)))
                         .cwiseAbs()
                         .maxCoeff(),
                     1e-9, "reaction");
    }
  }
}

// Against the simulation: a step of the force, small enough to be linear.
TEST(StateSpace, FollowsTheSimulationOfASmallPush) {
  const CartPendulum model;
  const double push = 1e-3, end = 0.7;
  const System still = make_system(model.model()), pushed = make_system(model.model(push));
  const StateSpace space =
      state_space(still, start_of(still), {.inputs = {"forces.push.force[0]"}, .outputs = {"x", "phi"}});
  SimulateOptions options = default_options(pushed.model().description());
  options.end = end;
  options.step = 1e-3;
  options.integrator = "dopri5";
  options.output_every = 0;
  const Result result = simulate(pushed, options);
  ASSERT_TRUE(result.summary.completed) << result.summary.failure;
  // The push is a ten-thousandth of the weights. Newton's method with a tolerance below it must not stop at their round-off.
  options.integrator = "generalized-alpha,rho=1,newton_tol=1e-12";
  const Result implicit = simulate(pushed, options);
  ASSERT_TRUE(implicit.summary.completed) << implicit.summary.failure;
  // x(t) = A^-1 (exp(A t) - 1) B u, by eigenvectors
  const Eigen::EigenSolver<Eigen::MatrixXd> eigen(space.A);
  const Eigen::MatrixXcd V = eigen.eigenvectors();
  const Eigen::VectorXcd b = V.partialPivLu().solve((space.B * push).cast<std::complex<double>>());
  Eigen::VectorXcd z(b.size());
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    const std::complex<double> lambda = eigen.eigenvalues()[i];
    z[i] = (std::exp(lambda * end) - 1.0) / lambda * b[i];
  }
  const Eigen::VectorXd y = space.C * (V * z).real() + space.D * Eigen::VectorXd::Constant(1, push);
  for (int i = 0; i < 2; ++i) {
    const double simulated = result.trajectory.at(result.trajectory.rows() - 1, 1 + i);
    expect_at_most(std::abs(y[i] - simulated) / std::abs(simulated), 1e-6,
                   fmt::format("{}: {:.6g}", space.outputs[static_cast<std::size_t>(i)], simulated));
    const double newton = implicit.trajectory.at(implicit.trajectory.rows() - 1, 1 + i);
    expect_at_most(
        std::abs(y[i] - newton) / std::abs(newton), 5e-6,
        fmt::format("{} by an implicit method: {:.6g}", space.outputs[static_cast<std::size_t>(i)], newton));
  }
}

// About steady motion the linearisation is that of the flow: how the state of a spinning top, disturbed a little, differs from that of
// the undisturbed one after a while.
TEST(StateSpace, DescribesTheDisturbedMotionOfASleepingTop) {
  ModelBuilder builder;
  builder.body("top", "rigid")
      .set("mass", {1.3})
      .set("inertia", {0.05, 0.05, 0.08})
      .set("position", {0, 0, 0.4})
      .set("angular_velocity", {0, 0, 30});
  builder.joint("pivot", "spherical").set("between", "ground", "top").set("at", {0, 0, 0});
  builder.sensor("place", "position").set("of", std::string("top"));
  const System system = make_system(builder.finish());
  const State start = start_of(system);
  const StateSpace space = state_space(system, start, {});
  ASSERT_EQ(space.A.rows(), 6);
  // Disturbed by a small turn about x, with the angular velocity in the body kept.
  const double tilt = 1e-6, end = 0.3;
  Configuration disturbed = configuration_of(system, start);
  const SO3<double> turn = SO3<double>::exp(Vec3(tilt, 0, 0));
  disturbed[0].orientation = turn * disturbed[0].orientation;
  disturbed[0].position = turn.R() * disturbed[0].position;
  SimulateOptions options = default_options(system.model().description());
  options.end = end;
  options.step = 2.5e-5;
  options.integrator = "generalized-alpha,rho=1";
  options.output_every = 0;
  options.from = std::make_shared<const Configuration>(disturbed);
  const Result result = simulate(system, options);
  ASSERT_TRUE(result.summary.completed) << result.summary.failure;
  // y(0) = (tilt about x and what follows), y'(0) = 0: dOmega = R^T dr' with dr' = 0.  x(t) = exp(A t) x(0)
  Eigen::VectorXd x0 = Eigen::VectorXd::Zero(6);
  for (std::size_t i = 0; i < 3; ++i) {
    if (space.states[i] == "top: rotation x") x0[static_cast<Eigen::Index>(i)] = tilt;
    if (space.states[i] == "top: displacement y") x0[static_cast<Eigen::Index>(i)] = -0.4 * tilt;
  }
  ASSERT_GT(x0.norm(), 0) << testing::PrintToString(space.states);
  Eigen::MatrixXd flow = Eigen::MatrixXd::Identity(6, 6), term = flow;
  const int parts = 64;
  for (int k = 1; k < 25; ++k) flow += term = term * space.A * (end / parts) / k;
  Eigen::VectorXd x = x0;
  for (int i = 0; i < parts; ++i) x = flow * x;
  const Eigen::VectorXd y = space.C * x;
  const std::size_t last = result.trajectory.rows() - 1;
  for (int i = 0; i < 2; ++i)
    expect_at_most(
        std::abs(result.trajectory.at(last, 1 + i) - y[i]) / (0.4 * tilt), 1e-4,
        fmt::format("{}: {:.4g} of {:.4g}", space.outputs[static_cast<std::size_t>(i)], y[i], 0.4 * tilt));
}

// About a motion that is not steady A is the derivative of the accelerations by the coordinate and its rate, here those of a slider-crank with one degree of
// freedom: J(phi) phi'' + J'(phi) phi'^2 / 2 = 0.
TEST(StateSpace, OfAMovingSliderCrankIsTheDerivativeOfItsAcceleration) {
  static constexpr double r = 0.1, l = 0.25, m_crank = 0.4, J_crank = 2e-3, m_rod = 0.7, J_rod = 5e-3,
                          m_slider = 1.3;
  constexpr double phi0 = 0.7, omega = 9;
  const auto derivative = [](const auto& f, double x) {
    constexpr double h = 5e-3;
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
  };
  // Place of the slider and its derivative, that of the rod's angle.
  const auto root = [](double phi) { return std::sqrt(l * l - r * r * std::sin(phi) * std::sin(phi)); };
  const auto slider = [&](double phi) { return r * std::cos(phi) + root(phi); };
  const auto inertia = [&](double phi) {
    const double s = -r * std::sin(phi) * (1 + r * std::cos(phi) / root(phi));
    const double beta = -r * std::cos(phi) / root(phi);
    const double x = 0.5 * (s - r * std::sin(phi)), y = 0.5 * r * std::cos(phi);
    return J_crank + m_crank * r * r / 4 + m_rod * (x * x + y * y) + J_rod * beta * beta + m_slider * s * s;
  };
  const auto slope = [&](double phi) { return derivative(inertia, phi); };
  const auto acceleration = [&](double phi) { return -0.5 * slope(phi) * omega * omega / inertia(phi); };
  const double by_angle = derivative(acceleration, phi0), by_rate = -slope(phi0) * omega / inertia(phi0);

  for (const std::string& formulation : formulations()) {
    if (formulation == "minimal") continue;
    ModelBuilder builder({0, 0, 0});
    const Vec3 pin(r * std::cos(phi0), r * std::sin(phi0), 0), end(slider(phi0), 0, 0);
    const auto bar = [&](const char* name, double mass, double J, const Vec3& from, const Vec3& to) {
      builder.body(name, "rigid")
          .set("mass", {mass})
          .set("inertia", {J, J, J})
          .set("position", Vec3((from + to) / 2))
          .set("orientation", {0, 0, std::atan2(to.y() - from.y(), to.x() - from.x())});
      builder.consistent("velocity");
    };
    bar("crank", m_crank, J_crank, Vec3::Zero(), pin);
    builder.set("angular_velocity", {0, 0, omega});
    bar("rod", m_rod, J_rod, pin, end);
    builder.consistent("angular_velocity");
    builder.body("slider", "rigid").set("mass", {m_slider}).set("inertia", {1, 1, 1}).set("position", end);
    builder.consistent("velocity");
    builder.joint("bearing", "revolute")
        .set("between", "ground", "crank")
        .set("at", {0, 0, 0})
        .set("axis", {0, 0, 1});
    builder.joint("pin", "revolute").set("between", "crank", "rod").set("at", pin).set("axis", {0, 0, 1});
    builder.joint("end", "spherical").set("between", "rod", "slider").set("at", end);
    builder.joint("rail", "prismatic")
        .set("between", "ground", "slider")
        .set("at", end)
        .set("axis", {1, 0, 0});
    const System system = make_system(builder.finish(), formulation);
    const StateSpace space = state_space(system, start_of(system));
    ASSERT_EQ(space.A.rows(), 2);
    ASSERT_EQ(space.states[0], "crank: rotation z");
    expect_at_most(std::abs(space.A(1, 0) / by_angle - 1), 1e-8, formulation + ": derivative by the angle");
    expect_at_most(std::abs(space.A(0, 0)) / omega, 1e-14, formulation + ": rate of the angle by the angle");
    expect_at_most(std::abs(space.A(0, 1) - 1), 1e-14, formulation + ": rate of the angle by the rate");
    expect_at_most(std::abs(space.A(1, 1) / by_rate - 1), 1e-8, formulation + ": derivative by the rate");
  }
}

// Two point masses on rods: the derivatives of the textbook's equations for the absolute angles, moving and at rest in a place that is no equilibrium.
TEST(StateSpace, OfAMovingDoublePendulumIsTheDerivativeOfItsAccelerations) {
  static constexpr double l1 = 0.9, l2 = 0.6, m1 = 1.4, m2 = 0.8;
  const auto accelerations = [](const Eigen::Vector4d& x) {
    const double d = x[0] - x[1], c = std::cos(d), s = std::sin(d);
    Eigen::Matrix2d M;
    M << (m1 + m2) * l1, m2 * l2 * c, l1 * c, l2;
    const Eigen::Vector2d right(-m2 * l2 * x[3] * x[3] * s - (m1 + m2) * kGravity * std::sin(x[0]),
                                l1 * x[2] * x[2] * s - kGravity * std::sin(x[1]));
    return Eigen::Vector2d(M.inverse() * right);
  };
  for (const double speed : {0.0, 1.0}) {
    const Eigen::Vector4d x(0.8, -0.4, 2 * speed, 3 * speed);
    Eigen::Matrix<double, 2, 4> expected;
    for (int k = 0; k < 4; ++k) {
      constexpr double h = 1e-3;
      const auto moved = [&](double by) { return accelerations(x + by * Eigen::Vector4d::Unit(k)); };
      expected.col(k) = (8 * (moved(h) - moved(-h)) - (moved(2 * h) - moved(-2 * h))) / (12 * h);
    }
    ModelBuilder builder({0, -kGravity, 0});
    const Vec3 first(l1 * std::sin(x[0]), -l1 * std::cos(x[0]), 0),
        second = first + Vec3(l2 * std::sin(x[1]), -l2 * std::cos(x[1]), 0);
    // Rods of no inertia about the hinge's axis; across it any.
    const auto mass = [&](const char* name, double m, const Vec3& place, double omega) {
      builder.body(name, "rigid").set("mass", {m}).set("inertia", {1, 1, 1e-12}).set("position", place);
      builder.consistent("velocity").set("angular_velocity", {0, 0, omega});
    };
    mass("upper", m1, first, x[2]);
    mass("lower", m2, second, x[3]);
    builder.joint("top", "revolute")
        .set("between", "ground", "upper")
        .set("at", {0, 0, 0})
        .set("axis", {0, 0, 1});
    builder.joint("middle", "revolute")
        .set("between", "upper", "lower")
        .set("at", first)
        .set("axis", {0, 0, 1});
    const System system = make_system(builder.finish());
    const StateSpace space = state_space(system, start_of(system));
    ASSERT_EQ(space.A.rows(), 4);
    ASSERT_EQ(space.states[0], "upper: rotation z");
    ASSERT_EQ(space.states[1], "lower: rotation z");
    EXPECT_THAT(space.warnings.at(0), HasSubstr("neither an equilibrium nor a steady motion"));
    expect_at_most((space.A.bottomRows(2) - expected).cwiseAbs().maxCoeff() / expected.norm(), 1e-8,
                   fmt::format("speed {}: A - derivatives of the accelerations", speed));
  }
}

TEST(StateSpace, ItsEigenvaluesAreThoseOfTheModes) {
  const CartPendulum model;
  const System system = make_system(model.model());
  const StateSpace space = state_space(system, start_of(system));
  const Modes found = modes(system, start_of(system));
  const Eigen::VectorXcd all = Eigen::EigenSolver<Eigen::MatrixXd>(space.A).eigenvalues();
  for (const Mode& mode : found.modes) {
    double nearest = 1e300;
    for (const std::complex<double>& s : all) nearest = std::min(nearest, std::abs(s - mode.eigenvalue));
    expect_at_most(nearest, 1e-11,
                   fmt::format("{:.6g} {:+.6g} i", mode.eigenvalue.real(), mode.eigenvalue.imag()));
  }
}

TEST(StateSpace, NamesThatDoNotExistAreRefused) {
  const CartPendulum model;
  const System system = make_system(model.model());
  const State state = start_of(system);
  const auto refusal = [&](const StateSpaceOptions& options) -> std::string {
    try {
      state_space(system, state, options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refusal({.outputs = {"phy"}}), HasSubstr("did you mean 'phi'?"));
  EXPECT_THAT(refusal({.inputs = {"forces.push.force[7]"}}), HasSubstr("forces.push.force"));
  EXPECT_THAT(refusal({.inputs = {"joints.hinge.at[1]"}}), HasSubstr("cannot be an input"));
  EXPECT_EQ(state_space(system, state, {.inputs = {"forces.push"}}).inputs.size(), 3u);
}

}  // namespace
}  // namespace liedyn
