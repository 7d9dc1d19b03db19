// Frames of linear beams: stiffness, inertia and frequencies against closed forms, and what is wrong with members.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <functional>
#include <numbers>

#include "liedyn/model/flexible/body.h"
#include "liedyn/model/flexible/linear_beam.h"
#include "liedyn/model/model.h"
#include "liedyn/model/params.h"
#include "liedyn/model/testing.h"

namespace liedyn {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kWidth = 0.05, kHeight = 0.08, kYoung = 2e9, kDensity = 3000;
constexpr double kArea = kWidth * kHeight, kAxial = kYoung * kArea;
// The section's z axis is as near to the frame's as it can be: bending in the x-z plane is about y, and `height` counts.
constexpr double kBending = kYoung * kWidth * kHeight * kHeight * kHeight / 12;
constexpr double kBendingOut = kYoung * kHeight * kWidth * kWidth * kWidth / 12;

void add_member(ModelBuilder& b, const std::string& name, const Vec3& from, const Vec3& to, int elements,
                const std::string& element = "two_node") {
  b.begin(Section::Flexible, name, "rectangle").set("of", std::string("rack")).set("element", element);
  b.set("from", from).set("to", to).set("elements", {static_cast<double>(elements)});
  // Columns along z, where there is no "up": y as for the others.
  b.set("y_axis", {0, 1, 0}).set("width", {kWidth}).set("height", {kHeight});
  b.set("young", {kYoung}).set("poisson", {0.25}).set("density", {kDensity});
}
constexpr double kShear = 10 * 1.25 / (12 + 11 * 0.25) * kYoung / 2.5 * kArea;  // k G A with Cowper's factor

struct FrameElements {
  std::shared_ptr<const Description> description;
  FiniteElements full;

