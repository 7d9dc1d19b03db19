// Flexible bodies as a whole: against geometrically exact beams, between formulations, and what motion must keep.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/model/flexible/body.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A strip of 1 m along x with E I = 0.9333 N m^2 about y and z; first frequency as a cantilever 3.516 sqrt(E I/m L^4) = 60 rad/s.
ModelBuilder& add_strip(ModelBuilder& b, Section section, const std::string& name, const Vec3& from,
                        const Vec3& to, int elements) {
  b.begin(section, name, "rectangle").set("from", from).set("to", to);
  b.set("elements", {static_cast<double>(elements)}).set("width", {0.02}).set("height", {0.02});
  return b.set("young", {7e7}).set("density", {8});
}
constexpr double kCantilever = 3.516 * 17.0783;  // sqrt(E I/m) = sqrt(7e7 0.02^2/12/8)

void add_interface(ModelBuilder& b, const std::string& name, const std::string& of, const Vec3& at) {
  b.begin(Section::Flexible, name, "interface").set("of", of).set("at", at);
}

// The same strip as `count` flexible bodies, one behind the other. Their ends are strip0_a, strip0_b, strip1_a, ...
void add_substructures(ModelBuilder& b, int count, int elements, int modes, const Vec3& spin = Vec3::Zero(),
                       const std::string& geometric_stiffness = "off") {
  const auto end = [&](int i) { return Vec3(static_cast<double>(i) / count, 0, 0); };
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("strip{}", i);
    add_strip(b, Section::Flexible, name, end(i), end(i + 1), elements / count)
        .set("modes", {static_cast<double>(modes)})
        .set("geometric_stiffness", geometric_stiffness)
        .set("velocity", Vec3(spin.cross(end(i))))
        .set("angular_velocity_inertial", spin);
    add_interface(b, name + "_a", name, end(i));
    add_interface(b, name + "_b", name, end(i + 1));
  }
  for (int i = 1; i < count; ++i)
    b.joint(fmt::format("weld{}", i), "fixed")
        .set("between", fmt::format("strip{}_b", i - 1), fmt::format("strip{}_a", i))
        .set("at", end(i));
}

std::vector<double> free_frequencies(const std::shared_ptr<const Description>& d,
                                     const std::string& formulation = "r3so3") {
  const System system = make_system(d, formulation);
  Work work(system);
  const State state = consistent_state(system, 0, {}, work);
  std::vector<double> out;
  for (const Mode& mode : modes(system, state).modes)
    if (!mode.rigid) out.push_back(std::abs(mode.eigenvalue));
  std::sort(out.begin(), out.end());
  return out;
}

// The finite elements are those of the beam at rest.
TEST(FlexibleModes, AFreeBodyHasTheFrequenciesOfTheSameBeam) {
  for (const std::string element : {"two_node", "three_node"}) {
    ModelBuilder beam({0, 0, 0}), body({0, 0, 0});
    for (const bool exact : {true, false}) {
      ModelBuilder& b = exact ? beam : body;
      add_strip(b, exact ? Section::Beams : Section::Flexible, "strip", Vec3(0.1, 0.2, 0.3),
                Vec3(0.8, 0.4, 0.5), 6);
      b.set("through", {0.5, 0.35, 0.3}).set("element", element).set("twist", {0.4});
      if (!exact) b.set("method", std::string("free")).set("modes", {9});
    }
    const std::vector<double> expected = free_frequencies(beam.finish()),
                              found = free_frequencies(body.finish());
    ASSERT_EQ(found.size(), 9U);
    for (std::size_t i = 0; i < found.size(); ++i)
      expect_at_most(std::abs(found[i] / expected[i] - 1), 1e-8, fmt::format("{}: frequency {}", element, i));
  }
}

TEST(FlexibleModes, AHeldBodyHasTheFrequenciesOfTheSameBeamInEveryFormulation) {
  ModelBuilder beam({0, 0, 0});
  add_strip(beam, Section::Beams, "strip", Vec3::Zero(), Vec3::UnitX(), 12);
  beam.joint("clamp", "fixed").set("between", "ground", "strip.start").set("at", {0, 0, 0});
  const std::vector<double> expected = free_frequencies(beam.finish());
  EXPECT_NEAR(expected[0] / kCantilever, 1, 0.01);
  for (const std::string& formulation : absolute_formulations())
    for (const int count : {1, 2}) {
      ModelBuilder b({0, 0, 0});
      add_substructures(b, count, 12, 6);
      b.joint("clamp", "fixed").set("between", "ground", "strip0_a").set("at", {0, 0, 0});
      const std::vector<double> found = free_frequencies(b.finish(), formulation);
      for (std::size_t i = 0; i < 6; ++i)
        expect_at_most(std::abs(found[i] / expected[i] - 1), 2e-3,
                       fmt::format("{}, {} bodies: frequency {}", formulation, count, i));
    }
}

