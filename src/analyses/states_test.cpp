// First-order states in equilibria, modes and state spaces, against closed forms and against simulations.
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/analyses/eigenvalues.h"
#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/operating_point.h"
#include "liedyn/analyses/state_space.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/base/decompositions.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Complex = std::complex<double>;
// The distance of a value from the nearest of some, relative to its size.
double distance(const Complex& value, const Eigen::VectorXcd& among) {
  return (among.array() - value).abs().minCoeff() / std::max(std::abs(value), 1e-300);
}
Eigen::VectorXcd eigenvalues(const Eigen::MatrixXd& A) {
  const Balanced b = balanced(A);
  return Eigen::EigenSolver<Eigen::MatrixXd>(b.A).eigenvalues();
}

// A shaft with a DC motor:   J w' = k i - b w + torque,   L i' = voltage - R i - k w.
struct Motor {
  double J = 0.02, b = 0.05, k = 0.4, R = 1.5, L = 3e-3;
  std::shared_ptr<const Description> model() const {
    ModelBuilder builder({0, 0, 0});
    builder.body("shaft", "rigid").set("mass", {2}).set("inertia", {0.05, 0.05, J});
    builder.joint("bearing", "revolute")
        .set("between", "ground", "shaft")
        .set("at", {0, 0, 0})
        .set("axis", {0, 0, 1});
    builder.sensor("speed", "joint_angle_rate").set("of", std::string("bearing"));
    builder.sensor("current_now", "state").set("of", std::string("current"));
    builder.state("current", "expression").set("rate", fmt::format("(-{}*current - {}*speed)/{}", R, k, L));
    builder.force("motor", "joint_effort")
        .set("joint", std::string("bearing"))
        .set("effort", fmt::format("{}*current - {}*speed", k, b));
    builder.force("load", "torque").set("on", std::string("shaft")).set("torque", {0, 0, 0});
    return builder.finish();
  }
  // Of J L s^2 + (J R + L b) s + R b + k^2.
  Eigen::Vector2cd poles() const {
    const double half = (J * R + L * b) / (2 * J * L);
    const Complex root = std::sqrt(Complex(half * half - (R * b + k * k) / (J * L)));
    return {-half - root, -half + root};
  }
};

TEST(ModesWithStates, AMotorHasItsTwoPolesAndAFreeShaft) {
  const Motor motor;
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(motor.model(), formulation);
    const Modes found = modes(system, start_of(system));
    EXPECT_EQ(found.degrees_of_freedom, 1);
    EXPECT_EQ(found.states, 1);
    EXPECT_TRUE(found.warnings.empty()) << testing::PrintToString(found.warnings);
    ASSERT_EQ(found.modes.size(), 3u);
    EXPECT_TRUE(found.modes[0].rigid) << "the shaft may stand at any angle";
    for (std::size_t i = 1; i < 3; ++i) {
      expect_at_most(distance(found.modes[i].eigenvalue, motor.poles()), 1e-10,
                     fmt::format("{}: pole {:.6g}", formulation, found.modes[i].eigenvalue.real()));
      // L s i = -R i - k s phi: the state stands beside the angle.
      const Complex s = found.modes[i].eigenvalue, angle = found.modes[i].shape[5],
                    current = found.modes[i].shape[6];
      expect_at_most(
          std::abs((motor.L * s + motor.R) * current + motor.k * s * angle) / std::abs(motor.k * s), 1e-9,
          "current beside the angle");
    }
  }
}

TEST(StateSpaceWithStates, TransferFunctionOfAMotorIsTheClosedForm) {
  const Motor motor;
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(motor.model(), formulation);
    const StateSpace space = state_space(system, start_of(system), {.inputs = {"forces.load.torque[2]"}});
    EXPECT_THAT(space.states, ElementsAre("shaft: rotation z", "shaft: rotation z rate", "current"));
    for (const double omega : {0.5, 30.0, 900.0}) {
      const Complex s(0.1, omega), electric = motor.L * s + motor.R;
      const Complex speed = electric / ((motor.J * s + motor.b) * electric + motor.k * motor.k);
      const Eigen::MatrixXcd G = space.transfer(s);
      expect_at_most(std::abs(G(0, 0) - speed) / std::abs(speed), 1e-10, "torque to speed");
      expect_at_most(std::abs(G(1, 0) + motor.k * speed / electric) / std::abs(motor.k * speed / electric),
                     1e-10, "torque to current");
    }
  }
}