  explicit FrameElements(ModelBuilder& b) : description(b.finish()) {
    const auto& entries = description->entries(Section::Flexible);
    const auto frame = std::find_if(entries.begin(), entries.end(), is_beam_frame);
    full = linear_beam_elements(
        linear_beams(Inputs<double>(*description, *frame, description->parameters.data(), nullptr)));
  }
  int node(const Vec3& place) const {
    Eigen::Index nearest;
    EXPECT_LT((full.places.colwise() - place).colwise().norm().minCoeff(&nearest), 1e-9);
    return static_cast<int>(nearest);
  }
  // Displacements of all nodes by forces and moments, with these nodes held.
  VectorXd bent(const std::vector<Vec3>& held, const Vec3& loaded, const Vec6& wrench) const {
    MatrixXd K = full.K;
    for (const Vec3& place : held) K.diagonal().segment<6>(6 * node(place)).array() += 1e6 * K.maxCoeff();
    VectorXd force = VectorXd::Zero(full.size());
    force.segment<6>(6 * node(loaded)) = wrench;
    return K.ldlt().solve(force);
  }
};

constexpr double kColumn = 1.1, kArm = 0.7;

// A column with an arm: the tip goes down by bending, shear and thrust, and out of the plane by bending and torsion of the column, each by the closed form.
TEST(Frames, AnLFrameBendsAsTheClosedFormSays) {
  const double torsion = kYoung / 2.5 * [] {
    // Saint-Venant's constant of the rectangle, by its series.
    double sum = 0;
    for (int n = 1; n < 60; n += 2)
      sum += std::tanh(n * std::numbers::pi * kHeight / (2 * kWidth)) / std::pow(n, 5);
    return kHeight * std::pow(kWidth, 3) / 3 *
           (1 - 192 * kWidth / (std::pow(std::numbers::pi, 5) * kHeight) * sum);
  }();
  const double h = kColumn, a = kArm, force = 10;
  const double down = force * (a * a * a / (3 * kBending) + a * a * h / kBending + a / kShear + h / kAxial),
               aside = force * a * h * h / (2 * kBending),
               out = force *
                     ((a * a * a + h * h * h) / (3 * kBendingOut) + a * a * h / torsion + (a + h) / kShear);
  for (const std::string element : {"two_node", "three_node"}) {
    std::vector<double> errors;
    for (const int elements : {4, 8}) {
      ModelBuilder b;
      b.begin(Section::Flexible, "rack", "frame");
      add_member(b, "column", Vec3::Zero(), Vec3(0, 0, h), elements, element);
      add_member(b, "arm", Vec3(a, 0, h), Vec3(0, 0, h), elements, element);  // ends may meet either way
      const FrameElements e(b);
      const Vec3 tip(a, 0, h);
      Vec6 in_plane = Vec6::Zero(), across = Vec6::Zero();
      in_plane[2] = -force, across[1] = force;
      const Vec3 u = e.bent({Vec3::Zero()}, tip, in_plane).segment<3>(6 * e.node(tip)),
                 v = e.bent({Vec3::Zero()}, tip, across).segment<3>(6 * e.node(tip));
      errors.push_back(
          std::max({std::abs(u.z() / -down - 1), std::abs(u.x() / aside - 1), std::abs(v.y() / out - 1)}));
    }
    const std::string errors_are = fmt::format("{}: errors {:.2e}, {:.2e}", element, errors[0], errors[1]);
    if (element == "two_node")
      expect_between(std::log2(errors[0] / errors[1]), 1.9, 2.1, errors_are);
    else  // exact where moments are linear, but for the held node
      expect_at_most(errors[1], 1e-5, errors_are);
  }
}

// Mass, first and second moments of slender boxes, and of these the rotary inertia of their sections.
TEST(Frames, ARigidMotionHasTheInertiaOfTheMembers) {
  ModelBuilder b;
  b.begin(Section::Flexible, "rack", "frame").set("position", {3, 2, 1});
  const std::vector<std::pair<Vec3, Vec3>> members = {
      {{0, 0, 0}, {0, 0, 1}}, {{0, 0, 1}, {0.8, 0, 1}}, {{0.8, 0, 1}, {0.8, 0.6, 0.2}}};
  Mat6 expected = Mat6::Zero();
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto& [from, to] = members[i];
    add_member(b, fmt::format("part{}", i), from, to, 3);
    const double length = (to - from).norm(), mass = kDensity * kArea * length;
    const Vec3 c = 0.5 * (from + to), x = (to - from) / length;
    const Vec3 z = x.cross(Vec3::UnitY()).normalized(), y = z.cross(x);
    // m/12 (b^2 + c^2) about each axis of the box
    const Mat3 spread = (length * length * x * x.transpose() + kWidth * kWidth * y * y.transpose() +
                         kHeight * kHeight * z * z.transpose()) *
                        (mass / 12);
    const Mat3 inertia = spread.trace() * Mat3::Identity() - spread - mass * skew(c) * skew(c);
    expected.topLeftCorner<3, 3>() += mass * Mat3::Identity();
    expected.topRightCorner<3, 3>() -= mass * skew(c);
    expected.bottomLeftCorner<3, 3>() += mass * skew(c);
    expected.bottomRightCorner<3, 3>() += inertia;
  }
  const FiniteElements full = FrameElements(b).full;
  EXPECT_EQ(full.nodes(), 10);
  const MatrixXd L = full.rigid_motions();
  expect_at_most(relative_difference(L.transpose() * full.M * L, MatrixXd(expected)), 1e-12, "inertia");
  expect_at_most((full.K * L).cwiseAbs().maxCoeff() / MatrixXd(full.K).cwiseAbs().maxCoeff(), 1e-12,
                 "forces by rigid motions");
}

// Bernoulli beams with a harmonic end (displacement v, rotation r; the other end held): forces by these and the moment carried over, for E I = 1, mass per length 1 and length 1
// at the frequency x^2.
struct DynamicStiffness {
  double vv, vr, rr, over;
  explicit DynamicStiffness(double x) {
    const double s = std::sin(x), c = std::cos(x), S = std::sinh(x), C = std::cosh(x), d = 1 - c * C;
    vv = x * x * x * (s * C + c * S) / d;
    vr = x * x * s * S / d;
    rr = x * (s * C - c * S) / d;
    over = x * (S - s) / d;
  }
};