// A tip load that bends a cantilever far: linear within each body, exact between them, so that the error falls with the square of the number of bodies.
TEST(FlexibleStatics, SubstructuresConvergeToTheExactBeam) {
  const double load = 1.5 * 0.9333;  // F L^2/(E I) = 1.5: the tip goes down by 0.41 m
  const auto tip = [&](ModelBuilder& b, const std::string& end) {
    b.force("load", "force").set("on", end).set("force", {0, 0, load});
    b.sensor("tip", "position").set("of", end);
    StaticOptions options;
    options.load_steps = 4;
    const StaticResult found = find_equilibrium(make_system(b.finish()), options);
    EXPECT_TRUE(found.converged) << found.failure;
    const std::vector<double>& s = found.steps.back().sensors;
    return Vec3(s[0], s[1], s[2]);
  };
  ModelBuilder beam({0, 0, 0});
  add_strip(beam, Section::Beams, "strip", Vec3::Zero(), Vec3::UnitX(), 24);
  beam.joint("clamp", "fixed").set("between", "ground", "strip.start").set("at", {0, 0, 0});
  const Vec3 exact = tip(beam, "strip.end");
  EXPECT_NEAR(exact.z(), 0.411, 0.01);
  const auto error = [&](int count) {
    ModelBuilder b({0, 0, 0});
    add_substructures(b, count, 24, 0);
    b.joint("clamp", "fixed").set("between", "ground", "strip0_a").set("at", {0, 0, 0});
    return (tip(b, fmt::format("strip{}_b", count - 1)) - exact).norm();
  };
  const double two = error(2), four = error(4), eight = error(8);
  expect_between(std::log2(two / four), 1.6, 2.4, fmt::format("order, errors {:.2e}, {:.2e}", two, four));
  expect_between(std::log2(four / eight), 1.7, 2.3, fmt::format("order, errors {:.2e}, {:.2e}", four, eight));
  expect_at_most(eight, 2e-3, "tip of eight bodies");
}

// A bar of bricks under axial force: stress F/A, displacement F x/(E A), in the axes of the body as everywhere in the bar for poisson = 0.
TEST(FlexibleStatics, StressesAndDisplacementsOfABarAreThoseOfTheClosedForm) {
  const double force = 30, E = 1e6, area = 0.1 * 0.05;
  ModelBuilder b({0, 0, 0});
  b.begin(Section::Flexible, "bar", "brick").set("size", {1, 0.1, 0.05}).set("divisions", {8, 2, 1});
  b.set("young", {E}).set("poisson", {0}).set("density", {1000}).set("modes", {0});
  b.set("position", {0, 0.5, 0}).set("orientation", {0, 0, std::numbers::pi / 2});  // along y, from 0 to 1
  b.begin(Section::Flexible, "root", "interface").set("of", std::string("bar")).set("at", {0, 0, 0});
  b.set("group", std::string("x-"));
  b.begin(Section::Flexible, "tip", "interface").set("of", std::string("bar")).set("at", {0, 1, 0});
  b.set("group", std::string("x+"));
  b.joint("clamp", "fixed").set("between", "ground", "root").set("at", {0, 0, 0});
  b.force("pull", "force").set("on", std::string("tip")).set("force", {0, force, 0});
  b.sensor("tip", "position").set("of", std::string("tip"));
  b.sensor("middle", "material_position").set("of", std::string("bar")).set("at", {0, 0.5, 0.025});
  b.sensor("stress", "stress").set("of", std::string("bar")).set("at", {0.02, 0.3, 0.01});
  b.sensor("own", "elastic_displacement").set("of", std::string("bar")).set("at", {0, 1, 0.025});
  const StaticResult found = find_equilibrium(make_system(b.finish()), {});
  ASSERT_TRUE(found.converged) << found.failure;
  const Eigen::VectorXd s = as_vector(found.steps.back().sensors);
  const double stretch = force / (E * area);
  expect_at_most((s.segment<3>(0) - Vec3(0, 1 + stretch, 0)).norm(), 1e-10, "tip");
  expect_at_most((s.segment<3>(3) - Vec3(0, 0.5 * (1 + stretch), 0.025)).norm(), 1e-10, "middle");
  expect_at_most((s.segment<6>(6) - force / area * Vec6::Unit(0)).norm(), 1e-6 * force / area, "stress");
  // The centre of mass stays: half of the stretch on either side.
  expect_at_most((s.segment<3>(12) - Vec3(stretch / 2, 0, 0)).norm(), 1e-10, "displacement in the frame");
}

