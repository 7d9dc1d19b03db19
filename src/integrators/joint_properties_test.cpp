// Joints that act in the coordinates of others, and those at velocity level: what they allow in finite motions, and that it does not matter which
// body of a joint is called the first.
//
// Where the notions need care: a coordinate changes its sign with the order of the bodies, so that a drive f becomes -f and a gear's ratio r
// becomes -r; a prescribed velocity and the directions without slip say nothing about places, so that it is velocities that are admissible; and
// the bodies of a rolling disc have different parts, one has the plane and one the disc, so that they cannot be exchanged: instead what the
// disc does to the plane is the opposite of what the plane does to it.
#include <gtest/gtest.h>

#include "liedyn/base/largest.h"
#include "liedyn/integrators/testing.h"

namespace liedyn {
namespace {

struct Rigid {
  Mat3 R = Mat3::Identity();
  Vec3 p = Vec3::Zero();
  Rigid operator*(const Rigid& other) const { return {R * other.R, R * other.p + p}; }
};
// Along a line through `at`, or about it.
Rigid along(const Vec3& axis, double by) { return {Mat3::Identity(), by * axis}; }
Rigid about(const Vec3& at, const Vec3& axis, double angle) {
  const Mat3 R = SO3<double>::exp(angle * axis).R();
  return {R, at - R * at};
}
Rigid anywhere(Random& random) { return {SO3<double>::exp(random.vector<3>()).R(), random.vector<3>()}; }
void move(const System& system, std::size_t body, const Rigid& motion, State& state) {
  double* q = state.q.data() + system.model().nodes[body].q;
  const Vec3 p = Eigen::Map<const Vec3>(q);
  const SO3<double> R = rotation_of(q);
  Eigen::Map<Vec3>{q} = Vec3(motion.R * p + motion.p);
  store_rotation(SO3<double>::from_matrix(motion.R) * R, q);
}

constexpr double kInertia[] = {1, 1.3, 1.6};

void add_body(ModelBuilder& builder, const std::string& name, Random& random, bool free_velocity) {
  builder.body(name, "rigid")
      .set("mass", {random.between(1, 2)})
      .set("inertia", {kInertia[0], kInertia[1], kInertia[2]})
      .set("position", random.vector<3>())
      .set("orientation", random.vector<3>());
  if (free_velocity)
    builder.consistent("velocity").consistent("angular_velocity");
  else
    builder.set("velocity", random.vector<3>()).set("angular_velocity", random.vector<3>());
}

constexpr const char* kMotion = "0.9*t^2 - 0.4*t^3";
double motion_at(double t) { return 0.9 * t * t - 0.4 * t * t * t; }

// Two or three bodies in a row, joined along `axis` at `at`, one joint of each type.
struct Row {
  Vec3 at[2], axis[2];
  explicit Row(Random& random) {
    for (int i = 0; i < 2; ++i) at[i] = random.vector<3>(), axis[i] = random.vector<3>().normalized();
  }
  // The i-th joint; `swapped`: the other body first.
  void add_joint(ModelBuilder& builder, int i, const std::string& type, bool swapped) const {
    const std::string names[] = {"one", "two", "three"};
    builder.joint(fmt::format("joint{}", i + 1), type)
        .set("between", names[i + (swapped ? 1 : 0)], names[i + (swapped ? 0 : 1)])
        .set("at", at[i])
        .set("axis", axis[i]);
  }
  Rigid motion(int i, bool turns, double by) const {
    return turns ? about(at[i], axis[i], by) : along(axis[i], by);
  }
};

void add_sensors(ModelBuilder& builder, int bodies) {
  const char* const names[] = {"one", "two", "three"};
  for (int i = 0; i < bodies; ++i) {
    builder.sensor(fmt::format("place_{}", names[i]), "position").set("of", std::string(names[i]));
    builder.sensor(fmt::format("turn_{}", names[i]), "orientation").set("of", std::string(names[i]));
  }
}

struct Driven {
  std::string type, coordinate;
  bool turns;
};
const Driven kDriven[] = {{"revolute", "auto", true},
                          {"prismatic", "auto", false},
                          {"cylindrical", "angle", true},
                          {"cylindrical", "displacement", false}};

std::shared_ptr<const Description> driven(const Driven& d, const char* driver, const std::string& f,
                                          bool swapped, Random& random) {
  ModelBuilder builder({1, -2, -9});
  const Row row(random);
  add_body(builder, "one", random, false);
  add_body(builder, "two", random, true);
  row.add_joint(builder, 0, d.type, swapped);
  const char* field = std::string(driver) == "prescribed_motion" ? "motion" : "velocity";
  builder.joint("drive", driver)
      .set("joint", std::string("joint1"))
      .set("coordinate", d.coordinate)
      .set(field, {0})
      .expression(field, 0, f);
  add_sensors(builder, 2);
  return builder.finish();
}

TEST(PrescribedMotion, AllowsWhatItPrescribesAtAnyTime) {
  for (const Driven& d : kDriven) {
    double allowed = 0, held = 1;
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const System system = make_system(driven(d, "prescribed_motion", kMotion, false, random));
      Random again(seed);
      const Row row(again);
      State state = described_state(system);
      state.t = random.between(0, 1.5);
      const Rigid together = anywhere(random);
      const auto violation = [&](double by) {
        State moved = state;
        move(system, 0, together, moved);
        move(system, 1, together * row.motion(0, d.turns, by), moved);
        Work work(system);
        system.residual(moved, work, {});
        return largest(work.phi);
      };
      allowed = std::max(allowed, violation(motion_at(state.t)));
      held = std::min(held, violation(motion_at(state.t) + 0.1));
    }
    expect_at_most(allowed, 1e-14,
                   d.type + ", " + d.coordinate + ": residual where the motion is prescribed");
    expect_at_most(0.05 / held, 1, d.type + ": 0.05/residual a tenth beside it");
  }
}

TEST(PrescribedVelocity, AllowsTheVelocityItPrescribesAnywhere) {
  for (const Driven& d : kDriven) {
    double allowed = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const System system =
          make_system(driven(d, "prescribed_velocity", kMotion, false, random), "r3so3-spatial");
      Random again(seed);
      const Row row(again);
      State state = described_state(system);
      state.t = random.between(0, 1.5);
      const Rigid together = anywhere(random);
      move(system, 0, together, state);
      move(system, 1, together * row.motion(0, d.turns, random.between(-2, 2)), state);
      // Both move as one body, and the second besides as prescribed.
      const Vec3 omega = random.vector<3>(), u = random.vector<3>(), axis = together.R * row.axis[0];
      const double f = motion_at(state.t);
      for (std::size_t i = 0; i < 2; ++i) {
        const Node& node = system.model().nodes[i];
        Eigen::Map<const Vec3> p(state.q.data() + node.q);
        Vec3 velocity = u + omega.cross(p), spin = omega;
        if (i == 1 && d.turns) {
          spin += f * axis;
          velocity += (f * axis).cross(p - (together.R * row.at[0] + together.p));
        } else if (i == 1) {
          velocity += f * axis;
        }
        Eigen::Map<Vec3>(state.v.data() + node.v) = velocity;
        Eigen::Map<Vec3>(state.v.data() + node.v + 3) = spin;
      }
      Work work(system);
      system.residual(state, work, {true, true, false});
      allowed = std::max(allowed, largest(work.rate));
    }
    expect_at_most(allowed, 2e-14, d.type + ", " + d.coordinate + ": rate of the rows");
  }
}

