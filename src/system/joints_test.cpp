// What every kind of joint holds and leaves free, in finite motions; what it exerts; and what is asked of its fields.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <numbers>

#include "liedyn/model/joints/axis_joint.h"
#include "liedyn/system/initial.h"
#include "liedyn/system/testing.h"

namespace liedyn {
namespace {

// A rigid motion x -> R x + p of inertial space.
struct Rigid {
  Mat3 R = Mat3::Identity();
  Vec3 p = Vec3::Zero();
  Rigid operator*(const Rigid& other) const { return {R * other.R, R * other.p + p}; }
};
Rigid shift(const Vec3& d) { return {Mat3::Identity(), d}; }
Rigid turn(const Vec3& center, const Vec3& rotation) {
  const Mat3 R = SO3<double>::exp(rotation).R();
  return {R, center - R * center};
}

// Where the joint is, and its axes in the initial configuration. Joints of the plane have z along their line and y out of it.
struct Place {
  Vec3 at, other, axis, second_axis;
  Mat3 A;
  bool planar;
  Place(bool in_plane, Random& random)
      : at(random.vector<3>()),
        other(random.vector<3>()),
        axis(random.vector<3>()),
        second_axis(random.vector<3>()),
        A(axes_along(axis)),
        planar(in_plane) {
    if (!planar) return;
    at.z() = other.z() = axis.z() = 0;
    A << Vec3::UnitZ().cross(axis).normalized(), Vec3::UnitZ(), axis.normalized();
  }
  // Any motion of both bodies together; in the plane if they are.
  Rigid together(Random& random) const {
    Vec3 d = random.vector<3>(), rotation = random.vector<3>();
    if (planar) d.z() = rotation.x() = rotation.y() = 0;
    return shift(d) * turn(Vec3::Zero(), rotation);
  }
};

bool is_planar(const Kind& kind) { return kind.type.starts_with("planar_"); }

// How the second body may move relative to the first; what violates the joint, one motion per row.
struct Freedom {
  std::function<Rigid(const Place&, Random&)> free;
  std::function<std::vector<Rigid>(const Place&)> held;
  std::vector<std::string> fixed = {};  // of a generic joint
};

constexpr double kHeldStep = 0.1;

Vec3 any(Random& random) { return random.vector<3>(); }
std::vector<Rigid> shifts(const Place& c, const std::string& axes) {
  std::vector<Rigid> out;
  for (const char k : axes) out.push_back(shift(kHeldStep * c.A.col(k - 'x')));
  return out;
}
std::vector<Rigid> held_motions(const Place& c, const std::string& places, const std::string& turns) {
  std::vector<Rigid> out = shifts(c, places);
  for (const char k : turns) out.push_back(turn(c.at, kHeldStep * c.A.col(k - 'x')));
  return out;
}
// Free displacements and turns along joint axes; turns about several axes are any turn.
Rigid free_motion(const Place& c, Random& random, const std::string& places, const std::string& turns) {
  Vec3 d = Vec3::Zero(), rotation = Vec3::Zero();
  for (const char k : places) d += random.between(-1, 1) * c.A.col(k - 'x');
  for (const char k : turns) rotation += random.between(-3, 3) * c.A.col(k - 'x');
  return shift(d) * turn(c.at, rotation);
}
Freedom directions(const std::string& free_places, const std::string& free_turns,
                   const std::string& held_places, const std::string& held_turns) {
  return {[=](const Place& c, Random& random) { return free_motion(c, random, free_places, free_turns); },
          [=](const Place& c) { return held_motions(c, held_places, held_turns); }};
}

constexpr double kPitch = 0.7;

// Joints that act in the coordinates of others, and those at velocity level, are tested in integrators/mechanisms_test.cpp; a rope, which
// holds two bodies by a third, in integrators/gears_and_ropes_test.cpp.
bool has_free_motions(const Kind& kind) {
  return kind.field("joint") < 0 && kind.field("joints") < 0 && kind.type != "rolling_disc" &&
         kind.type != "pulley";
}

// Every other listed kind.
std::map<std::string, Freedom> freedoms() {
  std::map<std::string, Freedom> out = {
      {"spherical", directions("", "xyz", "xyz", "")},
      {"revolute", directions("", "z", "xyz", "xy")},
      {"prismatic", directions("z", "", "xy", "xyz")},
      {"cylindrical", directions("z", "z", "xy", "xy")},
      {"planar", directions("xy", "z", "z", "xy")},
      {"fixed", directions("", "", "xyz", "xyz")},
      {"point_on_line", directions("z", "xyz", "xy", "")},
      {"point_on_plane", directions("xy", "xyz", "z", "")},
      {"universal",
       {[](const Place& c, Random& random) {
          return turn(c.at, random.between(-3, 3) * c.axis) *
                 turn(c.at, random.between(-3, 3) * c.second_axis);
        },
        [](const Place& c) {
          std::vector<Rigid> held = shifts(c, "xyz");
          held.push_back(turn(c.at, kHeldStep * c.axis.cross(c.second_axis).normalized()));
          return held;
        }}},
      {"distance",
       {[](const Place& c, Random& random) { return turn(c.at, any(random)) * turn(c.other, any(random)); },
        [](const Place& c) { return std::vector{shift(kHeldStep * (c.other - c.at).normalized())}; }}},
      {"planar_revolute", directions("", "y", "xz", "")},
      {"planar_prismatic", directions("z", "", "x", "y")},
      {"planar_fixed", directions("", "", "xz", "y")},
      {"planar_point_on_line", directions("z", "y", "x", "")},
      {"screw",
       {[](const Place& c, Random& random) {
          const double angle = random.between(-3, 3);
          const Vec3 z = c.A.col(2);
          return shift(kPitch * angle / (2 * std::numbers::pi) * z) * turn(c.at, angle * z);
        },
        [](const Place& c) { return held_motions(c, "xyz", "xy"); }}},
      {"generic", directions("xz", "", "y", "xyz")}};
  out["generic"].fixed = {"y", "rotation_x", "rotation_y", "rotation_z"};
  return out;
}

// A joint of the kind between two bodies (or ground and one).
std::shared_ptr<const Description> joined(const Kind& kind, const Freedom& freedom, const Place& c,
                                          const std::string& first, Random& random,
                                          const std::vector<std::string>& joint_sensors = {}) {
  ModelBuilder builder({1, -2, -9});
  for (const char* name : {"one", "two"}) {
    if (c.planar) {
      const Vec3 place = random.vector<3>(), velocity = random.vector<3>();
      builder.body(name, "planar")
          .set("mass", {random.between(1, 2)})
          .set("inertia", {1.6})
          .set("position", {place.x(), place.y()})
          .set("angle", {place.z()})
          .set("velocity", {velocity.x(), velocity.y()})
          .set("angular_velocity", {velocity.z()});
      continue;
    }
    builder.body(name, "rigid")
        .set("mass", {random.between(1, 2)})
        .set("inertia", {1, 1.3, 1.6})
        .set("position", random.vector<3>())
        .set("orientation", random.vector<3>())
        .set("velocity", random.vector<3>())
        .set("angular_velocity", random.vector<3>());
  }
  builder.joint("joint", kind.type).set("between", first, "two");
  for (const Field& field : kind.fields) {
    if (field.type == FieldType::PlaneVector) {
      const Vec3& v = field.name == "at" ? c.at : c.axis;
      builder.set(field.name, {v.x(), v.y()});
      continue;
    }
    if (field.name == "at") builder.set("at", c.at);
    if (field.name == "axis" || field.name == "first_axis") builder.set(field.name, c.axis);
    if (field.name == "second_axis") builder.set(field.name, c.second_axis);
    if (field.name == "pitch") builder.set(field.name, {kPitch});
    if (field.name == "orientation") builder.set(field.name, SO3<double>::from_matrix(c.A).log());
    if (field.type == FieldType::Choices) builder.choose(field.name, freedom.fixed);
    if (field.type == FieldType::Points)
      builder.set(field.name, {c.at.x(), c.at.y(), c.at.z(), c.other.x(), c.other.y(), c.other.z()});
  }
  const std::string two = "two", joint = "joint";
  builder.sensor("a", "acceleration").set("of", two);
  builder.sensor("alpha", "angular_acceleration").set("of", two);
  builder.sensor("omega", "angular_velocity").set("of", two);
  builder.sensor("force", "reaction_force").set("of", joint);
  builder.sensor("torque", "reaction_torque").set("of", joint);
  builder.sensor("place", "position").set("of", two).set("at", kind.type == "distance" ? c.other : c.at);
  builder.sensor("velocity", "velocity").set("of", two).set("at", kind.type == "distance" ? c.other : c.at);
  for (const std::string& type : joint_sensors) builder.sensor(type, type).set("of", joint);
  return builder.finish();
}

void move(const System& system, std::size_t body, const Rigid& motion, State& state) {
  double* q = state.q.data() + system.model().nodes[body].q;
  if (is_planar(system.model().nodes[body].type)) {
    const Vec3 p = motion.R * Vec3(q[0], q[1], 0) + motion.p;
    q[0] = p.x();
    q[1] = p.y();
    q[2] += SO3<double>::from_matrix(motion.R).log().z();
    return;
  }
  const Eigen::Map<const Vec3> p(q);
  const SO3<double> R = rotation_of(q);
  Eigen::Map<Vec3>{q} = Vec3(motion.R * p + motion.p);
  store_rotation(SO3<double>::from_matrix(motion.R) * R, q);
}

double violation(const System& system, const State& state) {
  Work work(system);
  system.residual(state, work, {});
  return as_vector(work.phi).cwiseAbs().maxCoeff();
}

TEST(Joints, AllowFreeMotionsAndViolateHeldOnes) {
  const auto table = freedoms();
  for (const Kind& kind : kinds(Section::Joints)) {
    if (!has_free_motions(kind)) continue;
    ASSERT_TRUE(table.contains(kind.type)) << "the joint '" << kind.type << "' is missing here";
    const Freedom& freedom = table.at(kind.type);
    double allowed = 0, least = 1;
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const Place c(is_planar(kind), random);
      const System system = make_system(joined(kind, freedom, c, "one", random));
      const State start = described_state(system);
      const Rigid together = c.together(random);
      const auto relative = [&](const Rigid& motion) {
        State state = start;
        move(system, 1, together * motion, state);
        move(system, 0, together, state);
        return violation(system, state);
      };
      allowed = std::max(allowed, relative(freedom.free(c, random)));
      const std::vector<Rigid> held = freedom.held(c);
      EXPECT_EQ(held.size(), static_cast<std::size_t>(system.model().rows)) << kind.type;
      for (const Rigid& motion : held) least = std::min(least, relative(motion));
    }
    expect_at_most(allowed, 1e-14, kind.type + ": violation by a free motion");
    expect_at_most(0.01 / least, 1, kind.type + ": 0.01/violation by a motion that is held");
  }
}

// Newton's and Euler's laws for the second body by sensors alone; and a joint on the ground does no work.
TEST(Joints, ReactionsAccelerateTheSecondBodyAndDoNoWork) {
  const auto table = freedoms();
  const Vec3 gravity(1, -2, -9);
  for (const Kind& kind : kinds(Section::Joints)) {
    if (!has_free_motions(kind)) continue;
    double newton = 0, euler = 0, power = 0;
    for (const std::string& formulation : formulations())
      for (const std::string first : {"ground", "one"})
        for (unsigned seed = 0; seed < 5; ++seed) {
          Random random(seed);
          const Place c(is_planar(kind), random);
          const System system = make_system(joined(kind, table.at(kind.type), c, first, random), formulation);
          Work work(system);
          State state = described_state(system);
          ASSERT_TRUE(project_velocities(system, state, nullptr, work));
          ASSERT_TRUE(solve_accelerations(system, state, work));
          const auto values = sensed(system, state, work);
          const auto s = as_vector(values);
          const Vec3 a = s.segment<3>(0), alpha = s.segment<3>(3), omega = s.segment<3>(6),
                     force = s.segment<3>(9), torque = s.segment<3>(12), place = s.segment<3>(15),
                     velocity = s.segment<3>(18);
          const Description& d = system.model().description();
          const Entry& two = d.entries(Section::Bodies)[1];
          const Inputs<double> in(d, two, d.parameters.data(), nullptr);
          const double mass = in.number(two.kind->field("mass"));
          const Vec3 center = in.vector(two.kind->field("position"));
          const Vec3 rotation = c.planar ? Vec3(0, 0, in.number(two.kind->field("angle")))
                                         : in.vector(two.kind->field("orientation"));
          const Mat3 R = SO3<double>::exp(rotation).R();
          const Mat3 J = Vec3(1, 1.3, 1.6).asDiagonal();
          const Vec3 moment = R * (J * alpha + omega.cross(J * omega));
          Vec3 forces = mass * (a - gravity) - force;
          Vec3 torques = moment - torque - (place - center).cross(force);
          if (c.planar) forces.z() = torques.x() = torques.y() = 0;  // the plane takes the rest
          newton = std::max(newton, forces.norm());
          euler = std::max(euler, torques.norm());
          if (first == "ground")
            power = std::max(power, std::abs(force.dot(velocity) + torque.dot(R * omega)));
        }
    expect_at_most(newton, 1e-13, kind.type + ": m (a - g) - force");
    expect_at_most(euler, 1e-13, kind.type + ": J alpha + omega x J omega - torque - arm x force");
    expect_at_most(power, 1e-13, kind.type + ": power of the reaction on a joint to the ground");
  }
}

// After a motion by a known angle and displacement; rates against differences along the motion.
TEST(Joints, CoordinatesAreThoseOfTheMotion) {
  struct Coordinates {
    std::string type;
    std::vector<std::string> sensors;  // a coordinate, its rate, ...
  };
  const std::vector<std::string> angle_sensors = {"joint_angle", "joint_angle_rate"},
                                 displacement_sensors = {"joint_displacement", "joint_displacement_rate"};
  for (const Coordinates& k : {Coordinates{"revolute", angle_sensors},
                               {"planar", angle_sensors},
                               {"cylindrical", angle_sensors},
                               {"cylindrical", displacement_sensors},
                               {"prismatic", displacement_sensors},
                               {"point_on_line", displacement_sensors},
                               {"planar_revolute", angle_sensors},
                               {"planar_prismatic", displacement_sensors},
                               {"planar_point_on_line", displacement_sensors}}) {
    const Kind& kind = *find_kind(Section::Joints, k.type);
    const bool turns = k.sensors == angle_sensors;
    double values = 0, rates = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const Place c(is_planar(kind), random);
      const Vec3 z = c.planar && turns ? Vec3::UnitZ() : c.axis.normalized();
      const System system = make_system(joined(kind, {}, c, "one", random, k.sensors));
      const double expected = turns ? random.between(-3, 3) : random.between(-1, 1);
      const Rigid motion = turns ? turn(c.at, expected * z) : shift(expected * z);
      const Rigid together = c.together(random);
      State state = described_state(system);
      move(system, 1, together * motion, state);
      move(system, 0, together, state);
      Work work(system);
      ASSERT_TRUE(project_velocities(system, state, nullptr, work));
      const auto sensors_at = [&](const State& at) -> Eigen::VectorXd {
        const std::vector<double> s = sensed(system, at, work);
        return as_vector(s).tail<2>();
      };
      const Eigen::VectorXd now = sensors_at(state);
      const Eigen::MatrixXd slope = differences(
          [&](const Eigen::VectorXd& dt) {
            return sensors_at(moved(system, state, dt[0] * as_vector(state.v)));
          },
          1);
      values = std::max(values, std::abs(now[0] - expected));
      rates = std::max(rates, std::abs(now[1] - slope(0, 0)));
    }
    expect_at_most(values, 1e-13, fmt::format("{}: {}", k.type, k.sensors[0]));
    expect_at_most(rates, 1e-9, fmt::format("{}: {}", k.type, k.sensors[1]));
  }
}

