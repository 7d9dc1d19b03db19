// Shipped models against their known answers, through the files that users run.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "liedyn/analyses/advice.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/base/paths.h"
#include "liedyn/io/read_model.h"
#include "liedyn/model/testing.h"
#include "liedyn/system/tree_state.h"

namespace liedyn {
namespace {

// Final values of the sensors, by their order in the model.
Eigen::VectorXd run_to(const System& system, double end, double step, const std::string& integrator = {}) {
  SimulateOptions options = default_options(system.model().description());
  if (!integrator.empty()) options.integrator = integrator;
  options.end = end;
  options.step = step;
  options.output_every = 0;
  const Result result = simulate(system, options);
  EXPECT_TRUE(result.summary.completed) << result.summary.failure;
  const Trajectory& t = result.trajectory;
  Eigen::VectorXd out(t.columns - 1);
  for (int i = 1; i < t.columns; ++i) out[i - 1] = t.at(t.rows() - 1, i);
  return out;
}

System shipped(const std::string& name, const std::string& formulation) {
  const auto description = std::make_shared<const Description>(read_model(name));
  return System(Model::compile(description, formulation), Params(description));
}

// (4 y(h/2) - y(h))/3 removes the leading error of a second-order method.
Eigen::VectorXd extrapolated(const System& system, double end, double step) {
  return (4 * run_to(system, end, step / 2) - run_to(system, end, step)) / 3;
}

TEST(EveryShippedModel, HasPlausibleUnitsAndAStepThatWillDo) {
  for (const std::string& name : model_names()) {
    const System system = in_absolute_coordinates(shipped(name, ""));
    EXPECT_THAT(unit_advice(system), ::testing::IsEmpty()) << name;
    const SimulateOptions options = default_options(system.model().description());
    Work work(system);
    const State state = consistent_state(system, options.start, initial_policy(options.initial), work);
    const std::optional<FastestMotion> fastest = fastest_motion(system, state);
    if (!fastest) continue;
    const StepAdvice advice =
        step_advice(system, *fastest, options.integrator, options.step, options.end - options.start);
    fmt::print("  {:<26} |s| {:10.4g} 1/s, h |s| {:9.3g}\n", name, std::abs(fastest->s), advice.angle);
    EXPECT_EQ(advice.warning, "") << name;
  }
}

TEST(Rotor, MeetsTheReferenceOnEveryGroup) {
  // Two independent integrations: the full equations with an eighth-order Runge-Kutta method at tolerance 1e-12 (six
  // digits of y and z), and those of a symmetric rotor in inertial axes with a fourth-order one, h = 2e-6.
  struct Known {
    double t;
    Vec3 left, right;
  };
  const Known known[] = {{0.25,
                          {-0.10999999959108, 2.814018238e-5, 8.706486004e-5},
                          {0.08999991695324, -2.811794317e-5, -8.676635261e-5}},
                         {0.5,
                          {-0.10999999969229, 1.0135698418e-4, 1.4124831303e-4},
                          {0.08999969810959, -1.0134473482e-4, -1.4122500204e-4}}};
  for (const std::string formulation : {"r3so3", "r3so3-spatial", "se3"}) {
    const System system = shipped("rotor", formulation);
    for (const Known& k : known) {
      // Screw motions do not suit a rotor that stays in place: on SE3 its error is still far from h^2 at 1e-5.
      if (formulation == "se3" && k.t > 0.25) continue;
      const Eigen::VectorXd sensors = extrapolated(system, k.t, formulation == "se3" ? 2e-6 : 1e-5);
      const std::string name = fmt::format("{}, t = {}: ", formulation, k.t);
      expect_at_most((sensors.segment<3>(0) - k.left).norm(), 5e-9, name + "left");
      expect_at_most((sensors.segment<3>(3) - k.right).norm(), 5e-9, name + "right");
    }
  }
}

// First value of a sensor.
int column(const System& system, const std::string& name) {
  for (const Sensor& sensor : system.model().sensors)
    if (sensor.name == name) return sensor.first;
  ADD_FAILURE() << "no sensor " << name;
  return 0;
}

TEST(SliderCrank, MeetsTheReferenceInEveryFormulation) {
  // From an integration of the index-reduced equations with an eighth-order Runge-Kutta method at tolerance 1e-12.
  struct Known {
    double t, position, velocity, speed;
  };
  const Known known[] = {{0.5, 0.1849526298, -0.004560291, 14.408160810},
                         {1.0, 0.2117216614, -0.503491865, 10.427593000},
                         {2.0, 0.2890851971, 0.216539424, 22.584240030}};
  for (const std::string formulation : {"r3so3", "r3so3-spatial", "se3", "euler-parameters", "minimal"}) {
    const System system = shipped("slider_crank", formulation);
    for (const Known& k : known) {
      const Eigen::VectorXd sensors = extrapolated(system, k.t, 1e-4);
      const std::string name = fmt::format("{}, t = {}: ", formulation, k.t);
      expect_at_most(std::abs(sensors[column(system, "slider_position")] - k.position), 1e-10,
                     name + "slider position");
      expect_at_most(std::abs(sensors[column(system, "slider_velocity")] - k.velocity), 1e-8,
                     name + "slider velocity");
      expect_at_most(std::abs(sensors[column(system, "crank_speed")] - k.speed), 1e-7, name + "crank speed");
    }
  }
}

TEST(SliderCrank, ConvergesWithOrderTwoInEveryIndex) {
  for (const std::string index : {"3", "2", "stabilized"})
    for (const std::string formulation : {"r3so3", "euler-parameters", "minimal"}) {
      const System system = shipped("slider_crank", formulation);
      std::vector<double> errors;
      for (const double h : {1e-3, 5e-4})
        errors.push_back(
            std::abs(run_to(system, 2, h,
                            "generalized-alpha,rho=0.875,index=" + index)[column(system, "slider_position")] -
                     0.2890851971));
      expect_between(std::log2(errors[0] / errors[1]), 1.9, 2.1,
                     fmt::format("index {}, {}: order of the slider position", index, formulation));
    }
}

// Three models against integrations in minimal coordinates (their README files say which).
struct KnownSensors {
  const char* model;
  double t, step;
  const char* sensor;
  std::vector<double> values;
  double tolerance;
};

TEST(Mechanisms, MeetTheirReferencesInEveryIndex) {
  const KnownSensors known[] = {
      {"four_bar", 0.5, 5e-4, "C", {0.118202885136, 0.158636259445, 0}, 2e-7},
      {"four_bar", 0.5, 5e-4, "crank_speed", {15.626367877764}, 2e-4},
      {"bricard", 1, 1e-3, "P3", {0.274481319274, -0.886707938736, -0.462330002685}, 1e-8},
      {"flyball_governor", 1, 1e-3, "s", {0.501420922380}, 1e-6},
      {"flyball_governor", 1, 1e-3, "shaft_speed", {6.271125741876}, 1e-5}};
  for (const KnownSensors& k : known)
    for (const std::string index : {"3", "2", "stabilized"}) {
      const System system = shipped(k.model, "r3so3");
      const std::string integrator = "generalized-alpha,rho=0.9,index=" + index;
      const Eigen::VectorXd sensors =
          (4 * run_to(system, k.t, k.step / 2, integrator) - run_to(system, k.t, k.step, integrator)) / 3;
      const Eigen::Map<const Eigen::VectorXd> values(k.values.data(),
                                                     static_cast<Eigen::Index>(k.values.size()));
      expect_at_most((sensors.segment(column(system, k.sensor), values.size()) - values).norm(), k.tolerance,
                     fmt::format("{}, index {}, {} at t = {}", k.model, index, k.sensor, k.t));
    }
}

// Closed loops of links against integrations with other unknowns (their README files say which).
TEST(GeneratedNets, MeetTheirReferences) {
  const KnownSensors known[] = {
      {"ring", 0.5, 5e-4, "far", {3.141454864297, 0, -1.226415607439}, 1e-9},
      {"ring", 0.5, 5e-4, "side", {1.916451239268, 1.420713754960, -1.218717521306}, 1e-9},
      {"net", 0.3, 1e-3, "corner", {7.9337679928, 6.2532472701, -0.4414499011}, 1e-9},
      {"net", 0.3, 1e-3, "middle", {7.9790203618, 2.6996532387, -0.4414497095}, 1e-9}};
  for (const KnownSensors& k : known) {
    const System system = shipped(k.model, "r3so3");
    const Eigen::Map<const Vec3> values(k.values.data());
    const Eigen::VectorXd sensors = extrapolated(system, k.t, k.step);
    expect_at_most((sensors.segment<3>(column(system, k.sensor)) - values).norm(), k.tolerance,
                   fmt::format("{}: {} at t = {}", k.model, k.sensor, k.t));
  }
}

TEST(Mechanisms, NameTheirRedundantConstraints) {
  for (const auto& [model, count] :
       {std::pair("four_bar", 3), std::pair("bricard", 1), std::pair("flyball_governor", 0)}) {
    const System system = shipped(model, "r3so3");
    SimulateOptions options = default_options(system.model().description());
    options.end = 0.01;
    const Summary summary = simulate(system, options).summary;
    EXPECT_EQ(summary.redundant.size(), static_cast<std::size_t>(count)) << model;
    EXPECT_EQ(summary.degrees_of_freedom, model == std::string("flyball_governor") ? 4 : 1) << model;
    EXPECT_EQ(summary.warnings.size(), count > 0 ? 1u : 0u) << model;
  }
}

TEST(AndrewsSqueezer, MeetsTheReferenceOnBothGroupsOfThePlane) {
  // From an integration of the index-reduced equations with an eighth-order Runge-Kutta method at tolerance 1e-12.
  struct Known {
    double t, beta, omega;
  };
  const Known known[] = {{0.01, 2.153381340, 709.952889}, {0.03, 15.800174671, 1140.103976}};
  for (const std::string formulation : {"r3so3", "se3"}) {
    const System system = shipped("andrews_squeezer", formulation);
    for (const Known& k : known) {
      const Eigen::VectorXd sensors = extrapolated(system, k.t, 2e-5);
      const std::string name = fmt::format("{}, t = {}: ", formulation, k.t);
      expect_at_most(std::abs(sensors[column(system, "beta")] - k.beta) / k.beta, 1e-8,
                     name + "beta, relative");
      expect_at_most(std::abs(sensors[column(system, "omega")] - k.omega) / k.omega, 1e-7,
                     name + "omega, relative");
    }
  }
}

// In space three loops hold the plane once more each: a displacement and two tilts.
TEST(AndrewsSqueezer, MovesInSpaceAsInThePlaneAndNamesItsRedundantRows) {
  const System plane = shipped("andrews_squeezer", "r3so3"),
               space = shipped("andrews_squeezer_spatial", "r3so3");
  const Eigen::VectorXd expected = run_to(plane, 0.01, 2e-5), sensors = run_to(space, 0.01, 2e-5);
  for (const std::string name : {"beta", "omega", "energy_balance"})
    expect_at_most(std::abs(sensors[column(space, name)] - expected[column(plane, name)]) /
                       std::max(1.0, std::abs(expected[column(plane, name)])),
                   1e-9, "space - plane, relative: " + name);
  SimulateOptions options = default_options(space.model().description());
  options.end = 1e-4;
  const Summary summary = simulate(space, options).summary;
  EXPECT_EQ(summary.redundant.size(), 9u);
  EXPECT_EQ(summary.degrees_of_freedom, 1);
}

// The balance (23) of the A-stable paper, E - E_0 - T (beta - beta_0), of an energy of 0.5 J at the end.
TEST(AndrewsSqueezer, BalancesEnergyAndWorkToTheErrorOfTheMethod) {
  const System system = shipped("andrews_squeezer", "r3so3");
  struct Method {
    std::string integrator;
    double order;
  };
  for (const Method& m : {Method{"generalized-alpha,rho=0.9", 2},
                          {"generalized-alpha,rho=0.9,index=2", 2},
                          {"generalized-alpha,rho=0.9,index=stabilized", 2},
                          {"lms2,rho=0.6", 2},
                          {"esdirk4-6,index=2", 3}}) {
    std::vector<double> balance;
    for (const double h : {4e-5, 2e-5})
      balance.push_back(std::abs(run_to(system, 0.03, h, m.integrator)[column(system, "energy_balance")]));
    expect_at_most(balance[1], m.order == 3 ? 1e-6 : 3e-4, m.integrator + ": energy balance [J]");
    expect_between(std::log2(balance[0] / balance[1]), m.order - 0.15, m.order + 0.15,
                   m.integrator + ": order of the energy balance");
  }
}

// From the classical Runge-Kutta method on its five first-order equations, in steps of 1e-4. The voltage leaves its limit at a corner.
TEST(ControlledArm, MeetsTheReference) {
  struct Known {
    double t, angle, rate, current;
  };
  const System system = shipped("controlled_arm", "r3so3");
  for (const Known& k : {Known{0.05, 0.2274883946, 9.148283919, 26.193586198},
                         {1, 1.2527064609, -0.1022858436, 1.4130421521},
                         {3, 1.2010723430, -0.0020879092, 1.5958948335}}) {
    const Eigen::VectorXd sensors = run_to(system, k.t, 1e-4);
    const std::string name = fmt::format("t = {}: ", k.t);
    expect_at_most(std::abs(sensors[column(system, "angle")] - k.angle), 2e-5, name + "angle");
    expect_at_most(std::abs(sensors[column(system, "rate")] - k.rate), 2e-3, name + "rate");
    expect_at_most(std::abs(sensors[column(system, "current_now")] - k.current), 2e-2, name + "current");
  }
}

// Speeds from the equation of the restitution and closed forms; the README files say which.
TEST(Contacts, MeetTheirClosedForms) {
  const System slider = shipped("slider_on_a_stop", "r3so3");
  const Eigen::VectorXd stopped = extrapolated(slider, 0.7, 2e-5);
  expect_at_most(std::abs(stopped[column(slider, "v")] - 0.53918094), 1e-5,
                 "slider: speed after two impacts");
  expect_at_most(std::abs(stopped[column(slider, "x")] - 0.06462181), 3e-6, "slider: displacement");

  const System ball = shipped("bouncing_ball", "r3so3");
  const Eigen::VectorXd rolls = run_to(ball, 3, 1e-2);
  expect_at_most(std::abs(rolls[column(ball, "velocity")] - 10.0 / 7), 1e-3, "ball: speed - 5/7 v");
  expect_at_most(std::abs(rolls[column(ball, "slip")]), 3e-4, "ball: slip");

  const System wheel = shipped("wheel_on_an_incline", "r3so3");
  const Eigen::VectorXd down = run_to(wheel, 2, 1e-3);
  expect_at_most(std::abs(down[column(wheel, "position")] - 4.473623), 1e-3, "wheel: distance");
}

// An integration of the two free coordinates by an eighth-order Runge-Kutta method at tolerance 1e-12.
TEST(Contacts, ASliderCrankWithClearanceMeetsTheReference) {
  const System system = shipped("clearance_slider_crank", "r3so3");
  struct Known {
    double t, x, v;
  };
  for (const Known& k : {Known{1e-3, 0.161201791, -19.027139},
                         {2e-3, 0.137362858, -28.866514},
                         {4e-3, 0.086521490, -17.625633}}) {
    const Eigen::VectorXd sensors = run_to(system, k.t, 1e-5, "esdirk4-6,adaptive=true,rtol=1e-8");
    const std::string name = fmt::format("t = {}: ", k.t);
    expect_at_most(std::abs(sensors[column(system, "slider")] - k.x), 1e-8, name + "slider");
    expect_at_most(std::abs(sensors[column(system, "slider_velocity")] - k.v), 1e-4,
                   name + "velocity of the slider");
  }
}

// Torques that hold the arm at rest: (0, 37.4837, 0.2489, 0, 0, 0) at zero angles, (0, 31.6399, 6.0351, 0, 0.0283, 0) in the nominal
// configuration (Robotics Toolbox of P. Corke). In minimal coordinates they are the residual without motors.
TEST(Puma, HoldsItsWeightAsPublished) {
  const auto description = std::make_shared<const Description>(read_model("puma560"));
  Params params(description);
  params.set("gain", 0);
  const System system(Model::compile(description, "minimal"), params);
  ASSERT_EQ(system.model().nv, 6);
  ASSERT_EQ(system.model().rows, 0);
  const double quarter = std::numbers::pi / 4;
  Eigen::Matrix<double, 6, 1> zero = Eigen::Matrix<double, 6, 1>::Zero(), nominal = zero, at_zero = zero,
                              at_nominal = zero;
  nominal << 0, quarter, 4 * quarter, 0, quarter, 0;
  at_zero << 0, 37.4837, 0.2489, 0, 0, 0;
  at_nominal << 0, 31.6399, 6.0351, 0, 0.0283, 0;
  Work work(system);
  for (const auto& [angles, expected] : {std::pair(zero, at_zero), std::pair(nominal, at_nominal)}) {
    State state = system.empty_state();
    for (std::size_t i = 0; i < 6; ++i) state.q[i] = angles[static_cast<Eigen::Index>(i)];
    system.residual(state, work, {});
    expect_at_most((as_vector(work.r) - expected).cwiseAbs().maxCoeff(), 5.1e-5,
                   "torques of the weight, to the digits printed");
  }
}

// Joint angles, and those that the motors are to follow.
std::pair<Eigen::VectorXd, Eigen::VectorXd> puma_angles(const std::string& formulation, double end,
                                                        double step) {
  const System system = shipped("puma560", formulation);
  const Eigen::VectorXd sensors = run_to(system, end, step);
  const auto part = [&](const std::string& name) -> Eigen::VectorXd {
    for (const Sensor& sensor : system.model().sensors)
      if (sensor.name == name) return sensors.segment(sensor.first, sensor.components);
    throw std::out_of_range(name);
  };
  return {part("joint_angles"), part("targets")};
}

TEST(Puma, FollowsTheProfile) {
  for (const double t : {0.25, 0.5, 0.75, 1.0}) {
    const auto [angles, targets] = puma_angles("minimal", t, 1e-3);
    expect_at_most((angles - targets).cwiseAbs().maxCoeff(), 0.025,
                   fmt::format("t = {}: angles - targets [rad]", t));
  }
  Eigen::VectorXd goal(6);
  goal << -120, 60, -200, 90, 90, 45;
  expect_at_most(
      (puma_angles("minimal", 1, 1e-3).first - std::numbers::pi / 180 * goal).cwiseAbs().maxCoeff(), 0.025,
      "angles at the end - goal [rad]");
}

TEST(Puma, FormulationsConvergeToEachOtherWithOrderTwo) {
  for (const std::string formulation : {"r3so3", "se3", "euler-parameters", "cardan"}) {
    std::vector<double> differences;
    for (const double h : {2e-3, 1e-3, 5e-4})
      differences.push_back(
          (puma_angles(formulation, 1, h).first - puma_angles("minimal", 1, h).first).cwiseAbs().maxCoeff());
    const double order = std::log2(differences.front() / differences.back()) / 2;
    fmt::print("  {}: differences {:.2e} {:.2e} {:.2e}\n", formulation, differences[0], differences[1],
               differences[2]);
    expect_between(order, 1.7, 2.3, formulation + ": order of the difference to minimal coordinates");
  }
}

// The same rod as a geometrically exact beam, 16 elements with three nodes: 7.074e-4 m. One floating frame lacks the influence of the axial force.
TEST(SliderCrankFlexible, DeflectsNearlyAsTheExactBeamDoesInEveryFormulation) {
  constexpr int kDeflection = 10;
  for (const std::string& formulation : formulations()) {
    const Eigen::VectorXd sensors = run_to(shipped("slider_crank_flexible", formulation), 0.01, 5e-5);
    expect_between(sensors[kDeflection], 7.65e-4, 7.77e-4, formulation + ": deflection at 0.01 s");
  }
}

}  // namespace
}  // namespace liedyn
