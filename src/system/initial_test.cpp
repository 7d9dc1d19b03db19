#include "liedyn/system/initial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "liedyn/base/largest.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

using testing::HasSubstr;

struct Start {
  explicit Start(const std::shared_ptr<const Description>& description,
                 InitialPolicy policy = InitialPolicy::Check, const std::string& formulation = {})
      : system(make_system(description, formulation)),
        work(system),
        state(consistent_state(system, 0, policy, work)) {
    system.residual(state, work, {true, true, true});
  }
  System system;
  Work work;  // evaluated at the state
  State state;
};

// What consistent_state says to a model it refuses.
std::string refusal(const std::shared_ptr<const Description>& description,
                    InitialPolicy policy = InitialPolicy::Check) {
  const System system = make_system(description);
  Work work(system);
  try {
    consistent_state(system, 0, policy, work);
  } catch (const InputError& error) {
    fmt::print("  {}\n", error.what());
    return error.what();
  }
  ADD_FAILURE() << "accepted";
  return {};
}

TEST(InitialValues, ConsistentVelocityOfTheHeavyTopIsThatOfItsRotation) {
  for (const std::string& formulation : formulations()) {
    ModelBuilder builder;
    add_heavy_top(builder);
    builder.sensor("velocity", "velocity").set("of", std::string("top"));
    builder.sensor("omega", "angular_velocity").set("of", std::string("top"));
    Start start(builder.finish(), InitialPolicy::Check, formulation);
    const std::vector<double> s = sensed(start.system, start.state, start.work);
    const Vec3 omega(0, 150, -4.61538);
    expect_at_most((Vec3(s[0], s[1], s[2]) - omega.cross(Vec3(0, 1, 0))).norm(), 1e-13,
                   formulation + ": velocity - Omega x r");
    expect_at_most((Vec3(s[3], s[4], s[5]) - omega).norm(), 1e-13,
                   formulation + ": the given angular velocity stays");
  }
}

TEST(InitialValues, AccelerationsAndMultipliersMeetAllEquations) {
  for (const std::string& formulation : formulations()) {
    ModelBuilder builder;
    add_chain(builder, 8);
    Start start(builder.finish(), InitialPolicy::Check, formulation);
    expect_at_most(largest(start.work.r), 1e-12, formulation + ": r");
    expect_at_most(largest(start.work.acceleration), 1e-12, formulation + ": B vdot + Z(v, v)");
  }
}

TEST(InitialValues, InconsistentVelocitiesAreRefusedByTheNameOfTheJoint) {
  ModelBuilder builder;
  builder.body("arm", "rigid")
      .set("mass", {1})
      .set("inertia", {1, 1, 1})
      .set("position", {1, 0, 0})
      .set("velocity", {0, 2, 0.5});
  builder.joint("shoulder", "spherical").set("between", "ground", "arm").set("at", {0, 0, 0});
  const std::string text = refusal(builder.finish());
  EXPECT_THAT(text,
              HasSubstr("joints.shoulder: position y: the initial velocities violate this constraint by -2"));
  EXPECT_THAT(
      text, HasSubstr("joints.shoulder: position z: the initial velocities violate this constraint by -0.5"));
  EXPECT_THAT(text, testing::Not(HasSubstr("position x")));
  EXPECT_THAT(text, HasSubstr("\"consistent\""));
}

std::shared_ptr<const Description> stretched_pendulum(bool consistent) {
  ModelBuilder builder;
  builder.body("bob", "point").set("mass", {2}).set("position", {1.5, 2, 0});
  if (consistent)
    builder.consistent("velocity");
  else
    builder.set("velocity", {1, 1, 1});
  builder.joint("rod", "distance")
      .set("between", "ground", "bob")
      .set("points", {0, 0, 0, 1.5, 2, 0})
      .set("length", {1});
  return builder.finish();
}

TEST(InitialValues, InconsistentPositionsAreRefusedByTheNameOfTheJoint) {
  EXPECT_THAT(refusal(stretched_pendulum(true)),
              HasSubstr("joints.rod: distance: the initial positions violate this constraint by"));
}

TEST(InitialValues, ProjectionMovesAlongTheConstraintsGradient) {
  Start start(stretched_pendulum(false), InitialPolicy::Project);
  expect_at_most(largest(start.work.phi), 1e-14, "Phi");
  expect_at_most(largest(start.work.rate), 1e-14, "B v");
  // The nearest point of the sphere is on the same ray, and the velocity loses its radial part.
  const Vec3 ray(0.6, 0.8, 0), v(1, 1, 1);
  expect_at_most((as_vector(start.state.q) - ray).norm(), 1e-10, "place - nearest point of the sphere");
  expect_at_most((as_vector(start.state.v) - (v - ray * ray.dot(v))).norm(), 1e-10,
                 "velocity - its tangential part");
}

TEST(InitialValues, ProjectionKeepsWhatIsGivenWhereOthersAreMarkedConsistent) {
  ModelBuilder builder;
  add_heavy_top(builder);  // velocity "consistent"
  const auto description = builder.finish();
  const Start checked(description, InitialPolicy::Check), projected(description, InitialPolicy::Project);
  expect_at_most((as_vector(checked.state.v) - as_vector(projected.state.v)).norm(), 1e-12,
                 "velocities: projected - checked");
}

