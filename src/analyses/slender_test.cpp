// Statics of slender beams against the elastica: neither the number of iterations nor the result depends on EA/EI.
#include <cmath>

#include <gtest/gtest.h>

#include "analyses/statics.h"
#include "system/testing.h"

namespace liedyn {
namespace {

// A cantilever of length 1 with EI = 1 along x, and a load on its end.
std::shared_ptr<const Description> cantilever(int elements, double axial_stiffness, const Vec3& load) {
  ModelBuilder builder({0, 0, 0});
  builder.beam("b", "stiffness")
      .set("from", {0, 0, 0})
      .set("to", {1, 0, 0})
      .set("elements", {static_cast<double>(elements)})
      .set("element", std::string("three_node"))
      .set("axial_stiffness", {axial_stiffness})
      .set("shear_stiffness_y", {0.4 * axial_stiffness})
      .set("shear_stiffness_z", {0.4 * axial_stiffness})
      .set("torsional_stiffness", {1})
      .set("bending_stiffness_y", {1})
      .set("bending_stiffness_z", {1})
      .set("mass_per_length", {1})
      .set("inertia_per_length", {1e-4, 1e-4, 1e-4});
  builder.joint("clamp", "fixed").set("between", "ground", "b.start").set("at", {0, 0, 0});
  builder.force("load", "force").set("on", std::string("b.end")).set("force", load);
  builder.sensor("tip", "position").set("of", std::string("b.end"));
  return builder.finish();
}

TEST(Slender, IterationsDoNotDependOnTheAxialStiffness) {
  for (const double stiffness : {1e5, 1e7, 1e9, 1e11}) {
    const StaticResult found = find_equilibrium(make_system(cantilever(10, stiffness, {0, 0, 10})));
    ASSERT_TRUE(found.converged) << found.failure;
    // F L^2/EI = 10: 0.81061 L (Mattiasson 1981)
    expect_at_most(std::abs(found.steps.back().sensors[2] - 0.81061), 1e-3,
                   fmt::format("EA L^2/EI = {:g}: deflection - that of the elastica", stiffness));
    expect_at_most(found.steps.back().iterations, 40, "iterations");
    EXPECT_EQ(found.steps.size(), 1u);
    EXPECT_EQ(found.unstable_directions, 0);
  }
}

// 1.5 % above Euler's load the column is bent by 20 degrees, whatever small force has pushed it.
TEST(Slender, ColumnsBuckle) {
  const double euler = std::pow(std::acos(-1.0), 2) / 4;
  for (const int elements : {5, 10})
    for (const double lateral : {1e-6, 1e-3}) {
      const StaticResult found =
          find_equilibrium(make_system(cantilever(elements, 1e8, {-1.015 * euler, lateral, 0})));
      ASSERT_TRUE(found.converged) << found.failure;
      expect_at_most(std::abs(found.steps.back().sensors[1] - 0.2194), lateral < 1e-4 ? 2e-3 : 1e-2,
                     fmt::format("{} elements, {:g} N: deflection - that of the elastica, {} iterations",
                                 elements, lateral, found.steps.back().iterations));
      EXPECT_EQ(found.unstable_directions, 0);
    }
  // Without a push it stays straight, and says so.
  const StaticResult straight = find_equilibrium(make_system(cantilever(5, 1e8, {-1.015 * euler, 0, 0})));
  ASSERT_TRUE(straight.converged) << straight.failure;
  EXPECT_EQ(straight.unstable_directions, 2);
  EXPECT_EQ(straight.warnings.size(), 1u);
}

}  // namespace
}  // namespace liedyn