// A cantilever with force and torque at its tip: N = F_x, Q = F, and moments M = m + (L - x) e_x x F in every section, whatever the stiffness.
TEST(FlexibleStatics, SectionForcesOfALinearBeamAreThoseOfTheClosedForm) {
  const Vec3 force(3e-4, 2e-4, -1e-4), torque(1e-4, -2e-4, 3e-4);
  for (const std::string element : {"two_node", "three_node"})
    for (const double x : {0.1, 0.5, 0.83}) {
      ModelBuilder b({0, 0, 0});
      add_strip(b, Section::Flexible, "strip", Vec3::Zero(), Vec3::UnitX(), 6)
          .set("height_end", {0.03})
          .set("element", element)
          .set("modes", {0});
      add_interface(b, "root", "strip", Vec3::Zero());
      add_interface(b, "tip", "strip", Vec3::UnitX());
      b.joint("clamp", "fixed").set("between", "ground", "root").set("at", {0, 0, 0});
      b.force("load", "force").set("on", std::string("tip")).set("force", force);
      b.force("turn", "torque").set("on", std::string("tip")).set("torque", torque);
      const std::string place = fmt::format("strip[{}]", x);
      b.sensor("force", "section_force").set("of", place);
      b.sensor("moment", "section_moment").set("of", place);
      const StaticResult found = find_equilibrium(make_system(b.finish()), {});
      ASSERT_TRUE(found.converged) << found.failure;
      const Eigen::VectorXd s = as_vector(found.steps.back().sensors);
      const Vec3 moment = torque + (1 - x) * Vec3::UnitX().cross(force);
      const std::string where = fmt::format("{}, x = {}", element, x);
      // The shape is that of the relaxed body up to 1e-4: the tip turns by so much.
      expect_at_most((s.segment<3>(0) - force).norm() / force.norm(), 1e-3, where + ": force");
      expect_at_most((s.segment<3>(3) - moment).norm() / moment.norm(), 1e-3, where + ": moment");
    }
}

// A curved, twisted, tapered and damped cantilever under a small load at its tip, as an exact beam or as a flexible body; its sensors are force, moment, strain and curvature of a section.
std::shared_ptr<const Description> bent_strip(bool exact, const std::string& element, int modes) {
  ModelBuilder b({0, 0, 0});
  add_strip(b, exact ? Section::Beams : Section::Flexible, "strip", Vec3(0.1, 0.2, 0.3), Vec3(0.8, 0.4, 0.5),
            6);
  b.set("through", {0.5, 0.35, 0.3}).set("element", element).set("twist", {0.4}).set("width_end", {0.03});
  b.set("damping", {0.01});
  std::string root = "strip.start", tip = "strip.end";
  if (!exact) {
    b.set("modes", {static_cast<double>(modes)});
    add_interface(b, root = "root", "strip", Vec3(0.1, 0.2, 0.3));
    add_interface(b, tip = "tip", "strip", Vec3(0.8, 0.4, 0.5));
  }
  b.joint("clamp", "fixed").set("between", "ground", root).set("at", {0.1, 0.2, 0.3});
  b.force("load", "force").set("on", tip).set("force", {3e-6, 2e-6, -1e-6});
  for (const std::string kind : {"force", "moment", "strain", "curvature"})
    b.sensor(kind, "section_" + kind).set("of", std::string("strip[0.37]"));
  return b.finish();
}
Eigen::VectorXd sections_at_rest(bool exact, const std::string& element) {
  const StaticResult found = find_equilibrium(make_system(bent_strip(exact, element, 0)), {});
  EXPECT_TRUE(found.converged) << found.failure;
  return as_vector(found.steps.back().sensors);
}

// On a curved and twisted beam, under a load so small that the exact beam is linear too.
TEST(FlexibleStatics, SectionsOfALinearBeamAreThoseOfTheExactBeam) {
  for (const std::string element : {"two_node", "three_node"}) {
    const Eigen::VectorXd expected = sections_at_rest(true, element),
                          found = sections_at_rest(false, element);
    for (int i = 0; i < 4; ++i)
      expect_at_most(
          (found.segment<3>(3 * i) - expected.segment<3>(3 * i)).norm() / expected.segment<3>(3 * i).norm(),
          1e-4, fmt::format("{}: part {}", element, i));
  }
}

// A strip, or a bar of bricks, of mass m that hangs from x = 0 and has a load at x = 0.5 or none: N(x) = m g (1 - x) + the load below it. Modes show a weight slowly, one after
// the other; sensors have its static part besides.
TEST(FlexibleStatics, WeightAndLoadsBetweenShowInSectionsAndStressesWithFewModes) {
  const double mass = 8 * 0.02 * 0.02, g = 9.81, load = 5e-3;
  for (const std::string element : {"two_node", "three_node"})
    for (const double modes : {0.0, 6.0})
      for (const double x : {0.0, 0.25, 0.49, 0.51, 0.8}) {
        ModelBuilder b({g, 0, 0});
        add_strip(b, Section::Flexible, "strip", Vec3::Zero(), Vec3::UnitX(), 8)
            .set("element", element)
            .set("modes", {modes});
        add_interface(b, "root", "strip", Vec3::Zero());
        add_interface(b, "middle", "strip", 0.5 * Vec3::UnitX());
        b.joint("clamp", "fixed").set("between", "ground", "root").set("at", {0, 0, 0});
        b.force("load", "force").set("on", std::string("middle")).set("force", {load, 0, 0});
        b.sensor("force", "section_force").set("of", fmt::format("strip[{}]", x));
        const StaticResult found = find_equilibrium(make_system(b.finish()), {});
        ASSERT_TRUE(found.converged) << found.failure;
        const double expected = mass * g * (1 - x) + (x < 0.5 ? load : 0);
        expect_at_most(std::abs(found.steps.back().sensors[0] - expected) / expected, 1e-4,
                       fmt::format("{}, {} modes: axial force at {}", element, modes, x));
      }
  ModelBuilder b({g, 0, 0});
  b.begin(Section::Flexible, "bar", "brick").set("size", {1, 0.02, 0.02}).set("divisions", {10, 1, 1});
  b.set("young", {7e7}).set("poisson", {0}).set("density", {8}).set("modes", {3});
  b.set("position", {0.5, 0, 0});
  b.begin(Section::Flexible, "root", "interface").set("of", std::string("bar")).set("at", {0, 0, 0});
  b.set("group", std::string("x-"));
  b.joint("clamp", "fixed").set("between", "ground", "root").set("at", {0, 0, 0});
  b.sensor("stress", "stress").set("of", std::string("bar")).set("at", {0.35, 0, 0});
  const StaticResult found = find_equilibrium(make_system(b.finish()), {});
  ASSERT_TRUE(found.converged) << found.failure;
  expect_at_most(std::abs(found.steps.back().sensors[0] - 8 * g * 0.65) / (8 * g * 0.65), 1e-4, "stress");
}