// J s w = u - b w + torque, with the effort u: a number is an input as the torque is, what follows sensors is part of the system.
TEST(StateSpaceWithStates, EffortsAreInputsUnlessTheyFollowSensors) {
  const auto shaft = [](const std::string& effort) {
    ModelBuilder b({0, 0, 0});
    b.parameter("u", 0.7);
    b.body("shaft", "rigid").set("mass", {2}).set("inertia", {0.05, 0.05, 0.02});
    b.joint("bearing", "revolute")
        .set("between", "ground", "shaft")
        .set("at", {0, 0, 0})
        .set("axis", {0, 0, 1});
    b.sensor("speed", "joint_angle_rate").set("of", "bearing");
    b.force("motor", "joint_effort").set("joint", "bearing").set("effort", effort);
    b.force("drag", "joint_spring").set("joint", "bearing").set("damping", {0.05});
    b.force("load", "torque").set("on", "shaft").set("torque", {0, 0, 0});
    return make_system(b.finish());
  };
  const Complex s(0.1, 3), expected = 1.0 / (0.02 * s + 0.05);
  for (const std::string effort : {"0.7", "u", "u*cos(3*t)"}) {
    const System system = shaft(effort);
    const StateSpace space = state_space(system, start_of(system), {.outputs = {"speed"}});
    EXPECT_THAT(space.inputs, ElementsAre("forces.motor.effort", "forces.load.torque[0]",
                                          "forces.load.torque[1]", "forces.load.torque[2]"))
        << effort;
    const Eigen::MatrixXcd G = space.transfer(s);
    expect_at_most(std::abs(G(0, 0) - expected) / std::abs(expected), 1e-10, effort + ": effort to speed");
    expect_at_most(std::abs(G(0, 3) - G(0, 0)) / std::abs(expected), 1e-10, effort + ": as the torque");
  }
  const System controlled = shaft("u - 0.3*speed");
  const StateSpace space = state_space(controlled, start_of(controlled), {.outputs = {"speed"}});
  EXPECT_THAT(space.inputs,
              ElementsAre("forces.load.torque[0]", "forces.load.torque[1]", "forces.load.torque[2]"));
  const Complex slowed = 1.0 / (0.02 * s + 0.35);
  expect_at_most(std::abs(space.transfer(s)(0, 2) - slowed) / std::abs(slowed), 1e-10,
                 "controlled: torque to speed");
  EXPECT_THAT([&] { state_space(controlled, start_of(controlled), {.inputs = {"forces.motor"}}); },
              ::testing::ThrowsMessage<InputError>(HasSubstr("has no load of its own")));
}

// A mass on a rail that a PID controller keeps in its place:   m x'' = -P x - I z - D x' + F,   z' = x.
struct ControlledMass {
  double m = 2, P = 50, D = 6, I = 30;
  std::shared_ptr<const Description> model(double force = 0, double start = 0) const {
    ModelBuilder builder({0, 0, 0});
    builder.body("mass", "rigid").set("mass", {m}).set("inertia", {1, 1, 1});
    builder.joint("rail", "prismatic")
        .set("between", "ground", "mass")
        .set("at", {0, 0, 0})
        .set("axis", {1, 0, 0});
    builder.sensor("x", "joint_displacement").set("of", std::string("rail"));
    builder.sensor("v", "joint_displacement_rate").set("of", std::string("rail"));
    builder.sensor("sum", "state").set("of", std::string("z"));
    builder.sensor("slow", "state").set("of", std::string("lag"));
    builder.state("z", "integral").set("initial", {start}).set("input", std::string("x"));
    builder.state("lag", "filter").set("input", std::string("x")).set("time_constant", {0.7});
    builder.force("controller", "joint_effort")
        .set("joint", std::string("rail"))
        .set("effort", fmt::format("-{}*x - {}*z - {}*v", P, I, D));
    builder.force("push", "force").set("on", std::string("mass")).set("force", {force, 0, 0});
    return builder.finish();
  }
};

