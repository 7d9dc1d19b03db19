// A parallelogram with all bars in one line: its loop may open to either side.
#include "liedyn/analyses/singular_position.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "liedyn/analyses/modes.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

// Cranks of 1 m, coupler and ground of 2 m; z is normal to the plane. A coupler in balls may spin, and no constraint is redundant; hinges make three of them so.
System parallelogram(double angle, double scale, const std::string& hinge = "spherical") {
  const double c = scale * std::cos(angle), s = scale * std::sin(angle);
  ModelBuilder builder({0, -kGravity, 0});
  const auto bar = [&](const std::string& name, std::vector<double> center) {
    builder.body(name, "rigid")
        .set("mass", 1)
        .set("inertia", {0.01 * scale * scale, 0.1 * scale * scale, 0.1 * scale * scale});
    builder.set("position", std::move(center));
  };
  bar("left", {c / 2, s / 2, 0});
  bar("coupler", {c + scale, s, 0});
  bar("right", {2 * scale + c / 2, s / 2, 0});
  for (const auto& [name, crank, x] : {std::tuple("A", "left", 0.0), std::tuple("D", "right", 2 * scale)})
    builder.joint(name, "revolute")
        .set("between", "ground", crank)
        .set("at", {x, 0, 0})
        .set("axis", {0, 0, 1});
  for (const auto& [name, crank, x] : {std::tuple("B", "left", c), std::tuple("C", "right", c + 2 * scale)}) {
    builder.joint(name, hinge).set("between", "coupler", crank).set("at", {x, s, 0});
    if (hinge == "revolute") builder.set("axis", {0, 0, 1});
  }
  return make_system(builder.finish());
}

std::string found(const System& system) {
  Work work(system, "klu");
  State state = described_state(system);
  state.redundant = dependent_rows(system, state, 1e-7, RowLevel::Velocity, nullptr, work);
  return singular_position(system, state, linearize(system, state, Vec3::Zero(), work), work);
}

TEST(SingularPosition, IsFoundNearTheLineAndNotElsewhere) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    EXPECT_EQ(found(parallelogram(0.7, scale)), "") << scale;
    EXPECT_EQ(found(parallelogram(0.01, scale)), "") << scale;
    EXPECT_THAT(found(parallelogram(1e-7, scale)), HasSubstr("1 of the")) << scale;
  }
}

// To round-off, a dependent constraint looks like a redundant one: the positions beside tell them apart.
TEST(SingularPosition, IsToldFromRedundantConstraints) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    EXPECT_THAT(found(parallelogram(0, scale)), HasSubstr("1 of the 16 constraints is redundant here"))
        << scale;
    EXPECT_EQ(found(parallelogram(0.7, scale, "revolute")), "") << scale;
    EXPECT_THAT(found(parallelogram(0, scale, "revolute")), HasSubstr("here, but not in nearby positions"))
        << scale;
  }
}

TEST(SingularPosition, OfModesIsAWarning) {
  const System flat = parallelogram(1e-7, 1);
  EXPECT_THAT(modes(flat, described_state(flat), {}).warnings, Contains(HasSubstr("singular position")));
  const System open = parallelogram(0.7, 1);
  EXPECT_THAT(modes(open, described_state(open), {}).warnings, Not(Contains(HasSubstr("singular position"))));
}

}  // namespace
}  // namespace liedyn
