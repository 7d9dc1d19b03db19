#include "liedyn/system/redundancy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "liedyn/base/decompositions.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// Bars between the points, the last point joined to the first by the ground; a hinge at each point.
std::shared_ptr<const Description> loop(const std::vector<Vec3>& points, const std::vector<Vec3>& axes) {
  ModelBuilder builder({0.3, -9.81, 0.7});
  const std::size_t bars = points.size() - 1;
  const auto bar = [&](std::size_t i) {
    return i == 0 || i > bars ? std::string("ground") : fmt::format("bar{}", i);
  };
  for (std::size_t i = 1; i <= bars; ++i)
    builder.body(bar(i), "rigid")
        .set("mass", {0.5 + 0.1 * static_cast<double>(i)})
        .set("inertia", {0.01, 0.02, 0.015})
        .set("position", Vec3((points[i - 1] + points[i]) / 2));
  for (std::size_t i = 0; i <= bars; ++i)
    builder.joint(fmt::format("hinge{}", i + 1), "revolute")
        .set("between", bar(i), bar(i + 1))
        .set("at", points[i])
        .set("axis", axes[i]);
  return builder.finish();
}

const Vec3 kX = Vec3::UnitX(), kY = Vec3::UnitY(), kZ = Vec3::UnitZ();
std::shared_ptr<const Description> four_bar() {
  return loop({{0, 0, 0}, {0, 0.12, 0}, {0.24, 0.2, 0}, {0.24, 0, 0}}, {kZ, kZ, kZ, kZ});
}
std::shared_ptr<const Description> bricard() {
  return loop({{0, 0, 0}, {1, 0, 0}, {1, -1, 0}, {1, -1, 1}, {0, -1, 1}, {0, 0, 1}},
              {kY, kZ, kX, kY, kZ, kX});
}

// The multipliers of least norm and the accelerations, by a pseudo-inverse of the whole system with all its rows.
struct Dense {
  Eigen::VectorXd vdot, lambda;
  Eigen::MatrixXd B;
};
Dense dense_solution(const System& system, const State& state, Work& work) {
  const Model& model = system.model();
  const ConstraintScales scales = constraint_scales(system, state, work);
  const Eigen::Map<const Eigen::VectorXd> row(scales.row.data(), model.rows),
      column(scales.column.data(), model.nv);
  Dense out;
  // B = D_r^-1 B^ D_c
  out.B = row.cwiseInverse().asDiagonal() *
          Eigen::MatrixXd(scaled_constraints(system, state, scales, work)).transpose() * column.asDiagonal();
  State still = state;
  std::fill(still.vdot.begin(), still.vdot.end(), 0.0);
  std::fill(still.lambda.begin(), still.lambda.end(), 0.0);
  MatrixRequest request;
  request.force = {0, 0, 1};
  request.row = {0, 0, 1};
  request.level = RowLevel::Acceleration;
  system.jacobian(still, work, {false, false, true}, request);
  const Eigen::MatrixXd M =
      dense_matrix(block_pattern(model, IndexForm::Index3), *work.solver).topLeftCorner(model.nv, model.nv);
  const Eigen::VectorXd g = as_vector(work.r), bias = as_vector(work.acceleration);
  const int n = model.nv + model.rows;
  Eigen::MatrixXd K = Eigen::MatrixXd::Zero(n, n);
  K.topLeftCorner(model.nv, model.nv) = M;
  K.topRightCorner(model.nv, model.rows) = out.B.transpose() * row.asDiagonal();  // lambda = D_r mu
  K.bottomLeftCorner(model.rows, model.nv) = out.B;
  Eigen::VectorXd right(n);
  right << -g, -bias;
  Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> pseudo_inverse;
  pseudo_inverse.setThreshold(1e-10);
  pseudo_inverse.compute(K);
  const Eigen::VectorXd x = pseudo_inverse.solve(right);
  expect_at_most((K * x - right).norm() / right.norm(), 1e-10, "defect of the pseudo-inverse");
  out.vdot = x.head(model.nv);
  out.lambda = row.cwiseProduct(x.tail(model.rows));
  return out;
}

TEST(Redundancy, MultipliersAreThoseOfThePseudoInverse) {
  const struct {
    const char* name;
    std::shared_ptr<const Description> description;
    std::size_t redundant;
  } cases[] = {{"four-bar", four_bar(), 3}, {"Bricard", bricard(), 1}};
  for (const auto& c : cases)
    for (const std::string& formulation : formulations_in_the_large()) {
      const System system = make_system(c.description, formulation);
      Work work(system);
      const State state = consistent_state(system, 0, InitialPolicy::Check, work);
      const std::string name = fmt::format("{}, {}: ", c.name, formulation);
      EXPECT_EQ(state.redundant.size(), c.redundant) << name;
      const Dense dense = dense_solution(system, state, work);
      expect_at_most((as_vector(state.vdot) - dense.vdot).norm() / dense.vdot.norm(), 1e-11,
                     name + "accelerations");
      // In minimal coordinates lambda has the rows of the loops only, and the joints of the tree count as well: the multipliers are those
      // that the same rows have in absolute coordinates.
      if (system.model().tree) {
        const System absolute = make_system(c.description, "r3so3");
        Work absolute_work(absolute);
        const State whole = consistent_state(absolute, 0, InitialPolicy::Check, absolute_work);
        for (int row = 0; row < absolute.model().rows; ++row)
          for (int own = 0; own < system.model().rows; ++own)
            if (system.model().row_name(own) == absolute.model().row_name(row))
              expect_at_most(std::abs(state.lambda[static_cast<std::size_t>(own)] -
                                      whole.lambda[static_cast<std::size_t>(row)]),
                             1e-10, name + system.model().row_name(own));
        continue;
      }
      expect_at_most((as_vector(state.lambda) - dense.lambda).norm() / dense.lambda.norm(), 1e-11,
                     name + "multipliers");
    }
}

