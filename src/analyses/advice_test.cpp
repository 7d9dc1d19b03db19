#include "liedyn/analyses/advice.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numbers>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A point mass between springs along x.
std::shared_ptr<const Description> oscillator(double mass, double stiffness, double damping) {
  ModelBuilder builder({0, 0, 0});
  builder.body("ball", "point").set("mass", {mass}).set("velocity", {1, 0, 0});
  builder.force("spring", "bushing")
      .set("between", "ground", "ball")
      .set("at", {0, 0, 0})
      .set("stiffness", {stiffness, 0, 0})
      .set("damping", {damping, 0, 0});
  return builder.finish();
}

struct Start {
  explicit Start(const std::shared_ptr<const Description>& description)
      : system(make_system(description)),
        work(system),
        state(consistent_state(system, 0, InitialPolicy::Check, work)) {}
  System system;
  Work work;
  State state;
};

TEST(FastestMotion, IsThatOfAnOscillator) {
  // s^2 + (c/m) s + k/m = 0
  for (const auto& [m, k, c] : {std::array{2.0, 800.0, 0.0}, std::array{2.0, 800.0, 8.0},
                                std::array{1e-3, 1e9, 10.0}, std::array{1.0, 1.0, 100.0}}) {
    const Start start(oscillator(m, k, c));
    const auto found = fastest_motion(start.system, start.state);
    ASSERT_TRUE(found);
    const std::complex<double> root = std::sqrt(std::complex<double>(c * c / (4 * m * m) - k / m, 0)),
                               exact = -c / (2 * m) - root;
    fmt::print("  m = {}, k = {}, c = {}: s = {:.9g} {:+.9g} i\n", m, k, c, found->s.real(), found->s.imag());
    expect_at_most(
        std::abs(std::complex<double>(found->s.real(), -found->s.imag()) - exact) / std::abs(exact), 1e-9,
        "error of s");
    EXPECT_EQ(found->mostly, "ball");
  }
}

TEST(FastestMotion, IsTheLargestOfAllModes) {
  ModelBuilder hanging({9.81, 0, 0});  // along the chain
  add_chain(hanging, 7);
  ModelBuilder top({0, 0, -9.81});
  add_heavy_top(top);
  for (ModelBuilder* builder : {&hanging, &top}) {
    const Start start(builder->finish());
    const auto found = fastest_motion(start.system, start.state);
    ASSERT_TRUE(found);
    const Modes all = modes(start.system, start.state);
    const double largest = std::abs(all.modes.back().eigenvalue);
    fmt::print("  {:.9g}, mostly of {}\n", std::abs(found->s), found->mostly);
    expect_at_most(std::abs(std::abs(found->s) / largest - 1), 1e-6, "difference from the modes");
  }
}

TEST(FastestMotion, OfABeamIsNotThatOfItsFirstModes) {
  // More directions than Arnoldi's method takes: an estimate from below, a good one.
  ModelBuilder builder({0, 0, 0});
  builder.beam("beam", "rectangle").set("from", {0, 0, 0}).set("to", {1, 0, 0}).set("elements", {40});
  builder.set("width", {0.02}).set("height", {0.01}).set("young", {2.1e11}).set("density", {7850});
  builder.joint("clamp", "fixed").set("between", "ground", "beam.start").set("at", {0, 0, 0});
  const Start start(builder.finish());
  const auto found = fastest_motion(start.system, start.state);
  ASSERT_TRUE(found);
  const double largest = std::abs(modes(start.system, start.state).modes.back().eigenvalue);
  expect_between(std::abs(found->s) / largest, 0.98, 1.0001, "of the largest |s|");
}

TEST(FastestMotion, IsNotThereWhereNothingComesBack) {
  ModelBuilder builder({0, 0, -9.81});
  builder.body("ball", "point").set("mass", {1});
  const Start start(builder.finish());
  EXPECT_FALSE(fastest_motion(start.system, start.state));
}

double largest_displacement(const System& system, const std::string& integrator, double h, long steps) {
  SimulateOptions options;
  options.integrator = integrator;
  options.step = h;
  options.end = h * static_cast<double>(steps);
  const Result result = simulate(system, options);
  double out = 0;
  for (std::size_t i = 0; i < result.trajectory.rows(); ++i)
    out = std::max(out, std::abs(result.trajectory.at(i, 1)));
  return out;
}

