// Statics of slender beams against the elastica: neither the number of iterations nor the result depends on EA/EI.
#include <cmath>

#include <gtest/gtest.h>

#include "liedyn/analyses/statics.h"
#include "liedyn/system/testing.h"

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
  // Dense matrices, and sparse ones.
  for (const int elements : {10, 40})
    for (const double stiffness : {1e5, 1e7, 1e9, 1e11}) {
      if (elements == 40 && stiffness > 1e9) continue;  // its bending is round-off of its shear
      const StaticResult found = find_equilibrium(make_system(cantilever(elements, stiffness, {0, 0, 10})));
      ASSERT_TRUE(found.converged) << found.failure;
      // F L^2/EI = 10: 0.81061 L (Mattiasson 1981)
      const std::string what = fmt::format("{} elements, EA L^2/EI = {:g}: ", elements, stiffness);
      expect_at_most(std::abs(found.steps.back().sensors[2] - 0.81061), 2e-4,
                     what + "deflection - that of the elastica");
      expect_at_most(found.steps.back().iterations, 25, what + "iterations");
      EXPECT_EQ(found.steps.size(), 1u) << what;
      EXPECT_EQ(found.unstable_directions, 0) << what;
      EXPECT_TRUE(found.warnings.empty()) << what;
    }
}

// 1.5 % above Euler's load, whatever small force has pushed it, the column is bent as the elastica is: with the complete elliptic integral K,
//   K(k)^2 = P L^2/EI,    deflection 2 k L/K(k)
TEST(Slender, ColumnsBuckle) {
  const double euler = std::pow(std::acos(-1.0), 2) / 4, load = 1.015 * euler;
  double k = 0, above = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (k + above) / 2;
    (std::pow(std::comp_ellint_1(middle), 2) < load ? k : above) = middle;
  }
  for (const int elements : {5, 10, 20})
    for (const double lateral : {1e-6, 1e-3}) {
      const StaticResult found =
          find_equilibrium(make_system(cantilever(elements, 1e8, {-load, lateral, 0})));
      ASSERT_TRUE(found.converged) << found.failure;
      const std::string what = fmt::format("{} elements, {:g} N: ", elements, lateral);
      // The push adds 0.01 where it is not small.
      expect_at_most(std::abs(found.steps.back().sensors[1] - 2 * k / std::comp_ellint_1(k)),
                     lateral < 1e-4 ? 1e-4 : 1e-2, what + "deflection - that of the elastica");
      // The way off the unstable branch depends on round-off: 15 to 47 on aarch64, to 67 on x86-64; thousands where section forces are those of long steps.
      expect_at_most(found.steps.back().iterations, 200, what + "iterations");
      EXPECT_EQ(found.unstable_directions, 0) << what;
    }
  // Sparse matrices.
  for (const int elements : {30, 80})
    for (const double lateral : {1e-4, 1e-6}) {
      const StaticResult found =
          find_equilibrium(make_system(cantilever(elements, 1e8, {-load, lateral, 0})));
      ASSERT_TRUE(found.converged) << found.failure;
      const double deflection = found.steps.back().sensors[1];
      fmt::print("  {} elements, {:g} N: deflection {:.6f}, unstable {}\n", elements, lateral, deflection,
                 found.unstable_directions);
      // Beside 1e8 N of axial stiffness 1e-6 N may be lost: then it is as straight as beam theory says, tan(k L)/k of the load beside P = k^2, and says that it is unstable.
      if (found.unstable_directions == 0) {
        // To the side of the push or, as its section is square, to the other one.
        expect_at_most(std::abs(std::abs(deflection) - 2 * k / std::comp_ellint_1(k)), 2e-3,
                       "deflection - that of the elastica");
      } else {
        const double wave = std::sqrt(load), straight = lateral / load * (std::tan(wave) / wave - 1);
        EXPECT_EQ(lateral, 1e-6);
        expect_at_most(std::abs(deflection / straight - 1), 1e-2, "deflection of the straight branch");
      }
    }
  // Without a push it stays straight, and says so.
  const StaticResult straight = find_equilibrium(make_system(cantilever(5, 1e8, {-1.015 * euler, 0, 0})));
  ASSERT_TRUE(straight.converged) << straight.failure;
  EXPECT_EQ(straight.unstable_directions, 2);
  EXPECT_EQ(straight.warnings.size(), 1u);
}

}  // namespace
}  // namespace liedyn