Result run(const std::shared_ptr<const Description>& d, double end, double step,
           const std::string& integrator, const std::string& formulation = "r3so3") {
  SimulateOptions options;
  options.end = end;
  options.step = step;
  options.integrator = integrator;
  const Result result = simulate(make_system(d, formulation), options);
  EXPECT_TRUE(result.summary.completed) << formulation << " " << integrator << ": " << result.summary.failure;
  return result;
}

// While the strip swings, with what damping adds to the forces.
TEST(FlexibleMotion, SectionsOfALinearBeamAreThoseOfTheExactBeam) {
  const auto moments = [&](bool exact) {
    const Result result = run(bent_strip(exact, "three_node", 12), 0.04, 1e-3, "generalized-alpha,rho=0.6");
    Eigen::MatrixXd out(3, static_cast<Eigen::Index>(result.trajectory.rows()));
    for (Eigen::Index i = 0; i < out.cols(); ++i)
      for (int k = 0; k < 3; ++k) out(k, i) = result.trajectory.at(static_cast<std::size_t>(i), 4 + k);
    return out;
  };
  const Eigen::MatrixXd expected = moments(true), found = moments(false);
  expect_at_most((found - expected).norm() / expected.norm(), 0.01, "moments");
}

// N(x) = m w^2 (1/4 - y^2)/2 in a free strip that spins about its centre, y = x - 1/2; and in one that an arm carries round, N = m w^2 (1 - x^2)/2.
TEST(FlexibleMotion, CentrifugalForcesShowInSectionsWithFewModes) {
  const double mass = 8 * 0.02 * 0.02, spin = 1;
  for (const bool carried : {false, true})
    for (const double x : {0.1, 0.5, 0.8}) {
      ModelBuilder b({0, 0, 0});
      add_strip(b, Section::Flexible, "strip", Vec3::Zero(), Vec3::UnitX(), 10)
          .set("element", std::string("three_node"))
          .set("modes", {3})
          .set("damping", {0.05})
          .set("velocity", {0, carried ? 0 : -0.5 * spin, 0})
          .set("angular_velocity_inertial", {0, 0, spin});
      if (carried) {
        add_interface(b, "root", "strip", Vec3::Zero());
        b.joint("hub", "revolute")
            .set("between", "ground", "root")
            .set("at", {0, 0, 0})
            .set("axis", {0, 0, 1});
      }
      b.sensor("force", "section_force").set("of", fmt::format("strip[{}]", x));
      const Result result = run(b.finish(), 0.5, 5e-3, "generalized-alpha,rho=0.5");
      const double expected =
          mass * spin * spin * (carried ? (1 - x * x) / 2 : (0.25 - (x - 0.5) * (x - 0.5)) / 2);
      const double got = result.trajectory.at(result.trajectory.rows() - 1, 1);
      expect_at_most(std::abs(got - expected) / (mass * spin * spin), 2e-3,
                     fmt::format("{}, axial force at {}", carried ? "carried" : "free", x));
    }
}

// Spun up about one end to `spin`: the deflection of the tip behind a rigid strip, largest while the speed changes.
double largest_deflection(int count, double spin, const std::string& geometric_stiffness = "off") {
  ModelBuilder b({0, 0, 0});
  std::string root = "strip.start", tip = "strip.end";
  if (count == 0) {
    add_strip(b, Section::Beams, "strip", Vec3::Zero(), Vec3::UnitX(), 12);
  } else {
    add_substructures(b, count, 12, 3, Vec3::Zero(), geometric_stiffness);
    root = "strip0_a", tip = fmt::format("strip{}_b", count - 1);
  }
  b.joint("hub", "revolute").set("between", "ground", root).set("at", {0, 0, 0}).set("axis", {0, 0, 1});
  // The speed rises as a sine within 0.6 s, six periods of the strip.
  b.joint("spin_up", "prescribed_motion").set("joint", std::string("hub")).set("motion", {0.0});
  b.expression("motion", 0, fmt::format("{}*(t^2/2 + (0.6/2/pi)^2*(cos(2*pi*t/0.6) - 1))/0.6", spin));
  b.sensor("tip", "position").set("of", tip);
  b.sensor("angle", "joint_angle").set("of", std::string("hub"));
  b.sensor("deflection", "expression").set("value", std::string("cos(angle)*tip[1] - sin(angle)*tip[0]"));
  const Result result = run(b.finish(), 0.6, 2e-3, "generalized-alpha,rho=0.6");
  double largest = 0;
  for (const Channel& channel : result.trajectory.channels)
    for (std::size_t i = 0; channel.name == "deflection" && i < result.trajectory.rows(); ++i)
      largest = std::max(largest, std::abs(result.trajectory.at(i, channel.first)));
  return largest;
}