TEST(StepAdvice, KnowsWhereExplicitMethodsExplode) {
  // The interval of stability on the imaginary axis: 2 sqrt(2) of the classical method of order 4.
  ModelBuilder builder({0, 0, 0});
  builder.body("ball", "point").set("mass", {1}).set("velocity", {1, 0, 0});
  builder.force("spring", "bushing")
      .set("between", "ground", "ball")
      .set("at", {0, 0, 0})
      .set("stiffness", {1e4, 0, 0});
  builder.sensor("x", "position").set("of", std::string("ball"));
  const Start start(builder.finish());
  const auto fastest = fastest_motion(start.system, start.state);
  ASSERT_TRUE(fastest);
  const double omega = 100;
  const StepAdvice fine = step_advice(start.system, *fastest, "rk44", 1e-3, 1);
  EXPECT_TRUE(fine.is_explicit);
  EXPECT_EQ(fine.warning, "");
  EXPECT_NEAR(fine.angle, 0.1, 1e-9);
  expect_between(fine.longest * omega, 2 * std::sqrt(2), 2.84, "h |s| at the limit of rk44");
  const StepAdvice coarse = step_advice(start.system, *fastest, "rk44", 0.03, 1);
  EXPECT_GT(coarse.factor, 1.2);
  EXPECT_THAT(coarse.warning, HasSubstr("explicit method rk44"));
  // The simulation agrees.
  EXPECT_LT(largest_displacement(start.system, "rk44", 0.98 * fine.longest, 300), 0.02);
  EXPECT_GT(largest_displacement(start.system, "rk44", 1.05 * fine.longest, 300), 1);  // from 0.01
}

TEST(StepAdvice, ImplicitMethodsNeedNotResolveWhatIsFast) {
  const Start start(oscillator(1, 1e10, 0));
  const auto fastest = fastest_motion(start.system, start.state);
  ASSERT_TRUE(fastest);
  FastestMotion of_many = *fastest;
  of_many.slowest_oscillation = 3;  // beside slow ones
  const StepAdvice advice = step_advice(start.system, of_many, "generalized-alpha,rho=0.6", 1e-3, 1);
  EXPECT_EQ(advice.warning, "");
  EXPECT_NEAR(advice.angle, 100, 1e-6);
  expect_between(advice.factor, 0.55, 0.65, "what a step multiplies it by");
  // If there is nothing else, nothing is resolved.
  EXPECT_THAT(step_advice(start.system, *fastest, "generalized-alpha,rho=0.6", 1e-3, 1).warning,
              HasSubstr("resolve none of the oscillations"));
}

// ---- units

struct Arm {
  double length = 0.5, mass = 2, inertia = 0.04, gravity = -9.81, angle = 0;
};
std::vector<std::string> advice_for(const Arm& arm) {
  ModelBuilder builder({0, 0, arm.gravity});
  builder.body("arm", "rigid")
      .set("mass", {arm.mass})
      .set("inertia", {arm.inertia, arm.inertia, arm.inertia})
      .set("position", {arm.length / 2, 0, 0})
      .set("orientation", {0, 0, arm.angle});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  return unit_advice(make_system(builder.finish()));
}

TEST(UnitAdvice, SaysNothingAboutAnArm) { EXPECT_THAT(advice_for({}), IsEmpty()); }

TEST(UnitAdvice, RecognisesAnInertiaInSquareMillimetres) {
  EXPECT_THAT(advice_for({.inertia = 40000}),
              ElementsAre(HasSubstr("bodies.arm.inertia: 40000 kg m^2 with 2 kg")));
  EXPECT_THAT(advice_for({.inertia = 4}), IsEmpty());  // a wheel that is larger than its arm
}

TEST(UnitAdvice, RecognisesLengthsInMillimetres) {
  EXPECT_THAT(advice_for({.length = 500}), ElementsAre(HasSubstr("250 mm would be 0.25 m")));
  EXPECT_THAT(advice_for({.length = 500, .mass = 1e4}), IsEmpty());  // a boom
}

TEST(UnitAdvice, RecognisesGravityInMillimetres) {
  EXPECT_THAT(advice_for({.gravity = -9810}), ElementsAre(HasSubstr("looks like mm/s^2")));
  EXPECT_THAT(advice_for({.length = 500, .gravity = -9810}), IsEmpty());  // all of it in mm
}

TEST(UnitAdvice, RecognisesDegrees) {
  EXPECT_THAT(advice_for({.angle = 45}),
              ElementsAre(HasSubstr("bodies.arm.orientation.rotation_vector[2]: 45 rad")));
  EXPECT_THAT(advice_for({.angle = 6.2}), IsEmpty());
  EXPECT_THAT(advice_for({.angle = 31.4}), IsEmpty());
}