TEST(StateSpaceWithStates, APidLoopHasItsCharacteristicPolynomialAndAFilterItsPole) {
  const ControlledMass loop;
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(loop.model(), formulation);
    const StateSpace space = state_space(system, start_of(system), {.inputs = {"forces.push.force[0]"}});
    ASSERT_EQ(space.A.rows(), 4);
    // (s + 1/0.7) (m s^3 + D s^2 + P s + I)/m at points of the plane
    for (const Complex& s : {Complex(1, 2), Complex(-3, 0.5), Complex(0, 7)}) {
      const Complex expected =
          (s + 1 / 0.7) * (loop.m * s * s * s + loop.D * s * s + loop.P * s + loop.I) / loop.m;
      const Complex got = (s * Eigen::MatrixXcd::Identity(4, 4) - space.A.cast<Complex>()).determinant();
      expect_at_most(std::abs(got - expected) / std::abs(expected), 1e-12, "characteristic polynomial");
      // x/F = s/(m s^3 + D s^2 + P s + I); the filter follows.
      const Complex x = s / (loop.m * s * s * s + loop.D * s * s + loop.P * s + loop.I);
      const Eigen::MatrixXcd G = space.transfer(s);
      expect_at_most(std::abs(G(0, 0) - x) / std::abs(x), 1e-10, "force to place");
      expect_at_most(std::abs(G(3, 0) - x / (1.0 + 0.7 * s)) / std::abs(x), 1e-10,
                     "force to the filtered place");
    }
    const Modes found = modes(system, start_of(system));
    Eigen::VectorXcd all(static_cast<Eigen::Index>(found.modes.size()));
    for (std::size_t i = 0; i < found.modes.size(); ++i)
      all[static_cast<Eigen::Index>(i)] = found.modes[i].eigenvalue;
    expect_at_most(distance(-1 / 0.7, all), 1e-11, "pole of the filter");
    for (const Complex& s : eigenvalues(space.A))
      if (s.imag() >= 0) expect_at_most(distance(s, all), 1e-10, "modes and state space");
    const Modes held = modes(system, start_of(system), {.undamped = true});
    ASSERT_EQ(held.modes.size(), 1u);
    expect_at_most(std::abs(held.modes[0].eigenvalue - Complex(0, std::sqrt(loop.P / loop.m))), 1e-11,
                   "without damping and with the states held, s^2 = -P/m");
    EXPECT_THAT(held.warnings, ElementsAre(HasSubstr("kept constant")));
  }
}

TEST(StaticsWithStates, AnIntegratorTakesTheLoadAndTheMassIsInItsPlace) {
  ControlledMass loop;
  for (const std::string& formulation : absolute_formulations()) {
    const System system = make_system(loop.model(12, 0.1), formulation);
    const StaticResult found = find_equilibrium(system);
    ASSERT_TRUE(found.converged) << found.failure;
    const std::vector<double>& s = found.steps.back().sensors;
    expect_at_most(std::abs(s[0]), 1e-10, "place");
    expect_at_most(std::abs(s[2] - 12 / loop.I), 1e-10, "integral - F/I");
    EXPECT_EQ(found.unstable_directions, 0);
    EXPECT_TRUE(found.indifferent.empty()) << testing::PrintToString(found.indifferent);
  }
  // Routh: stable for D P > m I.
  loop.I = 1.01 * loop.D * loop.P / loop.m;
  const StaticResult found = find_equilibrium(make_system(loop.model(12)));
  ASSERT_TRUE(found.converged) << found.failure;
  EXPECT_EQ(found.unstable_directions, 2);
}

// An arm with weight, lifted by a motor with PID control: gravity makes it nonlinear, the limits of the voltage are met on the way.
std::shared_ptr<const Description> arm(double push, double target = 1.2) {
  ModelBuilder builder({0, -kGravity, 0});
  builder.body("arm", "planar").set("mass", {1.2}).set("inertia", {0.036}).set("position", {0.3, 0});
  builder.joint("hinge", "planar_revolute").set("between", "ground", "arm").set("at", {0, 0});
  builder.sensor("angle", "joint_angle").set("of", std::string("hinge"));
  builder.sensor("rate", "joint_angle_rate").set("of", std::string("hinge"));
  builder.sensor("ampere", "state").set("of", std::string("current"));
  builder.state("deviation", "integral").set("input", fmt::format("{} - angle", target));
  builder.state("smooth", "filter").set("input", std::string("rate")).set("time_constant", {5e-3});
  builder.state("current", "expression")
      .set("rate",
           fmt::format(
               "(max(-24, min(24, 40*({} - angle) + 60*deviation - 3*smooth)) - 0.5*current - 0.8*rate)/2e-3",
               target));
  builder.force("motor", "joint_effort")
      .set("joint", std::string("hinge"))
      .set("effort", std::string("0.8*current - 0.02*rate"));
  builder.force("push", "torque").set("on", std::string("arm")).set("torque", {0, 0, push});
  return builder.finish();
}