double root(const std::function<double(double)>& f, double low, double high) {
  EXPECT_LT(f(low) * f(high), 0);
  for (int i = 0; i < 60; ++i) {
    const double middle = 0.5 * (low + high);
    (f(low) * f(middle) <= 0 ? high : low) = middle;
  }
  return low;
}

// A portal of three equal members, held at its feet. Where both corners turn alike it sways, with the mass of the beam moving along; where they turn against each other, it does not.
TEST(Frames, APortalHasTheFrequenciesOfTheTranscendentalEquations) {
  const double sway = root(
      [](double x) {
        const DynamicStiffness k(x);
        return (2 * k.vv - x * x * x * x) * (2 * k.rr + 2 * (k.rr + k.over)) - 4 * k.vr * k.vr;
      },
      1.2, 2.5);
  const double symmetric = root(
      [](double x) {
        const DynamicStiffness k(x);
        return k.rr + (k.rr - k.over);
      },
      2.5, 4.5);
  std::vector<double> errors;
  for (const int elements : {8, 16}) {
    ModelBuilder b;
    b.begin(Section::Flexible, "rack", "frame");
    const Vec3 corners[] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 1}, {1, 0, 0}};
    for (int i = 0; i < 3; ++i) {
      b.begin(Section::Flexible, fmt::format("part{}", i), "stiffness").set("of", std::string("rack"));
      b.set("from", corners[i]).set("to", corners[i + 1]).set("elements", {static_cast<double>(elements)});
      b.set("y_axis", {0, 1, 0});
      for (const char* rigid : {"axial_stiffness", "shear_stiffness_y", "shear_stiffness_z"})
        b.set(rigid, {1e7});
      b.set("torsional_stiffness", {1}).set("bending_stiffness_y", {1}).set("bending_stiffness_z", {1});
      b.set("mass_per_length", {1}).set("inertia_per_length", {1e-8, 1e-8, 1e-8});
    }
    const FrameElements e(b);
    std::vector<int> free;  // displacements along x and z and rotations about y
    for (int i = 0; i < e.full.nodes(); ++i)
      if (i != e.node(corners[0]) && i != e.node(corners[3]))
        for (const int c : {0, 2, 4}) free.push_back(6 * i + c);
    const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> modes(
        MatrixXd(e.full.K)(free, free), MatrixXd(e.full.M)(free, free), Eigen::EigenvaluesOnly);
    const auto parameter = [&](int i) { return std::pow(modes.eigenvalues()[i], 0.25); };
    errors.push_back(std::max(std::abs(parameter(0) / sway - 1), std::abs(parameter(1) / symmetric - 1)));
  }
  // What is left is that of the finite axial and shear stiffness.
  expect_between(std::log2(errors[0] / errors[1]), 1.8, 2.2,
                 fmt::format("order, errors {:.2e}, {:.2e}", errors[0], errors[1]));
  expect_at_most(errors[1], 2e-3, "frequency parameters");
}

// Only ends are joined: bars that cross pass each other, whatever nodes they have there.
TEST(Frames, EndsAreJoinedAndCrossingMembersAreNot) {
  ModelBuilder b;
  b.begin(Section::Flexible, "rack", "frame");
  add_member(b, "one", Vec3(0, 0, 0), Vec3(1, 0, 1), 4);
  add_member(b, "two", Vec3(0, 0, 1), Vec3(1, 0, 0), 4);
  add_member(b, "side", Vec3(0, 0, 0), Vec3(0, 0, 1), 2);
  add_member(b, "branch", Vec3(0.25, 0, 0.25), Vec3(0.25, 0.3, 0.6), 1);  // at a node of `one`
  const FrameElements e(b);
  EXPECT_EQ(e.full.nodes(), 5 + 5 + 1 + 1);
  EXPECT_EQ(e.full.groups.at("side.end"), e.full.groups.at("two.start"));
  EXPECT_EQ(e.full.groups.at("branch.start").front(), 1);
}