TEST(FlexibleMotion, ASpinningStripAgreesWithTheExactBeam) {
  // One body, below a tenth of the first frequency.
  const double slow = 0.09 * kCantilever;
  const double exact = largest_deflection(0, slow);
  expect_at_most(std::abs(largest_deflection(1, slow) / exact - 1), 0.02, "one body, slow: deflection");
  // Beyond, one body lacks the centrifugal stiffness, and several have it.
  const double fast = 1.5 * kCantilever, exact_fast = largest_deflection(0, fast);
  EXPECT_GT(std::abs(largest_deflection(1, fast) / exact_fast - 1), 0.1);
  expect_at_most(std::abs(largest_deflection(6, fast) / exact_fast - 1), 0.02,
                 "six bodies, fast: deflection");
  // So has one with geometric stiffness.
  expect_at_most(std::abs(largest_deflection(1, fast, "on") / exact_fast - 1), 0.02,
                 "one body with geometric stiffness, fast: deflection");
}

// A tip force F bends a cantilever by w' = F (L x - x^2/2)/(E I): its tip comes nearer by the integral of w'^2/2, F^2 L^5/(15 (E I)^2).
TEST(GeometricStiffness, ABentBodyBecomesShorter) {
  const double EI = 7e7 * std::pow(0.02, 4) / 12, force = 0.05 * EI, expected = -0.05 * 0.05 / 15;
  const auto shortening = [&](ModelBuilder& b) {
    b.joint("clamp", "fixed").set("between", "ground", "strip0_a").set("at", {0, 0, 0});
    b.force("load", "force").set("on", std::string("strip0_b")).set("force", {0, 0, force});
    b.sensor("tip", "position").set("of", std::string("strip0_b"));
    b.sensor("same", "material_position").set("of", std::string("strip0")).set("at", {1, 0, 0});
    const StaticResult found = find_equilibrium(make_system(b.finish()), {});
    EXPECT_TRUE(found.converged) << found.failure;
    const std::vector<double>& s = found.steps.back().sensors;
    EXPECT_NEAR(s[2], 0.05 / 3, 2e-3 * 0.05 / 3);
    return std::pair(s[0] - 1, s[3] - 1);
  };
  ModelBuilder linear({0, 0, 0}), beam({0, 0, 0}), solid({0, 0, 0});
  add_substructures(linear, 1, 12, 0);
  add_substructures(beam, 1, 12, 0, Vec3::Zero(), "on");
  solid.begin(Section::Flexible, "strip0", "brick").set("size", {1, 0.02, 0.02}).set("divisions", {24, 2, 2});
  solid.set("young", {7e7})
      .set("poisson", {0})
      .set("density", {8})
      .set("modes", {0})
      .set("position", {0.5, 0, 0});
  solid.set("geometric_stiffness", std::string("on"));
  add_interface(solid, "strip0_a", "strip0", Vec3::Zero());
  solid.set("group", std::string("x-"));
  add_interface(solid, "strip0_b", "strip0", Vec3::UnitX());
  solid.set("group", std::string("x+"));
  EXPECT_GT(std::abs(shortening(linear).first / expected - 1), 0.1) << "linear displacements do not have it";
  for (const bool is_beam : {true, false}) {
    const auto [interface, material] = shortening(is_beam ? beam : solid);
    const std::string name = is_beam ? "beam" : "bricks";
    expect_at_most(std::abs(interface / expected - 1), 0.01, name + ": shortening, relative");
    expect_at_most(std::abs(material - interface), 1e-9, name + ": node of the material at the interface");
  }
}

// Euler's column: compressed by P, a cantilever swings slower, and at P = pi^2 E I/(4 L^2) not at all.
TEST(GeometricStiffness, AnAxialForceBucklesAColumn) {
  const double critical = std::pow(std::numbers::pi / 2, 2) * 7e7 * std::pow(0.02, 4) / 12;
  const auto lowest = [&](bool exact, double part) {
    ModelBuilder b({0, 0, 0});
    if (exact)
      add_strip(b, Section::Beams, "strip", Vec3::Zero(), Vec3::UnitX(), 12);
    else
      add_substructures(b, 1, 12, 6, Vec3::Zero(), "on");
    b.joint("clamp", "fixed")
        .set("between", "ground", exact ? "strip.start" : "strip0_a")
        .set("at", {0, 0, 0});
    b.force("load", "force")
        .set("on", std::string(exact ? "strip.end" : "strip0_b"))
        .set("force", {-part * critical, 0, 0});
    const System system = make_system(b.finish());
    const StaticResult rest = find_equilibrium(system, {});
    EXPECT_TRUE(rest.converged) << rest.failure;
    double out = INFINITY;
    for (const Mode& mode : modes(system, rest.state).modes)
      out = std::min(out, (mode.eigenvalue * mode.eigenvalue).real() < 0 ? std::abs(mode.eigenvalue)
                                                                         : -std::abs(mode.eigenvalue));
    return out;  // negative: it grows
  };
  for (const double part : {-2.0, 0.5, 0.9})
    expect_at_most(std::abs(lowest(false, part) / lowest(true, part) - 1), 1e-3,
                   fmt::format("P = {} of the critical one: lowest frequency", part));
  EXPECT_LT(lowest(false, 1.05), 0) << "beyond the critical force";
}