TEST(StaticsWithStates, TheControlledArmStandsAtItsTarget) {
  for (const double target : {1.2, -0.7, 3.0}) {
    const System system = make_system(arm(0, target));
    const StaticResult found = find_equilibrium(system);
    ASSERT_TRUE(found.converged) << found.failure;
    const std::vector<double>& s = found.steps.back().sensors;
    expect_at_most(std::abs(s[0] - target), 1e-9, "angle - target");
    expect_at_most(std::abs(0.8 * s[2] - 1.2 * kGravity * 0.3 * std::cos(target)), 1e-8, "torque - weight");
    EXPECT_EQ(found.unstable_directions, 0);
  }
}

TEST(StateSpaceWithStates, FollowsTheSimulationOfASmallPush) {
  const double push = 1e-3, end = 0.4;
  const System still = make_system(arm(0)), pushed = make_system(arm(push));
  const StaticResult rest = find_equilibrium(still);
  ASSERT_TRUE(rest.converged) << rest.failure;
  const StateSpace space =
      state_space(still, rest.state, {.inputs = {"forces.push.torque[2]"}, .outputs = {"angle", "ampere"}});
  SimulateOptions options = default_options(pushed.model().description());
  options.end = end;
  options.step = 2e-5;
  options.integrator = "rk44";
  options.output_every = 0;
  options.from = std::make_shared<const Configuration>(configuration_of(still, rest.state));
  const Result result = simulate(pushed, options);
  ASSERT_TRUE(result.summary.completed) << result.summary.failure;
  // x(t) = A^-1 (exp(A t) - 1) B u
  const Eigen::EigenSolver<Eigen::MatrixXd> eigen(space.A);
  const Eigen::MatrixXcd V = eigen.eigenvectors();
  Eigen::VectorXcd z = V.partialPivLu().solve((space.B * push).cast<Complex>());
  for (Eigen::Index i = 0; i < z.size(); ++i)
    z[i] *= (std::exp(eigen.eigenvalues()[i] * end) - 1.0) / eigen.eigenvalues()[i];
  const Eigen::VectorXd y = space.C * (V * z).real() + space.D * Eigen::VectorXd::Constant(1, push);
  for (int i = 0; i < 2; ++i) {
    const double simulated = result.trajectory.at(result.trajectory.rows() - 1, 1 + i * 2) -
                             space.output_values[static_cast<std::size_t>(i)];
    expect_at_most(std::abs(y[i] - simulated) / std::abs(simulated), 1e-4,
                   fmt::format("{}: {:.6g}", space.outputs[static_cast<std::size_t>(i)], simulated));
  }
}

TEST(StaticsWithStates, ARateThatCannotVanishIsNamed) {
  ModelBuilder builder({0, 0, 0});
  builder.body("mass", "point").set("mass", {1});
  builder.force("spring", "spring_damper")
      .set("between", "ground", "mass")
      .set("points", {-1, 0, 0, 0, 0, 0})
      .set("stiffness", {10});
  builder.state("clock", "integral").set("input", std::string("2"));
  const StaticResult found = find_equilibrium(make_system(builder.finish()));
  EXPECT_FALSE(found.converged);
  EXPECT_THAT(found.failure, HasSubstr("the rates of these states are not zero and depend on nothing"));
  EXPECT_THAT(found.failure, HasSubstr("states.clock (2 per second)"));
}

TEST(StaticsWithStates, AStateThatNothingDeterminesStaysAndIsNamed) {
  ModelBuilder builder({0, 0, -kGravity});
  builder.body("bob", "rigid")
      .set("mass", {1})
      .set("inertia", {0.1, 0.1, 0.1})
      .set("position", {0.3, 0, -0.6});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "bob")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.sensor("rate", "joint_angle_rate").set("of", std::string("hinge"));
  builder.state("path", "integral").set("initial", {0.25}).set("input", std::string("rate"));
  builder.sensor("path_now", "state").set("of", std::string("path"));
  const StaticResult found = find_equilibrium(make_system(builder.finish()));
  ASSERT_TRUE(found.converged) << found.failure;
  EXPECT_NEAR(found.steps.back().sensors[1], 0.25, 1e-12);
  EXPECT_THAT(found.indifferent, ElementsAre(HasSubstr("state path")));
}