// Two masses on a rod, one nine times the other: the least change in the norm of M moves the light one nine times as far.
TEST(InitialValues, ProjectionWeighsWithTheMass) {
  ModelBuilder builder({0, 0, 0});
  builder.body("light", "point").set("mass", {1}).set("position", {0, 0, 0});
  builder.body("heavy", "point").set("mass", {9}).set("position", {2, 0, 0});
  builder.joint("rod", "distance")
      .set("between", "light", "heavy")
      .set("points", {0, 0, 0, 2, 0, 0})
      .set("length", {1});
  Start start(builder.finish(), InitialPolicy::Project);
  expect_at_most(std::abs(start.state.q[0] - 0.9), 1e-12, "the light one moves by 0.9");
  expect_at_most(std::abs(start.state.q[3] - 1.9), 1e-12, "the heavy one by 0.1");
}

TEST(InitialValues, OnlyThoseMarkedConsistentMove) {
  ModelBuilder builder;
  builder.body("arm", "rigid")
      .set("mass", {1})
      .set("inertia", {1, 1, 1})
      .guess("position", Vec3(0, 0, 0))
      .set("orientation", {0, 0, 0.3});
  builder.set("angular_velocity", {0, 0, 2}).consistent("velocity");
  builder.body("tip", "point").set("mass", {1}).set("position", {1, 0, 0}).consistent("velocity");
  builder.joint("shoulder", "spherical").set("between", "ground", "arm").set("at", {0.1, 0, 0});
  builder.joint("wrist", "spherical").set("between", "arm", "tip").set("at", {1, 0, 0});
  Start start(builder.finish());
  EXPECT_EQ(start.state.v[5], 2);
  EXPECT_EQ(start.state.q[7], 1);
  expect_at_most(largest(start.work.phi), 1e-14, "Phi");
  expect_at_most(largest(start.work.rate), 1e-13, "B v");
  // The wrist is 0.9 from the shoulder, about which all turns.
  expect_at_most((as_vector(start.state.v).tail<3>() - Vec3(0, 1.8, 0)).norm(), 1e-12, "velocity of the tip");
}

// Massless bodies held by joints transmit forces: the motion is that without them.
TEST(MasslessBodies, AreLegalWhereJointsHoldThem) {
  const auto accelerations = [](int variant) {
    ModelBuilder builder;
    builder.body("a", "rigid").set("mass", {1}).set("inertia", {1, 2, 2.5}).set("position", {1, 0, 0});
    builder.body("b", "rigid").set("mass", {2}).set("inertia", {2, 1, 1.5}).set("position", {3, 0, 0.5});
    builder.joint("first", "spherical").set("between", "ground", "a").set("at", {0, 0, 0});
    if (variant == 0) builder.joint("second", "spherical").set("between", "a", "b").set("at", {2, 0, 0});
    if (variant == 1) {  // a point between the two
      builder.body("knot", "point").set("mass", {0}).set("position", {2, 0, 0});
      builder.joint("second", "spherical").set("between", "a", "knot").set("at", {2, 0, 0});
      builder.joint("third", "spherical").set("between", "knot", "b").set("at", {2, 0, 0});
    }
    if (variant == 2) {  // a piece of nothing, held on `a` by six rows, holds b
      builder.body("bracket", "rigid")
          .set("mass", {0})
          .set("inertia", {0, 0, 0})
          .set("position", {1.5, 0.5, 0});
      builder.joint("corner", "spherical").set("between", "a", "bracket").set("at", {1, 0, 0});
      builder.joint("strut1", "distance").set("between", "a", "bracket").set("points", {1, 0, 1, 2, 0, 0});
      builder.joint("strut2", "distance").set("between", "a", "bracket").set("points", {1, 1, 1, 2, 0, 0});
      builder.joint("strut3", "distance").set("between", "a", "bracket").set("points", {0, 0, 1, 1, 1, 0});
      builder.joint("second", "spherical").set("between", "bracket", "b").set("at", {2, 0, 0});
    }
    builder.sensor("a", "acceleration").set("of", std::string("a"));
    builder.sensor("b", "acceleration").set("of", std::string("b"));
    builder.sensor("alpha", "angular_acceleration").set("of", std::string("b"));
    builder.sensor("force", "reaction_force").set("of", std::string("second"));
    Start start(builder.finish());
    return sensed(start.system, start.state, start.work);
  };
  const std::vector<double> direct = accelerations(0), with_point = accelerations(1),
                            with_body = accelerations(2);
  expect_at_most(relative_difference(as_vector(with_body), as_vector(direct)), 1e-12,
                 "massless rigid body: accelerations and reaction");
  const auto motion = [](const std::vector<double>& s) { return Eigen::VectorXd(as_vector(s).head(9)); };
  expect_at_most(relative_difference(motion(with_point), motion(direct)), 1e-12,
                 "massless point: accelerations");
}

TEST(MasslessBodies, AreRefusedByNameWhereNothingHoldsThem) {
  ModelBuilder free;
  free.body("solid", "point").set("mass", {1});
  free.body("ghost", "point").set("mass", {0});
  EXPECT_THAT(refusal(free.finish()), HasSubstr("bodies.ghost: force x: this acceleration is undetermined"));

  ModelBuilder half_held;
  half_held.body("rod", "rigid").set("mass", {0}).set("inertia", {0, 0, 0}).set("position", {1, 0, 0});
  half_held.joint("pivot", "spherical").set("between", "ground", "rod").set("at", {0, 0, 0});
  EXPECT_THAT(refusal(half_held.finish()), HasSubstr("bodies.rod"));
}

}  // namespace
}  // namespace liedyn