std::shared_ptr<const Description> geared(const std::string& first, const std::string& second, double ratio,
                                          bool swap_first, bool swap_second, Random& random) {
  ModelBuilder builder({1, -2, -9});
  const Row row(random);
  add_body(builder, "one", random, false);
  add_body(builder, "two", random, true);
  add_body(builder, "three", random, true);
  row.add_joint(builder, 0, first, swap_first);
  row.add_joint(builder, 1, second, swap_second);
  builder.joint("gear", "gear").set("joints", "joint1", "joint2").set("ratio", {ratio});
  add_sensors(builder, 3);
  return builder.finish();
}
const std::pair<const char*, const char*> kGeared[] = {{"revolute", "revolute"},
                                                       {"revolute", "prismatic"},
                                                       {"prismatic", "prismatic"},
                                                       {"prismatic", "revolute"}};

TEST(Gear, AllowsMotionsInItsRatio) {
  const double ratio = 0.7;
  for (const auto& [first, second] : kGeared) {
    double allowed = 0, held = 1;
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const System system = make_system(geared(first, second, ratio, false, false, random));
      Random again(seed);
      const Row row(again);
      const State start = described_state(system);
      const Rigid together = anywhere(random);
      const double by = random.between(-1, 1);
      const auto violation = [&](double first_by) {
        State state = start;
        const Rigid two = together * row.motion(0, first[0] == 'r', first_by);
        move(system, 0, together, state);
        move(system, 1, two, state);
        move(system, 2, two * row.motion(1, second[0] == 'r', by), state);
        Work work(system);
        system.residual(state, work, {});
        return largest(work.phi);
      };
      allowed = std::max(allowed, violation(ratio * by));
      held = std::min(held, violation(ratio * by + 0.1));
    }
    expect_at_most(allowed, 1e-14, fmt::format("gear of {} and {}: residual in the ratio", first, second));
    expect_at_most(0.05 / held, 1, fmt::format("gear of {} and {}: 0.05/residual beside it", first, second));
  }
}