// A filter that acts on nothing has a mode of its own, in which nothing moves; one that pushes moves the mass, however little it does so in numbers.
TEST(ModesWithStates, OfWhatActsOnNothingNothingMoves) {
  for (const std::string push : {"0", "1e-9*lag"}) {
    ModelBuilder b({0, 0, 0});
    b.body("mass", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
    b.joint("rail", "prismatic").set("between", "ground", "mass").set("at", {0, 0, 0}).set("axis", {1, 0, 0});
    b.force("spring", "joint_spring").set("joint", "rail").set("stiffness", {100});
    b.sensor("rate", "joint_displacement_rate").set("of", "rail");
    b.state("lag", "filter").set("input", "rate").set("time_constant", {0.5});
    b.force("push", "joint_effort").set("joint", "rail").set("effort", push);
    const System system = make_system(b.finish());
    const Modes found = modes(system, start_of(system));
    ASSERT_EQ(found.modes.size(), 2U);
    const Mode& of_filter = found.modes[0];
    EXPECT_NEAR(of_filter.eigenvalue.real(), -2, 1e-8);
    const double share = std::accumulate(of_filter.share.begin(), of_filter.share.end(), 0.0);
    if (push == "0") {
      EXPECT_EQ(share, 0);
      for (std::size_t i = 0; i + 1 < of_filter.shape.size(); ++i) EXPECT_EQ(of_filter.shape[i], 0.0);
      EXPECT_EQ(of_filter.shape.back(), 1.0);
    } else {
      // (s^2 + 100) x = 1e-9 lag at s = -2
      EXPECT_EQ(share, 1);
      expect_at_most(std::abs(of_filter.shape[0] / of_filter.shape.back() * 104.0 / 1e-9 - 1.0), 1e-6,
                     "displacement of the lag's mode");
    }
    EXPECT_EQ(found.modes[1].share[0], 1);
  }
}

TEST(ModesWithStates, SparseAndDenseAgree) {
  // A row of masses on springs; controllers at some of them, one of them fast.
  ModelBuilder builder({0, 0, 0});
  const int masses = 40;
  for (int i = 1; i <= masses; ++i) {
    const std::string name = fmt::format("mass{}", i),
                      before = i == 1 ? "ground" : fmt::format("mass{}", i - 1);
    builder.body(name, "point").set("mass", {1.0}).set("position", {1.0 * i, 0, 0});
    builder.joint(fmt::format("line{}", i), "point_on_line")
        .set("between", "ground", name)
        .set("at", {1.0 * i, 0, 0})
        .set("axis", {1, 0, 0});
    builder.force(fmt::format("spring{}", i), "spring_damper")
        .set("between", before, name)
        .set("points", {1.0 * (i - 1), 0, 0, 1.0 * i, 0, 0})
        .set("stiffness", {100})
        .set("damping", {0.1});
    builder.sensor(fmt::format("x{}", i), "position").set("of", name);
  }
  builder.state("slow", "filter").set("input", std::string("x3[0]")).set("time_constant", {0.8});
  builder.state("fast", "filter").set("input", std::string("x7[0] - slow")).set("time_constant", {1e-4});
  const System system = make_system(builder.finish());
  const State state = start_of(system);
  const Modes dense = modes(system, state, {.count = 8, .solver = "dense"});
  const Modes sparse = modes(system, state, {.count = 8, .solver = "sparse"});
  ASSERT_EQ(sparse.modes.size(), 8u);
  EXPECT_EQ(sparse.states, 2);
  EXPECT_EQ(sparse.degrees_of_freedom, masses);
  for (std::size_t i = 0; i < 8; ++i) {
    const Complex s = dense.modes[i].eigenvalue;
    expect_at_most(std::abs(s - sparse.modes[i].eigenvalue) / std::abs(s), 1e-9,
                   fmt::format("eigenvalue {:.6g} {:+.6g} i", s.real(), s.imag()));
    // 0.8 x' = x_3 - x: the state stands beside the places.
    const Mode& mode = sparse.modes[i];
    const auto state_of = static_cast<std::size_t>(system.model().first_state());
    const auto third = static_cast<std::size_t>(system.model().nodes[2].v);
    expect_at_most(std::abs((1.0 + 0.8 * mode.eigenvalue) * mode.shape[state_of] - mode.shape[third]), 1e-7,
                   "state in the shape");
  }
}

}  // namespace
}  // namespace liedyn
