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

// Cranks of 1 m, coupler and ground of 2 m; z is normal to the plane. The coupler hangs in balls and may spin, so that no constraint is redundant.
System parallelogram(double angle, double scale) {
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
  for (const auto& [name, crank, x] : {std::tuple("B", "left", c), std::tuple("C", "right", c + 2 * scale)})
    builder.joint(name, "spherical").set("between", "coupler", crank).set("at", {x, s, 0});
  return make_system(builder.finish());
}

std::string found(const System& system) {
  Work work(system, "klu");
  return near_singular_position(linearize(system, described_state(system), Vec3::Zero(), work));
}

TEST(SingularPosition, IsFoundNearTheLineAndNotElsewhere) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    EXPECT_EQ(found(parallelogram(0.7, scale)), "") << scale;
    EXPECT_EQ(found(parallelogram(0.01, scale)), "") << scale;
    EXPECT_THAT(found(parallelogram(1e-7, scale)), HasSubstr("1 of the")) << scale;
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