// Targets of springs, actuators and drives are angles as limits are, where the joint turns.
TEST(UnitAdvice, RecognisesDegreesInTargets) {
  struct Case {
    const char *joint, *type, *field, *coordinate;
    bool is_angle;
  };
  const auto advice = [](const Case& c, double value, const std::string& expression = {}) {
    ModelBuilder builder({0, 0, 0});
    builder.parameter("p", value);
    builder.body("arm", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
    builder.joint("j", c.joint).set("between", "ground", "arm").set("at", {0, 0, 0}).set("axis", {0, 1, 0});
    const bool drives = std::string_view(c.field) == "motion", stops = std::string_view(c.field) == "upper";
    drives ? builder.joint("x", c.type) : builder.force("x", c.type);
    builder.set("joint", std::string("j")).set("coordinate", std::string(c.coordinate));
    if (std::string_view(c.field) == "target") builder.set("proportional", {1});
    if (std::string_view(c.field) == "free" || stops) builder.set("stiffness", {1});
    builder.set(c.field, {value});
    if (!expression.empty()) builder.expression(c.field, 0, expression);
    return unit_advice(make_system(builder.finish()));
  };
  for (const Case& c : {Case{"revolute", "joint_actuator", "target", "auto", true},
                        {"revolute", "joint_spring", "free", "auto", true},
                        {"revolute", "joint_stop", "upper", "auto", true},
                        {"revolute", "prescribed_motion", "motion", "auto", true},
                        {"cylindrical", "joint_spring", "free", "angle", true},
                        {"cylindrical", "joint_spring", "free", "auto", true},
                        {"cylindrical", "joint_spring", "free", "displacement", false},
                        {"prismatic", "joint_actuator", "target", "auto", false},
                        {"prismatic", "prescribed_motion", "motion", "auto", false}}) {
    const std::string what = fmt::format("{} {}.{} {}", c.joint, c.type, c.field, c.coordinate);
    if (c.is_angle)
      EXPECT_THAT(advice(c, 45),
                  ElementsAre(HasSubstr(fmt::format("x.{}: 45 rad is more than a turn", c.field))))
          << what;
    else
      EXPECT_THAT(advice(c, 45), IsEmpty()) << what;
    EXPECT_THAT(advice(c, 1.5), IsEmpty()) << what;
    EXPECT_THAT(advice(c, 45, "p"), IsEmpty()) << what;
  }
}

// A cube of 0.1 m that is drawn.
std::vector<std::string> advice_for_cube(double mass, double inertia) {
  ModelBuilder builder({0, 0, -9.81});
  builder.body("cube", "rigid").set("mass", {mass}).set("inertia", {inertia, inertia, inertia});
  const std::shared_ptr<const Description> description = builder.finish();
  Description drawn = *description;
  drawn.visuals.push_back({.body = "cube", .shape = "box", .mesh = {}, .size = {0.1, 0.1, 0.1}});
  return unit_advice(make_system(std::make_shared<const Description>(std::move(drawn))));
}

TEST(UnitAdvice, RecognisesShapesInOtherUnits) {
  EXPECT_THAT(advice_for_cube(7.8, 0.013), IsEmpty());
  EXPECT_THAT(advice_for_cube(7.8e-3, 1.3e-5),
              ElementsAre(HasSubstr("are 7.8 kg/m^3, less than any solid; 7.8 "
                                    "g/cm^3 would be 7800 kg/m^3")));
  EXPECT_THAT(advice_for_cube(0.03, 5e-5), IsEmpty());  // a foam
  EXPECT_THAT(advice_for_cube(1, 100), ElementsAre(HasSubstr("bodies.cube.inertia: 100 kg m^2 with 1 kg is a "
                                                             "radius of gyration of 10 m in shapes")));
}

TEST(UnitAdvice, RecognisesMaterialsInOtherUnits) {
  const auto beam = [](double young, double density) {
    ModelBuilder builder({0, 0, 0});
    builder.beam("beam", "rectangle").set("from", {0, 0, 0}).set("to", {1, 0, 0}).set("elements", {2});
    builder.set("width", {0.02}).set("height", {0.01}).set("young", {young}).set("density", {density});
    return unit_advice(make_system(builder.finish()));
  };
  EXPECT_THAT(beam(2.1e11, 7850), IsEmpty());
  EXPECT_THAT(beam(2.1e11, 7.8), ElementsAre(HasSubstr("beams.beam.density: 7.8 kg/m^3")));
  EXPECT_THAT(beam(210, 7850), ElementsAre(HasSubstr("210 GPa would be 2.1e+11 Pa")));
  EXPECT_THAT(beam(2.1e11, 7.85e6), ElementsAre(HasSubstr("more than any material has")));
  EXPECT_THAT(beam(5e6, 30), IsEmpty());         // a foam
  EXPECT_THAT(beam(2.1e5, 7.85e-9), IsEmpty());  // t, mm, s
}

}  // namespace
}  // namespace liedyn