// Matrices and rows of all levels against differences, at a random state, between nodes of several formulations.
TEST(GeometricStiffness, MatricesAreTheDerivatives) {
  Random random(6);
  ModelBuilder b({1, -2, 3});
  add_strip(b, Section::Flexible, "strip", Vec3(0.1, 0.2, 0.3), Vec3(0.8, 0.4, 0.5), 3);
  b.set("through", {0.5, 0.35, 0.3}).set("modes", {3});
  b.set("geometric_stiffness", std::string("on"))
      .set("damping_ratio", {0.1})
      .set("formulation", std::string("se3"));
  add_interface(b, "root", "strip", Vec3(0.1, 0.2, 0.3));
  b.set("formulation", std::string("euler-parameters"));
  add_interface(b, "tip", "strip", Vec3(0.8, 0.4, 0.5));
  b.joint("hub", "revolute")
      .set("between", "ground", "root")
      .set("at", {0.1, 0.2, 0.3})
      .set("axis", {0, 0, 1});
  const System system = make_system(b.finish());
  Work work(system);
  const State state = random_state(system, random);
  const int nv = system.model().nv, rows = system.model().rows;
  const auto values = [&](const State& at, std::vector<double> Work::*part) -> Eigen::VectorXd {
    system.residual(at, work, {true, true, true});
    return as_vector(work.*part);
  };
  const auto with = [&](std::vector<double> State::*part, const Eigen::VectorXd& d) {
    State out = state;
    for (std::size_t i = 0; i < (out.*part).size(); ++i) (out.*part)[i] += d[static_cast<Eigen::Index>(i)];
    return out;
  };
  const auto along = [&](std::vector<double> State::*unknown, std::vector<double> Work::*part, int count) {
    return differences(
        [&](const Eigen::VectorXd& d) {
          return values(unknown == nullptr ? moved(system, state, d) : with(unknown, d), part);
        },
        count);
  };
  const auto matrix = [&](const Seeding& force, const Seeding& row, RowLevel level) {
    MatrixRequest request;
    request.force = force;
    request.row = row;
    request.level = level;
    system.jacobian(state, work, {true, true, true}, request);
    return dense_matrix(block_pattern(system.model(), IndexForm::Index3), *work.solver);
  };
  const Eigen::MatrixXd K = along(nullptr, &Work::r, nv), C = along(&State::v, &Work::r, nv),
                        M = along(&State::vdot, &Work::r, nv), B = along(&State::v, &Work::rate, nv);
  const Eigen::MatrixXd found = matrix({2, 3, 5}, {1, 0, 0}, RowLevel::Position);
  expect_at_most(row_difference(found.topLeftCorner(nv, nv), 2 * K + 3 * C + 5 * M), 1e-7, "2 K + 3 C + 5 M");
  expect_at_most(row_difference(found.topRightCorner(nv, rows), along(&State::lambda, &Work::r, rows)), 1e-7,
                 "forces by multipliers");
  expect_at_most(row_difference(found.bottomLeftCorner(rows, nv), B), 1e-7, "B");
  expect_at_most(row_difference(along(nullptr, &Work::phi, nv), B), 1e-7, "dPhi/dq");
  const Eigen::MatrixXd velocity = matrix({}, {2, 3, 0}, RowLevel::Velocity).bottomLeftCorner(rows, nv);
  expect_at_most(row_difference(velocity, 2 * along(nullptr, &Work::rate, nv) + 3 * B), 1e-7,
                 "velocity rows");
  // d(rate)/dt along the motion
  const Eigen::VectorXd v = as_vector(state.v), vdot = as_vector(state.vdot);
  const Eigen::VectorXd rate = differences(
      [&](const Eigen::VectorXd& dt) {
        return values(moved(system, with(&State::v, dt[0] * vdot), dt[0] * v + 0.5 * dt[0] * dt[0] * vdot),
                      &Work::rate);
      },
      1);
  expect_at_most(relative_difference(values(state, &Work::acceleration), rate), 1e-8, "acceleration rows");
}