// The motion at the end of a run.
Eigen::VectorXd motion_of(const std::shared_ptr<const Description>& description) {
  const WholeRun run(make_system(description), "generalized-alpha,rho=0.8,newton_tol=1e-12", 0.3, 2e-3);
  return as_vector(run.sensors);
}

TEST(SwappedBodies, OfADrivenJointMoveTheSameWithTheOppositeDrive) {
  for (const char* driver : {"prescribed_motion", "prescribed_velocity"})
    for (const Driven& d : kDriven)
      for (unsigned seed = 0; seed < 3; ++seed) {
        Random first(seed), second(seed);
        const Eigen::VectorXd one = motion_of(driven(d, driver, kMotion, false, first));
        const Eigen::VectorXd other =
            motion_of(driven(d, driver, fmt::format("-({})", kMotion), true, second));
        expect_at_most((one - other).cwiseAbs().maxCoeff(), 1e-9, fmt::format("{} in {}", driver, d.type));
      }
}

TEST(SwappedBodies, OfGearedJointsMoveTheSameWithTheOppositeRatio) {
  const double ratio = 0.7;
  for (const auto& [first_type, second_type] : kGeared)
    for (unsigned seed = 0; seed < 3; ++seed) {
      const auto run = [&](double r, bool swap_first, bool swap_second) {
        Random random(seed);
        return motion_of(geared(first_type, second_type, r, swap_first, swap_second, random));
      };
      const Eigen::VectorXd plain = run(ratio, false, false);
      const std::string title = fmt::format("gear of {} and {}", first_type, second_type);
      expect_at_most((run(-ratio, true, false) - plain).cwiseAbs().maxCoeff(), 1e-9,
                     title + ", first swapped");
      expect_at_most((run(-ratio, false, true) - plain).cwiseAbs().maxCoeff(), 1e-9,
                     title + ", second swapped");
      expect_at_most((run(ratio, true, true) - plain).cwiseAbs().maxCoeff(), 1e-9, title + ", both swapped");
    }
}

TEST(SwappedBodies, OfAScrewMoveTheSame) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    const auto run = [&](bool swapped) {
      Random random(seed);
      ModelBuilder builder({1, -2, -9});
      const Row row(random);
      add_body(builder, "one", random, false);
      add_body(builder, "two", random, true);
      row.add_joint(builder, 0, "screw", swapped);
      builder.set("pitch", {0.3});
      add_sensors(builder, 2);
      return motion_of(builder.finish());
    };
    expect_at_most((run(false) - run(true)).cwiseAbs().maxCoeff(), 1e-9, "screw");
  }
}

// A disc on a plate, both free.
struct DiscOnPlate {
  Vec3 center, axis, normal;
  double radius = 0.4;
  explicit DiscOnPlate(Random& random)
      : center(random.vector<3>()),
        axis(random.vector<3>().normalized()),
        normal(random.vector<3>().normalized()) {}
  std::shared_ptr<const Description> model(Random& random) const {
    ModelBuilder builder({0, 0, 0});
    add_body(builder, "one", random, false);
    add_body(builder, "two", random, true);
    builder.joint("contact", "rolling_disc")
        .set("between", "one", "two")
        .set("center", center)
        .set("axis", axis)
        .set("normal", normal)
        .set("radius", {radius});
    builder.sensor("v1", "velocity").set("of", std::string("one"));
    builder.sensor("v2", "velocity").set("of", std::string("two"));
    builder.sensor("p1", "position").set("of", std::string("one"));
    builder.sensor("p2", "position").set("of", std::string("two"));
    builder.sensor("w1", "angular_velocity").set("of", std::string("one"));
    builder.sensor("w2", "angular_velocity").set("of", std::string("two"));
    builder.sensor("R1", "orientation").set("of", std::string("one"));
    builder.sensor("R2", "orientation").set("of", std::string("two"));
    return builder.finish();
  }
  // From the centre of a disc with this axis to its lowest point.
  Vec3 down(const Vec3& n, const Vec3& a) const { return -radius * (n - n.dot(a) * a).normalized(); }
};

