// Minimal coordinates: which tree is chosen, what its equations are called, initial values, reactions. Matrices and the physics of every
// joint are in matrix_test.cpp and formulations_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>

#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

std::vector<std::string> kept_joints(const Model& model) {
  std::vector<std::string> out;
  for (int row = 0; row < model.rows; ++row)
    if (out.empty() || out.back() != model.joint_of(row).name) out.push_back(model.joint_of(row).name);
  return out;
}

void add_link(ModelBuilder& builder, const std::string& name, const Vec3& position) {
  builder.body(name, "rigid").set("mass", {2}).set("inertia", {0.3, 0.2, 0.1}).set("position", position);
}

TEST(Tree, HasTheCoordinatesOfItsJointsAndNoRows) {
  ModelBuilder builder;
  add_chain(builder, 10);
  const System system = make_system(builder.finish(), "minimal");
  fmt::print("  chain of 10: {} velocities, {} rows\n", system.model().nv, system.model().rows);
  EXPECT_EQ(system.model().nv, 30);
  EXPECT_EQ(system.model().rows, 0);
}

// A loop is cut where that leaves the fewest unknowns: at the joint with the fewest rows.
TEST(Tree, CutsALoopAtTheJointWithTheFewestRows) {
  ModelBuilder builder;
  add_link(builder, "crank", {0, 0.5, 0});
  add_link(builder, "rod", {0.5, 1, 0});
  add_link(builder, "rocker", {1, 0.5, 0});
  builder.joint("A", "revolute")
      .set("between", "ground", "crank")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.joint("B", "spherical").set("between", "crank", "rod").set("at", {0, 1, 0});
  builder.joint("C", "universal").set("between", "rod", "rocker").set("at", {1, 1, 0});
  builder.set("first_axis", {0, 1, 0}).set("second_axis", {0, 0, 1});
  builder.joint("D", "revolute")
      .set("between", "rocker", "ground")
      .set("at", {1, 0, 0})
      .set("axis", {0, 0, 1});
  const System system = make_system(builder.finish(), "minimal");
  EXPECT_EQ(kept_joints(system.model()), std::vector<std::string>{"B"});
  EXPECT_EQ(system.model().nv, 4);
  EXPECT_EQ(system.model().rows, 3);
}

TEST(Tree, JointWhoseMultipliersAreWantedKeepsItsRows) {
  ModelBuilder builder;
  add_chain(builder, 3);
  builder.sensor("force", "multiplier").set("of", std::string("joint1"));
  const System system = make_system(builder.finish(), "minimal");
  EXPECT_EQ(kept_joints(system.model()), std::vector<std::string>{"joint1"});
  EXPECT_EQ(system.model().nv, 3 + 6 + 3);  // the part behind floats
}