TEST(Redundancy, EqualSupportsShareTheirLoadEqually) {
  // A table of four legs under a weight in its middle, each on a plane: one of the four forces is redundant.
  ModelBuilder builder({0, 0, -9.81});
  builder.body("table", "rigid").set("mass", {8}).set("inertia", {1, 1, 1}).set("position", {0, 0, 1});
  const double corners[][2] = {{1, 1}, {-1, 1}, {-1, -1}, {1, -1}};
  for (int i = 0; i < 4; ++i)
    builder.joint(fmt::format("leg{}", i), "point_on_plane")
        .set("between", "ground", "table")
        .set("at", {corners[i][0], corners[i][1], 0})
        .set("axis", {0, 0, 1});
  const System system = make_system(builder.finish());
  Work work(system);
  const State state = consistent_state(system, 0, InitialPolicy::Check, work);
  EXPECT_EQ(state.redundant.size(), 1u);
  for (const double force : state.lambda)
    expect_at_most(std::abs(std::abs(force) - 2 * 9.81), 1e-12, "force of a leg");
}

// What holds everything at rest leaves accelerations of round-off, also without gravity to compare them with.
TEST(Redundancy, ATableUnderAForceWithoutGravityIsNoContradiction) {
  ModelBuilder builder({0, 0, 0});
  builder.body("table", "rigid").set("mass", {10}).set("inertia", {1, 1, 1}).set("position", {0.1, 0.05, 0});
  const double corners[][2] = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
  for (int i = 0; i < 4; ++i)
    builder.joint(fmt::format("leg{}", i), "point_on_plane")
        .set("between", "ground", "table")
        .set("at", {corners[i][0], corners[i][1], 0})
        .set("axis", {0, 0, 1});
  builder.force("weight", "force").set("on", std::string("table")).set("force", {0, 0, -98.1});
  const auto description = builder.finish();
  for (const char* formulation : {"r3so3", "r3so3-spatial", "se3", "euler-parameters"}) {
    const System system = make_system(description, formulation);
    Work work(system);
    const State state = consistent_state(system, 0, InitialPolicy::Check, work);
    // The least forces: W/4 (1 + x X + y Y) at the corner (X, Y).
    for (std::size_t i = 0; i < 4; ++i)
      expect_at_most(
          std::abs(std::abs(state.lambda[i]) - 98.1 / 4 * (1 + 0.1 * corners[i][0] + 0.05 * corners[i][1])),
          1e-12, fmt::format("{}: force of leg {}", formulation, i));
  }
}

TEST(Redundancy, TorquesCountAsForcesAtTheModelsLength) {
  // A beam fixed at both ends, symmetric, with its weight in the middle: each end carries half, and by the choice of the norm as
  // much torque as makes the sum of squares least. With end forces F/2 the torques may be any pair +-T: the least is T = 0.
  ModelBuilder builder({0, 0, -9.81});
  builder.body("beam", "rigid").set("mass", {2}).set("inertia", {1, 1, 1});
  for (const double x : {-1.5, 1.5})
    builder.joint(x < 0 ? "left" : "right", "fixed").set("between", "ground", "beam").set("at", {x, 0, 0});
  const System system = make_system(builder.finish());
  Work work(system);
  const State state = consistent_state(system, 0, InitialPolicy::Check, work);
  EXPECT_EQ(state.redundant.size(), 6u);
  const ConstraintScales scales = constraint_scales(system, state, work);
  EXPECT_DOUBLE_EQ(scales.length, 3);
  EXPECT_EQ(std::count(scales.row.begin(), scales.row.end(), 3.0), 6);
  for (int joint = 0; joint < 2; ++joint)
    for (int i = 0; i < 6; ++i)
      expect_at_most(
          std::abs(std::abs(state.lambda[static_cast<std::size_t>(6 * joint + i)]) - (i == 2 ? 9.81 : 0)),
          1e-12, fmt::format("joint {}, row {}", joint, i));
}