TEST(RollingDisc, AllowsEveryPoseThatTouchesAndEveryVelocityWithoutSlip) {
  double contact = 0, slip = 0, held = 1;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const DiscOnPlate d(random);
    const System system = make_system(d.model(random), "r3so3-spatial");
    const Vec3 touching = d.center + d.down(d.normal, d.axis);  // a point of the plane
    // Turned in any way, then set down on the plane, anywhere.
    const Mat3 turned = SO3<double>::exp(random.vector<3>()).R();
    const Vec3 axis = turned * d.axis;
    Vec3 beside = random.vector<3>();
    beside -= beside.dot(d.normal) * d.normal;
    const Vec3 center = touching + beside - d.down(d.normal, axis);
    const Rigid relative{turned, center - turned * d.center}, together = anywhere(random);
    State state = described_state(system);
    move(system, 0, together, state);
    move(system, 1, together * relative, state);
    const Vec3 omega = random.vector<3>(), u = random.vector<3>(), spin = random.vector<3>();
    const Vec3 point = together.R * (touching + beside) + together.p;
    for (std::size_t i = 0; i < 2; ++i) {
      const Node& node = system.model().nodes[i];
      Eigen::Map<const Vec3> p(state.q.data() + node.q);
      // The disc turns besides about the point where it touches.
      Eigen::Map<Vec3>(state.v.data() + node.v) =
          u + omega.cross(p) + (i == 1 ? Vec3(spin.cross(p - point)) : Vec3(Vec3::Zero()));
      Eigen::Map<Vec3>(state.v.data() + node.v + 3) = omega + (i == 1 ? spin : Vec3(Vec3::Zero()));
    }
    Work work(system);
    system.residual(state, work, {true, true, false});
    contact = std::max(contact, std::abs(work.phi[0]));
    slip = std::max(slip, largest(work.rate));
    move(system, 1, along(together.R * d.normal, 0.1), state);
    system.residual(state, work, {});
    held = std::min(held, std::abs(work.phi[0]));
  }
  expect_at_most(contact, 1e-14, "contact of a disc that touches");
  expect_at_most(slip, 1e-13, "rates of a disc that turns about the point of contact");
  expect_at_most(0.09 / held, 1, "0.09/contact of a disc lifted by 0.1");
}

TEST(RollingDisc, PushesThePlaneAsThePlanePushesIt) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    Random random(seed);
    const DiscOnPlate d(random);
    const System system = make_system(d.model(random));
    const Description& description = system.model().description();
    // Momentum and angular momentum of both together.
    const auto momenta = [&](const std::vector<double>& s) {
      const auto v = as_vector(s);
      Eigen::Matrix<double, 6, 1> out = Eigen::Matrix<double, 6, 1>::Zero();
      for (int i = 0; i < 2; ++i) {
        const Entry& body = description.entries(Section::Bodies)[static_cast<std::size_t>(i)];
        const Inputs<double> in(description, body, description.parameters.data(), nullptr);
        const double mass = in.number(body.kind->field("mass"));
        const Mat3 J = Vec3(kInertia[0], kInertia[1], kInertia[2]).asDiagonal();
        const Mat3 R = SO3<double>::from_coordinates(Eigen::Vector4d(v.segment<4>(18 + 4 * i))).R();
        const Vec3 velocity = v.segment<3>(3 * i), place = v.segment<3>(6 + 3 * i),
                   omega = v.segment<3>(12 + 3 * i);
        out.head<3>() += mass * velocity;
        out.tail<3>() += place.cross(mass * velocity) + R * (J * omega);
      }
      return out;
    };
    Eigen::Matrix<double, 6, 1> first;
    double drift[2] = {0, 0};
    int k = 0;
    for (const double h : {2e-3, 1e-3}) {
      bool started = false;
      const WholeRun run(system, "generalized-alpha,rho=0.8,newton_tol=1e-12", 0.2, h,
                         [&](const State& state, Work& work) {
                           if (!started) first = momenta(sensed(system, state, work));
                           started = true;
                         });
      drift[k++] = (momenta(run.sensors) - first).norm() / first.norm();
    }
    // What remains is the error of the method, which falls with the square of the step.
    expect_at_most(drift[1], 1e-4, "momentum and angular momentum of both");
    expect_at_most(drift[1], 0.35 * drift[0] + 1e-12, "the same with half the step");
  }
}

}  // namespace
}  // namespace liedyn