// The message that a model is answered with; empty if there is none.
std::string complaint(const std::function<void(ModelBuilder&)>& build) {
  ModelBuilder builder;
  builder.body("arm", "rigid").set("mass", {1}).set("inertia", {1, 1, 1});
  builder.body("dot", "point").set("mass", {1});
  try {
    build(builder);
    const System system = make_system(builder.finish());
    Work work(system);
    consistent_state(system, 0, InitialPolicy::Check, work);
  } catch (const InputError& error) {
    fmt::print("  {}\n", error.what());
    return error.what();
  }
  return {};
}

TEST(Joints, SayWhatIsWrongWithTheirFields) {
  const Vec3 origin = Vec3::Zero();
  const auto expect_part = [](const std::string& message, const std::string& part) {
    EXPECT_NE(message.find(part), std::string::npos) << "'" << part << "' is not in: " << message;
  };
  expect_part(
      complaint([&](ModelBuilder& b) {
        b.joint("hinge", "revolute").set("between", "ground", "arm").set("at", origin).set("axis", origin);
      }),
      "joints.hinge.axis: expected a direction, got [0, 0, 0]");
  expect_part(complaint([&](ModelBuilder& b) {
                b.joint("cross", "universal").set("between", "ground", "arm").set("at", origin);
                b.set("first_axis", {1, 2, 0}).set("second_axis", {-2, -4, 0});
              }),
              "joints.cross: first_axis and second_axis: expected different directions, got parallel ones");
  expect_part(complaint([&](ModelBuilder& b) {
                b.joint("slide", "planar_prismatic").set("between", "ground", "arm").set("at", {0, 0});
                b.set("axis", {0, 0});
              }),
              "joints.slide.axis: expected a direction, got [0, 0]");
  expect_part(complaint([&](ModelBuilder& b) { b.sensor("angle", "angle").set("of", std::string("arm")); }),
              "sensors.angle.of: expected a body of type planar, got 'arm'");
  expect_part(complaint([&](ModelBuilder& b) {
                b.joint("weld", "fixed").set("between", "ground", "dot").set("at", origin);
              }),
              "joints.weld: the point mass 'dot' has no orientation");
  expect_part(
      complaint([&](ModelBuilder& b) {
        b.joint("any", "generic").set("between", "ground", "arm").set("at", origin).choose("fixed", {});
      }),
      "joints.any.fixed: expected at least one of x, y, z, rotation_x");
  expect_part(complaint([&](ModelBuilder& b) {
                b.joint("any", "generic").set("between", "ground", "arm").set("at", origin);
                b.choose("fixed", {"x", "rotationx"});
              }),
              "got 'rotationx'");
  expect_part(
      complaint([&](ModelBuilder& b) {
        b.joint("ball", "spherical").set("between", "ground", "arm").set("at", origin);
        b.sensor("angle", "joint_angle").set("of", std::string("ball"));
      }),
      "sensors.angle.of: expected a joint with an angle about its axis, got 'ball' of type spherical");
  // A bead on a wire needs no orientation.
  EXPECT_EQ(complaint([&](ModelBuilder& b) {
              b.joint("wire", "point_on_line")
                  .set("between", "ground", "dot")
                  .set("at", origin)
                  .set("axis", {1, 0, 0});
            }),
            "");
}

}  // namespace
}  // namespace liedyn