// As BeamModes.CentrifugalForcesStiffenARotatingBeam, with one flexible body: Wright, Smith, Thresher, Wang (1982).
TEST(GeometricStiffness, CentrifugalForcesStiffenARotatingBody) {
  const std::pair<double, double> cases[] = {{0, 3.5160}, {2, 4.1373}, {5, 6.4495}};
  for (const auto& [speed, flap] : cases) {
    const auto blade = [&, speed = speed](double damping) {
      ModelBuilder b({0, 0, 0});
      b.begin(Section::Flexible, "blade", "stiffness").set("from", {0, 0, 0}).set("to", {1, 0, 0});
      b.set("elements", {10}).set("element", std::string("three_node"));
      b.set("axial_stiffness", {1e6}).set("shear_stiffness_y", {1e5}).set("shear_stiffness_z", {1e5});
      b.set("torsional_stiffness", {10}).set("bending_stiffness_y", {1}).set("bending_stiffness_z", {1});
      b.set("mass_per_length", {1}).set("inertia_per_length", {2e-7, 1e-7, 1e-7});
      b.set("modes", {6}).set("geometric_stiffness", std::string("on")).set("damping_ratio", {damping});
      b.set("angular_velocity_inertial", {0, 0, speed});
      add_interface(b, "root", "blade", Vec3::Zero());
      add_interface(b, "tip", "blade", Vec3::UnitX());
      b.joint("hub", "revolute").set("between", "ground", "root").set("at", {0, 0, 0}).set("axis", {0, 0, 1});
      b.joint("motor", "prescribed_motion").set("joint", std::string("hub")).set("motion", {0.0});
      b.expression("motion", 0, fmt::format("{}*t", speed));
      return b.finish();
    };
    // Stretched by the centrifugal force: where a damped one comes to rest. After whole turns, so that t = 0 fits.
    const System damped = make_system(blade(1));
    SimulateOptions until;
    until.end = speed > 0 ? 8 * std::numbers::pi / speed : 1;
    until.step = until.end / 2000;
    until.integrator = "generalized-alpha,rho=0";
    const Result settled = simulate(damped, until);
    ASSERT_TRUE(settled.summary.completed);
    Configuration stretched = configuration_of(damped, settled.state);
    const System system = make_system(blade(0));
    Work work(system);
    InitialOptions initial;
    initial.given = &stretched;
    initial.policy = InitialPolicy::Project;  // index 3 leaves small errors in the velocities
    const State state = consistent_state(system, 0, initial, work);
    ModesOptions options;
    options.axes_given = true;
    options.axes_rate = Vec3(0, 0, speed);
    std::vector<double> found;
    for (const Mode& mode : modes(system, state, options).modes)
      if (mode.eigenvalue.imag() > 0) found.push_back(mode.eigenvalue.imag());
    const double lag = std::sqrt(flap * flap - speed * speed);
    for (const double expected : {flap, lag}) {
      double nearest = INFINITY;
      for (const double w : found)
        if (std::abs(w - expected) < std::abs(nearest - expected)) nearest = w;
      expect_at_most(std::abs(nearest - expected) / expected, 2e-3,
                     fmt::format("Omega = {}: frequency {:.4f}, relative", speed, expected));
    }
  }
}

// Momentum and moment of momentum about the origin, inertial axes.
Vec6 momentum(const System& system, const State& state) {
  Work work(system);
  system.residual(state, work, {});
  const Model& model = system.model();
  for (std::size_t i = 0; i < model.batches.size(); ++i) {
    const auto* batch = dynamic_cast<const FlexibleBatch*>(model.batches[i].get());
    if (batch == nullptr || batch->coupling().rows > 0) continue;
    FloatingMotion<double> x;
    x.frame =
        work.motions[static_cast<std::size_t>(model.frames[static_cast<std::size_t>(batch->frames[0])].node)];
    x.eta.resize(batch->modes()), x.rate.resize(batch->modes()), x.acceleration.setZero(batch->modes());
    for (int k = 0; k < batch->modes() / 3; ++k) {
      const auto frame = static_cast<std::size_t>(batch->frames[static_cast<std::size_t>(1 + k)]);
      const Motion<double>& point = work.motions[static_cast<std::size_t>(model.frames[frame].node)];
      x.eta.segment<3>(3 * k) = point.p, x.rate.segment<3>(3 * k) = point.V.head<3>();
    }
    const ShapeIntegrals c(batch->modes(), work.constants->data.data() + batch->first_constant);
    const FloatingTerms<double> t(c, x, Vec3::Zero());
    Vec6 out;
    out.head<3>() = x.frame.R * t.P.head<3>();
    out.tail<3>() = x.frame.R * t.P.tail<3>() + x.frame.p.cross(Vec3(out.head<3>()));
    return out;
  }
  return Vec6::Zero();
}