TEST(Tree, EquationsAreNamedAfterTheJoints) {
  ModelBuilder builder;
  add_link(builder, "arm", {0.5, 0, 0});
  add_link(builder, "cart", {1, 0, 0});
  add_link(builder, "hand", {2, 0, 0});
  add_link(builder, "ball", {3, 0, 0});
  add_link(builder, "free", {4, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  builder.joint("rail", "prismatic")
      .set("between", "arm", "cart")
      .set("at", {1, 0, 0})
      .set("axis", {0, 1, 0});
  builder.joint("sleeve", "cylindrical")
      .set("between", "cart", "hand")
      .set("at", {2, 0, 0})
      .set("axis", {0, 1, 0});
  builder.joint("socket", "spherical").set("between", "hand", "ball").set("at", {2, 0, 0});
  const System system = make_system(builder.finish(), "minimal");
  std::vector<std::string> names;
  for (int i = 0; i < system.model().nv; ++i) names.push_back(system.unknown_name(i));
  for (const char* expected :
       {"joints.hinge: free torque", "joints.rail: free force", "joints.sleeve: free force of motion 1",
        "joints.sleeve: free torque of motion 2", "joints.socket: free torque z", "bodies.free: force x"})
    EXPECT_NE(std::find(names.begin(), names.end(), expected), names.end()) << expected;
}

// A physical pendulum: angular acceleration, reaction and energy in closed form.
TEST(Tree, PendulumAsInTheTextbook) {
  const double m = 2, J = 0.1, l = 0.7, g = 9.81, angle = 0.4, rate = 1.3;
  ModelBuilder builder({0, 0, -g});
  const Vec3 out(std::cos(angle), 0, -std::sin(angle));  // along the arm
  const Vec3 across(-std::sin(angle), 0, -std::cos(angle));
  builder.body("arm", "rigid").set("mass", {m}).set("inertia", {0.3, J, 0.2}).set("position", l * out);
  builder.set("velocity", l * rate * across).set("angular_velocity", {0, rate, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 1, 0});
  builder.sensor("force", "reaction_force").set("of", std::string("hinge"));
  builder.sensor("torque", "reaction_torque").set("of", std::string("hinge"));
  builder.sensor("energy", "energy");
  const System system = make_system(builder.finish(), "minimal");
  Work work(system);
  const State state = consistent_state(system, 0, InitialPolicy::Check, work);
  const double alpha = m * g * l * std::cos(angle) / (J + m * l * l);
  const Vec3 acceleration = l * alpha * across - l * rate * rate * out;
  const std::vector<double> s = sensed(system, state, work);
  expect_at_most(std::abs(state.v[0] - rate), 1e-14, "rate of the joint");
  expect_at_most(std::abs(state.vdot[0] - alpha), 1e-13, "angular acceleration");
  expect_at_most((Vec3(s[0], s[1], s[2]) - m * (acceleration + Vec3(0, 0, g))).norm(), 1e-12,
                 "reaction force");
  expect_at_most(Vec3(s[3], s[4], s[5]).norm(), 1e-12, "reaction torque");
  expect_at_most(std::abs(s[6] - (0.5 * (J + m * l * l) * rate * rate - m * g * l * std::sin(angle))), 1e-13,
                 "energy");
}

TEST(Tree, InconsistentVelocitiesAreRejectedAsInOtherFormulations) {
  ModelBuilder builder;
  add_link(builder, "arm", {0.5, 0, 0});
  builder.set("velocity", {1, 0, 0});
  builder.joint("hinge", "revolute")
      .set("between", "ground", "arm")
      .set("at", {0, 0, 0})
      .set("axis", {0, 0, 1});
  const auto description = builder.finish();
  const auto message = [&](const char* formulation) -> std::string {
    const System system = make_system(description, formulation);
    Work work(system);
    try {
      consistent_state(system, 0, InitialPolicy::Check, work);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message("minimal"), message("r3so3"));
  EXPECT_NE(message("minimal").find("joints.hinge"), std::string::npos) << message("minimal");
}

// Coordinates that assembly finds: the rod's place and the velocities follow from what is given.
TEST(Tree, ConsistentValuesAreThoseOfOtherFormulations) {
  ModelBuilder builder({0, 0, -9.81});
  add_heavy_top(builder);
  add_link(builder, "tail", {0, 2, 0});
  builder.consistent("velocity").consistent("angular_velocity");
  builder.joint("link", "universal").set("between", "top", "tail").set("at", {0, 1.5, 0});
  builder.set("first_axis", {1, 0, 0}).set("second_axis", {0, 0, 1});
  for (const char* body : {"top", "tail"}) {
    builder.sensor(std::string("v_") + body, "velocity").set("of", std::string(body));
    builder.sensor(std::string("w_") + body, "angular_velocity").set("of", std::string(body));
    builder.sensor(std::string("a_") + body, "acceleration").set("of", std::string(body));
  }
  builder.sensor("pivot_force", "reaction_force").set("of", std::string("pivot"));
  builder.sensor("link_force", "reaction_force").set("of", std::string("link"));
  builder.sensor("link_torque", "reaction_torque").set("of", std::string("link"));
  const auto description = builder.finish();
  std::vector<std::vector<double>> values;
  for (const char* formulation : {"minimal", "r3so3"}) {
    const System system = make_system(description, formulation);
    Work work(system);
    values.push_back(sensed(system, consistent_state(system, 0, InitialPolicy::Check, work), work));
  }
  expect_at_most(relative_difference(as_vector(values[0]), as_vector(values[1])), 1e-11, "all sensors");
}

// Twists and accelerations of the bodies are the time derivatives of their poses.
TEST(Tree, AccelerationsAreTheTimeDerivativesOfTwists) {
  Random random(3);
  const System system = make_system(tree_of_everything(random), "minimal");
  Work work(system);
  const State state = random_state(system, random);
  // Without the states of forces, which have a rate but no pose.
  const auto bodies = static_cast<Eigen::Index>(system.model().body_types.size());
  const auto later = [&](double dt) {
    const Eigen::VectorXd v = as_vector(state.v), vdot = as_vector(state.vdot);
    State now = moved(system, state, dt * v + 0.5 * dt * dt * vdot);
    for (std::size_t i = 0; i < now.v.size(); ++i) now.v[i] += dt * state.vdot[i];
    system.residual(now, work, {});
    return work.motions;
  };
  const std::vector<Motion<double>> here = later(0);
  Eigen::VectorXd twists(6 * bodies), accelerations(6 * bodies);
  for (Eigen::Index i = 0; i < bodies; ++i) {
    twists.segment<6>(6 * i) = here[static_cast<std::size_t>(i)].V;
    accelerations.segment<6>(6 * i) = here[static_cast<std::size_t>(i)].A;
  }
  const auto rate_of = [&](const auto& quantity) {
    return Eigen::VectorXd(differences(
        [&](const Eigen::VectorXd& dt) {
          const std::vector<Motion<double>> now = later(dt[0]);
          Eigen::VectorXd out(6 * bodies);
          for (std::size_t i = 0; i < system.model().body_types.size(); ++i)
            out.segment<6>(6 * static_cast<Eigen::Index>(i)) = quantity(here[i], now[i]);
          return out;
        },
        1));
  };
  const Eigen::VectorXd pose_rates = rate_of([](const Motion<double>& from, const Motion<double>& to) {
    Vec6 out;
    out << from.R.transpose() * (to.p - from.p), vee(from.R.transpose() * to.R);
    return out;
  });
  const Eigen::VectorXd twist_rates =
      rate_of([](const Motion<double>&, const Motion<double>& to) { return to.V; });
  expect_at_most(relative_difference(twists, pose_rates), 1e-10, "V - d(pose)/dt");
  expect_at_most(relative_difference(accelerations, twist_rates), 1e-10, "A - dV/dt");
}

}  // namespace
}  // namespace liedyn
