// Frames of linear beams as bodies: against closed forms, and against the same frame of geometrically exact beams that fixed joints hold together.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "liedyn/analyses/modes.h"
#include "liedyn/analyses/simulate.h"
#include "liedyn/analyses/statics.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

constexpr double kSpan = 1.5, kRise = 1.0;
const Vec3 kCorners[] = {{0, 0, 0}, {0, 0, kRise}, {kSpan, 0, kRise}, {kSpan, 0, 0}};
const char* const kMembers[] = {"left", "top", "right"};

// The beam is thicker than the columns: `k` is its stiffness by length over theirs.
constexpr double kColumnBending = 50, kBeamBending = 120;
constexpr double kRatio = (kBeamBending / kSpan) / (kColumnBending / kRise);

// Columns and a beam in the x-z plane that hardly stretch or shear; `exact` as beams, which fixed joints hold together, else as one flexible body.
void add_portal(ModelBuilder& b, bool exact, int elements, const std::string& element, int modes) {
  if (!exact) b.begin(Section::Flexible, "portal", "frame").set("modes", {static_cast<double>(modes)});
  for (int i = 0; i < 3; ++i) {
    b.begin(exact ? Section::Beams : Section::Flexible, kMembers[i], "stiffness").set("element", element);
    if (!exact) b.set("of", std::string("portal"));
    b.set("from", kCorners[i]).set("to", kCorners[i + 1]).set("elements", {static_cast<double>(elements)});
    b.set("y_axis", {0, 1, 0});
    for (const char* rigid : {"axial_stiffness", "shear_stiffness_y", "shear_stiffness_z"})
      b.set(rigid, {3e7});
    const double bending = i == 1 ? kBeamBending : kColumnBending;
    b.set("torsional_stiffness", {0.8 * bending}).set("bending_stiffness_y", {bending});
    b.set("bending_stiffness_z", {1.3 * bending}).set("mass_per_length", {0.5});
    b.set("inertia_per_length", {2e-5, 1e-5, 1e-5});
  }
  const auto interface = [&](const char* name, const Vec3& at) {
    b.begin(Section::Flexible, name, "interface").set("of", std::string("portal")).set("at", at);
  };
  std::string feet[2] = {"left.start", "right.end"};
  if (!exact) {
    interface("left_foot", kCorners[0]);
    interface("right_foot", kCorners[3]);
    feet[0] = "left_foot", feet[1] = "right_foot";
    interface("corner", kCorners[1]);
  } else {
    b.joint("weld_left", "fixed").set("between", "left.end", "top.start").set("at", kCorners[1]);
    b.joint("weld_right", "fixed").set("between", "top.end", "right.start").set("at", kCorners[2]);
  }
  b.joint("clamp_left", "fixed").set("between", "ground", feet[0]).set("at", kCorners[0]);
  b.joint("clamp_right", "fixed").set("between", "ground", feet[1]).set("at", kCorners[3]);
}

// A force P along the beam: sway P h^3 (3 k + 2)/(12 E I (6 k + 1)), moments of the columns P h/2 (3 k + 1)/(6 k + 1) at the feet and P h/2 3 k/(6 k + 1) at the corners,
// half of P in each.                                                              [Kleinlogel, Rigid Frame Formulas]
TEST(Frames, APortalSwaysAsTheClosedFormSays) {
  const double force = 1e-3, h = kRise, k = kRatio;
  const double sway = force * h * h * h * (3 * k + 2) / (12 * kColumnBending * (6 * k + 1));
  const double foot = force * h / 2 * (3 * k + 1) / (6 * k + 1), corner = force * h / 2 * 3 * k / (6 * k + 1);
  ModelBuilder b({0, 0, 0});
  add_portal(b, false, 8, "three_node", 0);
  b.force("wind", "force").set("on", std::string("corner")).set("force", {force, 0, 0});
  b.sensor("corner", "position").set("of", std::string("corner"));
  // Along the way from one foot to the other; moments about y go on around the corners.
  const std::vector<std::pair<std::string, double>> moments = {
      {"left[0]", foot},    {"left[1]", -corner}, {"left[0.3]", 0.7 * foot - 0.3 * corner},
      {"right[0]", corner}, {"right[1]", -foot},  {"top[0]", -corner},
      {"top[1]", corner},   {"top[0.5]", 0}};
  for (std::size_t i = 0; i < moments.size(); ++i)
    b.sensor(fmt::format("moment{}", i), "section_moment").set("of", moments[i].first);
  b.sensor("shear", "section_force").set("of", std::string("left[0.6]"));
  const StaticResult found = find_equilibrium(make_system(b.finish()), {});
  ASSERT_TRUE(found.converged) << found.failure;
  const Eigen::VectorXd s = as_vector(found.steps.back().sensors);
  expect_at_most(std::abs(s[0] / sway - 1), 1e-4, "sway");
  const double sign = s[4] > 0 ? 1 : -1;
  for (std::size_t i = 0; i < moments.size(); ++i)
    expect_at_most(std::abs(sign * s[static_cast<Eigen::Index>(3 + 3 * i + 1)] - moments[i].second),
                   1e-4 * foot, fmt::format("moment at {}", moments[i].first));
  const Vec3 shear = s.tail<3>();
  expect_at_most(std::abs(std::abs(shear.z()) / (force / 2) - 1), 1e-4, "shear of a column");
}

// Frequencies in every formulation, with modes enough that only the finite elements count, which are the same.
TEST(Frames, APortalHasTheFrequenciesOfTheSameFrameOfExactBeams) {
  const auto frequencies = [](bool exact, const std::string& element, const std::string& formulation) {
    ModelBuilder b({0, 0, 0});
    add_portal(b, exact, 4, element, 24);
    const System system = make_system(b.finish(), formulation);
    Work work(system);
    std::vector<double> out;
    for (const Mode& mode : modes(system, consistent_state(system, 0, {}, work)).modes)
      out.push_back(std::abs(mode.eigenvalue));
    std::sort(out.begin(), out.end());
    return out;
  };
  for (const std::string element : {"two_node", "three_node"}) {
    const std::vector<double> expected = frequencies(true, element, "r3so3");
    for (const std::string formulation : {"r3so3", "se3"}) {
      const std::vector<double> found = frequencies(false, element, formulation);
      for (std::size_t i = 0; i < 8; ++i)
        expect_at_most(std::abs(found[i] / expected[i] - 1), 1e-4,
                       fmt::format("{}, {}: frequency {}, {:.6g} and {:.6g} rad/s", element, formulation, i,
                                   found[i], expected[i]));
    }
  }
}

}  // namespace
}  // namespace liedyn