TEST(Redundancy, RowsThatMoveNothingFreeAreLeftOutOfAProjection) {
  // Only the coupler's and the rocker's velocities are to be found; the hinge of the crank has no say in them.
  ModelBuilder builder({0, 0, 0});
  const auto bar = [&](const char* name, double x, double y) -> ModelBuilder& {
    return builder.body(name, "rigid")
        .set("mass", {1})
        .set("inertia", {0.1, 0.1, 0.1})
        .set("position", {x, y, 0});
  };
  bar("crank", 0, 0.06).set("velocity", {-0.6, 0, 0}).set("angular_velocity", {0, 0, 10});
  bar("coupler", 0.12, 0.16).consistent("velocity").consistent("angular_velocity");
  bar("rocker", 0.24, 0.1).consistent("velocity").consistent("angular_velocity");
  const std::vector<Vec3> points = {{0, 0, 0}, {0, 0.12, 0}, {0.24, 0.2, 0}, {0.24, 0, 0}};
  const std::string between[][2] = {
      {"ground", "crank"}, {"crank", "coupler"}, {"coupler", "rocker"}, {"rocker", "ground"}};
  for (std::size_t i = 0; i < 4; ++i)
    builder.joint(fmt::format("hinge{}", i), "revolute")
        .set("between", between[i][0], between[i][1])
        .set("at", points[i])
        .set("axis", kZ);
  const System system = make_system(builder.finish());
  Work work(system);
  const State state = consistent_state(system, 0, InitialPolicy::Check, work);
  // The crank's end moves along -x, and so does the rocker's, which is upright: by 1.2 m/s.
  expect_at_most(
      (as_vector(state.v).segment(6, 6) - (Eigen::VectorXd(6) << -1.2, 0, 0, 0, 0, 0).finished()).norm(),
      1e-12, "coupler");
  expect_at_most(
      (as_vector(state.v).segment(12, 6) - (Eigen::VectorXd(6) << -0.6, 0, 0, 0, 0, 6).finished()).norm(),
      1e-12, "rocker");
}

std::string refusal_of(const std::shared_ptr<const Description>& description,
                       InitialPolicy policy = InitialPolicy::Check) {
  const System system = make_system(description);
  Work work(system);
  try {
    consistent_state(system, 0, policy, work);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Redundancy, ARoughFourBarIsAssembled) {
  ModelBuilder builder({0, 0, 0});
  const auto bar = [&](const char* name, double x, double y, double turn) {
    builder.body(name, "rigid")
        .set("mass", {1})
        .set("inertia", {0.1, 0.1, 0.1})
        .set("position", {x, y, 0.01})
        .set("angular_velocity", {0, 0, turn});
  };
  bar("crank", 0, 0.06, 10);
  bar("coupler", 0.12, 0.16, 0);
  bar("rocker", 0.24, 0.1, 0);
  // Places on the bars that do not meet: rods of other lengths than the bodies' places say.
  const auto pin = [&](const char* name, const char* first, const char* second, const Vec3& at) {
    builder.joint(name, "revolute").set("between", first, second).set("at", at).set("axis", kZ);
  };
  pin("a", "ground", "crank", {0, 0, 0});
  pin("b", "crank", "coupler", {0, 0.12, 0});
  pin("c", "coupler", "rocker", {0.24, 0.2, 0});
  pin("d", "rocker", "ground", {0.24, 0, 0});
  const System system = make_system(builder.finish());
  Work work(system);
  State state = described_state(system);
  Random random(5);
  for (const Node& node : system.model().nodes) {
    const Vec6 d = 0.01 * random.vector<6>();
    increment_position(node.type, d.data(), state.q.data() + node.q);
  }
  EXPECT_TRUE(project_positions(system, state, nullptr, work));
  system.residual(state, work, {});
  expect_at_most(as_vector(work.phi).cwiseAbs().maxCoeff(), 1e-12, "Phi, with the rows that are left out");
  EXPECT_EQ(dependent_rows(system, state, 1e-7, RowLevel::Velocity, nullptr, work).size(), 3u);
}

TEST(Redundancy, ContradictionsAreRefusedByName) {
  ModelBuilder builder;
  builder.body("ball", "point").set("mass", {1}).guess("position", Vec3(0, 0, 0));
  for (const double length : {1.0, 1.2})
    builder.joint(length == 1 ? "short" : "long", "distance")
        .set("between", "ground", "ball")
        .set("points", {1, 0, 0, 0, 0, 0})
        .set("length", {length});
  EXPECT_THAT(refusal_of(builder.finish()),
              testing::ContainsRegex("joints.(short|long): distance: .*contradicts other constraints"));
}

TEST(Redundancy, ASingularStartIsNotTakenForARedundantOne) {
  // A parallelogram folded flat: the places along the line are dependent here only.
  const std::string what =
      refusal_of(loop({{0, 0, 0}, {0.1, 0, 0}, {0.4, 0, 0}, {0.3, 0, 0}}, {kZ, kZ, kZ, kZ}));
  EXPECT_THAT(what,
              testing::ContainsRegex("joints.hinge[1-4]: position x: the initial configuration is singular"));
}

}  // namespace
}  // namespace liedyn
