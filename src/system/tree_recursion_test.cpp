// Accelerations of trees by recursion, against the matrix that System assembles and against absolute coordinates.
#include <gtest/gtest.h>

#include "liedyn/system/testing.h"
#include "liedyn/system/tree_dynamics.h"

namespace liedyn {
namespace {

enum class Forces { None, Some, WithRotors };

// Every joint that a tree may hold, twice, in either direction, with branches; on ground and on roots of every kind; and forces.
std::shared_ptr<const Description> tree_without_loops(Random& random, Forces forces) {
  const Vec3 gravity = 5 * random.vector<3>();
  ModelBuilder builder({gravity.x(), gravity.y(), gravity.z()});
  std::vector<std::string> bodies = {"ground"}, links = {"ground"};
  for (const std::string& root : add_every_body(builder, random)) bodies.push_back(root);
  for (const char* formulation : {"model", "se3", "r3so3-spatial", "euler-parameters"}) {
    links.push_back(fmt::format("base_{}", formulation));
    builder.body(links.back(), "rigid");
    set_random_fields(builder, *find_kind(Section::Bodies, "rigid"), random);
    builder.set("formulation", std::string(formulation));
  }
  std::vector<std::string> with_coordinate;
  for (int round = 0; round < 2; ++round)
    for (const Kind& kind : kinds(Section::Joints)) {
      if (kind.tree == nullptr) continue;
      const std::string body = fmt::format("behind_{}{}", kind.type, round);
      builder.body(body, "rigid");
      set_random_fields(builder, *find_kind(Section::Bodies, "rigid"), random);
      builder.set("formulation", std::string("model"));
      const std::string& inner =
          links[static_cast<std::size_t>(random.below(static_cast<int>(links.size())))];
      const bool forwards = random.below(2) == 0;
      add_between(builder, Section::Joints, kind, forwards ? inner : body, forwards ? body : inner, random);
      if (kind.type == "revolute" || kind.type == "prismatic" || kind.type == "cylindrical")
        with_coordinate.push_back(
            fmt::format("{}_{}_{}", kind.type, forwards ? inner : body, forwards ? body : inner));
      links.push_back(body);
    }
  bodies.insert(bodies.end(), links.begin() + 1, links.end());
  if (forces == Forces::None) return builder.finish();
  for (const Kind& kind : kinds(Section::Forces)) {
    if (has_kinks(kind) || kind.type == "joint_friction") continue;  // which needs multipliers
    if (kind.field("joint") < 0) {
      if (kind.field("joints") < 0 && kind.field("beam") < 0 && kind.field("on") < 0)
        add_everywhere(builder, Section::Forces, kind, bodies, Pairs::Neighbours, random);
      continue;
    }
    if (kind.type == "dc_motor" && forces != Forces::WithRotors) continue;
    for (const std::string& joint : with_coordinate) {
      builder.begin(Section::Forces, fmt::format("{}_in_{}", kind.type, joint), kind.type);
      set_random_fields(builder, kind, random);
      builder.set("joint", joint);
    }
  }
  builder.state("charge", "expression").set("initial", {0.4}).set("rate", std::string("cos(t) - charge^2"));
  return builder.finish();
}

// The largest difference of accelerations between the recursion and the assembled matrix, at random states.
double difference_to_assembly(const System& system, Random& random, int states) {
  Work work(system), other(system);
  TreeDynamics dynamics(system);
  double worst = 0;
  for (int i = 0; i < states; ++i) {
    State state = random_state(system, random), expected = state;
    EXPECT_TRUE(dynamics.prepare(state, work));
    EXPECT_EQ(dynamics.accelerate(state, work), -1);
    EXPECT_TRUE(solve_accelerations(system, expected, other));
    worst = std::max(worst, relative_difference(as_vector(state.vdot), as_vector(expected.vdot)));
  }
  return worst;
}

TEST(TreeRecursion, GivesTheAccelerationsOfTheAssembledMatrix) {
  for (const Forces forces : {Forces::None, Forces::Some}) {
    double worst = 0;
    for (unsigned seed = 1; seed <= (forces == Forces::None ? 6 : 2); ++seed) {
      Random random(seed);
      const System system = make_system(tree_without_loops(random, forces), "minimal");
      ASSERT_EQ(system.model().rows, 0);
      worst = std::max(worst, difference_to_assembly(system, random, 2));
    }
    expect_at_most(worst, 1e-10, forces == Forces::None ? "trees under weight" : "trees with forces");
  }
}

// The residual in absolute coordinates has the joints' reactions; accelerations of the bodies do not.
TEST(TreeRecursion, GivesTheAccelerationsOfAbsoluteCoordinates) {
  double worst = 0;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Random random(seed);
    const auto description = tree_without_loops(random, Forces::Some);
    const System minimal = make_system(description, "minimal"), absolute = make_system(description, "r3so3");
    Work work(minimal), absolute_work(absolute);
    State state = random_state(minimal, random);
    TreeDynamics dynamics(minimal);
    ASSERT_TRUE(dynamics.prepare(state, work));
    ASSERT_EQ(dynamics.accelerate(state, work), -1);
    minimal.residual(state, work, {false, false, false});
    State bodies = absolute.empty_state();
    bodies.t = state.t;
    bodies.angles = state.angles;
    for (std::size_t i = 0; i < absolute.model().nodes.size(); ++i) {
      const Node& node = absolute.model().nodes[i];
      const Motion<double>& m = work.motions[i];
      double* q = bodies.q.data() + node.q;
      double* v = bodies.v.data() + node.v;
      if (node.type != NodeType::R3xSO3) continue;  // roots with coordinates of their own: as in the tree
      Eigen::Map<Vec3>{q} = m.p;
      store_rotation(SO3<double>::from_matrix(m.R), q);
      Eigen::Map<Vec3>{v} = m.velocity();
      Eigen::Map<Vec3>{v + 3} = m.V.tail<3>();
    }
    for (std::size_t body = 0; body < absolute.model().nodes.size(); ++body) {
      const Node& to = absolute.model().nodes[body];
      const int root = minimal.model().node_of_body(static_cast<int>(body));
      if (root < 0) continue;
      const Node& from = minimal.model().nodes[static_cast<std::size_t>(root)];
      if (from.type != to.type) continue;
      std::copy_n(state.q.data() + from.q, node_size(from.type).q, bodies.q.data() + to.q);
      std::copy_n(state.v.data() + from.v, node_size(from.type).v, bodies.v.data() + to.v);
    }
    derive_parameters(absolute, bodies);
    ASSERT_TRUE(solve_accelerations(absolute, bodies, absolute_work));
    absolute.residual(bodies, absolute_work, {true, true, true});
    Eigen::VectorXd found(6 * static_cast<Eigen::Index>(work.motions.size())), expected(found.size());
    for (std::size_t i = 0; i < work.motions.size(); ++i) {
      found.segment<6>(6 * static_cast<Eigen::Index>(i)) = work.motions[i].A;
      expected.segment<6>(6 * static_cast<Eigen::Index>(i)) = absolute_work.motions[i].A;
    }
    worst = std::max(worst, relative_difference(found, expected));
  }
  expect_at_most(worst, 1e-10, "accelerations of all bodies");
}

// M and the forces of inverse dynamics have the same sum as the residual: r = M vdot + g.
TEST(TreeRecursion, InverseDynamicsAndMassMatrixAreThoseOfTheResidual) {
  Random random(7);
  const System system = make_system(tree_without_loops(random, Forces::Some), "minimal");
  Work work(system);
  TreeDynamics dynamics(system);
  const State state = random_state(system, random);
  ASSERT_TRUE(dynamics.prepare(state, work));
  const Eigen::Index n = dynamics.at(state, work).velocities();
  Eigen::VectorXd forces(n), bias(n);
  dynamics.forces(state, work, state.vdot.data(), true, forces.data());
  dynamics.forces(state, work, nullptr, true, bias.data());
  Eigen::MatrixXd M(n, n);
  dynamics.at(state, work).mass_matrix(M.data(), static_cast<int>(n));
  system.residual(state, work, {false, false, false});
  expect_at_most(relative_difference(forces, as_vector(work.r).head(n)), 1e-11, "inverse dynamics");
  const Eigen::VectorXd sum = M * as_vector(state.vdot).head(n) + bias;
  expect_at_most(relative_difference(sum, forces), 1e-11, "M vdot + g");
  expect_at_most((M - M.transpose()).cwiseAbs().maxCoeff(), 0, "M - M^T");
}

// Columns of the Jacobian against the velocities of the bodies, and M against their energy.
TEST(TreeRecursion, JacobiansAndKineticEnergyAreThoseOfTheBodies) {
  Random random(8);
  const System system = make_system(tree_without_loops(random, Forces::None), "minimal");
  Work work(system);
  TreeDynamics dynamics(system);
  const State state = random_state(system, random);
  ASSERT_TRUE(dynamics.prepare(state, work));
  const TreeRecursion& recursion = dynamics.at(state, work);
  system.residual(state, work, {false, false, false});
  const Eigen::VectorXd v = as_vector(state.v).head(recursion.velocities());
  double worst = 0;
  for (std::size_t body = 0; body < work.motions.size(); ++body) {
    const Motion<double>& m = work.motions[body];
    Eigen::MatrixXd J(6, v.size());
    recursion.jacobian(static_cast<int>(body), m.p, J.data());
    Vec6 expected;
    expected << m.velocity(), m.R * m.V.tail<3>();
    worst = std::max(worst, (J * v - expected).cwiseAbs().maxCoeff());
    Motion<double> own;
    recursion.body_motion(static_cast<int>(body), own);
    worst = std::max({worst, (own.R - m.R).cwiseAbs().maxCoeff(), (own.p - m.p).cwiseAbs().maxCoeff(),
                      (own.V - m.V).cwiseAbs().maxCoeff()});
  }
  expect_at_most(worst, 1e-12, "velocities, poses and twists of bodies");
  // T = v^T M v / 2
  Eigen::MatrixXd M(v.size(), v.size());
  dynamics.at(state, work).mass_matrix(M.data(), static_cast<int>(v.size()));
  const double kinetic = system.energy(state, work).kinetic;
  expect_at_most(std::abs(0.5 * v.dot(M * v) - kinetic) / kinetic, 1e-13, "kinetic energy");
}

// Rotor inertias depend on accelerations: the matrix is assembled.
TEST(TreeRecursion, IsNotUsedWhereForcesDependOnAccelerations) {
  Random random(9);
  const System system = make_system(tree_without_loops(random, Forces::WithRotors), "minimal");
  Work work(system);
  EXPECT_FALSE(TreeDynamics(system).prepare(random_state(system, random), work));
}

// A body, another one that rides on it, and the rotor of a motor that turns with it: three elements that add their inertia to one link.
TEST(TreeRecursion, AddsUpTheInertiaOfSeveralElements) {
  ModelBuilder builder({0, 0, -9.81});
  builder.body("arm", "rigid").set("mass", 2).set("inertia", {0.01, 0.2, 0.2}).set("position", {0.5, 0, 0});
  builder.body("tip", "rigid")
      .set("mass", 0.7)
      .set("inertia", {0, 0, 0})
      .set("position", {1, 0, 0.1})
      .set("on", "arm");
  builder.joint("hinge", "revolute")
      .set("between", {"ground", "arm"})
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.force("rotor", "dc_motor").set("joint", "hinge").set("resistance", 1e30).set("torque_constant", 1);
  builder.set("rotor_inertia", 0.3);
  const System system = make_system(builder.finish(), "minimal");
  Work work(system);
  TreeDynamics dynamics(system);
  State state = system.empty_state();
  state.q[0] = 0.4;
  ASSERT_TRUE(dynamics.prepare(state, work));
  ASSERT_EQ(dynamics.accelerate(state, work), -1);
  // J phi'' = g (m c_x + m_tip x_tip), where the arms turn with phi about y: x = x_0 cos(phi) + z_0 sin(phi)
  const double J = 0.2 + 2 * 0.25 + 0.7 * (1 + 0.01) + 0.3;
  const double lever = 2 * 0.5 * std::cos(0.4) + 0.7 * (std::cos(0.4) + 0.1 * std::sin(0.4));
  expect_at_most(std::abs(std::abs(state.vdot[0]) - 9.81 * lever / J), 1e-13, "angular acceleration");
}

TEST(TreeRecursion, NamesTheJointWithoutInertia) {
  ModelBuilder builder({0, 0, -9.81});
  builder.body("arm", "rigid").set("mass", {1}).set("inertia", {0.1, 0.1, 0.1}).set("position", {1, 0, 0});
  builder.body("tip", "rigid").set("mass", {0}).set("inertia", {0, 0, 0}).set("position", {2, 0, 0});
  builder.joint("first", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.joint("second", "revolute")
      .set("between", "arm", "tip")
      .set("at", {2, 0, 0})
      .set("axis", {0, 1, 0});
  const System system = make_system(builder.finish(), "minimal");
  Work work(system);
  State state = system.empty_state();
  TreeDynamics dynamics(system);
  ASSERT_TRUE(dynamics.prepare(state, work));
  EXPECT_EQ(system.unknown_name(dynamics.accelerate(state, work)), "joints.second: free torque");
}

}  // namespace
}  // namespace liedyn