TEST(FlexibleMotion, AFreeBodyKeepsEnergyAndMomentum) {
  ModelBuilder b({0, 0, 0});
  b.begin(Section::Flexible, "block", "brick").set("size", {1, 0.3, 0.2}).set("divisions", {4, 1, 1});
  b.set("young", {2e4}).set("density", {20}).set("modes", {6}).set("method", std::string("free"));
  b.set("position", {0.2, 0.1, -0.3})
      .set("velocity", {0.3, 0.1, -0.2})
      .set("angular_velocity_inertial", {3, 2, 5});
  b.sensor("energy", "energy");
  const auto d = b.finish();
  for (const std::string& formulation : formulations_in_the_large()) {
    const System system = make_system(d, formulation);
    SimulateOptions options;
    options.end = 0.5;
    options.integrator = "esdirk4-6";
    const auto drift = [&](double step) {
      options.step = step;
      const Result result = simulate(system, options);
      EXPECT_TRUE(result.summary.completed) << formulation;
      return result.summary.energy_max_drift / result.summary.energy_initial;
    };
    const double coarse = drift(4e-3), fine = drift(2e-3);
    expect_at_most(fine, 1e-6, formulation + ": change of the energy, relative");
    expect_at_most(fine / coarse, 0.3, formulation + ": the same with half the step, relative to before");
  }
  // The equations themselves keep momentum: its rate is zero at any state where they hold.
  Random random(3);
  const System system = make_system(d);
  Work work(system);
  State held = random_state(system, random);
  ASSERT_TRUE(solve_accelerations(system, held, work));
  const double dt = 1e-7;
  const auto later = [&](double h) {
    State at = held;
    const Eigen::VectorXd v = as_vector(held.v), vdot = as_vector(held.vdot);
    for (std::size_t i = 0; i < at.v.size(); ++i) at.v[i] += h * held.vdot[i];
    return momentum(system, moved(system, at, h * v + 0.5 * h * h * vdot));
  };
  const Vec6 rate = (later(dt) - later(-dt)) / (2 * dt);
  expect_at_most(rate.norm() / momentum(system, held).norm(), 1e-7, "rate of the momentum, relative");
}

// Momentum and moment of momentum of everything, inertial axes: kinetic energy is quadratic in the velocities, so that p.x = (T(v + x) - T(v - x))/2 for a rigid
// motion x. On SE3, where velocities are body twists.
Vec6 momentum_by_energy(const System& system, const State& state) {
  Work work(system);
  const auto kinetic = [&](const Vec6& rigid) {
    State at = state;
    system.residual(at, work, {});
    const std::vector<Motion<double>> motions(work.motions.begin(), work.motions.end());
    const auto& nodes = system.model().nodes;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i].type != NodeType::SE3) continue;  // modal coordinates do not feel rigid motions
      const Vec3 a = rigid.head<3>(), w = rigid.tail<3>();
      const Vec3 velocity = motions[i].R.transpose() * (a + w.cross(motions[i].p)),
                 turn = motions[i].R.transpose() * w;
      for (int c = 0; c < 3; ++c) {
        at.v[static_cast<std::size_t>(nodes[i].v + c)] += velocity[c];
        at.v[static_cast<std::size_t>(nodes[i].v + 3 + c)] += turn[c];
      }
    }
    return system.energy(at, work).kinetic;
  };
  Vec6 out;
  for (int c = 0; c < 6; ++c) out[c] = 0.5 * (kinetic(Vec6::Unit(c)) - kinetic(-Vec6::Unit(c)));
  return out;
}

// Thrown and spun, beams and bodies keep both; integration keeps them up to its error, which falls with the step.
TEST(FreeFlight, KeepsMomentumAndMomentOfMomentum) {
  for (const std::string kind : {"two_node", "three_node", "body", "body with geometric stiffness"}) {
    const bool beam = kind.ends_with("node");
    ModelBuilder b({0, 0, 0});
    add_strip(b, beam ? Section::Beams : Section::Flexible, "strip", Vec3(0.1, 0.2, 0.3), Vec3(0.8, 0.4, 0.5),
              6);
    b.set("through", {0.5, 0.35, 0.3})
        .set("velocity", {0.3, 0.1, -0.2})
        .set("angular_velocity_inertial", {9, 6, 15});
    if (beam)
      b.set("element", kind);
    else
      b.set("method", std::string("free"))
          .set("modes", {6})
          .set("geometric_stiffness", std::string(kind == "body" ? "off" : "on"));
    const System system = make_system(b.finish(), "se3");
    Work work(system);
    const Vec6 before = momentum_by_energy(system, consistent_state(system, 0, {}, work));
    const auto change = [&](double step) {
      SimulateOptions options;
      options.end = 0.1;
      options.step = step;
      options.integrator = "esdirk4-6";
      const Result result = simulate(system, options);
      EXPECT_TRUE(result.summary.completed) << kind;
      return Vec6(momentum_by_energy(system, result.state) - before);
    };
    const Vec6 coarse = change(2e-3), fine = change(1e-3);
    expect_at_most(fine.head<3>().norm() / before.head<3>().norm(), 1e-6,
                   kind + ": change of the momentum, relative");
    expect_at_most(fine.tail<3>().norm() / before.tail<3>().norm(), 1e-6,
                   kind + ": change of its moment, relative");
    // Axial vibrations of beams are far faster than these steps, which costs methods a part of their order.
    expect_at_most(fine.norm() / std::max(coarse.norm(), 1e-10 * before.norm()), 0.5,
                   kind + ": the same with half the step, relative to before");
  }
}

}  // namespace
}  // namespace liedyn
