// Flexible bodies as a whole: against geometrically exact beams, between formulations, and what motion must keep.
#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "analyses/modes.h"
#include "analyses/simulate.h"
#include "analyses/statics.h"
#include "model/flexible/body.h"
#include "system/testing.h"

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
void add_substructures(ModelBuilder& b, int count, int elements, int modes, const Vec3& spin = Vec3::Zero()) {
  const auto end = [&](int i) { return Vec3(static_cast<double>(i) / count, 0, 0); };
  for (int i = 0; i < count; ++i) {
    const std::string name = fmt::format("strip{}", i);
    add_strip(b, Section::Flexible, name, end(i), end(i + 1), elements / count)
        .set("modes", {static_cast<double>(modes)})
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

std::vector<double> frequencies(const std::shared_ptr<const Description>& d,
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
    const std::vector<double> expected = frequencies(beam.finish()), found = frequencies(body.finish());
    ASSERT_EQ(found.size(), 9U);
    for (std::size_t i = 0; i < found.size(); ++i)
      expect_at_most(std::abs(found[i] / expected[i] - 1), 1e-8, fmt::format("{}: frequency {}", element, i));
  }
}

TEST(FlexibleModes, AHeldBodyHasTheFrequenciesOfTheSameBeamInEveryFormulation) {
  ModelBuilder beam({0, 0, 0});
  add_strip(beam, Section::Beams, "strip", Vec3::Zero(), Vec3::UnitX(), 12);
  beam.joint("clamp", "fixed").set("between", "ground", "strip.start").set("at", {0, 0, 0});
  const std::vector<double> expected = frequencies(beam.finish());
  EXPECT_NEAR(expected[0] / kCantilever, 1, 0.01);
  for (const std::string& formulation : absolute_formulations())
    for (const int count : {1, 2}) {
      ModelBuilder b({0, 0, 0});
      add_substructures(b, count, 12, 6);
      b.joint("clamp", "fixed").set("between", "ground", "strip0_a").set("at", {0, 0, 0});
      const std::vector<double> found = frequencies(b.finish(), formulation);
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

Result run(const std::shared_ptr<const Description>& d, double end, double step,
           const std::string& integrator, const std::string& formulation = "r3so3") {
  SimulateOptions options;
  options.end = end;
  options.step = step;
  options.integrator = integrator;
  const Result result = simulate(make_system(d, formulation), options);
  EXPECT_TRUE(result.summary.completed) << formulation << " " << integrator;
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

// Spun up about one end to `spin`: the deflection of the tip behind a rigid strip, largest while the speed changes.
double largest_deflection(int count, double spin) {
  ModelBuilder b({0, 0, 0});
  std::string root = "strip.start", tip = "strip.end";
  if (count == 0) {
    add_strip(b, Section::Beams, "strip", Vec3::Zero(), Vec3::UnitX(), 12);
  } else {
    add_substructures(b, count, 12, 3);
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
    const ShapeIntegrals c(batch->modes(), work.numbers->data.data() + batch->first_number);
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

}  // namespace
}  // namespace liedyn
