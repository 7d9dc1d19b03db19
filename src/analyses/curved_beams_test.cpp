// Beams through points of an arc, against the beam that is the arc.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "liedyn/analyses/statics.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A quarter of a circle as a cantilever, bent far by a force across its plane: displacement of its tip.
Vec3 tip(const std::vector<double>& through) {
  ModelBuilder b({0, 0, 0});
  b.beam("bow", "stiffness").set("from", {0, 0, 0}).set("to", {1, 1, 0}).set("through", through);
  b.set("elements", {8}).set("element", std::string("three_node")).set("axial_stiffness", {1e5});
  b.set("shear_stiffness_y", {4e4}).set("shear_stiffness_z", {4e4}).set("torsional_stiffness", {80});
  b.set("bending_stiffness_y", {100}).set("bending_stiffness_z", {150}).set("mass_per_length", {1});
  b.set("inertia_per_length", {1e-3, 1e-3, 1e-3});
  b.joint("clamp", "fixed").set("between", "ground", "bow.start").set("at", {0, 0, 0});
  b.force("pull", "force").set("on", std::string("bow.end")).set("force", {0, 0, 60});
  b.sensor("tip", "position").set("of", std::string("bow.end"));
  StaticOptions options;
  options.load_steps = 4;
  const StaticResult found = find_equilibrium(make_system(b.finish()), options);
  EXPECT_TRUE(found.converged) << found.failure;
  return as_vector(found.steps.back().sensors);
}

TEST(BeamsThroughPoints, BendAsTheArcThatThePointsAreOf) {
  const auto point = [](double x) {
    const double angle = 0.5 * std::numbers::pi * x;
    return Vec3(std::sin(angle), 1 - std::cos(angle), 0);
  };
  const auto points = [&](int segments) {
    std::vector<double> out;
    for (int i = 1; i < segments; ++i) {
      const Vec3 p = point(static_cast<double>(i) / segments);
      out.insert(out.end(), p.data(), p.data() + 3);
    }
    return out;
  };
  const Vec3 arc = tip(points(2));
  EXPECT_GT(arc.z(), 0.1);
  const double coarse = (tip(points(5)) - arc).norm(), fine = (tip(points(10)) - arc).norm();
  expect_between(std::log2(coarse / fine), 3.5, 6, fmt::format("order, errors {:.2e}, {:.2e}", coarse, fine));
  expect_at_most(fine, 1e-5, "tip");
}

}  // namespace
}  // namespace liedyn