TEST(Frames, MistakesAreExplained) {
  const auto expect = [](const std::function<void(ModelBuilder&)>& fill, const std::string& text) {
    ModelBuilder b;
    b.begin(Section::Flexible, "rack", "frame");
    fill(b);
    std::string found = "nothing";
    try {
      const auto d = b.finish();
      const std::vector<Diagnostic> findings = check_parameters(*Model::compile(d), d->parameters.data());
      if (!findings.empty()) found = to_string(findings.front());
    } catch (const InputError& error) {
      found = to_string(error.diagnostics().front());
    }
    EXPECT_NE(found.find(text), std::string::npos) << found;
  };
  const auto column = [](ModelBuilder& b) { add_member(b, "column", Vec3::Zero(), Vec3(0, 0, 1), 2); };
  expect([](ModelBuilder&) {}, "has no members");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        add_member(b, "point", Vec3(0, 0, 1), Vec3(0, 0, 1), 1);
      },
      "its member 'point': from and to are the same point");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        add_member(b, "apart", Vec3(0.1, 0, 1), Vec3(1, 0, 1), 1);
        add_member(b, "more", Vec3(1, 0, 1), Vec3(1, 0, 2), 1);
      },
      "is disconnected: 'apart', 'more' do not touch 'column'");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        add_member(b, "again", Vec3(0, 0, 1), Vec3::Zero(), 3);
      },
      "two members between the same points, 'column' and 'again'");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        add_member(b, "longer", Vec3(0, 0, 0.5), Vec3(0, 0, 1.5), 2);
      },
      "overlapping members, 'column' and 'longer'");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        add_member(b, "arm", Vec3(0, 0, 0.3), Vec3(1, 0, 0.3), 1);
      },
      "the start of 'arm' on 'column' between two of its nodes");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        add_member(b, "arm", Vec3(0, 0, 1), Vec3(1, 0, 1), 1, "three_node");
      },
      "expected the same `element` for all");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        b.set("modes", {3});
      },
      "applies to the whole frame, not to one of its members");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        b.joint("weld", "fixed").set("between", "ground", "column").set("at", {0, 0, 0});
      },
      "give 'rack' an interface");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        b.begin(Section::Flexible, "foot", "interface").set("of", std::string("column")).set("at", {0, 0, 0});
      },
      "is a member of a frame, expected a flexible body");
  expect(
      [&](ModelBuilder& b) {
        column(b);
        b.begin(Section::Flexible, "strip", "rectangle").set("of", std::string("wall"));
        b.set("from", {0, 0, 0}).set("to", {1, 0, 0}).set("elements", {1});
        b.set("width", {1}).set("height", {1}).set("young", {1}).set("density", {1});
        b.begin(Section::Flexible, "wall", "brick").set("size", {1, 1, 1}).set("divisions", {1, 1, 1});
        b.set("young", {1}).set("density", {1});
      },
      "expected a flexible body of type frame, got 'wall' of type brick");
}

// What concerns the frame is no number of its members, and the same error as in a file.
TEST(Frames, NumbersOfTheWholeFrameAreNotThoseOfItsMembers) {
  ModelBuilder b;
  b.begin(Section::Flexible, "rack", "frame");
  add_member(b, "column", Vec3::Zero(), Vec3::UnitZ(), 2);
  add_member(b, "arm", Vec3::UnitZ(), Vec3(1, 0, 1), 2);
  const Params params(b.finish());
  std::vector<std::string> paths;
  for (int i = 0; i < params.size(); ++i) paths.push_back(params.path(i));
  const auto contains = [&](const std::string& path) {
    return std::find(paths.begin(), paths.end(), path) != paths.end();
  };
  for (const char* name : {"damping", "damping_ratio", "velocity[0]", "angular_velocity_inertial[2]"}) {
    EXPECT_TRUE(contains(fmt::format("flexible.rack.{}", name))) << name;
    const std::string path = fmt::format("flexible.arm.{}", name);
    EXPECT_FALSE(contains(path)) << name;
    Params changed = params;
    try {
      changed.set(path, 1);
      ADD_FAILURE() << path << " was set";
    } catch (const InputError& error) {
      EXPECT_EQ(error.what(),
                path + ": applies to the whole frame, not to one of its members (hint: give it to 'rack')");
    }
  }
  EXPECT_TRUE(contains("flexible.arm.young"));
}

}  // namespace
}  // namespace liedyn
