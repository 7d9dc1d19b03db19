// Minimal coordinates integrated in time, against the same models in absolute coordinates.
#include <gtest/gtest.h>

#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

std::shared_ptr<const Description> chain_of_ten() {
  ModelBuilder builder({0, 0, -9.81});
  add_chain(builder, 10);
  builder.sensor("tip", "position").set("of", std::string("link9")).set("at", {10, 0, 0});
  builder.sensor("hook", "reaction_force").set("of", std::string("joint0"));
  builder.sensor("energy", "energy");
  return builder.finish();
}

// Crank, rod, rocker and a spherical joint that closes the loop.
std::shared_ptr<const Description> linkage() {
  ModelBuilder builder({0, -9.81, 0});
  const auto add = [&](const char* name, const Vec3& place) {
    builder.body(name, "rigid").set("mass", {2}).set("inertia", {0.3, 0.2, 0.2}).set("position", place);
  };
  add("crank", {0, 0.5, 0});
  builder.set("velocity", {-1, 0, 0}).set("angular_velocity", {0, 0, 2});
  for (const auto& [name, place] :
       {std::pair("rod", Vec3(0.75, 1.2, 0.1)), std::pair("rocker", Vec3(1.5, 0.7, 0.2))}) {
    add(name, place);
    builder.consistent("velocity").consistent("angular_velocity");
  }
  builder.joint("A", "revolute")
      .set("between", "ground", "crank")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.joint("B", "spherical").set("between", "crank", "rod").set("at", {0, 1, 0});
  builder.joint("C", "universal").set("between", "rod", "rocker").set("at", {1.5, 1.4, 0.2});
  builder.set("first_axis", {0, 1, 0}).set("second_axis", {0, 0, 1});
  builder.joint("D", "revolute")
      .set("between", "rocker", "ground")
      .set("at", {1.5, 0, 0.2})
      .set("axis", {0, 0, 1});
  builder.sensor("rod", "position").set("of", std::string("rod"));
  builder.sensor("velocity", "velocity").set("of", std::string("rod"));
  builder.sensor("angle", "joint_angle").set("of", std::string("A"));
  builder.sensor("force", "reaction_force").set("of", std::string("D"));
  builder.sensor("torque", "reaction_torque").set("of", std::string("A"));
  builder.sensor("loop", "reaction_force").set("of", std::string("B"));
  return builder.finish();
}

// Differences between two formulations at the end, relative, for steps that halve.
std::vector<double> differences_between(const std::shared_ptr<const Description>& description,
                                        const std::string& integrator, double end, double step,
                                        int halvings) {
  const System minimal = make_system(description, "minimal"), absolute = make_system(description, "r3so3");
  std::vector<double> out;
  for (int i = 0; i <= halvings; ++i, step /= 2)
    out.push_back(relative_difference(as_vector(WholeRun(minimal, integrator, end, step).sensors),
                                      as_vector(WholeRun(absolute, integrator, end, step).sensors)));
  return out;
}

TEST(Minimal, ChainOfTenMovesAsInAbsoluteCoordinates) {
  const std::vector<double> errors =
      differences_between(chain_of_ten(), "generalized-alpha,rho=0.9", 0.4, 0.02, 3);
  for (const double error : errors) fmt::print("  difference {:.3e}\n", error);
  expect_between(order_of(errors), 1.8, 2.3, "order at which the difference vanishes");
}

TEST(Minimal, ChainOfTenKeepsItsEnergy) {
  const System system = make_system(chain_of_ten(), "minimal");
  double most = 0, scale = 0;
  std::vector<double> drifts;
  for (const double h : {2e-2, 1e-2}) {
    most = 0;
    const double start = 0;  // all links in the plane z = 0, at rest
    const WholeRun run(system, "generalized-alpha,rho=1", 1, h, [&](const State& now, Work& work) {
      const Energy energy = system.energy(now, work);
      most = std::max(most, std::abs(energy.kinetic + energy.potential - start));
      scale = std::max(scale, energy.kinetic);
    });
    drifts.push_back(most / scale);
  }
  expect_at_most(drifts.back(), 1e-2, "largest drift relative to the kinetic energy, h = 0.01");
  expect_between(order_of(drifts), 1.7, 2.5, "order of the drift");
}

TEST(Minimal, LoopIsClosedInEveryIndexForm) {
  for (const char* index : {"3", "2", "stabilized"}) {
    const std::string integrator = fmt::format("generalized-alpha,rho=0.8,index={}", index);
    const std::vector<double> errors = differences_between(linkage(), integrator, 0.5, 0.01, 2);
    fmt::print("  index {}: differences {:.2e} {:.2e} {:.2e}\n", index, errors[0], errors[1], errors[2]);
    expect_between(order_of(errors), 1.7, 2.4, fmt::format("index {}: order of the difference", index));
    const System system = make_system(linkage(), "minimal");
    WholeRun run(system, integrator, 0.5, 0.01);
    system.residual(run.state, run.work, {true, true, false});
    const double phi = as_vector(run.work.phi).cwiseAbs().maxCoeff(),
                 rate = as_vector(run.work.rate).cwiseAbs().maxCoeff();
    const std::string name = fmt::format("index {}: ", index);
    if (std::string(index) != "2") expect_at_most(phi, 1e-9, name + "Phi");
    if (std::string(index) != "3") expect_at_most(rate, 1e-8, name + "B v");
  }
}

// Every implicit method sees a system without constraints here.
TEST(Minimal, HigherOrdersAreReached) {
  const auto description = chain_of_ten();
  const System system = make_system(description, "minimal");
  const std::vector<double> exact = WholeRun(system, "esdirk4-6", 0.25, 6.25e-4).sensors;
  for (const auto& [integrator, order] :
       {std::pair<const char*, double>{"esdirk4-6", 4}, {"mssth3,rho=0.6", 3}}) {
    std::vector<double> errors;
    for (const double h : {1e-2, 5e-3})
      errors.push_back(relative_difference(as_vector(WholeRun(system, integrator, 0.25, h).sensors).head(3),
                                           as_vector(exact).head(3)));
    expect_between(order_of(errors), order - 0.4, order + 1.2, fmt::format("{}: order", integrator));
  }
}

// Their accelerations come from the recursion over the links.
TEST(Minimal, ExplicitMethodsReachTheirOrdersAndKeepTheEnergy) {
  const System system = make_system(chain_of_ten(), "minimal");
  const std::vector<double> exact = WholeRun(system, "dopri5", 0.25, 5e-4).sensors;
  for (const auto& [integrator, order] : {std::pair<const char*, double>{"rk44", 4}, {"dopri5", 5}}) {
    std::vector<double> errors;
    for (const double h : {1e-2, 5e-3})
      errors.push_back(relative_difference(as_vector(WholeRun(system, integrator, 0.25, h).sensors).head(3),
                                           as_vector(exact).head(3)));
    expect_between(order_of(errors), order - 0.4, order + 1.2, fmt::format("{}: order", integrator));
  }
  double most = 0, scale = 0;
  const WholeRun run(system, "dopri5", 0.5, 1e-3, [&](const State& now, Work& work) {
    const Energy energy = system.energy(now, work);
    most =
        std::max(most, std::abs(energy.kinetic + energy.potential));  // it starts at rest in the plane z = 0
    scale = std::max(scale, energy.kinetic);
  });
  expect_at_most(most / scale, 1e-10, "largest drift of the energy relative to the kinetic energy");
}

}  // namespace
}  // namespace liedyn
